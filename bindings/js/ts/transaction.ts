// Transactions.

import { type AddressLike, type Bytes, type Core, type Hex, type Integer, fixedSecret, kindOf, located, unencodable } from './engine.js'
import { TapeReader, type TapeWriter, withTape } from './tape.js'

export interface AccessListItem {
  address: Hex
  storageKeys: Uint8Array[]
}
export interface Authorization {
  chainId: bigint
  address: Hex
  nonce: bigint
  yParity: number
  r: bigint
  s: bigint
}
/** A signed transaction of any type. Fields that the type lacks are undefined. */
export interface Transaction {
  type: 0 | 1 | 2 | 3 | 4
  /** undefined in a legacy transaction without EIP-155 */
  chainId?: bigint
  nonce: bigint
  gasPrice?: bigint
  maxFeePerGas?: bigint
  maxPriorityFeePerGas?: bigint
  gas: bigint
  /** null for contract creation */
  to: Hex | null
  value: bigint
  data: Uint8Array
  accessList?: AccessListItem[]
  maxFeePerBlobGas?: bigint
  blobVersionedHashes?: Uint8Array[]
  authorizationList?: Authorization[]
  /** r, s, v with v 0 or 1 */
  signature: Uint8Array
  hash: Uint8Array
  signingHash: Uint8Array
  /** the address of the signer */
  from?: Hex
}
/** A transaction to sign, with JSON-RPC field names. Without `type`, the type is inferred from the fields. */
export interface TransactionInput {
  type?: 0 | 1 | 2 | 3 | 4
  chainId?: Integer
  nonce: Integer
  gasPrice?: Integer
  maxFeePerGas?: Integer
  maxPriorityFeePerGas?: Integer
  gas: Integer
  to?: AddressLike | null
  value: Integer
  data?: Bytes
  accessList?: readonly { address: AddressLike; storageKeys: readonly Bytes[] }[]
  maxFeePerBlobGas?: Integer
  blobVersionedHashes?: readonly Bytes[]
  authorizationList?: readonly {
    chainId: Integer
    address: AddressLike
    nonce: Integer
    yParity: Integer
    r: Integer
    s: Integer
  }[]
}

const many = <T>(tape: TapeReader, item: () => T): T[] => Array.from({ length: tape.word() }, item)

function readTransaction(core: Core, sender: boolean): Transaction {
  const tape = new TapeReader(core)
  const type = tape.word() as Transaction['type']
  const hasChain = tape.high() === 1
  const chainId = tape.limb()
  const nonce = tape.limb()
  const fee = tape.integer()
  const tip = tape.integer()
  const gas = tape.limb()
  const to = tape.word() === 1 ? tape.address() : null
  const value = tape.integer()
  const data = tape.data()
  const accessList = many(tape, () => ({ address: tape.address(), storageKeys: many(tape, () => tape.fixed(32)) }))
  const maxFeePerBlobGas = tape.integer()
  const blobVersionedHashes = many(tape, () => tape.fixed(32))
  const authorizationList = many(tape, () => ({
    chainId: tape.integer(),
    address: tape.address(),
    nonce: tape.limb(),
    yParity: tape.word(),
    r: tape.integer(),
    s: tape.integer(),
  }))
  return {
    type,
    ...(hasChain && { chainId }),
    nonce,
    ...(type < 2 ? { gasPrice: fee } : { maxFeePerGas: fee, maxPriorityFeePerGas: tip }),
    gas,
    to,
    value,
    data,
    ...(type > 0 && { accessList }),
    ...(type === 3 && { maxFeePerBlobGas, blobVersionedHashes }),
    ...(type === 4 && { authorizationList }),
    signature: tape.fixed(65),
    hash: tape.fixed(32),
    signingHash: tape.fixed(32),
    ...(sender && { from: tape.address() }),
  }
}

/** The fields of each type, in the order in which src/ethereum.rs reads them, which is the order of the
 * transaction's RLP list. */
const KNOWN = [
  ['chainId', 'nonce', 'gasPrice', 'gas', 'to', 'value', 'data'],
  ['chainId', 'nonce', 'gasPrice', 'gas', 'to', 'value', 'data', 'accessList'],
  ['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'data', 'accessList'],
  [
    'chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'data', 'accessList', 'maxFeePerBlobGas',
    'blobVersionedHashes',
  ],
  [
    'chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'data', 'accessList', 'authorizationList',
  ],
] as const
type Field = (typeof KNOWN)[number][number]

function kindOfFields(fields: TransactionInput): unknown {
  if (fields.type !== undefined) return fields.type
  if (fields.authorizationList !== undefined) return 4
  if (fields.blobVersionedHashes !== undefined) return 3
  if (fields.maxFeePerGas !== undefined) return 2
  return fields.accessList !== undefined ? 1 : 0
}

/** The members of an entry. Like with fields, none is dropped silently. */
function membersOf<T extends object>(entry: T, known: readonly (keyof T & string)[], place: string): T {
  if (typeof (entry as unknown) !== 'object' || entry === null) throw unencodable(`${place}: expected an object, found ${kindOf(entry)}`)
  for (const [name, value] of Object.entries(entry))
    if (value !== undefined && !(known as readonly string[]).includes(name)) throw unencodable(`${place}: unknown member ${name}; expected ${known.join(', ')}`)
  return entry
}

function writeTransaction(
  core: Core, tape: TapeWriter, fields: TransactionInput, address: (value: AddressLike, what: string) => Uint8Array,
): void {
  if (typeof fields !== 'object' || fields === null) throw unencodable(`expected a transaction, found ${kindOf(fields)}`)
  const type = kindOfFields(fields)
  if (typeof type !== 'number') throw unencodable(`type: expected a number, found ${kindOf(type)}`)
  const known = KNOWN[type] as readonly Field[] | undefined
  if (!known) throw unencodable(`type: unknown transaction type ${type}; expected 0 to 4`)
  // No field is dropped silently. `from` is known but not signed.
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && name !== 'type' && name !== 'from' && !(known as readonly string[]).includes(name))
      throw unencodable(`${name}: not a field of transaction type ${type}`)
  const integer = (value: Integer | undefined, place: string) => {
    if (value === undefined) throw unencodable(`${place}: missing`)
    try {
      tape.integer(value)
    } catch (error) {
      throw located(place, error)
    }
  }
  const many = <T>(values: readonly T[] | undefined, place: string, write: (value: T, place: string) => void) => {
    if (!Array.isArray(values)) throw unencodable(`${place}: expected an array, found ${kindOf(values)}`)
    const items = [...(values as readonly T[])]
    tape.word(items.length)
    for (let i = 0; i < items.length; i++) write(items[i]!, `${place}[${i}]`)
  }
  const word = (value: Bytes, place: string) => tape.fixed(core.fixed(value, 32, place))
  const write = (name: Field) => {
    switch (name) {
      case 'chainId':
        if (type === 0 && fields.chainId === undefined) return tape.word(0)
        tape.word(1)
        return integer(fields.chainId, name)
      case 'to':
        if (fields.to == null) return tape.word(0)
        tape.word(1)
        return tape.fixed(address(fields.to, name))
      case 'data':
        return tape.data(core.data(fields.data ?? new Uint8Array(), name))
      case 'accessList':
        return many(fields.accessList ?? [], name, (entry, place) => {
          const item = membersOf(entry, ['address', 'storageKeys'], place)
          tape.fixed(address(item.address, `${place}.address`))
          many(item.storageKeys, `${place}.storageKeys`, word)
        })
      case 'blobVersionedHashes':
        return many(fields.blobVersionedHashes, name, word)
      case 'authorizationList':
        return many(fields.authorizationList, name, (entry, place) => {
          const item = membersOf(entry, ['chainId', 'address', 'nonce', 'yParity', 'r', 's'], place)
          integer(item.chainId, `${place}.chainId`)
          tape.fixed(address(item.address, `${place}.address`))
          integer(item.nonce, `${place}.nonce`)
          integer(item.yParity, `${place}.yParity`)
          integer(item.r, `${place}.r`)
          integer(item.s, `${place}.s`)
        })
      default:
        return integer(fields[name], name)
    }
  }
  tape.word(type)
  for (const name of known) write(name)
}

export const transactions = (core: Core, address: (value: AddressLike, what: string) => Uint8Array) => ({
  /** Decodes a signed envelope strictly, and recovers its sender unless disabled, in which case `from` is undefined. */
  decodeTransaction<S extends boolean = true>(raw: Bytes, options?: { sender?: S }): S extends true ? Transaction & { from: Hex } : Transaction {
    const sender = options?.sender !== false
    core.output(core.operations.transactionDecode, core.put(core.data(raw, 'raw'), 'raw'), sender ? 1 : 0)
    return readTransaction(core, sender) as Transaction & { from: Hex }
  },

  /** The sender of a signed envelope. */
  recoverTransactionSender(raw: Bytes): Hex {
    return core.text.ascii(0, core.call(core.operations.transactionSender, core.put(core.data(raw, 'raw'), 'raw'))) as Hex
  },

  /** Signs a transaction and returns its envelope. */
  signTransaction(fields: TransactionInput, secretKey: Uint8Array): Uint8Array {
    const key = fixedSecret(secretKey, 32, 'secret key')
    return withTape((tape) => {
      writeTransaction(core, tape, fields, address)
      try {
        // The getters of the fields, which ran in between, may have detached the key's memory.
        const length = tape.finish(core, fixedSecret(key, 32, 'secret key'))
        return core.slice(core.output(core.operations.transactionSign, length))
      } finally {
        core.wipe(32)
      }
    })
  },
})
