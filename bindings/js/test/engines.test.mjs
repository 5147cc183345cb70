// Tests both engines in this process (Node or Bun).

import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as module from 'lydite'
import wasm from 'lydite/wasm'
import { suite } from './suite.mjs'
import { load } from './vectors.mjs'

const vectors = await load((path) => JSON.parse(readFileSync(new URL(`../../../vectors/${path}`, import.meta.url))))
if (module.engine !== 'native') throw new Error('the Node-API module is not there')
suite(module.default, module, vectors, (name, body) => test(`native: ${name}`, body))
suite(wasm, module, vectors, (name, body) => test(`wasm: ${name}`, body))
