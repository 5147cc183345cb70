//! What curve arithmetic asks of a field.

use crate::mask::Mask;

/// A field of odd characteristic whose sums are carried at once, for public data: variable-time.
pub(crate) trait Field: Copy + PartialEq {
    const ZERO: Self;
    const ONE: Self;

    fn add(&self, other: &Self) -> Self;
    fn sub(&self, other: &Self) -> Self;
    fn negate(&self) -> Self;
    fn mul(&self, other: &Self) -> Self;
    fn square(&self) -> Self;
    /// `1 / self`, and 0 for 0.
    fn invert(&self) -> Self;

    #[inline(always)]
    fn double(&self) -> Self {
        self.add(self)
    }

    /// `self / 2`
    fn half(&self) -> Self;

    /// `a * b - c * d`
    #[inline(always)]
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        // First what the group law has had for longer.
        let cd = c.mul(d);
        a.mul(b).sub(&cd)
    }

    /// `a * b - c^2`
    #[inline(always)]
    fn product_minus_square(a: &Self, b: &Self, c: &Self) -> Self {
        let cc = c.square();
        a.mul(b).sub(&cc)
    }

    /// `Jacobian::double` where a = 0, in place of X, Y and Z, from a field that has its own steps for it: else `false`.
    #[inline(always)]
    fn double_point(_: [&mut Self; 3]) -> bool {
        false
    }

    /// `Jacobian::add_incomplete`, likewise: in place of X, Y and Z, of the addend's x and y, and Z as the addend sees it if
    /// that is another. Gives Z3 / Z1.
    #[inline(always)]
    fn add_point(_: [&mut Self; 3], _: [&Self; 2], _: Option<&Self>) -> Option<Self> {
        None
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }
}

/// A field whose sums need not be carried: what the group law is written for.
///
/// An element of *magnitude* m stands in limbs that have grown to m times their size. Products take magnitudes of at most 8
/// and have magnitude 1; sums add magnitudes; the negative of what has at most m has m + 1. A [`Field`] carries at once
/// and ignores magnitudes. Variable-time where a name or a comment does not say otherwise.
pub(crate) trait LazyField: Copy {
    const ZERO: Self;
    const ONE: Self;

    fn add(&self, other: &Self) -> Self;
    /// `other` has at most this magnitude.
    fn sub(&self, other: &Self, magnitude: u32) -> Self;
    /// `self` has at most this magnitude.
    fn negate(&self, magnitude: u32) -> Self;
    fn mul(&self, other: &Self) -> Self;
    fn square(&self) -> Self;
    /// `a * b - c * d`, where c has magnitude 1, and the products of magnitudes add up to 64 at most.
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self;
    /// `a * (b - c) - d^2`, of magnitude 2, where b and d have magnitude 1, and that of a times (2 and that of c) is at
    /// most 63.
    fn product_minus_square(a: &Self, b: &Self, c: &Self, d: &Self) -> Self;
    /// Half of the magnitude, plus 1.
    fn half(&self) -> Self;
    /// `1 / self`, and 0 for 0.
    fn invert(&self) -> Self;
    fn is_zero(&self) -> bool;

    /// `Jacobian::double` where a = 0, in place of X, Y and Z, from a field that has its own steps for it: else `false`.
    #[inline(always)]
    fn double_point(_: [&mut Self; 3]) -> bool {
        false
    }

    /// `Jacobian::add_incomplete`, likewise: in place of X, Y and Z, of the addend's x and y, and Z as the addend sees it if
    /// that is another. Gives Z3 / Z1.
    #[inline(always)]
    fn add_point(_: [&mut Self; 3], _: [&Self; 2], _: Option<&Self>) -> Option<Self> {
        None
    }

    #[inline(always)]
    fn double(&self) -> Self {
        self.add(self)
    }

    #[inline(always)]
    fn triple(&self) -> Self {
        self.double().add(self)
    }
}

impl<F: Field> LazyField for F {
    const ZERO: Self = F::ZERO;
    const ONE: Self = F::ONE;

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        Field::add(self, other)
    }

    #[inline(always)]
    fn sub(&self, other: &Self, _: u32) -> Self {
        Field::sub(self, other)
    }

    #[inline(always)]
    fn negate(&self, _: u32) -> Self {
        Field::negate(self)
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        Field::mul(self, other)
    }

    #[inline(always)]
    fn square(&self) -> Self {
        Field::square(self)
    }

    #[inline(always)]
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        Field::difference_of_products(a, b, c, d)
    }

    #[inline(always)]
    fn product_minus_square(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        Field::product_minus_square(a, &Field::sub(b, c), d)
    }

    #[inline(always)]
    fn half(&self) -> Self {
        Field::half(self)
    }

    #[inline(always)]
    fn double_point(point: [&mut Self; 3]) -> bool {
        <F as Field>::double_point(point)
    }

    #[inline(always)]
    fn add_point(point: [&mut Self; 3], addend: [&Self; 2], z: Option<&Self>) -> Option<Self> {
        <F as Field>::add_point(point, addend, z)
    }

    #[inline(always)]
    fn invert(&self) -> Self {
        Field::invert(self)
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        Field::is_zero(self)
    }
}

/// What multiplications by secrets ask in addition. All of it, and the ring operations of [`LazyField`], in constant time.
pub(crate) trait SecretField: LazyField {
    /// `yes` where the mask is true, else `no`.
    fn select(mask: Mask, yes: &Self, no: &Self) -> Self;
    /// Is it 0?
    fn is_zero_mask(&self) -> Mask;
}
