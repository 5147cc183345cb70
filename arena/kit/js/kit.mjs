// The arena's line protocol for contenders in JavaScript (Node and Bun).
//
// A contender calls `run(name, version, ops)`. `ops` maps an op id to `op(parse, call)`: `parse(Uint8Array)` is untimed
// and returns the contender's own types; `call(parsed)` is timed and returns the output: a Uint8Array, or the hex text
// ("0x…") or plain text that the library gives its users. `array` returns a list of outputs, each summed by itself.

import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

export const op = (parse, call) => ({ parse, call })
export const array = (parse, call) => ({ parse, call, many: true })
/** An array op that is checked in more than what is summed: `call` returns a list of results, `parts(result)` are its
 * outputs, and `verify` writes `written(result)` before them. */
export const checked = (parse, results, parts, written) => ({
  parse,
  call: (item) => results(item).flatMap(parts),
  many: true,
  verify: (item) => results(item).flatMap((result) => [written(result), ...parts(result)]),
})
/** A decoder: `call` returns a list of values; `head(value)` is summed, `encode(value)` written for `verify`. */
export const decoder = (parse, call, head, encode) => ({
  parse, call, head, verify: (item) => call(item).map(encode),
})
/** As `array`, for a library whose call returns a promise. */
export const later = (parse, call) => ({ parse, call, many: true, later: true })
/** A negative row: `decode` must throw on every item. */
export const neg = (decode) => ({
  parse: (item) => item,
  call: (item) => {
    try {
      decode(item)
    } catch {
      return Uint8Array.of(1)
    }
    return Uint8Array.of(0)
  },
})
export const same = (item) => item

const utf8 = new TextDecoder()
export const text = (bytes) => utf8.decode(bytes)
export const hex = (bytes) => '0x' + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
export const chunks = (bytes, size) => {
  const out = []
  for (let at = 0; at < bytes.length; at += size) out.push(bytes.subarray(at, at + size))
  return out
}
export const u32 = (b, at) => (b[at] | (b[at + 1] << 8) | (b[at + 2] << 16) | (b[at + 3] << 24)) >>> 0
export const le = (bytes) => {
  let value = 0n
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i])
  return value
}
export const be = (bytes) => BigInt(hex(bytes))
/** A cursor over length-prefixed fields. */
export class Reader {
  constructor(bytes) {
    this.bytes = bytes
    this.at = 0
  }
  get done() {
    return this.at >= this.bytes.length
  }
  take(size) {
    this.at += size
    return this.bytes.subarray(this.at - size, this.at)
  }
  u32() {
    return u32(this.take(4), 0)
  }
  le(size) {
    return le(this.take(size))
  }
  lp() {
    return this.take(this.u32())
  }
}
export const many = (item, one) => {
  const reader = new Reader(item)
  const out = []
  while (!reader.done) out.push(one(reader))
  return out
}
/** The fields of an EIP-1559 transaction, as the catalogue lays them out. */
export const transactionFields = (r) => {
  const fields = {
    chainId: r.le(8), nonce: r.le(8), tip: r.le(16), cap: r.le(16), gas: r.le(8),
    to: r.take(20), value: be(r.take(32)), data: r.lp(), accessList: [],
  }
  for (let entries = r.u32(); entries > 0; entries--) {
    const address = r.take(20)
    const storageKeys = []
    for (let keys = r.u32(); keys > 0; keys--) storageKeys.push(r.take(32))
    fields.accessList.push({ address, storageKeys })
  }
  return fields
}
export const dynamicFields = (r) => {
  const fields = { string: text(r.lp()), bytes: r.lp(), numbers: [] }
  for (let count = r.u32(); count > 0; count--) fields.numbers.push(be(r.take(32)))
  return fields
}
export const typedDataFields = (item) => {
  const r = new Reader(item)
  return {
    name: text(r.lp()), version: text(r.lp()), chainId: r.le(8),
    contract: r.take(20), to: r.take(20), amount: be(r.take(32)),
  }
}
/** A u256 as 32 little-endian bytes. */
export const le32 = (value) => {
  const out = new BigUint64Array(4)
  out[0] = value
  out[1] = value >> 64n
  out[2] = value >> 128n
  out[3] = value >> 192n
  return new Uint8Array(out.buffer)
}

const NIBBLE = new Uint8Array(128)
for (let i = 0; i < 16; i++) {
  NIBBLE['0123456789abcdef'.charCodeAt(i)] = i
  NIBBLE['0123456789ABCDEF'.charCodeAt(i)] = i
}

// The accumulator: the low and the high halves of all words as two doubles, each below 2^53.
let low = 0
let high = 0
const CARRY = 2 ** 32

function addByte(at, byte) {
  const shift = at & 7
  if (shift < 4) low += byte * 2 ** (8 * shift)
  else high += byte * 2 ** (8 * (shift - 4))
}

function add(output) {
  if (typeof output === 'string') {
    if (output.charCodeAt(1) === 120) {
      for (let i = 2, at = 0; i < output.length; i += 2, at++)
        addByte(at, NIBBLE[output.charCodeAt(i)] * 16 + NIBBLE[output.charCodeAt(i + 1)])
    } else addText(output)
  } else {
    const whole = output.length & ~7
    for (let i = 0; i < whole; i += 8) {
      low += u32(output, i)
      high += u32(output, i + 4)
    }
    for (let i = whole; i < output.length; i++) addByte(i, output[i])
  }
  if (low >= 2 ** 51) {
    const carry = Math.floor(low / CARRY)
    low -= carry * CARRY
    high += carry
  }
  if (high >= 2 ** 51) high %= CARRY
}

function addText(output) {
  for (let i = 0; i < output.length; i++) addByte(i, output.charCodeAt(i))
}

/** Marks text that begins with "0x" but is an output of characters (a checksummed address). */
export class Text {
  constructor(value) {
    this.value = value
  }
}

function addAny(output) {
  if (output instanceof Text) addText(output.value)
  else add(output)
}

const bytesOf = (output) => {
  if (output instanceof Text) return Buffer.from(output.value, 'latin1')
  if (typeof output !== 'string') return output
  return output.startsWith('0x') ? Buffer.from(output.slice(2), 'hex') : Buffer.from(output, 'latin1')
}

async function timed({ call, many, head, later }, items, n) {
  const count = items.length
  low = 0
  high = 0
  const start = process.hrtime.bigint()
  if (head) {
    for (let k = 0; k < n; k++) {
      const values = call(items[k % count])
      for (let i = 0; i < values.length; i++) low += head(values[i])
    }
  } else if (later) {
    for (let k = 0; k < n; k++) {
      const outputs = await call(items[k % count])
      for (let i = 0; i < outputs.length; i++) addAny(outputs[i])
    }
  } else if (many) {
    for (let k = 0; k < n; k++) {
      const outputs = call(items[k % count])
      for (let i = 0; i < outputs.length; i++) addAny(outputs[i])
    }
  } else for (let k = 0; k < n; k++) addAny(call(items[k % count]))
  const ns = process.hrtime.bigint() - start
  const acc = BigInt.asUintN(64, BigInt(low) + (BigInt(high) << 32n))
  return { n, ns: Number(ns), acc: acc.toString(16).padStart(16, '0') }
}

function noop(n) {
  let kept = 0
  const start = process.hrtime.bigint()
  for (let k = 0; k < n; k++) kept = k
  return { n, ns: Number(process.hrtime.bigint() - start), kept }
}

function readBlobs(path) {
  const data = readFileSync(path)
  return many(new Uint8Array(data.buffer, data.byteOffset, data.length), (r) => r.lp())
}

function blob(bytes) {
  const head = Buffer.alloc(4)
  head.writeUInt32LE(bytes.length)
  return Buffer.concat([head, bytes])
}

/** Answers the driver until `quit` or the end of input. */
export function run(name, version, ops) {
  const runtime = process.versions.bun ? `Bun ${process.versions.bun}` : `Node ${process.versions.node}`
  let current
  let items = []
  const answers = {
    describe: () => ({ name, version, runtime, ops: Object.keys(ops), threads: 1 }),
    prepare: (id, path) => {
      if (!ops[id]) return { err: 'unsupported', msg: id }
      current = ops[id]
      items = readBlobs(path).map(current.parse)
      return { ok: true, items: items.length }
    },
    verify: async (path) => {
      const outputs = []
      for (const item of items) {
        const out = await (current.verify ?? current.call)(item)
        outputs.push(blob(current.many || current.verify ? Buffer.concat(out.map(bytesOf)) : bytesOf(out)))
      }
      writeFileSync(path, Buffer.concat(outputs))
      return { ok: true }
    },
    run: (n) => timed(current, items, Number(n)),
    noop: (n) => noop(Number(n)),
    gc: () => (globalThis.gc?.(), globalThis.Bun?.gc(true), { ok: true }),
  }
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const [command, ...args] = line.trim().split(/\s+/)
    if (command === 'quit') process.exit(0)
    let reply
    try {
      reply = answers[command] ? await answers[command](...args) : { err: 'unsupported', msg: command }
    } catch (error) {
      reply = { err: 'rejected', msg: String(error?.message ?? error).slice(0, 300) }
    }
    process.stdout.write(JSON.stringify({ arena: 1, ...reply }) + '\n')
  }).on('close', () => process.exit(0))
}

/** Adds the `_varied` twin of every row. */
export const withVaried = (rows) =>
  Object.fromEntries(Object.entries(rows).flatMap(([id, row]) => [[id, row], [id + '_varied', row]]))
const MASK = (1n << 256n) - 1n
const words = (per) => (item) => {
  const values = chunks(item, 32).map(le)
  const rows = []
  for (let i = 0; i < values.length; i += per) rows.push(values.slice(i, i + per))
  return rows
}
const u256 = (per, call) => array(words(per), (rows) => rows.map((row) => le32(call(...row))))
const mulDiv = u256(3, (a, b, d) => (a * b) / d)
const swap = u256(3, (l, p, a) => (l * p) / ((l + a * p) & MASK))
/** u256 in JavaScript is the native BigInt: what users of every library here have. */
export const bigintRows = {
  ...withVaried({
    u256_add: u256(2, (a, b) => (a + b) & MASK),
    u256_mul: u256(2, (a, b) => (a * b) & MASK),
    u256_div: u256(2, (a, b) => a / b),
    u256_uniswapv2_amount_out: u256(3, (i, ri, ro) => (i * 997n * ro) / (ri * 1000n + i * 997n)),
    u256_mulDiv: mulDiv,
    u256_mulDiv_hard512: mulDiv,
    u256_uniswapv4_swap: swap,
  }),
  u256_mulDiv_zig_input: mulDiv,
  u256_uniswapv4_swap_zig_input: swap,
}
/** Keccak rows over one hash function from bytes to bytes or hex text. */
export const keccakRows = (hash) => {
  const rows = {}
  for (const size of ['empty', '32b', '256b', '1kb', '4kb']) rows[`keccak256_${size}`] = op(same, hash)
  for (const size of ['32b', '256b', '1kb', '4kb']) rows[`keccak256_${size}_varied`] = op(same, hash)
  const messages = (item) => {
    const r = new Reader(item)
    return Array.from({ length: r.u32() }, () => r.lp())
  }
  for (const size of ['32b', '256b', 'mixed'])
    rows[`keccak256_batch_${size}`] = array(messages, (list) => list.map((m) => hash(m)))
  return rows
}
/** `keccak-like` rows for one recovery function: (hash32, r, s, v) -> 64-byte public key; and one to the address. */
export const recoverRows = (recover, address) => {
  const rows = withVaried({ secp256k1_recover: op(same, recover) })
  for (const n of [8, 64, 1024])
    rows[`secp256k1_recover_batch_${n}`] = array((item) => chunks(item, 97), (list) => list.map((x) => address(x)))
  rows['neg:secp256k1_recover'] = neg(recover)
  return rows
}
