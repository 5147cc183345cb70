//! Elements of a prime field in eight lanes. Loading, storing and products are defined by each field, because they
//! depend on its form.
//!
//! Limbs are "strict", that is, below 2^52. An element of size n is below n p, for secp256k1 below n (2^256 + 2^73).

use core::{arch::x86_64::*, marker::PhantomData};

use super::{LANES, carried, limbs, load, times};

/// A prime p with `N` limbs.
pub(crate) trait Prime<const N: usize>: Copy {
    /// The limbs of p.
    const LIMBS: [i64; N];
}

/// Returns `k p`, limb by limb, without carries.
const fn multiple<P: Prime<N>, const N: usize>(k: i64) -> [i64; N] {
    let (mut multiple, mut i) = (P::LIMBS, 0);
    while i < N {
        multiple[i] *= k;
        i += 1;
    }
    multiple
}

/// Eight elements with strict limbs.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct FieldLanes<P, const N: usize>(pub(crate) [__m512i; N], PhantomData<P>);

impl<P: Prime<N>, const N: usize> FieldLanes<P, N> {
    /// Takes strict limbs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn strict(limbs: [__m512i; N]) -> Self {
        Self(limbs, PhantomData)
    }

    /// Takes limbs that may be negative or exceed 2^52.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn carried(limbs: [__m512i; N]) -> Self {
        Self::strict(carried(limbs))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn zero() -> Self {
        Self::strict([_mm512_setzero_si512(); N])
    }

    /// Broadcasts a value, given in little-endian words.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn splat(words: &[u64]) -> Self {
        let mut lanes = Self::zero();
        for (lanes, limb) in lanes.0.iter_mut().zip(limbs::<N>(words)) {
            *lanes = _mm512_set1_epi64(limb);
        }
        lanes
    }

    /// Takes limb i of all lanes in row i.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn from_rows(rows: &[[u64; LANES]; N]) -> Self {
        let mut lanes = Self::zero();
        for (limb, row) in lanes.0.iter_mut().zip(rows) {
            *limb = load(row);
        }
        lanes
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn add(&self, other: &Self) -> Self {
        Self::carried(core::array::from_fn(|i| {
            _mm512_add_epi64(self.0[i], other.0[i])
        }))
    }

    /// `A self`. The size is multiplied by A.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn times<const A: u32>(&self) -> Self {
        Self::carried(self.0.map(|x| times::<A>(x)))
    }

    /// `A self - B other + K p`. K must be above the size of `B other`; the result has the size of `A self` plus K.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn minus<const A: u32, const B: u32, const K: i64>(&self, other: &Self) -> Self {
        let bias = const { multiple::<P, N>(K) };
        Self::carried(core::array::from_fn(|i| {
            let positive = _mm512_add_epi64(times::<A>(self.0[i]), _mm512_set1_epi64(bias[i]));
            _mm512_sub_epi64(positive, times::<B>(other.0[i]))
        }))
    }

    /// `self - b - 2 c`, where `b + 2 c` has size 4. The result has the size of `self` plus 4.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn minus_twice(&self, b: &Self, c: &Self) -> Self {
        let bias = const { multiple::<P, N>(4) };
        Self::carried(core::array::from_fn(|i| {
            let positive = _mm512_add_epi64(self.0[i], _mm512_set1_epi64(bias[i]));
            _mm512_sub_epi64(positive, _mm512_add_epi64(b.0[i], times::<2>(c.0[i])))
        }))
    }

    /// `self - b - c`, where `b + c` has size 3. The result has the size of `self` plus 3.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn minus_both(&self, b: &Self, c: &Self) -> Self {
        let bias = const { multiple::<P, N>(3) };
        Self::carried(core::array::from_fn(|i| {
            let positive = _mm512_add_epi64(self.0[i], _mm512_set1_epi64(bias[i]));
            _mm512_sub_epi64(positive, _mm512_add_epi64(b.0[i], c.0[i]))
        }))
    }

    /// `K p - self` in the lanes of `mask`. The size must be below K; that of the result is at most K.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn negate_where<const K: i64>(&self, mask: __mmask8) -> Self {
        let bias = const { multiple::<P, N>(K) };
        Self::carried(core::array::from_fn(|i| {
            _mm512_mask_sub_epi64(self.0[i], mask, _mm512_set1_epi64(bias[i]), self.0[i])
        }))
    }

    /// Selects lanes by the indices `lanes`: 0 to 7 select from `self`, 8 to 15 from `other`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn permuted(&self, other: &Self, lanes: &[u64; LANES]) -> Self {
        let (mut out, lanes) = (*self, load(lanes));
        for (limb, other) in out.0.iter_mut().zip(other.0) {
            *limb = _mm512_permutex2var_epi64(*limb, lanes, other);
        }
        out
    }

    /// Returns `yes` in the lanes of `mask`, `self` in the others.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn select(&self, mask: __mmask8, yes: &Self) -> Self {
        Self::strict(core::array::from_fn(|i| {
            _mm512_mask_mov_epi64(self.0[i], mask, yes.0[i])
        }))
    }
}

/// Eight elements `re + im u` of the quadratic extension.
#[derive(Clone, Copy)]
pub(crate) struct Fp2Lanes<P, const N: usize>(pub(crate) [FieldLanes<P, N>; 2]);

impl<P: Prime<N>, const N: usize> Fp2Lanes<P, N> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn new(re: FieldLanes<P, N>, im: FieldLanes<P, N>) -> Self {
        Self([re, im])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn add(&self, other: &Self) -> Self {
        let [re, im] = &self.0;
        Self([re.add(&other.0[0]), im.add(&other.0[1])])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn times<const A: u32>(&self) -> Self {
        let [re, im] = &self.0;
        Self([re.times::<A>(), im.times::<A>()])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn minus<const A: u32, const B: u32, const K: i64>(&self, other: &Self) -> Self {
        let [re, im] = &self.0;
        Self([
            re.minus::<A, B, K>(&other.0[0]),
            im.minus::<A, B, K>(&other.0[1]),
        ])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn minus_twice(&self, b: &Self, c: &Self) -> Self {
        let [re, im] = &self.0;
        Self([
            re.minus_twice(&b.0[0], &c.0[0]),
            im.minus_twice(&b.0[1], &c.0[1]),
        ])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn minus_both(&self, b: &Self, c: &Self) -> Self {
        let [re, im] = &self.0;
        Self([
            re.minus_both(&b.0[0], &c.0[0]),
            im.minus_both(&b.0[1], &c.0[1]),
        ])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn negate_where<const K: i64>(&self, mask: __mmask8) -> Self {
        let [re, im] = &self.0;
        Self([re.negate_where::<K>(mask), im.negate_where::<K>(mask)])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn select(&self, mask: __mmask8, yes: &Self) -> Self {
        let [re, im] = &self.0;
        Self([re.select(mask, &yes.0[0]), im.select(mask, &yes.0[1])])
    }
}
