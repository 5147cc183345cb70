// Runs the suite on both engines under Bun.

import { readFileSync } from 'node:fs'
import * as module from 'lydite'
import wasm from 'lydite/wasm'
import { suite } from './suite.mjs'
import { load } from './vectors.mjs'

const vectors = await load((path) => JSON.parse(readFileSync(new URL(`../../../vectors/${path}`, import.meta.url))))
if (module.engine !== 'native') throw new Error('the Node-API module is not there')
let passed = 0
for (const api of [module.default, wasm])
  suite(api, module, vectors, (name, body) => {
    try {
      body()
    } catch (error) {
      console.error(`${api.engine}: ${name}`)
      throw error
    }
    passed++
  })
console.log(`${passed} passed, Bun ${process.versions.bun}`)
