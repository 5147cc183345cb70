// Encoding of value trees that cross between the languages: see src/tape.rs.

import { type Core, type Integer, argument, copy, kindOf, unencodable, wellFormed } from './engine.js'
import { Bytes, Floats, Halves, TextView, Words, lengthOf } from './intrinsics.js'

const U64 = 0xffff_ffff_ffff_ffffn
/** More limbs than any integer that may cross: see `MAX_LIMBS` in src/syrup.rs. */
const TOO_MANY_LIMBS = 1025
const TOO_LARGE = 1n << 65536n

/** Writes a tape for Rust in private memory, because getters of the values may call Lydite meanwhile. */
export class TapeWriter {
  #buffer = new ArrayBuffer(4096)
  #bytes = new Bytes(this.#buffer)
  #halves = new Halves(this.#buffer)
  #words = new Words(this.#buffer)
  #floats = new Floats(this.#buffer)
  #text = new TextView(this.#buffer, 0, 4096)
  #capacity = 512
  /** Number of words written. */
  #at = 0

  #room(words: number): number {
    const at = this.#at
    if (at + words > this.#capacity) this.#grow(at + words)
    this.#at = at + words
    return at
  }

  #grow(words: number): void {
    if (words * 8 >= 2 ** 31) throw argument('expected at most 2 GiB per call')
    const old = this.#bytes
    const length = Math.max(words, this.#capacity * 2) * 8
    this.#buffer = new ArrayBuffer(length)
    this.#bytes = new Bytes(this.#buffer)
    this.#halves = new Halves(this.#buffer)
    this.#words = new Words(this.#buffer)
    this.#floats = new Floats(this.#buffer)
    this.#text = new TextView(this.#buffer, 0, length)
    this.#capacity = length / 8
    copy(this.#bytes, old)
  }

  reset(): void {
    this.#at = 0
  }

  word(low: number, high = 0): void {
    const at = this.#room(1)
    this.#halves[2 * at] = low
    this.#halves[2 * at + 1] = high
  }

  limb(value: bigint): void {
    const at = this.#room(1)
    this.#words[at] = value
  }

  float(value: number): void {
    const at = this.#room(1)
    this.#floats[at] = value
  }

  integer(value: Integer): void {
    if (typeof value === 'number') {
      if (!Number.isSafeInteger(value)) throw unencodable(`expected a bigint or a safe integer, found ${value}`)
      if (value === 0) return this.word(0)
      const magnitude = Math.abs(value)
      this.word(1, value < 0 ? 1 : 0)
      return this.word(magnitude >>> 0, Math.floor(magnitude / 2 ** 32))
    }
    if (typeof value !== 'bigint') throw unencodable(`expected a bigint or a safe integer, found ${kindOf(value)}`)
    const negative = value < 0n ? 1 : 0
    let rest = negative ? -value : value
    if (rest <= U64) {
      this.word(rest === 0n ? 0 : 1, negative)
      if (rest !== 0n) this.limb(rest)
      return
    }
    const head = this.#room(1)
    let count = 0
    // Division by 2^64 takes time proportional to the length; for integers that Rust rejects anyway only the length is
    // passed.
    if (rest >= TOO_LARGE) for (; count < TOO_MANY_LIMBS; count++) this.limb(0n)
    else for (; rest > 0n; count++, rest >>= 64n) this.limb(rest & U64)
    this.#halves[2 * head] = count
    this.#halves[2 * head + 1] = negative
  }

  /** Writes exactly this many bytes, padded to whole words. */
  fixed(data: Uint8Array): void {
    const words = (lengthOf(data) + 7) >> 3
    const at = this.#room(words)
    if (words) this.#words[at + words - 1] = 0n
    copy(this.#bytes, data, at * 8)
  }

  /** Writes bytes preceded by their length. */
  data(data: Uint8Array): void {
    this.word(lengthOf(data))
    this.fixed(data)
  }

  /** Writes text preceded by its length and a mark. */
  string(text: string, mark = 0): void {
    if (typeof (text as unknown) !== 'string') throw unencodable(`expected a string, found ${kindOf(text)}`)
    wellFormed(text, 'text')
    const at = this.#room(1 + ((3 * text.length + 7) >> 3))
    const length = this.#text.write(text, 8 * at + 8)
    this.#at = at + 1 + ((length + 7) >> 3)
    this.#halves[2 * at] = length
    this.#halves[2 * at + 1] = mark
  }

  /** Puts everything into the scratch buffer after the bytes of `front`. Returns the total length. */
  finish(core: Core, front?: Uint8Array): number {
    const at = front === undefined ? 0 : lengthOf(front)
    const length = at + this.#at * 8
    core.reserve(length)
    if (front !== undefined) copy(core.bytes, front)
    copy(core.bytes, new Bytes(this.#buffer, 0, this.#at * 8), at)
    return length
  }
}

const idle: TapeWriter[] = []

/** Runs `use` with a writer that is not in use elsewhere. */
export function withTape<T>(use: (tape: TapeWriter) => T): T {
  const tape = idle.pop() ?? new TapeWriter()
  tape.reset()
  try {
    return use(tape)
  } finally {
    idle.push(tape)
  }
}

/** Reads a tape written by Rust, before the next call. */
export class TapeReader {
  readonly #core: Core
  readonly #text: string
  #word = 2
  #unit = 0
  #byte: number

  constructor(core: Core) {
    const [words, text, ascii] = [core.halves[0]!, core.halves[1]!, core.halves[2]!]
    this.#core = core
    this.#text = text === 0 ? '' : ascii ? core.text.ascii(words, words + text) : core.text.utf8(words, words + text)
    this.#byte = words + text
  }

  /** Reads the first half of a word. */
  word(): number {
    return this.#core.halves[2 * this.#word++]!
  }

  /** Reads the second half of the word that was read last. */
  high(): number {
    return this.#core.halves[2 * this.#word - 1]!
  }

  limb(): bigint {
    return this.#core.words[this.#word++]!
  }

  float(): number {
    return this.#core.floats[this.#word++]!
  }

  integer(): bigint {
    const count = this.word()
    if (count === 0) return 0n
    const negative = this.high()
    const words = this.#core.words
    const end = this.#word + count
    let at = end - 1
    let value = words[at]!
    while (at > this.#word) value = (value << 64n) | words[--at]!
    this.#word = end
    return negative ? -value : value
  }

  /** Reads text of this many UTF-16 units. */
  units(count: number): string {
    const start = this.#unit
    this.#unit = start + count
    return this.#text.slice(start, this.#unit)
  }

  string(): string {
    return this.units(this.word())
  }

  address(): Hex {
    return this.units(42) as Hex
  }

  fixed(length: number): Uint8Array<ArrayBuffer> {
    const start = this.#byte
    this.#byte = start + length
    return this.#core.slice(start, this.#byte)
  }

  data(): Uint8Array<ArrayBuffer> {
    return this.fixed(this.word())
  }
}

type Hex = `0x${string}`
