//! The pairing, with the products of one step computed in parallel: eight 64-bit lanes, AVX-512 IFMA.
//!
//! Layout: eight field elements are 5 vectors of 52-bit limbs, `x 2^260 mod p` in Montgomery form. "Strict" limbs are
//! below 2^52, because the multiplier reads only 52 bits. Values are not reduced below p: there is room for 84 p. All
//! bounds are small multiples of p; each formula documents the bounds of its results.
//!
//! - `field`: Fp, and sums of products with one reduction.
//! - `tower`: Fp2; Fp12 with the coefficient of w^k in lane k, where w^6 = xi. Products, squares and Frobenius maps are
//!   sums of lane-wise products in Fp2 of permuted operands.
//! - `pairs`: the points of up to eight pairs, one pair per lane.
//! - `pairing`: the Miller loop and the final exponentiation.
//!
//! Source: [GK12] (52-bit limbs and fused multiply-add), [Mon85], and the sources of the scalar tower.
//! Constant time: no, public data only.

mod field;
mod pairing;
mod pairs;
#[cfg(all(test, not(miri)))]
mod tests;
mod tower;

pub(crate) use pairing::{final_exponentiation_is_one, miller_loop};
