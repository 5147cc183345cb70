//! Eight points at a time with AVX2 and FMA, for CPUs without IFMA: two vectors of four double-precision numbers.

mod element;
mod field;
mod kernel;
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
use element::Element;

/// [`public_x8::lift_x`]
#[target_feature(enable = "avx2,fma")]
pub(crate) fn lift_x(x: &[[u64; 4]; LANES]) -> [FieldElement; LANES] {
    public_x8::lift_x::<Element>(x)
}

/// [`public_x8::multiply_add`]
#[target_feature(enable = "avx2,fma")]
pub(crate) fn multiply_add(
    points: &[Affine<Secp256k1>; LANES],
    a: &[[Signed128; 2]; LANES],
    generator: GeneratorTable<'_>,
    b: &[[Signed128; 2]; LANES],
) -> [Jacobian<Secp256k1>; LANES] {
    public_x8::multiply_add::<Element>(points, a, generator, b)
}

/// [`secret_x8::multiply_generator`]
#[target_feature(enable = "avx2,fma")]
pub(crate) fn multiply_generator(
    table: CombTable<'_>,
    digits: &[Digits; LANES],
) -> [Jacobian<Secp256k1>; LANES] {
    // SAFETY: this function requires AVX2.
    unsafe { secret_x8::multiply_generator::<Element>(table, digits) }
}
