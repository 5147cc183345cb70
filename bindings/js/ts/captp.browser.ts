// CapTP in browsers.

import { Connections, type Options } from './captp.js'

export { Broken, Far, LyditeError, broken, field, item, ready, send, settled } from './captp.js'
export type { Passable, Remote, RemotePromise } from './captp.js'
export { SyrupFloat32, SyrupRecord, SyrupSymbol } from './syrup.js'

const module = await WebAssembly.compileStreaming(fetch(new URL('../lydite-captp.wasm', import.meta.url)))

/** One participant: its sessions with all others. */
export class CapTP extends Connections {
  constructor(options?: Options) {
    super(module, options)
  }
}
