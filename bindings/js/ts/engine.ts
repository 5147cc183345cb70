// The interface of both engines, and the bytes passed to them.

import {
  Bytes as NewBytes, Floats, Halves, TextView, Words, fill, isBytes, lengthOf, set, slice, wellFormed as isWellFormed,
} from './intrinsics.js'

/** Text of `0x` and hexadecimal digits. */
export type Hex = `0x${string}`
/** Bytes, either raw or in hexadecimal. */
export type Bytes = Uint8Array | Hex
/** An address: 20 bytes, or text. Mixed-case text must have a valid EIP-55 checksum. */
export type AddressLike = Uint8Array | string
/** An integer; a number must be a safe integer. */
export type Integer = bigint | number

const CODES = ['INVALID_ARGUMENT', 'DECODE', 'ENCODE', 'SIGNATURE', 'PRECOMPILE', 'UNSUPPORTED', 'INTERNAL', 'KEY_FILE'] as const
export type ErrorCode = (typeof CODES)[number]

/** Thrown by all functions: has the core's message, a code and, if known, the offset of the invalid byte. */
export class LyditeError extends Error {
  override readonly name = 'LyditeError'
  readonly code: ErrorCode
  readonly offset: number | undefined

  constructor(code: ErrorCode, message: string, offset?: number) {
    super(message)
    this.code = code
    this.offset = offset
  }
}

export const argument = (message: string) => new LyditeError('INVALID_ARGUMENT', message)
export const unencodable = (message: string) => new LyditeError('ENCODE', message)

/** The error with the place of the value that caused it. */
export function located(place: string, error: unknown): unknown {
  return error instanceof LyditeError ? new LyditeError(error.code, `${place}: ${error.message}`, error.offset) : error
}

/** Copies an array into another at an offset. */
export function copy(target: Uint8Array, source: Uint8Array, at = 0): void {
  try {
    set(target, source, at)
  } catch {
    throw argument('expected an array with memory, found a detached one')
  }
}

/** The kind of a value, for error messages. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (value instanceof Uint8Array && !isBytes(value)) return 'an object that only inherits from Uint8Array'
  return typeof value === 'object' ? ((value as object).constructor?.name ?? 'an object') : typeof value
}

type Operation = (a: number, b: number, c: number) => number

/** The native half: operations over a scratch buffer (see src/lib.rs). */
export interface Engine {
  readonly name: 'native' | 'wasm'
  readonly operations: Readonly<Record<string, Operation>>
  /** Makes the scratch buffer at least this long; undefined if there is no memory. */
  reserve(length: number): { offset: number; length: number } | undefined
  /** The memory that contains the scratch buffer. */
  memory(): ArrayBuffer
}

const KIBIBYTE = 1024
/** The maximum length of the scratch buffer: lengths are passed as signed 32-bit numbers. */
const MAX_LENGTH = 2 ** 31 - 8

/** An engine with views of its scratch buffer. */
export class Core {
  readonly engine: Engine
  readonly operations: Readonly<Record<string, Operation>>
  bytes!: Uint8Array<ArrayBuffer>
  halves!: Uint32Array
  words!: BigUint64Array
  floats!: Float64Array
  text!: TextView
  #digest!: Uint8Array<ArrayBuffer>
  #place = { offset: 0, length: 0 }

  constructor(engine: Engine) {
    this.engine = engine
    this.operations = engine.operations
    this.reserve(64 * KIBIBYTE)
  }

  #refresh(): void {
    const memory = this.engine.memory()
    const { offset, length } = this.#place
    this.bytes = new NewBytes(memory, offset, length)
    this.halves = new Halves(memory, offset, length >> 2)
    this.words = new Words(memory, offset, length >> 3)
    this.floats = new Floats(memory, offset, length >> 3)
    this.text = new TextView(memory, offset, length)
    this.#digest = new NewBytes(memory, offset, 32)
  }

  /** Enlarges the scratch buffer; its contents are lost. */
  reserve(length: number): void {
    if (length <= this.#place.length) return
    if (length > MAX_LENGTH) throw argument(`expected at most ${MAX_LENGTH} bytes per call, found ${length}`)
    let wanted = 64 * KIBIBYTE
    while (wanted < length) wanted *= 2
    const place = this.engine.reserve(Math.min(wanted, MAX_LENGTH))
    if (!place) throw argument(`cannot allocate ${length} bytes`)
    this.#place = place
    this.#refresh()
  }

  /** Runs an operation and returns its result. */
  call(operation: Operation | undefined, a = 0, b = 0, c = 0): number {
    if (operation === undefined) throw new LyditeError('UNSUPPORTED', `not available in the ${this.engine.name} engine`)
    let answer
    try {
      answer = operation(a, b, c)
    } catch (error) {
      // WebAssembly trapped.
      throw new LyditeError('INTERNAL', String(error))
    } finally {
      // Growing WebAssembly memory moves it.
      if (lengthOf(this.bytes) === 0) this.#refresh()
    }
    if (answer < 0) throw this.#error(-answer)
    return answer
  }

  /** Runs an operation with an output of any length, and makes room for the output. */
  output(operation: Operation | undefined, a = 0, b = 0, c = 0): number {
    const length = this.call(operation, a, b, c)
    if (length > this.#place.length) {
      this.reserve(length)
      this.call(this.operations.take)
    }
    return length
  }

  #error(code: number): LyditeError {
    const offset = this.halves[0]! | 0
    const message = this.text.utf8(8, 8 + this.halves[1]!)
    return new LyditeError(CODES[code - 1] ?? 'INTERNAL', message, offset < 0 ? undefined : offset)
  }

  /** The bytes themselves. No caller code runs in this function or in `fixed` and `rows`. */
  data(value: Bytes, what: string): Uint8Array {
    if (isBytes(value)) return value
    if (typeof value !== 'string') throw argument(`${what}: expected a Uint8Array or hexadecimal text, found ${kindOf(value)}`)
    return this.fromHex(value, what)
  }

  /** Bytes of exactly this length. */
  fixed(value: Bytes, length: number, what: string): Uint8Array {
    const data = this.data(value, what)
    const found = lengthOf(data)
    if (found !== length) throw argument(`${what}: expected ${length} bytes, found ${found}`)
    return data
  }

  /** Bytes in rows of one length. Returns the number of rows. */
  rows(value: Uint8Array, length: number, what: string): number {
    if (!isBytes(value)) throw argument(`${what}: expected a Uint8Array, found ${kindOf(value)}`)
    const found = lengthOf(value)
    if (found % length) throw argument(`${what}: expected whole rows of ${length} bytes, found ${found} bytes`)
    return found / length
  }

  fromHex(text: string, what: string): Uint8Array {
    if (!text.startsWith('0x')) throw new LyditeError('DECODE', `${what}: byte 0: expected a 0x prefix`, 0)
    try {
      return this.slice(this.output(this.operations.hexDecode, this.put(text, what)))
    } catch (error) {
      throw located(what, error)
    }
  }

  /** Puts bytes or text at the start of the scratch buffer and returns their length. */
  put(value: Uint8Array | string, what: string): number {
    if (typeof value === 'string') {
      this.reserve(3 * value.length)
      return this.text.write(wellFormed(value, what), 0)
    }
    const length = lengthOf(value)
    this.reserve(length)
    copy(this.bytes, value)
    return length
  }

  /** Wipes the first bytes of the scratch buffer, which held a secret. */
  wipe(length: number): void {
    fill(this.bytes, 0, 0, length)
  }

  /** A copy of the first bytes of the scratch buffer, or of those from `start` to `end`. */
  slice(length: number): Uint8Array<ArrayBuffer>
  slice(start: number, end: number): Uint8Array<ArrayBuffer>
  slice(start: number, end?: number): Uint8Array<ArrayBuffer> {
    return end === undefined ? slice(this.bytes, 0, start) : slice(this.bytes, start, end)
  }

  /** Copies the first 32 bytes into an array. */
  read(out: Uint8Array): void {
    copy(out, this.#digest)
  }

  /** A copy of the first 32 bytes, faster than `slice`. */
  digest(): Uint8Array<ArrayBuffer> {
    return new NewBytes(this.#digest)
  }
}

/** The value of a hexadecimal digit from its UTF-16 unit, or -1. It does not branch on the digit, which is secret. */
function digit(unit: number): number {
  const decimal = unit ^ 0x30
  const lower = unit | 0x20
  // All ones or zero.
  const isDecimal = (decimal - 10) >> 31
  const isLetter = ((0x60 - lower) & (lower - 0x67)) >> 31
  return (isDecimal & decimal) | (isLetter & (lower - 0x57)) | ~(isDecimal | isLetter)
}

/** The bytes of a secret. Unlike `fromHex`, decodes text here: the engine's memory would keep copies. */
export function secretBytes(value: Bytes, what: string): Uint8Array {
  if (isBytes(value)) return value
  if (typeof value !== 'string') throw argument(`${what}: expected a Uint8Array or hexadecimal text, found ${kindOf(value)}`)
  const invalid = (at: number, expected: string) => new LyditeError('DECODE', `${what}: byte ${at}: expected ${expected}`, at)
  if (!value.startsWith('0x')) throw invalid(0, 'a 0x prefix')
  const secret = new NewBytes((value.length - 2) >> 1)
  for (let at = 2; at < value.length; at++) {
    const nibble = digit(value.charCodeAt(at))
    if (nibble < 0) throw invalid(at, 'a hexadecimal digit')
    secret[(at >> 1) - 1]! |= at % 2 === 0 ? nibble << 4 : nibble
  }
  if (value.length % 2 !== 0) throw invalid(value.length, 'an even number of hexadecimal digits')
  return secret
}

/** A secret of exactly this length. */
export function fixedSecret(value: Bytes, length: number, what: string): Uint8Array {
  const secret = secretBytes(value, what)
  const found = lengthOf(secret)
  if (found !== length) throw argument(`${what}: expected ${length} bytes, found ${found}`)
  return secret
}

/** Rejects text with a lone surrogate, which has no UTF-8 form. */
export function wellFormed(text: string, what: string): string {
  if (!isWellFormed(text)) throw unencodable(`${what}: expected well-formed text, found a lone surrogate`)
  return text
}

/** An integer as a bigint. */
export function toBigInt(value: Integer, what: string): bigint {
  if (typeof value === 'bigint') return value
  if (Number.isSafeInteger(value)) return BigInt(value)
  throw argument(`${what}: expected a bigint or a safe integer, found ${typeof value === 'number' ? value : kindOf(value)}`)
}
