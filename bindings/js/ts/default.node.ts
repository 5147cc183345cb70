// Node and Bun: the Node-API module, or WebAssembly if the module is not available.

import { type Lydite, create } from './api.js'
import { loadNative } from './native.js'

async function choose(): Promise<Lydite> {
  try {
    return create(loadNative())
  } catch (error) {
    // The package has no module for this machine, or one that does not load. Any other error must surface.
    const code = (error as { code?: string }).code
    if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_DLOPEN_FAILED') throw error
    return (await import('./wasm.node.js')).default
  }
}

const lydite = await choose()
export default lydite
