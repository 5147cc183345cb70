//! The published inputs of the `ethereum` rows, and drawn ones.

use anyhow::{Context as _, Result, bail};
use num_bigint::BigUint;
use serde_json::Value;

use super::super::draw::{letters, mixed_case, nudge, secret_key, sized, spread};
use super::super::vectors::{bytes, input, number, text};
use crate::kernel::Ethereum;
use crate::ops::{Input, Op};
use crate::random::Random;
use crate::truth::{abi, eip712, hex, rlp, secp256k1};
use crate::wire::{be32, le32, lp};

/// One element of the published input.
pub fn published(kernel: Ethereum, op: &Op) -> Result<Vec<u8>> {
    let words = |source: &Value, names: &[&str]| -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for name in names {
            out.extend(le32(&number(&source[*name])?));
        }
        Ok(out)
    };
    Ok(match kernel {
        Ethereum::Keccak256 => match op.size {
            0 => Vec::new(),
            32 => bytes(&input("keccak256_32b")["data"])?,
            size => vec![0xab; size],
        },
        Ethereum::AddressDerivation => {
            bytes(&input("address_derivation")["pubkey_uncompressed"])?[1..].to_vec()
        }
        Ethereum::AddressFromHex => text(&input("address_from_hex")["text"])?
            .as_bytes()
            .to_vec(),
        Ethereum::ChecksumAddress => bytes(&input("checksum_address")["address"])?,
        Ethereum::HexEncode => bytes(&input("hex_encode_32b")["data"])?,
        Ethereum::HexDecode => text(&input("hex_decode_32b")["text"])?.as_bytes().to_vec(),
        Ethereum::AbiEncodeTransfer | Ethereum::AbiEncodeStatic => {
            let values = &input("abi_encode_transfer")["values"];
            [bytes(&values[0])?, be32(&number(&values[1])?)].concat()
        }
        Ethereum::AbiEncodeDynamic => {
            let values = &input("abi_encode_dynamic")["values"];
            let numbers = values[2].as_array().context("numbers")?;
            let numbers: Result<Vec<_>> = numbers.iter().map(|n| Ok(be32(&number(n)?))).collect();
            dynamic(text(&values[0])?.as_bytes(), &bytes(&values[1])?, &numbers?)
        }
        Ethereum::AbiDecodeUint256 => bytes(&input("abi_decode_uint256")["data"])?,
        Ethereum::AbiDecodeDynamic => lp(&bytes(&input("abi_decode_dynamic")["data"])?),
        Ethereum::RlpEncodeEip1559Tx
        | Ethereum::RlpEncodeEip1559TxTyped
        | Ethereum::TxHashEip1559 => {
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
        Ethereum::RlpDecodeU256 => lp(&bytes(&input("rlp_decode_u256")["data"])?),
        Ethereum::U256Add | Ethereum::U256Mul | Ethereum::U256Div => {
            words(input(op.kernel.name()), &["a", "b"])?
        }
        Ethereum::U256Uniswapv2AmountOut => words(
            input(op.kernel.name()),
            &["amount_in", "reserve_in", "reserve_out"],
        )?,
        Ethereum::U256MulDiv => words(&input(op.kernel.name())[&op.case], &["a", "b", "d"])?,
        Ethereum::U256Uniswapv4Swap => {
            let names = ["liquidity", "sqrt_price", "amount_in"];
            words(&input(op.kernel.name())[&op.case], &names)?
        }
        Ethereum::Eip712HashTypedData
        | Ethereum::Eip712HashTypedDataCached
        | Ethereum::Eip712HashTypedDataJson => {
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
            if kernel == Ethereum::Eip712HashTypedDataJson {
                eip712::transfer_json(&fields)?
            } else {
                fields
            }
        }
        _ => bail!("no report input for kernel {}", op.kernel),
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
pub fn element(kernel: Ethereum, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
    let report = op.input == Input::Report;
    let words = |values: &[BigUint]| -> Vec<u8> { values.iter().flat_map(le32).collect() };
    Ok(match kernel {
        Ethereum::U256Add
        | Ethereum::U256Mul
        | Ethereum::U256Div
        | Ethereum::U256Uniswapv2AmountOut
        | Ethereum::U256MulDiv
        | Ethereum::U256Uniswapv4Swap
            if report =>
        {
            let own = published(kernel, op)?;
            let near = |word| nudge(random, &BigUint::from_bytes_le(word));
            words(&own.chunks(32).map(near).collect::<Vec<_>>())
        }
        // There is only one empty message, so any message of one permutation is used.
        Ethereum::Keccak256 if op.size == 0 => {
            let len = random.between(1, 64);
            random.bytes(len)
        }
        Ethereum::Keccak256 if op.case == "mixed" => {
            let len = random.between(0, op.size);
            random.bytes(len)
        }
        Ethereum::Keccak256 => random.bytes(op.size),
        Ethereum::AddressDerivation => secp256k1::public_key(&secret_key(random))?.to_vec(),
        Ethereum::AddressFromHex => {
            let digits = hex(&random.bytes(20));
            format!("0x{}", mixed_case(random, &digits)).into_bytes()
        }
        Ethereum::ChecksumAddress => random.bytes(20),
        Ethereum::HexEncode => random.bytes(op.size.max(32)),
        Ethereum::HexDecode => {
            let digits = hex(&random.bytes(op.size.max(32)));
            // Each text is entirely in one case, as in practice.
            if random.below(4) == 0 {
                digits.to_ascii_uppercase().into_bytes()
            } else {
                digits.into_bytes()
            }
        }
        Ethereum::AbiEncodeTransfer | Ethereum::AbiEncodeStatic => {
            let value = if report {
                sized(random, 60)
            } else {
                spread(random, 1, 256)
            };
            [random.bytes(20), be32(&value)].concat()
        }
        Ethereum::AbiEncodeDynamic | Ethereum::AbiEncodeRuntime => {
            let (string, data, numbers) = dynamic_parts(op, random);
            dynamic(string.as_bytes(), &data, &numbers)
        }
        Ethereum::AbiEncodeRuntimeStatic => {
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
        Ethereum::AbiDecodeRuntimeStatic => {
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
        Ethereum::AbiEncodeRuntimeNested => nested(random),
        Ethereum::AbiDecodeRuntimeNested => abi::nested(&nested(random))?,
        Ethereum::AbiDecodeUint256 => be32(&if report {
            sized(random, 60)
        } else {
            spread(random, 0, 256)
        }),
        Ethereum::AbiDecodeDynamic | Ethereum::AbiDecodeDynamicStrict => {
            let (string, data, _) = dynamic_parts(op, random);
            let tails = [string.as_bytes(), &data].map(abi::bytes);
            lp(&abi::tuple(&tails))
        }
        Ethereum::AbiDecodeRuntime => {
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
        Ethereum::RlpEncodeEip1559Tx
        | Ethereum::RlpEncodeEip1559TxTyped
        | Ethereum::TxHashEip1559 => drawn_transaction(report, random),
        Ethereum::RlpDecodeU256 => {
            let value = if report {
                sized(random, 60)
            } else {
                spread(random, 0, 256)
            };
            lp(&rlp::number(&value))
        }
        Ethereum::U256Add | Ethereum::U256Mul => {
            words(&[spread(random, 1, 256), spread(random, 1, 256)])
        }
        Ethereum::U256Div => words(&[spread(random, 64, 256), spread(random, 1, 256)]),
        Ethereum::U256Uniswapv2AmountOut => words(&[
            spread(random, 20, 90),
            spread(random, 50, 112),
            spread(random, 50, 112),
        ]),
        Ethereum::U256MulDiv if op.case == "hard512" => {
            let (a, b, d) = (
                spread(random, 250, 255),
                spread(random, 250, 255),
                sized(random, 256),
            );
            words(&[a, b, d])
        }
        Ethereum::U256MulDiv => {
            let (a, b) = (spread(random, 40, 128), spread(random, 40, 160));
            // If the product exceeds 255 bits, the divisor must be large enough for the quotient to fit 256 bits.
            let low = (a.bits() + b.bits()).saturating_sub(255).max(20) as usize;
            let d = spread(random, low, 140);
            words(&[a, b, d])
        }
        Ethereum::U256Uniswapv4Swap => words(&[
            spread(random, 50, 128),
            spread(random, 70, 160),
            spread(random, 30, 90),
        ]),
        Ethereum::Eip712HashTypedData
        | Ethereum::Eip712HashTypedDataCached
        | Ethereum::Eip712HashTypedDataPrepared
        | Ethereum::Eip712HashTypedDataJson => {
            let len = if report { 8 } else { random.between(3, 24) };
            let name = letters(random, len);
            let version = random.pick(&["1", "2", "3"]);
            let chain = if report { 1 } else { random.pick(&CHAINS) };
            let tail = [random.bytes(40), be32(&spread(random, 50, 100))].concat();
            let fields = transfer(&name, version, chain, &tail);
            if kernel == Ethereum::Eip712HashTypedDataJson {
                eip712::transfer_json(&fields)?
            } else {
                fields
            }
        }
        Ethereum::Keccak256Batch
        | Ethereum::TxDecode
        | Ethereum::TxHash
        | Ethereum::TxHashBatch
        | Ethereum::TxSender => bail!("no generator for kernel {}", op.kernel),
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
