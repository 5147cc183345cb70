// The operations below the API, with numbers that it never gives: answers or errors, no panic and no trap.

import { strictEqual } from 'node:assert'
import { test } from 'node:test'
import { loadNative } from '../dist/native.js'
import { loadWasm } from '../dist/wasm.node.js'

const MOST = 2 ** 32 - 1
/** The code of a panic caught by the Node-API engine. */
const INTERNAL = -7
const native = loadNative()
const names = Object.keys(native.operations).filter((name) => name !== 'attach')

for (const engine of [native, loadWasm()])
  test(`${engine.name}: operations with lengths beyond the scratch buffer`, () => {
    const { offset, length } = engine.reserve(4096)
    for (const name of names.filter((name) => engine.operations[name]))
      for (const numbers of [[MOST, 0, 0], [0, MOST, 0], [0, 0, MOST], [MOST, MOST, MOST], [2 ** 27, 2 ** 27, 0]]) {
        // The hash, key or number that some operations read first, so that they come to their lengths.
        new Uint8Array(engine.memory(), offset, length).fill(1)
        const answer = engine.operations[name](...numbers)
        strictEqual(answer === INTERNAL || answer === undefined, false, `${name}(${numbers}): ${answer}`)
      }
    // A tape that ends before its secret key does.
    new Uint8Array(engine.memory(), offset, length).fill(1)
    strictEqual(engine.operations.transactionSign(31, 0, 0) < 0, true)
  })
