//! The `alloy` family: blocks of transactions and the expected results of alloy and revm.

use std::collections::HashMap;
use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail};
use num_bigint::BigUint;

use super::Elements;
use super::vectors::transactions;
use crate::ops::Op;
use crate::random::Random;
use crate::truth::{Expected, Reader, be32, keccak256, lp, rlp, secp256k1};

/// The rows of `arena/ops/alloy.toml`.
pub struct Alloy;

impl Elements for Alloy {
    fn published(&self, op: &Op) -> Result<Vec<Vec<u8>>> {
        bail!("no report input for kernel {}", op.kernel)
    }

    fn element(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        match op.kernel.as_str() {
            "alloy_senders" => Ok(lp(transaction(random)?)),
            "alloy_transactions_root" => {
                let block = (0..128).map(|_| Ok(lp(transaction(random)?)));
                Ok(block.collect::<Result<Vec<_>>>()?.concat())
            }
            "revm_block" => block_of_calls(random),
            other => bail!("no generator for kernel {other}"),
        }
    }

    fn output(&self, op: &Op, item: &[u8]) -> Result<Expected> {
        let bytes = output(&op.kernel, item).with_context(|| op.kernel.clone())?;
        Ok(Expected::of(&[bytes]))
    }

    fn is_prefixed(&self, op: &Op) -> bool {
        op.kernel == "alloy_senders"
    }
}

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

/// Draws a signed transaction.
pub(super) fn transaction(random: &mut Random) -> Result<&'static [u8]> {
    let mut at = random.below(100);
    for (kind, share) in TYPES {
        if at < share {
            let list = &known()?[kind];
            return Ok(&list[random.below(list.len())].raw);
        }
        at -= share;
    }
    bail!("the shares do not make a hundred")
}

/// The sender of a transaction that [`transaction`] draws.
pub(super) fn sender(raw: &[u8]) -> Result<[u8; 20]> {
    let mut all = known()?.iter().flatten();
    let found = all.find(|known| known.raw == raw).context("unknown")?;
    Ok(found.sender)
}

/// The expected output of an item.
fn output(kernel: &str, item: &[u8]) -> Result<Vec<u8>> {
    let mut reader = Reader(item);
    Ok(match kernel {
        "alloy_senders" => {
            let mut out = Vec::new();
            while !reader.0.is_empty() {
                let raw = reader.lp()?;
                out.extend(keccak256(raw));
                out.extend(sender(raw)?);
            }
            out
        }
        "alloy_transactions_root" => {
            let mut raw = Vec::new();
            while !reader.0.is_empty() {
                raw.push(reader.lp()?);
            }
            transactions_root(&raw).to_vec()
        }
        _ => run_block(&mut reader)?,
    })
}

// The trie

/// The root of the transactions trie, keyed by the RLP of their indices. Source: Yellow Paper, appendix D.
fn transactions_root(raw: &[&[u8]]) -> [u8; 32] {
    let mut entries: Vec<(Vec<u8>, &[u8])> = Vec::new();
    for (index, raw) in raw.iter().enumerate() {
        let key = rlp::number(&BigUint::from(index));
        let nibbles = key.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        entries.push((nibbles.collect(), raw));
    }
    entries.sort();
    keccak256(&node(&entries, 0))
}

/// The RLP of the node for these entries, which share their first `depth` nibbles.
fn node(entries: &[(Vec<u8>, &[u8])], depth: usize) -> Vec<u8> {
    let (first, value) = &entries[0];
    if entries.len() == 1 {
        return rlp::list(&[rlp::text(&packed(&first[depth..], true)), rlp::text(value)]);
    }
    // The entries are sorted, so a prefix common to the first and the last is common to all.
    let last = &entries[entries.len() - 1].0;
    let common = first.iter().zip(last).take_while(|(a, b)| a == b).count();
    if common > depth {
        let path = rlp::text(&packed(&first[depth..common], false));
        return rlp::list(&[path, reference(&node(entries, common))]);
    }
    let mut items = Vec::new();
    for nibble in 0..16 {
        let below = |(key, _): &(Vec<u8>, &[u8])| key.get(depth) == Some(&nibble);
        let from = entries.iter().position(below).unwrap_or(0);
        let count = entries.iter().filter(|entry| below(entry)).count();
        items.push(match count {
            0 => rlp::text(&[]),
            _ => reference(&node(&entries[from..from + count], depth + 1)),
        });
    }
    // A key that ends here would sort first; no index key is a prefix of another.
    items.push(rlp::text(if first.len() == depth { value } else { &[] }));
    rlp::list(&items)
}

/// The reference to a node in its parent.
fn reference(node: &[u8]) -> Vec<u8> {
    match node.len() {
        0..32 => node.to_vec(),
        _ => rlp::text(&keccak256(node)),
    }
}

/// Hex-prefix encoding. Source: Yellow Paper, appendix C.
fn packed(nibbles: &[u8], leaf: bool) -> Vec<u8> {
    let odd = nibbles.len() % 2;
    let flag = 2 * u8::from(leaf) + odd as u8;
    let (head, tail) = nibbles.split_at(odd);
    let mut out = vec![16 * flag + head.first().unwrap_or(&0)];
    out.extend(tail.chunks(2).map(|pair| 16 * pair[0] + pair[1]));
    out
}

// Block of calls

/// Address of the contract.
const TOKEN: [u8; 20] = [0xc0; 20];

/// A minimal token. `(to, amount)` moves an amount (balances wrap around and are not checked) and returns the
/// recipient's balance. `(hash, v, r, s, amount)` stores the allowance given by the signer to the caller, and returns
/// the signer. Balances are stored at keccak256(owner, 0), allowances at keccak256(owner, caller), like Solidity
/// mappings.
const CODE: &[u8] = &[
    0x36, 0x60, 160, 0x14, 0x60, 65, 0x57, // CALLDATASIZE, 160, EQ, permit, JUMPI
    0x33, 0x5f, 0x52, // memory[0] = CALLER; memory[32] is 0
    0x60, 64, 0x5f, 0x20, // KECCAK256
    0x80, 0x54, 0x60, 32, 0x35, 0x90, 0x03, 0x90, 0x55, // storage[hash] -= amount
    0x5f, 0x35, 0x5f, 0x52, // memory[0] = to
    0x60, 64, 0x5f, 0x20, // KECCAK256
    0x80, 0x54, 0x60, 32, 0x35, 0x01, // storage[hash] + amount
    0x80, 0x91, 0x55, // duplicate the balance, store it
    0x60, 32, 0x35, 0x60, 32, 0x52, // memory[32] = amount
    0x5f, 0x35, 0x33, // to, CALLER
    0x63, 0xdd, 0xf2, 0x52, 0xad, // the first bytes of Transfer's topic
    0x60, 32, 0x60, 32, 0xa3, // LOG3 of the amount
    0x5f, 0x52, 0x60, 32, 0x5f, 0xf3, // return the balance
    0x5b, // permit
    0x60, 128, 0x5f, 0x5f, 0x37, // CALLDATACOPY of hash, v, r, s
    0x60, 32, 0x5f, 0x60, 128, 0x5f, 0x60, 1, 0x5a, 0xfa, 0x50, // memory[0] = ECRECOVER
    0x33, 0x60, 32, 0x52, // memory[32] = CALLER
    0x60, 128, 0x35, 0x60, 64, 0x5f, 0x20, 0x55, // storage[keccak256] = amount
    0x60, 32, 0x5f, 0xf3, // return the signer
];

/// `lp(code)`, then 64 times (from 20 bytes, to 20 bytes, `lp(call data)`).
fn block_of_calls(random: &mut Random) -> Result<Vec<u8>> {
    let accounts: Vec<Vec<u8>> = (0..24).map(|_| random.bytes(20)).collect();
    let mut out = lp(CODE);
    for _ in 0..64 {
        let from = &accounts[random.below(accounts.len())];
        let other = &accounts[random.below(accounts.len())];
        let amount = [vec![0; 24], random.bytes(8)].concat();
        let (to, data) = match random.below(100) {
            0..25 => (other.clone(), Vec::new()),
            25..88 => (
                TOKEN.to_vec(),
                [[0; 12].as_slice(), other, &amount].concat(),
            ),
            _ => {
                let mut key = random.bytes(32);
                key[0] = 1;
                let hash = random.bytes(32);
                let signature = secp256k1::sign(&key, &hash)?;
                let v = [[0; 31].as_slice(), &[27 + signature[64]]].concat();
                let rs = signature[..64].to_vec();
                (TOKEN.to_vec(), [hash, v, rs, amount].concat())
            }
        };
        out.extend([from.clone(), to, lp(&data)].concat());
    }
    Ok(out)
}

/// The 32-byte return value of each call; zeros for a transfer of Ether.
fn run_block(reader: &mut Reader<'_>) -> Result<Vec<u8>> {
    anyhow::ensure!(reader.lp()? == CODE, "another contract");
    let mut balances: HashMap<Vec<u8>, BigUint> = HashMap::new();
    let modulus = BigUint::from(1u8) << 256;
    let mut out = Vec::new();
    while !reader.0.is_empty() {
        let (from, _, data) = (reader.take(20)?, reader.take(20)?, reader.lp()?);
        match data.len() {
            0 => out.extend([0; 32]),
            64 => {
                let amount = BigUint::from_bytes_be(&data[32..]);
                let old = balances.entry(from.to_vec()).or_default();
                *old = (&*old + &modulus - &amount) % &modulus;
                let new = balances.entry(data[12..32].to_vec()).or_default();
                *new = (&*new + &amount) % &modulus;
                out.extend(be32(new));
            }
            160 => {
                let signature = [&data[64..128], &[data[63] - 27]].concat();
                let key = secp256k1::recover(&data[..32], &signature)?;
                out.extend([[0; 12].as_slice(), &secp256k1::address(&key)].concat());
            }
            other => bail!("{other} bytes of call data"),
        }
    }
    Ok(out)
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

    #[test]
    fn root_of_one_entry_is_that_of_its_leaf() {
        // The key 0x80 of index 0 gives a leaf with an even path: 0x20, 0x80.
        let value = [7; 40];
        let leaf = rlp::list(&[rlp::text(&[0x20, 0x80]), rlp::text(&value)]);
        assert_eq!(transactions_root(&[&value]), keccak256(&leaf));
    }

    #[test]
    fn the_jump_lands() {
        assert_eq!(CODE[usize::from(CODE[5])], 0x5b);
    }
}
