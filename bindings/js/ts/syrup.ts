// Syrup, the encoding of OCapN.

import { type Bytes, type Core, kindOf, unencodable } from './engine.js'
import { isBytes } from './intrinsics.js'
import { TapeReader, type TapeWriter, withTape } from './tape.js'

/** A symbol: text that is not a string. */
export class SyrupSymbol {
  constructor(readonly name: string) {}
}
/** A 32-bit float: part of Syrup, but not of OCapN. */
export class SyrupFloat32 {
  constructor(readonly value: number) {}
}
/** A label and its fields. */
export class SyrupRecord {
  constructor(
    readonly label: SyrupValue,
    readonly fields: readonly SyrupValue[],
  ) {}
}
/** boolean, bigint for integers, number for 64-bit floats, Uint8Array, string, arrays for lists, Map for
 * dictionaries, Set. */
export type SyrupValue =
  | boolean | bigint | number | string | Uint8Array | SyrupSymbol | SyrupFloat32 | SyrupRecord | readonly SyrupValue[]
  | ReadonlyMap<SyrupValue, SyrupValue> | ReadonlySet<SyrupValue>

/** Same limit as in the core: trees are read recursively. */
const MAX_DEPTH = 1024

/** Writes a value that is not a `SyrupValue`; returns false if it cannot. */
export type WriteOther = (tape: TapeWriter, value: unknown) => boolean

export function write(tape: TapeWriter, value: SyrupValue, depth: number, other?: WriteOther): void {
  if (depth > MAX_DEPTH) throw unencodable(`containers nested deeper than ${MAX_DEPTH} levels`)
  const all = (kind: number, values: SyrupValue[]) => {
    tape.word(kind, values.length)
    for (let i = 0; i < values.length; i++) write(tape, values[i]!, depth + 1, other)
  }
  if (typeof value === 'boolean') tape.word(value ? 1 : 0)
  else if (typeof value === 'bigint') {
    tape.word(2)
    tape.integer(value)
  } else if (typeof value === 'number') {
    tape.word(3)
    tape.float(value)
  } else if (typeof value === 'string') {
    tape.word(6)
    tape.string(value)
  } else if (isBytes(value)) {
    tape.word(5)
    tape.data(value)
  } else if (value instanceof SyrupSymbol) {
    tape.word(7)
    tape.string(value.name)
  } else if (value instanceof SyrupFloat32) {
    const float: unknown = value.value
    if (typeof float !== 'number') throw unencodable(`expected a number, found ${kindOf(float)}`)
    tape.word(4)
    tape.float(float)
  } else if (Array.isArray(value)) all(8, [...value])
  else if (value instanceof Map) all(9, [...value].flat(1))
  else if (value instanceof Set) all(10, [...value])
  else if (value instanceof SyrupRecord) all(11, [value.label, ...value.fields])
  else if (!other?.(tape, value)) throw unencodable(`expected a value with a Syrup encoding, found ${kindOf(value)}`)
}

/** Reads a value. `reference` makes one of a number. */
export function read(tape: TapeReader, reference?: (number: number) => unknown): SyrupValue {
  const kind = tape.word()
  const count = tape.high()
  const all = () => {
    const values: SyrupValue[] = []
    for (let i = 0; i < count; i++) values.push(read(tape, reference))
    return values
  }
  switch (kind) {
    case 0:
      return false
    case 1:
      return true
    case 2:
      return tape.integer()
    case 3:
      return tape.float()
    case 4:
      return new SyrupFloat32(tape.float())
    case 5:
      return tape.data()
    case 6:
      return tape.string()
    case 7:
      return new SyrupSymbol(tape.string())
    case 8:
      return all()
    case 9: {
      const entries = new Map<SyrupValue, SyrupValue>()
      for (let i = 0; i < count; i++) {
        const key = read(tape, reference)
        entries.set(key, read(tape, reference))
      }
      return entries
    }
    case 10:
      return new Set(all())
    case 12:
      return reference!(count) as SyrupValue
    default: {
      const label = read(tape, reference)
      return new SyrupRecord(label, all())
    }
  }
}

export const syrup = (core: Core) => {
  const encode = (value: SyrupValue, contentId: number) =>
    withTape((tape) => {
      write(tape, value, 0)
      return core.slice(core.output(core.operations.syrupEncode, tape.finish(core), contentId))
    })
  return {
    /** The canonical encoding of a value. Maps and Sets may be in any order. */
    syrupEncode: (value: SyrupValue): Uint8Array => encode(value, 0),

    /** The content id of a value: SHA-256 of its canonical bytes. */
    syrupContentId: (value: SyrupValue): Uint8Array => encode(value, 1),

    /** The single value that the bytes encode. With `lenient`, encodings from old peers are accepted too. */
    syrupDecode(data: Bytes, options?: { lenient?: boolean }): SyrupValue {
      const lenient = options?.lenient ? 1 : 0
      core.output(core.operations.syrupDecode, core.put(core.data(data, 'data'), 'data'), lenient)
      return read(new TapeReader(core))
    },
  }
}
