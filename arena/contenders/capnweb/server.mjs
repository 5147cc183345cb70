// The objects of the family captp. As a worker, it serves and posts its port.
import { isMainThread, parentPort } from 'node:worker_threads'
import { WebSocket, WebSocketServer } from 'ws'
import { RpcTarget, newWebSocketRpcSession } from 'capnweb'

// Cap'n Web reads constants of the browser's WebSocket.
globalThis.WebSocket = WebSocket

/** FNV-1a of 64 bits with little-endian words in place of bytes, in two halves. */
export class Digest {
  constructor(low = 0x84222325, high = 0xcbf29ce4) {
    this.low = low
    this.high = high
  }
  /** The digest after another text of 32 ASCII characters. */
  after(text) {
    let { low, high } = this
    for (let at = 0; at < 32; at += 8) {
      low = (low ^ half(text, at)) >>> 0
      high = (high ^ half(text, at + 4)) >>> 0
      // Times 2^40 + 0x1b3.
      const product = low * 0x1b3
      high = (high * 0x1b3 + Math.floor(product / 2 ** 32) + ((low << 8) >>> 0)) >>> 0
      low = product >>> 0
    }
    return new Digest(low, high)
  }
  get value() {
    return (BigInt(this.high) << 32n) | BigInt(this.low)
  }
}
const half = (text, at) =>
  text.charCodeAt(at) | (text.charCodeAt(at + 1) << 8) | (text.charCodeAt(at + 2) << 16) | (text.charCodeAt(at + 3) << 24)

/** Returns a new object, for the digest after a text. */
class Link extends RpcTarget {
  #digest
  constructor(digest) {
    super()
    this.#digest = digest
  }
  next(text) {
    return new Link(this.#digest.after(text))
  }
  digest() {
    return this.#digest.value
  }
}

const promise = () => {
  let resolve
  const result = new Promise((settle) => (resolve = settle))
  return { result, resolve }
}

class Objects extends RpcTarget {
  #log = new Digest()
  #waiting = promise()
  echo(value) {
    return value
  }
  log(text) {
    this.#log = this.#log.after(text)
  }
  /** The digest of what was logged, which starts again. */
  digest() {
    const { value } = this.#log
    this.#log = new Digest()
    return value
  }
  link() {
    return new Link(new Digest())
  }
  /** A promise for all who ask for it before `settle` fulfils it. */
  wait() {
    return this.#waiting.result
  }
  settle(text) {
    this.#waiting.resolve(text)
    this.#waiting = promise()
  }
}

/** Serves until the process ends. Returns the port. */
export const serve = async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  server.on('connection', (socket) => newWebSocketRpcSession(socket, new Objects()))
  await new Promise((listening) => server.once('listening', listening))
  return server.address().port
}

/** The server's object, as a client refers to it. Disposing it disconnects. */
export const connect = (port) =>
  newWebSocketRpcSession(new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false }))

if (!isMainThread) parentPort.postMessage(await serve())
