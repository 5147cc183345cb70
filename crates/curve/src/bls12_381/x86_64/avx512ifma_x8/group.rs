//! G1 and G2 with their endomorphisms: \[Scott21\], \[GLV01\], \[GLS09\].

use super::{
    super::super::{
        endomorphism::{BETA, G2_BY_X, G2_BY_Y, X, g1_image},
        fields::{Fp, Fp2, G1, G2},
    },
    field::Extension,
};
use crate::{
    field::LazyField,
    group::{Affine, Curve},
    lanes::field::{One, Two},
};

/// What the kernels need of a group.
pub(in super::super::super) trait LaneGroup: Curve {
    type Degree: Extension<Element = Self::Field>;

    /// The endomorphism equals `-X^POWER` times a point exactly if the point is in the group.
    const POWER: usize;
    /// The endomorphism conjugates the coordinates and multiplies them by these factors.
    const BY_X: Self::Field;
    const BY_Y: Self::Field;

    /// Number of points up to which subgroup checks with four lanes per point cost less than those with one.
    const FEW: usize;
    /// Number of points up to which separate multiples cost less than a sum of multiples.
    const ONE_BY_ONE_UP_TO: usize;

    /// The endomorphism.
    fn image(point: &Affine<Self>) -> Affine<Self>;

    /// A point of the curve that is not in the group.
    fn outside() -> Affine<Self>;

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

impl LaneGroup for G1 {
    type Degree = One;

    const POWER: usize = 2;
    const BY_X: Fp = BETA;
    const BY_Y: Fp = Fp::ONE;

    const FEW: usize = 6;
    const ONE_BY_ONE_UP_TO: usize = 5;

    fn image(point: &Affine<Self>) -> Affine<Self> {
        g1_image(point)
    }

    /// (0, 2), of order 3.
    fn outside() -> Affine<Self> {
        Affine {
            x: Fp::ZERO,
            y: Fp::ONE.double(),
        }
    }
}

impl LaneGroup for G2 {
    type Degree = Two;

    const POWER: usize = 1;
    const BY_X: Fp2 = G2_BY_X;
    const BY_Y: Fp2 = G2_BY_Y;

    const FEW: usize = 4;
    const ONE_BY_ONE_UP_TO: usize = 6;

    /// Frobenius on the curve over Fp12.
    fn image(point: &Affine<Self>) -> Affine<Self> {
        Affine {
            x: point.x.conjugate().mul(&Self::BY_X),
            y: point.y.conjugate().mul(&Self::BY_Y),
        }
    }

    /// (-1, 2 + u).
    fn outside() -> Affine<Self> {
        Affine {
            x: Fp2::ONE.negate(1),
            y: Fp2::TWO_PLUS_U,
        }
    }
}
