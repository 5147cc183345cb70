//! Fp in eight lanes.

use core::arch::x86_64::*;

use super::super::super::{Fp, P};
use crate::{
    lanes::{LANES, LIMB_MASK, carried, limbs_of, load, store},
    montgomery::{Adx, Modulus, power_of_two},
};

/// p, in limbs.
const MODULUS: [i64; 5] = limbs(P::P);
/// `-1/p mod 2^52`.
const INVERSE: i64 = P::WORDS[4] as i64 & LIMB_MASK;

const fn limbs(w: [u64; 4]) -> [i64; 5] {
    [
        w[0] as i64 & LIMB_MASK,
        (w[0] >> 52 | w[1] << 12) as i64 & LIMB_MASK,
        (w[1] >> 40 | w[2] << 24) as i64 & LIMB_MASK,
        (w[2] >> 28 | w[3] << 36) as i64 & LIMB_MASK,
        (w[3] >> 16) as i64,
    ]
}

/// Entry j is the highest multiple of p not above `j 2^bits`, limb by limb.
const fn multiples(bits: u32) -> [[i64; 16]; 5] {
    let mut table = [[0; 16]; 5];
    let (mut multiple, mut j) = ([0; 5], 0);
    while j < 16 {
        loop {
            let (mut next, mut i) = (multiple, 0);
            while i < 5 {
                next[i] += MODULUS[i];
                if i < 4 && next[i] > LIMB_MASK {
                    next[i] &= LIMB_MASK;
                    next[i + 1] += 1;
                }
                i += 1;
            }
            // A margin for the error of `sub_multiple`.
            if next[4] + (1 << 20) > (j as i64) << (bits - 208) {
                break;
            }
            multiple = next;
        }
        let mut i = 0;
        while i < 5 {
            table[i][j] = multiple[i];
            i += 1;
        }
        j += 1;
    }
    table
}

/// Eight strict field elements.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Field(pub(super) [__m512i; 5]);

/// Eight values with uncarried limbs, which may be negative or exceed 2^52.
#[derive(Clone, Copy)]
pub(super) struct Loose([__m512i; 5]);

/// Eight double-width values in columns that may be negative.
#[derive(Clone, Copy)]
pub(super) struct Wide([__m512i; 10]);

impl Field {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn zero() -> Self {
        Self([_mm512_setzero_si512(); 5])
    }

    /// One, which is `2^260 mod p`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn one() -> Self {
        Self::splat_words(const { power_of_two(260, &P::P) })
    }

    /// Broadcasts a value to all lanes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn splat_words(words: [u64; 4]) -> Self {
        Self(limbs(words).map(|limb| _mm512_set1_epi64(limb)))
    }

    /// Loads scalar field elements; empty lanes are zero. The values are multiplied by 2^-4, because the Montgomery
    /// forms differ and are not converted. Below p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load_sixteenth(elements: &[Option<Fp<Adx>>; LANES]) -> Self {
        let words = elements.map(|element| element.map_or([0; 4], Fp::to_montgomery));
        let mut vectors = [_mm512_setzero_si512(); 4];
        for (i, vector) in vectors.iter_mut().enumerate() {
            let mut column = [0; LANES];
            for (word, words) in column.iter_mut().zip(&words) {
                *word = words[i];
            }
            *vector = load(&column);
        }
        Self(limbs_of(vectors))
    }

    /// Loads scalar field elements; empty lanes are zero. Below 1.1 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(elements: &[Option<Fp<Adx>>; LANES]) -> Self {
        let factor = Self::splat_words(const { power_of_two(264, &P::P) });
        Self::load_sixteenth(elements).mul(&factor)
    }

    /// Converts to scalar field elements. `self` must be below 20 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn store(&self) -> [Fp<Adx>; LANES] {
        let factor = Self::splat_words(const { power_of_two(256, &P::P) });
        let limbs = self.mul(&factor).0.map(|limb| store(limb));
        core::array::from_fn(|lane| {
            let [l0, l1, l2, l3, l4] = limbs.map(|limb| limb[lane]);
            Fp::from_montgomery_below_2p([
                l0 | l1 << 52,
                l1 >> 12 | l2 << 40,
                l2 >> 24 | l3 << 28,
                l3 >> 36 | l4 << 16,
            ])
        })
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn loose(&self) -> Loose {
        Loose(self.0)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn add(&self, other: &Self) -> Self {
        self.loose().plus(other).carried()
    }

    /// Selects lanes by the indices `lanes`: 0 to 7 select from `self`, 8 to 15 from `other`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn permuted(&self, other: &Self, lanes: __m512i) -> [__m512i; 5] {
        let mut out = self.0;
        for (out, other) in out.iter_mut().zip(other.0) {
            *out = _mm512_permutex2var_epi64(*out, lanes, other);
        }
        out
    }

    /// Returns `yes` in the lanes of `mask`, `self` in the others.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn select(&self, mask: __mmask8, yes: &Self) -> Self {
        let mut out = self.0;
        for (out, yes) in out.iter_mut().zip(yes.0) {
            *out = _mm512_mask_mov_epi64(*out, mask, yes);
        }
        Self(out)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn wide_mul(&self, other: &Self) -> Wide {
        Wide::sum::<1>(|_| (self.0, other.0))
    }

    /// The product, below `(1 + a b / 84) p` for factors below a p and b p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, other: &Self) -> Self {
        self.wide_mul(other).reduced().carried()
    }
}

impl Loose {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn plus(mut self, other: &Field) -> Self {
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            *limb = _mm512_add_epi64(*limb, other);
        }
        self
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn minus(mut self, other: &Field) -> Self {
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            *limb = _mm512_sub_epi64(*limb, other);
        }
        self
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn minus_loose(mut self, other: Self) -> Self {
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            *limb = _mm512_sub_epi64(*limb, other);
        }
        self
    }

    /// Adds k p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn plus_p(mut self, k: i64) -> Self {
        for (limb, p) in self.0.iter_mut().zip(MODULUS) {
            *limb = _mm512_add_epi64(*limb, _mm512_set1_epi64(k * p));
        }
        self
    }

    /// Doubles `N` times.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn doubled<const N: u32>(mut self) -> Self {
        for limb in &mut self.0 {
            *limb = _mm512_slli_epi64::<N>(*limb);
        }
        self
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn tripled(mut self) -> Self {
        for limb in &mut self.0 {
            *limb = _mm512_add_epi64(_mm512_slli_epi64::<1>(*limb), *limb);
        }
        self
    }

    /// Adds `other` in the lanes of `mask` and subtracts it in the others.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn plus_or_minus(mut self, other: Self, mask: __mmask8) -> Self {
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            let difference = _mm512_sub_epi64(*limb, other);
            *limb = _mm512_mask_add_epi64(difference, mask, *limb, other);
        }
        self
    }

    /// Carries a value in 0..84 p to strict limbs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn carried(self) -> Field {
        Field(carried(self.0))
    }

    /// Reduces a value in 0..21 p below 2.4 p, with strict limbs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn reduce(self) -> Field {
        self.sub_multiple::<46>(const { &multiples(254) })
    }

    /// Reduces a value in 0..42 p below 3.7 p, with strict limbs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn reduce_partial(self) -> Field {
        self.sub_multiple::<47>(const { &multiples(255) })
    }

    /// Subtracts the multiple of p that the top limb selects. The top limb is not carried yet, so it may be low by up
    /// to 2^11. This amount is added before the selection; the margin of the table compensates if that was too much.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn sub_multiple<const BITS: u32>(mut self, table: &[[i64; 16]; 5]) -> Field {
        let top = _mm512_add_epi64(self.0[4], _mm512_set1_epi64(1 << 11));
        let index = _mm512_srli_epi64::<BITS>(top);
        for (limb, table) in self.0.iter_mut().zip(table) {
            let (low, high) = table.split_at(LANES);
            // SAFETY: both halves are valid for reads of 64 bytes, and the loads need no alignment.
            let (low, high) = unsafe {
                (
                    _mm512_loadu_si512(low.as_ptr().cast()),
                    _mm512_loadu_si512(high.as_ptr().cast()),
                )
            };
            *limb = _mm512_sub_epi64(*limb, _mm512_permutex2var_epi64(low, index, high));
        }
        self.carried()
    }
}

impl Wide {
    /// `sum a[n] b[n]` for `operands(n) = (a[n], b[n])`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn sum<const N: usize>(
        operands: impl Fn(usize) -> ([__m512i; 5], [__m512i; 5]),
    ) -> Self {
        let mut low = [_mm512_setzero_si512(); 9];
        let mut high = [_mm512_setzero_si512(); 9];
        for n in 0..N {
            let (a, b) = operands(n);
            for i in 0..5 {
                for j in 0..5 {
                    low[i + j] = _mm512_madd52lo_epu64(low[i + j], a[i], b[j]);
                    high[i + j] = _mm512_madd52hi_epu64(high[i + j], a[i], b[j]);
                }
            }
        }
        let mut columns = [_mm512_setzero_si512(); 10];
        columns[0] = low[0];
        for i in 1..9 {
            columns[i] = _mm512_add_epi64(low[i], high[i - 1]);
        }
        columns[9] = high[8];
        Self(columns)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn minus(mut self, other: &Self) -> Self {
        for (column, other) in self.0.iter_mut().zip(other.0) {
            *column = _mm512_sub_epi64(*column, other);
        }
        self
    }

    /// Divides by 2^260 modulo p: a value v becomes one in `v / 2^260 .. v / 2^260 + p`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn reduced(self) -> Loose {
        let mut t = self.0;
        let p = MODULUS.map(|limb| _mm512_set1_epi64(limb));
        let inverse = _mm512_set1_epi64(INVERSE);
        let zero = _mm512_setzero_si512();
        for i in 0..5 {
            let q = _mm512_madd52lo_epu64(zero, t[i], inverse);
            let low = _mm512_madd52lo_epu64(t[i], q, p[0]);
            // The next column is on the critical path, so its parts are computed in parallel.
            let next = _mm512_add_epi64(
                _mm512_madd52lo_epu64(t[i + 1], q, p[1]),
                _mm512_madd52hi_epu64(zero, q, p[0]),
            );
            t[i + 1] = _mm512_add_epi64(next, _mm512_srai_epi64::<52>(low));
            for j in 2..5 {
                t[i + j] = _mm512_madd52lo_epu64(t[i + j], q, p[j]);
                t[i + j] = _mm512_madd52hi_epu64(t[i + j], q, p[j - 1]);
            }
            t[i + 5] = _mm512_madd52hi_epu64(t[i + 5], q, p[4]);
        }
        Loose([t[5], t[6], t[7], t[8], t[9]])
    }
}
