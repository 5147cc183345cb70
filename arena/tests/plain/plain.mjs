// Plain loops for arena/tests/plain/check.py: each library as its users call it, without the arena's kit.
// Runs in the contender's folder: plain.mjs <contender>.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const here = pathToFileURL(process.cwd() + '/adapter.mjs').href
const load = (name) => import(import.meta.resolve(name, here))
const pieces = (bytes, size) => Array.from({ length: bytes.length / size }, (_, i) => bytes.slice(i * size, (i + 1) * size))
const hex = (bytes) => '0x' + Buffer.from(bytes).toString('hex')
const text = (bytes) => Buffer.from(bytes).toString()
const number = (bytes) => BigInt(hex(bytes))
const little = (bytes) => number(bytes.slice().reverse())
const halves = (item) => [item.slice(0, 32), item.slice(32)]
const pairs = (item) => pieces(item, 52).map((row) => [hex(row.slice(0, 20)), number(row.slice(20))])
const operands = (item) => pieces(item, 64).map((row) => [little(row.slice(0, 32)), little(row.slice(32))])
const MASK = (1n << 256n) - 1n

/** Rows by contender: how an item is parsed, and what is done with each of its elements. */
const libraries = {
  async noble() {
    const { keccak_256 } = await load('@noble/hashes/sha3.js')
    const { bytesToHex, hexToBytes } = await load('@noble/hashes/utils.js')
    const { secp256k1 } = await load('@noble/curves/secp256k1.js')
    return {
      keccak: keccak_256, encode: bytesToHex, decode: hexToBytes, prefix: '',
      secp256k1_public_key: [(item) => [item], (key) => secp256k1.getPublicKey(key, false)],
    }
  },
  async ethers() {
    const { keccak256, hexlify, getBytes, AbiCoder, SigningKey } = await load('ethers')
    const coder = AbiCoder.defaultAbiCoder()
    return {
      keccak: keccak256, encode: hexlify, decode: getBytes,
      abi: (row) => coder.encode(['address', 'uint256'], row),
      secp256k1_sign: [(item) => [halves(item).map(hex)], ([key, hash]) => new SigningKey(key).sign(hash)],
    }
  },
  async viem() {
    const { keccak256, bytesToHex, hexToBytes, encodeAbiParameters } = await load('viem')
    const types = [{ type: 'address' }, { type: 'uint256' }]
    return {
      keccak: (m) => keccak256(m, 'bytes'), encode: bytesToHex, decode: hexToBytes,
      abi: (row) => encodeAbiParameters(types, row),
    }
  },
  async ox() {
    const { AbiParameters, Bytes, Hash, Hex } = await load('ox')
    if (process.env.OX_ENGINE === 'wasm') await (await load('ox/wasm')).Engine.install()
    const types = AbiParameters.from('address, uint256')
    return {
      keccak: (m) => Hash.keccak256(m, { as: 'Bytes' }), encode: Hex.fromBytes, decode: Bytes.fromHex,
      abi: (row) => AbiParameters.encode(types, row),
    }
  },
  async voltaire() {
    const { Abi, Hex, Keccak256 } = await load('@tevm/voltaire')
    const types = [{ type: 'address' }, { type: 'uint256' }]
    return {
      keccak: Keccak256.hash, encode: Hex.fromBytes, decode: Hex.toBytes, abi: (row) => Abi.encodeParameters(types, row),
    }
  },
  async 'secp256k1-node'() {
    const secp256k1 = (await load('secp256k1')).default
    return {
      secp256k1_sign: [(item) => [halves(item)], ([key, hash]) => secp256k1.ecdsaSign(hash, key)],
      secp256k1_public_key: [(item) => [item], (key) => secp256k1.publicKeyCreate(key, false)],
    }
  },
}
const library = await libraries[process.argv[2]]()
const { prefix = '0x' } = library
const rows = {
  keccak256_32b: [(item) => [item], library.keccak],
  keccak256_1kb: [(item) => [item], library.keccak],
  hex_encode_32b: [(item) => pieces(item, 32), library.encode],
  hex_decode_32b: [(item) => pieces(item, 64).map((row) => prefix + text(row)), library.decode],
  abi_encode_static: [pairs, library.abi],
  u256_add: [operands, ([a, b]) => (a + b) & MASK],
  u256_mul: [operands, ([a, b]) => (a * b) & MASK],
  ...library,
}

// Outputs are read and their words summed, which takes longer than some calls. V8 does not flatten concatenated text
// before it is read.
const buffer = Buffer.alloc(8192)
const limbs = new BigUint64Array(buffer.buffer, buffer.byteOffset, 4)
const words = new Uint32Array(buffer.buffer, buffer.byteOffset, 2048)
let total = 0
const read = (output) => {
  let size = 32
  if (typeof output === 'string') size = buffer.latin1Write(output, 0)
  else if (output instanceof Uint8Array) {
    buffer.set(output)
    size = output.length
  } else if (typeof output === 'bigint') {
    limbs[0] = output
    limbs[1] = output >> 64n
    limbs[2] = output >> 128n
    limbs[3] = output >> 192n
  } else return
  let sum = 0
  for (let at = 0; 4 * at < size; at++) sum += words[at]
  total = (total + sum) % 2 ** 50
}

let items
let call
const run = (n) => {
  const start = process.hrtime.bigint()
  for (let k = 0, at = 0; k < n; k++) {
    const list = items[at]
    for (let i = 0; i < list.length; i++) read(call(list[i]))
    if (++at === items.length) at = 0
  }
  return Number(process.hrtime.bigint() - start)
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const [command, row, path] = line.split(' ')
  if (command !== 'prepare') return void process.stdout.write(JSON.stringify({ ns: run(Number(row)) }) + '\n')
  const [parse, of] = rows[row]
  const data = new Uint8Array(readFileSync(path))
  const view = new DataView(data.buffer)
  items = []
  for (let at = 0; at < data.length; ) {
    const end = at + 4 + view.getUint32(at, true)
    items.push(parse(data.slice(at + 4, end)))
    at = end
  }
  call = of
  process.stdout.write('{}\n')
})
