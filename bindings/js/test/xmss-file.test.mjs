// XMSS key files, with Node's native engine.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import lydite from 'lydite'
import wasm from 'lydite/wasm'

const SCHEME = 'leansig-test'
const message = new Uint8Array(32).fill(1)
const other = new Uint8Array(32).fill(2)
const failing = (code, text) => (error) => {
  assert.deepEqual([error.name, error.code], ['LyditeError', code])
  assert.match(error.message, text)
  return true
}
const within = (body) => async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lydite-'))
  try {
    await body(join(folder, 'key'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('no epoch twice: in one handle, the next, another process and a worker', within(async (path) => {
  const seed = new Uint8Array(32).fill(7)
  const publicKey = lydite.xmssKeyFileCreate(SCHEME, path, 0, 64, seed)
  assert.deepEqual(publicKey, lydite.xmssKeyFromSeed(SCHEME, seed, 0, 64).publicKey)
  if (process.platform !== 'win32') assert.deepEqual([path, `${path}.epoch`].map((path) => statSync(path).mode & 0o777), [0o600, 0o600])
  assert.throws(() => lydite.xmssKeyFileCreate(SCHEME, path, 0, 64), failing('KEY_FILE', /exists/))
  const key = lydite.xmssKeyFileOpen(SCHEME, path)
  assert.deepEqual([key.scheme, key.publicKey, key.epochs, key.unspent], [SCHEME, publicKey, [0n, 64n].map((n, i) => (i ? key.epochs[1] : n)), [0n, key.epochs[1]]])
  assert.ok(key.epochs[1] >= 64n)
  assert.equal(lydite.xmssVerify(SCHEME, publicKey, 5, message, key.sign(5, message)), true)
  for (const epoch of [5, 4, 0])
    assert.throws(() => key.sign(epoch, other), failing('KEY_FILE', new RegExp(`epoch ${epoch} is spent: the lowest that can still be signed is 6`)))
  assert.equal(key.unspent[0], 6n)
  assert.throws(() => lydite.xmssKeyFileOpen(SCHEME, path), failing('KEY_FILE', /another process has this key open/))
  const program = `
    import lydite from 'lydite'
    try {
      const key = lydite.xmssKeyFileOpen('${SCHEME}', process.argv[1])
      const message = new Uint8Array(32)
      for (const epoch of [5, 6]) {
        try {
          console.log(epoch, key.sign(epoch, message).length > 0)
        } catch (error) {
          console.log(error.code)
        }
      }
    } catch (error) {
      console.log(error.message)
    }`
  const child = () => execFileSync('node', ['--input-type=module', '-e', program, path], { cwd: import.meta.dirname, encoding: 'utf8' })
  assert.match(child(), /another process has this key open/)
  key.close()
  key.close()
  assert.throws(() => key.sign(6, message), failing('KEY_FILE', /^the key file is closed$/))
  assert.throws(() => key.unspent, failing('KEY_FILE', /closed/))
  assert.equal(child(), 'KEY_FILE\n6 true\n')
  const answer = await new Promise((resolve, reject) => {
    new Worker(new URL('xmss-worker.mjs', import.meta.url), { workerData: path }).on('message', resolve).on('error', reject)
  })
  assert.match(answer, /epoch 6 is spent/)
  // The end of the worker closed its file.
  let again
  for (let i = 0; again === undefined; i++) {
    try {
      again = lydite.xmssKeyFileOpen(SCHEME, path)
    } catch (error) {
      if (i === 200) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  assert.throws(() => again.sign(7, message), failing('KEY_FILE', /epoch 7 is spent/))
  again.close()
}))

test('the window moves, also when its next tree is made ahead', within((path) => {
  const publicKey = lydite.xmssKeyFileCreate(SCHEME, path, 0, 256)
  const key = lydite.xmssKeyFileOpen(SCHEME, path)
  const [first, end] = key.prepared
  assert.equal(first, 0n)
  key.prepareAhead(1)
  key.prepare(Number(end))
  assert.ok(key.prepared[0] > 0n)
  const epoch = Number(key.prepared[1])
  assert.equal(lydite.xmssVerify(SCHEME, publicKey, epoch, message, key.sign(epoch, message)), true)
  assert.throws(() => key.sign(256, message), failing('KEY_FILE', /epoch 256 is outside the key's active epochs/))
  key.close()
}))

test('what is refused', within((path) => {
  lydite.xmssKeyFileCreate(SCHEME, path, 0, 32)
  const open = (name = path) => () => lydite.xmssKeyFileOpen(SCHEME, name).close()
  assert.throws(() => lydite.xmssKeyFileOpen('leansig-prod', path), failing('KEY_FILE', /not a key of this scheme/))
  assert.throws(open(`${path}0`), failing('KEY_FILE', /key0: .*No such file/))
  assert.throws(open('a\0b'), failing('KEY_FILE', /NUL byte/))
  assert.throws(open(5), failing('INVALID_ARGUMENT', /^path: expected a string, found number$/))
  assert.throws(() => lydite.xmssKeyFileCreate(SCHEME, `${path}1`, 0, 2n ** 63n), failing('INVALID_ARGUMENT', /./))
  assert.ok(!existsSync(`${path}1`))
  assert.throws(() => lydite.xmssKeyFileAdopt(SCHEME, path, 3), failing('KEY_FILE', /exists/))
  // The key alone, as if made elsewhere.
  copyFileSync(path, `${path}2`)
  assert.throws(open(`${path}2`), failing('KEY_FILE', /the spent epochs are unknown/))
  lydite.xmssKeyFileAdopt(SCHEME, `${path}2`, 3)
  const adopted = lydite.xmssKeyFileOpen(SCHEME, `${path}2`)
  assert.throws(() => adopted.sign(2, message), failing('KEY_FILE', /epoch 2 is spent/))
  adopted.sign(3, message)
  adopted.close()
  if (process.platform !== 'win32') {
    chmodSync(path, 0o644)
    assert.throws(open(), failing('KEY_FILE', /accessible to other users/))
    chmodSync(path, 0o600)
  }
  // A record that is restored while the key is open.
  const before = readFileSync(`${path}.epoch`)
  const key = lydite.xmssKeyFileOpen(SCHEME, path)
  key.sign(1, message)
  writeFileSync(`${path}.epoch`, before)
  assert.throws(() => key.sign(2, message), failing('KEY_FILE', /restored, replaced or damaged/))
  key.close()
  writeFileSync(`${path}.epoch`, readFileSync(`${path}.epoch`).fill(0))
  assert.throws(open(), failing('KEY_FILE', /damaged/))
}))

test('WebAssembly has no files', within((path) => {
  for (const call of [() => wasm.xmssKeyFileCreate(SCHEME, path, 0, 32), () => wasm.xmssKeyFileAdopt(SCHEME, path, 0), () => wasm.xmssKeyFileOpen(SCHEME, path)])
    assert.throws(call, failing('UNSUPPORTED', /^not available in the wasm engine$/))
}))
