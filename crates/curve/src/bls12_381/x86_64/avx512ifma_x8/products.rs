//! Sums of products in Fp2 with one reduction, and sums of results without carries.

use core::arch::x86_64::*;

use super::field::{Fp2Lanes, FpLanes, INVERSE, LIMBS, MODULUS};
use crate::lanes::{LANES, LIMB_MASK, carried, load, times};

/// Defines a limb of eight field elements, by its parts, and the elements. Limbs may be negative or exceed 2^52.
macro_rules! uncarried {
    ($limb:ident { $($part:ident),+ }, $loose:ident) => {
        #[derive(Clone, Copy)]
        pub(super) struct $limb {
            $($part: __m512i),+
        }

        impl $limb {
            /// Returns limb i of `K p` for all parts.
            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(super) fn multiple<const K: i64>(i: usize) -> Self {
                let limb = _mm512_set1_epi64(K * MODULUS[i]);
                Self { $($part: limb),+ }
            }

            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(super) fn plus(self, other: Self) -> Self {
                Self { $($part: _mm512_add_epi64(self.$part, other.$part)),+ }
            }

            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(super) fn minus(self, other: Self) -> Self {
                Self { $($part: _mm512_sub_epi64(self.$part, other.$part)),+ }
            }

            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(super) fn times<const A: u32>(self) -> Self {
                Self { $($part: times::<A>(self.$part)),+ }
            }

            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(super) fn permuted(self, lanes: &[u64; LANES]) -> Self {
                let lanes = load(lanes);
                Self { $($part: _mm512_permutexvar_epi64(lanes, self.$part)),+ }
            }

            /// Multiplies each lane by a power of two.
            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(super) fn shifted(self, bits: &[u64; LANES]) -> Self {
                let bits = load(bits);
                Self { $($part: _mm512_sllv_epi64(self.$part, bits)),+ }
            }

            /// Returns `yes` in the lanes of `mask`, `self` in the others.
            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(super) fn select(self, mask: __mmask8, yes: Self) -> Self {
                Self { $($part: _mm512_mask_mov_epi64(self.$part, mask, yes.$part)),+ }
            }

            /// Adds `other` in the lanes of `mask`.
            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(super) fn plus_where(self, mask: __mmask8, other: Self) -> Self {
                Self { $($part: _mm512_mask_add_epi64(self.$part, mask, self.$part, other.$part)),+ }
            }

            /// Subtracts `other` in the lanes of `mask`.
            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(super) fn minus_where(self, mask: __mmask8, other: Self) -> Self {
                Self { $($part: _mm512_mask_sub_epi64(self.$part, mask, self.$part, other.$part)),+ }
            }
        }

        pub(super) struct $loose([$limb; LIMBS]);

        impl $loose {
            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(super) fn each(f: impl Fn(usize) -> $limb) -> Self {
                let mut limbs = [$limb { $($part: _mm512_setzero_si512()),+ }; LIMBS];
                for (i, limb) in limbs.iter_mut().enumerate() {
                    *limb = f(i);
                }
                Self(limbs)
            }

            #[inline]
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(super) fn limb(&self, i: usize) -> $limb {
                self.0[i]
            }
        }
    };
}

uncarried!(FpLimb { value }, FpLoose);
uncarried!(Limb { re, im }, Loose);

impl Limb {
    /// Multiplies by xi = 1 + u, whose sixth root is w.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn times_xi(self) -> Self {
        Self {
            re: _mm512_sub_epi64(self.re, self.im),
            im: _mm512_add_epi64(self.re, self.im),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn conjugate(self) -> Self {
        Self {
            re: self.re,
            im: _mm512_sub_epi64(_mm512_setzero_si512(), self.im),
        }
    }

    /// Selects lanes: indices 0 to 7 select from `self`, 8 to 15 from `other`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn permuted_with(self, other: Self, lanes: &[u64; LANES]) -> Self {
        let lanes = load(lanes);
        Self {
            re: _mm512_permutex2var_epi64(self.re, lanes, other.re),
            im: _mm512_permutex2var_epi64(self.im, lanes, other.im),
        }
    }
}

impl FpLoose {
    /// Adds `K p`, which must make the value positive, and carries to strict limbs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn factor<const K: i64>(&self) -> FpLanes {
        let mut limbs = [_mm512_setzero_si512(); LIMBS];
        for (i, out) in limbs.iter_mut().enumerate() {
            *out = self.0[i].plus(FpLimb::multiple::<K>(i)).value;
        }
        FpLanes(carried(limbs))
    }

    /// Lane-wise products, in `0 .. 1.1 p`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn product(x: &FpLanes, y: &FpLanes) -> Self {
        let product = x.mul_uncarried(y);
        Self::each(|i| FpLimb { value: product[i] })
    }
}

impl FpLanes {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn limb(&self, i: usize) -> FpLimb {
        FpLimb { value: self.0[i] }
    }
}

/// Eight elements of Fp2, prepared as factors: strict real parts, imaginary parts, and their sums.
#[derive(Clone, Copy)]
pub(super) struct Factor([FpLanes; 3]);

/// The lowest bit of the top limb that [`Loose::reduce`] uses: that of 2^382.
const GRANULE: u32 = 382 - 52 * (LIMBS as u32 - 1);
/// Bits of the carry from the limb below into the top limb.
const CARRIED: u32 = 10;

/// Entry j is the highest multiple of p not above `j 2^382`, with a margin for the error of [`Loose::reduce`]; limb by
/// limb, in two halves.
const fn multiples() -> [[[u64; LANES]; 2]; LIMBS] {
    let mut table = [[[0; LANES]; 2]; LIMBS];
    let (mut multiple, mut j) = ([0; LIMBS], 0);
    while j < 2 * LANES {
        loop {
            let (mut next, mut i) = (multiple, 0);
            while i < LIMBS {
                next[i] += MODULUS[i];
                if i < LIMBS - 1 && next[i] > LIMB_MASK {
                    next[i] &= LIMB_MASK;
                    next[i + 1] += 1;
                }
                i += 1;
            }
            if next[LIMBS - 1] + (4 << CARRIED) > (j as i64) << GRANULE {
                break;
            }
            multiple = next;
        }
        let mut i = 0;
        while i < LIMBS {
            table[i][j / LANES][j % LANES] = multiple[i].cast_unsigned();
            i += 1;
        }
        j += 1;
    }
    table
}

/// Eight double-width values in columns that may be negative.
struct Wide([__m512i; 2 * LIMBS]);

/// A factor whose lanes are selected from two factors by `lanes`: 0 to 7 select from the first, 8 to 15 from the
/// second.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    of: [&'a Factor; 2],
    lanes: &'a [u64; LANES],
}

impl<'a> Operand<'a> {
    pub(super) fn new(of: [&'a Factor; 2], lanes: &'a [u64; LANES]) -> Self {
        Self { of, lanes }
    }
}

impl Loose {
    /// Adds `K p`, which must make the value positive, and carries to strict limbs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn factor<const K: i64>(&self) -> Factor {
        let zero = _mm512_setzero_si512();
        let (mut re, mut im, mut sum) = ([zero; LIMBS], [zero; LIMBS], [zero; LIMBS]);
        for (i, limb) in self.0.iter().enumerate() {
            let limb = limb.plus(Limb::multiple::<K>(i));
            (re[i], im[i]) = (limb.re, limb.im);
            sum[i] = _mm512_add_epi64(limb.re, limb.im);
        }
        Factor([
            FpLanes(carried(re)),
            FpLanes(carried(im)),
            FpLanes(carried(sum)),
        ])
    }

    /// Like [`Self::factor`], for values from 0 to 38 p. The result is below 3.5 p.
    ///
    /// Subtracts the multiple of p that the top limb selects. The top limb is not carried yet, so it may be low by up
    /// to 2^CARRIED. This amount is added before the selection; the margin of the table compensates if that was too
    /// much.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn reduce(&self) -> Factor {
        let table = const { &multiples() };
        let index = |top: __m512i| {
            _mm512_srli_epi64::<GRANULE>(_mm512_add_epi64(top, _mm512_set1_epi64(1 << CARRIED)))
        };
        let top = self.0[LIMBS - 1];
        let (re, im) = (index(top.re), index(top.im));
        Self::each(|i| {
            let (low, high) = (load(&table[i][0]), load(&table[i][1]));
            self.limb(i).minus(Limb {
                re: _mm512_permutex2var_epi64(low, re, high),
                im: _mm512_permutex2var_epi64(low, im, high),
            })
        })
        .factor::<0>()
    }

    /// `sum x[n] y[n]` for at most 68 products, whose columns fit in 64 bits with a sign, in `-0.1 p .. 1.1 p`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn dot(x: &[Operand<'_>], y: &[Operand<'_>]) -> Self {
        karatsuba(
            &Wide::sum(x, y, 0),
            &Wide::sum(x, y, 1),
            &Wide::sum(x, y, 2),
        )
    }

    /// Lane-wise products, with the bounds of [`Self::dot`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn product(Factor(x): &Factor, Factor(y): &Factor) -> Self {
        karatsuba(
            &Wide::product(&x[0], &y[0]),
            &Wide::product(&x[1], &y[1]),
            &Wide::product(&x[2], &y[2]),
        )
    }
}

impl Factor {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn new(Fp2Lanes([re, im]): &Fp2Lanes) -> Self {
        Loose::each(|i| Limb {
            re: re.0[i],
            im: im.0[i],
        })
        .factor::<0>()
    }

    pub(super) fn element(&self) -> Fp2Lanes {
        Fp2Lanes([self.0[0], self.0[1]])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn limb(&self, i: usize) -> Limb {
        Limb {
            re: self.0[0].0[i],
            im: self.0[1].0[i],
        }
    }
}

/// Calls `f::<I>` for each limb. With a loop, LLVM would keep the vectors in memory.
macro_rules! for_each_limb {
    ($f:ident, $columns:expr, $a:expr, $b:expr) => {
        $f::<0>($columns, $a, $b);
        $f::<1>($columns, $a, $b);
        $f::<2>($columns, $a, $b);
        $f::<3>($columns, $a, $b);
        $f::<4>($columns, $a, $b);
        $f::<5>($columns, $a, $b);
        $f::<6>($columns, $a, $b);
        $f::<7>($columns, $a, $b);
    };
}

/// Adds `a b(I) 2^(52 I)`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn add_row<const I: usize>(
    columns: &mut [__m512i; 2 * LIMBS],
    a: &[__m512i; LIMBS],
    b: impl Fn(usize) -> __m512i,
) {
    let b = b(I);
    for j in 0..LIMBS {
        columns[I + j] = _mm512_madd52lo_epu64(columns[I + j], a[j], b);
    }
    for j in 0..LIMBS {
        columns[I + j + 1] = _mm512_madd52hi_epu64(columns[I + j + 1], a[j], b);
    }
}

/// Adds the multiple of p that clears column I, and propagates its carry.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn clear_column<const I: usize>(
    columns: &mut [__m512i; 2 * LIMBS],
    p: &[__m512i; LIMBS],
    inverse: __m512i,
) {
    let zero = _mm512_setzero_si512();
    let quotient = _mm512_madd52lo_epu64(zero, columns[I], inverse);
    // After adding the multiple of p, the low bits are 2^52 unless they were zero.
    let mask = _mm512_set1_epi64(LIMB_MASK);
    let carry = _mm512_srai_epi64::<52>(_mm512_add_epi64(columns[I], mask));
    // The next column is on the critical path, so its parts are computed in parallel.
    columns[I + 1] = _mm512_add_epi64(
        _mm512_madd52lo_epu64(_mm512_add_epi64(columns[I + 1], carry), quotient, p[1]),
        _mm512_madd52hi_epu64(zero, quotient, p[0]),
    );
    for j in 2..LIMBS {
        columns[I + j] = _mm512_madd52lo_epu64(columns[I + j], quotient, p[j]);
    }
    for j in 2..=LIMBS {
        columns[I + j] = _mm512_madd52hi_epu64(columns[I + j], quotient, p[j - 1]);
    }
}

impl Wide {
    /// Not inlined because it is long; the same holds for the next functions.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn product(a: &FpLanes, b: &FpLanes) -> Self {
        let mut columns = [_mm512_setzero_si512(); 2 * LIMBS];
        for_each_limb!(add_row, &mut columns, &a.0, |i| b.0[i]);
        Self(columns)
    }

    /// Sums the products of this part of each operand.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn sum(x: &[Operand<'_>], y: &[Operand<'_>], part: usize) -> Self {
        let mut columns = [_mm512_setzero_si512(); 2 * LIMBS];
        for (x, y) in x.iter().zip(y) {
            let [x0, x1] = x.of.map(|x| &x.0[part].0);
            let [y0, y1] = y.of.map(|y| &y.0[part].0);
            let (x_lanes, y_lanes) = (load(x.lanes), load(y.lanes));
            let mut permuted = *x0;
            for (limb, other) in permuted.iter_mut().zip(x1) {
                *limb = _mm512_permutex2var_epi64(*limb, x_lanes, *other);
            }
            for_each_limb!(add_row, &mut columns, &permuted, |i| {
                _mm512_permutex2var_epi64(y0[i], y_lanes, y1[i])
            });
        }
        Self(columns)
    }
}

/// Computes products in Fp2, divided by 2^416 modulo p, from those of the real parts, the imaginary parts, and their
/// sums.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn karatsuba(re: &Wide, im: &Wide, sum: &Wide) -> Loose {
    let (re, im) = (reduced(re, [im]), reduced(sum, [re, im]));
    Loose::each(|i| Limb {
        re: re[i],
        im: im[i],
    })
}

/// Subtracts the second values and divides by 2^416 modulo p: a value v becomes one in `v / 2^416 .. v / 2^416 + p`.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma")]
fn reduced<const N: usize>(from: &Wide, subtrahends: [&Wide; N]) -> [__m512i; LIMBS] {
    let zero = _mm512_setzero_si512();
    let mut columns = [zero; 2 * LIMBS];
    for (i, column) in columns.iter_mut().enumerate() {
        *column = from.0[i];
        for subtrahend in subtrahends {
            *column = _mm512_sub_epi64(*column, subtrahend.0[i]);
        }
    }
    let mut p = [zero; LIMBS];
    for (p, limb) in p.iter_mut().zip(MODULUS) {
        *p = _mm512_set1_epi64(limb);
    }
    let inverse = _mm512_set1_epi64(INVERSE);
    for_each_limb!(clear_column, &mut columns, &p, inverse);
    let mut high = [zero; LIMBS];
    for (high, column) in high.iter_mut().zip(&columns[LIMBS..]) {
        *high = *column;
    }
    high
}
