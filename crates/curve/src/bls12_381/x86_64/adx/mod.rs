//! Maps to points of the groups, by field arithmetic with BMI2 and ADX.
//!
//! - `field`: Fp and Fp2.
//! - `maps`: the maps.
//! - `constants`: their constants.
//!
//! Source: \[RFC9380\] §6.6.3, §8.8 and appendix E; \[Mon85\], word by word with interleaved products (CIOS): \[KAK96\],
//! sums of products: \[Longa23\] §3; square roots in Fp2: \[Scott20\]; multiples in G2: \[BP17\].
//! Constant time: no, public data only.

mod constants;
mod field;
mod maps;
#[cfg(all(test, not(miri)))]
mod tests;

pub(in super::super) use field::{G1, G2};
pub(in super::super) use maps::{clear, to_curve};
