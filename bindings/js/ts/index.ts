// The package's entry point: the API on top of the engine for this platform.

import lydite from '#default'
import type * as abi from './abi.js'

export const {
  engine, toHex, fromHex, keccak256, keccak256Batch, sha256, hashMessage, hashTypedData, typedData, toChecksumAddress,
  parseAddress, createAddress, create2Address, sign, signBatch, ecrecover, ecrecoverBatch, recoverPublicKey, verify, verifyBatch,
  publicKey, publicKeyBatch, convertPublicKey, publicKeyToAddress, sharedSecret, selector, eventTopic, Codec, Event, rlpEncode,
  rlpDecode, decodeTransaction, recoverTransactionSender, recoverTransactionSenders, signTransaction, precompile, syrupEncode,
  syrupDecode, syrupContentId, xmssKeyFromSeed, xmssKeyFromBytes, xmssKeyFileCreate, xmssKeyFileAdopt, xmssKeyFileOpen, xmssVerify,
} = lydite
export type Codec = abi.Codec
export type Event = abi.Event

export { LyditeError } from './engine.js'
export type { AddressLike, Bytes, ErrorCode, Hex, Integer } from './engine.js'
export type { AbiInput, AbiValue, CodecOptions, DecodeOptions, Log } from './abi.js'
export { FORKS } from './api.js'
export type { Fork, Lydite, TypedDataHashes } from './api.js'
export type { RlpInput, RlpValue } from './rlp.js'
export type { AccessListItem, Authorization, Transaction, TransactionInput } from './transaction.js'
export { SyrupFloat32, SyrupRecord, SyrupSymbol } from './syrup.js'
export type { SyrupValue } from './syrup.js'
export type { XmssKey, XmssKeyFile, XmssScheme } from './xmss.js'
export default lydite
