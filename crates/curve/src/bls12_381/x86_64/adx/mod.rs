//! Groups, maps to them and pairings, by field arithmetic with BMI2 and ADX.
//!
//! - `field`: Fp.
//! - `fp2`: Fp2.
//! - `curves`: the curves over these fields.
//! - `multiples`: subgroup checks and sums of multiples.
//! - `buckets`: sums of many multiples.
//! - `maps`: the maps.
//! - `tower`: products of Fp12 with lines.
//! - `pairing`: the Miller loop and the final exponentiation.
//! - `constants`: the constants of the maps.
//! - `literal`: numbers at compile time.
//!
//! Source: \[RFC9380\] §6.6.3, §8.8 and appendix E; \[Mon85\], word by word with interleaved products (CIOS): \[KAK96\],
//! sums of products: \[Longa23\] §3; square roots in Fp2: \[Scott20\]; multiples in G2: \[BP17\].
//! Constant time: no, public data only.

mod buckets;
mod constants;
mod curves;
mod field;
mod fp2;
mod literal;
mod maps;
mod multiples;
mod pairing;
#[cfg(all(test, not(miri)))]
mod tests;
mod tower;

pub(in super::super) use curves::{AdxCurve, G1, G2};
pub(in super::super) use maps::{clear, to_curve};
pub(super) use multiples::sum_of_points;
pub(in super::super) use multiples::{are_in_group, msm, multiply_subtract};
pub(super) use pairing::{easy_part, frobenius};
pub(in super::super) use pairing::{
    final_exponentiation_is_one, miller_loop, miller_loop_of_lines,
};
