// RLP items of any shape.

import { type Core, type Integer, kindOf, unencodable } from './engine.js'
import { isBytes } from './intrinsics.js'
import { TapeReader, type TapeWriter, withTape } from './tape.js'

/** Bytes, and lists of items. */
export type RlpValue = Uint8Array | RlpValue[]
/** Accepted when encoding: bytes, either raw or in hexadecimal, integers from 0 to 2^256 - 1, arrays. */
export type RlpInput = Uint8Array | string | Integer | readonly RlpInput[]

/** Maximum nesting of arrays when encoding: JavaScript arrays may contain themselves. */
const MAX_DEPTH = 1024

const LIMIT = 1n << 256n

/** `path` has the indices of the value in the arrays around it. */
const invalid = (path: readonly number[], depth: number, message: string) =>
  unencodable(`value${path.slice(0, depth).map((index) => `[${index}]`).join('')}: ${message}`)

/** Writes from back to front, the order that Rust expects. */
function write(tape: TapeWriter, value: RlpInput, path: number[], depth: number): void {
  if (isBytes(value)) {
    tape.word(0)
    tape.data(value)
  } else if (Array.isArray(value)) {
    if (depth === MAX_DEPTH) throw unencodable(`arrays nested deeper than ${MAX_DEPTH} levels`)
    tape.word(3)
    for (let i = value.length - 1; i >= 0; i--) {
      path[depth] = i
      write(tape, value[i] as RlpInput, path, depth + 1)
    }
    tape.word(4)
  } else if (typeof value === 'string') {
    if (!value.startsWith('0x')) throw invalid(path, depth, 'byte 0: expected a 0x prefix')
    tape.word(1)
    tape.string(value)
  } else if (typeof value === 'bigint' || typeof value === 'number') {
    if (typeof value === 'number' && !Number.isSafeInteger(value)) throw invalid(path, depth, `expected a bigint or a safe integer, found ${value}`)
    if (value < 0 || (typeof value === 'bigint' && value >= LIMIT)) throw invalid(path, depth, 'expected an integer from 0 to 2^256 - 1')
    tape.word(2)
    tape.integer(value)
  } else throw invalid(path, depth, `expected bytes, an integer or an array, found ${kindOf(value)}`)
}

export const rlp = (core: Core) => ({
  /** Encodes bytes, integers, and nested arrays of them. */
  rlpEncode(value: RlpInput): Uint8Array {
    return withTape((tape) => {
      write(tape, value, [], 0)
      return core.slice(core.output(core.operations.rlpEncode, tape.finish(core)))
    })
  },

  /** Decodes one item strictly: accepted input re-encodes to the same bytes. Lists may be nested to any depth. */
  rlpDecode(data: Uint8Array | `0x${string}`): RlpValue {
    core.output(core.operations.rlpDecode, core.put(core.data(data, 'data'), 'data'))
    const tape = new TapeReader(core)
    const open: RlpValue[][] = []
    for (;;) {
      const kind = tape.word()
      if (kind === 1) {
        open.push([])
        continue
      }
      const item: RlpValue = kind === 0 ? tape.fixed(tape.high()) : open.pop()!
      if (open.length === 0) return item
      open[open.length - 1]!.push(item)
    }
  },
})
