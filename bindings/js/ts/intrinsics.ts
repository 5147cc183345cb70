// Built-in functions that access memory, captured when this module is loaded. A caller's subclass of Uint8Array may
// override `set`, `length`, `subarray` or `constructor`; through these functions none of its code ever receives the
// scratch buffer, and lengths come from the JavaScript engine.

const uncurry = <Self, Arguments extends unknown[], Result>(method: (this: Self, ...rest: Arguments) => Result) =>
  Function.prototype.call.bind(method) as (self: Self, ...rest: Arguments) => Result

const prototype = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array
const getter = (name: string | symbol) => uncurry(Object.getOwnPropertyDescriptor(prototype, name)!.get as (this: unknown) => unknown)

const tagOf = getter(Symbol.toStringTag)
/** Whether a value is a Uint8Array, from any realm and of any subclass, but neither a proxy nor an object that only
 * inherits from one. */
export const isBytes = (value: unknown): value is Uint8Array => tagOf(value) === 'Uint8Array'

export const lengthOf = getter('length') as (bytes: Uint8Array) => number
const bufferOf = getter('buffer') as (bytes: Uint8Array) => ArrayBuffer
const byteOffsetOf = getter('byteOffset') as (bytes: Uint8Array) => number

/** `target.set(source, at)` */
export const set = uncurry(prototype.set) as (target: Uint8Array, source: Uint8Array, at?: number) => void
/** `bytes.fill(value, start, end)` */
export const fill = uncurry(prototype.fill) as (bytes: Uint8Array, value: number, start: number, end: number) => void
/** `bytes.slice(start, end)`. A constructor that replaces `Symbol.species` only ever receives a length. */
export const slice = uncurry(prototype.slice) as (bytes: Uint8Array, start: number, end: number) => Uint8Array<ArrayBuffer>

const { Uint8Array: Bytes, Uint32Array: Halves, BigUint64Array: Words, Float64Array: Floats } = globalThis
export { Bytes, Floats, Halves, Words }

/** The first bytes of an array, as a plain view. */
export const firstOf = (bytes: Uint8Array, length: number): Uint8Array => new Bytes(bufferOf(bytes), byteOffsetOf(bytes), length)

/** Buffer methods that Node and Bun have in addition to the standard ones: they convert text without an intermediate
 * object. */
interface NativeBuffer extends Uint8Array {
  latin1Slice(this: Uint8Array, start: number, end: number): string
  utf8Slice(this: Uint8Array, start: number, end: number): string
  utf8Write(this: Uint8Array, text: string, offset: number): number
}
const PlatformBuffer = (globalThis as unknown as { Buffer?: { from(buffer: ArrayBuffer, offset: number, length: number): NativeBuffer; prototype: NativeBuffer } }).Buffer
// A polyfill of Buffer lacks these methods.
const NodeBuffer = (['latin1Slice', 'utf8Slice', 'utf8Write'] as const).every((name) => typeof PlatformBuffer?.prototype[name] === 'function') ? PlatformBuffer : undefined
const nodeBufferFrom = NodeBuffer?.from
const latin1Slice = NodeBuffer && uncurry(NodeBuffer.prototype.latin1Slice)
const utf8Slice = NodeBuffer && uncurry(NodeBuffer.prototype.utf8Slice)
const utf8Write = NodeBuffer && uncurry(NodeBuffer.prototype.utf8Write)
// By default, a decoder drops a byte order mark at the start.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()
const decode = uncurry(TextDecoder.prototype.decode)
const encode = uncurry(TextEncoder.prototype.encode)
const encodeInto = uncurry(TextEncoder.prototype.encodeInto)

/** Reads and writes text in a region of memory. */
export class TextView {
  readonly #memory: ArrayBuffer
  readonly #offset: number
  readonly #length: number
  readonly #native: NativeBuffer | undefined

  constructor(memory: ArrayBuffer, offset: number, length: number) {
    this.#memory = memory
    this.#offset = offset
    this.#length = length
    this.#native = nodeBufferFrom?.(memory, offset, length)
  }

  #decode(start: number, end: number): string {
    return decode(decoder, new Bytes(this.#memory, this.#offset + start, end - start))
  }

  ascii(start: number, end: number): string {
    return this.#native ? latin1Slice!(this.#native, start, end) : this.#decode(start, end)
  }

  utf8(start: number, end: number): string {
    return this.#native ? utf8Slice!(this.#native, start, end) : this.#decode(start, end)
  }

  /** Requires space for three bytes per UTF-16 unit. */
  write(text: string, at: number): number {
    if (this.#native) return utf8Write!(this.#native, text, at)
    return encodeInto(encoder, text, new Bytes(this.#memory, this.#offset + at, this.#length - at)).written
  }
}

const isWellFormed = (String.prototype as { isWellFormed?(): boolean }).isWellFormed
/** Whether text is free of lone surrogates, which have no UTF-8 form. */
export const wellFormed: (text: string) => boolean = isWellFormed
  ? uncurry(isWellFormed as (this: string) => boolean)
  : (text) => text === decode(decoder, encode(encoder, text))
