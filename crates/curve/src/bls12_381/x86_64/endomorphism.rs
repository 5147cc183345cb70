//! What kernels need of the endomorphisms.

use blst::blst_scalar;

use super::super::{
    endomorphism::{G2_BY_X, G2_BY_Y, X, g1_image, x_digits},
    fields::{G1, G2},
};
use crate::{
    field::LazyField,
    group::{Affine, Curve},
};

/// Returns the four digits of a scalar to base X, lowest first.
pub(super) fn digits(scalar: &blst_scalar) -> [u64; 4] {
    let words = scalar.b.as_chunks().0;
    x_digits(core::array::from_fn(|i| u64::from_le_bytes(words[i])))
}

/// A curve with an endomorphism that equals `-X^POWER` times a point exactly if the point is in the group.
pub(in super::super) trait Endomorphism: Curve {
    const POWER: usize;

    /// The endomorphism.
    fn image(point: &Affine<Self>) -> Affine<Self>;

    /// X^POWER.
    fn multiplier() -> u128 {
        u128::from(X).pow(Self::POWER as u32)
    }

    /// Converts the digits of a scalar from base X to base X^POWER.
    fn multipliers(digits: [u64; 4]) -> impl Iterator<Item = u128> {
        (0..digits.len()).step_by(Self::POWER).map(move |i| {
            let digits = digits[i..i + Self::POWER].iter().rev();
            digits.fold(0, |k, digit| k * u128::from(X) + u128::from(*digit))
        })
    }

    /// Splits a product, its scalar given in base X, into terms with shorter multipliers.
    fn terms(point: Affine<Self>, digits: [u64; 4]) -> impl Iterator<Item = (Affine<Self>, u128)> {
        let mut last = None;
        Self::multipliers(digits).map(move |multiplier| {
            let multiple = last.map_or(point, |last| Self::image(&last).negate_if(true));
            last = Some(multiple);
            (multiple, multiplier)
        })
    }
}

impl Endomorphism for G1 {
    const POWER: usize = 2;

    fn image(point: &Affine<Self>) -> Affine<Self> {
        g1_image(point)
    }
}

impl Endomorphism for G2 {
    const POWER: usize = 1;

    /// Frobenius on the curve over Fp12.
    fn image(point: &Affine<Self>) -> Affine<Self> {
        Affine {
            x: point.x.conjugate().mul(&G2_BY_X),
            y: point.y.conjugate().mul(&G2_BY_Y),
        }
    }
}
