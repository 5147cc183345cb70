//! Constant-time selection.
//!
//! A [`Mask`] is all zeros or all ones. Its constructor passes it through [`core::hint::black_box`], so that the
//! optimiser cannot infer that it has only two values and turn a selection back into a branch. The tool described in
//! `docs/constant-time.md` checks the compiled code.

/// All zeros (false) or all ones (true); the value is opaque to the optimiser.
#[derive(Clone, Copy)]
pub(crate) struct Mask(u64);

impl Mask {
    /// True if `bit` is 1. `bit` must be 0 or 1.
    #[inline(always)]
    pub(crate) fn from_bit(bit: u64) -> Self {
        debug_assert!(bit <= 1);
        Self(core::hint::black_box(bit.wrapping_neg()))
    }

    /// True if `word` is 0.
    #[inline(always)]
    pub(crate) fn is_zero(word: u64) -> Self {
        Self::from_bit(((word | word.wrapping_neg()) >> 63) ^ 1)
    }

    /// Returns `yes` if the mask is true, else `no`.
    #[inline(always)]
    pub(crate) fn select(self, yes: u64, no: u64) -> u64 {
        no ^ (self.0 & (yes ^ no))
    }

    /// The mask as a word: 0 or `u64::MAX`.
    #[inline(always)]
    pub(crate) fn word(self) -> u64 {
        self.0
    }

    /// True if either mask is true.
    #[inline(always)]
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True if `self` is false.
    #[inline(always)]
    pub(crate) fn not(self) -> Self {
        Self(!self.0)
    }

    /// Converts the mask to a public `bool`, which callers may branch on.
    #[inline(always)]
    pub(crate) fn declassify(self) -> bool {
        let word = self.0;
        #[cfg(lydite_constant_time_check)]
        lydite_hash::memcheck::set_defined(&word);
        word != 0
    }
}
