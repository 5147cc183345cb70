// A tool server with capabilities: an agent gets one tool, lends a weaker one to another vat, and revokes it.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { CapTP, Far, type Remote } from 'lydite/captp'
import { WebSocket, WebSocketServer } from 'ws'

/** The tool itself: text that can be read and replaced. */
class Notes extends Far {
  #text = ''
  read() { return this.#text }
  write(text: string) { return (this.#text = text) }
}

/** A weaker tool in front of another: read-only, for a number of reads a second. Zero revokes it. */
const readOnly = (notes: Remote, limit: { rate: number }) =>
  new (class extends Far {
    /** The times of the reads within the last second. */
    #reads: number[] = []
    read() {
      this.#reads = this.#reads.filter((time) => performance.now() - time < 1000)
      if (this.#reads.length >= limit.rate) throw new Error('no reads left')
      this.#reads.push(performance.now())
      return notes.read()
    }
    write() { throw new Error('these notes are read-only') }
  })()

/** A helper in a third vat, with access only to its argument. */
async function tryAll(notes: Remote) {
  const results = await Promise.allSettled([notes.write('mine now'), notes.read(), notes.read()])
  return results.map((result) => (result.status === 'fulfilled' ? result.value : `refused: ${result.reason.message}`))
}

/** A vat that others can connect to. */
async function listen() {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, maxPayload: 1 << 20 })
  await once(server, 'listening')
  const vat = new CapTP({ WebSocket, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` })
  server.on('connection', (socket) => vat.accept(socket))
  return vat
}

// Whoever does not know the sturdyref, which has a random number, cannot find the tool.
const sturdyref = (await listen()).publish(new Notes())
const helper = (await listen()).publish(tryAll)

const agent = new CapTP({ WebSocket })
const notes = agent.enliven(sturdyref)
await notes.write('buy milk')
const limit = { rate: 0 }
const tool = readOnly(notes, limit)
// One read a second, then two, until the agent revokes the tool.
for (limit.rate of [1, 2, 0]) {
  for (const line of await agent.enliven(helper)(tool)) console.log(line)
  await setTimeout(1100)
}
process.exit()
