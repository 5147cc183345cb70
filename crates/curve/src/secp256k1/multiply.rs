//! Variable-time multiplication of public points: `a P + b G`.
//!
//! Strauss' interleaving of four half-size multipliers in window non-adjacent form: a is split by the endomorphism,
//! b into its low and high 128 bits, for which the static table holds odd multiples of G and of 2^128 G. The table of P
//! is brought to one common Z without an inversion ("effective affine"): its points are then affine on an isomorphic
//! curve, on which the sum is made; only the entries of G have to be scaled.
//!
//! Source: [GLV01] (split), [HMV04] algorithms 3.35, 3.51 (wNAF, interleaving); effective affine: [LIBSECP]
//! `ecmult_impl.h`.

use super::{
    field::FieldElement,
    group::{Affine, Curve, Jacobian},
    scalar::Signed128,
};

/// Entries of each half of the static table: window 13, so digits are odd and below 2^12 in absolute value.
pub(crate) const GENERATOR_ENTRIES: usize = 1 << 11;
/// Digits of a 128-bit multiplier.
const DIGITS: usize = 129;

/// Odd multiples (1, 3, 5, ... times) of G, then as many of 2^128 G, each as 8 little-endian words x, y.
#[derive(Clone, Copy)]
pub(crate) struct GeneratorTable<'a>(pub(crate) &'a [[u8; 64]]);

impl GeneratorTable<'_> {
    /// Entries of each half: 2^(window - 2).
    #[inline(always)]
    pub(crate) fn entries(&self) -> usize {
        self.0.len() / 2
    }

    /// `|digit|` times G (`half` 0) or 2^128 G (1).
    #[inline(always)]
    pub(crate) fn words(&self, half: usize, digit: i16) -> [u64; 8] {
        let index = half * self.entries() + usize::from(digit.unsigned_abs() / 2);
        let words = self.0[index].as_chunks::<8>().0;
        core::array::from_fn(|i| u64::from_le_bytes(words[i]))
    }

    #[inline(always)]
    fn entry<C: Curve>(&self, half: usize, digit: i16) -> Affine<C> {
        affine_from_words(&self.words(half, digit)).negate_if_vartime(digit < 0)
    }
}

/// The window whose digits need this many entries: the odd numbers below `2 entries`.
pub(crate) fn window(entries: usize) -> u32 {
    entries.trailing_zeros() + 2
}

/// A point from 8 little-endian words x, y.
#[inline(always)]
pub(crate) fn affine_from_words<C: Curve>(w: &[u64; 8]) -> Affine<C> {
    Affine::new(
        FieldElement::from_words([w[0], w[1], w[2], w[3]]),
        FieldElement::from_words([w[4], w[5], w[6], w[7]]),
    )
}

/// Digits of `k` in window non-adjacent form: zero, or odd and below `2^(window - 1)` in absolute value; and how many
/// digits there are up to the highest one that is not zero.
pub(crate) fn wnaf(k: &Signed128, window: u32) -> ([i16; DIGITS], usize) {
    let mut digits = [0i16; DIGITS];
    let mut rest = k.magnitude;
    let (mut position, mut length) = (0, 0);
    while rest != 0 {
        let zeros = rest.trailing_zeros();
        rest >>= zeros;
        position += zeros as usize;
        let low = (rest & ((1 << window) - 1)) as i16;
        rest >>= window;
        let digit = if low >> (window - 1) == 0 {
            low
        } else {
            rest += 1;
            low - (1 << window)
        };
        digits[position] = if k.negative { -digit } else { digit };
        length = position + 1;
        position += window as usize;
    }
    (digits, length)
}

/// `P, 3 P, 5 P, ...`, affine on the curve isomorphic by the scale that is returned with them: a point there with Z is
/// the point with `Z * scale` here.
///
/// `ENTRIES` must be below half of the order of P, so that no multiple is infinity.
pub(crate) fn odd_multiples<C: Curve, const ENTRIES: usize>(
    p: &Affine<C>,
) -> ([Affine<C>; ENTRIES], FieldElement) {
    // On the curve isomorphic by the Z of 2 P, 2 P itself is affine.
    let double = Jacobian::from_affine(p).double_vartime();
    let step = Affine::new(double.x, double.y);
    let zz = double.z.square();
    let first = Affine::new(p.x.mul(&zz), p.y.mul(&zz.mul(&double.z)));
    let mut sum = Jacobian::from_affine(&first);
    let mut table = [first; ENTRIES];
    let mut ratios = [FieldElement::ONE; ENTRIES];
    for i in 1..ENTRIES {
        (sum, ratios[i]) = sum.add_with_ratio_vartime(&step, &sum.z);
        table[i] = Affine::new(sum.x, sum.y);
    }
    // Bring all to the Z of the last: entry i has to be scaled by the product of the ratios after it.
    let mut scale = FieldElement::ONE;
    for i in (0..ENTRIES - 1).rev() {
        scale = scale.mul(&ratios[i + 1]);
        let square = scale.square();
        table[i] = Affine::new(table[i].x.mul(&square), table[i].y.mul(&square.mul(&scale)));
    }
    (table, sum.z.mul(&double.z))
}

/// `a[0] P + a[1] lambda P + b[0] G + b[1] 2^128 G`, in variable time.
///
/// `ENTRIES`, a power of two from 2 on, is the size of the table that is made for P.
pub(crate) fn multiply_add_vartime<C: Curve, const ENTRIES: usize>(
    p: &Affine<C>,
    a: &[Signed128; 2],
    generator: GeneratorTable<'_>,
    b: &[Signed128; 2],
) -> Jacobian<C> {
    let (table, scale) = odd_multiples::<C, ENTRIES>(p);
    let table_lambda = table.map(|entry| entry.endomorphism());
    let (a0, length_a0) = wnaf(&a[0], window(ENTRIES));
    let (a1, length_a1) = wnaf(&a[1], window(ENTRIES));
    let (b0, length_b0) = wnaf(&b[0], window(generator.entries()));
    let (b1, length_b1) = wnaf(&b[1], window(generator.entries()));

    let mut sum = Jacobian::INFINITY;
    for i in (0..length_a0.max(length_a1).max(length_b0).max(length_b1)).rev() {
        sum = sum.double_vartime();
        for (table, digit) in [(&table, a0[i]), (&table_lambda, a1[i])] {
            if digit != 0 {
                let entry = table[usize::from(digit.unsigned_abs() / 2)];
                sum = sum.add_affine_vartime(&entry.negate_if_vartime(digit < 0));
            }
        }
        for (half, digit) in [(0, b0[i]), (1, b1[i])] {
            if digit != 0 {
                sum = sum.add_scaled_vartime(&generator.entry(half, digit), &scale);
            }
        }
    }
    if !sum.infinity {
        sum.z = sum.z.mul(&scale);
    }
    sum
}
