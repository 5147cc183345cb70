//! Sums without carries of the limbs of elements in eight lanes, and factors of products.

use core::{arch::x86_64::*, marker::PhantomData};

use super::{
    LANES, LIMB_MASK, carried,
    field::{Degree, FieldLanes, Prime, Two},
    load, times,
};

/// A limb of each coefficient of eight elements. It may be negative or exceed 2^52.
#[derive(Clone, Copy)]
pub(crate) struct Limb<D: Degree>(pub(crate) D::Coefficients<__m512i>);

impl<D: Degree> Limb<D> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn each(coefficient: impl Fn(usize) -> __m512i) -> Self {
        let zero = _mm512_setzero_si512();
        let mut limb = Self(D::coefficients(zero, || zero));
        for k in 0..D::DEGREE {
            limb.0[k] = coefficient(k);
        }
        limb
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self::each(|k| _mm512_add_epi64(self.0[k], other.0[k]))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn minus(self, other: Self) -> Self {
        Self::each(|k| _mm512_sub_epi64(self.0[k], other.0[k]))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn times<const A: u32>(self) -> Self {
        Self::each(|k| times::<A>(self.0[k]))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn permuted(self, lanes: &[u64; LANES]) -> Self {
        let lanes = load(lanes);
        Self::each(|k| _mm512_permutexvar_epi64(lanes, self.0[k]))
    }

    /// Selects lanes: indices 0 to 7 select from `self`, 8 to 15 from `other`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn permuted_with(self, other: Self, lanes: &[u64; LANES]) -> Self {
        let lanes = load(lanes);
        Self::each(|k| _mm512_permutex2var_epi64(self.0[k], lanes, other.0[k]))
    }

    /// Multiplies each lane by a power of two.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn shifted(self, bits: &[u64; LANES]) -> Self {
        let bits = load(bits);
        Self::each(|k| _mm512_sllv_epi64(self.0[k], bits))
    }

    /// Returns `yes` in the lanes of `mask`, `self` in the others.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn select(self, mask: __mmask8, yes: Self) -> Self {
        Self::each(|k| _mm512_mask_mov_epi64(self.0[k], mask, yes.0[k]))
    }

    /// Adds `other` in the lanes of `MASK`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn plus_where<const MASK: __mmask8>(self, other: Self) -> Self {
        Self::each(|k| _mm512_mask_add_epi64(self.0[k], MASK, self.0[k], other.0[k]))
    }

    /// Subtracts `other` in the lanes of `MASK`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn minus_where<const MASK: __mmask8>(self, other: Self) -> Self {
        Self::each(|k| _mm512_mask_sub_epi64(self.0[k], MASK, self.0[k], other.0[k]))
    }

    /// `re - im u`; an element of Fp stays as it is.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn conjugate(self) -> Self {
        let zero = _mm512_setzero_si512();
        Self::each(|k| match k {
            0 => self.0[0],
            _ => _mm512_sub_epi64(zero, self.0[k]),
        })
    }

    /// Multiplies by xi = A + u, whose sixth root is w; an element of Fp stays as it is.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn times_xi<const A: u32>(self) -> Self {
        if D::DEGREE == 1 {
            return self;
        }
        let [re, im] = [self.0[0], self.0[1]];
        Self::each(|k| match k {
            0 => _mm512_sub_epi64(times::<A>(re), im),
            _ => _mm512_add_epi64(times::<A>(im), re),
        })
    }
}

/// Eight elements with uncarried limbs.
pub(crate) struct Loose<P, const N: usize, D: Degree = Two>([Limb<D>; N], PhantomData<P>);

impl<P: Prime<N>, const N: usize, D: Degree> Loose<P, N, D> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn each(f: impl Fn(usize) -> Limb<D>) -> Self {
        let mut limbs = [Limb::each(|_| _mm512_setzero_si512()); N];
        for (i, limb) in limbs.iter_mut().enumerate() {
            *limb = f(i);
        }
        Self(limbs, PhantomData)
    }

    /// Returns limb i of `K p` for all coefficients.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn multiple<const K: i64>(i: usize) -> Limb<D> {
        Limb::each(|_| _mm512_set1_epi64(K * P::LIMBS[i]))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn limb(&self, i: usize) -> Limb<D> {
        self.0[i]
    }

    /// Adds `K p`, which must make the value positive, and carries.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn carried<const K: i64>(&self) -> FieldLanes<P, N, D> {
        self.factor::<K>().element()
    }

    /// Adds `K p`, which must make the value positive, and prepares the element as a factor.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn factor<const K: i64>(&self) -> Factor<P, N, D> {
        let zero = [_mm512_setzero_si512(); N];
        let mut parts = D::parts(zero, || [zero; 2]);
        for (i, limb) in self.0.iter().enumerate() {
            let Limb(limb) = limb.plus(Self::multiple::<K>(i));
            parts[0][i] = limb[0];
            if D::DEGREE == 2 {
                parts[1][i] = limb[1];
                parts[2][i] = _mm512_add_epi64(limb[0], limb[1]);
            }
        }
        let parts = D::parts(carried(parts[0]), || [carried(parts[1]), carried(parts[2])]);
        Factor(parts, PhantomData)
    }
}

impl<P: Prime<N>, const N: usize, D: Degree> FieldLanes<P, N, D> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn limb(&self, i: usize) -> Limb<D> {
        Limb::each(|k| self.0[k][i])
    }
}

/// Bits of the carry from the limb below into the top limb, for limbs of at most 62 bits.
const CARRY_BITS: u32 = 10;

/// Entry j is the highest multiple of p not above `j 2^bits`, with a margin for the error of [`Loose::reduce`]; limb by
/// limb, in two halves.
const fn multiples<P: Prime<N>, const N: usize>(bits: u32) -> [[[u64; LANES]; 2]; N] {
    let mut table = [[[0; LANES]; 2]; N];
    let (mut multiple, mut j) = ([0; N], 0);
    while j < 2 * LANES {
        loop {
            let (mut next, mut i) = (multiple, 0);
            while i < N {
                next[i] += P::LIMBS[i];
                if i < N - 1 && next[i] > LIMB_MASK {
                    next[i] &= LIMB_MASK;
                    next[i + 1] += 1;
                }
                i += 1;
            }
            if next[N - 1] + (4 << CARRY_BITS) > (j as i64) << (bits - 52 * (N as u32 - 1)) {
                break;
            }
            multiple = next;
        }
        let mut i = 0;
        while i < N {
            table[i][j / LANES][j % LANES] = multiple[i].cast_unsigned();
            i += 1;
        }
        j += 1;
    }
    table
}

impl<P: Prime<N>, const N: usize> Loose<P, N> {
    /// Adds `K p`, after which the value must be in `0 .. 2^(BITS + 4)`, and reduces it below `2^BITS + p`, plus a
    /// small error.
    ///
    /// Subtracts the multiple of p that the top limb selects. The top limb is not carried yet, so it may be low by up
    /// to `2^CARRY_BITS`. This amount is added before the selection; the margin of the table compensates if that was
    /// too much.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn reduce<const BITS: u32, const K: i64>(&self) -> Self {
        let table = const { &multiples::<P, N>(BITS) };
        let shift = _mm512_set1_epi64(i64::from(BITS) - 52 * (N as i64 - 1));
        let index = |top: __m512i| {
            let top = _mm512_add_epi64(top, _mm512_set1_epi64(1 << CARRY_BITS));
            _mm512_srlv_epi64(top, shift)
        };
        let top = self.0[N - 1].plus(Self::multiple::<K>(N - 1));
        let index = [index(top.0[0]), index(top.0[1])];
        Self::each(|i| {
            let (low, high) = (load(&table[i][0]), load(&table[i][1]));
            let multiple = Limb::each(|k| _mm512_permutex2var_epi64(low, index[k], high));
            self.limb(i).plus(Self::multiple::<K>(i)).minus(multiple)
        })
    }
}

/// Eight elements, prepared as factors, with strict limbs: the coefficients, and in Fp2 their sum.
#[derive(Clone, Copy)]
pub(crate) struct Factor<P, const N: usize, D: Degree = Two>(
    pub(crate) D::Parts<[__m512i; N]>,
    PhantomData<P>,
);

impl<P: Prime<N>, const N: usize, D: Degree> Factor<P, N, D> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn new(element: &FieldLanes<P, N, D>) -> Self {
        Loose::each(|i| element.limb(i)).factor::<0>()
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn element(&self) -> FieldLanes<P, N, D> {
        FieldLanes::from_limbs(D::coefficients(self.0[0], || self.0[1]))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn limb(&self, i: usize) -> Limb<D> {
        Limb::each(|k| self.0[k][i])
    }
}

/// A factor whose lanes are selected from two factors by `lanes`: 0 to 7 select from the first, 8 to 15 from the
/// second.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a, P, const N: usize, D: Degree = Two> {
    pub(crate) of: [&'a Factor<P, N, D>; 2],
    pub(crate) lanes: &'a [u64; LANES],
}

impl<'a, P, const N: usize, D: Degree> Operand<'a, P, N, D> {
    pub(crate) fn new(of: [&'a Factor<P, N, D>; 2], lanes: &'a [u64; LANES]) -> Self {
        Self { of, lanes }
    }
}
