//! The field operations that curve arithmetic requires.

use zeroize::Zeroize;

use crate::mask::Mask;

/// A field of odd characteristic with fully carried results. Variable-time, for public data only.
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
        // `c * d` first: the group law computes c and d before a and b.
        let cd = c.mul(d);
        a.mul(b).sub(&cd)
    }

    /// `a * b - c^2`
    #[inline(always)]
    fn product_minus_square(a: &Self, b: &Self, c: &Self) -> Self {
        let cc = c.square();
        a.mul(b).sub(&cc)
    }

    /// `Jacobian::double` for a = 0, in place on X, Y and Z. Returns `false` if the field has no specialised
    /// implementation.
    #[inline(always)]
    fn double_point(_: [&mut Self; 3]) -> bool {
        false
    }

    /// `Jacobian::add_incomplete` in place on X, Y and Z, given x and y of the addend, and Z on the addend's curve if
    /// that differs. Returns Z3 / Z1, or `None` if the field has no specialised implementation.
    #[inline(always)]
    fn add_point(_: [&mut Self; 3], _: [&Self; 2], _: Option<&Self>) -> Option<Self> {
        None
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }
}

/// A field that allows uncarried sums. The group law is written for this trait.
///
/// The limbs of an element of *magnitude* m may be up to m times their normal size. Products accept magnitudes of at
/// most 8 and have magnitude 1. Sums add magnitudes. Negating an element of magnitude at most m gives m + 1. A
/// [`Field`] carries immediately and ignores magnitudes. Variable-time unless a name or a comment says otherwise.
pub(crate) trait LazyField: Copy {
    const ZERO: Self;
    const ONE: Self;

    fn add(&self, other: &Self) -> Self;
    /// `magnitude` is an upper bound on the magnitude of `other`.
    fn sub(&self, other: &Self, magnitude: u32) -> Self;
    /// `magnitude` is an upper bound on the magnitude of `self`.
    fn negate(&self, magnitude: u32) -> Self;
    fn mul(&self, other: &Self) -> Self;
    fn square(&self) -> Self;
    /// `a * b - c * d`. c must have magnitude 1, and the sum of both products of magnitudes must be at most 64.
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self;
    /// `a * (b - c) - d^2`, with magnitude 2. b and d must have magnitude 1, and `mag(a) * (2 + mag(c))` must be at
    /// most 63.
    fn product_minus_square(a: &Self, b: &Self, c: &Self, d: &Self) -> Self;
    /// `self / 2`, with half the magnitude plus 1.
    fn half(&self) -> Self;
    /// `1 / self`, and 0 for 0.
    fn invert(&self) -> Self;
    fn is_zero(&self) -> bool;

    /// `Jacobian::double` for a = 0, in place on X, Y and Z. Returns `false` if the field has no specialised
    /// implementation.
    #[inline(always)]
    fn double_point(_: [&mut Self; 3]) -> bool {
        false
    }

    /// `Jacobian::add_incomplete` in place on X, Y and Z, given x and y of the addend, and Z on the addend's curve if
    /// that differs. Returns Z3 / Z1, or `None` if the field has no specialised implementation.
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

/// Additional operations for multiplication by secrets. These, and the ring operations of [`LazyField`], are
/// constant-time.
pub(crate) trait SecretField: LazyField {
    /// Returns `yes` if the mask is true, else `no`.
    fn select(mask: Mask, yes: &Self, no: &Self) -> Self;
    /// Whether the element is 0.
    fn is_zero_mask(&self) -> Mask;
}

/// Replaces each of up to `CHUNK` non-zero elements by its inverse, with one inversion. Constant-time if `multiply` and
/// `invert` are.
///
/// Source: [Mon87] §10.3.1.
pub(crate) fn invert_all<T: Copy + Zeroize, const CHUNK: usize>(
    elements: &mut [T],
    one: &T,
    multiply: impl Fn(&T, &T) -> T,
    invert: impl Fn(&T) -> T,
) {
    assert!(elements.len() <= CHUNK);
    let mut before = [*one; CHUNK];
    let mut product = *one;
    for (before, element) in before.iter_mut().zip(&*elements) {
        *before = product;
        product = multiply(&product, element);
    }
    let mut inverse = invert(&product);
    product.zeroize();
    for (element, before) in elements.iter_mut().zip(&mut before).rev() {
        let inverted = multiply(&inverse, before);
        inverse = multiply(&inverse, element);
        *element = inverted;
        before.zeroize();
    }
    inverse.zeroize();
}
