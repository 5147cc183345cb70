//! Elements of a prime field, or of its quadratic extension, in eight lanes. Loading, storing and products are defined
//! by each field, because they depend on its form.
//!
//! Limbs are "strict", that is, below 2^52. An element of size n is below n p, for secp256k1 below n (2^256 + 2^73).

use core::{arch::x86_64::*, marker::PhantomData, ops::IndexMut};

use super::{LANES, array, carried, limbs, load, permuted, times};

/// The degree of a field over Fp, 1 or 2.
pub(crate) trait Degree: Copy {
    const DEGREE: usize;
    /// The coefficients of an element.
    type Coefficients<T: Copy>: Copy + IndexMut<usize, Output = T>;
    /// The parts of a [`Factor`](super::loose::Factor).
    type Parts<T: Copy>: Copy + IndexMut<usize, Output = T>;

    /// Takes the first coefficient, and the second if there is one.
    fn coefficients<T: Copy>(first: T, second: impl FnOnce() -> T) -> Self::Coefficients<T>;

    /// Takes the first part, and the two others if there are any.
    fn parts<T: Copy>(first: T, others: impl FnOnce() -> [T; 2]) -> Self::Parts<T>;
}

/// Fp itself.
#[derive(Clone, Copy)]
pub(crate) struct One;

/// The elements `re + im u` with u^2 = -1.
#[derive(Clone, Copy)]
pub(crate) struct Two;

impl Degree for One {
    const DEGREE: usize = 1;
    type Coefficients<T: Copy> = [T; 1];
    type Parts<T: Copy> = [T; 1];

    #[inline(always)]
    fn coefficients<T: Copy>(first: T, _: impl FnOnce() -> T) -> [T; 1] {
        [first]
    }

    #[inline(always)]
    fn parts<T: Copy>(first: T, _: impl FnOnce() -> [T; 2]) -> [T; 1] {
        [first]
    }
}

impl Degree for Two {
    const DEGREE: usize = 2;
    type Coefficients<T: Copy> = [T; 2];
    type Parts<T: Copy> = [T; 3];

    #[inline(always)]
    fn coefficients<T: Copy>(first: T, second: impl FnOnce() -> T) -> [T; 2] {
        [first, second()]
    }

    #[inline(always)]
    fn parts<T: Copy>(first: T, others: impl FnOnce() -> [T; 2]) -> [T; 3] {
        let [second, third] = others();
        [first, second, third]
    }
}

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

/// Eight elements of a field of degree D, with strict limbs.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct FieldLanes<P, const N: usize, D: Degree = One>(
    pub(crate) D::Coefficients<[__m512i; N]>,
    PhantomData<P>,
);

pub(crate) type Fp2Lanes<P, const N: usize> = FieldLanes<P, N, Two>;

/// Products of elements, of size 1.
///
/// An implementation may use AVX-512F and IFMA: only functions that require them make elements.
pub(crate) trait Products {
    fn mul(&self, other: &Self) -> Self;
    fn square(&self) -> Self;
    /// `a b + c d`, with one reduction. The sizes of both products must add up to at most 255.
    fn sum_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self;
}

impl<P: Prime<N>, const N: usize> FieldLanes<P, N> {
    /// Takes strict limbs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn strict(limbs: [__m512i; N]) -> Self {
        Self([limbs], PhantomData)
    }

    /// Takes limbs that may be negative or exceed 2^52.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn carried(limbs: [__m512i; N]) -> Self {
        Self::strict(carried(limbs))
    }

    /// Broadcasts a value, given in little-endian words.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn splat(words: &[u64]) -> Self {
        let mut lanes = [_mm512_setzero_si512(); N];
        for (lanes, limb) in lanes.iter_mut().zip(limbs::<N>(words)) {
            *lanes = _mm512_set1_epi64(limb);
        }
        Self::strict(lanes)
    }

    /// Takes limb i of all lanes in row i.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn from_rows(rows: &[[u64; LANES]; N]) -> Self {
        let mut lanes = [_mm512_setzero_si512(); N];
        for (limb, row) in lanes.iter_mut().zip(rows) {
            *limb = load(row);
        }
        Self::strict(lanes)
    }
}

impl<P: Prime<N>, const N: usize, D: Degree> FieldLanes<P, N, D> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn zero() -> Self {
        Self::each(|_, _| _mm512_setzero_si512())
    }

    /// Takes strict limbs of each coefficient.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn from_limbs(limbs: D::Coefficients<[__m512i; N]>) -> Self {
        Self(limbs, PhantomData)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn new(coefficients: D::Coefficients<FieldLanes<P, N>>) -> Self {
        Self::from_limbs(D::coefficients(coefficients[0].0[0], || {
            coefficients[1].0[0]
        }))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn coefficients(&self) -> D::Coefficients<FieldLanes<P, N>> {
        D::coefficients(FieldLanes::strict(self.0[0]), || {
            FieldLanes::strict(self.0[1])
        })
    }

    /// Takes `limb(k, i)` as limb i of coefficient k. It must be strict.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn each(limb: impl Fn(usize, usize) -> __m512i) -> Self {
        let zero = [_mm512_setzero_si512(); N];
        let mut limbs = D::coefficients(zero, || zero);
        for k in 0..D::DEGREE {
            limbs[k] = array(|i| limb(k, i));
        }
        Self(limbs, PhantomData)
    }

    /// Takes `limb(k, i)` as limb i of coefficient k. It may be negative or exceed 2^52.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn carry_each(limb: impl Fn(usize, usize) -> __m512i) -> Self {
        let zero = [_mm512_setzero_si512(); N];
        let mut limbs = D::coefficients(zero, || zero);
        for k in 0..D::DEGREE {
            limbs[k] = carried(array(|i| limb(k, i)));
        }
        Self(limbs, PhantomData)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn add(&self, other: &Self) -> Self {
        Self::carry_each(|k, i| _mm512_add_epi64(self.0[k][i], other.0[k][i]))
    }

    /// `A self`. The size is multiplied by A.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn times<const A: u32>(&self) -> Self {
        Self::carry_each(|k, i| times::<A>(self.0[k][i]))
    }

    /// `A self - B other + K p`. K must be above the size of `B other`; the result has the size of `A self` plus K.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn minus<const A: u32, const B: u32, const K: i64>(&self, other: &Self) -> Self {
        let bias = const { multiple::<P, N>(K) };
        Self::carry_each(|k, i| {
            let positive = _mm512_add_epi64(times::<A>(self.0[k][i]), _mm512_set1_epi64(bias[i]));
            _mm512_sub_epi64(positive, times::<B>(other.0[k][i]))
        })
    }

    /// `self - b - 2 c`, where `b + 2 c` has size 4. The result has the size of `self` plus 4.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn minus_twice(&self, b: &Self, c: &Self) -> Self {
        let bias = const { multiple::<P, N>(4) };
        Self::carry_each(|k, i| {
            let positive = _mm512_add_epi64(self.0[k][i], _mm512_set1_epi64(bias[i]));
            _mm512_sub_epi64(positive, _mm512_add_epi64(b.0[k][i], times::<2>(c.0[k][i])))
        })
    }

    /// `self - b - c`, where `b + c` has size 3. The result has the size of `self` plus 3.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn minus_both(&self, b: &Self, c: &Self) -> Self {
        let bias = const { multiple::<P, N>(3) };
        Self::carry_each(|k, i| {
            let positive = _mm512_add_epi64(self.0[k][i], _mm512_set1_epi64(bias[i]));
            _mm512_sub_epi64(positive, _mm512_add_epi64(b.0[k][i], c.0[k][i]))
        })
    }

    /// `K p - self`. The size must be below K; that of the result is at most K.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn negate<const K: i64>(&self) -> Self {
        self.negate_where::<K>(!0)
    }

    /// `K p - self` in the lanes of `mask`. The size must be below K; that of the result is at most K.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn negate_where<const K: i64>(&self, mask: __mmask8) -> Self {
        let bias = const { multiple::<P, N>(K) };
        Self::carry_each(|k, i| {
            let limb = self.0[k][i];
            _mm512_mask_sub_epi64(limb, mask, _mm512_set1_epi64(bias[i]), limb)
        })
    }

    /// Selects lanes by the indices `lanes`: 0 to 7 select from `self`, 8 to 15 from `other`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn permuted(&self, other: &Self, lanes: &[u64; LANES]) -> Self {
        let first = permuted(&self.0[0], &other.0[0], lanes);
        Self::from_limbs(D::coefficients(first, || {
            permuted(&self.0[1], &other.0[1], lanes)
        }))
    }

    /// Returns `yes` in the lanes of `mask`, `self` in the others.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn select(&self, mask: __mmask8, yes: &Self) -> Self {
        Self::each(|k, i| _mm512_mask_mov_epi64(self.0[k][i], mask, yes.0[k][i]))
    }
}
