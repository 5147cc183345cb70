//! Reference outputs, computed by slow readable code that shares nothing with the library under test: tiny-keccak,
//! k256, num-bigint, and encoders written from the specifications. All of it is tested against `vectors/`.

use anyhow::{Context as _, Result, bail, ensure};
use k256::ecdsa::{
    RecoveryId, Signature, SigningKey, VerifyingKey, signature::hazmat::PrehashVerifier,
};
use k256::{PublicKey, SecretKey, elliptic_curve::sec1::ToSec1Point as _};
use num_bigint::BigUint;
use serde_json::Value;
use tiny_keccak::{Hasher as _, Keccak};

use crate::{alloy, syrup};

/// The expected output of one call: what `verify` must write, and what `run` must add to its checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The output blob.
    pub bytes: Vec<u8>,
    /// Wrapping sum of its 64-bit words, with each part zero-padded separately.
    pub sum: u64,
}

impl Expected {
    /// The output consisting of these parts.
    pub fn of(parts: &[Vec<u8>]) -> Self {
        Self {
            sum: parts
                .iter()
                .fold(0, |sum, part| sum.wrapping_add(word_sum(part))),
            bytes: parts.concat(),
        }
    }
}

/// Wrapping sum of the little-endian 64-bit words of one part, zero-padded to whole words.
pub fn word_sum(part: &[u8]) -> u64 {
    part.chunks(8).fold(0, |sum, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum.wrapping_add(u64::from_le_bytes(word))
    })
}

/// The expected checksum of `n` calls over these items, where call `k` works on item `k mod items`.
pub fn predict(expected: &[Expected], n: u64) -> u64 {
    let items = expected.len() as u64;
    let sum = |items: &[Expected]| {
        items
            .iter()
            .fold(0u64, |sum, item| sum.wrapping_add(item.sum))
    };
    let rest = (n % items) as usize;
    sum(expected)
        .wrapping_mul(n / items)
        .wrapping_add(sum(&expected[..rest]))
}

/// The expected output of `kernel` on one item.
pub fn expected(kernel: &str, elements: usize, item: &[u8]) -> Result<Expected> {
    if kernel.starts_with("syrup_") {
        return syrup::outputs::expected(kernel, elements, item).with_context(|| kernel.to_owned());
    }
    if alloy::is_kernel(kernel) {
        return alloy::expected(kernel, item).with_context(|| kernel.to_owned());
    }
    let mut input = Reader(item);
    let of_whole = kernel.strip_suffix("_heads");
    let parts = outputs(of_whole.unwrap_or(kernel), elements, &mut input)
        .with_context(|| kernel.to_owned())?;
    ensure!(input.0.is_empty(), "{kernel}: the item has bytes left over");
    let mut expected = Expected::of(&parts);
    if of_whole.is_some() {
        // Each value has a text, bytes, and in some kernels numbers. The checksum adds the number of bytes and of
        // numbers.
        let parts_of_one = parts.len() / elements;
        expected.sum = parts
            .chunks(parts_of_one)
            .map(|value| {
                (value[1].len() + value.get(2).map_or(0, |numbers| numbers.len() / 32)) as u64
            })
            .sum();
    }
    Ok(expected)
}

fn outputs(kernel: &str, elements: usize, input: &mut Reader<'_>) -> Result<Vec<Vec<u8>>> {
    let mut each = |one: &mut dyn FnMut(&mut Reader<'_>) -> Result<Vec<Vec<u8>>>| {
        let mut parts = Vec::new();
        for _ in 0..elements {
            parts.extend(one(input)?);
        }
        Ok(parts)
    };
    let single = |bytes: Vec<u8>| Ok(vec![bytes]);
    match kernel {
        "keccak256" => single(keccak256(input.rest()).to_vec()),
        "keccak256_batch" => {
            let count = input.u32()?;
            (0..count)
                .map(|_| Ok(keccak256(input.lp()?).to_vec()))
                .collect()
        }
        "secp256k1_sign" | "secp256k1_sign_batch" => {
            each(&mut |r| single(sign(r.take(32)?, r.take(32)?)?.to_vec()))
        }
        "secp256k1_sign_recover" => {
            let (key, hash) = (input.take(32)?, input.take(32)?);
            single(recover(hash, &sign(key, hash)?)?.to_vec())
        }
        "secp256k1_recover" => single(recover(input.take(32)?, input.take(65)?)?.to_vec()),
        "secp256k1_recover_batch" => {
            each(&mut |r| single(address(&recover(r.take(32)?, r.take(65)?)?).to_vec()))
        }
        "secp256k1_verify" | "secp256k1_verify_batch" => each(&mut |r| {
            let (hash, signature, key) = (r.take(32)?, r.take(64)?, r.take(64)?);
            let key = VerifyingKey::from_sec1_bytes(&[&[4], key].concat())?;
            let good = key.verify_prehash(hash, &Signature::from_slice(signature)?);
            single(vec![u8::from(good.is_ok())])
        }),
        "secp256k1_public_key" | "secp256k1_public_key_batch" => {
            each(&mut |r| single(public_key(r.take(32)?)?.to_vec()))
        }
        "secp256k1_ecdh" => single(shared_x(input.take(32)?, input.take(64)?)?),
        "address_derivation" => single(address(input.array()?).to_vec()),
        "address_from_hex" => each(&mut |r| {
            let text = r.take(42)?.strip_prefix(b"0x").context("no 0x")?;
            single(unhex(text)?)
        }),
        "checksum_address" => single(checksum(input.take(20)?).into_bytes()),
        "hex_encode" => each(&mut |r| {
            let size = if elements == 1 { r.0.len() } else { 32 };
            single(hex(r.take(size)?).into_bytes())
        }),
        "hex_decode" => each(&mut |r| {
            let size = if elements == 1 { r.0.len() } else { 64 };
            single(unhex(r.take(size)?)?)
        }),
        "abi_encode_transfer" => each(&mut |r| {
            let selector = &keccak256(b"transfer(address,uint256)")[..4];
            single([selector, &abi_static(r)?].concat())
        }),
        "abi_encode_static" => each(&mut |r| single(abi_static(r)?)),
        "abi_encode_dynamic" | "abi_encode_runtime" => each(&mut |r| single(abi_dynamic(r)?)),
        "abi_decode_uint256" => each(&mut |r| {
            let mut word = r.take(32)?.to_vec();
            word.reverse();
            single(word)
        }),
        "abi_decode_dynamic" => each(&mut |r| {
            let data = r.lp()?;
            Ok(vec![
                abi_tail(data, 0)?.to_vec(),
                abi_tail(data, 1)?.to_vec(),
            ])
        }),
        "abi_decode_dynamic_strict" => each(&mut |r| {
            let data = r.lp()?;
            let (text, bytes) = (abi_tail(data, 0)?, abi_tail(data, 1)?);
            std::str::from_utf8(text)?;
            let canonical = abi_tuple(&[abi_bytes(text), abi_bytes(bytes)]);
            ensure!(data == canonical, "not canonical");
            Ok(vec![text.to_vec(), bytes.to_vec()])
        }),
        "abi_encode_runtime_static" => each(&mut |r| {
            let (address, number) = (r.take(20)?, r.take(32)?);
            let (small, flag, word, signed) = (r.take(8)?, r.take(1)?, r.take(32)?, r.take(8)?);
            let sign = [if signed[0] >> 7 == 1 { 0xff } else { 0 }; 24];
            single(
                [
                    &[0; 12], address, number, &[0; 24], small, &[0; 31], flag, word, &sign, signed,
                ]
                .concat(),
            )
        }),
        "abi_decode_runtime_static" => each(&mut |r| {
            let mut words = r.take(192)?.chunks(32);
            let mut word = || words.next().context("six words");
            let number = |word: &[u8]| word.iter().rev().copied().collect::<Vec<u8>>();
            Ok(vec![
                word()?[12..].to_vec(),
                number(word()?),
                number(word()?),
                word()?[31..].to_vec(),
                word()?.to_vec(),
                number(word()?),
            ])
        }),
        "abi_encode_runtime_nested" => single(abi_nested(input.rest())?),
        "abi_decode_runtime_nested" => {
            let data = input.rest();
            let mut parts = vec![data.get(12..32).context("short head")?.to_vec()];
            let list = |head: usize| -> Result<(&[u8], usize)> {
                let at = abi_number(data, head)?;
                Ok((
                    data.get(at + 32..).context("offset")?,
                    abi_number(data, at)?,
                ))
            };
            let (pairs, count) = list(32)?;
            for i in 0..count {
                let pair = pairs.get(abi_number(pairs, 32 * i)?..).context("offset")?;
                let number = pair.get(..32).context("short pair")?;
                parts.push(number.iter().rev().copied().collect());
                parts.push(abi_tail(pair, 1)?.to_vec());
            }
            let (strings, count) = list(64)?;
            for i in 0..count {
                parts.push(abi_tail(strings, i)?.to_vec());
            }
            Ok(parts)
        }
        "abi_decode_runtime" => each(&mut |r| {
            let data = if elements == 1 { r.rest() } else { r.lp()? };
            let at = abi_number(data, 64)?;
            let count = abi_number(data, at)?;
            let mut numbers = Vec::new();
            for i in 0..count {
                let word = data.get(at + 32 + 32 * i..at + 64 + 32 * i);
                numbers.extend(word.context("short array")?.iter().rev());
            }
            Ok(vec![
                abi_tail(data, 0)?.to_vec(),
                abi_tail(data, 1)?.to_vec(),
                numbers,
            ])
        }),
        "rlp_encode_eip1559_tx" => each(&mut |r| single(transaction(r)?)),
        "rlp_encode_eip1559_tx_typed" => {
            each(&mut |r| single([&[2], transaction(r)?.as_slice()].concat()))
        }
        "rlp_decode_u256" => each(&mut |r| {
            let item = r.lp()?;
            let (content, rest) = rlp_item(item)?;
            ensure!(rest.is_empty(), "trailing bytes");
            let Rlp::Text(bytes) = content else {
                bail!("a list")
            };
            ensure!(bytes.len() <= 32 && bytes.first() != Some(&0), "not a u256");
            single(le32(&BigUint::from_bytes_be(bytes)))
        }),
        "u256_add" => each(&mut |r| single(le32(&(r.u256()? + r.u256()?)))),
        "u256_mul" => each(&mut |r| single(le32(&(r.u256()? * r.u256()?)))),
        "u256_div" => each(&mut |r| single(le32(&(r.u256()? / r.u256()?)))),
        "u256_uniswapv2_amount_out" => each(&mut |r| {
            let (amount, reserve_in, reserve_out) = (r.u256()?, r.u256()?, r.u256()?);
            let with_fee = amount * 997u32;
            single(le32(
                &(&with_fee * reserve_out / (reserve_in * 1000u32 + &with_fee)),
            ))
        }),
        "u256_mulDiv" => each(&mut |r| {
            let (a, b, d) = (r.u256()?, r.u256()?, r.u256()?);
            single(le32(&(a * b / d)))
        }),
        "u256_uniswapv4_swap" => each(&mut |r| {
            let (liquidity, price, amount) = (r.u256()?, r.u256()?, r.u256()?);
            let divisor = wrap(&(&liquidity + amount * &price));
            single(le32(&(liquidity * price / divisor)))
        }),
        "tx_hash_eip1559" => {
            single(keccak256(&[&[2], transaction(input)?.as_slice()].concat()).to_vec())
        }
        "tx_decode" => {
            let tx = Signed::decode(input.rest())?;
            single(
                [
                    tx.to.as_slice(),
                    &tx.nonce.to_le_bytes(),
                    &tx.gas_limit.to_le_bytes(),
                    &le32(&tx.value),
                ]
                .concat(),
            )
        }
        "tx_hash" => {
            let raw = input.rest();
            Signed::decode(raw)?;
            single(keccak256(raw).to_vec())
        }
        "tx_hash_batch" => each(&mut |r| {
            let raw = r.lp()?;
            Signed::decode(raw)?;
            single(keccak256(raw).to_vec())
        }),
        "tx_sender" => {
            let raw = input.rest();
            let tx = Signed::decode(raw)?;
            let sender = address(&recover(&tx.signing_hash, &tx.signature)?);
            single([keccak256(raw).as_slice(), &sender].concat())
        }
        "eip712_hash_typed_data"
        | "eip712_hash_typed_data_cached"
        | "eip712_hash_typed_data_prepared" => {
            single(typed_data(&transfer_document(input)?)?.to_vec())
        }
        "eip712_hash_typed_data_json" => {
            single(typed_data(&serde_json::from_slice(input.rest())?)?.to_vec())
        }
        other => bail!("no reference for kernel {other}"),
    }
}

/// A cursor over an item's fields.
pub struct Reader<'a>(
    /// The remaining bytes.
    pub &'a [u8],
);

impl<'a> Reader<'a> {
    /// Takes `len` bytes.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(len).context("the item is short")?;
        self.0 = tail;
        Ok(head)
    }
    /// Takes `N` bytes as an array.
    pub fn array<const N: usize>(&mut self) -> Result<&'a [u8; N]> {
        Ok(self.take(N)?.try_into()?)
    }
    /// Takes all remaining bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
    /// Takes a count (u32, little-endian).
    pub fn u32(&mut self) -> Result<usize> {
        Ok(u32::from_le_bytes(*self.array()?) as usize)
    }
    /// Takes a length prefix and that number of bytes.
    pub fn lp(&mut self) -> Result<&'a [u8]> {
        let len = self.u32()?;
        self.take(len)
    }
    /// Takes a little-endian integer of `len` bytes.
    pub fn le(&mut self, len: usize) -> Result<BigUint> {
        Ok(BigUint::from_bytes_le(self.take(len)?))
    }
    /// Takes a little-endian integer of 32 bytes.
    pub fn u256(&mut self) -> Result<BigUint> {
        self.le(32)
    }
    /// Takes a little-endian u64.
    pub fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(*self.array()?))
    }
    /// Takes a little-endian i64 in two's complement.
    pub fn i64(&mut self) -> Result<i64> {
        Ok(self.u64()? as i64)
    }
    /// Takes a length prefix and that number of bytes of UTF-8.
    pub fn text(&mut self) -> Result<&'a str> {
        Ok(std::str::from_utf8(self.lp()?)?)
    }
}

/// Keccak-256.
pub fn keccak256(data: &[u8]) -> [u8; 32] {
    let mut hasher = Keccak::v256();
    let mut out = [0; 32];
    hasher.update(data);
    hasher.finalize(&mut out);
    out
}

/// Lowercase hexadecimal without a prefix.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decodes hexadecimal text in either case, without a prefix.
pub fn unhex(text: &[u8]) -> Result<Vec<u8>> {
    ensure!(text.len().is_multiple_of(2), "an odd number of digits");
    let digit = |c: u8| (c as char).to_digit(16).context("not a digit");
    text.chunks(2)
        .map(|pair| Ok((digit(pair[0])? * 16 + digit(pair[1])?) as u8))
        .collect()
}

fn wrap(value: &BigUint) -> BigUint {
    value % (BigUint::from(1u32) << 256)
}

/// The value modulo 2^256 as 32 little-endian bytes.
pub fn le32(value: &BigUint) -> Vec<u8> {
    let mut bytes = wrap(value).to_bytes_le();
    bytes.resize(32, 0);
    bytes
}

/// The value modulo 2^256 as 32 big-endian bytes.
pub fn be32(value: &BigUint) -> Vec<u8> {
    let mut bytes = le32(value);
    bytes.reverse();
    bytes
}

// secp256k1

/// Signs a hash: r || s || recovery id, with low s.
pub fn sign(key: &[u8], hash: &[u8]) -> Result<[u8; 65]> {
    let (signature, id) = SigningKey::from_slice(key)?.sign_prehash_recoverable(hash);
    let mut out = [0; 65];
    out[..64].copy_from_slice(&signature.to_bytes());
    out[64] = id.to_byte();
    Ok(out)
}

fn coordinates(key: &VerifyingKey) -> Result<[u8; 64]> {
    Ok(key.to_sec1_point(false).as_bytes()[1..].try_into()?)
}

/// The public key x || y recovered from a signature r || s || v.
pub fn recover(hash: &[u8], signature: &[u8]) -> Result<[u8; 64]> {
    let id = RecoveryId::from_byte(signature[64]).context("recovery id")?;
    let signature = Signature::from_slice(&signature[..64])?;
    coordinates(&VerifyingKey::recover_from_prehash(hash, &signature, id)?)
}

/// The public key x || y of a secret key.
pub fn public_key(key: &[u8]) -> Result<[u8; 64]> {
    coordinates(SigningKey::from_slice(key)?.verifying_key())
}

/// ECDH: the x coordinate shared by a secret key and a public key x || y.
fn shared_x(key: &[u8], public: &[u8]) -> Result<Vec<u8>> {
    let key = SecretKey::from_slice(key)?;
    let public = PublicKey::from_sec1_bytes(&[&[4], public].concat())?;
    let point = (public.to_projective() * *key.to_nonzero_scalar()).to_affine();
    Ok(point.to_sec1_point(true).as_bytes()[1..].to_vec())
}

/// The address of a public key x || y: the last 20 bytes of its Keccak-256 hash.
pub fn address(key: &[u8; 64]) -> [u8; 20] {
    let mut out = [0; 20];
    out.copy_from_slice(&keccak256(key)[12..]);
    out
}

/// The checksum address of EIP-55.
pub fn checksum(address: &[u8]) -> String {
    let digits = hex(address);
    let hash = hex(&keccak256(digits.as_bytes()));
    let mixed = digits.chars().zip(hash.chars()).map(|(digit, nibble)| {
        if nibble >= '8' {
            digit.to_ascii_uppercase()
        } else {
            digit
        }
    });
    format!("0x{}", mixed.collect::<String>())
}

// ABI

fn abi_static(r: &mut Reader<'_>) -> Result<Vec<u8>> {
    Ok([&[0; 12], r.take(20)?, r.take(32)?].concat())
}

fn abi_word(number: usize) -> Vec<u8> {
    be32(&BigUint::from(number))
}

/// ABI encoding of one (string,bytes,uint256[]).
fn abi_dynamic(r: &mut Reader<'_>) -> Result<Vec<u8>> {
    let (string, bytes, count) = (r.lp()?, r.lp()?, r.u32()?);
    let numbers = r.take(32 * count)?;
    Ok(abi_tuple(&[
        abi_bytes(string),
        abi_bytes(bytes),
        [&abi_word(count), numbers].concat(),
    ]))
}

/// ABI encoding of one (address,(uint256,string)[],bytes[]).
pub fn abi_nested(item: &[u8]) -> Result<Vec<u8>> {
    let mut r = Reader(item);
    let address = r.take(20)?;
    let mut pairs = Vec::new();
    for _ in 0..r.u32()? {
        let (number, text) = (r.take(32)?, r.lp()?);
        pairs.push([number, &abi_word(64), &abi_bytes(text)].concat());
    }
    let mut strings = Vec::new();
    for _ in 0..r.u32()? {
        strings.push(abi_bytes(r.lp()?));
    }
    ensure!(r.0.is_empty(), "bytes left over");
    let list = |tails: &[Vec<u8>]| [abi_word(tails.len()), abi_tuple(tails)].concat();
    let (pairs, strings) = (list(&pairs), list(&strings));
    let head = [
        &[0; 12],
        address,
        &abi_word(96),
        &abi_word(96 + pairs.len()),
    ]
    .concat();
    Ok([head, pairs, strings].concat())
}

/// Length, content, and zero padding to a whole word.
pub fn abi_bytes(content: &[u8]) -> Vec<u8> {
    let mut out = abi_word(content.len());
    out.extend_from_slice(content);
    out.resize(out.len().next_multiple_of(32), 0);
    out
}

/// ABI encoding of a tuple of dynamic members: their offsets, then their tails.
pub fn abi_tuple(tails: &[Vec<u8>]) -> Vec<u8> {
    let mut at = 32 * tails.len();
    let mut out = Vec::new();
    for tail in tails {
        out.extend(abi_word(at));
        at += tail.len();
    }
    out.extend(tails.concat());
    out
}

fn abi_number(data: &[u8], at: usize) -> Result<usize> {
    let word = data.get(at..at + 32).context("short head")?;
    ensure!(word[..28].iter().all(|&byte| byte == 0), "absurd number");
    Ok(BigUint::from_bytes_be(word).try_into()?)
}

fn abi_tail(data: &[u8], index: usize) -> Result<&[u8]> {
    let at = abi_number(data, 32 * index)?;
    let len = abi_number(data, at)?;
    data.get(at + 32..at + 32 + len).context("short tail")
}

// RLP and transactions

/// An RLP string.
pub fn rlp_text(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [byte @ 0..0x80] => vec![*byte],
        _ => [rlp_head(0x80, bytes.len()), bytes.to_vec()].concat(),
    }
}

/// An RLP integer: big-endian without leading zeros.
pub fn rlp_number(value: &BigUint) -> Vec<u8> {
    if *value == BigUint::ZERO {
        return rlp_text(&[]);
    }
    rlp_text(&value.to_bytes_be())
}

/// An RLP list of encoded items.
pub fn rlp_list(items: &[Vec<u8>]) -> Vec<u8> {
    let payload = items.concat();
    [rlp_head(0xc0, payload.len()), payload].concat()
}

fn rlp_head(base: u8, len: usize) -> Vec<u8> {
    if len < 56 {
        return vec![base + len as u8];
    }
    let digits = BigUint::from(len).to_bytes_be();
    [vec![base + 55 + digits.len() as u8], digits].concat()
}

enum Rlp<'a> {
    Text(&'a [u8]),
    List(&'a [u8]),
}

/// Decodes the first item of `data`, which must be canonical; returns it and the rest.
fn rlp_item(data: &[u8]) -> Result<(Rlp<'_>, &[u8])> {
    let (&tag, rest) = data.split_first().context("no item")?;
    if tag < 0x80 {
        return Ok((Rlp::Text(&data[..1]), rest));
    }
    let (list, short) = (tag >= 0xc0, usize::from(tag & 0x3f));
    let (len, rest) = if short < 56 {
        (short, rest)
    } else {
        let (digits, rest) = rest.split_at_checked(short - 55).context("short length")?;
        ensure!(digits[0] != 0, "leading zero in a length");
        let len: usize = BigUint::from_bytes_be(digits).try_into()?;
        ensure!(len >= 56, "long form of a short length");
        (len, rest)
    };
    let (content, rest) = rest.split_at_checked(len).context("short content")?;
    if list {
        return Ok((Rlp::List(content), rest));
    }
    ensure!(len != 1 || content[0] >= 0x80, "a byte with a length");
    Ok((Rlp::Text(content), rest))
}

/// The members of a list.
fn list<'a>(item: &Rlp<'a>) -> Result<Vec<Rlp<'a>>> {
    let &Rlp::List(mut payload) = item else {
        bail!("not a list")
    };
    let mut members = Vec::new();
    while !payload.is_empty() {
        let (member, rest) = rlp_item(payload)?;
        members.push(member);
        payload = rest;
    }
    Ok(members)
}

/// The RLP list of an unsigned EIP-1559 transaction with the given fields.
fn transaction(r: &mut Reader<'_>) -> Result<Vec<u8>> {
    let mut items = Vec::new();
    for width in [8, 8, 16, 16, 8] {
        items.push(rlp_number(&r.le(width)?));
    }
    items.push(rlp_text(r.take(20)?));
    items.push(rlp_number(&BigUint::from_bytes_be(r.take(32)?)));
    items.push(rlp_text(r.lp()?));
    let mut access = Vec::new();
    for _ in 0..r.u32()? {
        let address = rlp_text(r.take(20)?);
        let mut keys = Vec::new();
        for _ in 0..r.u32()? {
            keys.push(rlp_text(r.take(32)?));
        }
        access.push(rlp_list(&[address, rlp_list(&keys)]));
    }
    items.push(rlp_list(&access));
    Ok(rlp_list(&items))
}

/// The fields of a type 2 or 3 transaction that the rows of real blocks use.
struct Signed {
    nonce: u64,
    gas_limit: u64,
    to: [u8; 20],
    value: BigUint,
    signing_hash: [u8; 32],
    signature: [u8; 65],
}

impl Signed {
    fn decode(raw: &[u8]) -> Result<Self> {
        let (&kind, body) = raw.split_first().context("empty")?;
        // Number of fields before the signature: nine in type 2; type 3 adds the blob fee and the blob hashes.
        let unsigned = match kind {
            2 => 9,
            3 => 11,
            other => bail!("type {other}: the blocks have 2 and 3 only"),
        };
        let (Rlp::List(mut payload), []) = rlp_item(body)? else {
            bail!("not one list")
        };
        let (mut encoded, mut fields) = (Vec::new(), Vec::new());
        // Each field as its content, and in its original encoding.
        while !payload.is_empty() {
            let (content, rest) = rlp_item(payload)?;
            encoded.push(payload[..payload.len() - rest.len()].to_vec());
            fields.push(content);
            payload = rest;
        }
        ensure!(fields.len() == unsigned + 3, "{} fields", fields.len());
        let text = |index: usize| match &fields[index] {
            Rlp::Text(bytes) => Ok(*bytes),
            Rlp::List(_) => bail!("field {index} is a list"),
        };
        let number = |index: usize| {
            let bytes = text(index)?;
            ensure!(bytes.first() != Some(&0), "field {index}: leading zero");
            ensure!(bytes.len() <= 32, "field {index}: too long");
            Ok(BigUint::from_bytes_be(bytes))
        };
        for index in [0, 1, 2, 3, 4, 6] {
            number(index)?;
        }
        let to = match text(5)? {
            [] => [0; 20],
            bytes => bytes.try_into()?,
        };
        for entry in list(&fields[8])? {
            let members = list(&entry)?;
            let [Rlp::Text(address), keys @ Rlp::List(_)] = members.as_slice() else {
                bail!("access list: not an address and keys")
            };
            ensure!(address.len() == 20, "access list: address");
            for key in list(keys)? {
                ensure!(
                    matches!(key, Rlp::Text(bytes) if bytes.len() == 32),
                    "access list: key"
                );
            }
        }
        let parity: u8 = number(unsigned)?.try_into()?;
        ensure!(parity < 2, "y parity {parity}");
        let signature = [
            be32(&number(unsigned + 1)?),
            be32(&number(unsigned + 2)?),
            vec![parity],
        ]
        .concat();
        Ok(Self {
            nonce: number(1)?.try_into()?,
            gas_limit: number(4)?.try_into()?,
            to,
            value: number(6)?,
            signing_hash: keccak256(&[&[kind], rlp_list(&encoded[..unsigned]).as_slice()].concat()),
            signature: signature.as_slice().try_into()?,
        })
    }
}

// EIP-712

/// The typed-data document of a Transfer message with the given fields.
fn transfer_document(r: &mut Reader<'_>) -> Result<Value> {
    let (name, version) = (r.lp()?, r.lp()?);
    let chain = u64::from_le_bytes(*r.array()?);
    let (contract, to, amount) = (
        r.take(20)?,
        r.take(20)?,
        BigUint::from_bytes_be(r.take(32)?),
    );
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let address = |bytes: &[u8]| format!("0x{}", hex(bytes));
    Ok(serde_json::json!({
        "types": {
            "EIP712Domain": [
                {"name": "name", "type": "string"}, {"name": "version", "type": "string"},
                {"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"},
            ],
            "Transfer": [{"name": "to", "type": "address"}, {"name": "amount", "type": "uint256"}],
        },
        "primaryType": "Transfer",
        "domain": {
            "name": text(name), "version": text(version), "chainId": chain,
            "verifyingContract": address(contract),
        },
        "message": {"to": address(to), "amount": amount.to_string()},
    }))
}

/// The typed-data document of the fields in `item` as JSON text.
pub fn transfer_json(item: &[u8]) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec(&transfer_document(&mut Reader(item))?)?)
}

/// keccak256(0x1901 || domain separator || hash of the message).
fn typed_data(document: &Value) -> Result<[u8; 32]> {
    let primary = document["primaryType"].as_str().context("primaryType")?;
    Ok(keccak256(
        &[
            [0x19, 0x01].as_slice(),
            &hash_struct(document, "EIP712Domain", &document["domain"])?,
            &hash_struct(document, primary, &document["message"])?,
        ]
        .concat(),
    ))
}

fn members<'a>(document: &'a Value, name: &str) -> Option<Vec<(&'a str, &'a str)>> {
    let list = document["types"].get(name)?.as_array()?;
    list.iter()
        .map(|member| Some((member["name"].as_str()?, member["type"].as_str()?)))
        .collect()
}

/// Collects the names of the structs that `name` depends on, including itself.
fn dependencies(document: &Value, name: &str, found: &mut Vec<String>) {
    let base = name.split('[').next().unwrap_or(name);
    if found.iter().any(|other| other == base) {
        return;
    }
    if let Some(members) = members(document, base) {
        found.push(base.to_owned());
        for (_, kind) in members {
            dependencies(document, kind, found);
        }
    }
}

fn encode_type(document: &Value, name: &str) -> Result<String> {
    let mut names = Vec::new();
    dependencies(document, name, &mut names);
    ensure!(!names.is_empty(), "no type {name}");
    names[1..].sort();
    let mut text = String::new();
    for name in names {
        let members = members(document, &name).context("members")?;
        let fields: Vec<String> = members
            .iter()
            .map(|(name, kind)| format!("{kind} {name}"))
            .collect();
        text += &format!("{name}({})", fields.join(","));
    }
    Ok(text)
}

fn hash_struct(document: &Value, name: &str, value: &Value) -> Result<[u8; 32]> {
    let mut data = keccak256(encode_type(document, name)?.as_bytes()).to_vec();
    for (field, kind) in members(document, name).context("members")? {
        let member = value.get(field).with_context(|| format!("no {field}"))?;
        data.extend(encode_member(document, kind, member)?);
    }
    Ok(keccak256(&data))
}

fn encode_member(document: &Value, kind: &str, value: &Value) -> Result<[u8; 32]> {
    let text = || {
        value
            .as_str()
            .with_context(|| format!("{kind}: not a text"))
    };
    let bytes = || unhex(text()?.strip_prefix("0x").context("no 0x")?.as_bytes());
    if let Some(element) = kind.strip_suffix(']').and_then(|k| k.rsplit_once('[')) {
        let mut data = Vec::new();
        for item in value.as_array().context("not an array")? {
            data.extend(encode_member(document, element.0, item)?);
        }
        return Ok(keccak256(&data));
    }
    if members(document, kind).is_some() {
        return hash_struct(document, kind, value);
    }
    let word = match kind {
        "string" => return Ok(keccak256(text()?.as_bytes())),
        "bytes" => return Ok(keccak256(&bytes()?)),
        "bool" => abi_word(usize::from(value.as_bool().context("not a bool")?)),
        "address" => [vec![0; 12], bytes()?].concat(),
        _ if kind.starts_with("bytes") => {
            let mut word = bytes()?;
            word.resize(32, 0);
            word
        }
        _ if kind.starts_with("uint") => {
            let digits = match value {
                Value::Number(number) => number.to_string(),
                _ => text()?.to_owned(),
            };
            be32(&digits.parse::<BigUint>().context("not a number")?)
        }
        other => bail!("type {other}"),
    };
    Ok(word.as_slice().try_into()?)
}
