// The WebAssembly engine, for browsers and platforms without the Node-API module.

import type { Engine } from './engine.js'

/** An instance of the compiled module, which imports nothing. */
export function instantiate(module: WebAssembly.Module): Engine {
  const { exports } = new WebAssembly.Instance(module, {})
  const memory = exports.memory as WebAssembly.Memory
  const reserve = exports.reserve as (length: number) => number
  return {
    name: 'wasm',
    operations: exports as unknown as Engine['operations'],
    reserve(length) {
      const offset = reserve(length) >>> 0
      return offset === 0 ? undefined : { offset, length }
    },
    memory: () => memory.buffer as ArrayBuffer,
  }
}
