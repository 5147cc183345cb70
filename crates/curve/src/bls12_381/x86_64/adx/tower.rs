//! Products of Fp12 with lines, and conversions from and to blst's elements.

use blst::{blst_fp6, blst_fp12};

use super::{
    super::super::fields::Element,
    curves::{AdxCurve, G2},
    fp2::Fp2,
};
use crate::{
    field::Field,
    tower::{self, Fp6, Tower, triple_minus_double, triple_plus_double},
};

pub(super) type Fp12 = tower::Fp12<Fp2>;

/// Number of squarings from which it costs less to compute A at the end only.
const COMPRESSED_FROM: usize = 8;

pub(super) fn from_blst(f: &blst_fp12) -> Fp12 {
    let [c0, c1] = f
        .fp6
        .map(|half| Fp6(half.fp2.map(|c| G2::from_blst(&Element(c)))));
    Fp12 { c0, c1 }
}

pub(super) fn to_blst(f: &Fp12) -> blst_fp12 {
    blst_fp12 {
        fp6: [f.c0, f.c1].map(|Fp6(half)| blst_fp6 {
            fp2: half.map(|c| G2::to_blst(&c).0),
        }),
    }
}

impl Fp12 {
    /// Multiplies by `a + b w^2 + w^3`.
    pub(super) fn mul_by_monic_line(&self, [a, b]: &[Fp2; 2]) -> Self {
        let xb = b.mul_by_xi();
        let (a, b, xb) = (a.factor(), b.factor(), xb.factor());
        let f = self.coefficients();
        // w^6 is xi.
        Self::from_coefficients(|k| {
            let (second, b) = if k < 2 {
                (f[k + 4], &xb)
            } else {
                (f[k - 2], &b)
            };
            let third = if k < 3 {
                f[k + 3].mul_by_xi()
            } else {
                *f[k - 3]
            };
            Fp2::dot2([f[k], second], [&a, b]).add(&third)
        })
    }

    /// The p^n-th power.
    pub(super) fn frobenius_times(&self, n: usize) -> Self {
        (0..n).fold(*self, |f, _| f.frobenius())
    }

    /// Squares an element of the cyclotomic subgroup n times. Source: \[Kar13\].
    ///
    /// Let s = w^3, Fp4 = Fp2\[s\], and the element be A + B w + C w^2 over it, where A is (f0, g1), B (g0, f2) and C
    /// (f1, g2). Its square has `3 s C^2 + 2 conj(B)` and `3 B^2 - 2 conj(C)` in place of B and C, which do not depend
    /// on A. In the subgroup, `conj(C) = B^2 - A C`, which gives A. C is 0 only for 1: then B is 0 too, `conj(A) = A^2`,
    /// and A^3 = 1, but 3 does not divide the order.
    pub(super) fn cyclotomic_square_times(&self, n: usize) -> Self {
        let (Fp6([_, f1, f2]), Fp6([g0, _, g2])) = (&self.c0, &self.c1);
        if n < COMPRESSED_FROM || f1.is_zero() && g2.is_zero() {
            return (0..n).fold(*self, |power, _| power.cyclotomic_square());
        }
        let (mut b, mut c) = ([*g0, *f2], [*f1, *g2]);
        for _ in 0..n {
            let [t2, t3] = Fp2::square4(&b[0], &b[1]);
            let [t4, t5] = Fp2::square4(&c[0], &c[1]);
            b = [
                triple_plus_double(&t5.mul_by_xi(), &b[0]),
                triple_minus_double(&t4, &b[1]),
            ];
            c = [
                triple_minus_double(&t2, &c[0]),
                triple_plus_double(&t3, &c[1]),
            ];
        }
        // A = (B^2 - conj(C)) conj(C) / (C conj(C))
        let [t2, t3] = Fp2::square4(&b[0], &b[1]);
        let [x, y] = [t2.sub(&c[0]), t3.add(&c[1])];
        let inverse = c[0].square().sub(&c[1].square().mul_by_xi()).invert();
        let (c0, minus_c1) = (c[0].mul(&inverse), c[1].mul(&inverse).negate());
        let xi_c1 = minus_c1.mul_by_xi();
        let (by_c0, by_c1, by_xi_c1) = (c0.factor(), minus_c1.factor(), xi_c1.factor());
        let f0 = Fp2::dot2([&x, &y], [&by_c0, &by_xi_c1]);
        let g1 = Fp2::dot2([&x, &y], [&by_c1, &by_c0]);
        Self {
            c0: Fp6([f0, c[0], b[1]]),
            c1: Fp6([b[0], g1, c[1]]),
        }
    }
}
