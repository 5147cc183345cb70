//! Fp2 in eight lanes, and Fp12 over it.

use core::arch::x86_64::*;

use super::{
    super::super::tower::{self, Fp6, frobenius_factor},
    field::{Field, Loose, Wide},
};
use crate::{
    lanes::{
        LANES, load,
        tower::{ROTATED, SQUARE},
    },
    montgomery::Adx,
};

/// Lanes 1, 3, 5.
const ODD: __mmask8 = 0b10_1010;

/// Eight elements `re + im u`.
#[derive(Clone, Copy)]
pub(super) struct Fp2 {
    pub(super) re: Field,
    pub(super) im: Field,
}

impl Fp2 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn zero() -> Self {
        Self {
            re: Field::zero(),
            im: Field::zero(),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn one() -> Self {
        Self {
            re: Field::one(),
            im: Field::zero(),
        }
    }

    /// Loads elements. Below 1.1 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(elements: &[Option<tower::Fp2<Adx>>; LANES]) -> Self {
        Self {
            re: Field::load(&elements.map(|e| e.map(|e| e.c0))),
            im: Field::load(&elements.map(|e| e.map(|e| e.c1))),
        }
    }

    /// Loads 2^-4 times the elements. Below p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load_sixteenth(elements: &[Option<tower::Fp2<Adx>>; LANES]) -> Self {
        Self {
            re: Field::load_sixteenth(&elements.map(|e| e.map(|e| e.c0))),
            im: Field::load_sixteenth(&elements.map(|e| e.map(|e| e.c1))),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn store(&self) -> [tower::Fp2<Adx>; LANES] {
        let (re, im) = (self.re.store(), self.im.store());
        core::array::from_fn(|lane| tower::Fp2 {
            c0: re[lane],
            c1: im[lane],
        })
    }

    /// Applies a function to both coefficients.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn map(&self, f: impl Fn(&Field) -> Field) -> Self {
        Self {
            re: f(&self.re),
            im: f(&self.im),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn zip(&self, other: &Self, f: impl Fn(&Field, &Field) -> Field) -> Self {
        Self {
            re: f(&self.re, &other.re),
            im: f(&self.im, &other.im),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn add(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a.add(b))
    }

    /// `self - other + k p`
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn sub(&self, other: &Self, k: i64) -> Self {
        self.zip(other, |a, b| a.loose().minus(b).plus_p(k).carried())
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn doubled<const N: u32>(&self) -> Self {
        self.map(|a| a.loose().doubled::<N>().carried())
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn tripled(&self) -> Self {
        self.map(|a| a.loose().tripled().carried())
    }

    /// Multiplies by a field element.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn scale(&self, factor: &Field) -> Self {
        self.map(|a| a.mul(factor))
    }

    /// The product, below `(2 + a b / 84) p`. `a b` must be at most 84.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, other: &Self) -> Self {
        let sum = |a: &Self| a.re.add(&a.im);
        let [re, im] = karatsuba(
            self.re.wide_mul(&other.re),
            self.im.wide_mul(&other.im),
            sum(self).wide_mul(&sum(other)),
        );
        Self {
            re: re.reduced().plus_p(1).carried(),
            im: im.reduced().carried(),
        }
    }

    /// The square, below `(1 + 2 a (a + k) / 84) p`. k must be at least a.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&self, k: i64) -> Self {
        let difference = self.re.loose().minus(&self.im).plus_p(k).carried();
        let twice = self.re.loose().doubled::<1>().carried();
        Self {
            re: self.re.add(&self.im).mul(&difference),
            im: twice.mul(&self.im),
        }
    }

    /// Multiplies by xi = 9 + u. For coefficients below 3 p, the result is below 3.7 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn mul_by_xi(&self) -> Self {
        let nine = |a: &Field| a.loose().doubled::<3>().plus(a);
        Self {
            re: nine(&self.re).minus(&self.im).plus_p(3).reduce_partial(),
            im: nine(&self.im).plus(&self.re).reduce_partial(),
        }
    }

    /// Prepares the element as a factor.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn factor(&self) -> Factor {
        Factor([self.re, self.im, self.re.add(&self.im)])
    }
}

/// Computes `(re, im)` of a product from `a.re b.re`, `a.im b.im` and `(a.re + a.im)(b.re + b.im)`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn karatsuba(re: Wide, im: Wide, sum: Wide) -> [Wide; 2] {
    [re.minus(&im), sum.minus(&re).minus(&im)]
}

/// An element of Fp2: real part, imaginary part, their sum.
#[derive(Clone, Copy)]
pub(super) struct Factor([Field; 3]);

/// A factor whose lanes are selected from two factors by `lanes`.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    of: [&'a Factor; 2],
    lanes: __m512i,
}

impl<'a> Operand<'a> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn new(of: [&'a Factor; 2], lanes: &[u64; LANES]) -> Self {
        Self {
            of,
            lanes: load(lanes),
        }
    }

    /// Broadcasts one lane to all.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn splat(of: &'a Factor, lane: usize) -> Self {
        Self {
            of: [of, of],
            lanes: _mm512_set1_epi64(lane as i64),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn part(&self, part: usize) -> [__m512i; 5] {
        self.of[0].0[part].permuted(&self.of[1].0[part], self.lanes)
    }
}

/// Returns the real and imaginary parts of `sum x[n] y[n]`. For values below a p and b p, they are in `-s..s` and `0..2
/// s`, plus up to p, with `s = (sum a b / 84) p`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn dot<const N: usize>(x: &[Operand<'_>; N], y: &[Operand<'_>; N]) -> [Loose; 2] {
    let wide = |part: usize| Wide::sum::<N>(|n| (x[n].part(part), y[n].part(part)));
    let [re, im] = karatsuba(wide(0), wide(1), wide(2));
    [re.reduced(), im.reduced()]
}

/// An element of Fp12: lane k holds the coefficient of w^k; lanes 6 and 7 are zero modulo p. Coefficients are below 3
/// p.
#[derive(Clone, Copy)]
pub(super) struct Fp12(Fp2);

/// Index tables for the square in the cyclotomic subgroup. In the notation of the scalar tower, even lanes hold f0, f1,
/// f2 and receive `a^2 + xi b^2` of (f0, g1), (g0, f2), (f1, g2); odd lanes hold g0, g1, g2 and receive `2 a b` of (f1,
/// g2) times xi, (f0, g1), (g0, f2).
const CYCLOTOMIC: [[[u64; LANES]; 2]; 2] = [
    [
        [0, 8 + 2, 1, 8, 2, 8 + 1, 6, 6],
        [0, 8 + 5, 1, 3, 2, 4, 6, 6],
    ],
    [
        [3, 6, 4, 6, 5, 6, 6, 6],
        [8 + 3, 6, 8 + 4, 6, 8 + 5, 6, 6, 6],
    ],
];

impl Fp12 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn one() -> Self {
        let zero = Field::zero();
        Self(Fp2 {
            re: zero.select(1, &Field::one()),
            im: zero,
        })
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(f: &tower::Fp12<Adx>) -> Self {
        let (Fp6([f0, f1, f2]), Fp6([g0, g1, g2])) = (f.c0, f.c1);
        let lanes = [f0, g0, f1, g1, f2, g2].map(Some);
        let lanes = core::array::from_fn(|k| lanes.get(k).copied().flatten());
        Self(Fp2::load(&lanes))
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn store(&self) -> tower::Fp12<Adx> {
        let [f0, g0, f1, g1, f2, g2, ..] = self.0.store();
        tower::Fp12 {
            c0: Fp6([f0, f1, f2]),
            c1: Fp6([g0, g1, g2]),
        }
    }

    /// Converts a sum of products with s below p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn from_dot([re, im]: [Loose; 2]) -> Self {
        Self(Fp2 {
            re: re.plus_p(1).carried(),
            im: im.carried(),
        })
    }

    /// s = 3 (3 + 5 * 3.7) / 84 < 0.8, as for every product here.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, other: &Self) -> Self {
        let a = self.0.factor();
        let (b, xb) = (other.0.factor(), other.0.mul_by_xi().factor());
        let x = core::array::from_fn(|n| Operand::splat(&a, n));
        let y = core::array::from_fn(|n| Operand::new([&b, &xb], &ROTATED[n]));
        Self::from_dot(dot::<6>(&x, &y))
    }

    /// Multiplies by `l[0] + l[1] w + l[2] w^3`, each coefficient in all lanes. Their bounds may add up to 20 p.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul_by_line(&self, line: &[Operand<'_>; 3]) -> Self {
        let (b, xb) = (self.0.factor(), self.0.mul_by_xi().factor());
        let y = core::array::from_fn(|n| Operand::new([&b, &xb], &ROTATED[[0, 1, 3][n]]));
        Self::from_dot(dot::<3>(line, &y))
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&self) -> Self {
        let a = self.0.factor();
        let twice = self.0.doubled::<1>().factor();
        let xa = self.0.mul_by_xi().factor();
        let x = core::array::from_fn(|n| Operand::new([&a, &twice], &SQUARE[n][0]));
        let y = core::array::from_fn(|n| Operand::new([&a, &xa], &SQUARE[n][1]));
        Self::from_dot(dot::<4>(&x, &y))
    }

    /// The square of an element of the cyclotomic subgroup. Source: \[GS10\] §3.2.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn cyclotomic_square(&self) -> Self {
        let a = self.0.factor();
        let twice = self.0.doubled::<1>().factor();
        let xa = self.0.mul_by_xi().factor();
        let x = core::array::from_fn(|n| Operand::new([&a, &twice], &CYCLOTOMIC[n][0]));
        let y = core::array::from_fn(|n| Operand::new([&a, &xa], &CYCLOTOMIC[n][1]));
        let [re, im] = dot::<2>(&x, &y);
        // 3 t - 2 f in even lanes, 3 t + 2 g in odd ones: t in -0.3..1.3 and 0..1.6 p.
        let combine = |t: Loose, f: &Field| {
            let twice = f.loose().doubled::<1>();
            t.tripled().plus_p(7).plus_or_minus(twice, ODD).reduce()
        };
        Self(Fp2 {
            re: combine(re, &self.0.re),
            im: combine(im, &self.0.im),
        })
    }

    /// The p^6-th power. In the cyclotomic subgroup this is the inverse.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn conjugate(&self) -> Self {
        let zero = Fp2::zero();
        let negative = zero.sub(&self.0, 3);
        Self(self.0.zip(&negative, |a, b| a.select(ODD, b)))
    }

    /// The p-th power.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn frobenius(&self) -> Self {
        let conjugate = Fp2 {
            re: self.0.re,
            im: Field::zero().loose().minus(&self.0.im).plus_p(3).carried(),
        };
        let factors: [Option<tower::Fp2<Adx>>; LANES] = [
            Some(crate::field::Field::ONE),
            Some(const { frobenius_factor(1) }),
            Some(const { frobenius_factor(2) }),
            Some(const { frobenius_factor(3) }),
            Some(const { frobenius_factor(4) }),
            Some(const { frobenius_factor(5) }),
            None,
            None,
        ];
        Self(conjugate.mul(&Fp2::load(&factors)))
    }
}
