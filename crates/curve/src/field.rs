//! What curve arithmetic asks of a field.

/// A field of odd characteristic, for public data: variable-time.
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

    #[inline(always)]
    fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    #[inline(always)]
    fn negate_if(&self, negate: bool) -> Self {
        if negate { self.negate() } else { *self }
    }
}
