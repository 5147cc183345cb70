//! The published inputs of the `ethereum` rows, and drawn ones.

use anyhow::{Context as _, Result, bail};
use num_bigint::BigUint;
use serde_json::Value;

use super::super::draw::{letters, mixed_case, nudge, secret_key, sized, spread};
use super::super::vectors::{bytes, input, number, text};
use crate::ops::{Input, Op};
use crate::random::Random;
use crate::truth::{abi, eip712, hex, rlp, secp256k1};
use crate::wire::{be32, le32, lp};

/// One element of the published input.
pub fn published(op: &Op) -> Result<Vec<u8>> {
    let words = |source: &Value, names: &[&str]| -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for name in names {
            out.extend(le32(&number(&source[*name])?));
        }
        Ok(out)
    };
    Ok(match op.kernel.as_str() {
        "keccak256" => match op.size {
            0 => Vec::new(),
            32 => bytes(&input("keccak256_32b")["data"])?,
            size => vec![0xab; size],
        },
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
                eip712::transfer_json(&fields)?
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

/// Draws an element; for a row of the reports, one like the published element.
pub fn element(op: &Op, random: &mut Random) -> Result<Vec<u8>> {
    let report = op.input == Input::Report;
    let words = |values: &[BigUint]| -> Vec<u8> { values.iter().flat_map(le32).collect() };
    if report && op.kernel.starts_with("u256_") {
        let own = published(op)?;
        let near = |word| nudge(random, &BigUint::from_bytes_le(word));
        return Ok(words(&own.chunks(32).map(near).collect::<Vec<_>>()));
    }
    Ok(match op.kernel.as_str() {
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
        "address_derivation" => secp256k1::public_key(&secret_key(random))?.to_vec(),
        "address_from_hex" => {
            let digits = hex(&random.bytes(20));
            format!("0x{}", mixed_case(random, &digits)).into_bytes()
        }
        "checksum_address" => random.bytes(20),
        "hex_encode" => random.bytes(op.size.max(32)),
        "hex_decode" => {
            let digits = hex(&random.bytes(op.size.max(32)));
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
        "abi_decode_runtime_nested" => abi::nested(&nested(random))?,
        "abi_decode_uint256" => be32(&if report {
            sized(random, 60)
        } else {
            spread(random, 0, 256)
        }),
        "abi_decode_dynamic" | "abi_decode_dynamic_strict" => {
            let (string, data, _) = dynamic_parts(op, random);
            let tails = [string.as_bytes(), &data].map(abi::bytes);
            lp(&abi::tuple(&tails))
        }
        "abi_decode_runtime" => {
            let (string, data, numbers) = dynamic_parts(op, random);
            let count = be32(&BigUint::from(numbers.len()));
            let encoded = abi::tuple(&[
                abi::bytes(string.as_bytes()),
                abi::bytes(&data),
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
            lp(&rlp::number(&value))
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
                eip712::transfer_json(&fields)?
            } else {
                fields
            }
        }
        other => bail!("no generator for kernel {other}"),
    })
}

/// Draws a batch of messages, which starts with their number.
pub fn messages(op: &Op, random: &mut Random) -> Vec<u8> {
    let mut out = (op.ops_per_call as u32).to_le_bytes().to_vec();
    for _ in 0..op.ops_per_call {
        let len = if op.case == "mixed" {
            random.between(0, op.size)
        } else {
            op.size
        };
        out.extend(lp(&random.bytes(len)));
    }
    out
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
