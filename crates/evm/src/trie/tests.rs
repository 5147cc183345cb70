//! Edge cases. crates/alloy/tests/block.rs compares with alloy-trie.
#![allow(clippy::unwrap_used)]

use std::string::ToString;

use lydite_bytes::{FixedBytes, hex};

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
