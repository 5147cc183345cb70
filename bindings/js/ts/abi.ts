// ABI codecs and events.

import {
  type AddressLike, type Bytes, type Core, type Hex, type Integer, LyditeError, argument, kindOf, located, unencodable,
} from './engine.js'
import { isBytes, lengthOf } from './intrinsics.js'
import { TapeReader, type TapeWriter, withTape } from './tape.js'

/**
 * Decoded values: boolean, bigint, checksummed text for an address, Uint8Array (or text, depending on the option
 * `bytes`) for bytes, string, and arrays for arrays and tuples.
 */
export type AbiValue = boolean | bigint | string | Uint8Array | AbiValue[]
/** Accepted when encoding: like `AbiValue`, but also numbers for bigints, and bytes and addresses either raw or in
 * hexadecimal. */
export type AbiInput = boolean | Integer | string | Uint8Array | readonly AbiInput[]

export interface CodecOptions {
  /** Output format of `bytes`, `bytesN` and `function`. */
  bytes?: 'uint8array' | 'hex'
}
export interface DecodeOptions {
  /** If false, decodes like Solidity before 0.8: excess bits are dropped, the last padding may be missing, and
   * invalid UTF-8 becomes U+FFFD. */
  strict?: boolean
}

type Description =
  | ['bool' | 'uint' | 'int' | 'address' | 'bytes' | 'string']
  | ['fixed', number]
  | ['array', Description]
  | ['list', Description, number]
  | ['tuple', ...Description[]]
type Read = (tape: TapeReader) => AbiValue
type Write = (tape: TapeWriter, value: AbiInput) => void

function reader(type: Description, hex: boolean): Read {
  switch (type[0]) {
    case 'bool':
      return (tape) => tape.word() === 1
    case 'uint':
    case 'int':
      return (tape) => tape.integer()
    case 'address':
      return (tape) => tape.address()
    case 'string':
      return (tape) => tape.string()
    case 'bytes':
      return hex ? (tape) => tape.units(2 + 2 * tape.word()) : (tape) => tape.data()
    case 'fixed': {
      const length = type[1] as number
      return hex ? (tape) => tape.units(2 + 2 * length) : (tape) => tape.fixed(length)
    }
    case 'array': {
      const element = reader(type[1] as Description, hex)
      return (tape) => list(tape, element, tape.word())
    }
    case 'list': {
      const element = reader(type[1] as Description, hex)
      const length = type[2] as number
      return (tape) => list(tape, element, length)
    }
    case 'tuple':
      return tuple((type.slice(1) as Description[]).map((member) => reader(member, hex)))
  }
}

function list(tape: TapeReader, element: Read, count: number): AbiValue[] {
  const values: AbiValue[] = []
  for (let i = 0; i < count; i++) values.push(element(tape))
  return values
}

function tuple(members: readonly Read[]): (tape: TapeReader) => AbiValue[] {
  return (tape) => {
    const values: AbiValue[] = []
    for (let i = 0; i < members.length; i++) values.push(members[i]!(tape))
    return values
  }
}

function bytesOrHex(tape: TapeWriter, value: AbiInput): void {
  if (isBytes(value)) tape.data(value)
  else if (typeof value !== 'string') throw unencodable(`expected a Uint8Array or hexadecimal text, found ${kindOf(value)}`)
  else if (!value.startsWith('0x')) throw unencodable('byte 0: expected a 0x prefix')
  else tape.string(value, 1)
}

function writer(type: Description): Write {
  switch (type[0]) {
    case 'bool':
      return (tape, value) => {
        if (typeof value !== 'boolean') throw unencodable(`expected a boolean, found ${kindOf(value)}`)
        tape.word(value ? 1 : 0)
      }
    case 'uint':
    case 'int':
      return (tape, value) => tape.integer(value as Integer)
    case 'address':
      return (tape, value) => {
        if (isBytes(value)) tape.data(value)
        else if (typeof value === 'string') tape.string(value, 1)
        else throw unencodable(`expected an address, found ${kindOf(value)}`)
      }
    case 'string':
      return (tape, value) => {
        if (typeof value !== 'string') throw unencodable(`expected a string, found ${kindOf(value)}`)
        tape.string(value)
      }
    case 'bytes':
    case 'fixed':
      return bytesOrHex
    case 'array': {
      const element = writer(type[1] as Description)
      return (tape, value) => elements(tape, () => element, value, undefined, 'elements')
    }
    case 'list': {
      const element = writer(type[1] as Description)
      const length = type[2] as number
      return (tape, value) => elements(tape, () => element, value, length, 'elements')
    }
    case 'tuple': {
      const members = (type.slice(1) as Description[]).map(writer)
      return (tape, value) => elements(tape, (i) => members[i]!, value, members.length, 'values')
    }
  }
}

/** The path of a value, built up while an error propagates. */
class Misplaced {
  constructor(
    readonly path: string,
    readonly error: LyditeError,
  ) {}
}

function elements(
  tape: TapeWriter, write: (index: number) => Write, value: AbiInput, needed: number | undefined, what: string, head = true,
): void {
  if (!Array.isArray(value)) throw unencodable(`expected an array, found ${kindOf(value)}`)
  const count = value.length
  if (needed !== undefined && needed !== count) throw unencodable(`expected ${needed} ${what}, found ${count}`)
  if (head) tape.word(count)
  let i = 0
  try {
    for (; i < count; i++) write(i)(tape, value[i] as AbiInput)
  } catch (error) {
    if (error instanceof Misplaced) throw new Misplaced(`[${i}]${error.path}`, error.error)
    if (error instanceof LyditeError) throw new Misplaced(`[${i}]`, error)
    throw error
  }
}

const registry = new FinalizationRegistry<() => void>((free) => free())

/** Encodes and decodes a list of arguments. */
export class Codec {
  readonly #core: Core
  readonly #number: number
  readonly #read: (tape: TapeReader) => AbiValue[]
  readonly #members: Write[]

  constructor(core: Core, types: string, options: CodecOptions = {}) {
    if (typeof types !== 'string') throw argument(`types: expected a string, found ${kindOf(types)}`)
    const hex = options.bytes === 'hex'
    const length = core.output(core.operations.codecNew, core.put(types, 'types'), hex ? 1 : 0)
    const [number, type] = JSON.parse(core.text.utf8(0, length)) as [number, Description]
    this.#core = core
    this.#number = number
    this.#read = tuple((type.slice(1) as Description[]).map((member) => reader(member, hex)))
    this.#members = (type.slice(1) as Description[]).map(writer)
    registry.register(this, () => core.call(core.operations.codecFree, number))
  }

  /** Encodes the arguments. */
  encode(values: readonly AbiInput[]): Uint8Array {
    const core = this.#core
    return withTape((tape) => {
      try {
        elements(tape, (i) => this.#members[i]!, values, this.#members.length, 'values', false)
      } catch (error) {
        if (error instanceof Misplaced) throw unencodable(`arguments${error.path}: ${error.error.message}`)
        if (error instanceof LyditeError) throw unencodable(`arguments: ${error.message}`)
        throw error
      }
      return core.slice(core.output(core.operations.codecEncode, tape.finish(core), this.#number))
    })
  }

  /** Decodes the arguments. */
  decode(data: Bytes, options?: DecodeOptions): AbiValue[] {
    const core = this.#core
    const lenient = options?.strict === false ? 1 : 0
    core.output(core.operations.codecDecode, core.put(core.data(data, 'data'), 'data'), this.#number, lenient)
    return this.#read(new TapeReader(core))
  }
}

export interface Log {
  topics: readonly Bytes[]
  data: Bytes
}
export interface EventParameter {
  readonly name: string
}

/** Decodes an event's logs. */
export class Event {
  readonly #core: Core
  readonly #number: number
  readonly #readers: Read[]
  readonly #names: string[]
  /** The event's name. */
  readonly name: string
  /** Keccak-256 of the canonical signature, the first topic of its logs. */
  readonly topic: Hex

  constructor(core: Core, signature: string, options: CodecOptions = {}) {
    if (typeof signature !== 'string') throw argument(`signature: expected a string, found ${kindOf(signature)}`)
    const hex = options.bytes === 'hex'
    const length = core.output(core.operations.eventNew, core.put(signature, 'signature'), hex ? 1 : 0)
    const [number, inputs, name, topic] = JSON.parse(core.text.utf8(0, length)) as [number, [string, Description][], string, string]
    this.#core = core
    this.#number = number
    this.#readers = inputs.map(([, type]) => reader(type, hex))
    this.#names = inputs.map(([name], i) => name || `arg${i}`)
    this.name = name
    this.topic = `0x${topic}`
    registry.register(this, () => core.call(core.operations.eventFree, number))
    const twice = this.#names.find((name, i) => this.#names.indexOf(name) !== i)
    if (twice !== undefined) throw argument(`duplicate parameter name: ${twice}`)
  }

  #write(tape: TapeWriter, log: Log): void {
    const core = this.#core
    if (typeof (log as unknown) !== 'object' || log === null) throw argument(`expected a log, found ${kindOf(log)}`)
    const { topics } = log
    if (!Array.isArray(topics)) throw argument(`topics: expected an array, found ${kindOf(topics)}`)
    const data = core.data(log.data, 'data')
    const words: Uint8Array[] = []
    for (let i = 0; i < topics.length; i++) words[i] = core.fixed(topics[i] as Bytes, 32, `topics[${i}]`)
    tape.word(words.length, lengthOf(data))
    for (let i = 0; i < words.length; i++) tape.fixed(words[i]!)
    tape.fixed(data)
  }

  #read(tape: TapeReader): Record<string, AbiValue> {
    const values: Record<string, AbiValue> = {}
    for (let i = 0; i < this.#readers.length; i++) {
      const name = this.#names[i]!
      const value = this.#readers[i]!(tape)
      // Assigning to this name would set the prototype.
      if (name === '__proto__') Object.defineProperty(values, name, { value, configurable: true, enumerable: true, writable: true })
      else values[name] = value
    }
    return values
  }

  /** The parameters by name (`arg0` … if unnamed). An indexed parameter longer than a word is its 32-byte hash,
   * because the log contains only the hash. */
  decode(log: Log, options?: DecodeOptions): Record<string, AbiValue> {
    const core = this.#core
    const lenient = options?.strict === false ? 1 : 0
    withTape((tape) => {
      this.#write(tape, log)
      core.output(core.operations.eventDecode, tape.finish(core), this.#number, lenient)
    })
    return this.#read(new TapeReader(core))
  }

  /** The parameters of each log, or null for a log that `decode` rejects: one of another event, or a malformed one.
   * Crosses to native code once. */
  decodeBatch(logs: readonly Log[], options?: DecodeOptions): (Record<string, AbiValue> | null)[] {
    const core = this.#core
    const lenient = options?.strict === false ? 1 : 0
    let count = 0
    withTape((tape) => {
      if (!Array.isArray(logs)) throw argument(`logs: expected an array, found ${kindOf(logs)}`)
      for (const log of logs as readonly Log[]) {
        try {
          this.#write(tape, log)
        } catch (error) {
          throw located(`logs[${count}]`, error)
        }
        count++
      }
      core.output(core.operations.eventDecodeBatch, tape.finish(core), this.#number, lenient)
    })
    const tape = new TapeReader(core)
    return Array.from({ length: count }, () => (tape.word() === 1 ? this.#read(tape) : null))
  }
}

export type CodecConstructor = new (types: string, options?: CodecOptions) => Codec
export type EventConstructor = new (signature: string, options?: CodecOptions) => Event
export type { AddressLike }
