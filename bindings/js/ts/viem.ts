// For viem: `toAccount(account(secretKey))`.

import lydite from '#default'
import type { Lydite } from './api.js'
import { type Hex, secretBytes, unencodable } from './engine.js'
import type { TransactionInput } from './transaction.js'

type Message = string | { raw: Hex | Uint8Array }
type Serializer = (transaction: any, signature?: { r: Hex; s: Hex; yParity: number; v: bigint }) => Hex | Promise<Hex>
interface AuthorizationRequest {
  address?: Hex
  contractAddress?: Hex
  chainId: number
  nonce: number
}

/** The argument of viem's `toAccount`. */
export interface ViemAccount {
  address: Hex
  sign(parameters: { hash: Hex }): Promise<Hex>
  signMessage(parameters: { message: Message }): Promise<Hex>
  signTypedData(parameters: any): Promise<Hex>
  signTransaction(transaction: any, options?: { serializer?: any }): Promise<Hex>
  signAuthorization(request: any): Promise<any>
}

const TYPES: Record<string, 0 | 1 | 2 | 3 | 4> = { legacy: 0, eip2930: 1, eip1559: 2, eip4844: 3, eip7702: 4 }

/** An account that signs with this key: one native call turns the transaction's fields into its envelope. */
export function account(secretKey: Uint8Array | Hex, api: Lydite = lydite): ViemAccount {
  const key = typeof secretKey === 'string' ? secretBytes(secretKey, 'secret key') : secretKey.slice()
  const sign = (hash: Uint8Array | Hex) => api.sign(hash, key)
  /** Hexadecimal text with v 27 or 28. */
  const serialized = (signature: Uint8Array) => {
    signature[64]! += 27
    return api.toHex(signature)
  }
  const parts = (signature: Uint8Array) => ({
    r: api.toHex(signature.subarray(0, 32)),
    s: api.toHex(signature.subarray(32, 64)),
    yParity: signature[64]!,
    v: BigInt(signature[64]! + 27),
  })
  return {
    address: api.publicKeyToAddress(api.publicKey(key)),
    sign: async ({ hash }) => serialized(sign(hash)),
    signMessage: async ({ message }) =>
      serialized(sign(api.hashMessage(typeof message === 'string' ? message : typeof message.raw === 'string' ? api.fromHex(message.raw) : message.raw))),
    signTypedData: async ({ types, primaryType, domain, message }) =>
      serialized(sign(api.hashTypedData({ types, primaryType, domain: domain ?? {}, message }))),
    async signTransaction(transaction, options) {
      if (options?.serializer) {
        // A chain with other transaction types has a custom serializer.
        const serializer = options.serializer as Serializer
        return serializer(transaction, parts(sign(api.keccak256(await serializer(transaction)))))
      }
      return api.toHex(api.signTransaction(fields(transaction), key))
    },
    async signAuthorization(request: AuthorizationRequest) {
      const address = request.address ?? request.contractAddress
      const { chainId, nonce } = request
      if (!address) throw unencodable('address: missing')
      const body = api.rlpEncode([chainId, address, nonce])
      const payload = new Uint8Array(1 + body.length)
      payload[0] = 5
      payload.set(body, 1)
      return { address, chainId, nonce, ...parts(sign(api.keccak256(payload))) }
    },
  }
}

/** Converts viem's fields to those of `signTransaction`: missing fields are 0, like in viem. */
function fields(transaction: any): TransactionInput {
  const {
    type: name, sidecars, blobs, authorizationList, chainId, nonce = 0, gas = 0n, to, value = 0n, data, accessList, gasPrice,
    maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas, blobVersionedHashes,
  } = transaction
  if (sidecars || blobs) throw unencodable('blobs are not part of the envelope: pass viem’s serializer, or only their hashes')
  let type = name === undefined ? undefined : TYPES[name as string]
  if (name !== undefined && type === undefined) throw unencodable(`type: unknown transaction type ${String(name)}; expected one of ${Object.keys(TYPES).join(', ')}`)
  if (type === undefined) {
    if (authorizationList) type = 4
    else if (blobVersionedHashes || maxFeePerBlobGas) type = 3
    else if (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined) type = 2
    else if (gasPrice === undefined) throw unencodable('type: cannot be inferred from the fields')
    else type = accessList ? 1 : 0
  }
  const fees =
    type < 2 ? { gasPrice: gasPrice ?? 0n } : { maxFeePerGas: maxFeePerGas ?? 0n, maxPriorityFeePerGas: maxPriorityFeePerGas ?? 0n }
  return {
    type, chainId, nonce, ...fees, gas, to, value, data,
    ...(type > 0 && { accessList: accessList ?? [] }),
    ...(type === 3 && { maxFeePerBlobGas: maxFeePerBlobGas ?? 0n, blobVersionedHashes }),
    ...(type === 4 && {
      authorizationList: (authorizationList as { address?: Hex; contractAddress?: Hex; chainId: number; nonce: number; yParity: number; v?: bigint; r: Hex; s: Hex }[]).map(
        ({ address, contractAddress, chainId, nonce, yParity, v, r, s }) => ({
          address: (address ?? contractAddress)!, chainId, nonce, yParity: yParity ?? Number(v! - 27n), r: BigInt(r), s: BigInt(s),
        }),
      ),
    }),
  }
}
