//! Fp in eight lanes.

use core::arch::x86_64::*;

use super::super::super::{Fp, P};
use crate::{
    lanes::{
        LANES, LIMB_MASK,
        field::{FieldLanes, Prime},
        limbs, limbs_of, load, store, words,
    },
    montgomery::{Adx, Modulus, power_of_two},
};

/// `-1/p mod 2^52`.
const INVERSE: i64 = P::WORDS[4] as i64 & LIMB_MASK;

impl Prime<5> for P {
    const LIMBS: [i64; 5] = limbs(&P::P);
}

/// Eight field elements.
pub(super) type Field = FieldLanes<P, 5>;

/// Eight double-width values in columns that may be negative.
#[derive(Clone, Copy)]
pub(super) struct Wide([__m512i; 10]);

impl Field {
    /// One, which is `2^260 mod p`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn one() -> Self {
        Self::splat(&const { power_of_two(260, &P::P) })
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
        Self::strict(limbs_of(vectors))
    }

    /// Loads scalar field elements; empty lanes are zero. Below 1.1 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(elements: &[Option<Fp<Adx>>; LANES]) -> Self {
        let factor = Self::splat(&const { power_of_two(264, &P::P) });
        Self::load_sixteenth(elements).mul(&factor)
    }

    /// Converts to scalar field elements. `self` must be below 20 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn store(&self) -> [Fp<Adx>; LANES] {
        let factor = Self::splat(&const { power_of_two(256, &P::P) });
        let [limbs] = self.mul(&factor).0;
        let limbs = limbs.map(|limb| store(limb));
        core::array::from_fn(|lane| {
            Fp::from_montgomery_below_2p(words(limbs.map(|limb| limb[lane])))
        })
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn wide_mul(&self, other: &Self) -> Wide {
        Wide::sum::<1>(|_| (self.0[0], other.0[0]))
    }

    /// The product, below `(1 + a b / 84) p` for factors below a p and b p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, other: &Self) -> Self {
        Self::carried(self.wide_mul(other).reduced())
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
    pub(super) fn reduced(self) -> [__m512i; 5] {
        let mut t = self.0;
        let p = <P as Prime<5>>::LIMBS.map(|limb| _mm512_set1_epi64(limb));
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
        [t[5], t[6], t[7], t[8], t[9]]
    }
}
