// Compiled, not run: the public types.

import * as ethers from 'ethers'
import wasm from 'lydite/wasm'
import { engine } from 'lydite/ox'
import { register } from 'lydite/ethers'
import { account } from 'lydite/viem'
import { Broken, CapTP, Far, type Passable, type Remote, type RemotePromise, SyrupSymbol, item, ready, settled } from 'lydite/captp'
import lydite, { type XmssKeyFile, type AbiValue, Codec, Event, type Hex, LyditeError, type Lydite, type Transaction, decodeTransaction, keccak256 } from 'lydite'
import { Engine } from 'ox'
import { type LocalAccount, toAccount } from 'viem/accounts'

const hash: Uint8Array = keccak256('0x12')
// @ts-expect-error text that is not hexadecimal
keccak256('abc')
const codec: Codec = new Codec('(bytes,string,uint256[])', { bytes: 'hex' })
const values: AbiValue[] = codec.decode(codec.encode(['0x', 'a', [1, 2n]]), { strict: false })
// @ts-expect-error unknown format
new Codec('uint8', { bytes: 'base64' })
const decoded: (Record<string, AbiValue> | null)[] = new Event('E(uint8 a)').decodeBatch([{ topics: [hash], data: '0x' }])
const from: Hex = decodeTransaction(hash).from
const transaction: Transaction = decodeTransaction(hash, { sender: false })
// @ts-expect-error the sender was not recovered
const none: Hex = decodeTransaction(hash, { sender: false }).from
const open = (path: string): XmssKeyFile => lydite.xmssKeyFileOpen('leansig-prod', path)
// @ts-expect-error unknown scheme
lydite.xmssKeyFromBytes('leansig', hash)
const either: Lydite[] = [lydite, wasm]
const code: 'DECODE' | 'ENCODE' | 'SIGNATURE' | 'INVALID_ARGUMENT' | 'PRECOMPILE' | 'UNSUPPORTED' | 'INTERNAL' | 'KEY_FILE' = new LyditeError('DECODE', '').code

class Counter extends Far {
  increment = (by: bigint) => by + 1n
}
async function capabilities(captp: CapTP): Promise<[unknown, Passable]> {
  const promise: RemotePromise = captp.enliven('ocapn://')
  await ready(promise)
  const remote: Remote = await promise.make(new Counter(), () => 1n, new Map([['a', promise]]), undefined)
  using held = remote.part()
  // @ts-expect-error dates have no encoding
  remote.at(new Date())
  return [await item(held.list(new SyrupSymbol('a')), 0), new Broken('', await settled(remote)).reason]
}

const serve = (socket: WebSocket, secret: Uint8Array): string => {
  const captp = new CapTP({ url: 'ws://', secret })
  captp.accept(socket)
  // @ts-expect-error no object that can be called
  captp.publish({})
  return captp.publish(new Counter(), 'swiss')
}

Engine.set(engine())
register(ethers)
const local: LocalAccount = toAccount(account(`0x${'46'.repeat(32)}`))
export { capabilities, serve, none, open, transaction, code, decoded, either, from, local, values }
