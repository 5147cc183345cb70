//! G1 and G2 with their endomorphisms: \[Scott21\], \[GLV01\], \[GLS09\].

use blst::{blst_fp, blst_fp2};

use super::{
    super::super::{
        endomorphism::{BETA, X, g1_image},
        fields::{Element, Fp, Fp2, G1, G2},
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
    /// (1 + u)^-((p - 1) / 3), in blst's form.
    const BY_X: Fp2 = Element(blst_fp2 {
        fp: [
            blst_fp { l: [0; 6] },
            blst_fp {
                l: [
                    0x890d_c9e4_8675_45c3,
                    0x2af3_2253_3285_a5d5,
                    0x5088_0866_309b_7e2c,
                    0xa20d_1b8c_7e88_1024,
                    0x14e4_f04f_e2db_9068,
                    0x14e5_6d3f_1564_853a,
                ],
            },
        ],
    });
    /// (1 + u)^-((p - 1) / 2), in blst's form.
    const BY_Y: Fp2 = Element(blst_fp2 {
        fp: [
            blst_fp {
                l: [
                    0x3e2f_585d_a55c_9ad1,
                    0x4294_213d_86c1_8183,
                    0x3828_44c8_8b62_3732,
                    0x92ad_2afd_1910_3e18,
                    0x1d79_4e4f_ac7c_f0b9,
                    0x0bd5_92fc_7d82_5ec8,
                ],
            },
            blst_fp {
                l: [
                    0x7bcf_a7a2_5aa3_0fda,
                    0xdc17_dec1_2a92_7e7c,
                    0x2f08_8dd8_6b4e_bef1,
                    0xd1ca_2087_da74_d4a7,
                    0x2da2_5966_96ce_bc1d,
                    0x0e2b_7eed_bbfd_87d2,
                ],
            },
        ],
    });

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
