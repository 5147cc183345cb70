//! Constant-time multiplication of the generator by a secret.
//!
//! A comb of 43 windows of 6 bits with signed, odd digits that are never zero. For odd k let s = (k - 1) / 2 + 2^257;
//! then k = sum over the bits b_i of s, i = 0..=257, of (2 b_i - 1) 2^i. So window j of s, read as w in 0..64,
//! represents the odd digit 2 w - 63, and the table holds (2 i + 1) 2^(6 j) G for i in 0..32. An even k is replaced by
//! n - k, which is odd, and the result is negated. A multiplication takes 42 additions and no doubling.
//!
//! Source: signed all-bits-set digits: [Ham12] §3.3; the comb and its size: [LIBSECP] `ecmult_gen_impl.h`.
//! Constant time: yes. Every look-up reads all 32 entries of its window. The additions are incomplete and branch-free.
//!
//! Why incomplete additions suffice: an addition combines two sums of d_j 2^(6 j), with odd digits d_j, over disjoint
//! sets of windows. It is exceptional only if the two are equal or opposite modulo n, that is, if a sum of +-d_j 2^(6
//! j) over the windows of both is a multiple of n. As an integer, this sum is never 0: its lowest digit is odd and all
//! other terms are divisible by a higher power of 2. It is below 2^252 without window 42, and below 2^256 with it,
//! because k < n limits that digit to at most 15. Without window 0 it is even. So the multiple can only be +-n, which
//! is odd and above 2^252, and the sum must include windows 0 and 42. These meet in the last addition only, where n
//! determines all digits and therefore k. For such a k the result has Z = 0 and is computed again with complete
//! additions. Whether k is one of these is not treated as a secret.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{curve::Endomorphism, multiply::affine_from_words, scalar::Scalar};
use crate::{field::SecretField, group::Jacobian, mask::Mask};

/// Bits per window.
const WINDOW: usize = 6;
/// Number of windows of the comb.
pub(crate) const WINDOWS: usize = 43;
/// Entries per window.
pub(crate) const ENTRIES: usize = 1 << (WINDOW - 1);

/// Holds `(2 i + 1) 2^(6 j) G` at `32 j + i`, as 8 little-endian words x, y.
#[derive(Clone, Copy)]
pub(crate) struct CombTable<'a>(pub(crate) &'a [[u8; 64]]);

impl<'a> CombTable<'a> {
    #[inline(always)]
    pub(crate) fn window(self, window: usize) -> &'a [[u8; 64]; ENTRIES] {
        &self.0.as_chunks().0[window]
    }
}

/// The digits of a multiplier.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Digits {
    s: [u64; 5],
    /// 1 if k was even and was replaced by n - k.
    negated: u64,
}

/// The digit (2 `index` + 1), negated if the mask is true.
#[derive(Clone, Copy)]
pub(crate) struct Digit {
    pub(crate) index: u64,
    pub(crate) negative: Mask,
}

impl Digits {
    /// Returns the digits of k. k must be at least 1.
    pub(crate) fn new(k: &Scalar) -> Self {
        let negated = (k.words()[0] & 1) ^ 1;
        let odd_k = Scalar::select(Mask::from_bit(negated), &k.negate(), k);
        let w = odd_k.words();
        // s = (k - 1) / 2 + 2^257.
        let s = [
            w[0] >> 1 | w[1] << 63,
            w[1] >> 1 | w[2] << 63,
            w[2] >> 1 | w[3] << 63,
            w[3] >> 1,
            2,
        ];
        Self { s, negated }
    }

    /// Whether the product must be negated.
    #[inline(always)]
    pub(crate) fn negated(&self) -> Mask {
        Mask::from_bit(self.negated)
    }

    #[inline(always)]
    pub(crate) fn get(&self, window: usize) -> Digit {
        let (word, shift) = (window * WINDOW / 64, window * WINDOW % 64);
        let mut bits = self.s[word] >> shift;
        if shift > 64 - WINDOW {
            bits |= self.s[word + 1] << (64 - shift);
        }
        let bits = bits & 63;
        // 2 bits - 63 is positive if bits >= 32; its index is (|digit| - 1) / 2.
        let negative = Mask::from_bit((bits >> 5) ^ 1);
        Digit {
            index: (bits ^ negative.word()) & 31,
            negative,
        }
    }
}

/// Returns entry `index` by reading all entries.
#[inline(always)]
fn scan(entries: &[[u8; 64]; ENTRIES], index: u64) -> [u64; 8] {
    let mut found = [0u64; 8];
    for (i, entry) in entries.iter().enumerate() {
        let mask = Mask::is_zero(i as u64 ^ index).word();
        for (word, bytes) in found.iter_mut().zip(entry.as_chunks::<8>().0) {
            *word |= u64::from_le_bytes(*bytes) & mask;
        }
    }
    found
}

/// Computes `k G` in constant time.
pub(crate) fn multiply_generator<C: Endomorphism>(
    table: CombTable<'_>,
    digits: &Digits,
) -> Jacobian<C> {
    complete(multiply::<C, false>(table, digits), table, digits)
}

/// Checks a product of incomplete additions. If Z = 0 signals an exceptional case, computes it again with complete
/// additions.
#[inline(always)]
pub(crate) fn complete<C: Endomorphism>(
    product: Jacobian<C>,
    table: CombTable<'_>,
    digits: &Digits,
) -> Jacobian<C> {
    if product.z.is_zero_mask().declassify() {
        multiply::<C, true>(table, digits)
    } else {
        product
    }
}

/// Computes `k G` with complete or incomplete additions.
fn multiply<C: Endomorphism, const COMPLETE: bool>(
    table: CombTable<'_>,
    digits: &Digits,
) -> Jacobian<C> {
    let entry = |window: usize| {
        let digit = digits.get(window);
        let words = scan(table.window(window), digit.index);
        affine_from_words::<C>(&words).negate_where(digit.negative)
    };
    let mut sum: Jacobian<C> = entry(0).into();
    for window in 1..WINDOWS {
        sum = sum.add_secret::<COMPLETE>(&entry(window));
    }
    sum.negate_where(digits.negated())
}
