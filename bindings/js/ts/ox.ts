// An engine for ox: `Engine.set(engine())`.

import lydite from '#default'
import type { Lydite } from './api.js'
import { LyditeError } from './engine.js'

interface SignOptions {
  extraEntropy: boolean | Uint8Array
  prehash: boolean
}

/** The argument of ox's `Engine.set`. ox computes everything else itself (shared secrets, other hashes and curves). */
export interface OxEngine {
  Hash: {
    keccak256(input: Uint8Array): Uint8Array
    sha256(input: Uint8Array): Uint8Array
  }
  Secp256k1: {
    getPublicKey(privateKey: Uint8Array): Uint8Array
    recoverPublicKey(signature: Uint8Array, payload: Uint8Array): Uint8Array
    sign(payload: Uint8Array, privateKey: Uint8Array, options: SignOptions): Uint8Array
    verify(signature: Uint8Array, payload: Uint8Array, publicKey: Uint8Array, options: { prehash: boolean }): boolean
  }
}

/** Creates the engine from Lydite's engine for this platform, or from a given one. */
export function engine(api: Lydite = lydite): OxEngine {
  const digest = (payload: Uint8Array, prehash: boolean) => (prehash ? api.sha256(payload) : payload)
  const uncompressed = (key: Uint8Array) => {
    const out = new Uint8Array(65)
    out[0] = 4
    out.set(key, 1)
    return out
  }
  return {
    Hash: { keccak256: (input) => api.keccak256(input), sha256: (input) => api.sha256(input) },
    Secp256k1: {
      getPublicKey: (privateKey) => uncompressed(api.publicKey(privateKey)),
      // ox puts the parity first.
      recoverPublicKey(signature, payload) {
        const turned = new Uint8Array(65)
        turned.set(signature.subarray(1))
        turned[64] = signature[0]!
        return uncompressed(api.recoverPublicKey(payload, turned))
      },
      sign(payload, privateKey, { extraEntropy, prehash }) {
        if (extraEntropy !== false) throw new LyditeError('UNSUPPORTED', 'extraEntropy: expected false, because signatures are deterministic (RFC 6979)')
        const signature = api.sign(digest(payload, prehash), privateKey)
        const turned = new Uint8Array(65)
        turned[0] = signature[64]!
        turned.set(signature.subarray(0, 64), 1)
        return turned
      },
      // A high s or a malformed key or signature: not valid, like in ox.
      verify(signature, payload, publicKey, { prehash }) {
        const hash = digest(payload, prehash)
        if (hash.length !== 32 || signature.length !== 64 || isHigh(signature)) return false
        try {
          return api.verify(hash, signature, publicKey)
        } catch (error) {
          if (error instanceof LyditeError && error.code === 'SIGNATURE') return false
          throw error
        }
      },
    },
  }
}

/** n / 2, rounded down. */
const HALF = [
  0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50,
  0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
]
function isHigh(signature: Uint8Array): boolean {
  for (let i = 0; i < 32; i++) {
    const difference = signature[32 + i]! - HALF[i]!
    if (difference !== 0) return difference > 0
  }
  return false
}
