//! Multiplication of a point of G1 by a public scalar: endomorphism split, then interleaved window NAF.
//!
//! Source: \[GLV01\]. The lattice basis is the shortest one, found with the extended Euclidean algorithm on r and
//! lambda.

use super::{Fp, G1};
use crate::{
    field::Field,
    group::{Affine, Jacobian, interleave, odd_multiples, wnaf},
    montgomery::Kernel,
    words,
};

/// Entries of the table of odd multiples.
const ENTRIES: usize = 8;
/// Digits of half a scalar, which is below 2^127.
const DIGITS: usize = 128;
/// Up to this magnitude of both halves, the table costs more than the additions that it saves.
const WITHOUT_TABLE: u128 = u32::MAX as u128;

/// The order of the group.
const ORDER: [u64; 4] = [
    0x43e1_f593_f000_0001,
    0x2833_e848_79b9_7091,
    0xb850_45b6_8181_585d,
    0x3064_4e72_e131_a029,
];
/// A cube root of 1 in Fp: (beta x, y) = lambda (x, y).
const BETA: [u64; 4] = [
    0x5763_4731_77ff_fffe,
    0xd4f2_63f1_acdb_5c4f,
    0x59e2_6bce_a0d4_8bac,
    0,
];
// The basis of the lattice of (i, j) with i + j lambda = 0 (mod r): (SHORT, -LONG_0) and (LONG_1, SHORT).
const SHORT: u128 = 0x89d3_2568_94d2_13e3;
const LONG_0: u128 = 0x6f4d_8248_eeb8_59fc_8211_bbeb_7d4f_1128;
const LONG_1: u128 = 0x6f4d_8248_eeb8_59fd_0be4_e154_1221_250b;
/// round(2^256 SHORT / r) and round(2^256 LONG_0 / r).
const G_SHORT: [u64; 3] = [0xd91d_232e_c7e0_b3d7, 2, 0];
const G_LONG_0: [u64; 3] = [0x7a7b_d9d4_391e_b18e, 0x4cce_f014_a773_d2cf, 2];

/// Returns `floor(k g / 2^256)`, which must be below 2^128.
fn multiply_high(k: &[u64; 4], g: &[u64; 3]) -> u128 {
    let mut t = [0u64; 7];
    for (i, &k) in k.iter().enumerate() {
        let mut carry = 0;
        for (j, &g) in g.iter().enumerate() {
            let sum = u128::from(k) * u128::from(g) + u128::from(t[i + j]) + carry;
            t[i + j] = sum as u64;
            carry = sum >> 64;
        }
        t[i + 3] = carry as u64;
    }
    u128::from(t[4]) | u128::from(t[5]) << 64
}

/// `k mod r`.
fn reduce(mut k: [u64; 4]) -> [u64; 4] {
    // 2^256 is below 6 r.
    loop {
        let (difference, borrow) = words::sub(&k, &ORDER);
        if borrow {
            return k;
        }
        k = difference;
    }
}

/// Returns signs and magnitudes, below 2^127, of k0 and k1 with k0 + k1 lambda = k (mod r).
fn split(k: &[u64; 4]) -> [(bool, u128); 2] {
    let c0 = multiply_high(k, &G_SHORT);
    let c1 = multiply_high(k, &G_LONG_0);
    // Both results are below 2^127 in absolute value, so arithmetic modulo 2^128 is sufficient.
    let k = u128::from(k[0]) | u128::from(k[1]) << 64;
    let k0 = k
        .wrapping_sub(c0.wrapping_mul(SHORT))
        .wrapping_sub(c1.wrapping_mul(LONG_1));
    let k1 = c0.wrapping_mul(LONG_0).wrapping_sub(c1.wrapping_mul(SHORT));
    [k0, k1].map(|k| (k >> 127 == 1, (k as i128).unsigned_abs()))
}

/// Computes `scalar P`.
pub(super) fn multiply<K: Kernel>(p: &Affine<G1<K>>, scalar: &[u8; 32]) -> Jacobian<G1<K>> {
    let halves = split(&reduce(words::from_be(scalar)));
    if halves.iter().all(|(_, half)| *half <= WITHOUT_TABLE) {
        multiply_by_table::<K, 1>(p, &halves)
    } else {
        multiply_by_table::<K, ENTRIES>(p, &halves)
    }
}

/// Uses the odd multiples of P up to `2 ENTRIES - 1`.
fn multiply_by_table<K: Kernel, const ENTRIES: usize>(
    p: &Affine<G1<K>>,
    halves: &[(bool, u128); 2],
) -> Jacobian<G1<K>> {
    let (table, scale) = odd_multiples::<G1<K>, ENTRIES>(p);
    let beta = const { Fp::<K>::constant(BETA) };
    let table_lambda = table.map(|entry| Affine {
        x: entry.x.mul(&beta),
        y: entry.y,
    });
    let mut digits = halves
        .map(|(_, magnitude)| wnaf::<DIGITS>(&words::from_u128(magnitude), ENTRIES.ilog2() + 2));
    let mut sum = interleave(&mut digits, |half, digit| {
        let entry = [&table, &table_lambda][half][usize::from(digit.unsigned_abs() / 2)];
        (entry.negate_if((digit < 0) != halves[half].0), None)
    });
    sum.z = sum.z.mul(&scale);
    sum
}
