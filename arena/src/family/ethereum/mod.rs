//! The `ethereum` family: hashes, addresses, hex, ABI, RLP, U256, transactions and EIP-712.

mod inputs;
mod malformed;

use std::ops::Range;

use anyhow::Result;

use super::element::{Elements, elements, parse, read, regions};
use super::vectors::blocks;
use crate::kernel::Ethereum;
use crate::ops::{Input, Op};
use crate::random::Random;
use crate::truth::{Expected, ethereum::outputs};
use crate::wire::{Reader, lp};

impl Elements for Ethereum {
    fn published(&self, op: &Op) -> Result<Vec<Vec<u8>>> {
        if op.input == Input::Blocks {
            let list = blocks()?;
            return Ok((0..op.items).map(|item| gather(op, &list, item)).collect());
        }
        Ok(vec![inputs::published(*self, op)?.repeat(op.ops_per_call)])
    }

    fn element(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        inputs::element(*self, op, random)
    }

    fn item(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        match self {
            Self::Keccak256Batch => Ok(inputs::messages(op, random)),
            _ => elements(self, op, random),
        }
    }

    fn output(&self, op: &Op, item: &[u8]) -> Result<Expected> {
        let parts = read(op, item, |reader| outputs(*self, op.ops_per_call, reader));
        Ok(Expected::of(&parts?))
    }

    fn is_prefixed(&self, op: &Op) -> bool {
        match self {
            Self::AbiDecodeDynamic
            | Self::AbiDecodeDynamicStrict
            | Self::RlpDecodeU256
            | Self::TxHashBatch => true,
            Self::AbiDecodeRuntime => op.ops_per_call > 1,
            _ => false,
        }
    }

    fn regions(&self, op: &Op, item: &[u8]) -> Result<Vec<Range<usize>>> {
        let at = |reader: &Reader<'_>| item.len() - reader.0.len();
        match self {
            Self::Keccak256Batch => read(op, item, |reader| {
                let messages = (0..reader.u32()?).map(|_| {
                    let length = reader.u32()?;
                    let start = at(reader);
                    reader.take(length)?;
                    Ok(start..start + length)
                });
                messages.collect()
            }),
            Self::AbiEncodeDynamic => parse(op, item, |reader| {
                let start = at(reader);
                reader.lp()?;
                reader.lp()?;
                let count = reader.u32()?;
                reader.take(32 * count)?;
                Ok(start)
            }),
            Self::RlpEncodeEip1559Tx | Self::RlpEncodeEip1559TxTyped | Self::TxHashEip1559 => {
                parse(op, item, |reader| {
                    let start = at(reader);
                    reader.take(8 + 8 + 16 + 16 + 8 + 20 + 32)?;
                    reader.lp()?;
                    for _ in 0..reader.u32()? {
                        reader.take(20)?;
                        let count = reader.u32()?;
                        reader.take(32 * count)?;
                    }
                    Ok(start)
                })
            }
            _ => regions(self.is_prefixed(op), op, item),
        }
    }

    fn malformed(&self, decoder: &str) -> Result<Vec<Vec<u8>>> {
        malformed::malformed(decoder)
    }
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
