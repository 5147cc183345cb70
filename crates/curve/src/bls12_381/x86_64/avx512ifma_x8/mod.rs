//! Eight points, or the products of one pairing, at a time: eight 64-bit lanes, AVX-512 IFMA.
//!
//! Layout: eight field elements are 8 vectors of 52-bit limbs, `x 2^416 mod p` in Montgomery form. Limbs are "strict",
//! that is, below 2^52, because the multiplier reads only 52 bits. Values are not reduced below p, which has 381 bits:
//! all intermediate results of the formulas stay far below 2^416, and their products below 1.1 p.
//!
//! - `field`: Fp and Fp2.
//! - `group`: the constants of both groups.
//! - `points`: one point per lane: sums of multiples, and subgroup checks of many points.
//! - `subgroup`: subgroup checks.
//! - `multiple`: the multiple of one point, computed alongside its subgroup check.
//! - `cofactor`: the multiple of a point of the curve that is in the group.
//! - `msm`: sums of products.
//! - `products`: sums of products in Fp2 with one reduction.
//! - `tower`: Fp12.
//! - `pairs`: the points of two pairs.
//! - `pairing`: the Miller loop and the final exponentiation.
//!
//! The structure is that of bn254; the formulas differ. In bn254 the room for 84 p constrains all of them. Here there
//! is room for 2^35 p, so only squares in the cyclotomic subgroup have to be kept small. Products cost twice as much,
//! so the formulas minimise their number.
//!
//! Source: \[GK12\] (52-bit limbs and fused multiply-add), \[Mon85\].
//! Constant time: no, public data only.

mod cofactor;
mod field;
mod group;
mod msm;
mod multiple;
mod pairing;
mod pairs;
mod points;
mod products;
mod subgroup;
#[cfg(all(test, not(miri)))]
mod tests;
mod tower;

pub(in super::super) use cofactor::{clear_g1, clear_g2};
pub(in super::super) use group::LaneGroup;
pub(in super::super) use msm::msm;
pub(in super::super) use pairing::{
    final_exponentiation_is_one, miller_loop, miller_loop_of_lines,
};
pub(in super::super) use subgroup::are_in_group;
