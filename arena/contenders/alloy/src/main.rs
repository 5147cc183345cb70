//! alloy at its best: `sol!` types instead of dynamic values, libsecp256k1 instead of k256, assembly Keccak, and reused
//! buffers if its interfaces accept one.

use std::hint::black_box;

use alloy_consensus::transaction::SignerRecoverable;
use alloy_consensus::{
    EthereumTxEnvelope, SignableTransaction, Transaction, TxEip1559, TxEip4844, crypto,
};
use alloy_dyn_abi::{DynSolType, DynSolValue, TypedData};
use alloy_eips::eip2718::{Decodable2718, Eip2718Error};
use alloy_eips::eip2930::{AccessList, AccessListItem};
use alloy_primitives::{Address, B256, Bytes, I256, Signature, TxKind, U256, hex, keccak256};
use alloy_rlp::Encodable;
use alloy_sol_types::abi::AbiDecoderConfig;
use alloy_sol_types::abi::token::PackedSeqToken;
use alloy_sol_types::{Eip712Domain, SolCall, SolStruct, SolValue, sol};
use arena_kit::hex::Hex;
use arena_kit::secp256k1::{self, Recovery};
use arena_kit::{
    Bytes as Raw, Held, Op, Output, Reader, Sum, array, negative, op, set_digits, set_each,
};

sol! {
    function transfer(address to, uint256 amount);
    function dynamic(string text, bytes data, uint256[] numbers);

    struct Transfer {
        address to;
        uint256 amount;
    }
}

type Envelope = EthereumTxEnvelope<TxEip4844>;

fn main() {
    let mut ops = hashes();
    ops.extend(curve());
    ops.extend(addresses());
    ops.extend(arena_kit::hex::ops(Alloy));
    ops.extend(abi());
    ops.extend(runtime());
    ops.extend(transactions());
    ops.extend(typed_data());
    let version = arena_kit::locked_version(include_str!("../../Cargo.lock"), "alloy-primitives");
    arena_kit::run("alloy", version, ops);
}

fn hashes() -> Vec<Op> {
    vec![
        op("keccak256", Reader::whole)
            .raw()
            .call(|message| keccak256(message).0),
        op("keccak256_batch", |r| r.list(Reader::owned))
            .change("le@0", |messages, word| set_each(messages, word))
            .reuse(
                || vec![[0; 32]; 64],
                |messages, out| {
                    for (message, out) in messages.iter().zip(out) {
                        *out = keccak256(message).0;
                    }
                },
            ),
    ]
}

/// Sets the first four bytes of an address.
fn set_address(address: &mut Address, word: u32) {
    address[..4].copy_from_slice(&word.to_le_bytes());
}

/// Applies the rule `be@-4` to an amount: bits 0 to 31.
fn set_low(number: &mut U256, word: u32) {
    let mut limbs = number.into_limbs();
    arena_kit::set_low(&mut limbs, word);
    *number = U256::from_limbs(limbs);
}

/// Applies the rule `le@56` to a transaction: sets the first four bytes of its recipient.
fn set_to(tx: &mut TxEip1559, word: u32) {
    if let TxKind::Call(to) = &mut tx.to {
        set_address(to, word);
    }
}

/// alloy, for the kit's traits.
#[derive(Clone, Copy)]
struct Alloy;

/// `from_raw_array` would also accept v = 27 and above.
fn signature(bytes: &[u8; 65]) -> Option<Signature> {
    let v = bytes[64];
    (v <= 1).then(|| Signature::from_bytes_and_parity(&bytes[..64], v == 1))
}

impl Recovery for Alloy {
    type SigningKey = B256;

    fn signing_key(&self, bytes: &[u8; 32]) -> Option<B256> {
        Some(B256::new(*bytes))
    }

    fn sign(&self, key: &B256, hash: &[u8; 32]) -> Option<[u8; 65]> {
        let signature = crypto::secp256k1::sign_message(*key, hash.into()).ok()?;
        Some(signature.as_rsy())
    }

    fn sign_recover(&self, key: &B256, hash: &[u8; 32]) -> Option<[u8; 64]> {
        let hash = hash.into();
        let signature = crypto::secp256k1::sign_message(*key, hash).ok()?;
        let key = signature.recover_from_prehash_secp256k1(&hash).ok()?;
        key.serialize_uncompressed().last_chunk().copied()
    }

    fn recover(&self, hash: &[u8; 32], bytes: &[u8; 65]) -> Option<[u8; 64]> {
        let signature = signature(bytes)?;
        let key = signature.recover_from_prehash_secp256k1(hash.into()).ok()?;
        key.serialize_uncompressed().last_chunk().copied()
    }
}

fn curve() -> Vec<Op> {
    let mut ops = secp256k1::recovery(Alloy);
    ops.push(secp256k1::recover_loop(|hash, bytes| {
        let address = signature(bytes)?.recover_address_from_prehash(hash.into());
        Some(*address.ok()?.0)
    }));
    ops
}

impl Hex for Alloy {
    type Digits = String;
    type Bytes = Result<Vec<u8>, hex::FromHexError>;

    fn encode(&self, bytes: impl AsRef<[u8]>) -> Self::Digits {
        hex::encode(bytes)
    }

    fn encode_into(&self, bytes: impl AsRef<[u8]>, out: &mut [u8]) -> Option<()> {
        hex::encode_to_slice(bytes, out).ok()
    }

    fn decode(&self, text: impl AsRef<[u8]>) -> Self::Bytes {
        hex::decode(text)
    }

    fn decode_into(&self, text: impl AsRef<[u8]>, out: &mut [u8]) -> Option<()> {
        hex::decode_to_slice(text, out).ok()
    }
}

fn addresses() -> Vec<Op> {
    vec![
        op("address_derivation", |r| r.array::<64>())
            .raw()
            .call(|key| *Address::from_raw_public_key(key).0),
        array("address_from_hex", |r| {
            str::from_utf8(r.take(42)?).ok().map(str::to_owned)
        })
        .change("digits@2", |text, word| set_digits(text, 2, word))
        .call(|text| text.parse::<Address>().map(|address| *address.0)),
        negative("address_from_hex", |item| {
            str::from_utf8(item).is_ok_and(|text| text.parse::<Address>().is_ok())
        }),
        op("checksum_address", address)
            .change("le@0", set_address)
            .call(|address| address.to_checksum(None)),
        op("checksum_address_into", address)
            .change("le@0", set_address)
            .reuse(
                || [0u8; 42],
                |address, out| {
                    let _ = address.to_checksum_raw(out, None);
                },
            ),
    ]
}

/// A tree of dynamic values; every leaf is a part of the output.
struct Tree(DynSolValue);

fn add_all(value: &DynSolValue, sum: &mut Sum) {
    match value {
        DynSolValue::Uint(number, _) => number.into_limbs().add(sum),
        DynSolValue::Int(number, _) => number.into_raw().into_limbs().add(sum),
        DynSolValue::Address(address) => address.0.0.add(sum),
        DynSolValue::Bool(flag) => [u8::from(*flag)].add(sum),
        DynSolValue::FixedBytes(word, _) => word.0.add(sum),
        DynSolValue::Function(bytes) => bytes.0.0.add(sum),
        DynSolValue::Bytes(bytes) => bytes.add(sum),
        DynSolValue::String(text) => text.add(sum),
        DynSolValue::Array(list) | DynSolValue::FixedArray(list) | DynSolValue::Tuple(list) => {
            list.iter().for_each(|value| add_all(value, sum));
        }
        DynSolValue::CustomStruct { .. } => {}
    }
}

fn write_all(value: &DynSolValue, out: &mut Vec<u8>) -> bool {
    match value {
        DynSolValue::Uint(number, _) => number.into_limbs().write(out),
        DynSolValue::Int(number, _) => number.into_raw().into_limbs().write(out),
        DynSolValue::Address(address) => address.0.0.write(out),
        DynSolValue::Bool(flag) => [u8::from(*flag)].write(out),
        DynSolValue::FixedBytes(word, _) => word.0.write(out),
        DynSolValue::Function(bytes) => bytes.0.0.write(out),
        DynSolValue::Bytes(bytes) => bytes.write(out),
        DynSolValue::String(text) => text.write(out),
        DynSolValue::Array(list) | DynSolValue::FixedArray(list) | DynSolValue::Tuple(list) => {
            list.iter().all(|value| write_all(value, out))
        }
        DynSolValue::CustomStruct { .. } => false,
    }
}

impl Output for Tree {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        add_all(black_box(&self.0), sum);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        write_all(&self.0, out)
    }
}

fn dynamic_values(r: &mut Reader) -> Option<(String, Bytes, Vec<U256>)> {
    let text = r.text()?.to_owned();
    let data = Bytes::copy_from_slice(r.bytes()?);
    Some((text, data, r.list(be_number)?))
}

fn plan(ty: &str) -> Option<DynSolType> {
    DynSolType::parse(ty).ok()
}

const DYNAMIC: &str = "(string,bytes,uint256[])";
const STATIC: &str = "(address,uint256,uint64,bool,bytes32,int64)";
const NESTED: &str = "(address,(uint256,string)[],bytes[])";

/// The rows of types that are only known at run time. In all of them alloy decodes to a tree of its values.
fn runtime() -> Vec<Op> {
    vec![
        op("abi_encode_runtime", |r| {
            let (text, data, numbers) = dynamic_values(r)?;
            let numbers = numbers
                .into_iter()
                .map(|number| DynSolValue::Uint(number, 256))
                .collect();
            let values = vec![
                text.into(),
                DynSolValue::Bytes(data.to_vec()),
                DynSolValue::Array(numbers),
            ];
            Some(DynSolValue::Tuple(values))
        })
        .change("digits@4", |value, word| {
            if let DynSolValue::Tuple(values) = value
                && let DynSolValue::String(text) = &mut values[0]
            {
                set_digits(text, 0, word);
            }
        })
        .call(DynSolValue::abi_encode_params),
        array("abi_encode_runtime_static", |r| {
            let values = vec![
                DynSolValue::Address(address(r)?),
                DynSolValue::Uint(be_number(r)?, 256),
                DynSolValue::Uint(U256::from(u64::from_be_bytes(r.array()?)), 64),
                DynSolValue::Bool(r.array()? == [1]),
                DynSolValue::FixedBytes(word(r)?, 32),
                DynSolValue::Int(I256::try_from(i64::from_be_bytes(r.array()?)).ok()?, 64),
            ];
            Some(DynSolValue::Tuple(values))
        })
        .change("be@48", |value, word| {
            if let DynSolValue::Tuple(values) = value
                && let DynSolValue::Uint(number, _) = &mut values[1]
            {
                set_low(number, word);
            }
        })
        .call(DynSolValue::abi_encode_params),
        op("abi_encode_runtime_nested", |r| {
            let values = vec![
                DynSolValue::Address(address(r)?),
                DynSolValue::Array(r.list(|r| {
                    let number = DynSolValue::Uint(be_number(r)?, 256);
                    let text = DynSolValue::String(r.text()?.to_owned());
                    Some(DynSolValue::Tuple(vec![number, text]))
                })?),
                DynSolValue::Array(r.list(|r| Some(DynSolValue::Bytes(r.bytes()?.to_vec())))?),
            ];
            Some(DynSolValue::Tuple(values))
        })
        .change("le@0", |value, word| {
            if let DynSolValue::Tuple(values) = value
                && let DynSolValue::Address(address) = &mut values[0]
            {
                set_address(address, word);
            }
        })
        .call(DynSolValue::abi_encode_params),
        op(
            "abi_decode_runtime abi_decode_runtime_flat abi_decode_runtime_borrowed",
            |r| Some((plan(DYNAMIC)?, r.whole()?)),
        )
        .raw()
        .call(|(plan, data)| plan.abi_decode_params(data).map(Tree)),
        array(
            "abi_decode_runtime_static abi_decode_runtime_static_flat abi_decode_runtime_static_borrowed",
            |r| Some((plan(STATIC)?, Raw::from(r.take(192)?))),
        )
        .raw()
        .call(|(plan, data)| plan.abi_decode_params(data).map(Tree)),
        op(
            "abi_decode_runtime_nested abi_decode_runtime_nested_flat abi_decode_runtime_nested_borrowed",
            |r| Some((plan(NESTED)?, r.whole()?)),
        )
        .raw()
        .call(|(plan, data)| plan.abi_decode_params(data).map(Tree)),
    ]
}

fn decode_borrowed(data: &Raw) -> Option<(&[u8], &[u8])> {
    let (text, bytes): (PackedSeqToken, PackedSeqToken) =
        alloy_sol_types::abi::decode_params(data).ok()?;
    let text = str::from_utf8(text.0).ok()?;
    Some((text.as_bytes(), bytes.0))
}

fn pair((text, data): (String, Bytes)) -> (String, Held<Bytes>) {
    (text, Held(data))
}

fn canonical(data: &[u8]) -> Result<(String, Bytes), alloy_sol_types::Error> {
    <(String, Bytes)>::abi_decode_params_with_config(data, AbiDecoderConfig::new().strict(true))
}

fn abi() -> Vec<Op> {
    let static_values = |r: &mut Reader| Some((address(r)?, be_number(r)?));
    let call = |r: &mut Reader| {
        Some(transferCall {
            to: address(r)?,
            amount: be_number(r)?,
        })
    };
    vec![
        array("abi_encode_transfer", call)
            .change("be@-4", |call, word| set_low(&mut call.amount, word))
            .call(transferCall::abi_encode),
        array("abi_encode_transfer_into", call)
            .change("be@-4", |call, word| set_low(&mut call.amount, word))
            .reuse(Vec::new, |call, out| {
                out.clear();
                out.extend(transferCall::SELECTOR);
                call.abi_encode_raw(out);
            }),
        array("abi_encode_static", static_values)
            .change("be@-4", |(_, amount), word| set_low(amount, word))
            .call(|values| values.abi_encode_params()),
        array("abi_encode_static_into", call)
            .change("be@-4", |call, word| set_low(&mut call.amount, word))
            .reuse(Vec::new, |call, out| {
                out.clear();
                call.abi_encode_raw(out);
            }),
        array("abi_encode_dynamic", dynamic_values)
            .change("digits@4", |(text, ..), word| set_digits(text, 0, word))
            .call(|values| values.abi_encode_params()),
        array("abi_encode_dynamic_into", |r| {
            dynamic_values(r).map(|(text, data, numbers)| dynamicCall {
                text,
                data,
                numbers,
            })
        })
        .change("digits@4", |call, word| set_digits(&mut call.text, 0, word))
        .reuse(Vec::new, |call, out| {
            out.clear();
            call.abi_encode_raw(out);
        }),
        array("abi_decode_uint256", |r| r.array::<32>())
            .raw()
            .call(|data| U256::abi_decode(data).map(U256::into_limbs)),
        array("abi_decode_dynamic", Reader::owned)
            .raw()
            .call(|data| <(String, Bytes)>::abi_decode_params(data).map(pair)),
        negative("abi_decode_dynamic", |data| {
            <(String, Bytes)>::abi_decode_params(data).is_ok()
        }),
        array("abi_decode_dynamic_borrowed", Reader::owned)
            .raw()
            .view(decode_borrowed),
        array("abi_decode_dynamic_strict", Reader::owned)
            .raw()
            .call(|data| canonical(data).map(pair)),
        negative("abi_decode_dynamic_strict", |data| canonical(data).is_ok()),
    ]
}

/// A hash and the buffer for its preimage.
#[derive(Default)]
struct Hashed {
    hash: [u8; 32],
    preimage: Vec<u8>,
}

impl Output for Hashed {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        self.hash.add(sum);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.hash.write(out)
    }
}

fn transaction(r: &mut Reader) -> Option<TxEip1559> {
    Some(TxEip1559 {
        chain_id: r.u64()?,
        nonce: r.u64()?,
        max_priority_fee_per_gas: r.u128()?,
        max_fee_per_gas: r.u128()?,
        gas_limit: r.u64()?,
        to: TxKind::Call(address(r)?),
        value: be_number(r)?,
        input: Bytes::copy_from_slice(r.bytes()?),
        access_list: AccessList(r.list(|r| {
            Some(AccessListItem {
                address: address(r)?,
                storage_keys: r.list(word)?,
            })
        })?),
    })
}

fn transactions() -> Vec<Op> {
    vec![
        array("rlp_encode_eip1559_tx", transaction)
            .change("le@56", set_to)
            .call(|tx| alloy_rlp::encode(tx)),
        array("rlp_encode_eip1559_tx_typed", transaction)
            .change("le@56", set_to)
            .call(TxEip1559::encoded_for_signing),
        array("rlp_encode_eip1559_tx_into", transaction)
            .change("le@56", set_to)
            .reuse(Vec::new, |tx, out| {
                out.clear();
                tx.encode(out);
            }),
        array("rlp_decode_u256", Reader::owned)
            .raw()
            .call(|data| alloy_rlp::decode_exact::<U256>(data).map(U256::into_limbs)),
        negative("rlp_decode_u256", |data| {
            alloy_rlp::decode_exact::<U256>(data).is_ok()
        }),
        op("tx_hash_eip1559", transaction)
            .change("le@56", set_to)
            .reuse(Hashed::default, |tx, hashed| {
                hashed.preimage.clear();
                tx.encode_for_signing(&mut hashed.preimage);
                hashed.hash = keccak256(&hashed.preimage).0;
            }),
        op("tx_decode", |r| Some(r.rest())).call(|raw| {
            let tx = Envelope::decode_2718_exact(raw)?;
            let to = tx.to().unwrap_or_default();
            Ok::<_, Eip2718Error>(Fields {
                to,
                nonce: tx.nonce(),
                gas_limit: tx.gas_limit(),
                value: tx.value(),
            })
        }),
        negative("tx_decode", |raw| Envelope::decode_2718_exact(raw).is_ok()),
        op("tx_hash", |r| Some(r.rest())).call(|raw| {
            Envelope::decode_2718_exact(raw)?;
            Ok::<_, Eip2718Error>(keccak256(raw).0)
        }),
        op("tx_hash_batch", |r| r.until_empty(Reader::bytes)).reuse(
            Vec::new,
            |list, out: &mut Vec<[u8; 32]>| {
                out.clear();
                for raw in list {
                    Envelope::decode_2718_exact(raw)?;
                    out.push(keccak256(raw).0);
                }
                Ok::<_, Eip2718Error>(())
            },
        ),
        op("tx_sender", |r| Some(r.rest())).call(|raw| {
            let tx = Envelope::decode_2718_exact(raw).ok()?;
            let mut out = [0; 52];
            out[..32].copy_from_slice(&keccak256(raw)[..]);
            out[32..].copy_from_slice(&tx.recover_signer().ok()?[..]);
            Some(out)
        }),
    ]
}

/// The fields of a transaction that `tx_decode` returns.
struct Fields {
    to: Address,
    nonce: u64,
    gas_limit: u64,
    value: U256,
}

impl Fields {
    #[inline(always)]
    fn bytes(&self) -> [u8; 68] {
        let mut bytes = [0; 68];
        bytes[..20].copy_from_slice(&self.to[..]);
        bytes[20..28].copy_from_slice(&self.nonce.to_le_bytes());
        bytes[28..36].copy_from_slice(&self.gas_limit.to_le_bytes());
        bytes[36..].copy_from_slice(&self.value.to_le_bytes::<32>());
        bytes
    }
}

impl Output for Fields {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        self.bytes().add(sum);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.bytes().write(out)
    }
}

fn message(r: &mut Reader) -> Option<(Transfer, Eip712Domain)> {
    let (name, version) = (r.text()?.into(), r.text()?.into());
    let chain_id = U256::from(r.u64()?);
    let domain = Eip712Domain::new(
        Some(name),
        Some(version),
        Some(chain_id),
        Some(address(r)?),
        None,
    );
    Some((
        Transfer {
            to: address(r)?,
            amount: be_number(r)?,
        },
        domain,
    ))
}

/// The code of a user who has the separator, because `eip712_signing_hash` takes the domain and hashes it again.
#[inline(always)]
fn signing_hash(separator: &B256, message: &B256) -> [u8; 32] {
    let mut preimage = [0; 66];
    preimage[..2].copy_from_slice(&[0x19, 0x01]);
    preimage[2..34].copy_from_slice(&separator[..]);
    preimage[34..].copy_from_slice(&message[..]);
    keccak256(preimage).0
}

fn typed_data() -> Vec<Op> {
    vec![
        op("eip712_hash_typed_data", message)
            .change("be@-4", |(transfer, ..), word| {
                set_low(&mut transfer.amount, word)
            })
            .call(|(transfer, domain)| transfer.eip712_signing_hash(domain).0),
        // Each call computes the type hash, because the typed interface cannot store it.
        op("eip712_hash_typed_data_prepared", |r| {
            let (transfer, domain) = message(r)?;
            Some((transfer, domain.separator()))
        })
        .change("be@-4", |(transfer, _), word| {
            set_low(&mut transfer.amount, word)
        })
        .call(|(transfer, separator)| signing_hash(separator, &transfer.eip712_hash_struct())),
        op("eip712_hash_typed_data_cached", |r| {
            let (transfer, domain) = message(r)?;
            let type_hash = transfer.eip712_type_hash();
            Some((transfer, type_hash, domain.separator()))
        })
        .change("be@-4", |(transfer, ..), word| {
            set_low(&mut transfer.amount, word)
        })
        .call(|(transfer, type_hash, separator)| {
            // `eip712_signing_hash` cannot use cached hashes, so this is the code that a user writes instead.
            let mut data = [0; 96];
            data[..32].copy_from_slice(&type_hash[..]);
            data[44..64].copy_from_slice(&transfer.to[..]);
            data[64..].copy_from_slice(&transfer.amount.to_be_bytes::<32>());
            signing_hash(separator, &keccak256(data))
        }),
        op("eip712_hash_typed_data_json", |r| Some(r.rest())).call(|json| {
            Some(
                serde_json::from_slice::<TypedData>(json)
                    .ok()?
                    .eip712_signing_hash()
                    .ok()?
                    .0,
            )
        }),
    ]
}

fn word(r: &mut Reader) -> Option<B256> {
    r.array().map(B256::new)
}

fn address(r: &mut Reader) -> Option<Address> {
    r.array().map(Address::new)
}

/// Reads a u256 in ABI order (big-endian).
fn be_number(r: &mut Reader) -> Option<U256> {
    r.array().map(U256::from_be_bytes::<32>)
}
