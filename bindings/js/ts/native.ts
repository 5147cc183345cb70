// The Node-API engine, for Node and Bun.

import { createRequire } from 'node:module'
import type { Engine } from './engine.js'

type Module = Engine['operations'] & { attach(buffer: ArrayBuffer): number }

/** Loads the module; throws if it was not built for this machine. */
export function loadNative(): Engine {
  const operations = createRequire(import.meta.url)('../lydite.node') as Module
  let buffer = new ArrayBuffer(0)
  return {
    name: 'native',
    operations,
    reserve(length) {
      let next
      try {
        next = new ArrayBuffer(length)
      } catch {
        return undefined
      }
      if (operations.attach(next) !== 0) return undefined
      buffer = next
      return { offset: 0, length }
    },
    memory: () => buffer,
  }
}
