//! Points, and products of one pairing, side by side: eight 64-bit lanes, AVX-512 IFMA.
//!
//! Layout: eight field elements are 8 vectors of 52-bit limbs, `x 2^416 mod p` in Montgomery form. Limbs are "strict", below 2^52,
//! as the multiplier reads no more of them. Values are not reduced below p, which has 381 bits: whatever the formulas here
//! make of each other's results stays far below 2^416, and their products below 1.1 p.
//!
//! - `field`: Fp and Fp2.
//! - `points`: points of both groups, a point a lane: sums of multiples, and which of many are in the subgroup.
//! - `subgroup`: which points are in the subgroup.
//! - `products`: sums of products in Fp2 with one reduction.
//! - `tower`: Fp12.
//! - `pairs`: the points of two pairs.
//! - `pairing`: the Miller loop and the final exponentiation.
//!
//! Like bn254's, but for the formulas: there room for 84 p shapes them all, here one of 2^35 p leaves squares in the cyclotomic
//! subgroup alone to be kept small, and products, twice as dear, are what there are to be few of.
//!
//! Source: \[GK12\] (52-bit limbs and fused multiply-add), \[Mon85\].
//! Constant time: no, public data only.

mod field;
mod pairing;
mod pairs;
mod points;
mod products;
mod subgroup;
#[cfg(all(test, not(miri)))]
mod tests;
mod tower;

pub(in super::super) use pairing::{
    final_exponentiation_is_one, miller_loop, miller_loop_of_lines,
};
pub(in super::super) use points::{g1, g2};
pub(in super::super) use subgroup::{are_in_g1, are_in_g2};
