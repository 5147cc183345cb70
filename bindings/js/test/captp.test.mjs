// CapTP on Node, Bun and Chromium, with two peers written in Rust.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Broken, CapTP, Far, SyrupSymbol, ready, send } from 'lydite/captp'
import { inChromium } from './chromium.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const TESTS = 10

test('the example of a tool server', () => {
  const printed = execFileSync('npm', ['run', '--silent', 'example'], { cwd: here('..'), encoding: 'utf8', timeout: 60_000 })
  const write = 'refused: these notes are read-only'
  const none = 'refused: no reads left'
  assert.deepEqual(printed.trim().split('\n'), [write, 'buy milk', none, write, 'buy milk', 'buy milk', write, none, none])
})

test('CapTP', { timeout: 600_000 }, async (context) => {
  const example = ['--package', 'lydite-ocapn-net', '--features', 'websocket', '--example', 'suite_websocket']
  const run = (command) => ['cargo', [command, '--quiet', '--locked', ...example], { cwd: here('../../..'), stdio: ['ignore', 'pipe', 'inherit'] }]
  execFileSync(...run('build'))
  const servers = [spawn(...run('run')), spawn(...run('run'))]
  try {
    const peers = await Promise.all(servers.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]).trim()))
    // Before version 22, Node has WebSocket only with a flag.
    const flags = globalThis.WebSocket ? [] : ['--experimental-websocket', '--no-warnings']
    for (const [name, command, ...args] of [['Node', 'node', ...flags], ['Bun', here('node_modules/.bin/bun')]])
      await context.test(name, () => {
        const printed = execFileSync(command, [...args, here('captp-node.mjs'), ...peers], { encoding: 'utf8', timeout: 60_000 })
        assert.equal(printed.trim().split('\n').length, TESTS, printed)
      })
    await context.test('Chromium', (context) => inChromium(context, 'captp.html', peers.map((peer) => ['peer', peer]), TESTS))
  } finally {
    for (const server of servers) server.kill()
  }
})

/** One end of a WebSocket without a network: what it sends is in `bufferedAmount` until `deliver` passes it to the other
 * end. */
class End {
  bufferedAmount = 0
  frames = []
  closed = false

  send(data) {
    this.frames.push(data.slice().buffer)
    this.bufferedAmount += data.length
  }

  deliver() {
    if (this.closed || this.frames.length === 0) return false
    const data = this.frames.shift()
    this.bufferedAmount -= data.byteLength
    this.other.onmessage({ data })
    return true
  }

  close() {
    for (const end of [this, this.other]) {
      if (end.closed) continue
      end.closed = true
      end.onclose()
    }
  }
}

const range = (length) => Array.from({ length }, (_, i) => i)
/** Bytes that fit a message. */
const LONG = (1 << 20) - 1024
class Store extends Far {
  order = []
  get(i, _bytes) {
    this.order.push(Number(i))
    return new Uint8Array(LONG).fill(Number(i))
  }
  async later(i) {
    return this.get(i)
  }
  note(i) {
    this.order.push(Number(i))
  }
  /** Calls an object of the caller, many times. */
  call(store, count) {
    this.results = range(Number(count)).map((i) => store.get(BigInt(i)).then(String, (error) => error))
  }
}

/** Sets a clock that only the returned function moves. */
function setClock(context) {
  let now = 0
  // Not `mock.timers`: there, clearing a timer of an earlier test can remove one of this test.
  const timers = new Set()
  context.mock.method(performance, 'now', () => now)
  context.mock.method(globalThis, 'clearTimeout', (timer) => timers.delete(timer))
  context.mock.method(globalThis, 'setTimeout', (action, delay) => {
    const timer = { at: now + delay, action }
    timers.add(timer)
    return timer
  })
  return async (milliseconds) => {
    for (let i = 0; i < milliseconds; i += 10) {
      now += 10
      for (const timer of timers) {
        if (timer.at > now) continue
        timers.delete(timer)
        timer.action()
      }
      await new Promise(setImmediate)
    }
  }
}

/** A client with a session at a server, without a network, and the function that moves the clock. */
async function connected(context) {
  const pass = setClock(context)
  const ends = {}
  const server = new CapTP({ url: 'ws://server', WebSocket: End })
  const client = new CapTP({ WebSocket: class extends End {
    constructor() {
      super()
      ends.client = this
      ends.server = this.other = Object.assign(new End(), { other: this })
      setImmediate(() => (server.accept(ends.server), this.onopen()))
    }
  } })
  const store = new Store()
  const promise = client.enliven(server.publish(store))
  const settled = Promise.all([promise, promise.get(0n)])
  for (let i = 0; i < 20; i++) {
    await pass(10)
    while (ends.client.deliver() || ends.server.deliver());
  }
  const [remote] = await settled
  store.order = []
  return { ...ends, store, remote, pass }
}

test('a socket that does not open is closed', async (context) => {
  const pass = setClock(context)
  let socket
  const server = new CapTP({ url: 'ws://server', WebSocket: End })
  const client = new CapTP({ WebSocket: class extends End {
    other = { closed: true }
    constructor() {
      super()
      socket = this
    }
  } })
  const promise = client.enliven(server.publish(new Store()))
  const rejected = assert.rejects(Promise.resolve(promise), /no connection in time/)
  await pass(29_000)
  assert.ok(!socket.closed)
  await pass(2_000)
  assert.ok(socket.closed)
  await rejected
})

test('a peer that reads slowly gets everything, in order', async (context) => {
  const { client, server, store, remote, pass } = await connected(context)
  const order = []
  const results = range(40).map(async (i) => {
    const bytes = await remote.get(BigInt(i))
    order.push(i)
    assert.equal(bytes.length, LONG)
    assert.ok(bytes.every((byte) => byte === i))
  })
  for (let i = 0; i < 50; i++) {
    await pass(10)
    while (client.deliver());
  }
  // The others are neither called nor lost while the peer does not read.
  assert.ok(store.order.length >= 16 && store.order.length < 20, store.order.length)
  for (let i = 0; order.length < 40 && i < 200; i++) {
    assert.ok(server.bufferedAmount < 2 << 20, server.bufferedAmount)
    server.deliver()
    // Longer in all than the time for which a peer may read nothing.
    await pass(1000)
    while (client.deliver());
  }
  await Promise.all(results)
  assert.deepEqual([order, store.order], [range(40), range(40)])
})

for (const role of ['accepted', 'dialled'])
  test(`a peer that does not read, socket ${role}`, async (context) => {
    const { client, server, store, remote, pass } = await connected(context)
    const own = new Store()
    const [writer, reader, called] = role === 'accepted' ? [server, client, store] : [client, server, own]
    let results
    if (role === 'accepted') results = range(1000).map((i) => remote.get(BigInt(i)).then(String, (error) => error))
    else {
      send(remote, new SyrupSymbol('call'), own, 1000n)
      while (client.deliver());
      results = store.results
    }
    for (let i = 0; i < 20; i++) {
      await pass(10)
      while (reader.deliver());
    }
    assert.ok(called.order.length >= 16 && called.order.length < 20, called.order.length)
    assert.ok(writer.bufferedAmount < 2 << 20, writer.bufferedAmount)
    await pass(29_000)
    assert.equal(writer.closed, false)
    await pass(1_000)
    assert.equal(writer.closed, true)
    for (const result of await Promise.all(results))
      assert.ok(result instanceof Broken && result.code === 'disconnected', String(result))
    assert.ok(called.order.length < 20)
  })

test('frames that arrive while too much waits', async (context) => {
  const { client, server, store, remote, pass } = await connected(context)
  const read = async (frames) => {
    for (let i = 0; i < 20; i++) {
      for (; frames > 0 && server.deliver(); frames--);
      await pass(10)
      while (client.deliver());
    }
  }
  for (const i of range(18)) remote.get(BigInt(i))
  for (const i of range(500)) send(remote, new SyrupSymbol('note'), BigInt(18 + i))
  for (const i of range(200)) remote.later(BigInt(518 + i))
  await read(0)
  const before = store.order.length
  assert.ok(before < 20, before)
  await read(20)
  // All that need no room, and of the others no more than there is room for.
  assert.ok(store.order.length > 518 && store.order.length < 600, store.order.length)
  for (let i = 0; i < 30; i++) await read(20)
  assert.deepEqual(store.order, range(718))
})

for (const reads of [true, false])
  test(`a session that ends while its peer ${reads ? 'is slow' : 'does not read'}`, async (context) => {
    const { client, server, remote, pass } = await connected(context)
    for (const i of range(3)) remote.get(BigInt(i))
    await pass(10)
    while (client.deliver());
    await pass(10)
    client.send(Uint8Array.of(1))
    while (client.deliver());
    await pass(500)
    assert.equal(server.closed, false)
    const frames = []
    const receive = client.onmessage
    client.onmessage = (event) => (frames.push(Buffer.from(event.data)), receive(event))
    for (let i = 0; i < 10 && reads; i++) {
      server.deliver()
      await pass(10)
    }
    if (!reads) await pass(600)
    assert.equal(server.closed, true)
    if (!reads) return
    // The last frame has the reason.
    frames.push(...server.frames.map((frame) => Buffer.from(frame)))
    assert.equal(frames.filter((frame) => frame.length >= LONG).length, 3)
    assert.ok(frames.at(-1).includes('op:abort'))
  })

test('a peer that sends more than is kept while it does not read', async (context) => {
  const { client, server, remote, pass } = await connected(context)
  const results = range(20).map((i) => remote.get(BigInt(i)))
  for (let i = 0; i < 20; i++) {
    await pass(10)
    while (client.deliver());
  }
  let sent = 0
  for (; !server.closed && sent < 30; sent++) {
    results.push(remote.get(0n, new Uint8Array(LONG)))
    await pass(20)
    while (client.deliver());
  }
  assert.ok(sent > 10 && sent < 20, sent)
  for (const result of results) await assert.rejects(Promise.resolve(result), Broken)
})

test('messages that the core refuses', async (context) => {
  const { client, remote, pass } = await connected(context)
  const bytes = new Uint8Array(LONG)
  const limit = (error) => error instanceof Broken && error.code === 'limit'
  assert.throws(() => range(20).forEach(() => send(remote, bytes)), limit)
  await assert.rejects(Promise.resolve(remote.get(0n, bytes)), limit)
  assert.equal(client.closed, false)
  while (client.deliver()) await pass(10)
  send(remote, bytes)
})

test('waiting for room before each message', async (context) => {
  const { client, remote, store, pass } = await connected(context)
  const bytes = new Uint8Array(LONG)
  let sent = 0
  const write = async (count) => {
    for (; sent < count; sent++) {
      await ready(remote)
      send(remote, new SyrupSymbol('note'), BigInt(sent), bytes)
    }
  }
  const all = write(40)
  await pass(100)
  // 4 MiB in the core, and what it has passed to the socket.
  assert.ok(sent >= 4 && sent <= 7, sent)
  for (let i = 0; sent < 40 && i < 100; i++) {
    client.deliver()
    await pass(20)
    // Twice 4 MiB: what waits in the core, and what it is passing to the socket.
    assert.ok(sent - store.order.length <= 12, `${sent}, ${store.order.length}`)
  }
  await all
  while (client.deliver()) await pass(10)
  assert.deepEqual(store.order, range(40))

  const more = write(80)
  await pass(100)
  assert.ok(sent < 80, sent)
  client.close()
  // Nothing waits any more.
  await more
  remote[Symbol.dispose]()
  await assert.rejects(ready(remote), /released/)
})
