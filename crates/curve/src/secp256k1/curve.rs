//! The curve, generic over the field representation of a backend.

use core::marker::PhantomData;

use super::field::{FieldElement, FieldRepr, square_root_chain};
use crate::{
    field::LazyField,
    group::{Affine, Curve, Jacobian},
};

/// A curve y^2 = x^3 + b over the field of secp256k1: secp256k1 itself, and the small-group curves of the tests.
pub(crate) trait Endomorphism: Curve<Field: FieldRepr> {
    /// The generator's coordinates, as little-endian words.
    const GENERATOR: [[u64; 4]; 2];
}

/// y^2 = x^3 + 7. Source: [SEC2] §2.4.1.
#[derive(Clone, Copy)]
pub(crate) struct Secp256k1<F = FieldElement>(PhantomData<F>);

impl<F: FieldRepr> Endomorphism for Secp256k1<F> {
    const GENERATOR: [[u64; 4]; 2] = [
        [
            0x59f2_815b_16f8_1798,
            0x029b_fcdb_2dce_28d9,
            0x55a0_6295_ce87_0b07,
            0x79be_667e_f9dc_bbac,
        ],
        [
            0x9c47_d08f_fb10_d4b8,
            0xfd17_b448_a685_5419,
            0x5da4_fbfc_0e11_08a8,
            0x483a_da77_26a3_c465,
        ],
    ];
}

impl<F: FieldRepr> Curve for Secp256k1<F> {
    type Field = F;
    const A_IS_MINUS_3: bool = false;

    #[inline(always)]
    fn b() -> F {
        F::from_words([7, 0, 0, 0])
    }
}

impl<F: FieldRepr> Secp256k1<F> {
    /// Converts a point to another field representation.
    #[inline(always)]
    pub(crate) fn point<G: FieldRepr>(p: &Affine<Secp256k1<G>>) -> Affine<Self> {
        let [x, y] = [p.x, p.y].map(|coordinate| F::from_words(coordinate.reduced()));
        Affine { x, y }
    }

    /// Converts a point in Jacobian coordinates to another field representation.
    #[inline(always)]
    pub(crate) fn sum<G: FieldRepr>(p: &Jacobian<Secp256k1<G>>) -> Jacobian<Self> {
        let [x, y, z] = [p.x, p.y, p.z].map(|coordinate| F::from_words(coordinate.reduced()));
        Jacobian { x, y, z }
    }
}

impl Affine<Secp256k1> {
    /// Reduces both coordinates below p.
    #[inline(always)]
    pub(super) fn normalize(&self) -> Self {
        Self {
            x: self.x.normalize(),
            y: self.y.normalize(),
        }
    }
}

impl<C: Endomorphism> Affine<C> {
    #[cfg(test)]
    pub(super) fn generator() -> Self {
        let [x, y] = C::GENERATOR.map(C::Field::from_words);
        Self { x, y }
    }

    /// Returns lambda times the point.
    #[inline(always)]
    pub(super) fn endomorphism(&self) -> Self {
        Self {
            x: self.x.mul(&C::Field::BETA),
            y: self.y,
        }
    }

    /// Returns the point with this x and a y of this parity, if x is on the curve. x must be reduced. Variable-time.
    pub(super) fn from_x_vartime(x: C::Field, odd: bool) -> Option<Self> {
        let root = square_root_chain(Self::right_side(&x), C::Field::mul, C::Field::square_times);
        Self::from_root_vartime(x, root, odd)
    }

    /// Like [`Self::from_x_vartime`], given a candidate square root of the right side; the root is checked.
    /// Variable-time.
    pub(super) fn from_root_vartime(x: C::Field, root: C::Field, odd: bool) -> Option<Self> {
        if !Self::right_side(&x).sub(&root.square(), 1).is_zero() {
            return None;
        }
        let mut y = root.reduced();
        if (y[0] & 1 == 1) != odd {
            y = root.negate(1).reduced();
        }
        let y = C::Field::from_words(y);
        Some(Self { x, y })
    }
}
