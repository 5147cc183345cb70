//! Signed transactions and logs in the shares of mainnet, for the families `block` and `bulk`.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail};

use super::vectors::transactions;
use crate::random::Random;
use crate::truth::bulk::TOPICS;
use crate::wire::lp;

/// A signed transaction and its sender according to eth-account and eth-keys.
struct Known {
    raw: Vec<u8>,
    sender: [u8; 20],
}

/// The transactions of `vectors/tx` by type.
static KNOWN: LazyLock<Result<[Vec<Known>; 5]>> = LazyLock::new(|| {
    let mut by_type: [Vec<Known>; 5] = Default::default();
    for (raw, sender) in transactions()? {
        let kind = match raw.first().context("empty")? {
            kind @ 0..=4 => usize::from(*kind),
            _ => 0,
        };
        let sender = sender.as_slice().try_into()?;
        by_type[kind].push(Known { raw, sender });
    }
    Ok(by_type)
});

fn known() -> Result<&'static [Vec<Known>; 5]> {
    KNOWN
        .as_ref()
        .map_err(|error| anyhow::anyhow!("vectors/tx: {error:#}"))
}

/// Transaction types per hundred, about those of mainnet in 2026.
const TYPES: [(usize, usize); 5] = [(2, 70), (0, 20), (3, 4), (4, 4), (1, 2)];

/// Draws the type of a transaction.
pub fn kind(random: &mut Random) -> Result<usize> {
    let mut at = random.below(100);
    for (kind, share) in TYPES {
        if at < share {
            return Ok(kind);
        }
        at -= share;
    }
    bail!("the shares do not make a hundred")
}

/// Draws a signed transaction.
pub fn transaction(random: &mut Random) -> Result<&'static [u8]> {
    let list = &known()?[kind(random)?];
    Ok(&list[random.below(list.len())].raw)
}

/// The sender of a transaction that [`transaction`] draws.
pub fn sender(raw: &[u8]) -> Result<[u8; 20]> {
    let mut all = known()?.iter().flatten();
    let found = all.find(|known| known.raw == raw).context("unknown")?;
    Ok(found.sender)
}

pub fn secret_key(random: &mut Random) -> Vec<u8> {
    let mut key = random.bytes(32);
    key[0] = 1;
    key
}

/// A log: address 20, number of topics, topics, lp(data). The shares of events are those of mainnet blocks 18,426,253 to
/// 18,426,303.
pub fn log(kind: usize, random: &mut Random) -> Vec<u8> {
    let [transfer, approval, sync, swap] = *TOPICS;
    // Repeated values, like in real files: fewer tokens and holders than logs.
    let token = account(zipf(random, 50_000));
    let (from, to) = (
        account(1 << 32 | zipf(random, 1_000_000)),
        account(1 << 32 | zipf(random, 1_000_000)),
    );
    let mut amount = || amount(random);
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

/// A number of 1 to 11 bytes.
pub fn amount(random: &mut Random) -> [u8; 32] {
    let mut word = [0; 32];
    let bytes = 1 + random.below(11);
    word[32 - bytes..].copy_from_slice(&random.bytes(bytes));
    word
}

/// The address with this number, padded to a word.
pub fn account(number: usize) -> [u8; 32] {
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
pub fn zipf(random: &mut Random, count: usize) -> usize {
    let uniform = random.below(1 << 24) as f64 / f64::from(1 << 24);
    ((count as f64).powf(uniform) as usize).min(count) - 1
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_type_is_there() {
        assert!(known().unwrap().iter().all(|list| !list.is_empty()));
        assert_eq!(TYPES.iter().map(|(_, share)| share).sum::<usize>(), 100);
    }
}
