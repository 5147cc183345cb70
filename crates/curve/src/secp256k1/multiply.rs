//! Variable-time multiplication of public points: `a P + b G`.
//!
//! Uses Strauss' interleaving of four half-size multipliers in window non-adjacent form. a is split by the
//! endomorphism, b into its low and high 128 bits, for which the static table holds odd multiples of G and of 2^128 G.
//! The table of P is brought to one common Z without an inversion ("effective affine"): its points are then affine on
//! an isomorphic curve, on which the sum is computed. Only the entries of G have to be scaled.
//!
//! Source: [GLV01] (split), [HMV04] algorithms 3.35, 3.51 (wNAF, interleaving); effective affine: [LIBSECP]
//! `ecmult_impl.h`.

use super::{curve::Endomorphism, field::FieldRepr, scalar::Signed128};
use crate::{
    field::LazyField,
    group::{Affine, Jacobian, interleave, odd_multiples, wnaf},
    words,
};

/// Entries in each half of the static table: window 13, so digits are odd and below 2^12 in absolute value.
pub(crate) const GENERATOR_ENTRIES: usize = 1 << 11;
/// Digits of a 128-bit multiplier.
const DIGITS: usize = 129;

/// Odd multiples (1, 3, 5, ... times) of G, then the same number of 2^128 G, each as 8 little-endian words x, y.
#[derive(Clone, Copy)]
pub(crate) struct GeneratorTable<'a>(pub(crate) &'a [[u8; 64]]);

impl GeneratorTable<'_> {
    /// Entries in each half: 2^(window - 2).
    #[inline(always)]
    pub(crate) fn entries(&self) -> usize {
        self.0.len() / 2
    }

    /// Returns entry `index` of the multiples of G (`half` 0) or 2^128 G (1).
    #[inline(always)]
    fn entry<C: Endomorphism>(&self, half: usize, index: usize) -> Affine<C> {
        affine_from_bytes(&self.0[half * self.entries() + index])
    }
}

/// Returns the window that needs this many entries: its digits are the odd numbers below `2 entries`.
fn window(entries: usize) -> u32 {
    entries.trailing_zeros() + 2
}

/// Converts 8 little-endian words x, y to a point.
#[inline(always)]
pub(crate) fn affine_from_bytes<C: Endomorphism>(bytes: &[u8; 64]) -> Affine<C> {
    let words = bytes.as_chunks::<8>().0;
    affine_from_words(&core::array::from_fn(|i| u64::from_le_bytes(words[i])))
}

/// Converts 8 words x, y to a point.
#[inline(always)]
pub(crate) fn affine_from_words<C: Endomorphism>(w: &[u64; 8]) -> Affine<C> {
    Affine {
        x: C::Field::from_words([w[0], w[1], w[2], w[3]]),
        y: C::Field::from_words([w[4], w[5], w[6], w[7]]),
    }
}

/// `a[0] P + a[1] lambda P + b[0] G + b[1] 2^128 G`, in variable time.
///
/// `ENTRIES`, a power of two of at least 2, is the size of the table computed for P.
#[inline(always)]
pub(crate) fn multiply_add_vartime<C: Endomorphism, const ENTRIES: usize>(
    p: &Affine<C>,
    a: &[Signed128; 2],
    generator: GeneratorTable<'_>,
    b: &[Signed128; 2],
) -> Jacobian<C> {
    let (table, scale) = odd_multiples::<C, ENTRIES>(p);
    let images = table.map(|entry| entry.endomorphism());
    let digits =
        |k: &Signed128, entries| wnaf::<DIGITS>(&words::from_u128(k.magnitude), window(entries));
    let mut digits = [
        digits(&a[0], ENTRIES),
        digits(&a[1], ENTRIES),
        digits(&b[0], generator.entries()),
        digits(&b[1], generator.entries()),
    ];
    let negated = [&a[0], &a[1], &b[0], &b[1]].map(|k| k.negative);
    let mut sum = interleave(&mut digits, |i, digit| {
        let index = usize::from(digit.unsigned_abs() / 2);
        let (entry, scale) = match i {
            0 => (table[index], None),
            1 => (images[index], None),
            _ => (generator.entry(i - 2, index), Some(&scale)),
        };
        (entry.negate_if((digit < 0) != negated[i]), scale)
    });
    sum.z = sum.z.mul(&scale);
    sum
}
