import { createHash } from 'node:crypto'
import * as kit from '../../kit/js/kit.mjs'
import { Record, Sym, SyrupSet, decode, encode } from './syrup.mjs'

const fields = (item) => kit.many(item, (r) => r.lp())
const trees = (item) => fields(item).map(decode)
const head = (value) => {
  if (value instanceof Record) return value.fields.length
  if (Array.isArray(value)) return value.length
  if (value instanceof Map) return value.size
  return value instanceof SyrupSet ? value.values.length : 1
}
const sha256 = (bytes) => createHash('sha256').update(bytes).digest()

/** Messages framed as length:payload, read from pieces. */
class Frames {
  rest = new Uint8Array(0)
  feed(piece) {
    const joined = new Uint8Array(this.rest.length + piece.length)
    joined.set(this.rest)
    joined.set(piece, this.rest.length)
    this.rest = joined
  }
  next() {
    const colon = this.rest.indexOf(58)
    if (colon < 0) return undefined
    let length = 0
    for (let i = 0; i < colon; i++) length = length * 10 + this.rest[i] - 48
    const end = colon + 1 + length
    if (end > this.rest.length) return undefined
    const payload = this.rest.subarray(colon + 1, end)
    this.rest = this.rest.subarray(end)
    return payload
  }
}

class Server {
  constructor(host, port, enabled) {
    this.host = host
    this.port = port
    this.enabled = enabled
  }
  encode() {
    return encode(new Map([['host', this.host], ['port', this.port], ['enabled', this.enabled]]))
  }
  static decode(bytes) {
    const fields = decode(bytes)
    return new Server(fields.get('host'), fields.get('port'), fields.get('enabled'))
  }
  parts() {
    const rest = new Uint8Array(9)
    rest[0] = this.port
    rest[1] = this.port >> 8
    rest[2] = this.port >> 16
    rest[3] = this.port >> 24
    rest[8] = this.enabled ? 1 : 0
    return [new kit.Text(this.host), rest]
  }
}
const servers = (item) =>
  kit.many(item, (r) => new Server(kit.text(r.lp()), Number(r.le(8)), r.take(1)[0] === 1))

const unsorted = (item) => {
  const [flat] = trees(item)
  return new Map(Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1]]))
}

/** Sets eight characters of the label, starting with its second one. */
const label = (record, w) => {
  const { label } = record
  record.label = label instanceof Sym ? new Sym(kit.setDigits(label.name, 1, w)) : kit.setDigits(label, 1, w)
  return record
}
/** Sets the low 16 bits of the port. */
const port = (server, w) => {
  server.port = server.port - (server.port & 0xffff) + (w >>> 16)
  return server
}

const encoders = kit.each(trees, (tree) => encode(tree)).changes('digits@5', label)
const decoders = kit.decoder(fields, (list) => list.map((bytes) => decode(bytes)), head, encode)
const ops = {
  'neg:syrup_decode_owned': kit.neg(decode),
  syrup_encode_unsorted: kit.op(unsorted, encode),
  syrup_reencode: kit.op(kit.same, (bytes) => encode(decode(bytes))),
  syrup_stream_owned: kit.decoder(
    fields,
    (pieces) => {
      const frames = new Frames()
      const messages = []
      for (const piece of pieces) {
        frames.feed(piece)
        for (let payload = frames.next(); payload; payload = frames.next()) messages.push(decode(payload))
      }
      return messages
    },
    head,
    encode,
  ),
  syrup_encode: encoders,
  syrup_decode_owned: decoders,
  syrup_cid: kit.op((item) => trees(item)[0], (tree) => sha256(encode(tree))).changes('digits@5', label),
  syrup_roundtrip_tree: kit.decoder(trees, (list) => list.map((tree) => decode(encode(tree))), head, encode),
  syrup_roundtrip_struct_owned: kit.checked(
    servers,
    (list) => list.map((server) => Server.decode(server.encode())),
    (server) => server.parts(),
    (server) => server.encode(),
  ).changes('le16@-9', port),
}

kit.run('syrup-js', '0.1.0', ops)
