//! The `bulk` family: files of logs and of transactions.
//!
//! An item holds the rows of a file. Contenders write it as Parquet before the clock starts. The output of a call is a
//! file or arrays, of which `verify` writes the number of rows and a digest of all values, and `run` adds the number of
//! rows.

use std::ops::Range;
use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};

use super::Elements;
use super::alloy::{sender, transaction};
use crate::ops::Op;
use crate::random::Random;
use crate::truth::{Expected, Reader, keccak256, lp};

/// The rows of `arena/ops/bulk.toml`.
pub struct Bulk;

/// Block of the first log.
const FIRST_BLOCK: usize = 18_426_253;
/// Logs of a block.
const BLOCK: usize = 335;

impl Elements for Bulk {
    fn published(&self, op: &Op) -> Result<Vec<Vec<u8>>> {
        bail!("no report input for kernel {}", op.kernel)
    }

    fn element(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        match op.kernel.as_str() {
            "bulk_senders_file" => Ok(lp(transaction(random)?)),
            "bulk_logs_file" => {
                let kind = random.below(1000);
                Ok(log(kind, random))
            }
            _ => Ok(log(0, random)),
        }
    }

    fn output(&self, op: &Op, item: &[u8]) -> Result<Expected> {
        let mut reader = Reader(item);
        let (mut rows, mut digest) = (0u64, Sha256::new());
        for row in 0..op.ops_per_call {
            if op.kernel == "bulk_senders_file" {
                digest.update(sender(reader.lp()?).context("unknown transaction")?);
                rows += 1;
                continue;
            }
            let address = reader.array::<20>()?;
            let topics: Vec<&[u8; 32]> = (0..reader.take(1)?[0])
                .map(|_| reader.array())
                .collect::<Result<_>>()?;
            let data = reader.lp()?;
            if let [topic, from, to] = topics[..]
                && *topic == TOPICS[0]
            {
                digest.update(((FIRST_BLOCK + row / BLOCK) as u32).to_be_bytes());
                digest.update(((row % BLOCK) as u32).to_be_bytes());
                digest.update(address);
                digest.update(&from[12..]);
                digest.update(&to[12..]);
                digest.update(data);
                rows += 1;
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

/// The first topics of events.
static TOPICS: LazyLock<[[u8; 32]; 4]> = LazyLock::new(|| {
    [
        "Transfer(address,address,uint256)",
        "Approval(address,address,uint256)",
        "Sync(uint112,uint112)",
        "Swap(address,uint256,uint256,uint256,uint256,address)",
    ]
    .map(|signature| keccak256(signature.as_bytes()))
});

/// A log: address 20, number of topics, topics, lp(data). The shares of events are those of mainnet blocks 18,426,253 to
/// 18,426,303.
fn log(kind: usize, random: &mut Random) -> Vec<u8> {
    let [transfer, approval, sync, swap] = *TOPICS;
    // Repeated values, like in real files: fewer tokens and holders than logs.
    let token = account(zipf(random, 50_000));
    let (from, to) = (
        account(1 << 32 | zipf(random, 1_000_000)),
        account(1 << 32 | zipf(random, 1_000_000)),
    );
    let mut amount = || {
        let mut word = [0; 32];
        let bytes = 1 + random.below(11);
        word[32 - bytes..].copy_from_slice(&random.bytes(bytes));
        word
    };
    let (topics, data): (Vec<[u8; 32]>, Vec<[u8; 32]>) = match kind {
        0..435 => (vec![transfer, from, to], vec![amount()]),
        435..457 => (vec![transfer, from, to, amount()], vec![]),
        457..535 => (vec![approval, from, to], vec![amount()]),
        535..612 => (vec![sync], vec![amount(), amount()]),
        612..687 => (
            vec![swap, from, to],
            vec![amount(), [0; 32], [0; 32], amount()],
        ),
        _ => {
            let mut other = account(2 << 32 | (kind % 300));
            other[0] = 1;
            (
                vec![other, from, to],
                vec![amount(), from][..kind % 3].to_vec(),
            )
        }
    };
    let mut out = token[12..].to_vec();
    out.push(topics.len() as u8);
    out.extend(topics.as_flattened());
    out.extend(lp(data.as_flattened()));
    out
}

/// The address with this number, padded to a word.
fn account(number: usize) -> [u8; 32] {
    let mut word = [0; 32];
    let (mut state, mut at) = (number as u64, 12);
    while at < 32 {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bytes = (mixed ^ (mixed >> 31)).to_be_bytes();
        let count = bytes.len().min(32 - at);
        word[at..at + count].copy_from_slice(&bytes[..count]);
        at += count;
    }
    word
}

/// Draws below `count`, small numbers more often.
fn zipf(random: &mut Random, count: usize) -> usize {
    let uniform = random.below(1 << 24) as f64 / f64::from(1 << 24);
    ((count as f64).powf(uniform) as usize).min(count) - 1
}
