//! Vectors of eight 64-bit lanes (AVX-512), and integers in 52-bit limbs for the IFMA multiplier.
#![cfg_attr(
    not(feature = "bls12-381"),
    expect(dead_code, reason = "some operations are for BLS12-381 only")
)]

pub(crate) mod field;
pub(crate) mod loose;
pub(crate) mod points;
pub(crate) mod tower;

use core::arch::x86_64::*;

/// Number of lanes in a vector.
pub(crate) const LANES: usize = 8;

/// Mask of the 52 bits of a limb.
pub(crate) const LIMB_MASK: i64 = (1 << 52) - 1;

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn load(lanes: &[u64; LANES]) -> __m512i {
    // SAFETY: the reference is valid for reads of 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn store(vector: __m512i) -> [u64; LANES] {
    let mut lanes = [0; LANES];
    // SAFETY: the reference is valid for writes of 64 bytes, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), vector) };
    lanes
}

/// Like [`core::array::from_fn`], which is not always inlined.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn array<const N: usize>(f: impl Fn(usize) -> __m512i) -> [__m512i; N] {
    let mut array = [_mm512_setzero_si512(); N];
    for (i, vector) in array.iter_mut().enumerate() {
        *vector = f(i);
    }
    array
}

/// Selects lanes by the indices `lanes`: 0 to 7 select from `a`, 8 to 15 from `b`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn permuted<const N: usize>(
    a: &[__m512i; N],
    b: &[__m512i; N],
    lanes: &[u64; LANES],
) -> [__m512i; N] {
    let (mut out, lanes) = (*a, load(lanes));
    for (a, b) in out.iter_mut().zip(b) {
        *a = _mm512_permutex2var_epi64(*a, lanes, *b);
    }
    out
}

/// Converts little-endian words to limbs.
pub(crate) const fn limbs<const N: usize>(words: &[u64]) -> [i64; N] {
    let (mut limbs, mut i) = ([0; N], 0);
    while i < N {
        let (word, shift) = (52 * i / 64, 52 * i % 64);
        let mut limb = words[word] >> shift;
        if word + 1 < words.len() {
            limb |= words[word + 1] << 1 << (63 - shift);
        }
        limbs[i] = limb as i64 & LIMB_MASK;
        i += 1;
    }
    limbs
}

/// Converts strict limbs to little-endian words.
#[inline]
pub(crate) fn words<const N: usize, const W: usize>(limbs: [u64; N]) -> [u64; W] {
    let mut words = [0; W];
    for (i, limb) in limbs.into_iter().enumerate() {
        let (word, shift) = (52 * i / 64, 52 * i % 64);
        words[word] |= limb << shift;
        if let Some(next) = words.get_mut(word + 1) {
            *next |= limb >> 1 >> (63 - shift);
        }
    }
    words
}

/// Converts words of eight lanes to limbs.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn limbs_of(w: [__m512i; 4]) -> [__m512i; 5] {
    let mask = _mm512_set1_epi64(LIMB_MASK);
    [
        _mm512_and_si512(w[0], mask),
        _mm512_and_si512(
            _mm512_or_si512(_mm512_srli_epi64::<52>(w[0]), _mm512_slli_epi64::<12>(w[1])),
            mask,
        ),
        _mm512_and_si512(
            _mm512_or_si512(_mm512_srli_epi64::<40>(w[1]), _mm512_slli_epi64::<24>(w[2])),
            mask,
        ),
        _mm512_and_si512(
            _mm512_or_si512(_mm512_srli_epi64::<28>(w[2]), _mm512_slli_epi64::<36>(w[3])),
            mask,
        ),
        _mm512_srli_epi64::<16>(w[3]),
    ]
}

/// Carries limbs that may be negative or exceed 2^52. The value must be in 0..2^(52 N).
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn carried<const N: usize>(mut limbs: [__m512i; N]) -> [__m512i; N] {
    let mask = _mm512_set1_epi64(LIMB_MASK);
    for i in 0..N - 1 {
        limbs[i + 1] = _mm512_add_epi64(limbs[i + 1], _mm512_srai_epi64::<52>(limbs[i]));
        limbs[i] = _mm512_and_si512(limbs[i], mask);
    }
    // The lower limbs are masked, so only the top limb shows whether the value is in range.
    debug_assert_eq!(_mm512_cmpgt_epu64_mask(limbs[N - 1], mask), 0);
    limbs
}

/// Computes `A x` for a limb, which may be negative. Most steps are additions, because shifts and products compete for
/// the same execution port.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn times<const A: u32>(x: __m512i) -> __m512i {
    let (shift, odd) = (A.trailing_zeros(), A >> A.trailing_zeros());
    let mut out = x;
    for bit in (0..odd.ilog2()).rev() {
        out = _mm512_add_epi64(out, out);
        if odd >> bit & 1 == 1 {
            out = _mm512_add_epi64(out, x);
        }
    }
    _mm512_sllv_epi64(out, _mm512_set1_epi64(i64::from(shift)))
}
