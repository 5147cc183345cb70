//! Inputs: those of the published reports, drawn ones, real transactions, and malformed ones.
//!
//! Drawn items depend on a seed only and are the same on every machine. A *probe* set resembles a row's items (same
//! sizes and magnitudes) but holds other values, which exposes contenders that return cached results.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail};
use num_bigint::BigUint;
use serde_json::Value;

use crate::alloy;
use crate::change;
use crate::ops::{Input, Op};
use crate::precompile;
use crate::random::Random;
use crate::syrup;
use crate::truth::{self, Expected, be32, le32, unhex};
use crate::xmss;

static VECTORS: LazyLock<Value> =
    LazyLock::new(|| parse(include_str!("../../vectors/eth-ops/vectors.json")));
static BLOCKS: LazyLock<Value> =
    LazyLock::new(|| parse(include_str!("../../vectors/tx/hoodi_772457_772461.json")));
static GENERATED: LazyLock<Value> =
    LazyLock::new(|| parse(include_str!("../../vectors/tx/generated.json")));

fn parse(text: &str) -> Value {
    // The vectors are compiled in and read by every test.
    serde_json::from_str(text).unwrap_or_else(|error| unreachable!("embedded vectors: {error}"))
}

/// Selects the items of a row.
#[derive(Clone, Copy, Debug)]
pub enum Selection {
    /// [`items`].
    Main,
    /// [`probe`].
    Probe {
        /// Number of the probe set.
        round: u64,
        /// Number of items.
        count: usize,
    },
    /// [`alternating`].
    Alternating,
}

/// Items and their expected outputs.
pub fn with_truth(op: &Op, selection: Selection) -> Result<(Vec<Vec<u8>>, Vec<Expected>)> {
    if precompile::is_row(op) {
        let cases = precompile::cases(op, selection)?.into_iter();
        return Ok(cases
            .map(|case| (case.item, Expected::of(&case.parts)))
            .unzip());
    }
    if xmss::is_row(op) {
        return Ok(xmss::cases(op, selection)?.into_iter().unzip());
    }
    let items = plain_items(op, selection)?;
    let expected = items
        .iter()
        .map(|item| truth::expected(&op.kernel, op.ops_per_call, item));
    let expected = expected.collect::<Result<_>>()?;
    Ok((items, expected))
}

/// Items without their outputs, unless the outputs are computed along with them.
pub fn items_of(op: &Op, selection: Selection) -> Result<Vec<Vec<u8>>> {
    if precompile::is_row(op) || xmss::is_row(op) {
        return Ok(with_truth(op, selection)?.0);
    }
    plain_items(op, selection)
}

fn plain_items(op: &Op, selection: Selection) -> Result<Vec<Vec<u8>>> {
    match selection {
        Selection::Main => items(op),
        Selection::Probe { round, count } => probe(op, round, count),
        Selection::Alternating => alternating(op),
    }
}

/// An item whose first element is malformed; `None` if the row's format does not allow it.
pub fn spoilt(op: &Op, good: &[u8], bad: &[u8]) -> Option<Vec<u8>> {
    if xmss::is_row(op) {
        return None;
    }
    let regions = change::regions(&op.kernel, op.ops_per_call, good).ok()?;
    let first = regions.first()?.clone();
    if change::is_prefixed(&op.kernel, op.ops_per_call) {
        return Some([lp(bad), good[first.end..].to_vec()].concat());
    }
    // Elements of a fixed size have no other delimiter.
    let fits = op.ops_per_call == 1 || first.len() == bad.len();
    fits.then(|| [bad, &good[first.end..]].concat())
}

/// The expected output of an item modified by a [change]; `None` if no reference code computes it from the item's
/// bytes.
pub fn truth_of(op: &Op, item: &[u8]) -> Result<Option<Expected>> {
    if precompile::is_row(op) {
        let parts = precompile::output(op, item)?;
        return Ok(parts.map(|parts| Expected::of(&parts)));
    }
    if xmss::is_row(op) {
        return Ok(xmss::output(op, item)?.map(|part| Expected::of(&[part])));
    }
    truth::expected(&op.kernel, op.ops_per_call, item).map(Some)
}

/// The seed of a probe set.
pub fn probe_seed(op: &Op, round: u64) -> u64 {
    op.seed ^ 0x70_726f_6265 ^ round.rotate_left(48)
}

/// The items of a row.
pub fn items(op: &Op) -> Result<Vec<Vec<u8>>> {
    match op.input {
        Input::Vectors => syrup::inputs::items(op),
        Input::Report if syrup_row(op) => syrup::inputs::items(op),
        Input::Report => {
            let element = report(op).with_context(|| op.id.clone())?;
            Ok(vec![element.repeat(op.ops_per_call)])
        }
        Input::Blocks => {
            let list = blocks()?;
            Ok((0..op.items).map(|item| gather(op, &list, item)).collect())
        }
        Input::Varied => {
            let mut random = Random::new(op.seed);
            (0..op.items).map(|_| draw(op, &mut random)).collect()
        }
    }
}

/// Other items of the same kind; `round` selects the set.
pub fn probe(op: &Op, round: u64, count: usize) -> Result<Vec<Vec<u8>>> {
    let mut random = Random::new(probe_seed(op, round));
    if matches!(op.input, Input::Blocks | Input::Vectors) {
        // These cannot be drawn, so they are shuffled instead.
        let mut items = items(op)?;
        random.shuffle(&mut items);
        items.truncate(count);
        return Ok(items);
    }
    (0..count).map(|_| draw(op, &mut random)).collect()
}

/// Two items that alternate between two elements, for rows of one item. This is easy to predict for the CPU, but a
/// contender that caches its last result misses on every element.
pub fn alternating(op: &Op) -> Result<Vec<Vec<u8>>> {
    let item = |start: usize| -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for k in 0..op.ops_per_call {
            out.extend(element(
                op,
                &mut Random::new(op.seed + ((start + k) % 2) as u64),
            )?);
        }
        Ok(out)
    };
    Ok(vec![item(0)?, item(1)?])
}

fn syrup_row(op: &Op) -> bool {
    op.kernel.starts_with("syrup_")
}

/// An item of a row over real transactions: a single one, or as many consecutive ones as a call takes, each with its
/// length.
fn gather(op: &Op, list: &[Vec<u8>], item: usize) -> Vec<u8> {
    if op.ops_per_call == 1 {
        return list[item].clone();
    }
    let start = item * op.ops_per_call;
    let turn = list.iter().cycle().skip(start % list.len());
    turn.take(op.ops_per_call).flat_map(|raw| lp(raw)).collect()
}

fn blocks() -> Result<Vec<Vec<u8>>> {
    let list = BLOCKS.as_array().context("vectors/tx")?;
    list.iter().map(|tx| bytes(&tx["raw"])).collect()
}

/// All signed transactions of `vectors/tx` that have a sender, with their senders.
pub fn transactions() -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let generated = GENERATED["transactions"].as_array();
    let all = generated.into_iter().chain(BLOCKS.as_array()).flatten();
    all.filter(|tx| !tx["sender"].is_null())
        .map(|tx| Ok((bytes(&tx["raw"])?, bytes(&tx["sender"])?)))
        .collect()
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().context("not a text")
}

fn bytes(value: &Value) -> Result<Vec<u8>> {
    let digits = text(value)?;
    unhex(digits.strip_prefix("0x").unwrap_or(digits).as_bytes())
}

fn number(value: &Value) -> Result<BigUint> {
    match value {
        Value::Number(number) => Ok(number.to_string().parse()?),
        _ => {
            let digits = text(value)?;
            match digits.strip_prefix("0x") {
                Some(hex) => BigUint::parse_bytes(hex.as_bytes(), 16).context("hexadecimal"),
                None => Ok(digits.parse()?),
            }
        }
    }
}

/// Length prefix (u32, little-endian), then the bytes.
pub fn lp(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes(), bytes].concat()
}

/// One element of the published benchmark's input.
fn report(op: &Op) -> Result<Vec<u8>> {
    let input = |name: &str| &VECTORS[name]["input"];
    let words = |source: &Value, names: &[&str]| -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for name in names {
            out.extend(le32(&number(&source[*name])?));
        }
        Ok(out)
    };
    let sign = input("secp256k1_sign");
    Ok(match op.kernel.as_str() {
        "keccak256" => match op.size {
            0 => Vec::new(),
            32 => bytes(&input("keccak256_32b")["data"])?,
            size => vec![0xab; size],
        },
        "secp256k1_sign" | "secp256k1_sign_recover" => {
            [bytes(&sign["privkey"])?, bytes(&sign["msg_hash"])?].concat()
        }
        "secp256k1_recover" => {
            let (key, hash) = (bytes(&sign["privkey"])?, bytes(&sign["msg_hash"])?);
            let signature = truth::sign(&key, &hash)?;
            [hash, signature.to_vec()].concat()
        }
        "address_derivation" => {
            bytes(&input("address_derivation")["pubkey_uncompressed"])?[1..].to_vec()
        }
        "address_from_hex" => text(&input("address_from_hex")["text"])?
            .as_bytes()
            .to_vec(),
        "checksum_address" => bytes(&input("checksum_address")["address"])?,
        "hex_encode" => bytes(&input("hex_encode_32b")["data"])?,
        "hex_decode" => text(&input("hex_decode_32b")["text"])?.as_bytes().to_vec(),
        "abi_encode_transfer" | "abi_encode_static" => {
            let values = &input("abi_encode_transfer")["values"];
            [bytes(&values[0])?, be32(&number(&values[1])?)].concat()
        }
        "abi_encode_dynamic" => {
            let values = &input("abi_encode_dynamic")["values"];
            let numbers = values[2].as_array().context("numbers")?;
            let numbers: Result<Vec<_>> = numbers.iter().map(|n| Ok(be32(&number(n)?))).collect();
            dynamic(text(&values[0])?.as_bytes(), &bytes(&values[1])?, &numbers?)
        }
        "abi_decode_uint256" => bytes(&input("abi_decode_uint256")["data"])?,
        "abi_decode_dynamic" => lp(&bytes(&input("abi_decode_dynamic")["data"])?),
        "rlp_encode_eip1559_tx" | "rlp_encode_eip1559_tx_typed" | "tx_hash_eip1559" => {
            let tx = input("rlp_encode_eip1559_tx");
            let mut out = Vec::new();
            for (name, width) in FEES {
                let mut digits = number(&tx[name])?.to_bytes_le();
                digits.resize(width, 0);
                out.extend(digits);
            }
            out.extend(bytes(&tx["to"])?);
            out.extend(be32(&number(&tx["value"])?));
            out.extend(lp(&bytes(&tx["data"])?));
            out.extend([0; 4]);
            out
        }
        "rlp_decode_u256" => lp(&bytes(&input("rlp_decode_u256")["data"])?),
        "u256_add" | "u256_mul" | "u256_div" => words(input(&op.kernel), &["a", "b"])?,
        "u256_uniswapv2_amount_out" => words(
            input(&op.kernel),
            &["amount_in", "reserve_in", "reserve_out"],
        )?,
        "u256_mulDiv" => words(&input(&op.kernel)[&op.case], &["a", "b", "d"])?,
        "u256_uniswapv4_swap" => {
            let names = ["liquidity", "sqrt_price", "amount_in"];
            words(&input(&op.kernel)[&op.case], &names)?
        }
        "eip712_hash_typed_data"
        | "eip712_hash_typed_data_cached"
        | "eip712_hash_typed_data_json" => {
            let (domain, message) = (
                &input("eip712_hash_typed_data")["domain"],
                &input("eip712_hash_typed_data")["message"],
            );
            let fields = transfer(
                text(&domain["name"])?,
                text(&domain["version"])?,
                domain["chainId"].as_u64().context("chainId")?,
                &[
                    bytes(&domain["verifyingContract"])?,
                    bytes(&message["to"])?,
                    be32(&number(&message["amount"])?),
                ]
                .concat(),
            );
            if op.kernel.ends_with("json") {
                truth::transfer_json(&fields)?
            } else {
                fields
            }
        }
        other => bail!("no report input for kernel {other}"),
    })
}

/// The integer fields of an EIP-1559 transaction and their widths in the item.
const FEES: [(&str, usize); 5] = [
    ("chain_id", 8),
    ("nonce", 8),
    ("max_priority_fee_per_gas", 16),
    ("max_fee_per_gas", 16),
    ("gas_limit", 8),
];

fn dynamic(string: &[u8], bytes: &[u8], numbers: &[Vec<u8>]) -> Vec<u8> {
    let count = (numbers.len() as u32).to_le_bytes();
    [lp(string), lp(bytes), count.to_vec(), numbers.concat()].concat()
}

fn transfer(name: &str, version: &str, chain: u64, tail: &[u8]) -> Vec<u8> {
    let chain = chain.to_le_bytes().to_vec();
    [
        lp(name.as_bytes()),
        lp(version.as_bytes()),
        chain,
        tail.to_vec(),
    ]
    .concat()
}

/// Draws one item of `ops_per_call` elements (batch kernels write their count themselves).
fn draw(op: &Op, random: &mut Random) -> Result<Vec<u8>> {
    if syrup_row(op) {
        return syrup::inputs::draw(op, random);
    }
    if op.kernel == "keccak256_batch" {
        let mut out = (op.ops_per_call as u32).to_le_bytes().to_vec();
        for _ in 0..op.ops_per_call {
            let len = if op.case == "mixed" {
                random.between(0, op.size)
            } else {
                op.size
            };
            out.extend(lp(&random.bytes(len)));
        }
        return Ok(out);
    }
    let mut out = Vec::new();
    for _ in 0..op.ops_per_call {
        out.extend(element(op, random)?);
    }
    Ok(out)
}

/// A random number of exactly `bits` bits.
fn sized(random: &mut Random, bits: usize) -> BigUint {
    if bits == 0 {
        return BigUint::ZERO;
    }
    let mut value = BigUint::from_bytes_le(&random.bytes(bits.div_ceil(8)));
    value >>= bits.next_multiple_of(8) - bits;
    value.set_bit(bits as u64 - 1, true);
    value
}

/// A random number of `low..=high` bits, with all lengths equally likely.
pub fn spread(random: &mut Random, low: usize, high: usize) -> BigUint {
    let bits = random.between(low, high);
    sized(random, bits)
}

/// A number of the same magnitude with other low bits.
fn nudge(random: &mut Random, value: &BigUint) -> BigUint {
    let free = (value.bits() as usize / 2).min(32);
    (value >> free << free) | (sized(random, 64) >> (64 - free))
}

/// Whether an item of a yes/no row gets the answer no: one in four, so that answers cannot be guessed.
pub fn wrong(random: &mut Random) -> bool {
    random.word().is_multiple_of(4)
}

fn secret_key(random: &mut Random) -> Vec<u8> {
    // The top bit is clear, so the key is below the group order. If it is ever zero, the reference code reports an
    // error.
    let mut key = random.bytes(32);
    key[0] &= 0x7f;
    key
}

/// Random letters, digits and spaces.
pub fn letters(random: &mut Random, len: usize) -> String {
    (0..len)
        .map(|_| char::from(random.pick(b"abcdefghijklmnopqrstuvwxyz ABCDEFGHIJ0123456789")))
        .collect()
}

fn mixed_case(random: &mut Random, text: &str) -> String {
    text.chars()
        .map(|c| {
            if random.word() & 1 == 0 {
                c.to_ascii_uppercase()
            } else {
                c
            }
        })
        .collect()
}

/// A string, bytes and numbers for the dynamic ABI rows.
fn dynamic_parts(op: &Op, random: &mut Random) -> (String, Vec<u8>, Vec<Vec<u8>>) {
    if op.input == Input::Report {
        let numbers = (0..5).map(|_| be32(&sized(random, 3))).collect();
        return (letters(random, 43), random.bytes(59), numbers);
    }
    // At least as long as the window of a change rule.
    let len = random.between(8, 160);
    let mut string = letters(random, len);
    if random.below(8) == 0 {
        string.push_str("žluťoučký kůň 馬 🐎");
    }
    let len = random.between(0, 256);
    let data = random.bytes(len);
    let numbers = (0..random.below(13))
        .map(|_| be32(&spread(random, 0, 256)))
        .collect();
    (string, data, numbers)
}

/// An address, pairs of a number and a name, and byte strings, in the input format of the encoding rows.
fn nested(random: &mut Random) -> Vec<u8> {
    let mut out = random.bytes(20);
    let count = random.below(6);
    out.extend((count as u32).to_le_bytes());
    for _ in 0..count {
        out.extend(be32(&spread(random, 0, 256)));
        let len = random.between(0, 60);
        out.extend(lp(letters(random, len).as_bytes()));
    }
    let count = random.below(5);
    out.extend((count as u32).to_le_bytes());
    for _ in 0..count {
        let len = random.between(0, 100);
        out.extend(lp(&random.bytes(len)));
    }
    out
}

fn element(op: &Op, random: &mut Random) -> Result<Vec<u8>> {
    if syrup_row(op) {
        return syrup::inputs::element(op, random);
    }
    if alloy::is_kernel(&op.kernel) {
        return alloy::element(op, random);
    }
    let report = op.input == Input::Report;
    let words = |values: &[BigUint]| -> Vec<u8> { values.iter().flat_map(le32).collect() };
    if report && op.kernel.starts_with("u256_") {
        let own = self::report(op)?;
        let near = |word| nudge(random, &BigUint::from_bytes_le(word));
        return Ok(words(&own.chunks(32).map(near).collect::<Vec<_>>()));
    }
    let kernel = op.kernel.strip_suffix("_heads").unwrap_or(&op.kernel);
    Ok(match kernel {
        // There is only one empty message, so any message of one permutation is used.
        "keccak256" if op.size == 0 => {
            let len = random.between(1, 64);
            random.bytes(len)
        }
        "keccak256" if op.case == "mixed" => {
            let len = random.between(0, op.size);
            random.bytes(len)
        }
        "keccak256" => random.bytes(op.size),
        "secp256k1_sign" | "secp256k1_sign_batch" | "secp256k1_sign_recover" => {
            [secret_key(random), random.bytes(32)].concat()
        }
        "secp256k1_recover" | "secp256k1_recover_batch" => {
            let (key, hash) = (secret_key(random), random.bytes(32));
            let signature = truth::sign(&key, &hash)?;
            [hash, signature.to_vec()].concat()
        }
        "secp256k1_verify" | "secp256k1_verify_batch" => {
            let (key, mut hash) = (secret_key(random), random.bytes(32));
            let signature = truth::sign(&key, &hash)?;
            if wrong(random) {
                hash[31] ^= 1;
            }
            [
                hash.as_slice(),
                &signature[..64],
                truth::public_key(&key)?.as_slice(),
            ]
            .concat()
        }
        "secp256k1_public_key" | "secp256k1_public_key_batch" => secret_key(random),
        "secp256k1_ecdh" => {
            let (key, other) = (secret_key(random), secret_key(random));
            [key.as_slice(), truth::public_key(&other)?.as_slice()].concat()
        }
        "address_derivation" => truth::public_key(&secret_key(random))?.to_vec(),
        "address_from_hex" => {
            let digits = truth::hex(&random.bytes(20));
            format!("0x{}", mixed_case(random, &digits)).into_bytes()
        }
        "checksum_address" => random.bytes(20),
        "hex_encode" => random.bytes(op.size.max(32)),
        "hex_decode" => {
            let digits = truth::hex(&random.bytes(op.size.max(32)));
            // Each text is entirely in one case, as in practice.
            if random.below(4) == 0 {
                digits.to_ascii_uppercase().into_bytes()
            } else {
                digits.into_bytes()
            }
        }
        "abi_encode_transfer" | "abi_encode_static" => {
            let value = if report {
                sized(random, 60)
            } else {
                spread(random, 1, 256)
            };
            [random.bytes(20), be32(&value)].concat()
        }
        "abi_encode_dynamic" | "abi_encode_runtime" => {
            let (string, data, numbers) = dynamic_parts(op, random);
            dynamic(string.as_bytes(), &data, &numbers)
        }
        "abi_encode_runtime_static" => {
            let number = be32(&spread(random, 0, 256));
            let flag = [random.below(2) as u8];
            let (word, small, negative) = (random.bytes(32), random.bytes(8), random.bytes(8));
            [
                &random.bytes(20)[..],
                &number,
                &small,
                &flag,
                &word,
                &negative,
            ]
            .concat()
        }
        "abi_decode_runtime_static" => {
            let number = be32(&spread(random, 0, 256));
            let flag = be32(&BigUint::from(random.below(2)));
            let (word, small, low) = (random.bytes(32), random.bytes(8), random.bytes(8));
            let sign = [if low[0] >> 7 == 1 { 0xff } else { 0 }; 24];
            let address = [&[0; 12], &random.bytes(20)[..]].concat();
            [
                &address[..],
                &number,
                &[0; 24],
                &small,
                &flag,
                &word,
                &sign,
                &low,
            ]
            .concat()
        }
        "abi_encode_runtime_nested" => nested(random),
        "abi_decode_runtime_nested" => truth::abi_nested(&nested(random))?,
        "abi_decode_uint256" => be32(&if report {
            sized(random, 60)
        } else {
            spread(random, 0, 256)
        }),
        "abi_decode_dynamic" | "abi_decode_dynamic_strict" => {
            let (string, data, _) = dynamic_parts(op, random);
            let tails = [string.as_bytes(), &data].map(truth::abi_bytes);
            lp(&truth::abi_tuple(&tails))
        }
        "abi_decode_runtime" => {
            let (string, data, numbers) = dynamic_parts(op, random);
            let count = be32(&BigUint::from(numbers.len()));
            let encoded = truth::abi_tuple(&[
                truth::abi_bytes(string.as_bytes()),
                truth::abi_bytes(&data),
                [count, numbers.concat()].concat(),
            ]);
            if op.ops_per_call == 1 {
                encoded
            } else {
                lp(&encoded)
            }
        }
        "rlp_encode_eip1559_tx" | "rlp_encode_eip1559_tx_typed" | "tx_hash_eip1559" => {
            drawn_transaction(report, random)
        }
        "rlp_decode_u256" => {
            let value = if report {
                sized(random, 60)
            } else {
                spread(random, 0, 256)
            };
            lp(&truth::rlp_number(&value))
        }
        "u256_add" | "u256_mul" => words(&[spread(random, 1, 256), spread(random, 1, 256)]),
        "u256_div" => words(&[spread(random, 64, 256), spread(random, 1, 256)]),
        "u256_uniswapv2_amount_out" => words(&[
            spread(random, 20, 90),
            spread(random, 50, 112),
            spread(random, 50, 112),
        ]),
        "u256_mulDiv" if op.case == "hard512" => {
            let (a, b, d) = (
                spread(random, 250, 255),
                spread(random, 250, 255),
                sized(random, 256),
            );
            words(&[a, b, d])
        }
        "u256_mulDiv" => {
            let (a, b) = (spread(random, 40, 128), spread(random, 40, 160));
            // If the product exceeds 255 bits, the divisor must be large enough for the quotient to fit 256 bits.
            let low = (a.bits() + b.bits()).saturating_sub(255).max(20) as usize;
            let d = spread(random, low, 140);
            words(&[a, b, d])
        }
        "u256_uniswapv4_swap" => words(&[
            spread(random, 50, 128),
            spread(random, 70, 160),
            spread(random, 30, 90),
        ]),
        "eip712_hash_typed_data"
        | "eip712_hash_typed_data_cached"
        | "eip712_hash_typed_data_prepared"
        | "eip712_hash_typed_data_json" => {
            let len = if report { 8 } else { random.between(3, 24) };
            let name = letters(random, len);
            let version = random.pick(&["1", "2", "3"]);
            let chain = if report { 1 } else { random.pick(&CHAINS) };
            let tail = [random.bytes(40), be32(&spread(random, 50, 100))].concat();
            let fields = transfer(&name, version, chain, &tail);
            if op.kernel.ends_with("json") {
                truth::transfer_json(&fields)?
            } else {
                fields
            }
        }
        other => bail!("no generator for kernel {other}"),
    })
}

const CHAINS: [u64; 7] = [1, 10, 137, 8453, 42161, 59144, 560_048];

fn drawn_transaction(report: bool, random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    let numbers = if report {
        [1, 42, 2_000_000_000, 100_000_000_000, 21_000].map(|n: u64| nudge(random, &n.into()))
    } else {
        [
            random.pick(&CHAINS).into(),
            spread(random, 0, 20),
            spread(random, 20, 36),
            spread(random, 30, 40),
            spread(random, 15, 24),
        ]
    };
    for (value, (_, width)) in numbers.iter().zip(FEES) {
        let mut digits = value.to_bytes_le();
        digits.resize(width, 0);
        out.extend(digits);
    }
    out.extend(random.bytes(20));
    out.extend(be32(&if report {
        sized(random, 60)
    } else {
        spread(random, 0, 90)
    }));
    let (data, entries) = if report {
        (0, 0)
    } else {
        let data = match random.below(4) {
            0 => 0,
            1 | 2 => 68,
            _ => random.between(4, 600),
        };
        (data, random.below(5).saturating_sub(2))
    };
    out.extend(lp(&random.bytes(data)));
    out.extend((entries as u32).to_le_bytes());
    for _ in 0..entries {
        out.extend(random.bytes(20));
        let keys = random.below(4);
        out.extend((keys as u32).to_le_bytes());
        out.extend(random.bytes(32 * keys));
    }
    out
}

/// Malformed inputs of a decoder, each a bare element (no length prefix, no array). All of them must be rejected.
pub fn negative(name: &str) -> Result<Vec<Vec<u8>>> {
    let zeros = |count: usize| vec![0u8; count];
    let word = |low: u64| be32(&BigUint::from(low));
    if name.starts_with("neg:syrup") {
        return syrup::inputs::negative(name);
    }
    if name == "neg:xmss_verify_prod" {
        return xmss::negative();
    }
    Ok(match name {
        "neg:hex_decode_32b" => {
            let good = truth::hex(&Random::new(1).bytes(32)).into_bytes();
            bad_digits(
                &good,
                0,
                &[good[..63].to_vec(), [good.as_slice(), b"a"].concat()],
            )
        }
        "neg:address_from_hex" => {
            let good = format!("0x{}", truth::hex(&Random::new(2).bytes(20))).into_bytes();
            let wrong = [
                good[..41].to_vec(),
                good[..40].to_vec(),
                [good.as_slice(), b"a"].concat(),
                [good.as_slice(), b"ab"].concat(),
                b"0x".to_vec(),
                Vec::new(),
                [b"1x", &good[2..]].concat(),
                [b"0x0x", &good[4..]].concat(),
            ];
            bad_digits(&good, 2, &wrong)
        }
        "neg:abi_decode_dynamic_strict" => {
            let encode = |text: &[u8], data: &[u8]| {
                truth::abi_tuple(&[truth::abi_bytes(text), truth::abi_bytes(data)])
            };
            let good = encode(b"text", b"bytes");
            let with = |at: usize, byte: u8| {
                let mut bad = good.clone();
                bad[at] = byte;
                bad
            };
            let mut bad = negative("neg:abi_decode_dynamic")?;
            // The first and last padding bytes of the string and the bytes.
            bad.extend([100, 127, 165, 191].map(|at| with(at, 1)));
            // Invalid UTF-8, also after several blocks of ASCII: stray, truncated, overlong, surrogate, above U+10FFFF.
            for text in [
                "80", "c3", "e9a6", "c0af", "e08080", "eda080", "f4908080", "ff",
            ] {
                let text = unhex(text.as_bytes())?;
                bad.push(encode(&text, b"bytes"));
                bad.push(encode(&[&[b'a'; 77], &text[..]].concat(), b""));
            }
            // Non-canonical offsets: both equal, in reverse order, with a gap.
            bad.push(with(63, 0x40));
            bad.push([word(0x80), word(0x40), good[64..].to_vec()].concat());
            bad.push([word(0x60), word(0xa0), word(0), good[64..].to_vec()].concat());
            bad
        }
        "neg:abi_decode_dynamic" => {
            let good = truth::abi_tuple(&[truth::abi_bytes(b"text"), truth::abi_bytes(b"bytes")]);
            let with = |at: usize, value: &[u8]| {
                let mut bad = good.clone();
                bad[at..at + 32].copy_from_slice(value);
                bad
            };
            let huge = [0xff; 32];
            let mut above = zeros(32);
            above[23] = 1; // 2^64: a decoder that keeps 64 bits of it sees 0
            vec![
                Vec::new(),
                good[..31].to_vec(),
                good[..63].to_vec(),
                good[..64].to_vec(),
                good[..95].to_vec(),
                good[..good.len() - 33].to_vec(),
                with(0, &huge),
                with(32, &huge),
                with(64, &huge),
                with(128, &huge),
                with(0, &word(good.len() as u64)),
                with(0, &word(1 << 40)),
                with(32, &word(0x7fff_ffff_ffff_ffe0)),
                with(64, &word(1 << 40)),
                with(128, &word(u64::MAX)),
                with(64, &above),
                with(128, &above),
                with(0, &[above[..31].to_vec(), vec![0x40]].concat()),
            ]
        }
        "neg:rlp_decode_u256" => vec![
            Vec::new(),
            vec![0x00],                                     // zero must be 80
            vec![0x81, 0x05],                               // a byte below 0x80 with a length
            vec![0x82, 0x00, 0x01],                         // leading zero
            vec![0x88, 0, 0, 0, 0, 0, 0, 0, 1],             // leading zeros
            vec![0x88, 1, 2, 3],                            // truncated
            vec![0xb8, 0x01, 0xff],                         // long form of a short length
            [vec![0xb8, 0x20], vec![0xff; 32]].concat(),    // the same with 32 bytes
            [vec![0xb9, 0x00, 0x38], vec![1; 56]].concat(), // leading zero in the length
            [vec![0xa1, 0x01], zeros(32)].concat(),         // 2^256
            [vec![0xb8, 0x38], vec![1; 56]].concat(),       // 56 bytes
            vec![0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            vec![0xb8],
            vec![0xc0], // a list
            vec![0xc1, 0x01],
            vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        ],
        "neg:tx_decode_blocks" => malformed_transactions()?,
        "neg:secp256k1_recover" => {
            let order = unhex(b"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")?;
            let hash = Random::new(3).bytes(32);
            let good = truth::sign(&secret_key(&mut Random::new(4)), &hash)?;
            let (r, s, v) = (&good[..32], &good[32..64], &good[64..]);
            let item = |r: &[u8], s: &[u8], v: &[u8]| [&hash, r, s, v].concat();
            let zero = zeros(32);
            let mut bad = vec![
                item(&zero, s, v),
                item(r, &zero, v),
                item(&zero, &zero, v),
                item(&order, s, v),
                item(r, &order, v),
                item(&[0xff; 32], s, v),
                item(r, &[0xff; 32], v),
                item(r, s, &[4]),
                item(r, s, &[5]),
                item(r, s, &[29]),
                item(r, s, &[255]),
                // r + n is not an x coordinate, because it exceeds the field prime.
                item(r, s, &[2]),
                item(r, s, &[3]),
            ];
            // x coordinates that are not on the curve.
            bad.extend(
                (1..40u64)
                    .map(word)
                    .filter(|x| truth::recover(&hash, &[x, s, v].concat()).is_err())
                    .take(4)
                    .map(|x| item(&x, s, v)),
            );
            bad
        }
        other => bail!("no malformed inputs for {other}"),
    })
}

/// A valid text with a wrong character at various positions, followed by further invalid texts.
fn bad_digits(good: &[u8], first: usize, wrong: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut out = wrong.to_vec();
    for (at, bad) in b"g/:@G`{ \n\0\x80\xff\xb0x".iter().enumerate() {
        let mut text = good.to_vec();
        text[first + (at * 7) % (good.len() - first)] = *bad;
        out.push(text);
    }
    for at in [
        first,
        first + 1,
        good.len() / 2,
        good.len() - 2,
        good.len() - 1,
    ] {
        let mut text = good.to_vec();
        text[at] = b'g';
        out.push(text);
    }
    out
}

fn malformed_transactions() -> Result<Vec<Vec<u8>>> {
    let good = blocks()?.swap_remove(0);
    let number = |n: u64| truth::rlp_number(&BigUint::from(n));
    // A type 2 transaction whose fields can be replaced individually.
    let fields = [
        number(1),
        number(7),
        number(1000),
        number(2000),
        number(21_000),
        truth::rlp_text(&[0x11; 20]),
        number(5),
        truth::rlp_text(b""),
        truth::rlp_list(&[]),
        number(1),
        truth::rlp_text(&[0x22; 32]),
        truth::rlp_text(&[0x33; 32]),
    ];
    let with = |at: usize, field: Vec<u8>| {
        let mut fields = fields.to_vec();
        fields[at] = field;
        [vec![2], truth::rlp_list(&fields)].concat()
    };
    let mut bad = vec![
        Vec::new(),
        vec![2],
        vec![2, 0xc0],
        vec![2, 0x80],
        good[..good.len() - 1].to_vec(),
        good[..good.len() / 2].to_vec(),
        [good.as_slice(), &[0]].concat(),
        [&[0x7f], &good[1..]].concat(),
        [&[2, 2], &good[1..]].concat(),
        with(1, vec![0x00]),
        with(1, vec![0x81, 0x07]),
        with(1, vec![0x82, 0x00, 0x07]),
        with(1, [vec![0x89, 1], vec![0; 8]].concat()),
        with(4, vec![0x82, 0x00, 0x07]),
        with(5, truth::rlp_text(&[0x11; 19])),
        with(5, truth::rlp_text(&[0x11; 21])),
        with(6, vec![0x82, 0x00, 0x07]),
        with(8, truth::rlp_text(b"")),
        with(8, truth::rlp_list(&[truth::rlp_text(&[1; 20])])),
        with(
            8,
            truth::rlp_list(&[truth::rlp_list(&[truth::rlp_text(&[1; 20])])]),
        ),
        with(10, vec![0x82, 0x00, 0x07]),
    ];
    for fields in [&fields[..11], &fields[..10], &fields[..1]] {
        bad.push([vec![2], truth::rlp_list(fields)].concat());
    }
    bad.push(
        [
            vec![2],
            truth::rlp_list(&[&fields[..], &[number(1)]].concat()),
        ]
        .concat(),
    );
    Ok(bad)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use crate::ops::catalogue;
    use crate::truth::expected;

    fn truth_of(op: &Op, item: &[u8]) -> Vec<u8> {
        expected(&op.kernel, op.ops_per_call, item).unwrap().bytes
    }

    /// The one output that all elements of a report row have.
    fn element(id: &str) -> Vec<u8> {
        let op = catalogue().iter().find(|op| op.id == id).unwrap();
        let items = items(op).unwrap();
        let output = truth_of(op, &items[0]);
        let one = output.len() / op.ops_per_call;
        assert!(output.chunks(one).all(|part| part == &output[..one]));
        output[..one].to_vec()
    }

    #[test]
    fn report_rows_give_the_vectors_outputs() {
        let vectors = VECTORS.as_object().unwrap();
        let mut seen = 0;
        let mut check = |id: &str, want: Vec<u8>| {
            assert_eq!(element(id), want, "{id}");
            seen += 1;
        };
        let le = |value: &Value| le32(&number(value).unwrap());
        for (name, vector) in vectors {
            let want = &vector["expected"];
            match name.as_str() {
                "secp256k1_sign" => {
                    let v = want["v"].as_u64().unwrap() as u8;
                    check(
                        name,
                        [
                            bytes(&want["r"]).unwrap(),
                            bytes(&want["s"]).unwrap(),
                            vec![v],
                        ]
                        .concat(),
                    );
                }
                "secp256k1_sign_recover" => {
                    let key = bytes(&want["pubkey_uncompressed"]).unwrap()[1..].to_vec();
                    check(name, key.clone());
                    check("secp256k1_recover", key);
                }
                "checksum_address" | "hex_encode_32b" => check(name, want.as_str().unwrap().into()),
                "abi_decode_dynamic" => {
                    let joined = [
                        want[0].as_str().unwrap().as_bytes().to_vec(),
                        bytes(&want[1]).unwrap(),
                    ];
                    check(name, joined.concat());
                }
                "rlp_encode_eip1559_tx" => {
                    check(name, bytes(&want["list_only"]).unwrap());
                    check(
                        "rlp_encode_eip1559_tx_zig_input",
                        bytes(&want["with_type"]).unwrap(),
                    );
                }
                "u256_mulDiv" => {
                    check(name, le(&want["alloy_bench"]));
                    check("u256_mulDiv_zig_input", le(&want["zig"]));
                    check("u256_mulDiv_hard512", le(&want["hard512"]));
                }
                "u256_uniswapv4_swap" => {
                    check(name, le(&want["alloy_bench"]));
                    check("u256_uniswapv4_swap_zig_input", le(&want["zig"]));
                }
                "eip712_hash_typed_data" => {
                    for suffix in ["", "_cached", "_json"] {
                        check(&format!("{name}{suffix}"), bytes(want).unwrap());
                    }
                }
                _ if want.as_str().unwrap().starts_with("0x") => check(name, bytes(want).unwrap()),
                _ => check(name, le(want)),
            }
        }
        assert_eq!(seen, vectors.len() + 7);
    }

    #[test]
    fn block_rows_give_the_vectors_hashes_and_senders() {
        let op = catalogue()
            .iter()
            .find(|op| op.id == "tx_sender_blocks")
            .unwrap();
        let items = items(op).unwrap();
        assert_eq!(items.len(), op.items);
        for (item, vector) in items.iter().zip(BLOCKS.as_array().unwrap()) {
            let want = [
                bytes(&vector["hash"]).unwrap(),
                bytes(&vector["sender"]).unwrap(),
            ];
            assert_eq!(truth_of(op, item), want.concat());
            assert!(expected("tx_decode", 1, item).unwrap().bytes.len() == 68);
            assert_eq!(expected("tx_hash", 1, item).unwrap().bytes, want[0]);
        }
    }

    #[test]
    fn drawn_items_are_distinct_reproducible_and_have_a_truth() {
        let own = |op: &&Op| precompile::is_row(op) || xmss::is_row(op);
        for op in catalogue().iter().filter(|op| !own(op)) {
            let main = items(op).unwrap();
            assert_eq!(main.len(), op.items, "{}", op.id);
            assert_eq!(main, items(op).unwrap(), "{}", op.id);
            let probe = probe(op, 0, 4).unwrap();
            assert_eq!(probe.len(), 4);
            let mut all: Vec<_> = main.iter().chain(&probe).collect();
            all.sort();
            all.dedup();
            let fixed = matches!(op.input, Input::Blocks | Input::Vectors);
            let reordered = if fixed { 4 } else { 0 };
            assert_eq!(all.len(), main.len() + 4 - reordered, "{}: distinct", op.id);
            for item in main.iter().take(3).chain(&probe) {
                assert!(!truth_of(op, item).is_empty(), "{}", op.id);
            }
        }
    }

    #[test]
    fn quotients_fit() {
        // The kernels require floor(a*b/d) below 2^256; a wrapped quotient would match no implementation.
        for op in catalogue().iter().filter(|op| op.kernel == "u256_mulDiv") {
            for item in items(op).unwrap().iter().chain(&probe(op, 1, 8).unwrap()) {
                for triple in item.chunks(96) {
                    let at = |i: usize| BigUint::from_bytes_le(&triple[32 * i..32 * i + 32]);
                    assert!((at(0) * at(1) / at(2)).bits() <= 256, "{}", op.id);
                }
            }
        }
    }

    #[test]
    fn malformed_inputs_are_malformed() {
        for op in catalogue().iter().filter(|op| !xmss::is_row(op)) {
            let Some(name) = &op.negative else { continue };
            let items = negative(name).unwrap();
            assert!(items.len() >= 15, "{name}");
            for item in items {
                let framed = match op.kernel.as_str() {
                    "abi_decode_dynamic" | "abi_decode_dynamic_strict" | "rlp_decode_u256" => {
                        lp(&item)
                    }
                    kernel if kernel.starts_with("syrup_") => lp(&item),
                    _ => item.clone(),
                };
                let got = match op.kernel.as_str() {
                    // The reference accepts any v, but only items of exactly 97 bytes.
                    "secp256k1_recover" if item.len() != 97 => continue,
                    _ => expected(&op.kernel, 1, &framed),
                };
                assert!(got.is_err(), "{name}: {}", truth::hex(&item));
            }
        }
    }
}
