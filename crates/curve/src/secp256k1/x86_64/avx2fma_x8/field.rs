//! Field elements in eight lanes, in double-precision floating point.
//!
//! Layout: five vectors of signed integers held as `f64`, least significant first: the limbs l of a value v with
//! `v / 2 = sum l[i] * 2^(51 i) (mod p)`. Elements are halved because 2^255 is then easy to fold: the product is `2 a
//! b`, and `2 * 2^255 = R_MOD_P (mod p)`.
//!
//! Invariant: limbs 0 and 4 are at most 2^51 in absolute value, limbs 1 to 3 at most 2^50 + 2^15. A product of two
//! limbs is therefore at most 2^102, and its upper and lower part are exact:
//!
//! - `fma(a, b, 1.5 * 2^103)` rounds `a b` to a multiple of 2^51, because that is the distance of the numbers between
//!   2^103 and 2^104; its bits, read as an integer, are those of `1.5 * 2^103` plus `a b / 2^51`.
//! - `fma(a, b, 1.5 * 2^52 - upper)` is the exact remainder, at most 2^50, plus `1.5 * 2^52`; its bits are those of
//!   `1.5 * 2^52` plus the remainder.
//!
//! The bits are summed as integers, and the constants subtracted once for each column. Rounding is to nearest, as Rust
//! requires.
//!
//! `docs/internals/eight-lane-field.md` derives the bounds. Source: [EZW18] (products by FMA).

use core::arch::{asm, x86_64::*};

use super::super::{super::field::FieldElement, field_x8::FieldX8};
use crate::{field::LazyField, lanes::LANES, mask::Mask};

/// 2^256 mod p.
const R_MOD_P: f64 = 0x1_0000_03d1_u64 as f64;

/// `2^n`, for n in the range of normal numbers.
const fn power(n: i32) -> f64 {
    f64::from_bits(((1023 + n) as u64) << 52)
}

/// Bits in a limb. The top limb has one more.
const BITS: i32 = 51;
/// Added to a number, rounds it to an integer.
const ROUND: f64 = 1.5 * power(52);
/// Added to a number, rounds it to a multiple of 2^51.
const ROUND_51: f64 = 1.5 * power(103);
/// Added to a number, rounds it to a multiple of 2^52.
const ROUND_52: f64 = 1.5 * power(104);
/// Added to a column to make it positive.
const POSITIVE: u64 = 1 << 60;

/// The limbs of four elements.
type Limbs = [__m256d; 5];

/// Eight field elements, one per lane. Only the dispatch uses this type, after checking that the CPU has AVX2 and FMA.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Element([Limbs; 2]);

/// The limbs of an element: `[lane / 4][limb][lane % 4]`.
pub(super) type Lanes = [[[f64; 4]; 5]; 2];

#[inline]
#[target_feature(enable = "avx2,fma")]
fn bits(x: __m256d) -> __m256i {
    _mm256_castpd_si256(x)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn splat_bits(x: u64) -> __m256i {
    _mm256_set1_epi64x(x.cast_signed())
}

/// Converts integers below 2^52, minus `bias`.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn to_float(x: __m256i, bias: f64) -> __m256d {
    let offset = _mm256_castpd_si256(_mm256_set1_pd(power(52)));
    _mm256_sub_pd(
        _mm256_castsi256_pd(_mm256_or_si256(x, offset)),
        _mm256_set1_pd(power(52) + bias),
    )
}

/// Adds the lower part of `a b` to `low`, the upper part to `high`, and the constants of the module documentation to
/// both. Returns the upper part and its constant.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn multiply_add(low: &mut __m256i, high: &mut __m256i, a: __m256d, b: __m256d) -> __m256d {
    let upper = _mm256_fmadd_pd(a, b, _mm256_set1_pd(ROUND_51));
    let rest = _mm256_sub_pd(_mm256_set1_pd(ROUND_51 + ROUND), upper);
    let lower = _mm256_fmadd_pd(a, b, rest);
    *high = _mm256_add_epi64(*high, bits(upper));
    *low = _mm256_add_epi64(*low, bits(lower));
    upper
}

/// The constants that `low` lower and `high` upper parts add to a column, negated.
const fn correction(low: u64, high: u64) -> u64 {
    low.wrapping_mul(ROUND.to_bits())
        .wrapping_add(high.wrapping_mul(ROUND_51.to_bits()))
        .wrapping_neg()
}

/// Splits a column into a limb, in -2^(BITS - 1)..2^(BITS - 1), and a carry. The column has `POSITIVE` and half a limb
/// added; the carry therefore has `POSITIVE >> BITS` added.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn split<const BITS: i32>(column: __m256i) -> (__m256d, __m256i) {
    let mask = splat_bits((1 << BITS) - 1);
    let limb = to_float(_mm256_and_si256(column, mask), power(BITS - 1));
    (limb, _mm256_srli_epi64::<BITS>(column))
}

/// What [`reduce`] requires the columns to have added.
///
/// The upper columns: half a limb, so that limbs are rounded, and `POSITIVE`, less the part of it that the carry from
/// the column below has. The lower ones, which `reduce` doubles: half of the same, and the corrections of the products
/// that it adds.
const BIAS: [u64; 10] = {
    let mut bias = [0; 10];
    let mut k = 0;
    while k < 9 {
        let carried = if k % 5 == 0 { 0 } else { POSITIVE >> BITS };
        let half = 1 << if k == 4 { BITS } else { BITS - 1 };
        bias[k] = POSITIVE + half - carried;
        if k < 5 {
            let sum = bias[k].wrapping_add(correction(1, if k == 0 { 0 } else { 1 }));
            bias[k] = (sum.cast_signed() / 2).cast_unsigned();
        }
        k += 1;
    }
    bias
};

/// Reduces the columns 0 to 8 of a product, with [`BIAS`] added, and the upper part in column 9.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn reduce(t: &[__m256i; 10], upper: __m256d) -> Limbs {
    let add = |a, b| _mm256_add_epi64(a, b);
    let r = _mm256_set1_pd(R_MOD_P);
    // The limbs of the upper half.
    let mut h = [_mm256_setzero_pd(); 5];
    let mut carry = _mm256_setzero_si256();
    for i in 0..4 {
        (h[i], carry) = split::<BITS>(add(t[5 + i], carry));
    }
    let carry = to_float(carry, (POSITIVE >> BITS) as f64);
    let top = _mm256_sub_pd(upper, _mm256_set1_pd(ROUND_51));
    h[4] = _mm256_fmadd_pd(top, _mm256_set1_pd(power(-BITS)), carry);
    // Twice the lower half, plus R_MOD_P times the upper half.
    let mut s: [__m256i; 5] = core::array::from_fn(|k| add(t[k], t[k]));
    for i in 0..4 {
        let (low, high) = s.split_at_mut(i + 1);
        multiply_add(&mut low[i], &mut high[0], h[i], r);
    }
    // The top limb has 52 bits; what is above has the weight 2^256.
    let above = _mm256_fmadd_pd(h[4], r, _mm256_set1_pd(ROUND_52));
    let above = _mm256_sub_pd(_mm256_set1_pd(ROUND_52), above);
    let rest = _mm256_add_pd(_mm256_fmadd_pd(h[4], r, above), _mm256_set1_pd(ROUND));
    s[4] = add(s[4], bits(rest));
    let mut out = [_mm256_setzero_pd(); 5];
    for i in 0..4 {
        let carry;
        (out[i], carry) = split::<BITS>(s[i]);
        s[i + 1] = add(s[i + 1], carry);
    }
    let carry;
    (out[4], carry) = split::<{ BITS + 1 }>(s[4]);
    let carry = to_float(carry, (POSITIVE >> (BITS + 1)) as f64);
    let above = _mm256_fmadd_pd(above, _mm256_set1_pd(-power(-BITS - 1)), carry);
    let upper = _mm256_fmadd_pd(above, r, _mm256_set1_pd(ROUND_51));
    let upper = _mm256_sub_pd(_mm256_set1_pd(ROUND_51), upper);
    out[0] = _mm256_add_pd(out[0], _mm256_fmadd_pd(above, r, upper));
    out[1] = _mm256_fmadd_pd(upper, _mm256_set1_pd(-power(-BITS)), out[1]);
    out
}

/// Adds the products of limbs with the weight of column K, or, with `SQUARE`, those of two different limbs, each once.
/// Returns the upper part of the last.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn column<const K: usize, const SQUARE: bool>(
    t: &mut [__m256i; 10],
    a: &Limbs,
    b: &Limbs,
) -> __m256d {
    let mut upper = _mm256_setzero_pd();
    for i in 0..5 {
        let included = i <= K && K - i < 5 && (!SQUARE || 2 * i < K);
        if included {
            let (low, high) = t.split_at_mut(K + 1);
            upper = multiply_add(&mut low[K], &mut high[0], a[i], b[K - i]);
        }
    }
    keep(&mut t[K]);
    keep(&mut t[K + 1]);
    upper
}

/// Computes a sum here. Otherwise the compiler reorders the additions, keeps all products until the end, and spills
/// them.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn keep(sum: &mut __m256i) {
    // SAFETY: contains no instruction.
    unsafe {
        asm!(
            "/* {} */",
            inout(ymm_reg) * sum,
            options(nomem, nostack, preserves_flags)
        );
    }
}

/// Returns `start`, corrected for this number of products in each column.
const fn corrected(start: [u64; 10], products: [u64; 10]) -> [u64; 10] {
    let mut all = start;
    let mut k = 0;
    while k < 10 {
        let below = if k == 0 { 0 } else { products[k - 1] };
        all[k] = all[k].wrapping_add(correction(products[k], below));
        k += 1;
    }
    all
}

/// The columns of a product, and the upper part of the last.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn product(a: &Limbs, b: &Limbs) -> ([__m256i; 10], __m256d) {
    const START: [u64; 10] = corrected(BIAS, [1, 2, 3, 4, 5, 4, 3, 2, 1, 0]);
    let mut t: [__m256i; 10] = core::array::from_fn(|k| splat_bits(START[k]));
    column::<0, false>(&mut t, a, b);
    column::<1, false>(&mut t, a, b);
    column::<2, false>(&mut t, a, b);
    column::<3, false>(&mut t, a, b);
    column::<4, false>(&mut t, a, b);
    column::<5, false>(&mut t, a, b);
    column::<6, false>(&mut t, a, b);
    column::<7, false>(&mut t, a, b);
    let upper = column::<8, false>(&mut t, a, b);
    (t, upper)
}

#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn mul(a: &Element, b: &Element) -> Element {
    let ([a0, a1], [b0, b1]) = (&a.0, &b.0);
    let (first, second) = (product(a0, b0), product(a1, b1));
    // The CPU computes both reductions, which are long chains, at the same time.
    Element([reduce(&first.0, first.1), reduce(&second.0, second.1)])
}

/// The columns of a square, and the upper part of the last.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn square_columns(a: &Limbs) -> ([__m256i; 10], __m256d) {
    const START: [u64; 10] = corrected([0; 10], [0, 1, 1, 2, 2, 2, 1, 1, 0, 0]);
    const DIAGONAL: [u64; 10] = corrected(BIAS, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
    let mut t: [__m256i; 10] = core::array::from_fn(|k| splat_bits(START[k]));
    column::<1, true>(&mut t, a, a);
    column::<2, true>(&mut t, a, a);
    column::<3, true>(&mut t, a, a);
    column::<4, true>(&mut t, a, a);
    column::<5, true>(&mut t, a, a);
    column::<6, true>(&mut t, a, a);
    column::<7, true>(&mut t, a, a);
    let mut t: [__m256i; 10] = core::array::from_fn(|k| {
        _mm256_add_epi64(_mm256_add_epi64(t[k], t[k]), splat_bits(DIAGONAL[k]))
    });
    let mut upper = _mm256_setzero_pd();
    for i in 0..5 {
        let (low, high) = t.split_at_mut(2 * i + 1);
        upper = multiply_add(&mut low[2 * i], &mut high[0], a[i], a[i]);
    }
    (t, upper)
}

#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn square(a: &Element) -> Element {
    let [first, second] = [square_columns(&a.0[0]), square_columns(&a.0[1])];
    Element([reduce(&first.0, first.1), reduce(&second.0, second.1)])
}

/// Restores the invariant. Limbs must be at most 2^53.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn carried(l: Limbs) -> Limbs {
    let above = |x, round: f64| {
        let round = _mm256_set1_pd(round);
        _mm256_sub_pd(_mm256_add_pd(x, round), round)
    };
    let mut out = l;
    for i in 0..4 {
        let carry = above(l[i], ROUND_51);
        out[i] = _mm256_sub_pd(out[i], carry);
        out[i + 1] = _mm256_fmadd_pd(carry, _mm256_set1_pd(power(-BITS)), out[i + 1]);
    }
    let carry = above(out[4], ROUND_52);
    out[4] = _mm256_sub_pd(out[4], carry);
    out[0] = _mm256_fmadd_pd(carry, _mm256_set1_pd(R_MOD_P * power(-BITS - 1)), out[0]);
    out
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn half(l: &Limbs) -> Limbs {
    let round = _mm256_set1_pd(ROUND);
    let halves = l.map(|x| _mm256_mul_pd(x, _mm256_set1_pd(0.5)));
    let mut out = halves.map(|x| _mm256_sub_pd(_mm256_add_pd(x, round), round));
    let rest: [__m256d; 5] = core::array::from_fn(|i| _mm256_sub_pd(halves[i], out[i]));
    for i in 0..4 {
        out[i] = _mm256_fmadd_pd(rest[i + 1], _mm256_set1_pd(power(BITS)), out[i]);
    }
    // 1/2 = 2^255 - (R_MOD_P - 1) / 2 (mod p).
    out[4] = _mm256_fmadd_pd(rest[0], _mm256_set1_pd(power(BITS + 1)), out[4]);
    out[0] = _mm256_fmadd_pd(rest[0], _mm256_set1_pd(1.0 - R_MOD_P), out[0]);
    carried(out)
}

/// Converts four little-endian words of four lanes. The values must be below p.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn load(words: [&[u64; 4]; LANES / 2]) -> Limbs {
    let mut w = [_mm256_setzero_si256(); 4];
    for (i, w) in w.iter_mut().enumerate() {
        let [a, b, c, d] = words.map(|words| words[i].cast_signed());
        *w = _mm256_setr_epi64x(a, b, c, d);
    }
    let mask = splat_bits((1 << BITS) - 1);
    let or = |a, b| _mm256_and_si256(_mm256_or_si256(a, b), mask);
    let bits = [
        _mm256_and_si256(w[0], mask),
        or(_mm256_srli_epi64::<51>(w[0]), _mm256_slli_epi64::<13>(w[1])),
        or(_mm256_srli_epi64::<38>(w[1]), _mm256_slli_epi64::<26>(w[2])),
        or(_mm256_srli_epi64::<25>(w[2]), _mm256_slli_epi64::<39>(w[3])),
        _mm256_srli_epi64::<12>(w[3]),
    ];
    let mut limbs = [_mm256_setzero_pd(); 5];
    for (limb, bits) in limbs.iter_mut().zip(bits) {
        *limb = to_float(bits, 0.0);
    }
    half(&carried(limbs))
}

/// Returns the limbs that have in lane l what `lanes[l]` has there.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn gather([a, b, c, d]: [&[[f64; 4]; 5]; LANES / 2]) -> Limbs {
    let mut limbs = [_mm256_setzero_pd(); 5];
    for (i, limb) in limbs.iter_mut().enumerate() {
        *limb = _mm256_setr_pd(a[i][0], b[i][1], c[i][2], d[i][3]);
    }
    limbs
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn bits_of(masks: [u64; LANES / 2]) -> __m256d {
    let [a, b, c, d] = masks.map(u64::cast_signed);
    _mm256_castsi256_pd(_mm256_setr_epi64x(a, b, c, d))
}

/// Changes the sign in the lanes whose mask is all ones.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn negate_where(limbs: &Limbs, masks: [u64; LANES / 2]) -> Limbs {
    let sign = _mm256_and_pd(bits_of(masks), _mm256_set1_pd(-0.0));
    let mut out = *limbs;
    for limb in &mut out {
        *limb = _mm256_xor_pd(*limb, sign);
    }
    out
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn select(masks: [u64; LANES / 2], yes: &Limbs, no: &Limbs) -> Limbs {
    let mask = bits_of(masks);
    let mut out = *no;
    for (out, yes) in out.iter_mut().zip(yes) {
        *out = _mm256_blendv_pd(*out, *yes, mask);
    }
    out
}

impl Element {
    /// Returns the limbs of all lanes.
    #[inline(always)]
    pub(super) fn lanes(&self) -> &Lanes {
        // SAFETY: a vector has the layout of an array of its lanes, at a stricter alignment.
        unsafe { &*(&raw const self.0).cast::<Lanes>() }
    }

    #[cfg(test)]
    pub(super) fn from_lanes(lanes: Lanes) -> Self {
        // SAFETY: a vector has the layout of an array of its lanes.
        Self(unsafe { core::mem::transmute::<Lanes, [Limbs; 2]>(lanes) })
    }
}

/// Returns the value with these limbs, below p.
fn words_of(limbs: [f64; 5]) -> [u64; 4] {
    // The value is below 2^257 in absolute value. Three rounds bring it to 0..2^256: the first may leave it negative by
    // a multiple of R_MOD_P, the second a negative limb 0.
    const MASK: i64 = (1 << BITS) - 1;
    // Not by a conversion, which would compare with the range of the integers.
    let integer = |limb: f64| {
        let bits = (limb + ROUND).to_bits().wrapping_sub(ROUND.to_bits());
        bits.cast_signed()
    };
    let mut l = limbs.map(|limb| 2 * integer(limb));
    for _ in 0..3 {
        for i in 0..4 {
            l[i + 1] += l[i] >> BITS;
            l[i] &= MASK;
        }
        // 2^256 = R_MOD_P (mod p). Also if the shift, which rounds down, gives a negative number.
        l[0] += (l[4] >> (BITS + 1)) * R_MOD_P as i64;
        l[4] &= 2 * MASK + 1;
    }
    let l = l.map(i64::cast_unsigned);
    let words = [
        l[0] | l[1] << 51,
        l[1] >> 13 | l[2] << 38,
        l[2] >> 26 | l[3] << 25,
        l[3] >> 39 | l[4] << 12,
    ];
    // Below 2^256: subtract p at most once.
    let (mut difference, mut carry) = ([0; 4], R_MOD_P as u64);
    for (i, word) in difference.iter_mut().enumerate() {
        let over;
        (*word, over) = words[i].overflowing_add(carry);
        carry = u64::from(over);
    }
    let above = Mask::from_bit(carry);
    core::array::from_fn(|i| above.select(difference[i], words[i]))
}

impl LazyField for Element {
    const ZERO: Self = constant([0.0; 5]);
    const ONE: Self = constant([(1.0 - R_MOD_P) / 2.0, 0.0, 0.0, 0.0, power(BITS)]);

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        let ([a, b], [c, d]) = (&self.0, &other.0);
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        Self(unsafe { [sum(a, c), sum(b, d)] })
    }

    #[inline(always)]
    fn sub(&self, other: &Self, _: u32) -> Self {
        let ([a, b], [c, d]) = (&self.0, &other.0);
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        Self(unsafe { [difference(a, c), difference(b, d)] })
    }

    #[inline(always)]
    fn negate(&self, _: u32) -> Self {
        Self::ZERO.sub(self, 1)
    }

    #[inline(never)]
    fn mul(&self, other: &Self) -> Self {
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        unsafe { mul(self, other) }
    }

    #[inline(never)]
    fn square(&self) -> Self {
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        unsafe { square(self) }
    }

    #[inline(always)]
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        let cd = c.mul(d);
        a.mul(b).sub(&cd, 1)
    }

    #[inline(always)]
    fn product_minus_square(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        let dd = d.square();
        a.mul(&b.sub(c, 1)).sub(&dd, 1)
    }

    #[inline(always)]
    fn half(&self) -> Self {
        let [a, b] = &self.0;
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        Self(unsafe { [half(a), half(b)] })
    }

    fn invert(&self) -> Self {
        Self::load(
            &self
                .store(1)
                .map(|x| x.invert_vartime().normalize().to_words()),
        )
    }

    fn is_zero(&self) -> bool {
        self.store(1).iter().all(FieldElement::is_zero_vartime)
    }
}

impl FieldX8 for Element {
    #[inline(always)]
    fn load(words: &[[u64; 4]; LANES]) -> Self {
        let [a, b, c, d, e, f, g, h] = words;
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        Self(unsafe { [load([a, b, c, d]), load([e, f, g, h])] })
    }

    #[inline(always)]
    fn store(&self, _: u32) -> [FieldElement; LANES] {
        let limbs = self.lanes();
        core::array::from_fn(|lane| {
            FieldElement::from_words(words_of(limbs[lane / 4].map(|limb| limb[lane % 4])))
        })
    }

    #[inline(always)]
    fn gather(entries: [&Self; LANES]) -> Self {
        let [a, b, c, d, e, f, g, h] = entries.map(Self::lanes);
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        Self(unsafe {
            [
                gather([&a[0], &b[0], &c[0], &d[0]]),
                gather([&e[1], &f[1], &g[1], &h[1]]),
            ]
        })
    }

    #[inline(always)]
    fn negate_where(&self, [a, b, c, d, e, f, g, h]: [u64; LANES]) -> Self {
        let [first, second] = &self.0;
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        Self(unsafe {
            [
                negate_where(first, [a, b, c, d]),
                negate_where(second, [e, f, g, h]),
            ]
        })
    }

    #[inline(always)]
    fn select(&self, [a, b, c, d, e, f, g, h]: [u64; LANES], yes: &Self) -> Self {
        let (no, yes) = (&self.0, &yes.0);
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        Self(unsafe {
            [
                select([a, b, c, d], &yes[0], &no[0]),
                select([e, f, g, h], &yes[1], &no[1]),
            ]
        })
    }
}

/// Returns the element with these limbs in all lanes.
const fn constant(limbs: [f64; 5]) -> Element {
    let mut lanes = [[0.0; 4]; 5];
    let mut i = 0;
    while i < 5 {
        lanes[i] = [limbs[i]; 4];
        i += 1;
    }
    // SAFETY: a vector has the layout of an array of its lanes.
    Element(unsafe { core::mem::transmute::<Lanes, [Limbs; 2]>([lanes; 2]) })
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn sum(a: &Limbs, b: &Limbs) -> Limbs {
    let mut sum = *a;
    for (sum, b) in sum.iter_mut().zip(b) {
        *sum = _mm256_add_pd(*sum, *b);
    }
    carried(sum)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn difference(a: &Limbs, b: &Limbs) -> Limbs {
    let mut difference = *a;
    for (difference, b) in difference.iter_mut().zip(b) {
        *difference = _mm256_sub_pd(*difference, *b);
    }
    carried(difference)
}
