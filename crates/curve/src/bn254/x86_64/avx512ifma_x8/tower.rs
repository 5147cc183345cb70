//! Fp2 in eight lanes, and Fp12 over it.

use core::arch::x86_64::*;

use super::{
    super::super::{P, tower},
    field::{Field, Wide},
};
use crate::{
    lanes::{
        LANES, field,
        loose::{self, Limb},
        permuted,
        tower::{EVEN, ODD, ROTATED, SPLAT, SQUARE},
    },
    montgomery::Adx,
    tower::{Fp6, Tower},
};

pub(super) type Fp2 = field::Fp2Lanes<P, 5>;
pub(super) type Loose = loose::Loose<P, 5>;
pub(super) type Factor = loose::Factor<P, 5>;
type Operand<'a> = loose::Operand<'a, P, 5>;

impl Fp2 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn one() -> Self {
        Self::new([Field::one(), Field::zero()])
    }

    /// Loads elements. Below 1.1 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(elements: &[Option<tower::Fp2<Adx>>; LANES]) -> Self {
        Self::new([
            Field::load(&elements.map(|e| e.map(|e| e.c0))),
            Field::load(&elements.map(|e| e.map(|e| e.c1))),
        ])
    }

    /// Loads 2^-4 times the elements. Below p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load_sixteenth(elements: &[Option<tower::Fp2<Adx>>; LANES]) -> Self {
        Self::new([
            Field::load_sixteenth(&elements.map(|e| e.map(|e| e.c0))),
            Field::load_sixteenth(&elements.map(|e| e.map(|e| e.c1))),
        ])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn store(&self) -> [tower::Fp2<Adx>; LANES] {
        let [re, im] = self.coefficients();
        let (re, im) = (re.store(), im.store());
        core::array::from_fn(|lane| tower::Fp2 {
            c0: re[lane],
            c1: im[lane],
        })
    }

    /// Multiplies by a field element.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn scale(&self, factor: &Field) -> Self {
        let [re, im] = self.coefficients();
        Self::new([re.mul(factor), im.mul(factor)])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn conjugate<const K: i64>(&self) -> Self {
        let [re, im] = self.coefficients();
        Self::new([re, im.negate_where::<K>(!0)])
    }

    /// The product, below `(2 + a b / 84) p`. `a b` must be at most 84.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, other: &Self) -> Self {
        let ([a, b], [c, d]) = (self.coefficients(), other.coefficients());
        karatsuba(
            a.wide_mul(&c),
            b.wide_mul(&d),
            a.add(&b).wide_mul(&c.add(&d)),
        )
        .carried::<0>()
    }

    /// The square, below `(1 + 2 a (a + K) / 84) p`. K must be above a.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square<const K: i64>(&self) -> Self {
        let [a, b] = self.coefficients();
        Self::new([
            a.add(&b).mul(&a.minus::<1, 1, K>(&b)),
            a.times::<2>().mul(&b),
        ])
    }
}

/// Returns a product in Fp2, given `a.re b.re`, `a.im b.im` and `(a.re + a.im)(b.re + b.im)`; p is added to the real
/// part.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn karatsuba(re: Wide, im: Wide, sum: Wide) -> Loose {
    let (re, im) = (re.minus(&im).reduced(), sum.minus(&re).minus(&im).reduced());
    Loose::each(|i| {
        let Limb([one, _]) = Loose::multiple::<1>(i);
        Limb([_mm512_add_epi64(re[i], one), im[i]])
    })
}

/// Returns `sum x[n] y[n]`. For values below a p and b p, the real part is below `(2 + s) p` and the imaginary part
/// below `(1 + 2 s) p`, with `s = sum a b / 84`, which must be at most 1.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn dot<const N: usize>(x: &[Operand<'_>; N], y: &[Operand<'_>; N]) -> Loose {
    let limbs = |operand: &Operand<'_>, part: usize| {
        let [a, b] = operand.of.map(|factor| &factor.0[part]);
        permuted(a, b, operand.lanes)
    };
    let wide = |part: usize| Wide::sum::<N>(|n| (limbs(&x[n], part), limbs(&y[n], part)));
    karatsuba(wide(0), wide(1), wide(2))
}

/// Multiplies by xi = 9 + u. For coefficients below 3 p, the result is below 3.7 p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn times_xi(f: &Factor) -> Factor {
    Loose::each(|i| f.limb(i).times_xi::<9>())
        .reduce::<255, 3>()
        .factor::<0>()
}

/// An element of Fp12: lane k holds the coefficient of w^k; lanes 6 and 7 are zero modulo p. Coefficients are below 3
/// p.
#[derive(Clone, Copy)]
pub(super) struct Fp12(Factor);

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
        Self(Factor::new(&Fp2::new([
            zero.select(1, &Field::one()),
            zero,
        ])))
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(f: &tower::Fp12<Adx>) -> Self {
        let (Fp6([f0, f1, f2]), Fp6([g0, g1, g2])) = (f.c0, f.c1);
        let lanes = [f0, g0, f1, g1, f2, g2].map(Some);
        let lanes = core::array::from_fn(|k| lanes.get(k).copied().flatten());
        Self(Factor::new(&Fp2::load(&lanes)))
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn store(&self) -> tower::Fp12<Adx> {
        let [f0, g0, f1, g1, f2, g2, ..] = self.0.element().store();
        tower::Fp12 {
            c0: Fp6([f0, f1, f2]),
            c1: Fp6([g0, g1, g2]),
        }
    }

    /// s = 3 (3 + 5 * 3.7) / 84 < 0.8, as for every product here.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, other: &Self) -> Self {
        let (a, b) = (&self.0, &other.0);
        let xb = times_xi(b);
        let x = core::array::from_fn(|n| Operand::new([a, a], &SPLAT[n]));
        let y = core::array::from_fn(|n| Operand::new([b, &xb], &ROTATED[n]));
        Self(dot::<6>(&x, &y).factor::<0>())
    }

    /// Multiplies by `l[0] + l[1] w + l[2] w^3`. Each coefficient is in the given lane. Their bounds may add up to
    /// 20 p.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul_by_line(&self, line: [(&Factor, usize); 3]) -> Self {
        let (b, xb) = (&self.0, times_xi(&self.0));
        let x = line.map(|(l, lane)| Operand::new([l, l], &SPLAT[lane]));
        let y = [0, 1, 3].map(|n| Operand::new([b, &xb], &ROTATED[n]));
        Self(dot::<3>(&x, &y).factor::<0>())
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&self) -> Self {
        let a = &self.0;
        let (twice, xa) = (self.twice(), times_xi(a));
        let x = SQUARE.each_ref().map(|[x, _]| Operand::new([a, &twice], x));
        let y = SQUARE.each_ref().map(|[_, y]| Operand::new([a, &xa], y));
        Self(dot::<4>(&x, &y).factor::<0>())
    }

    /// The square of an element of the cyclotomic subgroup. Source: \[GS10\] §3.2.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn cyclotomic_square(&self) -> Self {
        let a = &self.0;
        let (twice, xa) = (self.twice(), times_xi(a));
        let x = CYCLOTOMIC
            .each_ref()
            .map(|[x, _]| Operand::new([a, &twice], x));
        let y = CYCLOTOMIC
            .each_ref()
            .map(|[_, y]| Operand::new([a, &xa], y));
        let products = dot::<2>(&x, &y);
        // 3 t - 2 f in even lanes, 3 t + 2 g in odd ones: t is in 0..2.3 p.
        let square = Loose::each(|i| {
            let (t, twice) = (products.limb(i).times::<3>(), twice.limb(i));
            t.minus_where::<EVEN>(twice).plus_where::<ODD>(twice)
        });
        Self(square.reduce::<254, 7>().factor::<0>())
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn twice(&self) -> Factor {
        Loose::each(|i| self.0.limb(i).times::<2>()).factor::<0>()
    }

    /// The p^6-th power. In the cyclotomic subgroup this is the inverse.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn conjugate(&self) -> Self {
        Self(Factor::new(&self.0.element().negate_where::<3>(ODD)))
    }

    /// The p-th power.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn frobenius(&self) -> Self {
        let factors: [Option<tower::Fp2<Adx>>; LANES] = [
            Some(crate::field::Field::ONE),
            Some(tower::Fp2::FROBENIUS[0]),
            Some(tower::Fp2::FROBENIUS[1]),
            Some(tower::Fp2::FROBENIUS[2]),
            Some(tower::Fp2::FROBENIUS[3]),
            Some(tower::Fp2::FROBENIUS[4]),
            None,
            None,
        ];
        let conjugate = self.0.element().conjugate::<3>();
        Self(Factor::new(&conjugate.mul(&Fp2::load(&factors))))
    }
}
