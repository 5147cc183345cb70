// Voltaire from npm (its JavaScript build) on Node or Bun.
import { readFileSync } from 'node:fs'
import { Abi, Address, EIP712, Hex, Keccak256, Rlp, Secp256k1 } from '@tevm/voltaire'
import * as kit from '../../kit/js/kit.mjs'

const { array, chunks, each, many, op, same, setDigits, setLE, setLow, text, Characters, Text } = kit
const version = JSON.parse(readFileSync(new URL('./node_modules/@tevm/voltaire/package.json', import.meta.url))).version

const signPair = (item) => ({ item, key: item.subarray(0, 32), hash: item.subarray(32, 64) })
const whole = (x) => x.item
const signature = (item) => ({
  hash: item.subarray(0, 32), signature: { r: item.subarray(32, 64), s: item.subarray(64, 96), v: item[96] + 27 },
})
const publicKeyOf = (x) => Secp256k1.recoverPublicKeyFromHash(x.signature, x.hash)
const amount = (row, w) => [row[0], setLow(row[1], w)]
const string = (row, w) => [setDigits(row[0], 0, w), row[1], row[2]]
const recipient = (f, w) => (setLE(f[5], 0, w), f)
const signed = ({ key, hash }) => {
  const { r, s, v } = Secp256k1.signHash(hash, key)
  const out = new Uint8Array(65)
  out.set(r)
  out.set(s, 32)
  out[64] = v - 27
  return out
}
const staticTypes = [{ type: 'address' }, { type: 'uint256' }]
const pairTypes = [{ type: 'string' }, { type: 'bytes' }]
const dynamicTypes = [...pairTypes, { type: 'uint256[]' }]
const pairs = (item) => chunks(item, 52).map((x) => [Hex.fromBytes(x.subarray(0, 20)), kit.be(x.subarray(20))])
const dynamic = (r) => {
  const f = kit.dynamicFields(r)
  return [f.string, Hex.fromBytes(f.bytes), f.numbers]
}
const decodePair = (data) => {
  const [string, bytes] = Abi.decodeParameters(pairTypes, data)
  return [new Text(string), typeof bytes === 'string' ? Hex.toBytes(bytes) : bytes]
}
const number = (n) => {
  if (!n) return new Uint8Array(0)
  const digits = n.toString(16)
  return Hex.toBytes('0x' + (digits.length % 2 ? '0' : '') + digits)
}
const fields = (r) => {
  const f = kit.transactionFields(r)
  return [f.chainId, f.nonce, f.tip, f.cap, f.gas, f.to, f.value, f.data, f.accessList.map((e) => [e.address, e.storageKeys])]
}
const list = (f) => Rlp.encode(f.map((x) => (typeof x === 'bigint' ? number(x) : x)))
const typedList = (f) => {
  const body = list(f)
  const out = new Uint8Array(body.length + 1)
  out[0] = 2
  out.set(body, 1)
  return out
}
const rlpNumber = (item) => {
  const { data, remainder } = Rlp.decode(item)
  if (remainder.length || data.type !== 'bytes') throw new Error('not one integer')
  return data.value.length ? kit.be(data.value) : 0n
}
const types = { Transfer: [{ name: 'to', type: 'address' }, { name: 'amount', type: 'uint256' }] }
const typed = (item) => {
  const f = kit.typedDataFields(item)
  return {
    domain: { name: f.name, version: f.version, chainId: f.chainId, verifyingContract: Address.fromBytes(f.contract) },
    types, primaryType: 'Transfer', message: { to: Address.fromBytes(f.to), amount: f.amount },
  }
}
kit.run('voltaire', version, {
  secp256k1_sign: op(signPair, signed).wire(whole),
  secp256k1_sign_recover: op(signPair, (p) => Secp256k1.recoverPublicKeyFromHash(Secp256k1.signHash(p.hash, p.key), p.hash)).wire(whole),
  address_derivation: op(same, (key) => Keccak256.hash(key).subarray(12)),
  address_from_hex: each((i) => chunks(i, 42).map(text), (x) => Address.fromHex(x)),
  checksum_address: op((i) => Address.fromBytes(i), (a) => new Characters(String(Address.toChecksummed(a)))).wire((a) => a),
  hex_encode_32b: each((i) => chunks(i, 32), (x) => new Characters(Hex.fromBytes(x), 2)),
  hex_decode_32b: each((i) => chunks(i, 64).map((x) => '0x' + text(x)), (x) => Hex.toBytes(x)).changes('digits@0', (t, w) => setDigits(t, 2, w)),
  abi_encode_static: each(pairs, (args) => Abi.encodeParameters(staticTypes, args)).changes('be@-4', amount),
  abi_encode_dynamic: each((i) => many(i, dynamic), (args) => Abi.encodeParameters(dynamicTypes, args)).changes('digits@4', string),
  abi_decode_uint256: each((i) => chunks(i, 32), (x) => Abi.decodeParameters([{ type: 'uint256' }], x)[0]),
  abi_decode_dynamic: array((i) => many(i, (r) => r.lp()), (rows) => rows.flatMap(decodePair)),
  rlp_encode_eip1559_tx: each((i) => many(i, fields), list).changes('le@56', recipient),
  rlp_encode_eip1559_tx_typed: each((i) => many(i, fields), typedList).changes('le@56', recipient),
  rlp_decode_u256: each((i) => many(i, (r) => r.lp()), (x) => rlpNumber(x)),
  tx_hash_eip1559: op((i) => fields(new kit.Reader(i)), (f) => Keccak256.hash(typedList(f))).changes('le@56', recipient),
  eip712_hash_typed_data: op(typed, (t) => EIP712.hashTypedData(t)).changes('be@-4', (t, w) => ((t.message.amount = setLow(t.message.amount, w)), t)),
  ...kit.keccakRows((m) => Keccak256.hash(m)),
  ...kit.recoverRows(signature, publicKeyOf, (x) => Keccak256.hash(publicKeyOf(x)).subarray(12), (row) => row.wire((x) => x.hash)),
  ...kit.bigintRows,
  secp256k1_public_key: op(same, (key) => Secp256k1.derivePublicKey(key)),
  abi_encode_runtime: op((i) => dynamic(new kit.Reader(i)), (args) => Abi.encodeParameters(dynamicTypes, args)).changes('digits@4', string),
  'neg:hex_decode_32b': kit.neg((i) => Hex.toBytes('0x' + text(i))),
  'neg:address_from_hex': kit.neg((i) => Address.fromHex(text(i))),
  'neg:abi_decode_dynamic': kit.neg(decodePair),
  'neg:rlp_decode_u256': kit.neg(rlpNumber),
})
