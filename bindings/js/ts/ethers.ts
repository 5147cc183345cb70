// For ethers: `register(ethers)`. Its secp256k1 cannot be replaced.

import lydite from '#default'
import type { Lydite } from './api.js'

interface Registrable {
  register(hash: (data: Uint8Array) => string | Uint8Array): void
}
/** The part of `ethers` that is used. */
export interface Ethers {
  keccak256: Registrable
  sha256: Registrable
}

/** Registers Lydite's hashes with ethers, which uses them for all hashing from then on. */
export function register(ethers: Ethers, api: Lydite = lydite): void {
  ethers.keccak256.register((data) => api.keccak256(data))
  ethers.sha256.register((data) => api.sha256(data))
}
