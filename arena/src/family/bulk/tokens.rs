//! The tokens with the largest volume, and with the most holders, of a file of mixed logs.

use std::collections::BTreeMap;

use anyhow::Result;
use num_bigint::{BigInt, BigUint, Sign};

use super::{TOPICS, log, text};
use crate::random::Random;
use crate::wire::Reader;

/// Tokens of each list.
const TOP: usize = 20;

/// Draws a log. One transfer in 64 is of an amount below 2^232, so that a sum in 128 bits or in floating point is wrong;
/// no sum of an item reaches 2^256.
pub(super) fn draw(random: &mut Random) -> Vec<u8> {
    let kind = random.below(1000);
    let mut log = log(kind, random);
    if kind < 435 && random.below(64) == 0 {
        let start = log.len() - 29;
        log[start..].copy_from_slice(&random.bytes(29));
    }
    log
}

/// Returns the rows of both lists: the token, and the volume or the number of holders as text. A holder has received more
/// than it has sent. Tokens with equal numbers are in the order of their addresses.
pub(super) fn top(reader: &mut Reader<'_>, logs: usize) -> Result<Vec<Vec<u8>>> {
    let mut volumes: BTreeMap<[u8; 20], BigUint> = BTreeMap::new();
    let mut balances: BTreeMap<([u8; 20], &[u8]), BigInt> = BTreeMap::new();
    for _ in 0..logs {
        let token = *reader.array::<20>()?;
        let topics: Vec<&[u8; 32]> = (0..reader.take(1)?[0])
            .map(|_| reader.array())
            .collect::<Result<_>>()?;
        let data = reader.lp()?;
        let [topic, from, to] = topics[..] else {
            continue;
        };
        if *topic != TOPICS[0] {
            continue;
        }
        let value = BigUint::from_bytes_be(data);
        *balances.entry((token, &to[12..])).or_default() += BigInt::from(value.clone());
        *balances.entry((token, &from[12..])).or_default() -= BigInt::from(value.clone());
        *volumes.entry(token).or_default() += value;
    }
    let mut holders: BTreeMap<[u8; 20], u64> = BTreeMap::new();
    for ((token, _), balance) in balances {
        if balance.sign() == Sign::Plus {
            *holders.entry(token).or_default() += 1;
        }
    }
    let mut rows = first(volumes);
    rows.extend(first(holders));
    Ok(rows)
}

fn first<N: Ord + ToString>(tokens: BTreeMap<[u8; 20], N>) -> Vec<Vec<u8>> {
    let mut tokens: Vec<_> = tokens.into_iter().collect();
    // Stable: in the order of addresses.
    tokens.sort_by(|(_, a), (_, b)| b.cmp(a));
    let rows = tokens.iter().take(TOP);
    rows.map(|(token, number)| [&token[..], &text(&number.to_string())].concat())
        .collect()
}
