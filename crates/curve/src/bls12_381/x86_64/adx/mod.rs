//! Groups and maps to them, by field arithmetic with BMI2 and ADX.
//!
//! - `field`: Fp and Fp2.
//! - `curves`: the curves over these fields.
//! - `multiples`: subgroup checks and sums of multiples.
//! - `buckets`: sums of many multiples.
//! - `maps`: the maps.
//! - `constants`: their constants.
//!
//! Source: \[RFC9380\] §6.6.3, §8.8 and appendix E; \[Mon85\], word by word with interleaved products (CIOS): \[KAK96\],
//! sums of products: \[Longa23\] §3; square roots in Fp2: \[Scott20\]; multiples in G2: \[BP17\].
//! Constant time: no, public data only.

mod buckets;
mod constants;
mod curves;
mod field;
mod maps;
mod multiples;
#[cfg(all(test, not(miri)))]
mod tests;

pub(in super::super) use curves::{AdxCurve, G1, G2};
pub(in super::super) use maps::{clear, to_curve};
pub(in super::super) use multiples::{are_in_group, msm};
