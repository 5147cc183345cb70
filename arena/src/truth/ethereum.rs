//! Expected outputs of the `ethereum` rows.

use anyhow::{Context as _, Result, bail, ensure};
use num_bigint::BigUint;

use super::rlp::Rlp;
use super::transaction::{self, Signed};
use super::{abi, checksum, eip712, hex, keccak256, rlp, secp256k1, unhex};
use crate::kernel::Ethereum;
use crate::wire::{Reader, le32, wrap};

/// The parts of the output of `kernel` on one item.
pub fn outputs(kernel: Ethereum, elements: usize, input: &mut Reader<'_>) -> Result<Vec<Vec<u8>>> {
    let mut each = |one: &mut dyn FnMut(&mut Reader<'_>) -> Result<Vec<Vec<u8>>>| {
        let mut parts = Vec::new();
        for _ in 0..elements {
            parts.extend(one(input)?);
        }
        Ok(parts)
    };
    let single = |bytes: Vec<u8>| Ok(vec![bytes]);
    match kernel {
        Ethereum::Keccak256 => single(keccak256(input.rest()).to_vec()),
        Ethereum::Keccak256Batch => {
            let count = input.u32()?;
            (0..count)
                .map(|_| Ok(keccak256(input.lp()?).to_vec()))
                .collect()
        }
        Ethereum::AddressDerivation => single(secp256k1::address(input.array()?).to_vec()),
        Ethereum::AddressFromHex => each(&mut |r| {
            let text = r.take(42)?.strip_prefix(b"0x").context("no 0x")?;
            single(unhex(text)?)
        }),
        Ethereum::ChecksumAddress => single(checksum(input.take(20)?).into_bytes()),
        Ethereum::HexEncode => each(&mut |r| {
            let size = if elements == 1 { r.0.len() } else { 32 };
            single(hex(r.take(size)?).into_bytes())
        }),
        Ethereum::HexDecode => each(&mut |r| {
            let size = if elements == 1 { r.0.len() } else { 64 };
            single(unhex(r.take(size)?)?)
        }),
        Ethereum::AbiEncodeTransfer => each(&mut |r| {
            let selector = &keccak256(b"transfer(address,uint256)")[..4];
            single([selector, &abi::pair(r)?].concat())
        }),
        Ethereum::AbiEncodeStatic => each(&mut |r| single(abi::pair(r)?)),
        Ethereum::AbiEncodeDynamic | Ethereum::AbiEncodeRuntime => {
            each(&mut |r| single(abi::dynamic(r)?))
        }
        Ethereum::AbiDecodeUint256 => each(&mut |r| {
            let mut word = r.take(32)?.to_vec();
            word.reverse();
            single(word)
        }),
        Ethereum::AbiDecodeDynamic => each(&mut |r| {
            let data = r.lp()?;
            Ok(vec![
                abi::tail(data, 0)?.to_vec(),
                abi::tail(data, 1)?.to_vec(),
            ])
        }),
        Ethereum::AbiDecodeDynamicStrict => each(&mut |r| {
            let data = r.lp()?;
            let (text, bytes) = (abi::tail(data, 0)?, abi::tail(data, 1)?);
            std::str::from_utf8(text)?;
            let canonical = abi::tuple(&[abi::bytes(text), abi::bytes(bytes)]);
            ensure!(data == canonical, "not canonical");
            Ok(vec![text.to_vec(), bytes.to_vec()])
        }),
        Ethereum::AbiEncodeRuntimeStatic => each(&mut |r| {
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
        Ethereum::AbiDecodeRuntimeStatic => each(&mut |r| {
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
        Ethereum::AbiEncodeRuntimeNested => single(abi::nested(input.rest())?),
        Ethereum::AbiDecodeRuntimeNested => {
            let data = input.rest();
            let mut parts = vec![data.get(12..32).context("short head")?.to_vec()];
            let list = |head: usize| -> Result<(&[u8], usize)> {
                let at = abi::number(data, head)?;
                Ok((
                    data.get(at + 32..).context("offset")?,
                    abi::number(data, at)?,
                ))
            };
            let (pairs, count) = list(32)?;
            for i in 0..count {
                let pair = pairs.get(abi::number(pairs, 32 * i)?..).context("offset")?;
                let number = pair.get(..32).context("short pair")?;
                parts.push(number.iter().rev().copied().collect());
                parts.push(abi::tail(pair, 1)?.to_vec());
            }
            let (strings, count) = list(64)?;
            for i in 0..count {
                parts.push(abi::tail(strings, i)?.to_vec());
            }
            Ok(parts)
        }
        Ethereum::AbiDecodeRuntime => each(&mut |r| {
            let data = if elements == 1 { r.rest() } else { r.lp()? };
            let at = abi::number(data, 64)?;
            let count = abi::number(data, at)?;
            let mut numbers = Vec::new();
            for i in 0..count {
                let word = data.get(at + 32 + 32 * i..at + 64 + 32 * i);
                numbers.extend(word.context("short array")?.iter().rev());
            }
            Ok(vec![
                abi::tail(data, 0)?.to_vec(),
                abi::tail(data, 1)?.to_vec(),
                numbers,
            ])
        }),
        Ethereum::RlpEncodeEip1559Tx => each(&mut |r| single(transaction::unsigned(r)?)),
        Ethereum::RlpEncodeEip1559TxTyped => {
            each(&mut |r| single([&[2], transaction::unsigned(r)?.as_slice()].concat()))
        }
        Ethereum::RlpDecodeU256 => each(&mut |r| {
            let item = r.lp()?;
            let (content, rest) = rlp::item(item)?;
            ensure!(rest.is_empty(), "trailing bytes");
            let Rlp::Text(bytes) = content else {
                bail!("a list")
            };
            ensure!(bytes.len() <= 32 && bytes.first() != Some(&0), "not a u256");
            single(le32(&BigUint::from_bytes_be(bytes)))
        }),
        Ethereum::U256Add => each(&mut |r| single(le32(&(r.u256()? + r.u256()?)))),
        Ethereum::U256Mul => each(&mut |r| single(le32(&(r.u256()? * r.u256()?)))),
        Ethereum::U256Div => each(&mut |r| single(le32(&(r.u256()? / r.u256()?)))),
        Ethereum::U256Uniswapv2AmountOut => each(&mut |r| {
            let (amount, reserve_in, reserve_out) = (r.u256()?, r.u256()?, r.u256()?);
            let with_fee = amount * 997u32;
            single(le32(
                &(&with_fee * reserve_out / (reserve_in * 1000u32 + &with_fee)),
            ))
        }),
        Ethereum::U256MulDiv => each(&mut |r| {
            let (a, b, d) = (r.u256()?, r.u256()?, r.u256()?);
            single(le32(&(a * b / d)))
        }),
        Ethereum::U256Uniswapv4Swap => each(&mut |r| {
            let (liquidity, price, amount) = (r.u256()?, r.u256()?, r.u256()?);
            let divisor = wrap(&(&liquidity + amount * &price));
            single(le32(&(liquidity * price / divisor)))
        }),
        Ethereum::TxHashEip1559 => {
            single(keccak256(&[&[2], transaction::unsigned(input)?.as_slice()].concat()).to_vec())
        }
        Ethereum::TxDecode => {
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
        Ethereum::TxHash => {
            let raw = input.rest();
            Signed::decode(raw)?;
            single(keccak256(raw).to_vec())
        }
        Ethereum::TxHashBatch => each(&mut |r| {
            let raw = r.lp()?;
            Signed::decode(raw)?;
            single(keccak256(raw).to_vec())
        }),
        Ethereum::TxSender => {
            let raw = input.rest();
            let tx = Signed::decode(raw)?;
            let sender = secp256k1::address(&secp256k1::recover(&tx.signing_hash, &tx.signature)?);
            single([keccak256(raw).as_slice(), &sender].concat())
        }
        Ethereum::Eip712HashTypedData
        | Ethereum::Eip712HashTypedDataCached
        | Ethereum::Eip712HashTypedDataPrepared => {
            single(eip712::typed_data(&eip712::transfer_document(input)?)?.to_vec())
        }
        Ethereum::Eip712HashTypedDataJson => {
            single(eip712::typed_data(&serde_json::from_slice(input.rest())?)?.to_vec())
        }
    }
}
