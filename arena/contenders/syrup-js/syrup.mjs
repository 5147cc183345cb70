// Canonical Syrup: a strict reference codec in plain JavaScript.
//
// Values: boolean; number (a safe integer) and bigint (any other integer); Float and Single (floats of 64 and 32 bits);
// string; Sym; Uint8Array; Array; Map (a dictionary); SyrupSet; Record. `encode` writes the canonical form; `decode`
// accepts a single canonical value without trailing bytes, and throws a SyrupError with the byte's position on anything
// else. Source: Syrup draft (2023-12), OCapN Model and Notation (2026-07).

const MAX_DEPTH = 256

export class SyrupError extends Error {
  constructor(at, reason) {
    super(`byte ${at}: ${reason}`)
    this.at = at
  }
}
export class Sym {
  constructor(name) {
    this.name = name
  }
}
export class Float {
  constructor(value) {
    this.value = value
  }
}
export class Single {
  constructor(value) {
    this.value = value
  }
}
export class SyrupSet {
  constructor(values) {
    this.values = values
  }
}
export class Record {
  constructor(label, fields) {
    this.label = label
    this.fields = fields
  }
}

const [ZERO, NINE, PLUS, MINUS, COLON, QUOTE, TICK] = [48, 57, 43, 45, 58, 34, 39]
const [LIST, LIST_END, DICT, DICT_END, RECORD, RECORD_END, SET, SET_END] = [91, 93, 123, 125, 60, 62, 35, 36]
const [TRUE, FALSE, DOUBLE, SINGLE] = [116, 102, 68, 70]

// Encoder: one growing buffer, from which each result is copied.

let buffer = new Uint8Array(4096)
let view = new DataView(buffer.buffer)
let length = 0
const utf8 = new TextEncoder()

function reserve(count) {
  if (length + count <= buffer.length) return
  const larger = new Uint8Array(Math.max(2 * buffer.length, length + count))
  larger.set(buffer.subarray(0, length))
  buffer = larger
  view = new DataView(buffer.buffer)
}

export function encode(value) {
  length = 0
  write(value)
  return buffer.slice(0, length)
}

function write(value) {
  switch (typeof value) {
    case 'string':
      return writeText(value, QUOTE)
    case 'number':
      if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is no safe integer`)
      return value < 0 ? writeNumber(-value, MINUS) : writeNumber(value, PLUS)
    case 'boolean':
      reserve(1)
      buffer[length++] = value ? TRUE : FALSE
      return
    case 'bigint':
      return writeDigits(value < 0n ? `${-value}-` : `${value}+`)
  }
  if (value instanceof Sym) return writeText(value.name, TICK)
  if (Array.isArray(value)) {
    open(LIST)
    for (let i = 0; i < value.length; i++) write(value[i])
    return open(LIST_END)
  }
  if (value instanceof Record) {
    open(RECORD)
    write(value.label)
    for (let i = 0; i < value.fields.length; i++) write(value.fields[i])
    return open(RECORD_END)
  }
  if (value instanceof Map) {
    open(DICT)
    writeAscending([...value])
    return open(DICT_END)
  }
  if (value instanceof Uint8Array) {
    writeNumber(value.length, COLON)
    reserve(value.length)
    buffer.set(value, length)
    length += value.length
    return
  }
  if (value instanceof Float) {
    reserve(9)
    buffer[length] = DOUBLE
    view.setFloat64(length + 1, value.value)
    if (value.value !== value.value) view.setBigUint64(length + 1, NAN64)
    length += 9
    return
  }
  if (value instanceof Single) {
    reserve(5)
    buffer[length] = SINGLE
    view.setFloat32(length + 1, value.value)
    if (value.value !== value.value) view.setUint32(length + 1, NAN32)
    length += 5
    return
  }
  if (value instanceof SyrupSet) {
    open(SET)
    writeAscending(value.values.map((element) => [element]))
    return open(SET_END)
  }
  throw new TypeError(`no Syrup form of ${String(value)}`)
}

const NAN64 = 0x7ff8000000000000n
const NAN32 = 0x7fc00000

function open(byte) {
  reserve(1)
  buffer[length++] = byte
}

function writeNumber(value, mark) {
  reserve(17)
  if (value < 10) {
    buffer[length++] = ZERO + value
    buffer[length++] = mark
    return
  }
  let digits = 2
  for (let power = 100; power <= value; power *= 10) digits++
  let at = length + digits
  length = at + 1
  buffer[at] = mark
  while (value > 0x7fffffff) {
    const rest = Math.floor(value / 10)
    buffer[--at] = ZERO + (value - rest * 10)
    value = rest
  }
  for (let small = value | 0; small > 0; ) {
    const rest = (small / 10) | 0
    buffer[--at] = ZERO + small - rest * 10
    small = rest
  }
}

function writeDigits(text) {
  reserve(text.length)
  for (let i = 0; i < text.length; i++) buffer[length++] = text.charCodeAt(i)
}

function writeText(text, mark) {
  const count = text.length
  if (count < 64) {
    // Most text is short and ASCII: write it as such, and start over if it is not.
    const start = length
    writeNumber(count, mark)
    reserve(count)
    let i = 0
    for (; i < count; i++) {
      const code = text.charCodeAt(i)
      if (code >= 128) break
      buffer[length + i] = code
    }
    if (i === count) {
      length += count
      return
    }
    length = start
  }
  if (!text.isWellFormed()) throw new TypeError('a lone surrogate')
  const bytes = utf8.encode(text)
  writeNumber(bytes.length, mark)
  reserve(bytes.length)
  buffer.set(bytes, length)
  length += bytes.length
}

/** Writes entries [key, value] or elements [key] in ascending order of the keys' encodings. */
function writeAscending(entries) {
  const start = length
  let last = 0
  let lastEnd = 0
  for (let i = 0; i < entries.length; i++) {
    const at = length
    write(entries[i][0])
    if (i > 0 && compare(buffer, last, lastEnd, buffer, at, length) >= 0) {
      length = start
      return writeSorted(entries)
    }
    last = at
    lastEnd = length
    if (entries[i].length === 2) write(entries[i][1])
  }
}

function writeSorted(entries) {
  const start = length
  const keyed = entries.map((entry) => {
    write(entry[0])
    const key = buffer.slice(start, length)
    length = start
    return { key, entry }
  })
  keyed.sort((a, b) => compare(a.key, 0, a.key.length, b.key, 0, b.key.length))
  keyed.forEach(({ key, entry }, i) => {
    if (i > 0 && compare(keyed[i - 1].key, 0, keyed[i - 1].key.length, key, 0, key.length) === 0)
      throw new TypeError('a key is there twice')
    reserve(key.length)
    buffer.set(key, length)
    length += key.length
    if (entry.length === 2) write(entry[1])
  })
}

function compare(a, from, end, b, start, stop) {
  while (from < end && start < stop) {
    const difference = a[from++] - b[start++]
    if (difference !== 0) return difference
  }
  return end - from - (stop - start)
}

// Decoder

let data = buffer
let at = 0
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function decode(bytes) {
  data = bytes
  at = 0
  const value = read(0)
  if (at !== data.length) throw new SyrupError(at, 'trailing bytes')
  return value
}

function read(depth) {
  const first = data[at]
  if (first >= ZERO && first <= NINE) return readNumberOrText(first)
  const start = at
  if (first === undefined) throw new SyrupError(at, 'the end')
  at++
  switch (first) {
    case TRUE:
      return true
    case FALSE:
      return false
    case DOUBLE:
    case SINGLE:
      return readFloat(start, first === DOUBLE)
    case LIST:
    case RECORD:
    case DICT:
    case SET:
      break
    default:
      throw new SyrupError(start, 'no value begins here')
  }
  if (depth === MAX_DEPTH) throw new SyrupError(start, 'nested too deep')
  if (first === LIST) return readUntil(LIST_END, depth + 1)
  if (first === RECORD) {
    const label = read(depth + 1)
    return new Record(label, readUntil(RECORD_END, depth + 1))
  }
  if (first === SET) return new SyrupSet(readUntil(SET_END, depth + 1, true))
  return readDictionary(depth + 1)
}

function readUntil(close, depth, ascending = false) {
  const values = []
  let last = 0
  let lastEnd = 0
  while (data[at] !== close) {
    const start = at
    values.push(read(depth))
    if (!ascending) continue
    if (compare(data, last, lastEnd, data, start, at) >= 0) throw new SyrupError(start, 'element not above the last')
    last = start
    lastEnd = at
  }
  at++
  return values
}

function readDictionary(depth) {
  const entries = new Map()
  let last = 0
  let lastEnd = 0
  while (data[at] !== DICT_END) {
    const start = at
    const key = read(depth)
    if (compare(data, last, lastEnd, data, start, at) >= 0) throw new SyrupError(start, 'key not above the last')
    last = start
    lastEnd = at
    entries.set(key, read(depth))
  }
  at++
  return entries
}

function readNumberOrText(first) {
  const start = at
  let number = first - ZERO
  let mark = data[++at]
  if (first === ZERO && mark >= ZERO && mark <= NINE) throw new SyrupError(start, 'leading zero')
  for (; mark >= ZERO && mark <= NINE; mark = data[++at]) number = number * 10 + mark - ZERO
  const safe = at - start <= 15
  if (mark === undefined) throw new SyrupError(at, 'the end')
  at++
  if (mark === PLUS) return safe ? number : readLong(start)
  if (mark === MINUS) {
    if (first === ZERO) throw new SyrupError(start, 'negative zero')
    return safe ? -number : readLong(start)
  }
  if (mark !== COLON && mark !== QUOTE && mark !== TICK) throw new SyrupError(at - 1, 'no mark behind digits')
  if (number > data.length - at) throw new SyrupError(at, 'cut off')
  const begin = at
  at += number
  if (mark === COLON) return data.slice(begin, at)
  const text = readText(begin, at)
  return mark === QUOTE ? text : new Sym(text)
}

/** An integer of more than 15 digits: a number if it is safe, otherwise a bigint. */
function readLong(start) {
  let text = data[at - 1] === MINUS ? '-' : ''
  for (let i = start; i < at - 1; i++) text += String.fromCharCode(data[i])
  const value = BigInt(text)
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function readText(begin, end) {
  if (end - begin <= 24) {
    let text = ''
    let i = begin
    for (; i < end && data[i] < 128; i++) text += String.fromCharCode(data[i])
    if (i === end) return text
  }
  try {
    return strict.decode(data.subarray(begin, end))
  } catch {
    throw new SyrupError(begin, 'not UTF-8')
  }
}

function readFloat(start, double) {
  const size = double ? 8 : 4
  if (data.length - at < size) throw new SyrupError(at, 'cut off')
  const bits = new DataView(data.buffer, data.byteOffset + at, size)
  at += size
  const value = double ? bits.getFloat64(0) : bits.getFloat32(0)
  if (value !== value && (double ? bits.getBigUint64(0) !== NAN64 : bits.getUint32(0) !== NAN32))
    throw new SyrupError(start + 1, 'not the canonical NaN')
  return double ? new Float(value) : new Single(value)
}
