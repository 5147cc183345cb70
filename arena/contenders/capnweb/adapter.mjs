// Cap'n Web, the server in the client's thread or, in captp_echo_2t, in another one.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import * as kit from '../../kit/js/kit.mjs'
import { Digest, connect, serve } from './server.mjs'

const { version } = JSON.parse(readFileSync(new URL('./node_modules/capnweb/package.json', import.meta.url)))
const port = await serve()
const same = connect(port)
const [otherPort] = await once(new Worker(new URL('./server.mjs', import.meta.url)), 'message')
const other = connect(otherPort)

/** The result of a call, which is disposed. Plain values have nothing to dispose. */
const result = async (promise) => {
  const value = await promise
  promise[Symbol.dispose]()
  return value
}
const texts = (item) => kit.chunks(item, 32).map(kit.text)
const characters = (text) => new kit.Characters(text)
const u64 = (value) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
const one = (call) => kit.later(kit.text, async (text) => [await call(text)])
const many = (call) =>
  kit
    .later(texts, call)
    .changesAll('digits@0', (list, x) => list.map((text, i) => kit.setDigits(text, 0, kit.word(x, i))))

kit.run('capnweb', version, {
  captp_echo: one(async (text) => characters(await result(same.echo(text)))),
  captp_echo_2t: one(async (text) => characters(await result(other.echo(text)))),
  captp_echo_300: many(async (list) => (await Promise.all(list.map((text) => result(same.echo(text))))).map(characters)),
  captp_oneway: many(async (list) => {
    // The result of a call is only sent if it is awaited.
    for (const text of list) same.log(text)[Symbol.dispose]()
    return [u64(await result(same.digest()))]
  }),
  captp_chain: many(async (list) => {
    let link = same.link()
    for (const text of list) {
      const next = link.next(text)
      link[Symbol.dispose]()
      link = next
    }
    const digest = await result(link.digest())
    link[Symbol.dispose]()
    return [u64(digest)]
  }),
  captp_fan_out: one(async (text) => {
    const calls = Array.from({ length: 1000 }, () => result(same.wait()))
    await result(same.settle(text))
    let digest = new Digest()
    for (const text of await Promise.all(calls)) digest = digest.after(text)
    return u64(digest.value)
  }),
  captp_setup: one(async (text) => {
    const objects = connect(port)
    const value = await result(objects.echo(text))
    objects[Symbol.dispose]()
    return characters(value)
  }),
  captp_blob: kit.later(kit.same, async (bytes) => [await result(same.echo(bytes))]),
})
