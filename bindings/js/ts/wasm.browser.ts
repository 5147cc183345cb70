// The WebAssembly engine in browsers.

import { type Lydite, create } from './api.js'
import { instantiate } from './wasm-engine.js'

const module = await WebAssembly.compileStreaming(fetch(new URL('../lydite.wasm', import.meta.url)))
const lydite: Lydite = create(instantiate(module))
export default lydite
