//! Prints the time of each operation with the best backend of the build: permutations in lanes and one at a time, key
//! generation per epoch, a signature (mean of 128 messages), a verification.
//!
//! Run with `cargo run --release -p lydite-xmss --example figures`. For the portable build, set `RUSTFLAGS='--cfg
//! lydite_backend="portable"'`; to generate keys on all cores, add `--features rayon`.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use lydite_xmss::poseidon::{Backend, LANES, Lanes};
use lydite_xmss::{LeanSig46x8, LeanSigProd, PublicKey, SecretKey, Signature};
use serde_json::Value;

/// Nanoseconds per operation, the best of many calls. A call performs `operations` operations.
fn best(operations: usize, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut best = Duration::MAX;
    while start.elapsed() < Duration::from_secs(2) {
        let before = Instant::now();
        call();
        best = best.min(before.elapsed());
    }
    best.as_nanos() as f64 / operations as f64
}

fn bytes(value: &Value) -> Vec<u8> {
    let digits = value.as_str().unwrap();
    (0..digits.len() / 2)
        .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
        .collect()
}

fn main() {
    let backend = Backend::detect();
    println!("{backend:?}; nanoseconds");
    let (mut narrow, mut wide) = (Lanes::<16>::ZERO, Lanes::<24>::ZERO);
    let (mut narrow_one, mut wide_one) = ([0; 16], [0; 24]);
    macro_rules! permutations {
        ($($name:literal $state:expr, $times:expr, $permute:ident;)*) => {
            $(
                let time = best(100 * $times, || {
                    for _ in 0..100 {
                        backend.$permute(black_box(&mut $state));
                    }
                });
                println!("{}: {time:.1}", $name);
            )*
        };
    }
    permutations! {
        "Poseidon w16, lanes" narrow, LANES, poseidon1_16;
        "Poseidon w24, lanes" wide, LANES, poseidon1_24;
        "Poseidon2 w16, lanes" narrow, LANES, poseidon2_16;
        "Poseidon2 w24, lanes" wide, LANES, poseidon2_24;
        "Poseidon w16, one state" narrow_one, 1, poseidon1_16_one;
        "Poseidon w24, one state" wide_one, 1, poseidon1_24_one;
        "Poseidon2 w16, one state" narrow_one, 1, poseidon2_16_one;
        "Poseidon2 w24, one state" wide_one, 1, poseidon2_24_one;
    }

    let generate = || SecretKey::<LeanSig46x8>::from_seed(&[1; 32], 0..256, &()).unwrap();
    let time = best(256, || drop(black_box(generate())));
    println!("key generation, an epoch: {time:.0}");
    let key = generate();
    let time = best(128, || {
        for i in 0..128 {
            // Epochs in the key's window.
            black_box(key.sign(u32::from(i) % 32, &[i; 32]).unwrap());
        }
    });
    println!("signature: {time:.0}");

    let file = include_str!("../vectors/xmss/prod_2e32_first131072.json");
    let vectors: Value = serde_json::from_str(file).unwrap();
    let public_key = PublicKey::<LeanSigProd>::from_bytes(&bytes(&vectors["pk_ssz"])).unwrap();
    let claims = vectors["signatures"].as_array().unwrap().iter();
    let claims: Vec<_> = claims
        .map(|entry| {
            let message: [u8; 32] = bytes(&entry["message"]).try_into().unwrap();
            let signature = Signature::from_bytes(&bytes(&entry["sig_ssz"])).unwrap();
            (entry["epoch"].as_u64().unwrap() as u32, message, signature)
        })
        .collect();
    let time = best(claims.len(), || {
        for (epoch, message, signature) in &claims {
            assert!(public_key.verify(*epoch, message, black_box(signature)));
        }
    });
    println!("verification, 2^32 epochs: {time:.0}");
}
