//! Edge cases. crates/alloy/tests/block.rs compares with alloy-trie.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeMap, string::ToString, vec};

use lydite_bytes::{FixedBytes, hex};
use lydite_hash::keccak256;
use proptest::prelude::*;

use super::*;

#[test]
fn empty_and_single() {
    assert_eq!(sorted_root(&[]).unwrap(), EMPTY_ROOT);
    assert_eq!(
        hex::encode(EMPTY_ROOT),
        "56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"
    );
    // go-ethereum, trie_test.go, TestInsert.
    assert_eq!(
        hex::encode(sorted_root(&[(b"A", &[b'a'; 50])]).unwrap()),
        "d23786fb4a010da3ce639d66d5e904a11dbc02746d1ce25029e53290cabf28ab"
    );
}

/// Nodes shorter than 32 bytes are part of their parent, except the root.
#[test]
fn short_nodes() {
    let expected = |node: &[u8]| FixedBytes(lydite_hash::keccak256(node));
    assert_eq!(
        sorted_root(&[(&[0x12], b"v")]).unwrap(),
        expected(&[0xc4, 0x82, 0x20, 0x12, b'v'])
    );
    // An extension of one nibble, then a branch with two leaves without a path.
    let leaves: &[u8] = &[0xc2, 0x20, b'a', 0xc2, 0x20, b'b'];
    let node = [&[0xd7, 0x11, 0xd5, 0x80, 0x80], leaves, &[0x80; 13]].concat();
    assert_eq!(
        sorted_root(&[(&[0x12], b"a"), (&[0x13], b"b")]).unwrap(),
        expected(&node)
    );
}

#[test]
fn rejected_entries() {
    let (a, b): (&[u8], &[u8]) = (&[0x10], &[0x10, 0x20]);
    let error = |entries: &[(&[u8], &[u8])]| sorted_root(entries).unwrap_err();
    assert_eq!(error(&[(a, b"1"), (a, b"2")]), Error::Unsorted { index: 1 });
    assert_eq!(error(&[(b, b"1"), (a, b"2")]), Error::Unsorted { index: 1 });
    assert_eq!(error(&[(a, b"1"), (b, b"2")]), Error::Prefix { index: 1 });
    assert_eq!(error(&[(a, b"")]), Error::EmptyValue { index: 0 });
    assert_eq!(
        Error::EmptyValue { index: 1 }.to_string(),
        "value 1: expected at least 1 byte, found 0"
    );
}

#[test]
fn proofs_of_short_nodes() {
    // The branch and both leaves are part of the root.
    let entries: [(&[u8], &[u8]); 2] = [(&[0x12], b"a"), (&[0x13], b"b")];
    let keys: [&[u8]; 6] = [&[0x12], &[0x13], &[0x14], &[0x22], &[], &[0x12, 0x34]];
    let (root, proofs) = sorted_proofs(&entries, &keys).unwrap();
    assert_eq!(root, sorted_root(&entries).unwrap());
    let values: [Option<&[u8]>; 6] = [Some(b"a"), Some(b"b"), None, None, None, None];
    for ((key, proof), value) in keys.into_iter().zip(&proofs).zip(values) {
        assert_eq!(proof.len(), 1);
        assert_eq!(verify_proof(&root, key, proof), Ok(value), "{key:?}");
    }
}

#[test]
fn proofs_of_an_empty_trie() {
    let (root, proofs) = sorted_proofs(&[], &[b"key"]).unwrap();
    assert_eq!(root, EMPTY_ROOT);
    assert_eq!(proofs, [Proof::new()]);
    assert_eq!(verify_proof(&root, b"key", &proofs[0]), Ok(None));
    assert_eq!(verify_proof(&root, b"key", &[[0x80]]), Ok(None));
    let two = [[0x80]; 2];
    let error = verify_proof(&root, b"key", &two).unwrap_err();
    assert_eq!(error.to_string(), "node 1: not on the path of the key");
}

#[test]
fn proofs_of_a_list() {
    let values: Vec<[u8; 40]> = (0..200u8).map(|index| [index; 40]).collect();
    let indices = [0, 1, 127, 128, 199, 200, 70_000];
    let (root, proofs) = ordered_proofs(&values, &indices);
    assert_eq!(root, ordered_root(&values));
    for (index, proof) in indices.into_iter().zip(&proofs) {
        let key = crate::rlp::encode(&(index as u64));
        let value = values.get(index).map(|value| &value[..]);
        assert_eq!(verify_proof(&root, &key, proof), Ok(value), "{index}");
    }
}

/// Nodes with the right hash that no trie contains.
#[test]
fn rejected_nodes() {
    let value: &[u8] = &[0x20; 32];
    let list = |items: &[&[u8]]| {
        let mut out = Vec::new();
        let payload_len = items.iter().map(|item| item.len()).sum();
        Header {
            list: true,
            payload_len,
        }
        .encode(&mut out);
        out.extend(items.concat());
        out
    };
    let text = |bytes: &[u8]| {
        let mut out = Vec::new();
        bytes.encode(&mut out);
        out
    };
    let error = |node: &[u8]| {
        let root = FixedBytes(keccak256(node));
        verify_proof(&root, &[0x12], &[node])
            .unwrap_err()
            .to_string()
    };
    let value = text(value);
    for (node, expected) in [
        (
            vec![0x05],
            "node 0, byte 0: expected a list, found a string",
        ),
        (list(&[]), "node 0, byte 1: not a node of a trie"),
        (
            list(&[&b"a"[..]; 3]),
            "node 0, byte 1: not a node of a trie",
        ),
        // Flags of a path: 4, and a padding nibble that is not 0.
        (
            list(&[&text(&[0x40, 0x12]), &value]),
            "node 0, byte 1: not a node of a trie",
        ),
        (
            list(&[&text(&[0x21, 0x12]), &value]),
            "node 0, byte 1: not a node of a trie",
        ),
        (
            list(&[&text(&[]), &value]),
            "node 0, byte 1: not a node of a trie",
        ),
        // A leaf without a value, an extension without nibbles, one without a child.
        (
            list(&[&text(&[0x20, 0x12]), &[0x80]]),
            "node 0, byte 1: not a node of a trie",
        ),
        (
            list(&[&text(&[0x00]), &value]),
            "node 0, byte 1: not a node of a trie",
        ),
        (
            list(&[&text(&[0x11]), &[0x80]]),
            "node 0, byte 1: not a node of a trie",
        ),
        // References of 31 bytes, and a child of 32 bytes or more in its parent.
        (
            list(&[&text(&[0x11]), &text(&[7; 31])]),
            "node 0, byte 2: not a node of a trie",
        ),
        (
            list(&[&text(&[0x11]), &list(&[&text(&[0x32]), &text(&[7; 40])])]),
            "node 0, byte 2: not a node of a trie",
        ),
        // A reference without a node.
        (list(&[&text(&[0x11]), &text(&[7; 32])]), "node 1: missing"),
        (
            vec![0xc1, 0x81],
            "node 0, byte 1: item extends past the end of the input or of its list",
        ),
    ] {
        assert_eq!(error(&node), expected, "{node:02x?}");
    }
}

/// Keys of one length; few distinct bytes make shared prefixes likely.
fn maps() -> impl Strategy<Value = BTreeMap<Vec<u8>, Vec<u8>>> {
    let byte = prop_oneof![Just(0u8), Just(1), Just(0x10), any::<u8>()];
    (1usize..6).prop_flat_map(move |len| {
        let key = prop::collection::vec(byte.clone(), len);
        prop::collection::btree_map(key, prop::collection::vec(any::<u8>(), 1..60), 0..80)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 256 }))]

    #[test]
    fn proofs(map in maps(), others in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..7), 0..20)) {
        let entries: Vec<(&[u8], &[u8])> = map.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        let keys: Vec<&[u8]> = map.keys().chain(&others).map(Vec::as_slice).collect();
        let (root, proofs) = sorted_proofs(&entries, &keys).unwrap();
        prop_assert_eq!(root, sorted_root(&entries).unwrap());
        for (key, proof) in keys.into_iter().zip(&proofs) {
            let value = map.get(key).map(Vec::as_slice);
            prop_assert_eq!(verify_proof(&root, key, proof), Ok(value));
            // Each node is needed, and no other is accepted.
            for index in 0..proof.len() {
                let mut changed = proof.clone();
                changed[index].push(0);
                prop_assert_eq!(verify_proof(&root, key, &changed), Err(ProofError::Hash { index }));
                let expected = if map.is_empty() { Ok(None) } else { Err(ProofError::Missing { index }) };
                prop_assert_eq!(verify_proof(&root, key, &proof[..index]), expected);
            }
            let longer = [&proof[..], &[vec![0xc0]]].concat();
            let index = proof.len();
            let unexpected = Err(ProofError::Unexpected { index });
            prop_assert_eq!(verify_proof(&root, key, &longer), unexpected);
        }
    }

    /// Any bytes with the right hash: an error or a value, no panic.
    #[test]
    fn any_node(node in prop::collection::vec(any::<u8>(), 0..80), key in prop::collection::vec(any::<u8>(), 0..4)) {
        let root = FixedBytes(keccak256(&node));
        let _ = verify_proof(&root, &key, &[node]);
    }

    /// Only what is not below an unchanged branch is passed again.
    #[test]
    fn changes_give_the_same_trie(
        before in maps(),
        seed in any::<u64>(),
        values in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..8),
    ) {
        let full = |entries: &BTreeMap<Vec<u8>, Vec<u8>>| {
            let parts = entries.iter().map(|(key, value)| Part::Entry(key, value));
            incremental_root(&parts.collect::<Vec<_>>()).unwrap()
        };
        let nibbles = |key: &[u8]| -> Vec<u8> {
            key.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect()
        };
        let (root, mut branches) = full(&before);
        let entries: Vec<(&[u8], &[u8])> =
            before.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        prop_assert_eq!(root, sorted_root(&entries).unwrap());

        // An empty value deletes a key, and every third key is new.
        let (mut after, mut changed) = (before.clone(), Vec::new());
        for (number, value) in values.into_iter().enumerate() {
            let length = before.keys().next().map_or(32, Vec::len);
            let drawn = keccak256(&[seed.to_le_bytes(), [number as u8; 8]].concat());
            let known = before.keys().nth(usize::from(drawn[0]) % before.len().max(1));
            let key = match known {
                Some(key) if number % 3 > 0 => key.clone(),
                _ => drawn[..length].to_vec(),
            };
            changed.push(nibbles(&key));
            if value.is_empty() {
                after.remove(&key);
            } else {
                after.insert(key, value);
            }
        }
        branches.retain(|branch| !changed.iter().any(|key| key.starts_with(&branch.path)));
        let mut top: Vec<&Branch> = Vec::new();
        for branch in &branches {
            if !top.last().is_some_and(|last| branch.path.starts_with(&last.path)) {
                top.push(branch);
            }
        }
        let mut parts: Vec<(Vec<u8>, Part<'_>)> = top
            .iter()
            .map(|branch| (branch.path.clone(), Part::Branch(&branch.path, &branch.hash)))
            .collect();
        for (key, value) in &after {
            let path = nibbles(key);
            if !top.iter().any(|branch| path.starts_with(&branch.path)) {
                parts.push((path, Part::Entry(key, value)));
            }
        }
        parts.sort_by(|left, right| left.0.cmp(&right.0));
        let parts: Vec<Part<'_>> = parts.into_iter().map(|(_, part)| part).collect();
        let (root, computed) = incremental_root(&parts).unwrap();
        let (expected, all) = full(&after);
        prop_assert_eq!(root, expected);
        branches.extend(computed);
        branches.sort();
        prop_assert_eq!(branches, all);
    }
}

#[test]
fn rejected_parts() {
    let hash = FixedBytes([1; 32]);
    let entry = Part::Entry(&[0x12], b"value");
    let branch = |path: &'static [u8]| Part::Branch(path, &hash);
    for (parts, error) in [
        ([branch(&[1]), entry], Error::Prefix { index: 1 }),
        ([branch(&[1, 2]), entry], Error::Unsorted { index: 1 }),
        ([branch(&[1, 3]), entry], Error::Unsorted { index: 1 }),
        ([entry, branch(&[1])], Error::Unsorted { index: 1 }),
        ([entry, branch(&[1, 2, 0])], Error::Prefix { index: 1 }),
        ([branch(&[]), entry], Error::Prefix { index: 1 }),
        ([entry, branch(&[16])], Error::Nibble { index: 1 }),
        (
            [entry, Part::Entry(&[0x13], b"")],
            Error::EmptyValue { index: 1 },
        ),
    ] {
        assert_eq!(incremental_root(&parts), Err(error), "{parts:?}");
    }
    // A trie that is known as a whole, and one below an extension.
    assert_eq!(incremental_root(&[branch(&[])]), Ok((hash, vec![])));
    let extension = [&[0xe4, 0x82, 0x00, 0x12, 0xa0], &hash.0[..]].concat();
    let expected = FixedBytes(keccak256(&extension));
    assert_eq!(incremental_root(&[branch(&[1, 2])]), Ok((expected, vec![])));
}
