// viem on Node or Bun.
import { readFileSync } from 'node:fs'
import * as kit from '../../kit/js/kit.mjs'
import {
  bytesToHex, decodeAbiParameters, encodeAbiParameters, encodeFunctionData, fromRlp, getAddress, hashTypedData,
  hexToBigInt, hexToBytes, keccak256, numberToHex, parseAbi, parseTransaction, serializeTransaction, toRlp,
} from 'viem'
import { secp256k1 } from '@noble/curves/secp256k1'

const { array, chunks, hex, many, op, same, text, withVaried, Text } = kit
const version = JSON.parse(readFileSync(new URL('./node_modules/viem/package.json', import.meta.url))).version

// viem's own sign and recover are async only; its secp256k1 is noble's, which it calls synchronously inside.
const digest = (item) => item.subarray(0, 32)
const publicKeyOf = (item) =>
  secp256k1.Signature.fromCompact(item.subarray(32, 96)).addRecoveryBit(item[96]).recoverPublicKey(digest(item)).toRawBytes(false).subarray(1)
const signPair = (item) => ({ key: item.slice(0, 32), hash: item.slice(32, 64) })
const signatureOf = ({ key, hash }) => secp256k1.sign(hash, key, { lowS: true })
const signed = (pair) => {
  const signature = signatureOf(pair)
  const out = new Uint8Array(65)
  out.set(signature.toCompactRawBytes())
  out[64] = signature.recovery
  return out
}
const addressOf = (item) => '0x' + keccak256(publicKeyOf(item), 'hex').slice(26)

const transferAbi = parseAbi(['function transfer(address to, uint256 amount)'])
const staticTypes = [{ type: 'address' }, { type: 'uint256' }]
const pairTypes = [{ type: 'string' }, { type: 'bytes' }]
const dynamicTypes = [...pairTypes, { type: 'uint256[]' }]
const pairs = (item) => chunks(item, 52).map((x) => [hex(x.subarray(0, 20)), kit.be(x.subarray(20))])
const dynamic = (r) => {
  const f = kit.dynamicFields(r)
  return [f.string, hex(f.bytes), f.numbers]
}
const utf8 = new TextEncoder()
const decodePair = (data) => {
  const [string, bytes] = decodeAbiParameters(pairTypes, data)
  return [utf8.encode(string), bytes]
}
const decodeDynamic = (data) => {
  const [string, bytes, numbers] = decodeAbiParameters(dynamicTypes, data)
  return [utf8.encode(string), bytes, ...numbers.map(kit.le32)]
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
  const t = parseTransaction(hex(raw))
  const out = new Uint8Array(68)
  if (t.to) out.set(hexToBytes(t.to))
  const view = new DataView(out.buffer)
  view.setBigUint64(20, BigInt(t.nonce ?? 0), true)
  view.setBigUint64(28, t.gas ?? 0n, true)
  out.set(kit.le32(t.value ?? 0n), 36)
  return out
}
const types = { Transfer: [{ name: 'to', type: 'address' }, { name: 'amount', type: 'uint256' }] }
const typed = (item) => {
  const f = kit.typedDataFields(item)
  return {
    domain: { name: f.name, version: f.version, chainId: f.chainId, verifyingContract: hex(f.contract) },
    types, primaryType: 'Transfer', message: { to: hex(f.to), amount: f.amount },
  }
}
const rows = withVaried({
  secp256k1_sign: op(signPair, signed),
  secp256k1_sign_recover: op(signPair, (p) => signatureOf(p).recoverPublicKey(p.hash).toRawBytes(false).subarray(1)),
  address_derivation: op(same, (key) => '0x' + keccak256(key, 'hex').slice(26)),
  // No checksum_address row: viem answers repeated addresses from a cache of 8192 results.
  address_from_hex: array((i) => chunks(i, 42).map(text), (list_) => list_.map((x) => hexToBytes(x))),
  hex_encode_32b: array((i) => chunks(i, 32), (list_) => list_.map((x) => new Text(bytesToHex(x).slice(2)))),
  hex_decode_32b: array((i) => chunks(i, 64).map((x) => '0x' + text(x)), (list_) => list_.map((x) => hexToBytes(x))),
  abi_encode_transfer: array(pairs, (list_) => list_.map((args) => encodeFunctionData({ abi: transferAbi, args }))),
  abi_encode_static: array(pairs, (list_) => list_.map((args) => encodeAbiParameters(staticTypes, args))),
  abi_encode_dynamic: array((i) => many(i, dynamic), (list_) => list_.map((args) => encodeAbiParameters(dynamicTypes, args))),
  abi_decode_uint256: array((i) => chunks(i, 32), (list_) => list_.map((x) => kit.le32(decodeAbiParameters([{ type: 'uint256' }], x)[0]))),
  abi_decode_dynamic: array((i) => many(i, (r) => r.lp()), (list_) => list_.flatMap(decodePair)),
  rlp_encode_eip1559_tx: array((i) => many(i, transaction), (list_) => list_.map(list)),
  rlp_encode_eip1559_tx_zig_input: array((i) => many(i, transaction), (list_) => list_.map((t) => serializeTransaction(t))),
  rlp_decode_u256: array((i) => many(i, (r) => r.lp()), (list_) => list_.map((x) => kit.le32(hexToBigInt(fromRlp(x, 'hex'))))),
  tx_hash_eip1559: op((i) => transaction(new kit.Reader(i)), (t) => keccak256(serializeTransaction(t, undefined), 'bytes')),
  eip712_hash_typed_data: op(typed, (t) => hashTypedData(t)),
  eip712_hash_typed_data_json: op(text, (t) => hashTypedData(JSON.parse(t))),
})
kit.run('viem', version, {
  ...rows,
  ...kit.keccakRows((m) => keccak256(m, 'bytes')),
  ...kit.recoverRows(publicKeyOf, addressOf),
  ...kit.bigintRows,
  secp256k1_public_key_varied: op(same, (key) => secp256k1.getPublicKey(key, false).subarray(1)),
  secp256k1_verify_varied: op(
    (i) => ({ hash: i.slice(0, 32), sig: i.slice(32, 96), key: Uint8Array.of(4, ...i.subarray(96)) }),
    (x) => Uint8Array.of(secp256k1.verify(x.sig, x.hash, x.key, { lowS: false }) ? 1 : 0),
  ),
  abi_encode_runtime_varied: op((i) => dynamic(new kit.Reader(i)), (args) => encodeAbiParameters(dynamicTypes, args)),
  abi_decode_runtime_varied: array(same, decodeDynamic),
  tx_decode_blocks: op(same, decodeTransaction),
  tx_hash_blocks: op(same, (raw) => (parseTransaction(hex(raw)), keccak256(raw, 'bytes'))),
  'neg:hex_decode_32b': kit.neg((i) => hexToBytes('0x' + text(i))),
  'neg:address_from_hex': kit.neg((i) => getAddress(text(i))),
  'neg:abi_decode_dynamic': kit.neg(decodePair),
  'neg:rlp_decode_u256': kit.neg((i) => hexToBigInt(fromRlp(i, 'hex'))),
  'neg:tx_decode_blocks': kit.neg(decodeTransaction),
})
