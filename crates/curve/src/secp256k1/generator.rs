//! Constant-time multiplication of the generator by a secret.
//!
//! A comb of 43 windows of 6 bits with signed, odd, never zero digits. For odd k let s = (k - 1) / 2 + 2^257; then
//! k = sum over the bits b_i of s, i = 0..=257, of (2 b_i - 1) 2^i. So window j of s, read as w in 0..64, stands for the
//! odd digit 2 w - 63, and the table holds (2 i + 1) 2^(6 j) G for i in 0..32. An even k is replaced by n - k, which is
//! odd, and the result negated. 42 additions, no doubling.
//!
//! Source: signed all-bits-set digits: [Ham12] §3.3; the comb and its size: [LIBSECP] `ecmult_gen_impl.h`.
//! Constant time: yes. Every look-up reads all 32 entries of its window; the additions are complete.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{
    group::{Curve, Projective},
    multiply::affine_from_words,
    scalar::Scalar,
};
use crate::mask::Mask;

/// Bits of a window.
const WINDOW: usize = 6;
/// Windows of the comb.
pub(crate) const WINDOWS: usize = 43;
/// Entries of a window.
pub(crate) const ENTRIES: usize = 1 << (WINDOW - 1);

/// `(2 i + 1) 2^(6 j) G` at `32 j + i`, as 8 little-endian words x, y.
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
    /// 1 where k was even, and so replaced by n - k.
    negated: u64,
}

/// The digit (2 `index` + 1), negative where the mask is true.
#[derive(Clone, Copy)]
pub(crate) struct Digit {
    pub(crate) index: u64,
    pub(crate) negative: Mask,
}

impl Digits {
    /// Of k from 1 on.
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

    /// Has the product to be negated?
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
        // 2 bits - 63 is positive from 32 up; its index is (|digit| - 1) / 2.
        let negative = Mask::from_bit((bits >> 5) ^ 1);
        Digit {
            index: (bits ^ negative.word()) & 31,
            negative,
        }
    }
}

/// Reads entry `index` by a scan of all of them.
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

/// `k G` in constant time.
pub(crate) fn multiply_generator<C: Curve>(table: CombTable<'_>, digits: &Digits) -> Projective<C> {
    let entry = |window: usize| {
        let digit = digits.get(window);
        let words = scan(table.window(window), digit.index);
        affine_from_words::<C>(&words).negate_if(digit.negative)
    };
    let mut sum = Projective::from_affine(&entry(0));
    for window in 1..WINDOWS {
        sum = sum.add_affine(&entry(window));
    }
    sum.negate_if(digits.negated())
}
