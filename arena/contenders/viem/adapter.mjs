// viem on Node or Bun.
import { readFileSync } from 'node:fs'
import * as kit from '../../kit/js/kit.mjs'
import {
  bytesToHex, decodeAbiParameters, encodeAbiParameters, encodeFunctionData, fromRlp, getAddress, hashTypedData,
  hexToBigInt, hexToBytes, keccak256, numberToHex, parseAbi, parseTransaction, serializeTransaction, toRlp,
} from 'viem'
import { secp256k1 } from '@noble/curves/secp256k1'

const { array, chunks, each, hex, many, op, same, setDigits, setHexLE, setLow, text, Characters, Text } = kit
const version = JSON.parse(readFileSync(new URL('./node_modules/viem/package.json', import.meta.url))).version

// viem's own sign and recover are async only; it calls noble's secp256k1 synchronously inside.
const signature = (item) => ({ item, hash: item.subarray(0, 32), signature: item.subarray(32, 96), bit: item[96] })
const publicKeyOf = (x) =>
  secp256k1.Signature.fromCompact(x.signature).addRecoveryBit(x.bit).recoverPublicKey(x.hash).toRawBytes(false).subarray(1)
const signPair = (item) => ({ item, key: item.subarray(0, 32), hash: item.subarray(32, 64) })
const whole = (x) => x.item
const signatureOf = ({ key, hash }) => secp256k1.sign(hash, key, { lowS: true })
const signed = (pair) => {
  const signature = signatureOf(pair)
  const out = new Uint8Array(65)
  out.set(signature.toCompactRawBytes())
  out[64] = signature.recovery
  return out
}
const addressOf = (x) => '0x' + keccak256(publicKeyOf(x), 'hex').slice(26)
const amount = (row, w) => [row[0], setLow(row[1], w)]
const string = (row, w) => [setDigits(row[0], 0, w), row[1], row[2]]
const recipient = (t, w) => ({ ...t, to: setHexLE(t.to, 0, w) })

const transferAbi = parseAbi(['function transfer(address to, uint256 amount)'])
const staticTypes = [{ type: 'address' }, { type: 'uint256' }]
const pairTypes = [{ type: 'string' }, { type: 'bytes' }]
const dynamicTypes = [...pairTypes, { type: 'uint256[]' }]
const pairs = (item) => chunks(item, 52).map((x) => [hex(x.subarray(0, 20)), kit.be(x.subarray(20))])
const dynamic = (r) => {
  const f = kit.dynamicFields(r)
  return [f.string, hex(f.bytes), f.numbers]
}
const decodePair = (data) => {
  const [string, bytes] = decodeAbiParameters(pairTypes, data)
  return [new Text(string), bytes]
}
const decodeDynamic = (data) => {
  const [string, bytes, numbers] = decodeAbiParameters(dynamicTypes, data)
  return [new Text(string), bytes, ...numbers]
}
const transaction = (r) => {
  const f = kit.transactionFields(r)
  return {
    type: 'eip1559', chainId: Number(f.chainId), nonce: Number(f.nonce), maxPriorityFeePerGas: f.tip, maxFeePerGas: f.cap,
    gas: f.gas, to: hex(f.to), value: f.value, data: hex(f.data),
    accessList: f.accessList.map((e) => ({ address: hex(e.address), storageKeys: e.storageKeys.map(hex) })),
  }
}
const quantity = (n) => (n ? numberToHex(n) : '0x')
const list = (t) => toRlp([quantity(t.chainId), quantity(t.nonce), quantity(t.maxPriorityFeePerGas), quantity(t.maxFeePerGas), quantity(t.gas), t.to, quantity(t.value), t.data, t.accessList.map((e) => [e.address, e.storageKeys])])
const decodeTransaction = (raw) => {
  const t = parseTransaction(raw)
  return kit.transactionHead(t.to, t.nonce, t.gas, t.value)
}
const types = { Transfer: [{ name: 'to', type: 'address' }, { name: 'amount', type: 'uint256' }] }
const typed = (item) => {
  const f = kit.typedDataFields(item)
  return {
    domain: { name: f.name, version: f.version, chainId: f.chainId, verifyingContract: hex(f.contract) },
    types, primaryType: 'Transfer', message: { to: hex(f.to), amount: f.amount },
  }
}
const rows = {
  secp256k1_sign: op(signPair, signed).wire(whole),
  secp256k1_sign_recover: op(signPair, (p) => signatureOf(p).recoverPublicKey(p.hash).toRawBytes(false).subarray(1)).wire(whole),
  address_derivation: op(same, (key) => '0x' + keccak256(key, 'hex').slice(26)),
  // No checksum_address row, because viem serves repeated addresses from a cache of 8192 results.
  address_from_hex: each((i) => chunks(i, 42).map(text), (x) => hexToBytes(x)),
  hex_encode_32b: each((i) => chunks(i, 32), (x) => new Characters(bytesToHex(x), 2)),
  hex_decode_32b: each((i) => chunks(i, 64).map((x) => '0x' + text(x)), (x) => hexToBytes(x)).changes('digits@0', (t, w) => setDigits(t, 2, w)),
  abi_encode_transfer: each(pairs, (args) => encodeFunctionData({ abi: transferAbi, args })).changes('be@-4', amount),
  abi_encode_static: each(pairs, (args) => encodeAbiParameters(staticTypes, args)).changes('be@-4', amount),
  abi_encode_dynamic: each((i) => many(i, dynamic), (args) => encodeAbiParameters(dynamicTypes, args)).changes('digits@4', string),
  abi_decode_uint256: each((i) => chunks(i, 32), (x) => decodeAbiParameters([{ type: 'uint256' }], x)[0]),
  abi_decode_dynamic: array((i) => many(i, (r) => r.lp()), (list_) => list_.flatMap(decodePair)),
  rlp_encode_eip1559_tx: each((i) => many(i, transaction), list).changes('le@56', recipient),
  rlp_encode_eip1559_tx_typed: each((i) => many(i, transaction), (t) => serializeTransaction(t)).changes('le@56', recipient),
  rlp_decode_u256: each((i) => many(i, (r) => r.lp()), (x) => hexToBigInt(fromRlp(x, 'hex'))),
  tx_hash_eip1559: op((i) => transaction(new kit.Reader(i)), (t) => keccak256(serializeTransaction(t, undefined), 'bytes')).changes('le@56', recipient),
  eip712_hash_typed_data: op(typed, (t) => hashTypedData(t)).changes('be@-4', (t, w) => ((t.message.amount = setLow(t.message.amount, w)), t)),
  eip712_hash_typed_data_json: op(text, (t) => hashTypedData(JSON.parse(t))),
}
kit.run('viem', version, {
  ...rows,
  ...kit.keccakRows((m) => keccak256(m, 'bytes')),
  ...kit.recoverRows(signature, publicKeyOf, addressOf, (row) => row.wire(whole)),
  ...kit.bigintRows,
  secp256k1_public_key: op(same, (key) => secp256k1.getPublicKey(key, false).subarray(1)),
  secp256k1_verify: op(
    (i) => ({ hash: i.slice(0, 32), sig: i.slice(32, 96), key: Uint8Array.of(4, ...i.subarray(96)) }),
    (x) => Uint8Array.of(secp256k1.verify(x.sig, x.hash, x.key, { lowS: false }) ? 1 : 0),
  ),
  abi_encode_runtime: op((i) => dynamic(new kit.Reader(i)), (args) => encodeAbiParameters(dynamicTypes, args)).changes('digits@4', string),
  abi_decode_runtime: kit.parts(same, decodeDynamic),
  tx_decode: op(hex, decodeTransaction),
  tx_hash: op(hex, (raw) => (parseTransaction(raw), keccak256(raw))),
  'neg:hex_decode_32b': kit.neg((i) => hexToBytes('0x' + text(i))),
  'neg:address_from_hex': kit.neg((i) => getAddress(text(i))),
  'neg:abi_decode_dynamic': kit.neg(decodePair),
  'neg:rlp_decode_u256': kit.neg((i) => hexToBigInt(fromRlp(i, 'hex'))),
  'neg:tx_decode': kit.neg((i) => decodeTransaction(hex(i))),
})
