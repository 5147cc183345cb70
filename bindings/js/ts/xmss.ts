// Generalized XMSS, the hash-based signatures of lean Ethereum.

import { type Bytes, type Core, type Integer, LyditeError, argument, copy, fixedSecret, kindOf, secretBytes, toBigInt } from './engine.js'
import { lengthOf } from './intrinsics.js'

export const SCHEMES = [
  'leansig-prod', 'leansig-test', 'leansig-46-8', 'leansig-46-10', 'leansig-46-18', 'leansig-legacy-w4', 'hash-sig-2025',
  'leanvm',
] as const
export type XmssScheme = (typeof SCHEMES)[number]

function scheme(name: XmssScheme): number {
  const index = SCHEMES.indexOf(name)
  if (index < 0) throw argument(`scheme: expected one of ${SCHEMES.join(', ')}`)
  return index
}

/** A number that is passed unchanged. */
function word(value: number, what: string): number {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) throw argument(`${what}: expected an integer from 0 to 2^32 - 1`)
  return value
}

function epochRange(firstEpoch: Integer, epochs: Integer): [bigint, bigint] {
  const first = toBigInt(firstEpoch, 'epochs')
  const end = first + toBigInt(epochs, 'epochs')
  if (first < 0n || end < first || end >= 2n ** 64n) throw argument('epochs: expected a range of epochs from 0 to 2^64 - 1')
  return [first, end]
}

function epochOf(value: Integer, what: string): bigint {
  const epoch = toBigInt(value, what)
  if (epoch < 0n || epoch >= 2n ** 64n) throw argument(`${what}: expected an integer from 0 to 2^64 - 1`)
  return epoch
}

const registry = new FinalizationRegistry<() => void>((free) => free())

/** The values that both kinds of keys report: six numbers, then the public key. */
function info(core: Core, length: number): { epochs: [bigint, bigint]; prepared: [bigint, bigint]; unspent: [bigint, bigint]; publicKey: Uint8Array } {
  const pair = (at: number): [bigint, bigint] => [core.words[at]!, core.words[at + 1]!]
  return { epochs: pair(0), prepared: pair(2), unspent: pair(4), publicKey: core.slice(48, length) }
}

/**
 * A secret key in memory. Two signatures for the same epoch reveal the key, so `sign` refuses an epoch at or below the
 * last one that this object has signed. **Only this object remembers that**: another one made from the same seed or
 * bytes, or the next run of the program, starts over. Use `XmssKeyFile` if there is a file system; otherwise store
 * `unspent[0]` durably before you release a signature, and pass it to `xmssKeyFromBytes`.
 */
export class XmssKey {
  readonly #core: Core
  readonly #number: number

  constructor(core: Core, number: number) {
    this.#core = core
    this.#number = number
    registry.register(this, () => core.call(core.operations.xmssKeyFree, number))
  }

  #info() {
    return info(this.#core, this.#core.call(this.#core.operations.xmssKeyInfo, this.#number))
  }

  get publicKey(): Uint8Array {
    return this.#info().publicKey
  }

  /** First epoch of the key and the one after its last. */
  get epochs(): [bigint, bigint] {
    return this.#info().epochs
  }

  /** First epoch that it can sign without further work, and the one after the last. */
  get prepared(): [bigint, bigint] {
    return this.#info().prepared
  }

  /** Lowest epoch that this object may still sign, and the one after the last. */
  get unspent(): [bigint, bigint] {
    return this.#info().unspent
  }

  /** Computes this many leaves for the next epochs in advance. Returns whether any are left. */
  prepare(leaves: number): boolean {
    return this.#core.call(this.#core.operations.xmssKeyPrepare, this.#number, word(leaves, 'leaves')) === 1
  }

  /** Signs 32 bytes for an epoch, and spends it and all earlier ones for this object. Throws SIGNATURE for a spent
   * epoch. */
  sign(epoch: number, message: Bytes): Uint8Array {
    const core = this.#core
    const number = word(epoch, 'epoch')
    core.put(core.fixed(message, 32, 'message'), 'message')
    return core.slice(core.output(core.operations.xmssSign, this.#number, number))
  }

  /** The key's SSZ encoding, which is secret. It does not record which epochs are spent. */
  toBytes(): Uint8Array {
    const core = this.#core
    let length = 0
    try {
      length = core.output(core.operations.xmssKeyToBytes, this.#number)
      return core.slice(length)
    } finally {
      core.wipe(length)
    }
  }
}

/**
 * A key file open for signing, in the native engine. No other process can open it until `close`. The spent epoch is on
 * disk before its signature is returned, so no epoch is signed twice by any process that opens the file. `PATH.epoch`,
 * next to `PATH`, records the spent epochs: never restore it from a backup.
 */
export class XmssKeyFile {
  readonly #core: Core
  #number: number | undefined
  /** Name of the scheme. */
  readonly scheme: XmssScheme

  constructor(core: Core, number: number, scheme: XmssScheme) {
    this.#core = core
    this.#number = number
    this.scheme = scheme
    registry.register(this, () => core.call(core.operations.xmssFileFree, number), this)
  }

  #open(): number {
    if (this.#number === undefined) throw new LyditeError('KEY_FILE', 'the key file is closed')
    return this.#number
  }

  #info() {
    return info(this.#core, this.#core.call(this.#core.operations.xmssFileInfo, this.#open()))
  }

  get publicKey(): Uint8Array {
    return this.#info().publicKey
  }

  /** First epoch of the key and the one after its last. */
  get epochs(): [bigint, bigint] {
    return this.#info().epochs
  }

  /** First epoch that it can sign without moving its window, and the one after the last. */
  get prepared(): [bigint, bigint] {
    return this.#info().prepared
  }

  /** Lowest epoch that can still be signed, and the one after the last. */
  get unspent(): [bigint, bigint] {
    return this.#info().unspent
  }

  /** Moves the window of prepared epochs up to this one, like signing does, and rewrites the key file. */
  prepare(epoch: number): void {
    this.#core.call(this.#core.operations.xmssFilePrepare, this.#open(), word(epoch, 'epoch'))
  }

  /** Starts a background thread that computes the tree after the window, a few leaves at a time with pauses of `pause`
   * milliseconds, so that moving the window requires no computation. */
  prepareAhead(pause = 100): void {
    this.#core.call(this.#core.operations.xmssFilePrepareAhead, this.#open(), word(pause, 'pause'))
  }

  /** Signs 32 bytes for an epoch, and spends it and all earlier ones. Throws KEY_FILE for a spent epoch. */
  sign(epoch: number, message: Bytes): Uint8Array {
    const core = this.#core
    const number = word(epoch, 'epoch')
    const file = this.#open()
    core.put(core.fixed(message, 32, 'message'), 'message')
    return core.slice(core.output(core.operations.xmssFileSign, file, number))
  }

  /** Closes the file, so that others can open it. */
  close(): void {
    if (this.#number === undefined) return
    const number = this.#number
    this.#number = undefined
    registry.unregister(this)
    this.#core.call(this.#core.operations.xmssFileFree, number)
  }
}

export const xmss = (core: Core) => {
  /** Writes a path after `before` bytes that the caller writes. Returns the total length. */
  const putPath = (path: string, before: number): number => {
    if (typeof path !== 'string') throw argument(`path: expected a string, found ${kindOf(path)}`)
    const length = core.put(path, 'path')
    if (before === 0) return length
    const text = core.slice(length)
    core.reserve(before + length)
    copy(core.bytes, text, before)
    return before + length
  }
  return {
    /** Makes a key in memory for at least these epochs from a seed of 32 bytes, which must be secret and random. */
    xmssKeyFromSeed(name: XmssScheme, seed: Uint8Array, firstEpoch: Integer, epochs: Integer): XmssKey {
      const index = scheme(name)
      const [first, end] = epochRange(firstEpoch, epochs)
      const secret = fixedSecret(seed, 32, 'seed')
      try {
        core.put(secret, 'seed')
        core.words[4] = first
        core.words[5] = end
        return new XmssKey(core, core.call(core.operations.xmssKeyFromSeed, index))
      } finally {
        core.wipe(32)
      }
    },

    /** Makes a key in memory from its SSZ encoding. All epochs below `next` are spent: you must know what the key
     * has signed. */
    xmssKeyFromBytes(name: XmssScheme, bytes: Uint8Array, next: Integer = 0): XmssKey {
      const index = scheme(name)
      const lowest = epochOf(next, 'next')
      const key = secretBytes(bytes, 'key')
      const length = 8 + lengthOf(key)
      core.reserve(length)
      try {
        core.words[0] = lowest
        copy(core.bytes, key, 8)
        return new XmssKey(core, core.call(core.operations.xmssKeyFromBytes, length, index))
      } finally {
        core.wipe(length)
      }
    },

    /** Makes a key for at least these epochs, writes it to `path`, readable only by its owner, with the record of
     * its spent epochs, and returns the public key. `seed` (32 bytes) is for tests; without it the system's
     * randomness is used. */
    xmssKeyFileCreate(name: XmssScheme, path: string, firstEpoch: Integer, epochs: Integer, seed?: Uint8Array): Uint8Array {
      const index = scheme(name)
      const [first, end] = epochRange(firstEpoch, epochs)
      const secret = seed === undefined ? crypto.getRandomValues(new Uint8Array(32)) : fixedSecret(seed, 32, 'seed')
      const length = putPath(path, 48)
      try {
        copy(core.bytes, secret)
        core.words[4] = first
        core.words[5] = end
        return core.slice(core.call(core.operations.xmssFileCreate, length, index))
      } finally {
        core.wipe(32)
        if (seed === undefined) secret.fill(0)
      }
    },

    /** Creates a record for the key file at `path`, made elsewhere (leanSig's SSZ), in which all epochs below `next`
     * are spent: you must know what the key has signed. Rejects a file that already has a record. */
    xmssKeyFileAdopt(name: XmssScheme, path: string, next: Integer): void {
      const index = scheme(name)
      const lowest = epochOf(next, 'next')
      const length = putPath(path, 8)
      core.words[0] = lowest
      core.call(core.operations.xmssFileAdopt, length, index)
    },

    /** Opens a key file for signing. No other process can open it until it is closed. */
    xmssKeyFileOpen(name: XmssScheme, path: string): XmssKeyFile {
      const index = scheme(name)
      return new XmssKeyFile(core, core.call(core.operations.xmssFileOpen, putPath(path, 0), index), name)
    },

    /** Whether a signature is valid for the public key, the 32-byte message and the epoch. Throws for malformed
     * input. */
    xmssVerify(name: XmssScheme, publicKey: Bytes, epoch: number, message: Bytes, signature: Bytes): boolean {
      const index = scheme(name)
      const number = word(epoch, 'epoch')
      const key = core.data(publicKey, 'public key')
      const hash = core.fixed(message, 32, 'message')
      const data = core.data(signature, 'signature')
      const size = lengthOf(key)
      const length = 36 + size + lengthOf(data)
      core.reserve(length)
      core.halves[0] = number
      copy(core.bytes, hash, 4)
      copy(core.bytes, key, 36)
      copy(core.bytes, data, 36 + size)
      return core.call(core.operations.xmssVerify, length, size, index) === 1
    },
  }
}
