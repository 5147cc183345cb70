// npm's secp256k1 (libsecp256k1 as a Node-API module).
import { readFileSync } from 'node:fs'
import secp256k1 from 'secp256k1'
import * as kit from '../../kit/js/kit.mjs'

const { op } = kit
const version = JSON.parse(readFileSync(new URL('./node_modules/secp256k1/package.json', import.meta.url))).version
const parts = (item) => ({ item, hash: item.subarray(0, 32), signature: item.subarray(32, 96), v: item[96] })
const whole = (x) => x.item
const recovered = ({ hash, signature, v }) => secp256k1.ecdsaRecover(signature, v, hash, false).subarray(1)
const signPair = (item) => ({ item, key: item.subarray(0, 32), hash: item.subarray(32, 64) })
const signed = ({ key, hash }) => {
  const out = new Uint8Array(65)
  const { signature, recid } = secp256k1.ecdsaSign(hash, key)
  out.set(signature)
  out[64] = recid
  return out
}
kit.run('secp256k1-node', version, {
  secp256k1_sign: op(signPair, signed).wire(whole),
  secp256k1_sign_recover: op(signPair, (pair) => {
    const { signature, recid } = secp256k1.ecdsaSign(pair.hash, pair.key)
    return secp256k1.ecdsaRecover(signature, recid, pair.hash, false).subarray(1)
  }).wire(whole),
  secp256k1_recover: op(parts, recovered).wire(whole),
  'neg:secp256k1_recover': kit.neg((item) => recovered(parts(item))),
  secp256k1_public_key: op(kit.same, (key) => secp256k1.publicKeyCreate(key, false).subarray(1)),
  secp256k1_verify: op(
    (i) => ({ hash: i.slice(0, 32), signature: secp256k1.signatureNormalize(i.slice(32, 96)), key: Uint8Array.of(4, ...i.subarray(96)) }),
    (x) => Uint8Array.of(secp256k1.ecdsaVerify(x.signature, x.hash, x.key) ? 1 : 0),
  ),
})
