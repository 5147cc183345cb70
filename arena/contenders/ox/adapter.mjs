// ox on Node, with its default engine (noble) or, with OX_ENGINE=wasm, its WebAssembly one.
import { readFileSync } from 'node:fs'
import * as kit from '../../kit/js/kit.mjs'
import {
  AbiParameters, Address, Bytes, Hash, Hex, PublicKey, Rlp, Secp256k1, Signature, TxEnvelopeEip1559, TxEnvelopeEip4844, TypedData,
} from 'ox'

if (process.env.OX_ENGINE === 'wasm') {
  const { Engine } = await import('ox/wasm')
  await Engine.install()
}
const { array, chunks, each, hex, many, op, same, setDigits, setHexBE, setHexLE, setLow, text, Characters, Text } = kit
const version = JSON.parse(readFileSync(new URL('./node_modules/ox/package.json', import.meta.url))).version

const keccak = (m) => Hash.keccak256(m, { as: 'Bytes' })
const signPair = (item) => ({ privateKey: hex(item.subarray(0, 32)), payload: hex(item.subarray(32, 64)) })
const signed = (pair) => {
  const out = Signature.toBytes(Secp256k1.sign(pair))
  out[64] -= 27
  return out
}
const key64 = (key) => PublicKey.toBytes(key, { includePrefix: false })
const signature = (item) => ({ payload: item.subarray(0, 32), signature: Signature.fromBytes(item.subarray(32, 97)) })
const publicKeyOf = (x) => key64(Secp256k1.recoverPublicKey(x))
const changeHash = (pair, w) => ({ privateKey: pair.privateKey, payload: setHexLE(pair.payload, 0, w) })
const amount = (row, w) => [row[0], setLow(row[1], w)]
const string = (row, w) => [setDigits(row[0], 0, w), row[1], row[2]]
const recipient = (t, w) => ({ ...t, to: setHexLE(t.to, 0, w) })
const staticTypes = AbiParameters.from('address, uint256')
const pairTypes = AbiParameters.from('string, bytes')
const dynamicTypes = AbiParameters.from('string, bytes, uint256[]')
const pairs = (item) => chunks(item, 52).map((x) => [hex(x.subarray(0, 20)), kit.be(x.subarray(20))])
const dynamic = (r) => {
  const f = kit.dynamicFields(r)
  return [f.string, hex(f.bytes), f.numbers]
}
const decodePair = (data) => {
  const [string, bytes] = AbiParameters.decode(pairTypes, data)
  return [new Text(string), bytes]
}
const decodeDynamic = (data) => {
  const [string, bytes, numbers] = AbiParameters.decode(dynamicTypes, data)
  return [new Text(string), bytes, ...numbers]
}
const envelope = (r) => {
  const f = kit.transactionFields(r)
  return TxEnvelopeEip1559.from({
    chainId: Number(f.chainId), nonce: f.nonce, maxPriorityFeePerGas: f.tip, maxFeePerGas: f.cap, gas: f.gas,
    to: hex(f.to), value: f.value, input: hex(f.data),
    accessList: f.accessList.map((e) => ({ address: hex(e.address), storageKeys: e.storageKeys.map(hex) })),
  })
}
const decodeTransaction = (raw) => {
  const of = raw.startsWith('0x03') ? TxEnvelopeEip4844 : TxEnvelopeEip1559
  return [of, of.deserialize(raw)]
}
const headOf = (raw) => {
  const [, t] = decodeTransaction(raw)
  return kit.transactionHead(t.to, t.nonce, t.gas, t.value)
}
const senderOf = (raw) => {
  const [of, t] = decodeTransaction(raw)
  const from = Secp256k1.recoverAddress({ payload: of.getSignPayload(t), signature: Signature.extract(t) })
  return Hash.keccak256(raw) + from.slice(2)
}
const types = {
  EIP712Domain: [
    { name: 'name', type: 'string' }, { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' }, { name: 'verifyingContract', type: 'address' },
  ],
  Transfer: [{ name: 'to', type: 'address' }, { name: 'amount', type: 'uint256' }],
}
const typed = (item) => {
  const f = kit.typedDataFields(item)
  return {
    domain: { name: f.name, version: f.version, chainId: Number(f.chainId), verifyingContract: hex(f.contract) },
    types, primaryType: 'Transfer', message: { to: hex(f.to), amount: f.amount },
  }
}
const typedHash = (t) => Hash.keccak256(TypedData.encode(t))
kit.run('ox', version, {
  secp256k1_sign: op(signPair, signed).changes('le@32', changeHash),
  secp256k1_sign_recover: op(signPair, (p) => key64(Secp256k1.recoverPublicKey({ payload: p.payload, signature: Secp256k1.sign(p) }))).changes('le@32', changeHash),
  address_derivation: op(same, (key) => keccak(key).subarray(12)),
  address_from_hex: each((i) => chunks(i, 42).map(text), (x) => Bytes.fromHex(x)),
  hex_encode_32b: each((i) => chunks(i, 32), (x) => new Characters(Hex.fromBytes(x), 2)),
  hex_decode_32b: each((i) => chunks(i, 64).map((x) => '0x' + text(x)), (x) => Bytes.fromHex(x)).changes('digits@0', (t, w) => setDigits(t, 2, w)),
  abi_encode_transfer: each(pairs, (args) => '0xa9059cbb' + AbiParameters.encode(staticTypes, args).slice(2)).changes('be@-4', amount),
  abi_encode_static: each(pairs, (args) => AbiParameters.encode(staticTypes, args)).changes('be@-4', amount),
  abi_encode_dynamic: each((i) => many(i, dynamic), (args) => AbiParameters.encode(dynamicTypes, args)).changes('digits@4', string),
  abi_decode_uint256: each((i) => chunks(i, 32), (x) => AbiParameters.decode([{ type: 'uint256' }], x)[0]),
  abi_decode_dynamic: array((i) => many(i, (r) => r.lp()), (list) => list.flatMap(decodePair)),
  rlp_encode_eip1559_tx_typed: each((i) => many(i, envelope), (t) => TxEnvelopeEip1559.serialize(t)).changes('le@56', recipient),
  rlp_decode_u256: each((i) => many(i, (r) => r.lp()), (x) => Hex.toBigInt(Rlp.toHex(x))),
  tx_hash_eip1559: op((i) => envelope(new kit.Reader(i)), (t) => TxEnvelopeEip1559.getSignPayload(t)).changes('le@56', recipient),
  eip712_hash_typed_data: op(typed, typedHash).changes('be@-4', (t, w) => ((t.message.amount = setLow(t.message.amount, w)), t)),
  eip712_hash_typed_data_json: op(text, (t) => typedHash(JSON.parse(t))),
  ...kit.keccakRows(keccak),
  ...kit.recoverRows(signature, publicKeyOf, Secp256k1.recoverAddress, (row) => row.wire((x) => x.payload)),
  ...kit.bigintRows,
  secp256k1_public_key: op(hex, (privateKey) => key64(Secp256k1.getPublicKey({ privateKey }))).changes('be@28', (key, w) => setHexBE(key, 28, w)),
  secp256k1_verify: op(
    (i) => ({ payload: i.slice(0, 32), publicKey: PublicKey.fromBytes(Uint8Array.of(4, ...i.subarray(96))), signature: Signature.fromBytes(i.slice(32, 96)) }),
    (x) => Uint8Array.of(Secp256k1.verify(x) ? 1 : 0),
  ),
  abi_encode_runtime: op((i) => dynamic(new kit.Reader(i)), (args) => AbiParameters.encode(dynamicTypes, args)).changes('digits@4', string),
  abi_decode_runtime: kit.parts(same, decodeDynamic),
  tx_decode: op(hex, headOf),
  tx_hash: op(hex, (raw) => (decodeTransaction(raw), Hash.keccak256(raw))),
  tx_sender: op(hex, senderOf),
  'neg:hex_decode_32b': kit.neg((i) => Bytes.fromHex('0x' + text(i))),
  'neg:address_from_hex': kit.neg((i) => Address.checksum(text(i))),
  'neg:abi_decode_dynamic': kit.neg(decodePair),
  'neg:rlp_decode_u256': kit.neg((i) => Hex.toBigInt(Rlp.toHex(i))),
  'neg:tx_decode': kit.neg((i) => headOf(hex(i))),
})
