//! Field elements in eight lanes.

use core::arch::x86_64::*;

use super::super::super::field::FieldElement;
use crate::lanes::{LANES, LIMB_MASK, carried, limbs_of, load, store, times};

/// 2^256 mod p.
const R_MOD_P: i64 = 0x1_0000_03d1;

/// Eight field elements, one per lane.
#[derive(Clone, Copy)]
pub(super) struct Field(pub(super) [__m512i; 5]);

/// `k * p` in uncarried limbs, each large enough to subtract the same limb of a smaller value from it. Added before a
/// subtraction. The sum of the limbs' values is exact; the carry resolves negative limbs.
const fn multiple_of_p(k: i64) -> [i64; 5] {
    [
        k * ((1 << 52) - 0x1_0000_03d1),
        k * LIMB_MASK,
        k * LIMB_MASK,
        k * LIMB_MASK,
        k * ((1 << 48) - 1),
    ]
}

impl Field {
    /// Carries limbs that may be negative or exceed 2^52. The value must be in 0..2^260.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn carried(limbs: [__m512i; 5]) -> Self {
        Self(carried(limbs))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn splat(words: [u64; 4]) -> Self {
        Self(limbs_of(words.map(|w| _mm512_set1_epi64(w.cast_signed()))))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(words: &[[u64; 4]; LANES]) -> Self {
        Self(limbs_of(core::array::from_fn(|i| {
            load(&core::array::from_fn(|lane| words[lane][i]))
        })))
    }

    /// Returns the values as portable elements of the given magnitude, which must be more than half the size.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn store(self, magnitude: u32) -> [FieldElement; LANES] {
        let limbs = self.0.map(|limb| store(limb));
        core::array::from_fn(|lane| {
            FieldElement::with_magnitude(limbs.map(|limb| limb[lane]), magnitude)
        })
    }

    /// The product, of size 1 (below 2^256 + 2^75).
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, other: &Self) -> Self {
        let (a, b) = (&self.0, &other.0);
        let mut low = [_mm512_setzero_si512(); 10];
        let mut high = [_mm512_setzero_si512(); 10];
        for i in 0..5 {
            for j in 0..5 {
                low[i + j] = _mm512_madd52lo_epu64(low[i + j], a[i], b[j]);
                high[i + j + 1] = _mm512_madd52hi_epu64(high[i + j + 1], a[i], b[j]);
            }
        }
        fold(core::array::from_fn(|i| _mm512_add_epi64(low[i], high[i])))
    }

    /// The square, of size 1.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&self) -> Self {
        let a = &self.0;
        let mut low = [_mm512_setzero_si512(); 10];
        let mut high = [_mm512_setzero_si512(); 10];
        for i in 0..5 {
            for j in i + 1..5 {
                low[i + j] = _mm512_madd52lo_epu64(low[i + j], a[i], a[j]);
                high[i + j + 1] = _mm512_madd52hi_epu64(high[i + j + 1], a[i], a[j]);
            }
        }
        let mut t: [_; 10] = core::array::from_fn(|i| {
            let cross = _mm512_add_epi64(low[i], high[i]);
            _mm512_add_epi64(cross, cross)
        });
        for i in 0..5 {
            t[2 * i] = _mm512_madd52lo_epu64(t[2 * i], a[i], a[i]);
            t[2 * i + 1] = _mm512_madd52hi_epu64(t[2 * i + 1], a[i], a[i]);
        }
        fold(t)
    }

    /// `a * self`. The size is multiplied by a.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn times<const A: u32>(&self) -> Self {
        Self::carried(self.0.map(|x| times::<A>(x)))
    }

    /// `a * self - b * other`. `SIZE` must be above the size of `b * other`; the result has the size of `a * self` plus
    /// `SIZE`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn minus<const A: u32, const B: u32, const SIZE: i64>(&self, other: &Self) -> Self {
        let bias = const { multiple_of_p(SIZE) };
        Self::carried(core::array::from_fn(|i| {
            let positive = _mm512_add_epi64(times::<A>(self.0[i]), _mm512_set1_epi64(bias[i]));
            _mm512_sub_epi64(positive, times::<B>(other.0[i]))
        }))
    }

    /// `self - b - 2 c`, where `b + 2 c` has size 3. The result has the size of `self` plus 4.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn minus_twice(&self, b: &Self, c: &Self) -> Self {
        let bias = const { multiple_of_p(4) };
        Self::carried(core::array::from_fn(|i| {
            let positive = _mm512_add_epi64(self.0[i], _mm512_set1_epi64(bias[i]));
            _mm512_sub_epi64(positive, _mm512_add_epi64(b.0[i], times::<2>(c.0[i])))
        }))
    }

    /// `self - b - c`, where `b + c` has size 2. The result has the size of `self` plus 3.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn minus_both(&self, b: &Self, c: &Self) -> Self {
        let bias = const { multiple_of_p(3) };
        Self::carried(core::array::from_fn(|i| {
            let positive = _mm512_add_epi64(self.0[i], _mm512_set1_epi64(bias[i]));
            _mm512_sub_epi64(positive, _mm512_add_epi64(b.0[i], c.0[i]))
        }))
    }

    /// Negates the lanes of `mask`. `self` must have a size below `SIZE`; the result has size at most `SIZE`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn negate_where<const SIZE: i64>(&self, mask: __mmask8) -> Self {
        let bias = const { multiple_of_p(SIZE) };
        Self::carried(core::array::from_fn(|i| {
            _mm512_mask_sub_epi64(self.0[i], mask, _mm512_set1_epi64(bias[i]), self.0[i])
        }))
    }

    /// Moves the value of lane `i ^ BIT` to lane `i`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn swapped<const BIT: i64>(&self) -> Self {
        let partners = _mm512_xor_si512(
            _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
            _mm512_set1_epi64(BIT),
        );
        Self(self.0.map(|limb| _mm512_permutexvar_epi64(partners, limb)))
    }

    /// Returns `yes` in the lanes of `mask`, `self` in the others.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn select(&self, mask: __mmask8, yes: &Self) -> Self {
        Self(core::array::from_fn(|i| {
            _mm512_mask_mov_epi64(self.0[i], mask, yes.0[i])
        }))
    }
}

/// Reduces ten columns, each below 2^57, modulo p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn fold(mut t: [__m512i; 10]) -> Field {
    let mask = _mm512_set1_epi64(LIMB_MASK);
    // The limbs of the upper half must be strict before they are multiplied, so the lower half's carry is added first.
    for i in 4..9 {
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64::<52>(t[i]));
        t[i] = _mm512_and_si512(t[i], mask);
    }
    // 2^260 = 16 * R_MOD_P (mod p).
    let factor = _mm512_set1_epi64(16 * R_MOD_P);
    let mut out = [t[0], t[1], t[2], t[3], t[4]];
    let mut carry = _mm512_setzero_si512();
    for i in 0..5 {
        out[i] = _mm512_madd52lo_epu64(_mm512_add_epi64(out[i], carry), t[5 + i], factor);
        carry = _mm512_madd52hi_epu64(_mm512_setzero_si512(), t[5 + i], factor);
    }
    for i in 0..4 {
        out[i + 1] = _mm512_add_epi64(out[i + 1], _mm512_srli_epi64::<52>(out[i]));
        out[i] = _mm512_and_si512(out[i], mask);
    }
    // Fold the part above 2^256: the top limb keeps 48 bits.
    let above = _mm512_add_epi64(
        _mm512_srli_epi64::<48>(out[4]),
        _mm512_slli_epi64::<4>(carry),
    );
    out[4] = _mm512_and_si512(out[4], _mm512_set1_epi64((1 << 48) - 1));
    out[0] = _mm512_madd52lo_epu64(out[0], above, _mm512_set1_epi64(R_MOD_P));
    out[1] = _mm512_madd52hi_epu64(out[1], above, _mm512_set1_epi64(R_MOD_P));
    Field::carried(out)
}
