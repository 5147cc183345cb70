//! Every backend against an independent implementation.
#![allow(clippy::unwrap_used, clippy::panic)]
extern crate std;

use std::vec::Vec;

use tiny_keccak::Hasher as _;

use super::*;

fn independent(data: &[u8]) -> [u8; 32] {
    let mut hasher = tiny_keccak::Keccak::v256();
    hasher.update(data);
    let mut digest = [0; 32];
    hasher.finalize(&mut digest);
    digest
}

#[test]
fn every_length_to_three_blocks() {
    let data: Vec<u8> = (0..400).map(|i: u32| (i * 7 + 3) as u8).collect();
    for backend in Backend::available() {
        for length in 0..data.len() {
            let expected = independent(&data[..length]);
            assert_eq!(
                backend.keccak256(&data[..length]),
                expected,
                "{backend:?} {length}"
            );
            assert_eq!(keccak256_const(&data[..length]), expected);
            let mut hasher = Keccak256::with_backend(backend);
            let (head, tail) = data[..length].split_at(length / 3);
            hasher.update(head);
            hasher.update(tail);
            assert_eq!(hasher.finalize(), expected, "{backend:?} {length} streamed");
        }
    }
}
