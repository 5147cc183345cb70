//! Constant-time selection.
//!
//! A [`Mask`] is all zeros or all ones. It passes through [`core::hint::black_box`] when it is made, so that the
//! optimiser cannot see that it has only two values and turn a selection back into a branch. What the compiled code
//! really does is checked by `docs/constant-time.md`'s tool.

/// All zeros (false) or all ones (true), of unknown value to the optimiser.
#[derive(Clone, Copy)]
pub(crate) struct Mask(u64);

impl Mask {
    /// True where `bit` is 1; `bit` must be 0 or 1.
    #[inline(always)]
    pub(crate) fn from_bit(bit: u64) -> Self {
        debug_assert!(bit <= 1);
        Self(core::hint::black_box(bit.wrapping_neg()))
    }

    /// True where `word` is 0.
    #[inline(always)]
    pub(crate) fn is_zero(word: u64) -> Self {
        Self::from_bit(((word | word.wrapping_neg()) >> 63) ^ 1)
    }

    /// `yes` where true, `no` where false.
    #[inline(always)]
    pub(crate) fn select(self, yes: u64, no: u64) -> u64 {
        no ^ (self.0 & (yes ^ no))
    }

    /// The mask as a word: 0 or `u64::MAX`.
    #[inline(always)]
    pub(crate) fn word(self) -> u64 {
        self.0
    }

    /// True where either is.
    #[inline(always)]
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True where `self` is not.
    #[inline(always)]
    pub(crate) fn not(self) -> Self {
        Self(!self.0)
    }

    /// Leaves the constant-time world: the answer is public.
    #[inline(always)]
    pub(crate) fn declassify(self) -> bool {
        let word = self.0;
        #[cfg(lydite_constant_time_check)]
        lydite_hash::memcheck::set_defined(&word);
        word != 0
    }
}
