//! G1 and G2 with their endomorphisms: \[Scott21\], \[GLV01\], \[GLS09\].

use super::{
    super::{
        super::{
            endomorphism::{BETA, G2_BY_X, G2_BY_Y},
            fields::{Fp, Fp2, G1, G2},
        },
        endomorphism::Endomorphism,
    },
    field::Extension,
};
use crate::{
    field::LazyField,
    group::Affine,
    lanes::field::{One, Two},
};

/// What these kernels need of a group.
pub(in super::super::super) trait LaneGroup: Endomorphism {
    type Degree: Extension<Element = Self::Field>;

    /// The endomorphism conjugates the coordinates and multiplies them by these factors.
    const BY_X: Self::Field;
    const BY_Y: Self::Field;

    /// Number of points up to which subgroup checks with four lanes per point cost less than those with one.
    const FEW: usize;
    /// Number of points up to which separate multiples cost less than a sum of multiples.
    const ONE_BY_ONE_UP_TO: usize;

    /// A point of the curve that is not in the group.
    fn outside() -> Affine<Self>;
}

impl LaneGroup for G1 {
    type Degree = One;

    const BY_X: Fp = BETA;
    const BY_Y: Fp = Fp::ONE;

    const FEW: usize = 6;
    const ONE_BY_ONE_UP_TO: usize = 5;

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

    const BY_X: Fp2 = G2_BY_X;
    const BY_Y: Fp2 = G2_BY_Y;

    const FEW: usize = 4;
    const ONE_BY_ONE_UP_TO: usize = 6;

    /// (-1, 2 + u).
    fn outside() -> Affine<Self> {
        Affine {
            x: Fp2::ONE.negate(1),
            y: Fp2::TWO_PLUS_U,
        }
    }
}
