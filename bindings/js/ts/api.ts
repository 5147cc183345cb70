// The public API on top of an engine.

import * as abi from './abi.js'
import { type AddressLike, type Bytes, Core, type Engine, type Hex, type Integer, argument, copy, fixedSecret, kindOf, located, toBigInt } from './engine.js'
import { firstOf, isBytes, lengthOf } from './intrinsics.js'
import { rlp } from './rlp.js'
import { syrup } from './syrup.js'
import { transactions } from './transaction.js'
import { xmss } from './xmss.js'

/** The EVM's forks, in chronological order. */
export const FORKS = [
  'frontier', 'homestead', 'tangerine-whistle', 'spurious-dragon', 'byzantium', 'constantinople', 'petersburg', 'istanbul', 'berlin', 'london',
  'paris', 'shanghai', 'cancun', 'prague', 'osaka', 'amsterdam',
] as const
export type Fork = (typeof FORKS)[number]

/** The hashes of a typed data document. */
export interface TypedDataHashes {
  /** the hash to sign */
  signingHash: Uint8Array
  domainSeparator: Uint8Array
  structHash: Uint8Array
  encodeType: string
}

const TOO_LARGE = 1n << 65536n
/** Same limit as in the core. */
const MAX_DEPTH = 127

/** A document as JSON, with bigints as decimal text and bytes in hexadecimal. */
function json(document: unknown, toHex: (bytes: Uint8Array) => string): string {
  if (typeof document === 'string') return document
  // The objects that contain the current value, outermost first. An object that contains itself has no last level.
  const open: unknown[] = []
  const text = JSON.stringify(document, function (this: Record<string, unknown>, key, value: unknown) {
    while (open.length > 0 && open[open.length - 1] !== this) open.pop()
    if (open.length === 0) open.push(this)
    if (typeof value === 'bigint') {
      // No type is this long, and writing it in decimal takes more than linear time.
      if (value >= TOO_LARGE || value <= -TOO_LARGE) throw argument(`${key}: expected an integer of at most 256 bits`)
      return value.toString()
    }
    // Not only `value`, which the method toJSON of Node's Buffer has turned into an object.
    const bytes = isBytes(value) ? value : this[key]
    if (isBytes(bytes)) return toHex(bytes)
    if (typeof value === 'number' && !Number.isSafeInteger(value))
      throw argument(`${key}: expected a safe integer, a bigint or text, found ${value}`)
    if (typeof value === 'object' && value !== null) {
      if (open.length > MAX_DEPTH || open.includes(value)) throw argument(`${key}: expected at most ${MAX_DEPTH} levels of nesting`)
      open.push(value)
    }
    return value
  }) as string | undefined
  if (text === undefined) throw argument(`expected a typed data document, found ${kindOf(document)}`)
  return text
}

export function create(engine: Engine) {
  const core = new Core(engine)
  const op = core.operations
  const text = (length: number) => core.text.ascii(0, length)

  const toHex = (data: Uint8Array): Hex => {
    if (!isBytes(data)) throw argument(`data: expected a Uint8Array, found ${kindOf(data)}`)
    return text(core.output(op.hexEncode, core.put(data, 'data'))) as Hex
  }

  const parseAddress = (address: string, checksummed = 0) => core.slice(core.call(op.parseAddress, core.put(address, 'address'), checksummed))

  const toAddressBytes = (value: AddressLike, what: string): Uint8Array => {
    if (isBytes(value)) return core.fixed(value, 20, what)
    if (typeof value !== 'string') throw argument(`${what}: expected an address, found ${kindOf(value)}`)
    try {
      return parseAddress(value)
    } catch (error) {
      throw located(what, error)
    }
  }

  // Every function first converts all of its arguments, which may run the caller's code, then checks the bytes, then
  // puts them into the scratch buffer and makes the call. No caller code runs after the checks.

  /** Puts parts one after the other. They must already be bytes: converting them uses the scratch buffer. */
  const put = (...parts: readonly Uint8Array[]): number => {
    let length = 0
    for (let i = 0; i < parts.length; i++) length += lengthOf(parts[i]!)
    core.reserve(length)
    let at = 0
    for (let i = 0; i < parts.length; i++) {
      copy(core.bytes, parts[i]!, at)
      at += lengthOf(parts[i]!)
    }
    return length
  }

  /** Puts the items' lengths, then the concatenated items. Returns the total length and the number of items. */
  const putItems = (items: readonly Uint8Array[], what: string): { length: number; count: number } => {
    if (!Array.isArray(items)) throw argument(`${what}: expected an array, found ${kindOf(items)}`)
    // Read each item once: a getter may return something else the second time.
    const taken: Uint8Array[] = []
    for (let i = 0; i < items.length; i++) {
      const item = items[i] as unknown
      if (!isBytes(item)) throw argument(`${what}[${i}]: expected a Uint8Array, found ${kindOf(item)}`)
      taken[i] = item
    }
    const count = taken.length
    let length = 4 * count
    for (let i = 0; i < count; i++) length += lengthOf(taken[i]!)
    core.reserve(length)
    let at = 4 * count
    for (let i = 0; i < count; i++) {
      const size = lengthOf(taken[i]!)
      core.halves[i] = size
      copy(core.bytes, taken[i]!, at)
      at += size
    }
    return { length, count }
  }

  /** 65 bytes, or 64 without v if v is not needed. */
  const rs = (signature: Bytes): Uint8Array => {
    const data = core.data(signature, 'signature')
    return lengthOf(data) === 64 ? data : firstOf(core.fixed(data, 65, 'signature'), 64)
  }

  return {
    /** The active engine: `native` (Node-API) or `wasm`. */
    engine: engine.name,

    /** Lower-case hexadecimal text with a `0x` prefix. */
    toHex,

    /** The bytes of hexadecimal text with a `0x` prefix, in either case. */
    fromHex(value: string): Uint8Array {
      if (typeof value !== 'string') throw argument(`text: expected a string, found ${kindOf(value)}`)
      return core.fromHex(value, 'text')
    },

    /** Keccak-256: 32 bytes, newly allocated or in `out`. */
    keccak256(data: Bytes, out?: Uint8Array): Uint8Array {
      core.call(op.keccak256, core.put(core.data(data, 'data'), 'data'))
      if (out === undefined) return core.digest()
      if (!isBytes(out)) throw argument(`out: expected a Uint8Array, found ${kindOf(out)}`)
      core.read(core.fixed(out, 32, 'out'))
      return out
    },

    /** Keccak-256 of each item, 32 bytes each, concatenated. Crosses to native code once. */
    keccak256Batch(items: readonly Uint8Array[]): Uint8Array {
      const { length, count } = putItems(items, 'items')
      return core.slice(core.output(op.keccak256Batch, length, count))
    },

    /** SHA-256: 32 bytes. */
    sha256(data: Bytes): Uint8Array {
      return core.slice(core.call(op.sha256, core.put(core.data(data, 'data'), 'data')))
    },

    /** The hash that `personal_sign` signs (EIP-191, version 0x45). Text is hashed as UTF-8. */
    hashMessage(message: Uint8Array | string): Uint8Array {
      if (!isBytes(message) && typeof message !== 'string')
        throw argument(`message: expected a Uint8Array or a string, found ${kindOf(message)}`)
      return core.slice(core.call(op.hashMessage, core.put(message, 'message')))
    },

    /** The hash to sign for a typed data document (EIP-712), like `eth_signTypedData_v4`: JSON text, or the object. */
    hashTypedData(document: unknown): Uint8Array {
      core.output(op.typedData, core.put(json(document, toHex), 'document'))
      return core.digest()
    },

    /** All hashes of a typed data document. */
    typedData(document: unknown): TypedDataHashes {
      const length = core.output(op.typedData, core.put(json(document, toHex), 'document'))
      return {
        signingHash: core.digest(),
        domainSeparator: core.slice(32, 64),
        structHash: core.slice(64, 96),
        encodeType: core.text.utf8(96, length),
      }
    },

    /** The address with its EIP-55 checksum. */
    toChecksumAddress(address: AddressLike): Hex {
      put(typeof address === 'string' ? parseAddress(address) : toAddressBytes(address, 'address'))
      return text(core.call(op.checksum)) as Hex
    },

    /** The 20 bytes of an address. With `checksummed` the case of its letters must follow EIP-55. */
    parseAddress(address: string, options?: { checksummed?: boolean }): Uint8Array {
      if (typeof address !== 'string') throw argument(`address: expected a string, found ${kindOf(address)}`)
      return parseAddress(address, options?.checksummed ? 1 : 0)
    },

    /** The address of the contract that `sender` creates at `nonce` (CREATE). */
    createAddress(sender: AddressLike, nonce: Integer): Hex {
      const count = toBigInt(nonce, 'nonce')
      if (count < 0n || count >= 2n ** 64n) throw argument('nonce: expected an integer from 0 to 2^64 - 1')
      put(toAddressBytes(sender, 'sender'))
      for (let i = 0; i < 8; i++) core.bytes[20 + i] = Number((count >> BigInt(8 * i)) & 0xffn)
      return text(core.call(op.createAddress)) as Hex
    },

    /** The address of a contract created with CREATE2. */
    create2Address(sender: AddressLike, salt: Bytes, initCodeHash: Bytes): Hex {
      put(toAddressBytes(sender, 'sender'), core.fixed(salt, 32, 'salt'), core.fixed(initCodeHash, 32, 'init code hash'))
      return text(core.call(op.create2Address)) as Hex
    },

    /** Signs 32 bytes: r, s, v with v 0 or 1. Deterministic (RFC 6979), low s, constant time. */
    sign(hash: Bytes, secretKey: Uint8Array): Uint8Array {
      const data = core.fixed(hash, 32, 'hash')
      const key = fixedSecret(secretKey, 32, 'secret key')
      try {
        put(key, data)
        return core.slice(core.call(op.sign))
      } finally {
        core.wipe(32)
      }
    },

    /** Signs each row of 32 bytes, with one key for all or one key each: rows of 65 bytes. */
    signBatch(hashes: Uint8Array, secretKeys: Uint8Array): Uint8Array {
      const count = core.rows(hashes, 32, 'hashes')
      const keys = core.rows(secretKeys, 32, 'secret keys')
      if (keys !== 1 && keys !== count) throw argument(`secret keys: expected 1 or ${count}, found ${keys}`)
      let length = 0
      try {
        length = put(hashes, secretKeys)
        return core.slice(core.output(op.signBatch, count, keys))
      } finally {
        core.wipe(length)
      }
    },

    /** The address that signed `hash`. v is 0 or 1, or 27 or 28; a high s is accepted. */
    ecrecover(hash: Bytes, signature: Bytes): Hex {
      put(core.fixed(hash, 32, 'hash'), core.fixed(signature, 65, 'signature'))
      return text(core.call(op.ecrecover)) as Hex
    },

    /** The signers' addresses, in rows of 20 bytes, of hashes and signatures in rows of 32 and 65. An invalid
     * signature has `ok` 0 and the zero address, and does not affect the others. */
    ecrecoverBatch(hashes: Uint8Array, signatures: Uint8Array): { addresses: Uint8Array; ok: Uint8Array } {
      const count = core.rows(hashes, 32, 'hashes')
      if (core.rows(signatures, 65, 'signatures') !== count) throw argument('expected equal numbers of hashes and signatures')
      put(hashes, signatures)
      const length = core.output(op.ecrecoverBatch, count)
      return { addresses: core.slice(20 * count), ok: core.slice(20 * count, length) }
    },

    /** The public key that signed `hash`: 64 bytes, x and y. */
    recoverPublicKey(hash: Bytes, signature: Bytes): Uint8Array {
      put(core.fixed(hash, 32, 'hash'), core.fixed(signature, 65, 'signature'))
      return core.slice(core.call(op.recover))
    },

    /** Whether a signature (65 bytes, or 64 without v) of `hash` is valid for a public key (64 bytes, or SEC 1).
     * Throws for malformed input. A high s is accepted, unlike in noble: r, n - s is valid too. To reject it, compare
     * s, the bytes 32 to 63, with n / 2: 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0. */
    verify(hash: Bytes, signature: Bytes, publicKey: Bytes): boolean {
      const data = core.fixed(hash, 32, 'hash')
      const compact = rs(signature)
      const key = core.data(publicKey, 'public key')
      put(data, compact, key)
      return core.call(op.verify, lengthOf(key)) === 1
    },

    /** `verify` for rows of 32 (hashes), 64 (r and s) and 64 bytes (public keys): 1 or 0 for each. */
    verifyBatch(hashes: Uint8Array, signatures: Uint8Array, publicKeys: Uint8Array): Uint8Array {
      const count = core.rows(hashes, 32, 'hashes')
      if (core.rows(signatures, 64, 'signatures') !== count || core.rows(publicKeys, 64, 'public keys') !== count)
        throw argument('expected equal numbers of hashes, signatures and public keys')
      put(hashes, signatures, publicKeys)
      return core.slice(core.output(op.verifyBatch, count))
    },

    /** The public key of a secret key: 64 bytes, x and y. Constant time. */
    publicKey(secretKey: Uint8Array): Uint8Array {
      const key = fixedSecret(secretKey, 32, 'secret key')
      try {
        put(key)
        return core.slice(core.call(op.publicKey))
      } finally {
        core.wipe(32)
      }
    },

    /** The public keys of secret keys in rows of 32 bytes: rows of 64. */
    publicKeyBatch(secretKeys: Uint8Array): Uint8Array {
      const count = core.rows(secretKeys, 32, 'secret keys')
      try {
        put(secretKeys)
        return core.slice(core.output(op.publicKeyBatch, count))
      } finally {
        core.wipe(32 * count)
      }
    },

    /** A public key (64 bytes, or SEC 1) in another form: `raw` (64 bytes), `compressed` (33) or `uncompressed`
     * (65). */
    convertPublicKey(publicKey: Bytes, form: 'raw' | 'compressed' | 'uncompressed'): Uint8Array {
      const index = ['raw', 'compressed', 'uncompressed'].indexOf(form)
      if (index < 0) throw argument('form: expected raw, compressed or uncompressed')
      return core.slice(core.call(op.publicKeyConvert, core.put(core.data(publicKey, 'public key'), 'public key'), index))
    },

    /** The address of a public key (64 bytes, or SEC 1). */
    publicKeyToAddress(publicKey: Bytes): Hex {
      return text(core.call(op.publicKeyConvert, core.put(core.data(publicKey, 'public key'), 'public key'), 3)) as Hex
    },

    /** The x coordinate of the point shared with the owner of a public key: 32 bytes. Hash it before using it as a
     * key. */
    sharedSecret(secretKey: Uint8Array, publicKey: Bytes): Uint8Array {
      const key = core.data(publicKey, 'public key')
      const secret = fixedSecret(secretKey, 32, 'secret key')
      try {
        put(secret, key)
        return core.slice(core.call(op.sharedSecret, lengthOf(key)))
      } finally {
        core.wipe(32)
      }
    },

    /** The selector of a function or error from its signature, canonical or human-readable: 4 bytes. */
    selector(signature: string): Uint8Array {
      if (typeof signature !== 'string') throw argument(`signature: expected a string, found ${kindOf(signature)}`)
      return core.slice(core.call(op.selector, core.put(signature, 'signature')))
    },

    /** The first topic of an event from its signature, canonical or human-readable: 32 bytes. */
    eventTopic(signature: string): Uint8Array {
      if (typeof signature !== 'string') throw argument(`signature: expected a string, found ${kindOf(signature)}`)
      return core.slice(core.call(op.eventTopic, core.put(signature, 'signature')))
    },

    /** Encodes and decodes a list of arguments: `new Codec('(bytes,string,uint256[])')`. A type string without
     * enclosing parentheses is a single argument. */
    Codec: class extends abi.Codec {
      constructor(types: string, options?: abi.CodecOptions) {
        super(core, types, options)
      }
    } as abi.CodecConstructor,

    /** Decodes an event's logs: `new Event('Transfer(address indexed from, address indexed to, uint256 value)')`. */
    Event: class extends abi.Event {
      constructor(signature: string, options?: abi.CodecOptions) {
        super(core, signature, options)
      }
    } as abi.EventConstructor,

    ...rlp(core),
    ...transactions(core, toAddressBytes),

    /** The sender of each signed envelope, or null if it or its signature is invalid. Crosses to native code once. */
    recoverTransactionSenders(raw: readonly Uint8Array[]): (Hex | null)[] {
      const { length, count } = putItems(raw, 'raw')
      const senders = text(core.output(op.transactionSenders, length, count))
      return Array.from({ length: count }, (_, i) => {
        const sender = senders.slice(42 * i, 42 * i + 42)
        return sender[0] === ' ' ? null : (sender as Hex)
      })
    },

    /**
     * Runs the precompiled contract at a number (its address's last two bytes). The WASM engine has none of the
     * BLS12-381 contracts, including the KZG check: UNSUPPORTED.
     */
    precompile(number: number, input: Bytes, options: { gas: Integer; fork?: Fork }): { output: Uint8Array; gasUsed: bigint } {
      if (typeof (options as unknown) !== 'object' || options === null) throw argument(`options: expected an object, found ${kindOf(options)}`)
      const fork = FORKS.indexOf(options.fork ?? 'osaka')
      if (fork < 0) throw argument(`fork: expected one of ${FORKS.join(', ')}`)
      if (!Number.isInteger(number) || number < 0 || number > 0xffff) throw argument('number: expected an integer from 0 to 65535')
      const gas = toBigInt(options.gas, 'gas')
      if (gas < 0n || gas >= 2n ** 64n) throw argument('gas: expected an integer from 0 to 2^64 - 1')
      const data = core.data(input, 'input')
      const size = lengthOf(data)
      core.reserve(8 + size)
      core.words[0] = gas
      copy(core.bytes, data, 8)
      const length = core.output(op.precompile, size, number, fork)
      return { gasUsed: core.words[0]!, output: core.slice(8, length) }
    },

    ...syrup(core),
    ...xmss(core),
  }
}

export type Lydite = ReturnType<typeof create>
