//! aws-lc-rs as a contender: SHA-256, and ECDSA over P-256 as specified in EIP-7951.

use arena_kit::{locked_version, precompile, run};
use aws_lc_rs::digest::{Digest, SHA256, digest};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

/// Hash, r, s, x, y. Rejects r and s that are zero or not below the order, and points that are not on the curve.
fn valid(input: &[u8; 160]) -> bool {
    let mut key = [4; 65];
    key[1..].copy_from_slice(&input[96..]);
    let Ok(hash) = Digest::import_less_safe(&input[..32], &SHA256) else {
        return false;
    };
    UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key)
        .verify_digest(&hash, &input[32..96])
        .is_ok()
}

fn p256_verify(input: &[u8]) -> Option<Vec<u8>> {
    if !input.try_into().is_ok_and(valid) {
        return Some(Vec::new());
    }
    let mut one = vec![0; 32];
    one[31] = 1;
    Some(one)
}

fn main() {
    run(
        "aws-lc-rs",
        locked_version(include_str!("../../Cargo.lock"), "aws-lc-rs"),
        vec![
            precompile("precompile_02", |input| {
                Some(digest(&SHA256, input).as_ref().to_vec())
            }),
            precompile("precompile_100", p256_verify),
        ],
    );
}
