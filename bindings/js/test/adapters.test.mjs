// Compares each adapter with its library.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as ethers from 'ethers'
import { account } from 'lydite/viem'
import { register } from 'lydite/ethers'
import { engine } from 'lydite/ox'
import wasm from 'lydite/wasm'
import { Engine, Hash, Secp256k1, TxEnvelopeEip1559, PublicKey } from 'ox'
import { parseGwei, serializeTransaction, keccak256 } from 'viem'
import { privateKeyToAccount, toAccount } from 'viem/accounts'

const KEY = `0x${'46'.repeat(32)}`
const TO = '0x3535353535353535353535353535353535353535'
const bytes = (length, byte) => new Uint8Array(length).fill(byte)

for (const [name, api] of [['native'], ['wasm', wasm]])
  test(`ox: the same answers with its engine exchanged (${name})`, () => {
    const run = () => {
      const out = []
      for (const length of [0, 1, 135, 136, 137, 1000]) out.push(Hash.keccak256(bytes(length, length)), Hash.sha256(bytes(length, 3)))
      for (let i = 1; i < 20; i++) {
        const privateKey = Hash.keccak256(bytes(i, 1))
        const payload = Hash.keccak256(bytes(i, 2))
        const publicKey = Secp256k1.getPublicKey({ privateKey })
        const signature = Secp256k1.sign({ payload, privateKey })
        out.push(publicKey, signature, Secp256k1.recoverPublicKey({ payload, signature }), Secp256k1.recoverAddress({ payload, signature }))
        out.push(Secp256k1.sign({ payload, privateKey, hash: true }))
        out.push(Secp256k1.verify({ payload, publicKey, signature }), Secp256k1.verify({ payload: privateKey, publicKey, signature }))
        out.push(Secp256k1.verify({ payload, publicKey: PublicKey.compress(publicKey), signature }))
        const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
        const s = BigInt(signature.s)
        const high = typeof signature.s === 'bigint' ? n - s : `0x${(n - s).toString(16).padStart(64, '0')}`
        out.push(Secp256k1.verify({ payload, publicKey, signature: { ...signature, s: high } }))
        const envelope = TxEnvelopeEip1559.from({ chainId: 1, nonce: BigInt(i), maxFeePerGas: 10n, gas: 21000n, to: TO, value: 1n })
        out.push(TxEnvelopeEip1559.getSignPayload(envelope))
      }
      return out
    }
    const own = run()
    let calls = 0
    const ours = engine(api)
    const counted = { ...ours.Secp256k1, sign: (...all) => (calls++, ours.Secp256k1.sign(...all)) }
    Engine.set({ ...ours, Secp256k1: counted })
    try {
      assert.deepEqual(run(), own)
      assert.ok(calls > 0, 'ox did not call the engine')
      assert.throws(() => Secp256k1.sign({ payload: KEY, privateKey: KEY, extraEntropy: bytes(32, 1) }), { name: 'LyditeError', code: 'UNSUPPORTED' })
    } finally {
      Engine.reset()
    }
  })

test('ethers: the same answers with its hashes registered', () => {
  const run = () => {
    const out = []
    for (const length of [0, 1, 135, 136, 137, 1000]) out.push(ethers.keccak256(bytes(length, length)), ethers.sha256(bytes(length, 3)))
    const wallet = new ethers.Wallet(KEY)
    out.push(wallet.address, ethers.id('Transfer(address,address,uint256)'), ethers.hashMessage('hello'), ethers.namehash('vitalik.eth'))
    out.push(new ethers.Interface(['function transfer(address to, uint256 amount)']).encodeFunctionData('transfer', [TO, 7]))
    return out
  }
  const own = run()
  let calls = 0
  register(ethers, { ...wasm, keccak256: (data) => (calls++, wasm.keccak256(data)) })
  assert.deepEqual(run(), own)
  assert.ok(calls > 0, 'ethers did not call us')
  register(ethers)
  assert.deepEqual(run(), own)
})

test('viem: an account that signs as its own', async () => {
  const own = privateKeyToAccount(KEY)
  const ours = toAccount(account(KEY))
  assert.equal(ours.address, own.address)
  assert.equal(await ours.sign({ hash: keccak256('0x01') }), await own.sign({ hash: keccak256('0x01') }))
  for (const message of ['hello', 'hé', { raw: '0x1234' }, { raw: bytes(3, 1) }])
    assert.equal(await ours.signMessage({ message }), await own.signMessage({ message }))
  const typed = {
    domain: { name: 'Ether Mail', version: '1', chainId: 1, verifyingContract: TO },
    types: { Person: [{ name: 'name', type: 'string' }, { name: 'wallet', type: 'address' }], Mail: [{ name: 'from', type: 'Person' }, { name: 'amount', type: 'uint256' }] },
    primaryType: 'Mail', message: { from: { name: 'Cow', wallet: TO }, amount: 2n ** 200n },
  }
  assert.equal(await ours.signTypedData(typed), await own.signTypedData(typed))
  const accessList = [{ address: TO, storageKeys: [`0x${'01'.repeat(32)}`] }]
  const request = { address: TO, chainId: 1, nonce: 3 }
  const authorization = await own.signAuthorization(request)
  assert.deepEqual(await ours.signAuthorization(request), authorization)
  const base = { chainId: 1, nonce: 5, gas: 21000n, to: TO, value: 10n ** 18n, data: '0x1234' }
  const fees = { maxFeePerGas: parseGwei('20'), maxPriorityFeePerGas: 1n }
  const transactions = [
    { ...base, type: 'legacy', gasPrice: 7n },
    { ...base, gasPrice: 7n },
    { ...base, chainId: undefined, type: 'legacy', gasPrice: 7n },
    { ...base, type: 'eip2930', gasPrice: 7n, accessList },
    { ...base, type: 'eip1559', ...fees, accessList },
    { ...base, ...fees },
    { chainId: 1, type: 'eip1559' },
    { ...base, to: undefined, ...fees },
    { ...base, type: 'eip4844', ...fees, maxFeePerBlobGas: 3n, blobVersionedHashes: [`0x01${'02'.repeat(31)}`] },
    { ...base, type: 'eip7702', ...fees, authorizationList: [authorization] },
  ]
  for (const transaction of transactions)
    assert.equal(await ours.signTransaction(transaction), await own.signTransaction(transaction), JSON.stringify(transaction, (_, v) => (typeof v === 'bigint' ? `${v}` : v)))
  const serializer = (transaction, signature) => serializeTransaction(transaction, signature)
  assert.equal(await ours.signTransaction(transactions[4], { serializer }), await own.signTransaction(transactions[4]))
  await assert.rejects(ours.signTransaction({ ...base, ...fees, gasLimit: 3n, type: 'eip9' }), { code: 'ENCODE', message: 'type: unknown transaction type eip9; expected one of legacy, eip2930, eip1559, eip4844, eip7702' })
  await assert.rejects(ours.signTransaction({ ...base, ...fees, sidecars: [] }), { code: 'ENCODE' })
})
