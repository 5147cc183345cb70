//! Eight points in vector lanes, on curves y^2 = x^3 + b for any b.
//!
//! The formulas are those of `group.rs`, repeated here for two reasons: vector code needs functions with
//! `#[target_feature]`, which safe trait methods cannot have, and the bounds on uncarried sums differ from the scalar
//! form. Only the table of odd multiples and the addition chain of the square root are shared, through closures.
//!
//! An element of size n is below n p. Products have size 1.

use core::arch::x86_64::__mmask8;

use super::field::{Degree, FieldLanes, Prime, Products};

/// Eight affine points; x has size at most 10, y at most 4.
#[derive(Clone, Copy)]
pub(crate) struct AffineLanes<F> {
    pub(crate) x: F,
    pub(crate) y: F,
}

/// Eight Jacobian points; x and y have size at most 10, z at most 2. Sums and doubles have a y of size 1.
#[derive(Clone, Copy)]
pub(crate) struct JacobianLanes<F> {
    pub(crate) x: F,
    pub(crate) y: F,
    pub(crate) z: F,
}

impl<P: Prime<N>, const N: usize, D: Degree> JacobianLanes<FieldLanes<P, N, D>>
where
    FieldLanes<P, N, D>: Products,
{
    /// dbl-2009-l, with D computed as a product: 4M + 3S, with 6 reductions.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn double(&self) -> Self {
        let b = self.y.square();
        let e = self.x.square().times::<3>();
        let xb = self.x.mul(&b); // D = 4 X B
        let ee = e.square();
        let x = ee.minus::<1, 8, 9>(&xb); // size 10
        // E (D - X3) - 8 B^2
        let y = FieldLanes::sum_of_products(
            &e,
            &xb.minus::<12, 1, 2>(&ee),
            &b.times::<8>(),
            &b.negate::<2>(),
        );
        Self {
            x,
            y,
            z: self.y.mul(&self.z).times::<2>(),
        }
    }

    /// madd-2004-hmv: 8M + 3S. `z` is the Z of this point on the addend's curve.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn add_as(
        &self,
        other: &AffineLanes<FieldLanes<P, N, D>>,
        z: &FieldLanes<P, N, D>,
    ) -> Self {
        let zz = z.square();
        let h = other.x.mul(&zz).minus::<1, 1, 11>(&self.x); // size 12
        let r = other.y.mul(&zz.mul(z)).minus::<1, 1, 11>(&self.y); // size 12
        let hh = h.square();
        let hhh = h.mul(&hh);
        let v = self.x.mul(&hh);
        let x = r.square().minus_twice(&hhh, &v); // size 5
        let y =
            FieldLanes::sum_of_products(&r, &v.minus::<1, 1, 6>(&x), &self.y, &hhh.negate::<2>());
        Self {
            x,
            y,
            z: self.z.mul(&h),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn add(&self, other: &AffineLanes<FieldLanes<P, N, D>>) -> Self {
        self.add_as(other, &self.z)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn select(&self, mask: __mmask8, yes: &Self) -> Self {
        Self {
            x: self.x.select(mask, &yes.x),
            y: self.y.select(mask, &yes.y),
            z: self.z.select(mask, &yes.z),
        }
    }
}

impl<P: Prime<N>, const N: usize, D: Degree> AffineLanes<FieldLanes<P, N, D>>
where
    FieldLanes<P, N, D>: Products,
{
    /// Returns `2 P` and `P` as X and Y with a common Z, which is 2 y: 3M + 3S. x and y must have size 1.
    ///
    /// `2 P` has sizes 4 and 3; `P` has size 1.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn double_with_one_z(&self) -> [Self; 2] {
        let e = self.x.square().times::<3>();
        let b2 = self.y.square().times::<2>();
        let b4 = b2.times::<2>();
        let d = self.x.mul(&b4); // 4 X B
        let bb8 = b2.mul(&b4);
        let x = e.square().minus::<1, 2, 3>(&d);
        let y = e.mul(&d.minus::<1, 1, 5>(&x)).minus::<1, 1, 2>(&bb8);
        [Self { x, y }, Self { x: d, y: bb8 }]
    }

    /// Adds two points given as X and Y with a common Z. Returns the sum, `self` rescaled to the Z of the sum,
    /// and the ratio of the new Z to the old: 4M + 2S. x must have size at most 4, y at most 3.
    ///
    /// If the points are equal or opposite, the ratio is 0. The sum has sizes 4 and 3; the rest has size 1.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn add_with_one_z(&self, other: &Self) -> ([Self; 2], FieldLanes<P, N, D>) {
        let h = other.x.minus::<1, 1, 5>(&self.x); // size 9
        let r = other.y.minus::<1, 1, 4>(&self.y); // size 7
        let hh = h.square();
        let (u1, u2) = (self.x.mul(&hh), other.x.mul(&hh));
        let x = r.square().minus_both(&u1, &u2);
        let s1 = self.y.mul(&u2.minus::<1, 1, 2>(&u1));
        let y = r.mul(&u1.minus::<1, 1, 5>(&x)).minus::<1, 1, 2>(&s1);
        ([Self { x, y }, Self { x: u1, y: s1 }], h)
    }

    /// Maps the points to the isomorphic curves whose points have Z divided by `scale`. Size 1.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn scaled(&self, scale: &FieldLanes<P, N, D>) -> Self {
        let square = scale.square();
        Self {
            x: self.x.mul(&square),
            y: self.y.mul(&square.mul(scale)),
        }
    }

    /// Negates the points in the lanes of `mask`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn negate_where(&self, mask: __mmask8) -> Self {
        Self {
            x: self.x,
            y: self.y.negate_where::<4>(mask),
        }
    }
}
