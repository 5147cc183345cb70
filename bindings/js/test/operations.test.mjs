// Calls the operations below the API with numbers that the API never passes: they return results or errors, with no
// panic or trap.

import { strictEqual } from 'node:assert'
import { test } from 'node:test'
import { loadNative } from '../dist/native.js'
import { loadWasm } from '../dist/wasm.node.js'

const MOST = 2 ** 32 - 1
/** The error code of a panic caught by the Node-API engine. */
const INTERNAL = -7
const native = loadNative()
const names = Object.keys(native.operations).filter((name) => name !== 'attach')

for (const engine of [native, loadWasm()])
  test(`${engine.name}: operations with lengths beyond the scratch buffer`, () => {
    const { offset, length } = engine.reserve(4096)
    for (const name of names.filter((name) => engine.operations[name]))
      for (const numbers of [[MOST, 0, 0], [0, MOST, 0], [0, 0, MOST], [MOST, MOST, MOST], [2 ** 27, 2 ** 27, 0]]) {
        // A valid hash, key or number for operations that read one first, so that they reach their length checks.
        new Uint8Array(engine.memory(), offset, length).fill(1)
        const answer = engine.operations[name](...numbers)
        strictEqual(answer === INTERNAL || answer === undefined, false, `${name}(${numbers}): ${answer}`)
      }
    // A tape that ends before the end of its secret key.
    new Uint8Array(engine.memory(), offset, length).fill(1)
    strictEqual(engine.operations.transactionSign(31, 0, 0) < 0, true)
  })
