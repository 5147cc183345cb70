//! Signed transactions as rows of cryo's `transactions`: a column for each field, except access lists and the lists of
//! types 3 and 4.

use std::sync::LazyLock;

use anyhow::{Context as _, Result};
use num_bigint::BigUint;

use super::call;
use crate::family::mainnet::{account, amount, kind, secret_key, zipf};
use crate::random::Random;
use crate::truth::{keccak256, rlp, secp256k1, unhex};
use crate::wire::{Reader, be32, lp};

/// A row, and the sender if it follows from the columns.
type Known = (Vec<u8>, Option<[u8; 20]>);

/// The rows that items repeat, in the order of their bytes.
static KNOWN: LazyLock<Result<Vec<Known>>> = LazyLock::new(|| {
    let mut random = Random::new(810);
    let rows = (0..1024).map(|_| row(&mut random));
    let mut rows = rows.collect::<Result<Vec<_>>>()?;
    rows.sort();
    Ok(rows)
});

fn known() -> Result<&'static [Known]> {
    let known = KNOWN.as_deref();
    known.map_err(|error| anyhow::anyhow!("signed transactions: {error:#}"))
}

/// Draws a row.
pub(super) fn draw(random: &mut Random) -> Result<Vec<u8>> {
    let known = known()?;
    Ok(known[random.below(known.len())].0.clone())
}

/// Reads a row that [`draw`] draws and returns its sender. `None` if a list of the transaction has no column, the hash
/// is another transaction's, or the signature is invalid.
pub(super) fn sender(reader: &mut Reader<'_>) -> Result<Option<[u8; 20]>> {
    let start = reader.0;
    reader.take(1 + 6 * 8)?;
    reader.lp()?;
    reader.take(32)?;
    reader.lp()?;
    reader.take(1 + 3 * 32)?;
    let row = &start[..start.len() - reader.0.len()];
    let known = known()?;
    let found = known.binary_search_by(|(bytes, _)| bytes.as_slice().cmp(row));
    let found = found.ok().context("unknown transaction")?;
    Ok(known[found].1)
}

/// A row: the type (1 byte), chain id, nonce, gas limit, gas price, maximum fee and priority fee (u64, little-endian;
/// the fees are 0 in types that do not have them), lp(recipient), value (32), lp(input), parity of y, r, s, hash.
fn row(random: &mut Random) -> Result<Known> {
    let kind = kind(random)?;
    let key = secret_key(random);
    let (nonce, gas_limit) = (random.below(1 << 12), 21_000 + random.below(1 << 20));
    let price = 1_000_000_000 + random.below(1 << 36);
    let priority = random.below(1_000_000_000);
    let input = match random.below(100) {
        0..30 => Vec::new(),
        30..85 => call(random),
        _ => {
            let words = random.between(5, 30);
            random.bytes(4 + 32 * words)
        }
    };
    let to = match random.below(100) {
        0 => Vec::new(),
        _ => account(zipf(random, 50_000))[12..].to_vec(),
    };
    let value = amount(random);

    let number = |number: usize| rlp::number(&number.into());
    let body = [
        rlp::text(&to),
        rlp::number(&BigUint::from_bytes_be(&value)),
        rlp::text(&input),
    ];
    // One in 16 transactions of the types that have access lists.
    let has_access = kind > 0 && random.below(16) == 0;
    let mut access = Vec::new();
    if has_access {
        let keys = [rlp::text(&random.bytes(32))];
        access.push(rlp::list(&[rlp::text(&random.bytes(20)), rlp::list(&keys)]));
    }
    let (fee, chain) = (number(price), number(1));
    let mut fields = match kind {
        0 => vec![number(nonce), fee, number(gas_limit)],
        1 => vec![chain.clone(), number(nonce), fee, number(gas_limit)],
        _ => vec![
            chain.clone(),
            number(nonce),
            number(priority),
            fee,
            number(gas_limit),
        ],
    };
    fields.extend(body);
    match kind {
        0 => {}
        1 | 2 => fields.push(rlp::list(&access)),
        3 => {
            let hashes = [rlp::text(&[&[1], &random.bytes(31)[..]].concat())];
            fields.extend([rlp::list(&access), number(price), rlp::list(&hashes)]);
        }
        _ => {
            let delegate = rlp::text(&random.bytes(20));
            let [r, s] = [(); 2].map(|()| rlp::number(&BigUint::from_bytes_be(&random.bytes(32))));
            let authorization = [chain.clone(), delegate, number(nonce), number(0), r, s];
            let authorizations = rlp::list(&[rlp::list(&authorization)]);
            fields.extend([rlp::list(&access), authorizations]);
        }
    }
    // Before EIP-155, legacy transactions had no chain id.
    let is_protected = random.below(16) > 0;
    let envelope = |fields: &[Vec<u8>]| {
        let list = rlp::list(fields);
        match kind {
            0 => list,
            kind => [&[kind as u8], list.as_slice()].concat(),
        }
    };
    let mut preimage = fields.clone();
    if kind == 0 && is_protected {
        preimage.extend([chain, number(0), number(0)]);
    }
    let signature = secp256k1::sign(&key, &keccak256(&envelope(&preimage)))?;
    let mut parity = signature[64];
    let [mut r, mut s] = [0, 32].map(|at| BigUint::from_bytes_be(&signature[at..at + 32]));

    // One signature in 64 is invalid.
    let order = unhex(b"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")?;
    let order = BigUint::from_bytes_be(&order);
    let damage = random.below(4 * 64);
    match damage {
        0 => r = BigUint::ZERO,
        1 => s = BigUint::ZERO,
        2 => s = order,
        // The other signature of the same key, which EIP-2 forbids.
        3 => (s, parity) = (order - s, parity ^ 1),
        _ => {}
    }
    let v = match (kind, is_protected) {
        (0, true) => 37 + parity,
        (0, false) => 27 + parity,
        _ => parity,
    };
    fields.push(number(v.into()));
    fields.extend([rlp::number(&r), rlp::number(&s)]);
    let mut hash = keccak256(&envelope(&fields));
    // One hash in 64 is another transaction's.
    let is_other = random.below(64) == 0;
    if is_other {
        hash = keccak256(&hash);
    }

    let is_rebuilt = kind <= 2 && !has_access && damage > 3 && !is_other;
    let sender = is_rebuilt.then(|| anyhow::Ok(secp256k1::address(&secp256k1::public_key(&key)?)));
    // cryo's gas price is what was paid.
    let fees = match kind {
        0 | 1 => [price, 0, 0],
        _ => [price / 2, price, priority],
    };
    let mut row = vec![kind as u8];
    for number in [1, nonce, gas_limit].into_iter().chain(fees) {
        row.extend((number as u64).to_le_bytes());
    }
    row.extend([lp(&to), value.to_vec(), lp(&input), vec![parity]].concat());
    row.extend([be32(&r), be32(&s), hash.to_vec()].concat());
    Ok((row, sender.transpose()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn some_rows_have_no_sender() {
        let rows = known().unwrap();
        for kind in 0..5 {
            let mut of_kind = rows.iter().filter(|(row, _)| row[0] == kind);
            assert_eq!(of_kind.any(|(_, sender)| sender.is_some()), kind < 3);
        }
        let without = rows.iter().filter(|(_, sender)| sender.is_none()).count();
        assert!((64..256).contains(&without), "{without}");
    }
}
