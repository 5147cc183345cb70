//! Field elements in eight lanes.

use core::arch::x86_64::*;

use super::super::super::field::{FieldElement, P};
use crate::lanes::{
    LANES, LIMB_MASK,
    field::{FieldLanes, Prime, Products},
    limbs, limbs_of, load, store,
};

/// 2^256 mod p.
const R_MOD_P: i64 = 0x1_0000_03d1;

/// The modulus p.
#[derive(Clone, Copy)]
pub(super) struct Modulus;

impl Prime<5> for Modulus {
    const LIMBS: [i64; 5] = limbs(&P);
}

/// Eight field elements, one per lane.
pub(super) type Field = FieldLanes<Modulus, 5>;

impl Field {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(words: &[[u64; 4]; LANES]) -> Self {
        Self::strict(limbs_of(core::array::from_fn(|i| {
            load(&core::array::from_fn(|lane| words[lane][i]))
        })))
    }

    /// Returns the values as portable elements of the given magnitude, which must be more than half the size.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn store(self, magnitude: u32) -> [FieldElement; LANES] {
        let [limbs] = self.0;
        let limbs = limbs.map(|limb| store(limb));
        core::array::from_fn(|lane| {
            FieldElement::with_magnitude(limbs.map(|limb| limb[lane]), magnitude)
        })
    }

    /// The product, of size 1 (below 2^256 + 2^75).
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, other: &Self) -> Self {
        fold(sum_of_products([(self, other)]))
    }

    /// The square, of size 1.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&self) -> Self {
        let [a] = &self.0;
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

    /// Moves the value of lane `i ^ BIT` to lane `i`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn swapped<const BIT: i64>(&self) -> Self {
        let partners = _mm512_xor_si512(
            _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
            _mm512_set1_epi64(BIT),
        );
        let [limbs] = self.0;
        Self::strict(limbs.map(|limb| _mm512_permutexvar_epi64(partners, limb)))
    }
}

/// The columns of `sum a b`, each at most 9 (2^52 - 1) times the number of products.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn sum_of_products<const N: usize>(products: [(&Field, &Field); N]) -> [__m512i; 10] {
    let mut low = [_mm512_setzero_si512(); 10];
    let mut high = [_mm512_setzero_si512(); 10];
    for (a, b) in products {
        let ([a], [b]) = (&a.0, &b.0);
        for i in 0..5 {
            for j in 0..5 {
                low[i + j] = _mm512_madd52lo_epu64(low[i + j], a[i], b[j]);
                high[i + j + 1] = _mm512_madd52hi_epu64(high[i + j + 1], a[i], b[j]);
            }
        }
    }
    for (low, high) in low.iter_mut().zip(high) {
        *low = _mm512_add_epi64(*low, high);
    }
    low
}

impl Products for Field {
    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        // SAFETY: `self` was made by a function that requires AVX-512F and IFMA.
        unsafe { Self::mul(self, other) }
    }

    #[inline(always)]
    fn square(&self) -> Self {
        // SAFETY: `self` was made by a function that requires AVX-512F and IFMA.
        unsafe { Self::square(self) }
    }

    #[inline(always)]
    fn sum_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        // SAFETY: `a` was made by a function that requires AVX-512F and IFMA.
        unsafe { fold(sum_of_products([(a, b), (c, d)])) }
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
