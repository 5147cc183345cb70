//! Sums of products in Fp2 with one reduction.

use core::arch::x86_64::*;

use super::field::{INVERSE, LIMBS, Limbs, Modulus, mul_uncarried};
use crate::lanes::{
    LIMB_MASK,
    field::{Degree, Prime, Two},
    load, loose, permuted,
};

pub(super) use crate::lanes::loose::Limb;

pub(super) type Loose<D = Two> = loose::Loose<Modulus, LIMBS, D>;
pub(super) type Factor<D = Two> = loose::Factor<Modulus, LIMBS, D>;
pub(super) type Operand<'a, D = Two> = loose::Operand<'a, Modulus, LIMBS, D>;

/// Eight double-width values in columns that may be negative.
struct Wide([__m512i; 2 * LIMBS]);

impl Loose {
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
}

impl<D: Degree> Loose<D> {
    /// Lane-wise products, in `-0.1 p .. 1.1 p`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn product(x: &Factor<D>, y: &Factor<D>) -> Self {
        if D::DEGREE == 1 {
            return product_in_fp(&x.0[0], &y.0[0]);
        }
        karatsuba(
            &Wide::product(&x.0[0], &y.0[0]),
            &Wide::product(&x.0[1], &y.0[1]),
            &Wide::product(&x.0[2], &y.0[2]),
        )
    }

    /// The same for operands.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn product_of_operands(x: Operand<'_, D>, y: Operand<'_, D>) -> Self {
        if D::DEGREE == 1 {
            let permuted = |x: Operand<'_, D>| permuted(&x.of[0].0[0], &x.of[1].0[0], x.lanes);
            return product_in_fp(&permuted(x), &permuted(y));
        }
        let (x, y) = ([x], [y]);
        karatsuba(
            &Wide::sum(&x, &y, 0),
            &Wide::sum(&x, &y, 1),
            &Wide::sum(&x, &y, 2),
        )
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn product_in_fp<D: Degree>(x: &Limbs, y: &Limbs) -> Loose<D> {
    let product = mul_uncarried(x, y);
    Loose::each(|i| Limb::each(|_| product[i]))
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
    fn product(a: &[__m512i; LIMBS], b: &[__m512i; LIMBS]) -> Self {
        let mut columns = [_mm512_setzero_si512(); 2 * LIMBS];
        for_each_limb!(add_row, &mut columns, a, |i| b[i]);
        Self(columns)
    }

    /// Sums the products of this part of each operand.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn sum<D: Degree>(x: &[Operand<'_, D>], y: &[Operand<'_, D>], part: usize) -> Self {
        let mut columns = [_mm512_setzero_si512(); 2 * LIMBS];
        for (x, y) in x.iter().zip(y) {
            let [x0, x1] = x.of.map(|x| &x.0[part]);
            let [y0, y1] = y.of.map(|y| &y.0[part]);
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
fn karatsuba<D: Degree>(re: &Wide, im: &Wide, sum: &Wide) -> Loose<D> {
    let product = [reduced(re, [im]), reduced(sum, [re, im])];
    Loose::each(|i| Limb::each(|k| product[k][i]))
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
    for (p, limb) in p.iter_mut().zip(Modulus::LIMBS) {
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
