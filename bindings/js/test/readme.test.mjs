// Runs the README's first program, and compiles the types.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

test("the README's first program prints what it says", () => {
  const blocks = [...readFileSync(here('../README.md'), 'utf8').matchAll(/```js\n([\s\S]*?)```\n+```\n([\s\S]*?)```/g)]
  assert.ok(blocks.length > 0)
  for (const [, program, printed] of blocks)
    assert.equal(execFileSync('node', ['--input-type=module', '-e', program], { cwd: here('.'), encoding: 'utf8' }), printed)
})

test("the program in the project's README runs", () => {
  const [, program] = readFileSync(here('../../../README.md'), 'utf8').match(/```js\n([\s\S]*?)```/)
  assert.match(execFileSync('node', ['--input-type=module', '-e', program], { cwd: here('.'), encoding: 'utf8' }), /hello/)
})

test('the types', () => {
  execFileSync(here('../node_modules/.bin/tsc'), ['-p', here('tsconfig.json')], { stdio: 'inherit' })
})

test('a worker has an engine of its own', async () => {
  const { Worker } = await import('node:worker_threads')
  const { engine, keccak256, toHex } = await import('lydite')
  const run = () => new Promise((resolve, reject) => new Worker(new URL('worker.mjs', import.meta.url)).on('message', resolve).on('error', reject))
  const workers = [run(), run(), run()]
  let hash = new Uint8Array(32)
  for (let i = 0; i < 50000; i++) hash = keccak256(hash)
  assert.deepEqual(await Promise.all(workers), Array(3).fill(engine + toHex(hash)))
})
