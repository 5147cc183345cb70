//! The curves, and conversions from and to blst's elements, which have the same form.

use blst::{blst_fp, blst_fp2};
use zeroize::Zeroize;

use super::{
    super::{
        super::{
            endomorphism::{BETA, G2_BY_X, G2_BY_Y},
            fields::{self, Element},
        },
        endomorphism::Endomorphism,
    },
    field::Fp,
    fp2::Fp2,
};
use crate::{
    field::Field,
    group::{Affine, Curve, Jacobian},
    tower::Tower,
};

/// A curve over these fields. (`invert_all` requires `Zeroize`; nothing is secret here.)
pub(in super::super::super) trait AdxCurve:
    Endomorphism<Field: Field + Zeroize>
{
    /// The same curve over blst's elements.
    type Blst: Curve;
    /// Number of points from which sums cost less with buckets.
    const BUCKETS_FROM: usize;

    fn from_blst(element: &<Self::Blst as Curve>::Field) -> Self::Field;
    fn to_blst(element: &Self::Field) -> <Self::Blst as Curve>::Field;

    fn affine(point: &Affine<Self::Blst>) -> Affine<Self> {
        Affine {
            x: Self::from_blst(&point.x),
            y: Self::from_blst(&point.y),
        }
    }

    fn jacobian(point: &Jacobian<Self::Blst>) -> Jacobian<Self> {
        Jacobian {
            x: Self::from_blst(&point.x),
            y: Self::from_blst(&point.y),
            z: Self::from_blst(&point.z),
        }
    }

    fn jacobian_to_blst(point: &Jacobian<Self>) -> Jacobian<Self::Blst> {
        Jacobian {
            x: Self::to_blst(&point.x),
            y: Self::to_blst(&point.y),
            z: Self::to_blst(&point.z),
        }
    }
}

/// y^2 = x^3 + 4, and all curves with another constant, whose points are added in the same way.
#[derive(Clone, Copy)]
pub(in super::super::super) struct G1;

impl Curve for G1 {
    type Field = Fp;
    const A_IS_MINUS_3: bool = false;

    fn b() -> Fp {
        Fp::ONE.double().double()
    }
}

impl Endomorphism for G1 {
    const POWER: usize = <fields::G1 as Endomorphism>::POWER;

    fn image(point: &Affine<Self>) -> Affine<Self> {
        Affine {
            x: point.x.mul(&Self::from_blst(&BETA)),
            y: point.y,
        }
    }
}

impl AdxCurve for G1 {
    type Blst = fields::G1;
    const BUCKETS_FROM: usize = 48;

    fn from_blst(element: &fields::Fp) -> Fp {
        Fp::from_montgomery(element.0.l)
    }

    fn to_blst(element: &Fp) -> fields::Fp {
        Element(blst_fp {
            l: element.to_montgomery(),
        })
    }
}

/// y^2 = x^3 + 4 (1 + u), and all curves with another constant.
#[derive(Clone, Copy)]
pub(in super::super::super) struct G2;

impl Curve for G2 {
    type Field = Fp2;
    const A_IS_MINUS_3: bool = false;

    fn b() -> Fp2 {
        Fp2::new([G1::b(); 2])
    }
}

impl Endomorphism for G2 {
    const POWER: usize = <fields::G2 as Endomorphism>::POWER;

    fn image(point: &Affine<Self>) -> Affine<Self> {
        Affine {
            x: point.x.conjugate().mul(&Self::from_blst(&G2_BY_X)),
            y: point.y.conjugate().mul(&Self::from_blst(&G2_BY_Y)),
        }
    }
}

impl AdxCurve for G2 {
    type Blst = fields::G2;
    const BUCKETS_FROM: usize = 12;

    fn from_blst(element: &fields::Fp2) -> Fp2 {
        Fp2::new(element.0.fp.map(|c| Fp::from_montgomery(c.l)))
    }

    fn to_blst(element: &Fp2) -> fields::Fp2 {
        Element(blst_fp2 {
            fp: element.parts().map(|c| G1::to_blst(&c).0),
        })
    }
}
