//! Lydite as a contender, used as its users would.

mod bytecode;
mod precompiles;
mod syrup;
mod xmss;

use std::hint::black_box;

use arena_kit::hex::Hex;
use arena_kit::integers::Integers;
use arena_kit::secp256k1::{self as rows, Keys, Recovery};
use arena_kit::{Bytes as Raw, Op, Output, Reader, Sum, array, negative, op, set_digits, set_each};
use lydite::bytes::{Address, B256, Bytes, I256, U256, hex, mul_div};
use lydite::curve::secp256k1::{self, PublicKey, SecretKey, Signature};
use lydite::evm::abi::{self, Codec, Decoded, Mode, Value, ValueRef, Values};
use lydite::evm::eip712::{self, Domain, TypedData};
use lydite::evm::rlp;
use lydite::evm::tx::{self, AccessListItem, Signable, Transaction, TransactionRef, TxEip1559};
use lydite::hash::{cpu, keccak256, keccak256_batch};

lydite::evm::abi_call! {
    struct TransferCall = "transfer" { to: Address, amount: U256 }
}

lydite::evm::typed_struct! {
    struct Transfer {
        to: Address,
        amount: U256,
    }
}

fn main() {
    if let Err(error) = cpu::requested() {
        eprintln!("{}: {error}", cpu::VARIABLE);
        std::process::exit(2);
    }
    let mut ops = hashes();
    ops.extend(curve());
    ops.extend(addresses());
    ops.extend(arena_kit::hex::ops(Lydite));
    ops.extend(abi());
    ops.extend(runtime());
    ops.extend(integers());
    ops.extend(transactions());
    ops.extend(typed_data());
    ops.extend(bytecode::ops());
    ops.extend(precompiles::ops());
    ops.extend(syrup::ops());
    ops.extend(xmss::ops());
    let version = arena_kit::locked_version(include_str!("../../Cargo.lock"), "lydite");
    arena_kit::run("lydite", version, ops);
}

fn hashes() -> Vec<Op> {
    vec![
        op("keccak256", Reader::whole)
            .raw()
            .call(|message| keccak256(message)),
        op("keccak256_batch", |r| {
            <[Raw; 64]>::try_from(r.list(Reader::owned)?).ok()
        })
        .change("le@0", |messages, word| set_each(messages, word))
        .reuse(
            || vec![[0; 32]; 64],
            |messages, out| keccak256_batch(&messages.each_ref().map(|message| &message[..]), out),
        ),
    ]
}

/// The results of a batch and a function that returns the bytes of each (`None` if it was rejected).
struct Batch<T, const N: usize> {
    results: Vec<T>,
    bytes: fn(&T) -> Option<[u8; N]>,
}

impl<T: Clone, const N: usize> Batch<T, N> {
    fn new(bytes: fn(&T) -> Option<[u8; N]>) -> Self {
        Self {
            results: Vec::new(),
            bytes,
        }
    }

    fn resized(&mut self, length: usize, filler: T) -> &mut [T] {
        self.results.resize(length, filler);
        &mut self.results
    }
}

impl<T, const N: usize> Output for Batch<T, N> {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        for result in &self.results {
            (self.bytes)(result).add(sum);
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        let mut results = self.results.iter();
        results.all(|result| (self.bytes)(result).write(out))
    }
}

/// Lydite, for the kit's traits.
#[derive(Clone, Copy)]
struct Lydite;

impl Recovery for Lydite {
    type SigningKey = SecretKey;

    fn signing_key(&self, bytes: &[u8; 32]) -> Option<SecretKey> {
        SecretKey::from_bytes(bytes).ok()
    }

    fn sign(&self, key: &SecretKey, hash: &[u8; 32]) -> Option<[u8; 65]> {
        Some(key.sign_prehash(hash).to_bytes65())
    }

    fn sign_recover(&self, key: &SecretKey, hash: &[u8; 32]) -> Option<[u8; 64]> {
        let key = secp256k1::recover(hash, &key.sign_prehash(hash)).ok()?;
        Some(key.to_bytes())
    }

    fn recover(&self, hash: &[u8; 32], signature: &[u8; 65]) -> Option<[u8; 64]> {
        let signature = Signature::from_bytes65(signature).ok()?;
        Some(secp256k1::recover(hash, &signature).ok()?.to_bytes())
    }
}

impl Keys for Lydite {
    type SecretKey = SecretKey;
    type PublicKey = PublicKey;
    type Signature = Signature;

    fn secret_key(&self, bytes: &[u8; 32]) -> Option<SecretKey> {
        self.signing_key(bytes)
    }

    fn public_key(&self, bytes: &[u8; 64]) -> Option<PublicKey> {
        PublicKey::from_bytes(bytes).ok()
    }

    fn signature(&self, bytes: &[u8; 64]) -> Option<Signature> {
        Some(Signature::from_bytes64(bytes))
    }

    fn verify(&self, key: &PublicKey, hash: &[u8; 32], signature: &Signature) -> bool {
        secp256k1::verify(key, hash, signature).is_ok()
    }

    fn derive(&self, key: &SecretKey) -> Option<[u8; 64]> {
        Some(key.public_key().to_bytes())
    }

    fn ecdh(&self, key: &SecretKey, public_key: &PublicKey) -> Option<[u8; 32]> {
        Some(*key.diffie_hellman(public_key).x())
    }
}

fn curve() -> Vec<Op> {
    let mut ops = rows::recovery(Lydite);
    ops.extend(rows::keys(Lydite));
    ops.extend([
        rows::recover_batch(
            || Batch::new(|address: &Result<Address, _>| address.ok().map(|address| address.0)),
            |hashes, signatures, out| {
                let parsed = signatures.iter().map(Signature::from_bytes65);
                let parsed = parsed.collect::<Result<Vec<_>, _>>().ok()?;
                let addresses = out.resized(hashes.len(), Ok(Address::ZERO));
                secp256k1::recover_address_batch(hashes, &parsed, addresses).ok()
            },
        ),
        rows::verify_batch(
            Lydite,
            || Batch::new(|valid| Some([u8::from(*valid == Ok(()))])),
            |keys, hashes, signatures, out| {
                let valid = out.resized(keys.len(), Ok(()));
                secp256k1::verify_batch(keys, hashes, signatures, valid).ok()
            },
        ),
        rows::sign_batch(
            Lydite,
            || Batch::new(|signature: &Signature| Some(signature.to_bytes65())),
            |keys, hashes, out| {
                let signatures = out.resized(keys.len(), Signature::default());
                secp256k1::sign_prehash_batch(keys, hashes, signatures).ok()
            },
        ),
        rows::public_key_batch(
            Lydite,
            || Batch::new(|key: &PublicKey| Some(key.to_bytes())),
            |keys, out| {
                let public_keys = out.resized(keys.len(), PublicKey::GENERATOR);
                secp256k1::public_key_batch(keys, public_keys).ok()
            },
        ),
    ]);
    ops
}

/// Sets the first four bytes of an address.
fn set_address(address: &mut Address, word: u32) {
    address.0[..4].copy_from_slice(&word.to_le_bytes());
}

fn addresses() -> Vec<Op> {
    vec![
        op("address_derivation", Reader::array)
            .raw()
            .call(|key| Address::from_public_key(key).0),
        array("address_from_hex", Reader::array::<42>)
            .raw()
            .call(|text| Address::from_hex(text).map(|address| address.0)),
        negative("address_from_hex", |text| Address::from_hex(text).is_ok()),
        op("checksum_address", address)
            .change("le@0", set_address)
            .call(|address| address.to_checksum()),
        op("checksum_address_into", address)
            .change("le@0", set_address)
            .reuse(
                || [0; 42],
                |address, out| *out = address.to_checksum_buffer(),
            ),
    ]
}

impl Hex for Lydite {
    type Digits = String;
    type Bytes = Result<Vec<u8>, hex::Error>;

    #[inline(always)]
    fn encode(&self, bytes: impl AsRef<[u8]>) -> Self::Digits {
        hex::encode(bytes)
    }

    #[inline(always)]
    fn encode_into(&self, bytes: impl AsRef<[u8]>, out: &mut [u8]) -> Option<()> {
        hex::encode_to_slice(bytes.as_ref(), out).ok()
    }

    #[inline(always)]
    fn decode(&self, text: impl AsRef<[u8]>) -> Self::Bytes {
        hex::decode(text)
    }

    #[inline(always)]
    fn decode_into(&self, text: impl AsRef<[u8]>, out: &mut [u8]) -> Option<()> {
        hex::decode_to_slice(text, out).ok()
    }
}

/// The hashes of a batch.
struct Hashes(Vec<Result<B256, tx::Error>>);

impl Output for Hashes {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        for hash in self.0.iter().flatten() {
            hash.0.add(sum);
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        let mut hashes = self.0.iter();
        hashes.all(|hash| hash.as_ref().is_ok_and(|hash| hash.0.write(out)))
    }
}

/// A reused buffer and the length that the last call filled.
struct Filled {
    buffer: Vec<u8>,
    length: usize,
}

impl Filled {
    fn new() -> Self {
        Self {
            buffer: vec![0; 1 << 16],
            length: 0,
        }
    }

    /// A buffer for outputs of a megabyte.
    fn large() -> Self {
        Self {
            buffer: vec![0; 1 << 21],
            length: 0,
        }
    }
}

impl Output for Filled {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        (&self.buffer[..self.length]).add(sum);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        (&self.buffer[..self.length]).write(out)
    }
}

/// A tree of dynamic values; every leaf is a part of the output.
struct Tree(Vec<Value>);

fn add_all(values: &[Value], sum: &mut Sum) {
    for value in values {
        match value {
            Value::Uint(number, _) | Value::Int(number, _) => number.limbs().add(sum),
            Value::Address(address) => address.0.add(sum),
            Value::Bool(flag) => [u8::from(*flag)].add(sum),
            Value::FixedBytes(bytes, _) => bytes.add(sum),
            Value::Function(bytes) => bytes.add(sum),
            Value::Bytes(bytes) => bytes.add(sum),
            Value::String(text) => text.add(sum),
            Value::Array(list) | Value::FixedArray(list) | Value::Tuple(list) => add_all(list, sum),
        }
    }
}

fn write_all(values: &[Value], out: &mut Vec<u8>) -> bool {
    values.iter().all(|value| match value {
        Value::Uint(number, _) | Value::Int(number, _) => number.limbs().write(out),
        Value::Address(address) => address.0.write(out),
        Value::Bool(flag) => [u8::from(*flag)].write(out),
        Value::FixedBytes(bytes, _) => bytes.write(out),
        Value::Function(bytes) => bytes.write(out),
        Value::Bytes(bytes) => bytes.write(out),
        Value::String(text) => text.write(out),
        Value::Array(list) | Value::FixedArray(list) | Value::Tuple(list) => write_all(list, out),
    })
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

/// Values that borrow from the encoded data.
struct View<'a>(Values<'a>);

fn add_view(values: Values<'_>, sum: &mut Sum) {
    for value in values {
        match value {
            ValueRef::Uint(number, _) | ValueRef::Int(number, _) => number.limbs().add(sum),
            ValueRef::Address(address) => address.0.add(sum),
            ValueRef::Bool(flag) => [u8::from(flag)].add(sum),
            ValueRef::FixedBytes(bytes) | ValueRef::Bytes(bytes) => bytes.add(sum),
            ValueRef::Function(bytes) => bytes.add(sum),
            ValueRef::String(text) => text.as_bytes().add(sum),
            ValueRef::Array(list) | ValueRef::FixedArray(list) | ValueRef::Tuple(list) => {
                add_view(list, sum);
            }
        }
    }
}

fn to_tree(values: Values<'_>) -> Tree {
    Tree(values.iter().map(Value::from).collect())
}

impl Output for View<'_> {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        add_view(black_box(self.0), sum);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        to_tree(self.0).write(out)
    }
}

/// Values stored in one piece of memory.
struct Flat<'a>(Decoded<'a>);

impl Output for Flat<'_> {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        add_view(black_box(&self.0).values(), sum);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        to_tree(self.0.values()).write(out)
    }
}
fn dynamic_values(r: &mut Reader) -> Option<(String, Bytes, Vec<U256>)> {
    Some((
        r.text()?.to_owned(),
        Bytes(r.bytes()?.to_vec()),
        r.list(be_number)?,
    ))
}

/// Parses a codec that lives as long as the process, as users keep theirs.
fn codec(ty: &str) -> Option<&'static Codec> {
    Some(Box::leak(Box::new(Codec::parse(ty).ok()?)))
}

const DYNAMIC: &str = "(string,bytes,uint256[])";
const STATIC: &str = "(address,uint256,uint64,bool,bytes32,int64)";
const NESTED: &str = "(address,(uint256,string)[],bytes[])";

/// Sets bits 0 to 31 of a dynamic number.
fn set_number(value: &mut Value, word: u32) {
    if let Value::Uint(number, _) = value {
        set_low(number, word);
    }
}

/// A codec and an encoding for it.
type Encoded = (&'static Codec, Raw);

fn dynamic_encoding(r: &mut Reader) -> Option<Encoded> {
    Some((codec(DYNAMIC)?, r.whole()?))
}

fn static_encoding(r: &mut Reader) -> Option<Encoded> {
    Some((codec(STATIC)?, r.take(192)?.into()))
}

fn nested_encoding(r: &mut Reader) -> Option<Encoded> {
    Some((codec(NESTED)?, r.whole()?))
}

fn to_values((codec, data): &Encoded) -> Result<Tree, abi::Error> {
    codec.decode(data).map(Tree)
}

fn to_flat((codec, data): &Encoded) -> Result<Flat<'_>, abi::Error> {
    codec.decode_flat(data).map(Flat)
}

fn to_view((codec, data): &Encoded) -> Result<View<'_>, abi::Error> {
    codec.view(data).map(View)
}

/// The rows of types that are only known at run time.
fn runtime() -> Vec<Op> {
    vec![
        op("abi_encode_runtime", |r| {
            let (text, data, numbers) = dynamic_values(r)?;
            let numbers = numbers
                .into_iter()
                .map(|number| Value::Uint(number, 256))
                .collect();
            let values = vec![
                Value::String(text),
                Value::Bytes(data.0),
                Value::Array(numbers),
            ];
            Some((codec(DYNAMIC)?, values))
        })
        .change("digits@4", |(_, values), word| {
            if let Value::String(text) = &mut values[0] {
                set_digits(text, 0, word);
            }
        })
        .call(|(codec, values)| codec.encode(values)),
        array("abi_encode_runtime_static", |r| {
            let values = vec![
                Value::Address(address(r)?),
                Value::Uint(be_number(r)?, 256),
                Value::Uint(U256::from(u64::from_be_bytes(r.array()?)), 64),
                Value::Bool(r.array()? == [1]),
                Value::FixedBytes(r.array()?, 32),
                Value::Int(I256::from(i64::from_be_bytes(r.array()?)).0, 64),
            ];
            Some((codec(STATIC)?, values))
        })
        .change("be@48", |(_, values), word| {
            set_number(&mut values[1], word)
        })
        .call(|(codec, values)| codec.encode(values)),
        op("abi_encode_runtime_nested", |r| {
            let values = vec![
                Value::Address(address(r)?),
                Value::Array(r.list(|r| {
                    let number = Value::Uint(be_number(r)?, 256);
                    let text = Value::String(r.text()?.to_owned());
                    Some(Value::Tuple(vec![number, text]))
                })?),
                Value::Array(r.list(|r| Some(Value::Bytes(r.bytes()?.to_vec())))?),
            ];
            Some((codec(NESTED)?, values))
        })
        .change("le@0", |(_, values), word| {
            if let Value::Address(address) = &mut values[0] {
                set_address(address, word);
            }
        })
        .call(|(codec, values)| codec.encode(values)),
        op("abi_decode_runtime", dynamic_encoding)
            .raw()
            .call(to_values),
        op("abi_decode_runtime_flat", dynamic_encoding)
            .raw()
            .view(to_flat),
        op("abi_decode_runtime_borrowed", dynamic_encoding)
            .raw()
            .view(to_view),
        array("abi_decode_runtime_static", static_encoding)
            .raw()
            .call(to_values),
        array("abi_decode_runtime_static_flat", static_encoding)
            .raw()
            .view(to_flat),
        array("abi_decode_runtime_static_borrowed", static_encoding)
            .raw()
            .view(to_view),
        op("abi_decode_runtime_nested", nested_encoding)
            .raw()
            .call(to_values),
        op("abi_decode_runtime_nested_flat", nested_encoding)
            .raw()
            .view(to_flat),
        op("abi_decode_runtime_nested_borrowed", nested_encoding)
            .raw()
            .view(to_view),
    ]
}

fn canonical(data: &[u8]) -> Result<(String, Bytes), abi::Error> {
    abi::decode_with(data, Mode::Canonical)
}

fn borrowed(data: &Raw) -> Result<(&[u8], &[u8]), abi::Error> {
    abi::decode::<(&str, &[u8])>(data).map(|(text, data)| (text.as_bytes(), data))
}

fn abi() -> Vec<Op> {
    let values = |r: &mut Reader| Some((address(r)?, be_number(r)?));
    let call = |r: &mut Reader| {
        Some(TransferCall {
            to: address(r)?,
            amount: be_number(r)?,
        })
    };
    vec![
        array("abi_encode_transfer", call)
            .change("be@-4", |call, word| set_low(&mut call.amount, word))
            .call(|call| call.encode_call()),
        array("abi_encode_transfer_into", call)
            .change("be@-4", |call, word| set_low(&mut call.amount, word))
            .reuse(|| [0; 68], |call, out| call.encode_call_into(out).map(drop)),
        array("abi_encode_static", values)
            .change("be@-4", |(_, amount), word| set_low(amount, word))
            .call(abi::encode),
        array("abi_encode_static_into", values)
            .change("be@-4", |(_, amount), word| set_low(amount, word))
            .reuse(
                || [0; 64],
                |values, out| abi::encode_into(values, out).map(drop),
            ),
        array("abi_encode_dynamic", dynamic_values)
            .change("digits@4", |(text, ..), word| set_digits(text, 0, word))
            .call(abi::encode),
        array("abi_encode_dynamic_into", dynamic_values)
            .change("digits@4", |(text, ..), word| set_digits(text, 0, word))
            .reuse(Filled::new, |values, out| {
                out.length = abi::encode_into(values, &mut out.buffer)?;
                Ok::<_, abi::Error>(())
            }),
        array("abi_decode_uint256", Reader::array::<32>)
            .raw()
            .call(|data| abi::decode::<U256>(data).map(|number| *number.limbs())),
        array("abi_decode_dynamic", Reader::owned)
            .raw()
            .call(|data| abi::decode::<(String, Bytes)>(data).map(|(text, data)| (text, data.0))),
        negative("abi_decode_dynamic", |data| {
            abi::decode::<(String, Bytes)>(data).is_ok()
        }),
        array("abi_decode_dynamic_borrowed", Reader::owned)
            .raw()
            .view(borrowed),
        array("abi_decode_dynamic_strict", Reader::owned)
            .raw()
            .call(|data| canonical(data).map(|(text, data)| (text, data.0))),
        negative("abi_decode_dynamic_strict", |data| canonical(data).is_ok()),
    ]
}

/// Applies the rule `be@-4` to an amount: sets bits 0 to 31.
fn set_low(number: &mut U256, word: u32) {
    let mut limbs = *number.limbs();
    arena_kit::set_low(&mut limbs, word);
    *number = U256::from_limbs(limbs);
}

impl Integers for Lydite {
    type Number = U256;

    fn number(limbs: [u64; 4]) -> U256 {
        U256::from_limbs(limbs)
    }

    fn limbs(number: U256) -> [u64; 4] {
        *number.limbs()
    }
}

fn integers() -> Vec<Op> {
    vec![
        Lydite::row("u256_add", |&[a, b]| *a.wrapping_add(b).limbs()),
        Lydite::row("u256_mul", |&[a, b]| *a.wrapping_mul(b).limbs()),
        Lydite::row("u256_div", |&[a, b]| a.checked_div(b).map(Lydite::limbs)),
        Lydite::row("u256_mulDiv", |&[a, b, d]| {
            mul_div(a, b, d).map(Lydite::limbs)
        }),
        Lydite::row("u256_uniswapv2_amount_out", |&[amount, reserve_in, out]| {
            let amount = amount.wrapping_mul(U256::from(997u64));
            let reserve_in = reserve_in.wrapping_mul(U256::from(1000u64));
            let paid = amount
                .wrapping_mul(out)
                .checked_div(reserve_in.wrapping_add(amount));
            paid.map(Lydite::limbs)
        }),
        Lydite::row("u256_uniswapv4_swap", |&[liquidity, price, amount]| {
            let divisor = liquidity.wrapping_add(amount.wrapping_mul(price));
            mul_div(liquidity, price, divisor).map(Lydite::limbs)
        }),
    ]
}

fn transaction(r: &mut Reader) -> Option<TxEip1559> {
    Some(TxEip1559 {
        chain_id: r.u64()?,
        nonce: r.u64()?,
        max_priority_fee_per_gas: r.u128()?,
        max_fee_per_gas: r.u128()?,
        gas_limit: r.u64()?,
        to: Some(address(r)?),
        value: be_number(r)?,
        data: Bytes(r.bytes()?.to_vec()),
        access_list: r.list(|r| {
            Some(AccessListItem {
                address: address(r)?,
                storage_keys: r.list(word)?,
            })
        })?,
    })
}

/// The fields of a transaction that `tx_decode` returns.
#[inline(always)]
fn fields(transaction: &Transaction) -> Result<[u8; 68], tx::Error> {
    macro_rules! of {
        ($signed:ident) => {{
            let tx = &$signed.transaction;
            (Option::from(tx.to), tx.nonce, tx.gas_limit, tx.value)
        }};
    }
    let (to, nonce, gas_limit, value): (Option<Address>, u64, u64, U256) = match transaction {
        Transaction::Legacy(signed) => of!(signed),
        Transaction::Eip2930(signed) => of!(signed),
        Transaction::Eip1559(signed) => of!(signed),
        Transaction::Eip4844(signed) => of!(signed),
        Transaction::Eip7702(signed) => of!(signed),
        // No row has another type.
        other => return Err(tx::Error::UnknownType(other.kind() as u8)),
    };
    let mut out = [0; 68];
    out[..20].copy_from_slice(&to.unwrap_or(Address::ZERO).0);
    out[20..28].copy_from_slice(&nonce.to_le_bytes());
    out[28..36].copy_from_slice(&gas_limit.to_le_bytes());
    out[36..].copy_from_slice(&value.to_le_bytes());
    Ok(out)
}

/// Applies the rule `le@56` to a transaction: sets the first four bytes of its recipient.
fn set_to(tx: &mut TxEip1559, word: u32) {
    if let Some(to) = &mut tx.to {
        set_address(to, word);
    }
}

fn transactions() -> Vec<Op> {
    vec![
        array("rlp_encode_eip1559_tx", transaction)
            .change("le@56", set_to)
            .call(rlp::encode),
        array("rlp_encode_eip1559_tx_typed", transaction)
            .change("le@56", set_to)
            .call(|tx| tx.encode_for_signing()),
        array("rlp_encode_eip1559_tx_into", transaction)
            .change("le@56", set_to)
            .reuse(Filled::new, |tx, out| {
                out.length = rlp::encode_into(tx, &mut out.buffer)?;
                Ok::<_, rlp::Error>(())
            }),
        array("rlp_decode_u256", Reader::owned)
            .raw()
            .call(|data| rlp::decode::<U256>(data).map(|number| *number.limbs())),
        negative("rlp_decode_u256", |data| rlp::decode::<U256>(data).is_ok()),
        op("tx_hash_eip1559", transaction)
            .change("le@56", set_to)
            .call(|tx| tx.signing_hash().0),
        // Owned, like the other contenders' decoders. The rows of hash and sender allow the borrowed view, which is
        // sufficient for them.
        op("tx_decode", |r| Some(r.rest()))
            .call(|raw| Transaction::decode(raw).and_then(|tx| fields(&tx))),
        negative("tx_decode", |raw| Transaction::decode(raw).is_ok()),
        op("tx_hash", |r| Some(r.rest()))
            .call(|raw| TransactionRef::decode(raw).map(|tx| tx.hash().0)),
        op("tx_hash_batch", |r| r.until_empty(Reader::bytes)).reuse(
            || Hashes(vec![Ok(B256::ZERO); 64]),
            |raw, out| tx::hashes(raw, &mut out.0),
        ),
        op("tx_sender", |r| Some(r.rest())).call(|raw| {
            let tx = TransactionRef::decode(raw)?;
            let mut out = [0; 52];
            out[..32].copy_from_slice(&tx.hash().0);
            out[32..].copy_from_slice(&tx.sender()?.0);
            Ok::<_, tx::Error>(out)
        }),
    ]
}

fn message(r: &mut Reader) -> Option<(Transfer, Domain<'static>)> {
    let domain = Domain {
        name: Some(r.text()?),
        version: Some(r.text()?),
        chain_id: Some(U256::from(r.u64()?)),
        verifying_contract: Some(address(r)?),
        salt: None,
    };
    Some((
        Transfer {
            to: address(r)?,
            amount: be_number(r)?,
        },
        domain,
    ))
}

fn typed_data() -> Vec<Op> {
    vec![
        op("eip712_hash_typed_data", message)
            .change("be@-4", |(transfer, _), word| {
                set_low(&mut transfer.amount, word)
            })
            .call(|(transfer, domain)| domain.signing_hash(transfer).0),
        op(
            "eip712_hash_typed_data_cached eip712_hash_typed_data_prepared",
            |r| message(r).map(|(transfer, domain)| (transfer, domain.separator())),
        )
        .change("be@-4", |(transfer, _), word| {
            set_low(&mut transfer.amount, word)
        })
        .call(|(transfer, separator)| eip712::signing_hash(separator, transfer).0),
        op("eip712_hash_typed_data_json", |r| {
            str::from_utf8(r.rest()).ok()
        })
        .call(|json| TypedData::from_json(json).map(|data| data.signing_hash().0)),
    ]
}

fn word(r: &mut Reader) -> Option<B256> {
    r.array().map(|bytes| bytes.into())
}

fn address(r: &mut Reader) -> Option<Address> {
    r.array().map(Address)
}

/// Reads a u256 in ABI order (big-endian).
fn be_number(r: &mut Reader) -> Option<U256> {
    r.array().map(U256::from_be_bytes)
}
