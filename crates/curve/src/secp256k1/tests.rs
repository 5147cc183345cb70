//! Tests of the whole module. Independent references: k256, and the vectors named at each test.
#![allow(clippy::unwrap_used, clippy::panic)]

use alloc::vec::Vec;

use k256::ecdsa::SigningKey;

use super::{multiply::GENERATOR_ENTRIES, *};

/// Numbers that look random and are the same in every run: SHA-256 of a counter.
pub(super) fn bytes32(seed: u64) -> [u8; 32] {
    use sha2::Digest;
    sha2::Sha256::digest(seed.to_be_bytes()).into()
}

/// 1, 3, 5, ... times a point, as a table.
pub(super) fn odd_multiples_table<C: Curve>(point: &Affine<C>, count: usize) -> Vec<[u8; 64]> {
    let double = Jacobian::from_affine(point).double_vartime().to_affine_vartime().unwrap();
    let mut sum = Jacobian::from_affine(point);
    (0..count)
        .map(|i| {
            if i > 0 {
                sum = sum.add_affine_vartime(&double);
            }
            let point = sum.to_affine_vartime().unwrap();
            let mut entry = [0; 64];
            let words = [point.x.to_words(), point.y.to_words()];
            for (bytes, word) in entry.as_chunks_mut::<8>().0.iter_mut().zip(words.as_flattened()) {
                *bytes = word.to_le_bytes();
            }
            entry
        })
        .collect()
}

/// `2^n` times a point.
pub(super) fn double_times<C: Curve>(point: &Affine<C>, n: usize) -> Affine<C> {
    let mut sum = Jacobian::from_affine(point);
    for _ in 0..n {
        sum = sum.double_vartime();
    }
    sum.to_affine_vartime().unwrap()
}

/// The comb's table for any curve.
pub(super) fn comb_table<C: Curve>() -> Vec<[u8; 64]> {
    let mut base = Affine::<C>::generator();
    let mut table = Vec::new();
    for _ in 0..generator::WINDOWS {
        table.extend(odd_multiples_table(&base, generator::ENTRIES));
        base = double_times(&base, 6);
    }
    table
}

/// The static table of [`multiply_add_vartime`] for any curve.
pub(super) fn generator_table<C: Curve>() -> Vec<[u8; 64]> {
    let point = Affine::<C>::generator();
    let mut table = odd_multiples_table(&point, GENERATOR_ENTRIES);
    table.extend(odd_multiples_table(&double_times(&point, 128), GENERATOR_ENTRIES));
    table
}

#[test]
fn tables_are_reproducible() {
    assert!(comb_table::<Secp256k1>() == tables::comb().0);
    assert!(generator_table::<Secp256k1>() == tables::generator().0);
}

#[test]
fn agrees_with_k256() {
    for i in 0..2000 {
        let (secret, hash) = (bytes32(2 * i), bytes32(2 * i + 1));
        let key = SecretKey::from_bytes(&secret).unwrap();
        let theirs = SigningKey::from_slice(&secret).unwrap();
        let public = key.public_key();
        assert_eq!(public.to_sec1_uncompressed()[..], *theirs.verifying_key().to_sec1_point(false).as_bytes());
        assert_eq!(public.to_sec1_compressed()[..], *theirs.verifying_key().to_sec1_point(true).as_bytes());
        assert_eq!(PublicKey::from_sec1_bytes(&public.to_sec1_compressed()), Ok(public));
        assert_eq!(PublicKey::from_sec1_bytes(&public.to_sec1_uncompressed()), Ok(public));

        let signature = key.sign_prehash(&hash);
        let (expected, id) = theirs.sign_prehash_recoverable(&hash);
        assert_eq!([signature.r, signature.s].as_flattened(), &expected.to_bytes()[..], "signature {i}");
        assert_eq!(signature.recovery_id, id.to_byte());
        assert_eq!(verify(&public, &hash, &signature), Ok(()));
        assert_eq!(recover(&hash, &signature), Ok(public));
    }
}
