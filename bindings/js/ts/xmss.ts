// Generalized XMSS, the hash-based signatures of lean Ethereum.

import { type Bytes, type Core, type Integer, argument } from './engine.js'

export const SCHEMES = [
  'leansig-prod', 'leansig-test', 'leansig-46-8', 'leansig-46-10', 'leansig-46-18', 'leansig-legacy-w4', 'hash-sig-2025',
] as const
export type XmssScheme = (typeof SCHEMES)[number]

function scheme(name: XmssScheme): number {
  const index = SCHEMES.indexOf(name)
  if (index < 0) throw argument(`scheme: one of ${SCHEMES.join(', ')} is needed`)
  return index
}

function epochNumber(epoch: number): number {
  if (!Number.isInteger(epoch) || epoch < 0 || epoch > 0xffff_ffff) throw argument('epoch: an integer below 2^32 is needed')
  return epoch
}

const registry = new FinalizationRegistry<() => void>((free) => free())

/**
 * A secret key. **It does not remember which epochs were signed**: two signatures for one epoch give the key away, so keep a
 * durable record of them.
 */
export class XmssKey {
  readonly #core: Core
  readonly #number: number

  constructor(core: Core, number: number) {
    this.#core = core
    this.#number = number
    registry.register(this, () => core.call(core.operations.xmssKeyFree, number))
  }

  #info(): { epochs: bigint[]; publicKey: Uint8Array } {
    const core = this.#core
    const length = core.call(core.operations.xmssKeyInfo, this.#number)
    return { epochs: [...core.words.slice(0, 4)], publicKey: core.bytes.slice(32, length) }
  }

  get publicKey(): Uint8Array {
    return this.#info().publicKey
  }

  /** First epoch of the key and the one after its last. */
  get epochs(): [bigint, bigint] {
    return this.#info().epochs.slice(0, 2) as [bigint, bigint]
  }

  /** First epoch that it can sign without further work, and the one after the last. */
  get prepared(): [bigint, bigint] {
    return this.#info().epochs.slice(2) as [bigint, bigint]
  }

  /** Does that many leaves' work for the next epochs in advance: whether some is left. */
  prepare(leaves: number): boolean {
    return this.#core.call(this.#core.operations.xmssKeyPrepare, this.#number, epochNumber(leaves)) === 1
  }

  /** Signs 32 bytes for an epoch. Never sign two messages for one epoch. */
  sign(epoch: number, message: Bytes): Uint8Array {
    const core = this.#core
    core.put(core.fixed(message, 32, 'message'), 'message')
    return core.slice(core.output(core.operations.xmssSign, this.#number, epochNumber(epoch)))
  }

  /** The key's SSZ encoding: a secret. */
  toBytes(): Uint8Array {
    const core = this.#core
    const bytes = core.slice(core.output(core.operations.xmssKeyToBytes, this.#number))
    core.bytes.fill(0, 0, bytes.length)
    return bytes
  }
}

export const xmss = (core: Core) => ({
  /** Makes a key for at least these epochs from a seed of 32 bytes, which must be secret and random. */
  xmssKeyFromSeed(name: XmssScheme, seed: Uint8Array, firstEpoch: Integer, epochs: Integer): XmssKey {
    const index = scheme(name)
    core.put(core.fixed(seed, 32, 'seed'), 'seed')
    const first = BigInt(firstEpoch)
    const end = first + BigInt(epochs)
    if (first < 0n || end < first || end >= 2n ** 64n) throw argument('epochs: out of range')
    core.words[4] = first
    core.words[5] = end
    return new XmssKey(core, core.call(core.operations.xmssKeyFromSeed, index))
  },

  /** A key from its SSZ encoding. */
  xmssKeyFromBytes(name: XmssScheme, bytes: Uint8Array): XmssKey {
    const index = scheme(name)
    const length = core.put(core.data(bytes, 'key'), 'key')
    return new XmssKey(core, core.call(core.operations.xmssKeyFromBytes, length, index))
  },

  /** Whether a signature is one of the public key for the 32 bytes of message at an epoch. What is malformed throws. */
  xmssVerify(name: XmssScheme, publicKey: Bytes, epoch: number, message: Bytes, signature: Bytes): boolean {
    const index = scheme(name)
    const key = core.data(publicKey, 'public key')
    const hash = core.fixed(message, 32, 'message')
    const data = core.data(signature, 'signature')
    const length = 36 + key.length + data.length
    core.reserve(length)
    core.halves[0] = epochNumber(epoch)
    core.bytes.set(hash, 4)
    core.bytes.set(key, 36)
    core.bytes.set(data, 36 + key.length)
    return core.call(core.operations.xmssVerify, length, key.length, index) === 1
  },
})
