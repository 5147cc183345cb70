// ethers on Node.
import { readFileSync } from 'node:fs'
import { AbiCoder, SigningKey, Transaction, TypedDataEncoder, decodeRlp, encodeRlp, getAddress, getBytes, hexlify, keccak256, recoverAddress, toBeArray, toBigInt } from 'ethers'
import * as kit from '../../kit/js/kit.mjs'

const { array, chunks, each, hex, many, op, same, setDigits, setHexBE, setHexLE, setLow, text, Characters, Text } = kit
const version = JSON.parse(readFileSync(new URL('./node_modules/ethers/package.json', import.meta.url))).version

const coder = AbiCoder.defaultAbiCoder()
const signature = (item) => ({
  digest: hex(item.subarray(0, 32)),
  signature: { r: hex(item.subarray(32, 64)), s: hex(item.subarray(64, 96)), yParity: item[96] },
})
const key64 = (key) => '0x' + key.slice(4)
const publicKeyOf = (x) => key64(SigningKey.recoverPublicKey(x.digest, x.signature))
const changeDigest = (x, w) => ({ digest: setHexLE(x.digest, 0, w), signature: x.signature })
const changeHash = (x, w) => ({ key: x.key, hash: setHexLE(x.hash, 0, w) })
const signPair = (item) => ({ key: hex(item.subarray(0, 32)), hash: hex(item.subarray(32, 64)) })
const signed = ({ key, hash }) => {
  const { r, s, yParity } = new SigningKey(key).sign(hash)
  return `${r}${s.slice(2)}0${yParity}`
}
const amount = (row, w) => [row[0], setLow(row[1], w)]
const string = (row, w) => [setDigits(row[0], 0, w), row[1], row[2]]
const dynamicTypes = ['string', 'bytes', 'uint256[]']
const pairTypes = ['string', 'bytes']
const staticTypes = ['address', 'uint256']
const pairs = (item) => chunks(item, 52).map((x) => [hex(x.subarray(0, 20)), kit.be(x.subarray(20))])
const dynamic = (r) => {
  const f = kit.dynamicFields(r)
  return [f.string, f.bytes, f.numbers]
}
const decodePair = (data) => {
  const [string, bytes] = coder.decode(pairTypes, data)
  return [new Text(string), bytes]
}
const decodeDynamic = (data) => {
  const [string, bytes, numbers] = coder.decode(dynamicTypes, data)
  return [new Text(string), bytes, ...numbers]
}
const envelope = (r) => {
  const f = kit.transactionFields(r)
  return Transaction.from({
    type: 2, chainId: f.chainId, nonce: Number(f.nonce), maxPriorityFeePerGas: f.tip, maxFeePerGas: f.cap, gasLimit: f.gas, to: hex(f.to),
    value: f.value, data: hex(f.data), accessList: f.accessList.map((e) => ({ address: hex(e.address), storageKeys: e.storageKeys.map(hex) })),
  })
}
const rlpFields = (r) => {
  const f = kit.transactionFields(r)
  return [f.chainId, f.nonce, f.tip, f.cap, f.gas, f.to, f.value, f.data, f.accessList.map((e) => [e.address, e.storageKeys])]
}
/** encodeRlp does not accept integers. */
const bytesOf = (fields) => fields.map((value) => (typeof value === 'bigint' ? toBeArray(value) : value))
const headOf = (raw) => {
  const t = Transaction.from(raw)
  return kit.transactionHead(t.to, t.nonce, t.gasLimit, t.value)
}
const senderOf = (raw) => {
  const t = Transaction.from(raw)
  return t.hash + t.from.slice(2)
}
const types = { Transfer: [{ name: 'to', type: 'address' }, { name: 'amount', type: 'uint256' }] }
const typed = (item) => {
  const f = kit.typedDataFields(item)
  return [{ name: f.name, version: f.version, chainId: f.chainId, verifyingContract: hex(f.contract) }, types, { to: hex(f.to), amount: f.amount }]
}
kit.run('ethers', version, {
  secp256k1_sign: op(signPair, signed).changes('le@32', changeHash),
  secp256k1_sign_recover: op(signPair, ({ key, hash }) => key64(SigningKey.recoverPublicKey(hash, new SigningKey(key).sign(hash)))).changes('le@32', changeHash),
  address_derivation: op(same, (key) => '0x' + keccak256(key).slice(26)),
  checksum_address: op((i) => hex(i), (address) => new Characters(getAddress(address))).changes('le@0', (t, w) => setHexLE(t, 0, w)),
  address_from_hex: each((i) => chunks(i, 42).map(text), (x) => getBytes(x)),
  hex_encode_32b: each((i) => chunks(i, 32), (x) => new Characters(hexlify(x), 2)),
  hex_decode_32b: each((i) => chunks(i, 64).map((x) => '0x' + text(x)), (x) => getBytes(x)).changes('digits@0', (t, w) => setDigits(t, 2, w)),
  abi_encode_static: each(pairs, (args) => coder.encode(staticTypes, args)).changes('be@-4', amount),
  abi_encode_dynamic: each((i) => many(i, dynamic), (args) => coder.encode(dynamicTypes, args)).changes('digits@4', string),
  abi_decode_uint256: each((i) => chunks(i, 32), (x) => coder.decode(['uint256'], x)[0]),
  abi_decode_dynamic: array((i) => many(i, (r) => r.lp()), (list) => list.flatMap(decodePair)),
  rlp_encode_eip1559_tx: each((i) => many(i, rlpFields), (fields) => encodeRlp(bytesOf(fields))).changes('le@56', (fields, w) => (kit.setLE(fields[5], 0, w), fields)),
  rlp_decode_u256: each((i) => many(i, (r) => r.lp()), (x) => toBigInt(getBytes(decodeRlp(x)))),
  eip712_hash_typed_data: op(typed, (t) => TypedDataEncoder.hash(...t)).changes('be@-4', (t, w) => ((t[2].amount = setLow(t[2].amount, w)), t)),
  // No varied rows: ethers rejects tips above the fee cap. No change rule: setting a recipient hashes it for its
  // checksum.
  rlp_encode_eip1559_tx_typed: each((i) => many(i, envelope), (t) => t.unsignedSerialized),
  tx_hash_eip1559: op((i) => envelope(new kit.Reader(i)), (t) => t.unsignedHash),
  ...kit.keccakRows((m) => keccak256(m)),
  ...kit.recoverRows(signature, publicKeyOf, (x) => recoverAddress(x.digest, x.signature), (row) => row.changes('le@0', changeDigest)),
  secp256k1_public_key: op((i) => hex(i), (key) => key64(new SigningKey(key).publicKey)).changes('be@28', (key, w) => setHexBE(key, 28, w)),
  abi_encode_runtime: op((i) => dynamic(new kit.Reader(i)), (args) => coder.encode(dynamicTypes, args)).changes('digits@4', string),
  abi_decode_runtime: kit.parts(same, decodeDynamic),
  tx_decode: op(hex, headOf),
  tx_hash: op(hex, (raw) => Transaction.from(raw).hash),
  tx_sender: op(hex, senderOf),
  'neg:hex_decode_32b': kit.neg((i) => getBytes('0x' + text(i))),
  'neg:address_from_hex': kit.neg((i) => getAddress(text(i))),
  'neg:abi_decode_dynamic': kit.neg(decodePair),
  'neg:tx_decode': kit.neg((i) => headOf(hex(i))),
})
