//! Sums without carries of the limbs of elements in eight lanes, and factors of products in Fp2.

use core::{arch::x86_64::*, marker::PhantomData};

use super::{
    LANES, LIMB_MASK,
    field::{FieldLanes, Fp2Lanes, Prime},
    load, times,
};

/// Defines a limb of eight field elements, by its parts, and the elements. Limbs may be negative or exceed 2^52.
macro_rules! uncarried {
    ($limb:ident { $($part:ident),+ }, $loose:ident) => {
        #[derive(Clone, Copy)]
        pub(crate) struct $limb {
            $(pub(crate) $part: __m512i),+
        }

        impl $limb {
            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(crate) fn plus(self, other: Self) -> Self {
                Self { $($part: _mm512_add_epi64(self.$part, other.$part)),+ }
            }

            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(crate) fn minus(self, other: Self) -> Self {
                Self { $($part: _mm512_sub_epi64(self.$part, other.$part)),+ }
            }

            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(crate) fn times<const A: u32>(self) -> Self {
                Self { $($part: times::<A>(self.$part)),+ }
            }

            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(crate) fn permuted(self, lanes: &[u64; LANES]) -> Self {
                let lanes = load(lanes);
                Self { $($part: _mm512_permutexvar_epi64(lanes, self.$part)),+ }
            }

            /// Multiplies each lane by a power of two.
            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(crate) fn shifted(self, bits: &[u64; LANES]) -> Self {
                let bits = load(bits);
                Self { $($part: _mm512_sllv_epi64(self.$part, bits)),+ }
            }

            /// Returns `yes` in the lanes of `mask`, `self` in the others.
            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(crate) fn select(self, mask: __mmask8, yes: Self) -> Self {
                Self { $($part: _mm512_mask_mov_epi64(self.$part, mask, yes.$part)),+ }
            }

            /// Adds `other` in the lanes of `mask`.
            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(crate) fn plus_where(self, mask: __mmask8, other: Self) -> Self {
                Self { $($part: _mm512_mask_add_epi64(self.$part, mask, self.$part, other.$part)),+ }
            }

            /// Subtracts `other` in the lanes of `mask`.
            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(crate) fn minus_where(self, mask: __mmask8, other: Self) -> Self {
                Self { $($part: _mm512_mask_sub_epi64(self.$part, mask, self.$part, other.$part)),+ }
            }
        }

        pub(crate) struct $loose<P, const N: usize>([$limb; N], PhantomData<P>);

        impl<P: Prime<N>, const N: usize> $loose<P, N> {
            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(crate) fn each(f: impl Fn(usize) -> $limb) -> Self {
                let mut limbs = [$limb { $($part: _mm512_setzero_si512()),+ }; N];
                for (i, limb) in limbs.iter_mut().enumerate() {
                    *limb = f(i);
                }
                Self(limbs, PhantomData)
            }

            /// Returns limb i of `K p` for all parts.
            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(crate) fn multiple<const K: i64>(i: usize) -> $limb {
                let limb = _mm512_set1_epi64(K * P::LIMBS[i]);
                $limb { $($part: limb),+ }
            }

            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(crate) fn limb(&self, i: usize) -> $limb {
                self.0[i]
            }
        }
    };
}

uncarried!(FpLimb { value }, FpLoose);
uncarried!(Limb { re, im }, Loose);

impl Limb {
    /// Multiplies by xi = A + u, whose sixth root is w.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn times_xi<const A: u32>(self) -> Self {
        Self {
            re: _mm512_sub_epi64(times::<A>(self.re), self.im),
            im: _mm512_add_epi64(times::<A>(self.im), self.re),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn conjugate(self) -> Self {
        Self {
            re: self.re,
            im: _mm512_sub_epi64(_mm512_setzero_si512(), self.im),
        }
    }

    /// Selects lanes: indices 0 to 7 select from `self`, 8 to 15 from `other`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn permuted_with(self, other: Self, lanes: &[u64; LANES]) -> Self {
        let lanes = load(lanes);
        Self {
            re: _mm512_permutex2var_epi64(self.re, lanes, other.re),
            im: _mm512_permutex2var_epi64(self.im, lanes, other.im),
        }
    }
}

impl<P: Prime<N>, const N: usize> FpLoose<P, N> {
    /// Adds `K p`, which must make the value positive, and carries.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn factor<const K: i64>(&self) -> FieldLanes<P, N> {
        let mut limbs = [_mm512_setzero_si512(); N];
        for (i, out) in limbs.iter_mut().enumerate() {
            *out = self.0[i].plus(Self::multiple::<K>(i)).value;
        }
        FieldLanes::carried(limbs)
    }
}

impl<P: Prime<N>, const N: usize> FieldLanes<P, N> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn limb(&self, i: usize) -> FpLimb {
        FpLimb { value: self.0[i] }
    }
}

impl<P: Prime<N>, const N: usize> Fp2Lanes<P, N> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn limb(&self, i: usize) -> Limb {
        let [re, im] = &self.0;
        Limb {
            re: re.0[i],
            im: im.0[i],
        }
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
    /// Adds `K p`, which must make the value positive, and carries.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn carried<const K: i64>(&self) -> Fp2Lanes<P, N> {
        self.factor::<K>().element()
    }

    /// Adds `K p`, which must make the value positive, and prepares the element as a factor.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn factor<const K: i64>(&self) -> Factor<P, N> {
        let zero = _mm512_setzero_si512();
        let (mut re, mut im, mut sum) = ([zero; N], [zero; N], [zero; N]);
        for (i, limb) in self.0.iter().enumerate() {
            let limb = limb.plus(Self::multiple::<K>(i));
            (re[i], im[i]) = (limb.re, limb.im);
            sum[i] = _mm512_add_epi64(limb.re, limb.im);
        }
        Factor([
            FieldLanes::carried(re),
            FieldLanes::carried(im),
            FieldLanes::carried(sum),
        ])
    }

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
        let (re, im) = (index(top.re), index(top.im));
        Self::each(|i| {
            let (low, high) = (load(&table[i][0]), load(&table[i][1]));
            self.limb(i).plus(Self::multiple::<K>(i)).minus(Limb {
                re: _mm512_permutex2var_epi64(low, re, high),
                im: _mm512_permutex2var_epi64(low, im, high),
            })
        })
    }
}

/// Eight elements of Fp2, prepared as factors: strict real parts, imaginary parts, and their sums.
#[derive(Clone, Copy)]
pub(crate) struct Factor<P, const N: usize>(pub(crate) [FieldLanes<P, N>; 3]);

impl<P: Prime<N>, const N: usize> Factor<P, N> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn new(element: &Fp2Lanes<P, N>) -> Self {
        Loose::each(|i| element.limb(i)).factor::<0>()
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn element(&self) -> Fp2Lanes<P, N> {
        Fp2Lanes([self.0[0], self.0[1]])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn limb(&self, i: usize) -> Limb {
        Limb {
            re: self.0[0].0[i],
            im: self.0[1].0[i],
        }
    }
}

/// A factor whose lanes are selected from two factors by `lanes`: 0 to 7 select from the first, 8 to 15 from the
/// second.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a, P, const N: usize> {
    pub(crate) of: [&'a Factor<P, N>; 2],
    pub(crate) lanes: &'a [u64; LANES],
}

impl<'a, P, const N: usize> Operand<'a, P, N> {
    pub(crate) fn new(of: [&'a Factor<P, N>; 2], lanes: &'a [u64; LANES]) -> Self {
        Self { of, lanes }
    }
}
