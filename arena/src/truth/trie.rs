//! Roots of Merkle Patricia tries, built from the root down. Source: Yellow Paper, appendices C and D.

use num_bigint::BigUint;

use super::{keccak256, rlp};

/// The root of a list, keyed by the RLP of the indices.
pub fn ordered_root<V: AsRef<[u8]>>(values: &[V]) -> [u8; 32] {
    let keys = (0..values.len()).map(|index| rlp::number(&BigUint::from(index)));
    root(keys.zip(values))
}

/// The root of a map whose keys are hashed.
pub fn secure_root<K: AsRef<[u8]>, V: AsRef<[u8]>>(
    entries: impl IntoIterator<Item = (K, V)>,
) -> [u8; 32] {
    root(
        entries
            .into_iter()
            .map(|(key, value)| (keccak256(key.as_ref()), value)),
    )
}

fn root<K: AsRef<[u8]>, V: AsRef<[u8]>>(entries: impl IntoIterator<Item = (K, V)>) -> [u8; 32] {
    let mut entries: Vec<(Vec<u8>, V)> = entries
        .into_iter()
        .map(|(key, value)| {
            let nibbles = key.as_ref().iter().flat_map(|byte| [byte >> 4, byte & 15]);
            (nibbles.collect(), value)
        })
        .collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    match entries[..] {
        [] => keccak256(&rlp::text(&[])),
        _ => keccak256(&node(&entries, 0)),
    }
}

/// The RLP of the node for these entries, which share their first `depth` nibbles.
fn node<V: AsRef<[u8]>>(entries: &[(Vec<u8>, V)], depth: usize) -> Vec<u8> {
    let (first, value) = (&entries[0].0, entries[0].1.as_ref());
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
        let below = |entry: &&(Vec<u8>, V)| entry.0.get(depth) == Some(&nibble);
        let from = entries.iter().position(|entry| below(&entry)).unwrap_or(0);
        let count = entries.iter().filter(below).count();
        items.push(match count {
            0 => rlp::text(&[]),
            _ => reference(&node(&entries[from..from + count], depth + 1)),
        });
    }
    // No key is a prefix of another, so none ends at a branch.
    items.push(rlp::text(&[]));
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::truth::unhex;

    #[test]
    fn root_of_one_entry_is_that_of_its_leaf() {
        // The key 0x80 of index 0 gives a leaf with an even path: 0x20, 0x80.
        let value = [7; 40];
        let leaf = rlp::list(&[rlp::text(&[0x20, 0x80]), rlp::text(&value)]);
        assert_eq!(ordered_root(&[value]), keccak256(&leaf));
    }

    /// Source: ethereum/tests, TrieTests/trietest_secureTrie.json and trieanyorder.json (`dogs`).
    #[test]
    fn published_roots() {
        let empty = b"56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
        assert_eq!(secure_root::<&[u8], &[u8]>([])[..], unhex(empty).unwrap());
        let dogs = [
            ("doe", "reindeer"),
            ("dog", "puppy"),
            ("dogglesworth", "cat"),
        ];
        let root = b"d4cd937e4a4368d7931a9cf51686b7e10abb3dce38a39000fd7902a092b64585";
        assert_eq!(secure_root(dogs)[..], unhex(root).unwrap());
    }
}
