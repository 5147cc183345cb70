//! The `bulk` family: files of logs and of transactions.
//!
//! An item holds the rows of a file. Contenders write it as Parquet before the clock starts. The output of a call is a
//! file or arrays, of which `verify` writes the number of rows and a digest of all values, and `run` adds the number of
//! rows.

mod columns;
mod mix;

use std::ops::Range;
use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail};
use num_bigint::BigUint;
use sha2::{Digest as _, Sha256};

use super::element::{Elements, elements};
use super::mainnet::{account, amount, log, sender, transaction, zipf};
use crate::kernel::Bulk;
use crate::ops::Op;
use crate::random::Random;
use crate::truth::bulk::{TOPICS, TRANSFER, order_fields, place, text, top, transfer_arguments};
use crate::truth::events::decoded;
use crate::truth::{Expected, abi::word, checksum, hex, keccak256, unhex};
use crate::wire::{Reader, lp};

/// A null in the digest.
const NULL: [u8; 1] = [0xff];

impl Elements for Bulk {
    fn element(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        match self {
            Self::SendersFile => Ok(lp(transaction(random)?)),
            Self::SendersColumns => columns::draw(random),
            Self::LogsFile => {
                let kind = random.below(1000);
                Ok(log(kind, random))
            }
            Self::TokensFile => Ok(token_log(random)),
            Self::Orders => Ok(order(random)),
            Self::Calls => Ok(lp(&call(random))),
            Self::Checksums => Ok(random.bytes(20)),
            Self::Decimals => Ok(amount(random).to_vec()),
            Self::HexDecode => Ok(lp(format!("0x{}", hex(&random.bytes(32))).as_bytes())),
            Self::Transfers | Self::TransfersFile => Ok(log(0, random)),
            Self::MixFile => bail!("no elements of kernel {}", op.kernel),
        }
    }

    fn item(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        match self {
            Self::MixFile => mix::draw(op.ops_per_call, random),
            _ => elements(self, op, random),
        }
    }

    fn output(&self, op: &Op, item: &[u8]) -> Result<Expected> {
        let (mut reader, mut rows, mut digest) = (Reader(item), 0u64, Sha256::new());
        let mut add = |values: Vec<u8>| {
            digest.update(values);
            rows += 1;
        };
        match self {
            Self::MixFile => {
                let rows = decoded(&mut reader, op.ops_per_call)?;
                rows.into_iter().flatten().for_each(add);
            }
            Self::TokensFile => {
                let rows = top(&mut reader, op.ops_per_call)?;
                rows.into_iter().for_each(add);
            }
            _ => {
                for row in 0..op.ops_per_call {
                    self.row(row, &mut reader)?.into_iter().for_each(&mut add);
                }
            }
        }
        anyhow::ensure!(reader.0.is_empty(), "bytes left over");
        Ok(Expected {
            sum: rows,
            bytes: [&rows.to_le_bytes()[..], &digest.finalize()].concat(),
        })
    }

    fn regions(&self, _: &Op, item: &[u8]) -> Result<Vec<Range<usize>>> {
        Ok(std::iter::once(0..item.len()).collect())
    }
}

impl Bulk {
    /// The values of a row of the output; `None` if the item's row has none.
    fn row(self, row: usize, reader: &mut Reader<'_>) -> Result<Option<Vec<u8>>> {
        Ok(match self {
            Self::SendersFile => {
                let sender = sender(reader.lp()?).context("unknown transaction")?;
                Some(sender.to_vec())
            }
            Self::SendersColumns => {
                let sender = columns::sender(reader)?;
                Some(sender.map_or(NULL.to_vec(), |sender| sender.to_vec()))
            }
            Self::Calls => transfer_arguments(reader.lp()?),
            Self::Checksums => Some(text(&checksum(reader.take(20)?))),
            Self::Decimals => {
                let number = BigUint::from_bytes_be(reader.take(32)?);
                Some(text(&number.to_string()))
            }
            Self::HexDecode => Some(unhex(&reader.lp()?[2..])?),
            Self::Orders | Self::Transfers | Self::TransfersFile | Self::LogsFile => {
                let address = reader.array::<20>()?;
                let topics: Vec<&[u8; 32]> = (0..reader.take(1)?[0])
                    .map(|_| reader.array())
                    .collect::<Result<_>>()?;
                let data = reader.lp()?;
                let decoded = match topics[..] {
                    [_, offerer, zone] if self == Self::Orders => {
                        Some(order_fields(offerer, zone, data)?)
                    }
                    [topic, from, to] if *topic == TOPICS[0] => {
                        Some([&from[12..], &to[12..], data].concat())
                    }
                    _ => None,
                };
                decoded.map(|decoded| {
                    [place(row).as_flattened(), address.as_slice(), &decoded].concat()
                })
            }
            Self::MixFile | Self::TokensFile => {
                bail!("the rows of {self:?} depend on the whole file")
            }
        })
    }
}

/// Draws a log. One transfer in 64 is of an amount below 2^232, so that a sum in 128 bits or in floating point is
/// wrong; no sum of an item reaches 2^256.
fn token_log(random: &mut Random) -> Vec<u8> {
    let kind = random.below(1000);
    let mut log = log(kind, random);
    if kind < 435 && random.below(64) == 0 {
        let start = log.len() - 29;
        log[start..].copy_from_slice(&random.bytes(29));
    }
    log
}

/// Event of a trade on Seaport, with two arrays of tuples.
static ORDER: LazyLock<[u8; 32]> = LazyLock::new(|| {
    keccak256(
        b"OrderFulfilled(bytes32,address,address,address,(uint8,address,uint256,uint256)[],(uint8,address,uint256,uint256,address)[])",
    )
});

/// A log of `OrderFulfilled`: one item is offered, mostly, for the price and up to two fees.
fn order(random: &mut Random) -> Vec<u8> {
    let (offered, considered) = (1 + random.below(8) / 7, 1 + random.below(3));
    let mut data = [random.bytes(32), account(random.below(1 << 20)).to_vec()].concat();
    data.extend([word(128), word(160 + 128 * offered), word(offered)].concat());
    for _ in 0..offered {
        data.extend(word(2 + random.below(2)));
        data.extend(account(zipf(random, 10_000)));
        data.extend([word(random.below(10_000)), word(1)].concat());
    }
    data.extend(word(considered));
    for _ in 0..considered {
        let kind = random.below(2);
        data.extend([word(kind), word(kind * 0xdac1), word(0)].concat());
        data.extend([amount(random), account(zipf(random, 1_000_000))].concat());
    }
    let topics = [
        *ORDER,
        account(zipf(random, 1_000_000)),
        account(random.below(4)),
    ];
    let exchange = &account(0x5ea)[12..];
    [exchange, &[3], topics.as_flattened(), &lp(&data)].concat()
}

/// The data of a call: of `transfer(address,uint256)` in one of six cases, as in the traces of mainnet blocks 18,426,253
/// to 18,426,303.
fn call(random: &mut Random) -> Vec<u8> {
    if random.below(6) == 0 {
        let recipient = account(zipf(random, 1_000_000));
        return [&TRANSFER[..], &recipient, &amount(random)].concat();
    }
    let words = random.below(5);
    let selector = [1 + random.below(200) as u8, 0, 0, 1];
    [selector.to_vec(), random.bytes(32 * words)].concat()
}
