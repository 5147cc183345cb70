// Attacks by code in the same process: it detaches the scratch buffer, or searches it for secrets.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '../dist/api.js'
import { account } from '../dist/viem.js'
import { loadNative } from '../dist/native.js'
import { loadWasm } from '../dist/wasm.node.js'

const bytes = (length, byte) => new Uint8Array(length).fill(byte)
const INTERNAL = -7

test('native: a scratch buffer that was taken away is not written to', () => {
  const engine = loadNative()
  engine.reserve(4096)
  const buffer = engine.memory()
  new Uint8Array(buffer).fill(0xa5)
  const moved = structuredClone(buffer, { transfer: [buffer] })
  assert.equal(buffer.byteLength, 0)
  for (const [name, operation] of Object.entries(engine.operations))
    if (name !== 'attach') assert.equal(operation(4, 0, 0), INTERNAL, name)
  assert.ok(new Uint8Array(moved).every((byte) => byte === 0xa5), 'written to')
  // With a new buffer the engine works again.
  engine.reserve(4096)
  assert.equal(engine.operations.keccak256(4, 0, 0), 32)
})

test('native: only an ArrayBuffer that is long enough is a scratch buffer', () => {
  const { attach } = loadNative().operations
  for (const wrong of [undefined, null, 5, 'text', {}, new Uint8Array(65536), new SharedArrayBuffer(65536), new ArrayBuffer(4095)])
    assert.equal(attach(wrong), -1)
})

for (const load of [loadNative, loadWasm])
  test(`${load.name}: no secret stays in the engine's memory`, () => {
    const engine = load()
    let place
    const reserve = (length) => (place = engine.reserve(length))
    const lydite = create({ ...engine, reserve })
    // Except WebAssembly's stack, which comes first: what a function leaves there depends on the compiler.
    const everywhere = () => Buffer.from(engine.memory()).subarray(engine.name === 'wasm' ? 2 ** 20 : 0)
    const scratch = () => Buffer.from(engine.memory(), place.offset, place.length)
    const fields = { nonce: 0, gasPrice: 1, gas: 1, to: bytes(20, 1), value: 0, data: bytes(100, 1) }
    const publicKey = lydite.publicKey(bytes(32, 0x46))
    const encoded = lydite.xmssKeyFromSeed('leansig-test', bytes(32, 7), 0, 32).toBytes()
    const held = lydite.xmssKeyFromBytes('leansig-test', encoded)
    const flawed = encoded.slice(0, -1)
    const callsWithText = (secret) => [
      () => lydite.sign(bytes(32, 1), secret),
      () => lydite.publicKey(secret),
      () => lydite.sharedSecret(secret, publicKey),
      () => lydite.signTransaction(fields, secret),
      () => lydite.xmssKeyFromSeed('leansig-test', secret, 0, 32),
      () => lydite.xmssKeyFromBytes('leansig-test', secret),
      () => account(secret, lydite),
    ]
    // Calls that use a secret, some with other arguments that make them fail. They are repeated with an invalid secret.
    const calls = (secret) => [
      () => lydite.sign(bytes(32, 1), secret),
      () => lydite.signBatch(bytes(64, 1), secret),
      () => lydite.signBatch(bytes(64, 1), new Uint8Array([...bytes(32, 1), ...secret])),
      () => lydite.publicKey(secret),
      () => lydite.publicKeyBatch(new Uint8Array([...bytes(32, 1), ...secret])),
      () => lydite.sharedSecret(secret, publicKey),
      () => lydite.sharedSecret(secret, bytes(64, 1)),
      () => lydite.signTransaction(fields, secret),
      () => lydite.signTransaction({ ...fields, nonce: 2n ** 80n }, secret),
      () => lydite.xmssKeyFromSeed('leansig-test', secret, 0, 32),
      () => lydite.xmssKeyFromSeed('leansig-test', secret, 0, 2n ** 63n),
      () => lydite.xmssKeyFromSeed('leansig-test', secret, 1.5, 4),
      () => lydite.xmssKeyFromBytes('leansig-test', secret),
      ...callsWithText(`0x${Buffer.from(secret).toString('hex')}`),
    ]
    const random = Uint8Array.from({ length: 32 }, (_, i) => (i * 37 + 11) & 255)
    const invalid = random.map((byte, i) => (i < 16 ? 255 : byte))
    const look = (secret, what, memory) => {
      const part = Buffer.from(secret.slice(16, 24))
      assert.equal(memory().indexOf(part), -1, what)
      assert.equal(memory().indexOf(part.toString('hex')), -1, what)
    }
    let failed = 0
    const run = (secret, call, memory = everywhere) => {
      try {
        call()
      } catch (error) {
        if (error.name !== 'LyditeError') throw error
        failed++
      }
      look(secret, String(call), memory)
    }
    for (const secret of [random, invalid]) for (const call of calls(secret)) run(secret, call)
    assert.ok(failed > 10 && failed < 40, `${failed} failed`)
    // These keys are in the engine's memory, but not in the scratch buffer.
    run(encoded.slice(100), () => lydite.xmssKeyFromBytes('leansig-test', encoded), scratch)
    run(encoded.slice(100), () => lydite.xmssKeyFromBytes('leansig-test', flawed), scratch)
    run(encoded.slice(100), () => held.toBytes(), scratch)
    // Control: the search does find data that is in the buffer.
    lydite.sha256(random)
    lydite.keccak256(random)
    assert.throws(() => look(random.map((byte, i) => lydite.keccak256(random)[i]), 'a hash', scratch))
  })
