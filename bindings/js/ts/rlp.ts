// RLP of any shape.

import { type Core, type Integer, kindOf, unencodable } from './engine.js'
import { isBytes } from './intrinsics.js'
import { TapeReader, type TapeWriter, withTape } from './tape.js'

/** Bytes, and lists of what RLP holds. */
export type RlpValue = Uint8Array | RlpValue[]
/** What encoding takes: bytes as such or in hexadecimal, integers from 0 to 2^256 - 1, arrays. */
export type RlpInput = Uint8Array | string | Integer | readonly RlpInput[]

/** Deepest nesting of arrays that is encoded: those of JavaScript may hold themselves. */
const MAX_DEPTH = 1024

/** From back to front, as Rust writes it. */
function write(tape: TapeWriter, value: RlpInput, depth: number): void {
  if (isBytes(value)) {
    tape.word(0)
    tape.data(value)
  } else if (Array.isArray(value)) {
    if (depth === MAX_DEPTH) throw unencodable(`arrays nested deeper than ${MAX_DEPTH}`)
    tape.word(3)
    for (let i = value.length - 1; i >= 0; i--) write(tape, value[i] as RlpInput, depth + 1)
    tape.word(4)
  } else if (typeof value === 'string') {
    if (!value.startsWith('0x')) throw unencodable('byte 0: hexadecimal text must begin with 0x')
    tape.word(1)
    tape.string(value)
  } else if (typeof value === 'bigint' || typeof value === 'number') {
    tape.word(2)
    tape.integer(value)
  } else throw unencodable(`RLP holds bytes, integers and arrays, not ${kindOf(value)}`)
}

export const rlp = (core: Core) => ({
  /** Encodes bytes, integers and arrays of what can be encoded. */
  rlpEncode(value: RlpInput): Uint8Array {
    return withTape((tape) => {
      write(tape, value, 0)
      return core.slice(core.output(core.operations.rlpEncode, tape.finish(core)))
    })
  },

  /** Decodes one item, strictly: what is accepted encodes to the same bytes. Lists of any depth are read. */
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
