// The arena's line protocol for contenders in JavaScript (Node and Bun).
//
// A contender calls `run(name, version, ops)`. `ops` maps an op id to `op(parse, call)`: `parse(Uint8Array)` is untimed
// and returns the contender's own types; `call(parsed)` is timed and returns the output: a Uint8Array, hex text ("0x…",
// summed as the bytes it represents), a BigInt (32 bytes, little-endian), `Text`, or `Characters`. `array` parses an
// item to a list of elements and returns a list of outputs, which are summed separately; `each` calls once per element.
//
// Between calls the kit changes the items by the rule of the row. Elements that are a Uint8Array or plain text need no
// code; for others the adapter supplies `.wire(element => bytes)` if the element refers to bytes of the item, or
// `.changes(rule, (element, word) => changed)`.

import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

class Op {
  constructor(parse, call, kind) {
    Object.assign(this, { parse, call, rules: {}, rulesOfAll: {} }, kind)
  }
  /** Supplies the change of an element for one rule; `change` returns the changed or a new element. */
  changes(rule, change) {
    this.rules[rule] = change
    return this
  }
  /** Like `changes`, for items with another layout of elements: `change(item, x)`; element i gets `word(x, i)`. */
  changesAll(rule, change) {
    this.rulesOfAll[rule] = change
    return this
  }
  /** `bytes(element)` is the element's wire form, which it refers to, or the end of that if offsets are negative. */
  wire(bytes) {
    this.bytes = bytes
    return this
  }
}
export const op = (parse, call) => new Op(parse, call)
export const array = (parse, call) => new Op(parse, call, { many: true })
/** An array op that is one call per element. Each output is summed before the next call. */
export const each = (parse, one) => new Op(parse, (list) => list.map((element) => one(element)), { many: true, one })
/** An operation with one element per item and several outputs. */
export const parts = (parse, call) => new Op(parse, call, { many: true, whole: true })
/** `parts` for a library whose call returns a promise. */
export const later = (parse, call) => new Op(parse, call, { many: true, whole: true, later: true })
/** An array op for which `verify` checks more than is summed: `call` returns a list of results, `parts(result)` are its
 * outputs, and `verify` writes `written(result)` before them. */
export const checked = (parse, results, parts, written) =>
  new Op(parse, (item) => results(item).flatMap(parts), {
    many: true,
    verify: (item) => results(item).flatMap((result) => [written(result), ...parts(result)]),
  })
/** A decoder: `call` returns a list of values; `head(value)` is summed, `encode(value)` written for `verify`. */
export const decoder = (parse, call, head, encode) =>
  new Op(parse, call, { head, verify: (item) => call(item).map(encode) })
/** A negative row: `decode` must throw on every item. */
export const neg = (decode) =>
  op(same, (item) => {
    try {
      decode(item)
    } catch {
      return Uint8Array.of(1)
    }
    return Uint8Array.of(0)
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

// Buffers for everything that is summed as words but not kept.
let scratch
let words
let limbs
const reserve = (size) => {
  scratch = Buffer.from(new ArrayBuffer((size + 7) & ~7))
  words = new Uint32Array(scratch.buffer)
  limbs = new BigUint64Array(scratch.buffer)
}
reserve(4096)

// The checksum: the sums of the low and of the high halves of all words, as doubles below 2^53.
const sums = new Float64Array(2)
const CARRY = 2 ** 32

function account(low, high) {
  low += sums[0]
  high += sums[1]
  if (low >= 2 ** 51) {
    const over = Math.floor(low / CARRY)
    low -= over * CARRY
    high += over
  }
  sums[0] = low
  sums[1] = high >= 2 ** 51 ? high % CARRY : high
}

function addBytes(output) {
  let low = 0
  let high = 0
  const whole = output.length & ~7
  for (let i = 0; i < whole; i += 8) {
    low += u32(output, i)
    high += u32(output, i + 4)
  }
  for (let i = whole; i < output.length; i++) {
    const byte = (output[i] << (8 * (i & 3))) >>> 0
    if (i & 4) high += byte
    else low += byte
  }
  account(low, high)
}

function addText(text) {
  if (3 * text.length > scratch.length - 8) reserve(6 * text.length + 8)
  const size = scratch.utf8Write(text, 0)
  for (let end = size; end & 7; end++) scratch[end] = 0
  let low = 0
  let high = 0
  for (let i = 0; 4 * i < size; i += 2) {
    low += words[i]
    high += words[i + 1]
  }
  account(low, high)
}

function addCharacters({ value, from }) {
  if (value.length > scratch.length - 16) reserve(2 * value.length + 16)
  let end = scratch.latin1Write(value, 8 - from) + 8 - from
  for (; end & 7; end++) scratch[end] = 0
  let low = 0
  let high = 0
  for (let i = 2; 4 * i < end; i += 2) {
    low += words[i]
    high += words[i + 1]
  }
  account(low, high)
}

/** The two bytes that four hexadecimal digits represent. */
const bytesOfDigits = (four) => {
  const digits = (four & 0x0f0f0f0f) + 9 * ((four >>> 6) & 0x01010101)
  const bytes = ((digits << 4) | (digits >>> 8)) & 0x00ff00ff
  return (bytes | (bytes >>> 8)) & 0xffff
}

function addHex(text) {
  if (text.length > scratch.length - 32) reserve(2 * text.length + 32)
  // Digits start at 8, after "0x".
  const size = scratch.latin1Write(text, 6) + 6
  for (let end = size; (end & 15) !== 8; end++) scratch[end] = 48
  let low = 0
  let high = 0
  for (let i = 2; 4 * i < size; i += 4) {
    low += bytesOfDigits(words[i]) + bytesOfDigits(words[i + 1]) * 65536
    high += bytesOfDigits(words[i + 2]) + bytesOfDigits(words[i + 3]) * 65536
  }
  account(low, high)
}

function addBigInt(value) {
  limbs[0] = value
  limbs[1] = value >> 64n
  limbs[2] = value >> 128n
  limbs[3] = value >> 192n
  account(words[0] + words[2] + words[4] + words[6], words[1] + words[3] + words[5] + words[7])
}

/** Marks a text output. */
export class Text {
  constructor(value) {
    this.value = value
  }
}

/** Marks a text output of one-byte characters, without its first `from` ones (at most 8). */
export class Characters {
  constructor(value, from = 0) {
    this.value = value
    this.from = from
  }
}

function add(output) {
  if (output instanceof Uint8Array) addBytes(output)
  else if (typeof output === 'bigint') addBigInt(output)
  else if (typeof output === 'string') addHex(output)
  else if (output instanceof Characters) addCharacters(output)
  else addText(output.value)
}

const bytesOf = (output) => {
  if (output instanceof Text) return Buffer.from(output.value)
  if (output instanceof Characters) return Buffer.from(output.value.slice(output.from))
  if (typeof output === 'string') return Buffer.from(output.slice(2), 'hex')
  if (typeof output !== 'bigint') return output
  return Buffer.from(output.toString(16).padStart(64, '0'), 'hex').reverse()
}

const head = Buffer.alloc(68)
/** The output of `tx_decode`: the recipient as hex text, if there is one, and three numbers. */
export const transactionHead = (to, nonce, gas, value) => {
  if (to) head.hexWrite(to.slice(2), 0)
  else head.fill(0, 0, 20)
  head.writeBigUInt64LE(BigInt(nonce ?? 0), 20)
  head.writeBigUInt64LE(gas ?? 0n, 28)
  limbs[0] = value ??= 0n
  limbs[1] = value >> 64n
  limbs[2] = value >> 128n
  limbs[3] = value >> 192n
  scratch.copy(head, 36, 0, 32)
  return head
}

// Changes

/** The word of element i if that of the first is x. */
export const word = (x, i) => (x + Math.imul(i, 0x9e3779b9)) >>> 0
/** Writes 4 bytes, little-endian. */
export const setLE = (bytes, at, w) => {
  bytes[at] = w
  bytes[at + 1] = w >>> 8
  bytes[at + 2] = w >>> 16
  bytes[at + 3] = w >>> 24
}
/** Writes 4 bytes, big-endian. */
export const setBE = (bytes, at, w) => {
  bytes[at] = w >>> 24
  bytes[at + 1] = w >>> 16
  bytes[at + 2] = w >>> 8
  bytes[at + 3] = w
}
const splice = (text, at, part) => text.slice(0, at) + part + text.slice(at + part.length)
/** A word as 8 octal digits, lowest first. */
const octal = (w) => {
  let digits = ''
  for (let j = 0; j < 24; j += 3) digits += (w >>> j) & 7
  return digits
}
/** Replaces 8 characters of text by digits, like the kind `digits`. */
export const setDigits = (text, at, w) => splice(text, at, octal(w))
/** Replaces 4 of the bytes that hex text ("0x…") represents, like the kind `be`. */
export const setHexBE = (text, at, w) => splice(text, 2 + 2 * at, w.toString(16).padStart(8, '0'))
/** Replaces 4 of the bytes that hex text represents, like the kind `le`. */
export const setHexLE = (text, at, w) =>
  setHexBE(text, at, ((w << 24) | ((w & 0xff00) << 8) | ((w >>> 8) & 0xff00) | (w >>> 24)) >>> 0)
const ONES = 0xffffffffn
/** Replaces the lowest 32 bits of a BigInt. */
export const setLow = (value, w) => ((value >> 32n) << 32n) | BigInt(w)

/** The function that applies a rule, `<kind>@<offset>`, to the bytes of an element, unless the element is too short. */
function writer(rule) {
  const [, kind, digits] = /^(le|be|le16|digits)@(-?\d+)$/.exec(rule) ?? []
  if (!kind) throw new Error(`change rule ${rule}: expected none or le, be, le16 or digits@<offset>`)
  const offset = Number(digits)
  const size = { le: 4, be: 4, le16: 2, digits: 8 }[kind]
  const write = {
    le: setLE,
    be: setBE,
    le16: (b, o, w) => {
      b[o] = w >>> 16
      b[o + 1] = w >>> 24
    },
    digits: (b, o, w) => {
      for (let j = 0; j < 8; j++) b[o + j] = 48 + ((w >>> (3 * j)) & 7)
    },
  }[kind]
  return (element, w) => {
    const o = offset < 0 ? element.length + offset : offset
    if (o < 0 || o + size > element.length) return element
    if (typeof element === 'string') return setDigits(element, o, w)
    write(element, o, w)
    return element
  }
}

/** The function that changes all elements of item `at`: undefined for the rule none, null if unsupported. */
function changer(operation, rule, items) {
  if (rule === 'none') return undefined
  const all = operation.rulesOfAll[rule]
  if (all) return (at, x) => void (items[at] = all(items[at], x))
  const array = !operation.whole && (operation.many || operation.head)
  const write = writer(rule)
  const element = array ? items[0][0] : items[0]
  let change = operation.rules[rule]
  if (!change && operation.bytes) {
    const { bytes } = operation
    change = (value, w) => (write(bytes(value), w), value)
  }
  if (!change && (element instanceof Uint8Array || (typeof element === 'string' && rule.startsWith('digits')))) change = write
  if (!change) return null
  if (!array) return (at, x) => void (items[at] = change(items[at], x))
  return (at, x) => {
    const list = items[at]
    for (let i = 0; i < list.length; i++) list[i] = change(list[i], word(x, i))
  }
}

async function timed({ call, one, many, head, later }, items, change, n, seed) {
  const count = items.length
  sums.fill(0)
  let x = seed
  let at = 0
  const start = process.hrtime.bigint()
  for (let k = 0; k < n; k++) {
    if (change) {
      x = (Math.imul(x, 747796405) + 2891336453) >>> 0
      change(at, x)
    }
    if (one) {
      const list = items[at]
      for (let i = 0; i < list.length; i++) add(one(list[i]))
    } else if (many) {
      const outputs = later ? await call(items[at]) : call(items[at])
      for (let i = 0; i < outputs.length; i++) add(outputs[i])
    } else if (head) {
      const values = call(items[at])
      for (let i = 0; i < values.length; i++) account(head(values[i]), 0)
    } else add(call(items[at]))
    if (++at === count) at = 0
  }
  const ns = process.hrtime.bigint() - start
  const acc = BigInt.asUintN(64, BigInt(sums[0]) + (BigInt(sums[1]) << 32n))
  return { n, ns: Number(ns), acc: acc.toString(16).padStart(16, '0') }
}

function noop(n) {
  let kept = 0
  const start = process.hrtime.bigint()
  for (let k = 0; k < n; k++) kept = k
  return { n, ns: Number(process.hrtime.bigint() - start), kept }
}

/** The items of a blobs file, each copied to separate memory. */
const itemsOf = (data) => many(data, (r) => r.lp().slice())

function blob(bytes) {
  const head = Buffer.alloc(4)
  head.writeUInt32LE(bytes.length)
  return Buffer.concat([head, bytes])
}

/** Serves the driver's requests until `quit` or the end of input. */
export function run(name, version, ops) {
  const runtime = process.versions.bun ? `Bun ${process.versions.bun}` : `Node ${process.versions.node}`
  let current
  let data
  let items = []
  let change
  const answers = {
    describe: () => ({ name, version, runtime, ops: Object.keys(ops), threads: 1 }),
    prepare: (id, path, rule = 'none') => {
      if (!ops[id]) return { err: 'unsupported', msg: id }
      current = ops[id]
      data = new Uint8Array(readFileSync(path))
      items = itemsOf(data).map(current.parse)
      change = changer(current, rule, items)
      return { ok: true, items: items.length, changes: change !== null }
    },
    // Batches change the items, so they are parsed again for verification.
    verify: async (path) => {
      const outputs = []
      for (const item of itemsOf(data).map(current.parse)) {
        const out = await (current.verify ?? current.call)(item)
        outputs.push(blob(current.many || current.verify ? Buffer.concat(out.map(bytesOf)) : bytesOf(out)))
      }
      writeFileSync(path, Buffer.concat(outputs))
      return { ok: true }
    },
    run: (n, seed = 0) => timed(current, items, change, Number(n), Number(seed)),
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

const MASK = (1n << 256n) - 1n
const operands = (per) => (item) => chunks(item, 32 * per).map((row) => chunks(row, 32).map(le))
const u256 = (per, call) =>
  each(operands(per), (row) => call(row[0], row[1], row[2])).changes('le@4', (row, w) => {
    row[0] = (row[0] & ~(ONES << 32n)) | (BigInt(w) << 32n)
    return row
  })
/** The u256 rows with the native BigInt, which users of every JavaScript library here use. */
export const bigintRows = {
  u256_add: u256(2, (a, b) => (a + b) & MASK),
  u256_mul: u256(2, (a, b) => (a * b) & MASK),
  u256_div: u256(2, (a, b) => a / b),
  u256_uniswapv2_amount_out: u256(3, (i, ri, ro) => (i * 997n * ro) / (ri * 1000n + i * 997n)),
  u256_mulDiv: u256(3, (a, b, d) => (a * b) / d),
  u256_uniswapv4_swap: u256(3, (l, p, a) => (l * p) / ((l + a * p) & MASK)),
}
/** Keccak rows for one hash function from bytes to bytes or hex text. */
export const keccakRows = (hash) => {
  const messages = (item) => {
    const r = new Reader(item)
    return Array.from({ length: r.u32() }, () => r.lp())
  }
  return { keccak256: op(same, hash), keccak256_batch: each(messages, (m) => hash(m)) }
}
/** Rows of `secp256k1_recover`: `parse(item)` of 97 bytes gives the argument of `key` and `address`. */
export const recoverRows = (parse, key, address, changed = (row) => row) => ({
  secp256k1_recover: changed(op(parse, key)),
  secp256k1_recover_batch: changed(each((item) => chunks(item, 97).map(parse), (x) => address(x))),
  'neg:secp256k1_recover': neg((item) => key(parse(item))),
})
