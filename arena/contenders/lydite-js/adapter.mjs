// Lydite's npm package on Node or Bun, native or, with LYDITE_ENGINE=wasm, as WebAssembly.
import { readFileSync } from 'node:fs'
import * as kit from '../../kit/js/kit.mjs'

const lydite = (await import(process.env.LYDITE_ENGINE === 'wasm' ? 'lydite/wasm' : 'lydite')).default
const { array, chunks, each, hex, many, op, same, setDigits, setLE, setLow, text, word, Characters, Text } = kit
const version = JSON.parse(readFileSync(new URL('./node_modules/lydite/package.json', import.meta.url))).version

const { keccak256 } = lydite
const parts = (item) => ({ hash: item.subarray(0, 32), signature: item.subarray(32, 97) })
const publicKeyOf = ({ hash, signature }) => lydite.recoverPublicKey(hash, signature)
const signPair = (item) => ({ item, key: item.subarray(0, 32), hash: item.subarray(32, 64) })
const whole = (x) => x.item
const amount = (row, w) => [row[0], setLow(row[1], w)]
const string = (row, w) => [setDigits(row[0], 0, w), row[1], row[2]]
const recipient = (f, w) => (setLE(f[5], 0, w), f)
/** Changes the hashes of a batch, which are one of its columns. */
const hashes = (column) => (columns, x) => {
  for (let i = 0; 32 * i < columns[column].length; i++) setLE(columns[column], 32 * i, word(x, i))
  return columns
}
const keys = (list, x) => {
  for (let i = 0; 32 * i < list.length; i++) kit.setBE(list, 32 * i + 28, word(x, i))
  return list
}
const signed = ({ key, hash }) => lydite.sign(hash, key)
const rows = (bytes, size) => chunks(bytes, size)
/** The columns of an item's rows, which is the form that batches take. */
const columns = (item, ...widths) => {
  const width = widths.reduce((a, b) => a + b)
  const count = item.length / width
  let at = 0
  return widths.map((part) => {
    const out = new Uint8Array(count * part)
    for (let i = 0; i < count; i++) out.set(item.subarray(i * width + at, i * width + at + part), i * part)
    at += part
    return out
  })
}

const transferCodec = new lydite.Codec('(address,uint256)')
const pairCodec = new lydite.Codec('(string,bytes)')
const dynamicCodec = new lydite.Codec('(string,bytes,uint256[])')
const uintCodec = new lydite.Codec('uint256')
const selector = lydite.selector('transfer(address,uint256)')
const call = (args) => {
  const out = new Uint8Array(68)
  out.set(selector)
  out.set(transferCodec.encode(args), 4)
  return out
}
const pairs = (item) => chunks(item, 52).map((x) => [hex(x.subarray(0, 20)), kit.be(x.subarray(20))])
const dynamic = (r) => {
  const f = kit.dynamicFields(r)
  return [f.string, f.bytes, f.numbers]
}
const decodePair = (data) => {
  const [string, bytes] = pairCodec.decode(data)
  return [new Text(string), bytes]
}
const decodeDynamic = (data) => {
  const [string, bytes, numbers] = dynamicCodec.decode(data)
  return [new Text(string), bytes, ...numbers]
}
const rlpFields = (r) => {
  const f = kit.transactionFields(r)
  return [f.chainId, f.nonce, f.tip, f.cap, f.gas, f.to, f.value, f.data, f.accessList.map((e) => [e.address, e.storageKeys])]
}
const integer = (bytes) => (bytes.length ? kit.be(bytes) : 0n)
const headOf = (raw) => {
  const t = lydite.decodeTransaction(raw, { sender: false })
  return kit.transactionHead(t.to, t.nonce, t.gas, t.value)
}
const senderOf = (raw) => {
  const t = lydite.decodeTransaction(raw)
  const out = new Uint8Array(52)
  out.set(t.hash)
  out.set(lydite.parseAddress(t.from), 32)
  return out
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
    domain: { name: f.name, version: f.version, chainId: f.chainId, verifyingContract: hex(f.contract) },
    types, primaryType: 'Transfer', message: { to: hex(f.to), amount: f.amount },
  }
}
const messages = (item) => {
  const r = new kit.Reader(item)
  return Array.from({ length: r.u32() }, () => r.lp())
}
kit.run('lydite-js', version, {
  secp256k1_sign: op(signPair, signed).wire(whole),
  secp256k1_sign_recover: op(signPair, (p) => lydite.recoverPublicKey(p.hash, signed(p))).wire(whole),
  secp256k1_recover: op(parts, publicKeyOf).wire((x) => x.hash),
  address_derivation: op(same, (key) => keccak256(key).subarray(12)),
  checksum_address: op(same, (address) => new Characters(lydite.toChecksumAddress(address))),
  address_from_hex: each((i) => chunks(i, 42).map(text), (x) => lydite.fromHex(x)),
  hex_encode_32b: each((i) => chunks(i, 32), (x) => new Characters(lydite.toHex(x), 2)),
  hex_decode_32b: each((i) => chunks(i, 64).map((x) => '0x' + text(x)), (x) => lydite.fromHex(x)).changes('digits@0', (t, w) => setDigits(t, 2, w)),
  abi_encode_transfer: each(pairs, call).changes('be@-4', amount),
  abi_encode_static: each(pairs, (args) => transferCodec.encode(args)).changes('be@-4', amount),
  abi_encode_dynamic: each((i) => many(i, dynamic), (args) => dynamicCodec.encode(args)).changes('digits@4', string),
  abi_decode_uint256: each((i) => chunks(i, 32), (x) => uintCodec.decode(x)[0]),
  abi_decode_dynamic: array((i) => many(i, (r) => r.lp()), (list) => list.flatMap(decodePair)),
  rlp_encode_eip1559_tx: each((i) => many(i, rlpFields), (fields) => lydite.rlpEncode(fields)).changes('le@56', recipient),
  rlp_decode_u256: each((i) => many(i, (r) => r.lp()), (x) => integer(lydite.rlpDecode(x))),
  eip712_hash_typed_data: op(typed, lydite.hashTypedData).changes('be@-4', (t, w) => ((t.message.amount = setLow(t.message.amount, w)), t)),
  eip712_hash_typed_data_json: op(text, lydite.hashTypedData),
  ...kit.keccakRows((m) => keccak256(m)),
  keccak256_batch: array(messages, (list) => rows(lydite.keccak256Batch(list), 32)),
  secp256k1_recover_batch: array((i) => columns(i, 32, 65), ([hashes, signatures]) => rows(lydite.ecrecoverBatch(hashes, signatures).addresses, 20)).changesAll('le@0', hashes(0)),
  secp256k1_sign_batch: array((i) => columns(i, 32, 32), ([keys, hashes]) => rows(lydite.signBatch(hashes, keys), 65)).changesAll('le@32', hashes(1)),
  secp256k1_verify_batch: array((i) => columns(i, 32, 64, 64), ([hashes, signatures, keys]) => rows(lydite.verifyBatch(hashes, signatures, keys), 1)),
  secp256k1_public_key_batch: array(same, (keys) => rows(lydite.publicKeyBatch(keys), 64)).changesAll('be@28', keys),
  secp256k1_public_key: op(same, (key) => lydite.publicKey(key)),
  secp256k1_verify: op(
    (i) => ({ hash: i.slice(0, 32), signature: i.slice(32, 96), key: i.slice(96) }),
    (x) => Uint8Array.of(lydite.verify(x.hash, x.signature, x.key) ? 1 : 0),
  ),
  abi_encode_runtime: op((i) => dynamic(new kit.Reader(i)), (args) => dynamicCodec.encode(args)).changes('digits@4', string),
  abi_decode_runtime: kit.parts(same, decodeDynamic),
  tx_decode: op(same, headOf),
  tx_hash: op(same, (raw) => lydite.decodeTransaction(raw, { sender: false }).hash),
  tx_sender: op(same, senderOf),
  'neg:secp256k1_recover': kit.neg((i) => publicKeyOf(parts(i))),
  'neg:hex_decode_32b': kit.neg((i) => lydite.fromHex('0x' + text(i))),
  'neg:address_from_hex': kit.neg((i) => lydite.parseAddress(text(i))),
  'neg:abi_decode_dynamic': kit.neg(decodePair),
  'neg:rlp_decode_u256': kit.neg((i) => {
    const value = lydite.rlpDecode(i)
    if (!(value instanceof Uint8Array) || value.length > 32 || value[0] === 0) throw new Error('not a u256')
  }),
  'neg:tx_decode': kit.neg(headOf),
})
