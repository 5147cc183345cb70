// @noble/hashes and @noble/curves, used directly.
import { readFileSync } from 'node:fs'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import * as kit from '../../kit/js/kit.mjs'

const { chunks, each, op, same, text, Characters } = kit
const version = JSON.parse(readFileSync(new URL('./node_modules/@noble/curves/package.json', import.meta.url))).version
const raw = { prehash: false }
const key64 = (point) => point.toBytes(false).subarray(1)
const publicKeyOf = (item) => {
  const signature = secp256k1.Signature.fromBytes(item.subarray(32, 96), 'compact').addRecoveryBit(item[96])
  return key64(signature.recoverPublicKey(item.subarray(0, 32)))
}
const signPair = (item) => ({ item, key: item.subarray(0, 32), hash: item.subarray(32, 64) })
const whole = (p) => p.item
const recovered = ({ key, hash }) => secp256k1.sign(hash, key, { ...raw, lowS: true, format: 'recovered' })
const signed = (pair) => {
  const signature = recovered(pair) // recovery id first
  const out = new Uint8Array(65)
  out.set(signature.subarray(1))
  out[64] = signature[0]
  return out
}
const signRecover = (pair) => secp256k1.Point.fromBytes(secp256k1.recoverPublicKey(recovered(pair), pair.hash, raw)).toBytes(false).subarray(1)
kit.run('noble', version, {
  secp256k1_sign: op(signPair, signed).wire(whole),
  secp256k1_sign_recover: op(signPair, signRecover).wire(whole),
  address_derivation: op(same, (key) => keccak_256(key).subarray(12)),
  hex_encode_32b: each((i) => chunks(i, 32), (x) => new Characters(bytesToHex(x))),
  hex_decode_32b: each((i) => chunks(i, 64).map(text), (x) => hexToBytes(x)),
  ...kit.keccakRows((m) => keccak_256(m)),
  ...kit.recoverRows(same, publicKeyOf, (item) => keccak_256(publicKeyOf(item)).subarray(12)),
  secp256k1_public_key: op(same, (key) => secp256k1.getPublicKey(key, false).subarray(1)),
  secp256k1_ecdh: op(
    (i) => ({ key: i.subarray(0, 32), publicKey: Uint8Array.of(4, ...i.subarray(32)) }),
    (x) => secp256k1.getSharedSecret(x.key, x.publicKey).subarray(1),
  ).wire((x) => x.key),
  secp256k1_verify: op(
    (i) => ({ hash: i.slice(0, 32), signature: i.slice(32, 96), key: Uint8Array.of(4, ...i.subarray(96)) }),
    (x) => Uint8Array.of(secp256k1.verify(x.signature, x.hash, x.key, { ...raw, lowS: false }) ? 1 : 0),
  ),
  'neg:hex_decode_32b': kit.neg((i) => hexToBytes(text(i))),
})
