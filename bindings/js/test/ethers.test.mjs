// ethers' own test cases, which are published on npm, against both engines. Left out, because the API has no such
// operation: HD wallets, mnemonics, word lists, JSON wallets, units, bignumber, namehash and nameprep, packed encoding
// (solidity-hashes), ICAP addresses, SHA-512. Every other case is run, except the ones that the tests below name with a
// reason. The package is from ethers 5; the additional test cases of ethers 6 (blobs, authorizations) are not
// published.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import lydite from 'lydite'
import wasm from 'lydite/wasm'

const PACKAGE = '@ethersproject/testcases@5.8.0'
const SHA512 = 'Jx/g2GoLwW0nv3/QpB9/Yfla1TPaqTop2lfa4HTOSGHKk4Q++aGoMUkZG/KrsuNdbHnROrXogjLTMqq6TauQNQ=='
const folder = mkdtempSync(join(tmpdir(), 'lydite-'))
after(() => rmSync(folder, { recursive: true }))
const [{ filename }] = JSON.parse(execFileSync('npm', ['pack', '--json', '--loglevel=error', PACKAGE], { cwd: folder, encoding: 'utf8' }))
const archive = join(folder, filename)
assert.equal(createHash('sha512').update(readFileSync(archive)).digest('base64'), SHA512)
execFileSync('tar', ['xzf', archive], { cwd: folder })
const load = (name) => JSON.parse(gunzipSync(readFileSync(join(folder, `package/testcases/${name}.json.gz`))))

/** A parameter of a contract's JSON interface as a type string. */
const typeOf = ({ type, components }) => (type.startsWith('tuple') ? `(${components.map(typeOf).join(',')})${type.slice(5)}` : type)
const integer = (text) => (text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text))
const same = (text) => text.toLowerCase()
/** A decoded value in the format of the corpus: integers are decimal or hexadecimal text, addresses lower-case. */
const like = (value, expected) => {
  if (Array.isArray(value) && Array.isArray(expected)) return value.map((item, i) => like(item, expected[i]))
  if (typeof value === 'bigint') return integer(expected) === value ? expected : value
  return typeof value === 'string' && same(value) === same(expected) ? expected : value
}
/** A value of the corpus, without its tags. */
const untagged = (item) => {
  if (Array.isArray(item)) return item.map(untagged)
  return item.type === 'tuple' ? item.value.map(untagged) : item.type === 'number' ? BigInt(item.value) : item.value
}
const quantity = (value) => BigInt(value === undefined || value === '0x' ? 0 : value)

for (const api of [lydite, wasm]) {
  const { toHex, fromHex } = api
  const run = (name, count, body) =>
    test(`${api.engine}: ${name}`, () => {
      let done = 0
      for (const item of load(name)) done += body(item) ?? 1
      assert.equal(done, count)
    })

  for (const [file, count] of [['contract-interface', 2045], ['contract-interface-abi2', 1880]])
    run(file, count, ({ name, interface: abi, values, normalizedValues = values, result }) => {
      const { outputs } = JSON.parse(abi).find((item) => item.type === 'function' && item.name === 'test')
      const codec = new api.Codec(`(${outputs.map(typeOf).join(',')})`, { bytes: 'hex' })
      const expected = JSON.parse(normalizedValues).map(untagged)
      assert.equal(toHex(codec.encode(expected)), result, name)
      assert.deepEqual(codec.decode(result), expected, name)
    })

  run('contract-events', 2016, ({ name, interface: abi, topics, data, hashed, normalizedValues }) => {
    const { inputs, anonymous } = JSON.parse(abi).find((item) => item.type === 'event' && item.name === 'testEvent')
    const parameters = inputs.map((input) => `${typeOf(input)}${input.indexed ? ' indexed' : ''} ${input.name}`)
    const event = new api.Event(`event testEvent(${parameters.join(', ')})${anonymous ? ' anonymous' : ''}`, { bytes: 'hex' })
    const found = Object.values(event.decode({ topics, data }))
    // For hashed parameters the corpus has the original value, the log only the hash.
    const expected = normalizedValues.map((value, i) => (hashed[i] ? found[i] : value))
    assert.deepEqual(like(found, expected), expected, name)
  })

  run('contract-signatures', 1880, ({ signature, sigHash }) => assert.equal(toHex(api.selector(signature)), sigHash))

  const DOMAIN = { name: 'string', version: 'string', chainId: 'uint256', verifyingContract: 'address', salt: 'bytes32' }
  run('eip712', 1025, ({ name, domain, types, primaryType, data, encoded, digest, privateKey, signature }) => {
    const fields = Object.keys(DOMAIN).filter((field) => field in domain)
    const EIP712Domain = fields.map((field) => ({ name: field, type: DOMAIN[field] }))
    const { signingHash, structHash } = api.typedData({ types: { ...types, EIP712Domain }, primaryType, domain, message: data })
    assert.equal(toHex(signingHash), digest, name)
    assert.deepEqual(structHash, api.keccak256(encoded), name)
    if (signature === undefined) return
    const signed = api.sign(digest, fromHex(privateKey))
    signed[64] += 27
    assert.equal(toHex(signed), signature, name)
  })

  /** Signs, and compares with the signed transaction of the corpus. */
  const transaction = (name, fields, key, { signed, unsigned, address }) => {
    const decoded = api.decodeTransaction(signed)
    assert.equal(toHex(api.signTransaction(fields, fromHex(key))), signed, name)
    assert.deepEqual(decoded.signingHash, api.keccak256(unsigned), name)
    assert.equal(same(decoded.from), same(address), name)
    assert.equal(api.recoverTransactionSender(signed), decoded.from, name)
    assert.deepEqual(decoded.hash, api.keccak256(signed), name)
    for (const [field, value] of Object.entries(fields))
      if (typeof value === 'bigint') assert.equal(decoded[field], value, `${name}: ${field}`)
    assert.equal(decoded.to === null ? null : same(decoded.to), fields.to, name)
    assert.equal(toHex(decoded.data), fields.data, name)
  }

  // Each without a chain id and for chain 5. 83 of them have a gas limit of 2^64 or more, which is out of range here.
  run('transactions', 2 * (1067 - 83), ({ name, accountAddress, privateKey, to = null, data = '0x', ...item }) => {
    const [nonce, gasPrice, gas, value] = [item.nonce, item.gasPrice, item.gasLimit, item.value].map(quantity)
    for (const [chainId, suffix] of [[undefined, ''], [5n, 'ChainId5']]) {
      const [signed, unsigned] = [item[`signedTransaction${suffix}`], item[`unsignedTransaction${suffix}`]]
      const fields = { type: 0, chainId, nonce, gasPrice, gas, to: to && same(to), value, data }
      if (gas >= 2n ** 64n) assert.throws(() => api.signTransaction(fields, fromHex(privateKey)), { message: 'gas: expected an unsigned integer of at most 64 bits' })
      else transaction(name, fields, privateKey, { signed, unsigned, address: accountAddress })
    }
    return gas >= 2n ** 64n ? 0 : 2
  })

  run('typed-transactions', 1792, ({ name, key, tx: { type, to = null, data = '0x', accessList = [], ...tx }, ...item }) => {
    const fees = (type === 1 ? ['gasPrice'] : ['maxFeePerGas', 'maxPriorityFeePerGas']).map((fee) => [fee, quantity(tx[fee])])
    const [chainId, nonce, gas, value] = [tx.chainId, tx.nonce, tx.gasLimit, tx.value].map(quantity)
    const list = accessList.map((entry) => (Array.isArray(entry) ? { address: entry[0], storageKeys: entry[1] } : entry))
    transaction(name, { type, chainId, nonce, gas, to: to && same(to), value, data, accessList: list, ...Object.fromEntries(fees) }, key, item)
  })

  run('rlp-coder', 61, ({ name, decoded, encoded }) => {
    const hex = (value) => (Array.isArray(value) ? value.map(hex) : toHex(value))
    assert.equal(toHex(api.rlpEncode(decoded)), encoded, name)
    assert.deepEqual(hex(api.rlpDecode(encoded)), decoded, name)
  })

  run('hashes', 516, ({ data, keccak256, sha256 }) => assert.deepEqual([api.keccak256(data), api.sha256(data)].map(toHex), [keccak256, sha256]))

  run('accounts', 1038, ({ name, address, checksumAddress, privateKey }) => {
    assert.equal(api.toChecksumAddress(address), checksumAddress, name)
    if (privateKey) assert.equal(api.publicKeyToAddress(api.publicKey(fromHex(privateKey))), checksumAddress, name)
  })
}
