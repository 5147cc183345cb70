//! Eight points at a time with IFMA on vectors of 256 bits, for CPUs without AVX-512: two vectors of four 64-bit lanes.
//!
//! `VEX` says which form of the multiplier the CPU has: that of AVX-IFMA, or, for tests and measurements on other CPUs,
//! that of AVX-512 (`EVEX`). Everything else is AVX2.

mod field;
#[cfg(test)]
mod tests;

use super::{
    super::{
        curve::Secp256k1,
        field::FieldElement,
        generator::{CombTable, Digits},
        multiply::GeneratorTable,
        scalar::Signed128,
    },
    public_x8, secret_x8,
};
use crate::{
    group::{Affine, Jacobian},
    lanes::LANES,
};
use field::Element;

/// [`public_x8::lift_x`]
#[target_feature(enable = "avx2")]
pub(crate) fn lift_x<const VEX: bool>(x: &[[u64; 4]; LANES]) -> [FieldElement; LANES] {
    public_x8::lift_x::<Element<VEX>>(x)
}

/// [`public_x8::multiply_add`]
#[target_feature(enable = "avx2")]
pub(crate) fn multiply_add<const VEX: bool>(
    points: &[Affine<Secp256k1>; LANES],
    a: &[[Signed128; 2]; LANES],
    generator: GeneratorTable<'_>,
    b: &[[Signed128; 2]; LANES],
) -> [Jacobian<Secp256k1>; LANES] {
    public_x8::multiply_add::<Element<VEX>>(points, a, generator, b)
}

/// [`secret_x8::multiply_generator`]
#[target_feature(enable = "avx2")]
pub(crate) fn multiply_generator<const VEX: bool>(
    table: CombTable<'_>,
    digits: &[Digits; LANES],
) -> [Jacobian<Secp256k1>; LANES] {
    // SAFETY: this function requires AVX2.
    unsafe { secret_x8::multiply_generator::<Element<VEX>>(table, digits) }
}
