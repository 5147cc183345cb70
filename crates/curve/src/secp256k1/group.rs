//! Points of curves y^2 = x^3 + b over the field of secp256k1.
//!
//! Generic over [`Curve`], so that the same code runs over the tiny groups of the tests, where every pair of points can
//! be tried. Three forms:
//!
//! - [`Affine`]: (x, y), never the point at infinity.
//! - [`Jacobian`]: x = X / Z^2, y = Y / Z^3, with a flag for infinity. Variable-time, for public points. The formulas
//!   branch on the exceptional cases (equal, opposite, infinity).
//! - [`Projective`]: x = X / Z, y = Y / Z, infinity is (0 : 1 : 0). Constant-time, for secret points; the addition is
//!   complete on every group of odd order, so there is no exceptional case.
//!
//! Magnitudes: coordinates of affine points are at most 1 on entry (a negated y: 2), of results as written at each formula.

use core::marker::PhantomData;

use super::field::FieldElement;
use crate::mask::Mask;

/// Parameters of a curve y^2 = x^3 + B.
pub(crate) trait Curve: Copy {
    /// b.
    const B: u32;
    /// The generator's coordinates, in limbs of 52 bits.
    const GENERATOR: ([u64; 5], [u64; 5]);
}

/// beta, a cube root of 1 in the field: (beta x, y) is lambda (x, y).
pub(crate) const BETA: FieldElement = FieldElement::from_limbs([
    0x9_6c28_7195_01ee,
    0x7_512f_5899_5c13,
    0xc_3434_e99c_f049,
    0x7106_e644_79ea,
    0x7ae9_6a2b_657c,
]);

/// A point other than infinity. Coordinates of magnitude 1 (y: up to 2).
#[derive(Clone, Copy)]
pub(crate) struct Affine<C: Curve> {
    pub(crate) x: FieldElement,
    pub(crate) y: FieldElement,
    curve: PhantomData<C>,
}

impl<C: Curve> Affine<C> {
    #[inline(always)]
    pub(crate) const fn new(x: FieldElement, y: FieldElement) -> Self {
        Self {
            x,
            y,
            curve: PhantomData,
        }
    }

    #[cfg(test)]
    pub(crate) fn generator() -> Self {
        let (x, y) = C::GENERATOR;
        Self::new(FieldElement::from_limbs(x), FieldElement::from_limbs(y))
    }

    /// The point with this x and a y of this parity, if x is on the curve. Variable-time.
    pub(crate) fn from_x_vartime(x: FieldElement, odd: bool) -> Option<Self> {
        Some(Self::with_parity(x, Self::right_side(&x).sqrt()?, odd))
    }

    /// The same, given what is a square root of the right side if there is any. Variable-time.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn from_root_vartime(
        x: FieldElement,
        root: FieldElement,
        odd: bool,
    ) -> Option<Self> {
        root.square()
            .equals(&Self::right_side(&x))
            .then(|| Self::with_parity(x, root, odd))
    }

    fn with_parity(x: FieldElement, root: FieldElement, odd: bool) -> Self {
        let y = root.normalize();
        Self::new(
            x,
            if y.is_odd() == odd {
                y
            } else {
                y.negate(1).normalize()
            },
        )
    }

    /// x^3 + b, of magnitude 2.
    fn right_side(x: &FieldElement) -> FieldElement {
        x.square()
            .mul(x)
            .add(&FieldElement::from_limbs([u64::from(C::B), 0, 0, 0, 0]))
    }

    pub(crate) fn is_on_curve(&self) -> bool {
        self.y.square().equals(&Self::right_side(&self.x))
    }

    /// lambda times the point.
    #[inline(always)]
    pub(crate) fn endomorphism(&self) -> Self {
        Self::new(self.x.mul(&BETA), self.y)
    }

    /// The opposite, where asked.
    #[inline(always)]
    pub(crate) fn negate_if_vartime(&self, negate: bool) -> Self {
        if negate {
            Self::new(self.x, self.y.negate(1))
        } else {
            *self
        }
    }
}

/// A public point in Jacobian coordinates. X has magnitude at most 6, Y at most 2, Z at most 1.
#[derive(Clone, Copy)]
pub(crate) struct Jacobian<C: Curve> {
    pub(crate) x: FieldElement,
    pub(crate) y: FieldElement,
    pub(crate) z: FieldElement,
    pub(crate) infinity: bool,
    curve: PhantomData<C>,
}

impl<C: Curve> Jacobian<C> {
    pub(crate) const INFINITY: Self = Self {
        x: FieldElement::ONE,
        y: FieldElement::ONE,
        z: FieldElement::ZERO,
        infinity: true,
        curve: PhantomData,
    };

    #[inline(always)]
    pub(crate) fn new(x: FieldElement, y: FieldElement, z: FieldElement) -> Self {
        Self {
            x,
            y,
            z,
            infinity: false,
            curve: PhantomData,
        }
    }

    pub(crate) fn from_affine(p: &Affine<C>) -> Self {
        Self::new(p.x, p.y, FieldElement::ONE)
    }

    /// To affine, given 1 / Z; coordinates normalized.
    pub(crate) fn to_affine_with(self, z_inverse: &FieldElement) -> Affine<C> {
        let zi2 = z_inverse.square();
        let zi3 = zi2.mul(z_inverse);
        Affine::new(self.x.mul(&zi2).normalize(), self.y.mul(&zi3).normalize())
    }

    /// To affine; `None` for infinity.
    #[cfg(test)]
    pub(crate) fn to_affine_vartime(self) -> Option<Affine<C>> {
        (!self.infinity).then(|| self.to_affine_with(&self.z.invert_vartime()))
    }

    /// 2 `self`. 3 M + 4 S.
    ///
    /// Source: [EFD] shortw/jacobian-0 "dbl-2009-l", its result scaled by 1/2 in Z as in [LIBSECP] `group_impl.h`:
    /// with L = 3/2 X^2, S = Y^2, T = -X S: X3 = L^2 + 2 T, Y3 = -(L (X3 + T) + S^2), Z3 = Y Z.
    /// In a group of odd order there is no point with y = 0, so the double of a finite point is finite.
    #[inline(always)]
    pub(crate) fn double_vartime(&self) -> Self {
        if self.infinity {
            return *self;
        }
        let z3 = self.z.mul(&self.y); // 1
        let s = self.y.square(); // 1
        let l = self.x.square().mul_small(3).half(); // 2
        let t = s.negate(1).mul(&self.x); // 1
        let x3 = l.square().add(&t).add(&t); // 3
        let y3 = FieldElement::sum_of_products(&l, &x3.add(&t), &s, &s).negate(1); // 2
        Self::new(x3, y3, z3)
    }

    /// `self + other`. 8 M + 3 S.
    #[inline(always)]
    pub(crate) fn add_affine_vartime(&self, other: &Affine<C>) -> Self {
        if self.infinity {
            return Self::from_affine(other);
        }
        self.add_with_ratio_vartime(other, &self.z).0
    }

    /// `self + other`, where `self` is given on the isomorphic curve whose points have Z divided by `scale`. 10 M + 3 S.
    #[inline(always)]
    pub(crate) fn add_scaled_vartime(&self, other: &Affine<C>, scale: &FieldElement) -> Self {
        if self.infinity {
            // Z = scale there is Z = 1 here.
            let square = scale.square();
            return Self::new(
                other.x.mul(&square),
                other.y.mul(&square.mul(scale)),
                FieldElement::ONE,
            );
        }
        self.add_with_ratio_vartime(other, &self.z.mul(scale)).0
    }

    /// `self + other` for finite `self`, and Z3 / Z1, where `z1` stands for the Z of `self` in all but Z3.
    ///
    /// Source: [EFD] shortw/jacobian-0 "madd" ([CMO98]): H = x2 Z1^2 - X1, R = y2 Z1^3 - Y1, X3 = R^2 - H^3 - 2 X1 H^2,
    /// Y3 = R (X1 H^2 - X3) - Y1 H^3, Z3 = Z1 H.
    #[inline(always)]
    pub(crate) fn add_with_ratio_vartime(
        &self,
        other: &Affine<C>,
        z1: &FieldElement,
    ) -> (Self, FieldElement) {
        debug_assert!(!self.infinity);
        let zz = z1.square();
        let u2 = other.x.mul(&zz); // 1
        let s2 = other.y.mul(&zz.mul(z1)); // 1
        let h = u2.sub(&self.x, 6); // 8
        let r = s2.sub(&self.y, 2); // 4
        if h.is_zero_vartime() {
            // Equal or opposite. Doubling has Z3 / Z1 = Y1.
            return if r.is_zero() {
                (self.double_vartime(), self.y)
            } else {
                (Self::INFINITY, FieldElement::ZERO)
            };
        }
        let hh = h.square(); // 1
        let minus_hhh = hh.mul(&h).negate(1); // 2
        let v = hh.mul(&self.x); // 1
        let x3 = r.square().add(&minus_hhh).add(&v.mul_small(2).negate(2)); // 6
        let y3 = FieldElement::sum_of_products(&r, &v.sub(&x3, 6), &minus_hhh, &self.y); // 1
        (Self::new(x3, y3, self.z.mul(&h)), h)
    }
}

/// A secret point in homogeneous coordinates. All of magnitude at most 1.
#[derive(Clone, Copy)]
pub(crate) struct Projective<C: Curve> {
    pub(crate) x: FieldElement,
    pub(crate) y: FieldElement,
    pub(crate) z: FieldElement,
    curve: PhantomData<C>,
}

impl<C: Curve> Projective<C> {
    pub(crate) const INFINITY: Self = Self {
        x: FieldElement::ZERO,
        y: FieldElement::ONE,
        z: FieldElement::ZERO,
        curve: PhantomData,
    };

    #[inline(always)]
    pub(crate) fn new(x: FieldElement, y: FieldElement, z: FieldElement) -> Self {
        Self {
            x,
            y,
            z,
            curve: PhantomData,
        }
    }

    pub(crate) fn from_affine(p: &Affine<C>) -> Self {
        Self::new(p.x, p.y, FieldElement::ONE)
    }

    /// `self + other`, complete: correct for every finite `other` and every `self`, infinity included. 11 M.
    ///
    /// Source: [RCB15] algorithm 8 (complete mixed addition, a = 0); each output is a sum of two products, reduced once.
    #[inline(always)]
    pub(crate) fn add_affine(&self, other: &Affine<C>) -> Self {
        let b3 = 3 * C::B;
        debug_assert!(b3 <= 21);
        let xx = self.x.mul(&other.x); // 1
        let yy = self.y.mul(&other.y); // 1
        let cross = self
            .x
            .add(&self.y)
            .mul(&other.x.add(&other.y))
            .sub(&xx.add(&yy), 2); // X1 y2 + x2 Y1: 4
        let yz = other.y.mul(&self.z).add(&self.y); // y2 Z1 + Y1: 2
        let xz = other
            .x
            .mul(&self.z)
            .add(&self.x)
            .mul_small(b3)
            .normalize_weak(); // b3 (x2 Z1 + X1): 1
        let xx3 = xx.mul_small(3); // 3
        let bz = self.z.mul_small(b3).normalize_weak(); // 1
        let sum = yy.add(&bz); // 2
        let difference = yy.sub(&bz, 1); // 3
        Self::new(
            FieldElement::sum_of_products(&cross, &difference, &yz, &xz.negate(1)),
            FieldElement::sum_of_products(&difference, &sum, &xz, &xx3),
            FieldElement::sum_of_products(&sum, &yz, &xx3, &cross),
        )
    }

    /// 2 `self`, complete. 7 M + 2 S.
    ///
    /// Source: [RCB15] algorithm 9 (a = 0): with T = 3 b Z^2: X3 = 2 X Y (Y^2 - 3 T), Y3 = (Y^2 - 3 T)(Y^2 + T) + 8 Y^2 T,
    /// Z3 = 8 Y^3 Z.
    #[inline(always)]
    pub(crate) fn double(&self) -> Self {
        let b3 = 3 * C::B;
        debug_assert!(b3 <= 21);
        let yy = self.y.square(); // 1
        let yy8 = yy.mul_small(8); // 8
        let t = self.z.square().mul_small(b3).normalize_weak(); // 1
        let difference = yy.sub(&t.mul_small(3), 3); // 5
        let xy2 = self.x.mul(&self.y).mul_small(2); // 2
        Self::new(
            difference.mul(&xy2),
            FieldElement::sum_of_products(&difference, &yy.add(&t), &t, &yy8),
            self.y.mul(&self.z).mul(&yy8),
        )
    }

    /// x and y, normalized, by a constant-time inversion; (0, 0) for infinity.
    pub(crate) fn to_affine(self) -> Affine<C> {
        self.to_affine_with(&self.z.invert())
    }

    /// To affine, given 1 / Z; coordinates normalized.
    pub(crate) fn to_affine_with(self, z_inverse: &FieldElement) -> Affine<C> {
        Affine::new(
            self.x.mul(z_inverse).normalize(),
            self.y.mul(z_inverse).normalize(),
        )
    }

    /// The opposite where the mask is true.
    #[inline(always)]
    pub(crate) fn negate_if(&self, mask: Mask) -> Self {
        Self {
            y: FieldElement::select(mask, &self.y.negate(1), &self.y),
            ..*self
        }
    }

    /// Is it infinity?
    #[cfg(test)]
    pub(crate) fn is_infinity(&self) -> bool {
        self.z.is_zero()
    }
}

impl<C: Curve> Affine<C> {
    /// The opposite where the mask is true, in constant time.
    #[inline(always)]
    pub(crate) fn negate_if(&self, mask: Mask) -> Self {
        Self::new(
            self.x,
            FieldElement::select(mask, &self.y.negate(1), &self.y),
        )
    }

    /// `yes` where the mask is true, else `no`.
    #[inline(always)]
    pub(crate) fn select(mask: Mask, yes: &Self, no: &Self) -> Self {
        Self::new(
            FieldElement::select(mask, &yes.x, &no.x),
            FieldElement::select(mask, &yes.y, &no.y),
        )
    }
}
