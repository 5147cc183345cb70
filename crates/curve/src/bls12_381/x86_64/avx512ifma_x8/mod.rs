//! Points side by side: eight 64-bit lanes, AVX-512 IFMA.
//!
//! Layout: eight field elements are 8 vectors of 52-bit limbs, `x 2^416 mod p` in Montgomery form. Limbs are "strict", below 2^52,
//! as the multiplier reads no more of them. Values are not reduced below p, which has 381 bits: whatever the formulas here
//! make of each other's results stays far below 2^416, and their products below 1.1 p.
//!
//! - `field`: Fp and Fp2.
//! - `points`: points of both groups: which are in the subgroup, and sums of multiples.
//!
//! Source: \[GK12\] (52-bit limbs and fused multiply-add), \[Mon85\].
//! Constant time: no, public data only.

mod field;
mod points;
#[cfg(all(test, not(miri)))]
mod tests;

pub(in super::super) use points::{g1, g2};
