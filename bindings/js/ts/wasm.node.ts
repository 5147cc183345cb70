// The WebAssembly engine on Node and Bun.

import { readFileSync } from 'node:fs'
import { type Lydite, create } from './api.js'
import { instantiate } from './wasm-engine.js'

export const loadWasm = () => instantiate(new WebAssembly.Module(readFileSync(new URL('../lydite.wasm', import.meta.url))))
const lydite: Lydite = create(loadWasm())
export default lydite
