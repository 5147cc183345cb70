// The WebAssembly engine with a bundler's Buffer, which lacks Node's conversions of text, and without
// `String.prototype.isWellFormed`.

import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { suite } from './suite.mjs'
import { load } from './vectors.mjs'

globalThis.Buffer = class Buffer extends Uint8Array {
  static from(buffer, offset, length) {
    return new Buffer(buffer, offset, length)
  }
}
delete String.prototype.isWellFormed
const module = await import('lydite')
const { default: wasm } = await import('lydite/wasm')
const vectors = await load((path) => JSON.parse(readFileSync(new URL(`../../../vectors/${path}`, import.meta.url), 'utf8')))
suite(wasm, module, vectors, test)
