//! Precompiled contracts, one byte the address, one the fork: no panic, gas within the limit, nothing left behind a failure;
//! what is cheap to know in another way is compared.
#![no_main]

use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};
use libfuzzer_sys::fuzz_target;
use lydite::evm::precompile::{Fork, GasUsed, Precompile};
use lydite::hash::keccak256;
use num_bigint::BigUint;

/// Bounds the rounds of BLAKE2 F and the work of modexp.
const GAS: u64 = 400_000;

fn run(precompile: Precompile, input: &[u8], fork: Fork) -> Option<(GasUsed, Vec<u8>)> {
    let mut out = vec![1, 2, 3];
    match precompile.run(input, GAS, fork, &mut out) {
        Ok(gas) => {
            assert!(gas <= GAS);
            Some((gas, out))
        }
        Err(_) => {
            assert!(out.is_empty());
            None
        }
    }
}

fn padded(input: &[u8], at: usize, length: usize) -> Vec<u8> {
    let rest = input.get(at..).unwrap_or_default();
    let mut bytes = rest[..rest.len().min(length)].to_vec();
    bytes.resize(length, 0);
    bytes
}

fn modexp(input: &[u8], out: &[u8]) {
    let length = |at| BigUint::from_bytes_be(&padded(input, at, 32));
    let (base, exponent, modulus) = (length(0), length(32), length(64));
    let small = BigUint::from(300u32);
    if base > small || exponent > small || modulus > small {
        return;
    }
    let [base, exponent, modulus] = [base, exponent, modulus]
        .map(|length| length.to_u64_digits().first().map_or(0, |l| *l as usize));
    let number = |at, length| BigUint::from_bytes_be(&padded(input, at, length));
    let (b, e) = (number(96, base), number(96 + base, exponent));
    let m = number(96 + base + exponent, modulus);
    let expected = if m == BigUint::ZERO {
        m
    } else {
        b.modpow(&e, &m)
    };
    assert_eq!(
        (out.len(), BigUint::from_bytes_be(out)),
        (modulus, expected)
    );
}

fn ecrecover(input: &[u8], out: &[u8]) {
    let input = padded(input, 0, 128);
    let expected = (|| {
        if input[32..63] != [0; 31] || !matches!(input[63], 27 | 28) {
            return None;
        }
        let signature = Signature::from_slice(&input[64..]).ok()?;
        let id = RecoveryId::from_byte(input[63] - 27)?;
        let key = VerifyingKey::recover_from_prehash(&input[..32], &signature, id).ok()?;
        let point = key.to_sec1_point(false);
        let hash = keccak256(&point.as_bytes()[1..]);
        Some([&[0; 12], &hash[12..]].concat())
    })();
    assert_eq!(out, expected.unwrap_or_default());
}

fuzz_target!(|data: &[u8]| {
    let [which, fork, input @ ..] = data else {
        return;
    };
    let precompile = Precompile::ALL[usize::from(*which) % Precompile::ALL.len()];
    let fork = Fork::ALL[usize::from(*fork) % Fork::ALL.len()];
    let Some((gas, out)) = run(precompile, input, fork) else {
        return;
    };
    // No more gas than it says.
    let mut again = Vec::new();
    assert_eq!(precompile.run(input, gas, fork, &mut again), Ok(gas));
    assert_eq!(again, out);
    match precompile {
        Precompile::Identity => assert_eq!(out, input),
        Precompile::Modexp => modexp(input, &out),
        Precompile::EcRecover => ecrecover(input, &out),
        Precompile::Bn254Add => {
            // P + Q = Q + P.
            let (p, q) = (padded(input, 0, 64), padded(input, 64, 64));
            assert_eq!(run(precompile, &[q, p].concat(), fork), Some((gas, out)));
        }
        Precompile::Bn254Mul => {
            // k P + P = (k + 1) P.
            let (p, k) = (padded(input, 0, 64), padded(input, 64, 32));
            let (_, sum) =
                run(Precompile::Bn254Add, &[&out[..], &p].concat(), fork).expect("points");
            let next = (BigUint::from_bytes_be(&k) + 1u8).to_bytes_be();
            if next.len() <= 32 {
                let next = [p, vec![0; 32 - next.len()], next].concat();
                assert_eq!(run(precompile, &next, fork), Some((gas, sum)));
            }
        }
        Precompile::Bls12G1Msm | Precompile::Bls12G2Msm
            if out.len() * 5 / 4 + 32 >= input.len() =>
        {
            // The product is a point, and of order r: r times it is infinity.
            let order = padded(&lydite::curve::bls12_381::kzg::ORDER, 0, 32);
            let (_, zero) = run(precompile, &[out, order].concat(), fork).expect("a point");
            assert!(zero.iter().all(|byte| *byte == 0));
        }
        _ => {}
    }
});
