// The Node-API engine, for Node and Bun.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Engine } from './engine.js'

type Module = Engine['operations'] & { attach(buffer: ArrayBuffer): number }

/** Whether this Linux process runs on musl, whose file is named as a library or as a dynamic linker: it is both. */
function isMusl(): boolean {
  try {
    return /\/(ld-musl-\w+\.so\.1|libc\.so)$/m.test(readFileSync('/proc/self/maps', 'latin1'))
  } catch {
    return false
  }
}

/** The module for this machine, within `prebuilds/`. `build.mjs` and the packages use the same names. */
export function prebuild(): string {
  const libc = process.platform !== 'linux' ? '' : isMusl() ? '-musl' : '-gnu'
  return `${process.platform}-${process.arch}${libc}.node`
}

/** Loads the module; throws if the package has none for this machine. */
export function loadNative(): Engine {
  const operations = createRequire(import.meta.url)(`../prebuilds/${prebuild()}`) as Module
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
