//! The pairing with the products of one step side by side: eight 64-bit lanes, AVX-512 IFMA.
//!
//! Layout: eight field elements are 5 vectors of 52-bit limbs, `x 2^260 mod p` in Montgomery form. "Strict" limbs are below
//! 2^52, as the multiplier reads no more of them. Values are not reduced below p: there is room for 84 p, and what each
//! formula makes of its operands' bounds, which all are small multiples of p, is written beside it.
//!
//! - `field`: Fp, and sums of products with one reduction.
//! - `tower`: Fp2; Fp12 with the coefficient of w^k in lane k, where w^6 = xi. Products, squares, Frobenius maps are all sums
//!   of lane-wise products in Fp2 of permuted operands.
//! - `pairs`: the points of up to eight pairs, a pair a lane.
//! - `pairing`: the Miller loop and the final exponentiation.
//!
//! Source: [GK12] (52-bit limbs and fused multiply-add), [Mon85], and those of the scalar tower.
//! Constant time: no, public data only.

mod field;
mod pairing;
mod pairs;
#[cfg(all(test, not(miri)))]
mod tests;
mod tower;

pub(crate) use pairing::{final_exponentiation_is_one, miller_loop};
