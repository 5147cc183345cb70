// CapTP: references to objects of other processes, over WebSockets.

import { Bytes } from './intrinsics.js'
import { Core, LyditeError, argument } from './engine.js'
import { SyrupRecord, SyrupSymbol, type SyrupValue, read, write } from './syrup.js'
import { TapeReader, type TapeWriter, withTape } from './tape.js'
import { instantiate } from './wasm-engine.js'

/** A value of any type that `syrupEncode` accepts, undefined, null, and references to objects: ours (functions, and
 * instances of `Far`) and others' (`Remote`, `RemotePromise`). */
export type Passable =
  | SyrupValue | undefined | null | Remote | RemotePromise | Far | ((...args: any[]) => unknown) | readonly Passable[]
  | ReadonlyMap<SyrupValue, Passable>

/** A reference to an object of another process. A call sends a message at once: `remote.method(…)` with the method's
 * name as the first argument, `remote(…)` without. */
export interface Remote {
  (...args: Passable[]): RemotePromise
  readonly [method: string]: (...args: Passable[]) => RemotePromise
  /** Releases the object. Without that, the garbage collector does. */
  readonly [Symbol.dispose]: () => void
}
/** The result of a call, which can be called before it is there: the message is sent at once. */
export type RemotePromise = Remote & PromiseLike<any>

/** The base of objects that others can call by reference. Their methods are those of the subclass. */
export class Far {
  /** Types only: without it every object would be one. */
  private declare readonly isFar: true
}

/** Why a remote promise broke. */
export class Broken extends Error {
  override readonly name = 'Broken'
  /** The reason as it was sent, if it is not just a message. */
  readonly reason: Passable
  /** Who broke it: an object or a peer, the end of the session, or a limit of this side. The first cannot choose the others. */
  readonly code: 'application' | 'disconnected' | 'limit'

  constructor(message: string, reason?: Passable, code: Broken['code'] = 'application') {
    super(message)
    this.reason = reason
    this.code = code
  }
}

interface Socket {
  binaryType: string
  readonly bufferedAmount: number
  onopen: unknown
  onmessage: unknown
  onclose: unknown
  onerror: unknown
  send(data: Uint8Array<ArrayBuffer>): void
  close(): void
}
export interface Options {
  /** The constructor of WebSockets, if there is none in the platform. */
  WebSocket?: new (url: string) => Socket
  /** Where others reach the WebSocket server whose connections `accept` gets. */
  url?: string
  /** 32 random bytes, from which the key in the own locator derives: whoever has them can pose as this participant.
   * New ones by default. */
  secret?: Uint8Array
}

interface Link {
  readonly connection: number
  readonly socket: Socket
  /** Reports that the connection has ended, and closes the socket. */
  readonly fail: (reason: string) => void
  /** Frames that have arrived and have not been passed to the core. */
  readonly kept: Uint8Array[]
  /** Memory of them. */
  size: number
  /** `bufferedAmount` when it was last read, and when it was last smaller than before. */
  buffered: number
  progress: number
  /** Whether the core closes the connection after its last frame. */
  closing: boolean
}

/** Milliseconds in a unit of time of the core. */
const UNIT = 10
/** Bytes in a socket from which on further frames stay in the core, whose limits on waiting bytes then apply. */
const MAX_BUFFERED = 256 << 10
/** Memory of frames kept for the core while a peer requests more than it reads. More end the connection. */
const MAX_KEPT = 16 << 20
/** Memory of a frame besides its bytes. */
const FRAME_SIZE = 1 << 10
/** Units between two checks of `bufferedAmount`: there is no event when it shrinks. */
const POLL_TIME = 1
/** Milliseconds after which a socket is closed that has not opened: the core does not wait longer. */
const DIAL_TIME = 30_000
/** Units after which a connection ends if the peer has read nothing, and if it is closing. */
const WRITE_TIME = 30_000 / UNIT
const CLOSE_TIME = 1_000 / UNIT
const VOID = new SyrupRecord(new SyrupSymbol('void'), [])
const NULL = new SyrupRecord(new SyrupSymbol('null'), [])
const THEN = new Set(['then', 'catch', 'finally'])

/** One handle in the core, held by a proxy. */
class Handle {
  released = false
  result: Promise<any> | undefined

  constructor(
    readonly node: Connections,
    readonly number: number,
    readonly isPromise: boolean,
  ) {}

  release(): void {
    if (this.released) return
    this.released = true
    this.node.release(this.number)
  }

  settled(proxy: object): Promise<any> {
    return (this.result ??= this.node.settled(this.use(), proxy))
  }

  use(): number {
    if (this.released) throw argument('the reference was released')
    return this.number
  }
}

const handles = new WeakMap<object, Handle>()
const finalizers = new FinalizationRegistry((handle: Handle) => handle.release())

function handleOf(value: unknown): Handle {
  const handle = typeof value === 'function' ? handles.get(value) : undefined
  if (!handle) throw argument('expected a reference to a remote object')
  return handle
}

function proxyOf(handle: Handle): RemotePromise {
  const call = (args: unknown[]) => handle.node.call(handle.use(), args as Passable[])
  // A function, so that the proxy can be called. All properties are methods of the remote object.
  const proxy = new Proxy(() => {}, {
    apply: (_target, _this, args) => call(args),
    get(_target, name, receiver) {
      if (name === Symbol.dispose) return () => handle.release()
      if (typeof name === 'symbol') return undefined
      if (THEN.has(name)) {
        // Only promises are awaited; an object with a method `then` would be by every `await`.
        if (!handle.isPromise) return undefined
        const promise = handle.settled(receiver) as unknown as Record<string, (...args: unknown[]) => unknown>
        return (...args: unknown[]) => promise[name]!(...args)
      }
      return (...args: unknown[]) => call([new SyrupSymbol(name), ...args])
    },
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
    has: () => false,
    ownKeys: () => [],
    getOwnPropertyDescriptor: () => undefined,
    construct() {
      throw argument('a remote object cannot be constructed')
    },
  }) as unknown as RemotePromise
  handles.set(proxy, handle)
  finalizers.register(proxy, handle)
  return proxy
}

/** What a reference that came in a message is, if it is a promise: its value once it is there. */
export const settled = (reference: Remote): Promise<any> => handleOf(reference).settled(reference)

/** A promise for a field of the struct that a promise will be. */
export const field = (promise: Remote, name: string): RemotePromise => {
  const handle = handleOf(promise)
  return handle.node.field(handle.use(), name)
}

/** A promise for an item of the list that a promise will be. */
export const item = (promise: Remote, index: number): RemotePromise => {
  const handle = handleOf(promise)
  if (!Number.isInteger(index) || index < 0 || index >= 2 ** 32) throw argument(`expected an index, found ${index}`)
  return handle.node.item(handle.use(), index)
}

/** Sends a message without asking for a result: `send(remote, new SyrupSymbol('log'), 'text')`. There is no sign whether it arrived. */
export function send(reference: Remote, ...args: Passable[]): void {
  const handle = handleOf(reference)
  handle.node.send(handle.use(), args)
}

/** Resolves when there is room for more messages: at most 4 MiB wait to be sent to the peer, besides what is being
 * passed to the socket, or fewer than 512 messages wait for the promise. Resolves at once if the session has ended. */
export async function ready(reference: Remote): Promise<void> {
  // Used again after each wait, so that it is not collected before.
  for (let handle; (handle = handleOf(reference)).node.isCongested(handle.use()); ) await handle.node.moved()
}

/** Resolves when the session with the object's process has ended. */
export const broken = (reference: Remote): Promise<void> => {
  const handle = handleOf(reference)
  return handle.node.broken(handle.use(), reference)
}

/** All sessions of one participant. It connects to others, and others connect to it through a WebSocket server of the
 * program, if there is one. */
export class Connections {
  readonly #core: Core
  readonly #WebSocket: new (url: string) => Socket
  readonly #start = performance.now()
  /** Proxies by number. */
  readonly #proxies = new Map<number, WeakRef<RemotePromise>>()
  /** Local objects that others can call. */
  readonly #objects = new Map<number, object>()
  readonly #numbers = new Map<object, number>()
  readonly #waiting = new Map<number, { resolve: (value: any) => void; reject: (reason: unknown) => void; proxy: object }>()
  readonly #watching = new Map<number, { resolve: () => void; promise: Promise<void>; proxy: object }>()
  readonly #open = new Set<Socket>()
  readonly #links = new Map<number, Link>()
  /** Those with frames that wait, to be sent or for the core. */
  readonly #busy = new Set<Link>()
  /** Wakes those that wait for room. */
  #waking: (() => void)[] = []
  #pumping = false
  #resuming = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(module: WebAssembly.Module, options: Options = {}) {
    this.#core = new Core(instantiate(module))
    const socket = options.WebSocket ?? ((globalThis as { WebSocket?: unknown }).WebSocket as Options['WebSocket'])
    if (!socket) throw argument('expected a platform with WebSocket, or the option WebSocket')
    this.#WebSocket = socket
    const url = new TextEncoder().encode(options.url ?? '')
    this.#core.reserve(64 + url.length)
    crypto.getRandomValues(this.#core.bytes.subarray(0, 64))
    if (options.secret) this.#core.bytes.set(this.#core.fixed(options.secret, 32, 'secret'), 32)
    this.#core.bytes.set(url, 64)
    this.#run('start', url.length)
  }

  /** A promise for the object that a sturdyref names: `ocapn://designator.websocket/s/swiss?url=ws…`. */
  enliven(sturdyref: string): RemotePromise {
    return this.#promise(this.#run('enliven', this.#core.put(sturdyref, 'sturdyref')))
  }

  /** Makes an object available to whoever knows its sturdyref, which is returned. The swiss number in it is a secret:
   * 32 random bytes by default. */
  publish(object: Far | ((...args: any[]) => unknown), swiss: string = randomSwiss()): string {
    const made: number[] = []
    const number = this.#export(object, made)
    try {
      const core = this.#core
      const length = core.output(core.operations.publish, number, core.put(swiss, 'swiss number'))
      return core.text.utf8(0, length)
    } finally {
      for (const number of made) this.#run('release', number)
    }
  }

  /** Serves a connection that a WebSocket server has accepted. */
  accept(socket: Socket): void {
    const connection = this.#run('accepted', this.#now()) - 1
    if (connection < 0) return socket.close()
    this.#open.add(socket)
    this.#attach(socket, connection, (frame) => {
      const core = this.#core
      socket.send(core.slice(core.call(core.operations.answer, core.put(frame, 'frame'))))
      return connection
    })
    this.#pump()
  }

  /** Number of local objects to which others refer. */
  get exports(): number {
    return this.#objects.size
  }

  /** Ends all sessions. */
  close(): void {
    clearTimeout(this.#timer)
    for (const socket of this.#open) socket.close()
  }

  call(target: number, args: Passable[]): RemotePromise {
    return this.#promise(this.#withPayload(args, (length) => this.#run('call', target, length)))
  }

  send(target: number, args: Passable[]): void {
    const refused = this.#withPayload(args, (length) => this.#run('send', target, length))
    this.#pump()
    if (refused) throw new Broken('too much waits to be sent to this peer', undefined, 'limit')
  }

  field(promise: number, name: string): RemotePromise {
    return this.#promise(this.#run('get', promise, this.#core.put(name, 'name')))
  }

  item(promise: number, index: number): RemotePromise {
    return this.#promise(this.#run('index', promise, index))
  }

  settled(number: number, proxy: object): Promise<any> {
    const promise = new Promise((resolve, reject) => this.#waiting.set(number, { resolve, reject, proxy }))
    this.#run('listen', number)
    this.#pump()
    return promise
  }

  isCongested(number: number): boolean {
    return this.#run('isCongested', number) !== 0
  }

  /** Resolves when messages may have been sent. */
  moved(): Promise<void> {
    return new Promise((resolve) => this.#waking.push(resolve))
  }

  broken(number: number, proxy: object): Promise<void> {
    const known = this.#watching.get(number)
    if (known) return known.promise
    let resolve = () => {}
    const promise = new Promise<void>((done) => (resolve = done))
    this.#watching.set(number, { resolve, promise, proxy })
    this.#run('watch', number)
    this.#pump()
    return promise
  }

  release(number: number): void {
    if (this.#proxies.get(number)?.deref() === undefined || !this.#isShared(number)) this.#proxies.delete(number)
    this.#waiting.get(number)?.reject(new Broken('the reference was released'))
    this.#waiting.delete(number)
    this.#watching.delete(number)
    this.#run('release', number)
    this.#pump()
  }

  /** Whether a live proxy has another handle of this number. */
  #isShared(number: number): boolean {
    const proxy = this.#proxies.get(number)?.deref()
    return proxy !== undefined && !handleOf(proxy).released
  }

  #run(operation: string, a = 0, b = 0, c = 0): number {
    return this.#core.call(this.#core.operations[operation], a, b, c)
  }

  #now(): number {
    return Math.floor((performance.now() - this.#start) / UNIT)
  }

  /** The proxy of a result. */
  #promise(number: number): RemotePromise {
    const proxy = proxyOf(new Handle(this, number, true))
    this.#proxies.set(number, new WeakRef(proxy))
    this.#pump()
    return proxy
  }

  /** What a reference in a message is: one handle of it is ours now. */
  #reference(number: number): unknown {
    const own = this.#objects.get(number)
    const known = own ?? (this.#isShared(number) ? this.#proxies.get(number)!.deref() : undefined)
    if (known !== undefined) {
      this.#run('release', number)
      return known
    }
    const proxy = proxyOf(new Handle(this, number, false))
    this.#proxies.set(number, new WeakRef(proxy))
    return proxy
  }

  /** Runs `use` with a value in the scratch buffer. */
  #withPayload<T>(value: Passable, use: (length: number) => T): T {
    // Handles of objects that are passed for the first time: the message keeps these alive.
    const made: number[] = []
    const other = (tape: TapeWriter, value: unknown): boolean => {
      if (value === undefined || value === null) write(tape, value === null ? NULL : VOID, 0)
      else if (typeof value === 'function' || value instanceof Far) {
        const handle = handles.get(value)
        if (handle && handle.node !== this) throw argument('the reference belongs to other connections')
        tape.word(12, handle ? handle.use() : this.#export(value, made))
      } else return false
      return true
    }
    try {
      return withTape((tape) => {
        write(tape, value as SyrupValue, 0, other)
        return use(tape.finish(this.#core))
      })
    } finally {
      for (const number of made) this.#run('release', number)
    }
  }

  #export(object: object, made: number[]): number {
    const known = this.#numbers.get(object)
    if (known !== undefined) return known
    const number = this.#run('object')
    this.#objects.set(number, object)
    this.#numbers.set(object, number)
    made.push(number)
    return number
  }

  /** Does what the core asks for, until it is idle. */
  #pump(): void {
    // The caller that is there already goes on.
    if (this.#pumping) return
    this.#pumping = true
    try {
      for (const link of this.#busy) this.#move(link)
      while (this.#event() || this.#output());
    } finally {
      this.#pumping = false
    }
    for (const wake of this.#waking.splice(0)) wake()
    clearTimeout(this.#timer)
    let wait = this.#run('tick', this.#now())
    if (this.#busy.size > 0 && (wait === 0 || wait > POLL_TIME)) wait = POLL_TIME
    if (wait > 0) this.#timer = setTimeout(() => this.#pump(), wait * UNIT)
    ;(this.#timer as { unref?: () => void } | undefined)?.unref?.()
  }

  /** Sends what waits on a connection, and passes one frame that arrived on it to the core. */
  #move(link: Link): void {
    this.#write(link)
    if (!this.#busy.has(link)) return
    const { connection, kept } = link
    if (kept.length > 0 && !this.#run('isFull', connection)) {
      const frame = kept.shift()!
      link.size -= FRAME_SIZE + frame.length
      try {
        this.#run('received', connection, this.#core.put(frame, 'frame'), this.#now())
      } catch (error) {
        return link.fail(messageOf(error))
      }
      // The calls start before the next frame, so that their results count.
      if (kept.length > 0 && !this.#resuming) {
        this.#resuming = true
        queueMicrotask(() => {
          this.#resuming = false
          this.#pump()
        })
      }
    }
    if (link.buffered === 0 && kept.length === 0) this.#busy.delete(link)
  }

  /** Sends frames while the socket has room. Ends the connection if it has had none for too long. */
  #write(link: Link): void {
    const { connection, socket } = link
    const core = this.#core
    const now = this.#now()
    if (socket.bufferedAmount < link.buffered || link.buffered === 0) link.progress = now
    let length = 1
    try {
      while (socket.bufferedAmount < MAX_BUFFERED && (length = core.output(core.operations.frame, connection)) > 0)
        socket.send(core.slice(length))
    } catch (error) {
      return link.fail(messageOf(error))
    }
    link.buffered = socket.bufferedAmount
    if (link.buffered > 0) this.#busy.add(link)
    if (link.closing && length === 0) {
      this.#busy.delete(link)
      socket.close()
    } else if (now - link.progress > (link.closing ? CLOSE_TIME : WRITE_TIME)) link.fail('the peer does not read')
  }

  #event(): boolean {
    if (this.#core.output(this.#core.operations.event) === 0) return false
    const tape = new TapeReader(this.#core)
    const kind = tape.word()
    const number = tape.high()
    const held: number[] = []
    const value = () => {
      // Decode first: making references calls the core, which overwrites the scratch buffer.
      const tree = read(tape, (number) => new Numbered(held.push(number) - 1, number))
      return revive(tree, held.map((number) => this.#reference(number)))
    }
    switch (kind) {
      case 1: {
        const reply = tape.word() === 1 ? tape.high() : undefined
        const args = value()
        this.#dispatch(this.#objects.get(number), args as Passable[], reply)
        break
      }
      case 2:
      case 3:
      case 6:
      case 7: {
        const outcome = value()
        const waiting = this.#waiting.get(number)
        this.#waiting.delete(number)
        if (kind === 2) waiting?.resolve(outcome)
        else waiting?.reject(failure(outcome, kind === 3 ? 'application' : kind === 6 ? 'disconnected' : 'limit'))
        break
      }
      case 4:
        this.#watching.get(number)?.resolve()
        this.#watching.delete(number)
        break
      default: {
        const object = this.#objects.get(number)
        this.#objects.delete(number)
        if (object) this.#numbers.delete(object)
      }
    }
    return true
  }

  #dispatch(target: object | undefined, args: Passable[], reply: number | undefined): void {
    const settle = (fulfil: number, value: Passable) => {
      if (reply === undefined) return
      try {
        this.#withPayload(value, (length) => this.#run('resolve', reply, fulfil, length))
      } catch (error) {
        this.#withPayload(reason(error), (length) => this.#run('resolve', reply, 0, length))
      }
      this.#pump()
    }
    let result: unknown
    try {
      result = invoke(target, args)
    } catch (error) {
      return settle(0, reason(error))
    }
    // A promise of another process is passed on as it is.
    if (isThenable(result) && !handles.has(result)) {
      Promise.resolve(result).then(
        (value) => settle(1, value as Passable),
        (error) => settle(0, reason(error)),
      )
    } else settle(1, result as Passable)
  }

  #output(): boolean {
    if (this.#core.output(this.#core.operations.output) === 0) return false
    const tape = new TapeReader(this.#core)
    const kind = tape.word()
    const number = tape.high()
    if (kind < 3) {
      const link = this.#links.get(number)
      if (!link) return true
      if (kind === 2) {
        link.closing = true
        link.progress = this.#now()
      }
      this.#write(link)
    } else {
      tape.string()
      this.#dial(number, tape.string())
    }
    return true
  }

  #dial(request: number, url: string): void {
    const core = this.#core
    const failed = (reason: string) => this.#run('dialFailed', request, core.put(reason, 'reason'))
    let socket: Socket
    try {
      if (url === '') throw argument('expected the hint `url` in the location, found none')
      socket = new this.#WebSocket(url)
    } catch (error) {
      failed(messageOf(error))
      return
    }
    this.#open.add(socket)
    const nonce = crypto.getRandomValues(new Uint8Array(32))
    socket.onopen = () => {
      core.put(nonce, 'nonce')
      socket.send(core.slice(core.call(core.operations.challenge)))
    }
    const timer = setTimeout(() => fail('no connection in time'), DIAL_TIME)
    ;(timer as { unref?: () => void }).unref?.()
    const fail = this.#attach(socket, -1, (frame) => {
      clearTimeout(timer)
      const answer = new Uint8Array(32 + frame.length)
      answer.set(nonce)
      answer.set(frame, 32)
      core.put(answer, 'frame')
      return this.#run('dialed', request, frame.length, this.#now()) - 1
    }, (reason) => {
      clearTimeout(timer)
      failed(reason ?? `cannot connect to ${url}`)
    })
  }

  /** Passes on what a socket receives. `first` takes the first frame and returns the connection, -1 if it is not needed.
   * `failed` is called if the socket closes before that. Returns a function that closes the socket. */
  #attach(
    socket: Socket, connection: number, first: (frame: Uint8Array) => number, failed?: (reason?: string) => void,
  ): (reason: string) => void {
    let greeted = false
    let link: Link | undefined
    const end = (reason?: string) => {
      if (!this.#open.delete(socket)) return
      if (!link) failed?.(reason)
      else {
        this.#links.delete(link.connection)
        this.#busy.delete(link)
        this.#run('closed', link.connection, this.#core.put(reason ?? 'connection closed', 'reason'))
      }
      this.#pump()
    }
    const fail = (reason: string) => {
      end(reason)
      socket.close()
    }
    const establish = (connection: number) => {
      link = { connection, socket, fail, kept: [], size: 0, buffered: 0, progress: 0, closing: false }
      this.#links.set(connection, link)
    }
    if (connection >= 0) establish(connection)
    socket.binaryType = 'arraybuffer'
    socket.onmessage = ({ data }: { data: unknown }) => {
      try {
        if (!this.#open.has(socket)) return
        if (!(data instanceof ArrayBuffer)) throw argument('expected a binary frame, found text')
        const message = new Bytes(data)
        if (greeted && link) {
          link.size += FRAME_SIZE + message.length
          if (link.size > MAX_KEPT) throw argument('the peer requests more than it reads')
          link.kept.push(message)
          this.#busy.add(link)
        } else {
          greeted = true
          connection = first(message)
          if (connection < 0) {
            this.#open.delete(socket)
            socket.close()
          } else if (!link) establish(connection)
        }
        this.#pump()
      } catch (error) {
        fail(messageOf(error))
      }
    }
    // Some platforms report only an error if the connection cannot be opened.
    socket.onclose = socket.onerror = () => end()
    return fail
  }
}

/** 32 random bytes as text. */
const randomSwiss = () => Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Stands for a reference while a message is decoded. */
class Numbered {
  constructor(
    readonly index: number,
    readonly number: number,
  ) {}
}

/** Puts the references into a decoded value. */
function revive(value: unknown, references: unknown[]): unknown {
  if (value instanceof Numbered) return references[value.index]
  if (Array.isArray(value)) return value.map((item) => revive(item, references))
  if (value instanceof Set) return new Set([...value].map((item) => revive(item, references)))
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [revive(key, references), revive(item, references)]))
  if (!(value instanceof SyrupRecord)) return value
  const label = value.label instanceof SyrupSymbol ? value.label.name : undefined
  if (value.fields.length === 0 && label === 'void') return undefined
  if (value.fields.length === 0 && label === 'null') return null
  const [first, ...rest] = [value.label, ...value.fields].map((item) => revive(item, references) as SyrupValue)
  return new SyrupRecord(first!, rest)
}

/** Calls a local object. */
function invoke(target: object | undefined, args: Passable[]): unknown {
  if (typeof target === 'function') return (target as (...args: Passable[]) => unknown)(...args)
  const [method, ...rest] = args
  if (!(method instanceof SyrupSymbol)) throw new TypeError('expected a method as the first argument')
  // The methods of the classes below `Far`, and functions of the object itself, but not references that it holds.
  for (let place = target; place && place !== Far.prototype; place = Object.getPrototypeOf(place)) {
    const found = Object.getOwnPropertyDescriptor(place, method.name)?.value as unknown
    if (typeof found === 'function' && method.name !== 'constructor' && !handles.has(found)) return found.apply(target, rest)
  }
  throw new TypeError(`no method ${method.name}`)
}

function isThenable(value: unknown): value is PromiseLike<unknown> & object {
  return value !== null && (typeof value === 'object' || typeof value === 'function') && typeof (value as any).then === 'function'
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** The reason for which a promise breaks: as `Broken` has it, or a message. */
function reason(error: unknown): Passable {
  if (error instanceof Broken && error.reason !== undefined) return error.reason
  return new SyrupRecord(new SyrupSymbol('desc:error'), [messageOf(error)])
}

function failure(reason: unknown, code: Broken['code']): Broken {
  if (reason instanceof SyrupRecord && reason.label instanceof SyrupSymbol && reason.label.name === 'desc:error') {
    const [message] = reason.fields
    if (reason.fields.length === 1 && typeof message === 'string') return new Broken(message, undefined, code)
  }
  return new Broken('the promise broke', reason as Passable, code)
}

export { LyditeError }
