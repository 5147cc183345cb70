// CapTP with peers written in Rust: run by Node, Bun and Chromium. `peers` are the locators of two that serve the objects
// of the OCapN test suite.

const BUILDER = 'JadQ0++RzsD4M+40uLxTWVaVqM10DcBJ'
const ECHO = 'IO58l1laTyhcrgDKbEzFOO32MDd6zE5w'
const GREETER = 'VMDDd1voKWarCe2GvgLbxbVFysNzRPzx'
const PROMISE = 'IokCxYmMj04nos2JN1TDoY1bT8dXh6Lr'

const equal = (found, expected) => {
  const text = (value) => JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}n` : item instanceof Uint8Array ? [...item] : item))
  if (text(found) !== text(expected)) throw new Error(`expected ${text(expected)}, found ${text(found)}`)
}
const rejects = async (promise, pattern) => {
  const error = await promise.then(
    (value) => { throw new Error(`expected a failure, found ${value}`) },
    (error) => error,
  )
  if (!pattern.test(error.message)) throw error
  return error
}

/** A WebSocket class without a network: the other end of each is passed to `accept`. */
const socketsTo = (accept) => class {
  constructor() {
    const later = (action) => setTimeout(action, 0)
    const other = {
      bufferedAmount: 0,
      send: (data) => later(() => this.onmessage({ data: data.slice().buffer })),
    }
    this.bufferedAmount = 0
    this.send = (data) => later(() => other.onmessage({ data: data.slice?.().buffer ?? data }))
    this.close = other.close = () => later(() => (this.onclose(), other.onclose()))
    later(() => (accept(other), this.onopen()))
  }
}

/** All tests, one after the other. */
export async function captpSuite({ CapTP, Far, Broken, SyrupSymbol, SyrupRecord, broken, field, item, send, settled }, peers, test) {
  const captp = new CapTP()
  const sturdyref = (peer, swiss) => peers[peer].replace('?', `/s/${swiss}?`)
  const get = (peer, swiss) => captp.enliven(sturdyref(peer, swiss))

  await test('three calls in one round trip', async () => {
    // Nothing is awaited before the last call: not even the connection is open.
    const factory = get(0, BUILDER)()
    const car = factory([new SyrupSymbol('red'), new SyrupSymbol('zoomracer')])
    equal(await car(), 'Vroom! I am a red zoomracer car!')
  })

  await test('values of all types', async () => {
    const echo = await get(0, ECHO)
    const values = [true, 7n, -(2n ** 200n), 0.5, 'Ä', Uint8Array.of(1, 2), [[]]]
    equal(await echo(...values), values)
    const [symbol, map, record, nothing, none] = await echo(
      new SyrupSymbol('s'), new Map([['bb', 1n], ['a', [2n]]]), new SyrupRecord(new SyrupSymbol('r'), [1n]), undefined, null)
    equal([symbol.name, [...map], record.label.name, record.fields, nothing === undefined, none], ['s', [['a', [2n]], ['bb', 1n]], 'r', [1n], true, null])
    equal(await item(echo('x', 'y'), 1), 'y')
    equal(await field(item(echo(new Map([['name', 'Ann']])), 0), 'name'), 'Ann')
    await rejects(field(echo(), 'name'), /not a struct/)
    await rejects(captp.enliven(sturdyref(0, 'unknown')), /no object has this swiss number/)
  })

  await test('objects of ours are called, and are themselves when they come back', async () => {
    class Greeting extends Far {
      greet(name) { return `Hello, ${name}!` }
      async slow(name) { await undefined; return this.greet(name) }
      fail() { throw new Error('no') }
    }
    const mine = new Greeting()
    const echo = await get(0, ECHO)
    const [back, same] = await echo(mine, mine)
    equal(back === mine && same === mine, true)
    // The greeter calls with a string.
    const greeter = await get(0, GREETER)
    equal(await greeter((word) => word + '?'), 'Hello?')
    await rejects(greeter(mine), /expected a method/)
    await rejects(greeter(() => { throw new Error('no') }), /^no$/)
    const reason = await rejects(greeter(() => { throw new Broken('x', new SyrupSymbol('why')) }), /broke/)
    equal([reason.reason.name, reason.code], ['why', 'application'])
    // Methods, through a promise of the other process that we fulfil with our object.
    const [promise, resolver] = await get(0, PROMISE)()
    const calls = [promise.greet('Ann'), promise.slow('Bob'), promise.fail(), promise.constructor(), promise.toString()]
    resolver(new SyrupSymbol('fulfill'), mine)
    equal([await calls[0], await calls[1]], ['Hello, Ann!', 'Hello, Bob!'])
    await rejects(calls[2], /^no$/)
    await rejects(calls[3], /no method constructor/)
    await rejects(calls[4], /no method toString/)
    equal((await settled(promise)) === mine, true)
  })

  await test('a reference is passed on to a third peer', async () => {
    const echo = await get(0, ECHO)
    equal(await get(1, GREETER)(echo), ['Hello'])
    // Also before it is there.
    equal(await get(1, GREETER)(get(0, ECHO)), ['Hello'])
  })

  await test('order, references that are released, and misuse', async () => {
    const echo = await get(0, ECHO)
    const numbers = Array.from({ length: 500 }, (_, i) => BigInt(i))
    const done = []
    await Promise.all(numbers.map(async (i) => done.push((await echo(i))[0])))
    equal(done, numbers)
    send(echo, 'nobody waits')
    const promise = echo(1n)
    echo[Symbol.dispose]()
    equal(await promise, [1n])
    try {
      echo(1n)
      throw new Error('expected a failure')
    } catch (error) {
      if (!/was released/.test(error.message)) throw error
    }
    const other = new CapTP()
    const theirs = other.enliven(sturdyref(0, ECHO))
    try {
      (await get(0, ECHO))(theirs)
      throw new Error('expected a failure')
    } catch (error) {
      if (!/other connections/.test(error.message)) throw error
    }
    await theirs
    other.close()
  })

  await test('a released result releases what it holds', async () => {
    const other = new CapTP()
    const result = other.enliven(sturdyref(0, ECHO))(() => {})
    await result
    // The peer keeps its answer, with our function, for calls through the result.
    equal(other.exports, 1)
    result[Symbol.dispose]()
    for (let i = 0; other.exports && i < 500; i++) await new Promise((resolve) => setTimeout(resolve, 10))
    equal(other.exports, 0)
    other.close()
  })

  await test('impostors, and peers that cannot be reached', async () => {
    const [designator] = peers[0].slice('ocapn://'.length).split('.')
    const [, url] = peers[1].split('?')
    const other = new CapTP()
    await rejects(other.enliven(`ocapn://${designator}.websocket/s/x?${url}`), /signature is not valid/)
    await rejects(other.enliven(`ocapn://${designator}.websocket/s/x?url=ws%3A%2F%2F127.0.0.1%3A1`), /cannot connect to ws:/)
    const refused = await rejects(other.enliven(`ocapn://${designator}.websocket/s/x`), /expected the hint `url`/)
    equal(refused.code, 'disconnected')
    other.close()
  })

  await test('others connect to a participant', async () => {
    const secret = new Uint8Array(32).fill(7)
    const server = new CapTP({ secret, url: 'ws://server', WebSocket: socketsTo(() => {}) })
    class Notes extends Far {
      #text = ''
      remote
      write(text) { return (this.#text += text) }
      keep(remote) { this.remote = remote }
      passed(remote) { return remote.write('!') }
    }
    const sturdyref = server.publish(new Notes())
    equal(/^ocapn:\/\/[a-z2-7]{52}\.websocket\/s\/[0-9a-f]{64}\?url=ws/.test(sturdyref), true)
    equal(server.publish(() => {}, 'x'), new CapTP({ secret, url: 'ws://server' }).publish(() => {}, 'x'))
    const client = new CapTP({ WebSocket: socketsTo((socket) => server.accept(socket)) })
    const notes = client.enliven(sturdyref)
    equal(await notes.write('a'), 'a')
    equal(await notes.passed(notes), 'a!')
    await rejects(client.enliven(sturdyref.replace('/s/', '/s/0')), /no object has this swiss number/)
    // A reference that an object holds is not one of its methods.
    await notes.keep(() => 'secret')
    await rejects(notes.remote(), /no method remote/)
    // A third participant gets the object from the first, and connects to the server.
    const third = new CapTP({ url: 'ws://third', WebSocket: socketsTo((socket) => server.accept(socket)) })
    const writes = third.publish((remote) => remote.write('?'))
    const sender = new CapTP({ WebSocket: class {
      constructor(url) {
        return new (socketsTo((socket) => (url === 'ws://third' ? third : server).accept(socket)))()
      }
    } })
    equal(await sender.enliven(writes)(await sender.enliven(sturdyref)), 'a!?')
    for (const participant of [client, third, sender]) participant.close()
  })

  await test('connections of others that are closed', async () => {
    const server = new CapTP({ url: 'ws://server', WebSocket: socketsTo(() => {}) })
    for (const first of ['text', Uint8Array.of(1), Uint8Array.of(), new Uint8Array(1 << 20)])
      await new Promise((closed) => {
        const socket = new (socketsTo((other) => server.accept(other)))()
        socket.onopen = () => socket.send(first)
        socket.onmessage = () => { throw new Error('expected no answer') }
        socket.onclose = closed
      })
  })

  await test('the end of a session', async () => {
    const other = new CapTP()
    const echo = await other.enliven(sturdyref(0, ECHO))
    const ended = broken(echo)
    other.close()
    await ended
    await rejects(echo(1n), /disconnected/)
    // Also before there is a session.
    const pending = other.enliven(sturdyref(0, ECHO))
    other.close()
    await rejects(pending, /cannot connect/)
  })
  captp.close()
}
