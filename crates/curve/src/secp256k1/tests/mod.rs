//! Tests of the whole module. Independent references: k256, and the vectors named at each test. `field` and `scalar`
//! also run under Miri.
#![allow(clippy::unwrap_used, clippy::panic)]

mod batches;
mod ecdh;
mod field;
mod libsecp256k1;
mod points;
mod scalar;
mod signatures;

use alloc::vec::Vec;

use num_bigint::BigUint;
use proptest::prelude::*;

use super::{
    curve::{Endomorphism, Secp256k1},
    field::{FieldElement, FieldRepr, words32},
    multiply::GENERATOR_ENTRIES,
    scalar::{ORDER, Scalar},
    secret_key::multiply_generator,
    *,
};
use crate::{
    field::LazyField,
    group::{Affine, Jacobian},
};

/// Pseudo-random numbers that are the same in every run: SHA-256 of a counter.
pub(super) fn bytes32(seed: u64) -> [u8; 32] {
    use sha2::Digest;
    sha2::Sha256::digest(seed.to_be_bytes()).into()
}

/// A 256-bit integer, often an edge case: words that are zero, all ones, or words of the modulus, sometimes off by one.
pub(super) fn words(modulus: [u64; 4]) -> impl Strategy<Value = [u64; 4]> {
    let word = move |i: usize| {
        prop_oneof![
            any::<u64>(),
            Just(0),
            Just(1),
            Just(u64::MAX),
            Just(modulus[i]),
            Just(modulus[i].wrapping_add(1)),
            Just(modulus[i].wrapping_sub(1)),
        ]
    };
    [word(0), word(1), word(2), word(3)]
}

/// The number of cases, reduced under Miri.
pub(super) fn config() -> ProptestConfig {
    ProptestConfig {
        cases: if cfg!(miri) { 2 } else { 512 },
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

pub(super) fn to_big(words: &[u64; 4]) -> BigUint {
    BigUint::from_bytes_be(&crate::words::to_be(words))
}

pub(super) fn to_words(big: &BigUint) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, digit) in words.iter_mut().zip(big.iter_u64_digits()) {
        *word = digit;
    }
    words
}

/// Returns 1, 3, 5, ... times a point, as a table.
fn odd_multiples_table<C: Endomorphism>(point: &Affine<C>, count: usize) -> Vec<[u8; 64]> {
    let double = Jacobian::from(*point).double().to_affine().unwrap();
    let mut sum = Jacobian::from(*point);
    (0..count)
        .map(|i| {
            if i > 0 {
                sum = sum.add_affine(&double);
            }
            let point = sum.to_affine().unwrap();
            let mut entry = [0; 64];
            let words = [point.x.reduced(), point.y.reduced()];
            for (bytes, word) in entry
                .as_chunks_mut::<8>()
                .0
                .iter_mut()
                .zip(words.as_flattened())
            {
                *bytes = word.to_le_bytes();
            }
            entry
        })
        .collect()
}

/// Returns `2^n` times a point.
fn double_times<C: Endomorphism>(point: &Affine<C>, n: usize) -> Affine<C> {
    let mut sum = Jacobian::from(*point);
    for _ in 0..n {
        sum = sum.double();
    }
    sum.to_affine().unwrap()
}

/// Returns the table of the comb for any curve.
fn comb_table<C: Endomorphism>() -> Vec<[u8; 64]> {
    let mut base = Affine::<C>::generator();
    let mut table = Vec::new();
    for _ in 0..generator::WINDOWS {
        table.extend(odd_multiples_table(&base, generator::ENTRIES));
        base = double_times(&base, 6);
    }
    table
}

/// Returns the static table of [`multiply_add_vartime`] for any curve.
fn generator_table<C: Endomorphism>(entries: usize) -> Vec<[u8; 64]> {
    let point = Affine::<C>::generator();
    let mut table = odd_multiples_table(&point, entries);
    table.extend(odd_multiples_table(&double_times(&point, 128), entries));
    table
}

#[test]
fn tables_are_reproducible() {
    assert!(comb_table::<Secp256k1>() == tables::comb().0);
    assert!(generator_table::<Secp256k1>(GENERATOR_ENTRIES) == tables::generator().0);
}
