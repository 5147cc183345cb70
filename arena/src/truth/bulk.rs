//! Values of the output rows of files of logs and of calls.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use anyhow::{Context as _, Result};
use num_bigint::{BigInt, BigUint, Sign};

use super::keccak256;
use crate::wire::Reader;

/// Block of the first log.
const FIRST_BLOCK: usize = 18_426_253;
/// Logs of a block.
const BLOCK: usize = 335;

/// Tokens of each list.
const TOP: usize = 20;

/// The first topics of events.
pub static TOPICS: LazyLock<[[u8; 32]; 4]> = LazyLock::new(|| {
    [
        "Transfer(address,address,uint256)",
        "Approval(address,address,uint256)",
        "Sync(uint112,uint112)",
        "Swap(address,uint256,uint256,uint256,uint256,address)",
    ]
    .map(|signature| keccak256(signature.as_bytes()))
});

/// The numbers of block and log of a row.
pub fn place(row: usize) -> [[u8; 4]; 2] {
    [FIRST_BLOCK + row / BLOCK, row % BLOCK].map(|number| (number as u32).to_be_bytes())
}

/// The values of an order in the order of the signature; an array is preceded by its length.
pub fn order_fields(offerer: &[u8; 32], zone: &[u8; 32], data: &[u8]) -> Result<Vec<u8>> {
    let words = data.as_chunks::<32>().0;
    let word = |index: usize| words.get(index).context("short data");
    let number = |index| anyhow::Ok(u32::from_be_bytes(word(index)?[28..].try_into()?));
    let mut out = [word(0)?, &offerer[12..], &zone[12..], &word(1)?[12..]].concat();
    for (field, has_recipient) in [(2, false), (3, true)] {
        let mut at = number(field)? as usize / 32;
        let count = number(at)?;
        out.extend(count.to_be_bytes());
        for _ in 0..count {
            out.extend(number(at + 1)?.to_be_bytes());
            out.extend(&word(at + 2)?[12..]);
            out.extend(word(at + 3)?);
            out.extend(word(at + 4)?);
            at += 4;
            if has_recipient {
                at += 1;
                out.extend(&word(at)?[12..]);
            }
        }
    }
    Ok(out)
}

/// The first bytes of a call of `transfer(address,uint256)`.
pub const TRANSFER: [u8; 4] = [0xa9, 0x05, 0x9c, 0xbb];

/// The recipient and the amount of a call of `transfer`; `None` for other calls.
pub fn transfer_arguments(call: &[u8]) -> Option<Vec<u8>> {
    let arguments = call.strip_prefix(&TRANSFER)?;
    Some(arguments[12..64].to_vec())
}

/// A text after its length.
pub fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_be_bytes(), text.as_bytes()].concat()
}

/// Returns the rows of both lists: the token, and the volume or the number of holders as text. A holder has received
/// more than it has sent. Tokens with equal numbers are in the order of their addresses.
pub fn top(reader: &mut Reader<'_>, logs: usize) -> Result<Vec<Vec<u8>>> {
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
