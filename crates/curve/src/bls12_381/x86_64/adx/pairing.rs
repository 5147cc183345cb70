//! The Miller loop and the final exponentiation.
//!
//! The parameter of the curve is -X, and r = X^4 - X^2 + 1. Ignoring its sign gives the inverse of the pairing.

use alloc::vec::Vec;

use blst::blst_fp12;

use super::{
    super::{
        super::{
            fields,
            miller::{Step, each_step, line_part},
        },
        endomorphism::Endomorphism,
        final_exponentiation::hard_part,
    },
    curves::{AdxCurve, G1, G2},
    field::Fp,
    fp2::Fp2,
    tower::{Fp12, from_blst, to_blst},
};
use crate::{field::Field, group::Affine, tower::Tower};

/// A pair and its state in the Miller loop. Points of the twist are projective (x = X / Z, y = Y / Z).
struct Pair {
    /// -x and y of the point of G1.
    minus_x: Fp,
    y: Fp,
    q: Affine<G2>,
    /// X, Y, Z.
    point: [Fp2; 3],
}

impl Pair {
    fn new(p: &Affine<fields::G1>, q: &Affine<fields::G2>) -> Self {
        let (p, q) = (G1::affine(p), G2::affine(q));
        Self {
            minus_x: p.x.negate(),
            y: p.y,
            q,
            point: [q.x, q.y, Fp2::ONE],
        }
    }

    /// Doubles the point and returns the tangent: its coefficients of 1, w^2 and w^3.
    ///
    /// As in \[AKLGL11\] §4, with the point's coordinates four times as large: with `e = 3 b' Z^2`, `X' = 2 X Y (Y^2 -
    /// 3 e)`, `Y' = (Y^2 + 3 e)^2 - 12 e^2`, `Z' = 8 Y^3 Z`, and the line `Y^2 - e`, `-3 X^2 x_P`, `2 Y Z y_P`.
    fn double(&mut self) -> [Fp2; 3] {
        let triple = |a: Fp2| a.double().add(&a);
        let [x, y, z] = &self.point;
        let (xy, yy, yz) = (x.mul(y), y.square(), y.mul(z));
        // b' = 4 xi.
        let e = triple(z.square()).double().double().mul_by_xi();
        let (e3, two_yz) = (triple(e), yz.double());
        let line = [
            yy.sub(&e),
            triple(x.square()).scale(&self.minus_x),
            two_yz.scale(&self.y),
        ];
        self.point = [
            xy.double().mul(&yy.sub(&e3)),
            // Y^4 - 3 e (e - 2 Y^2)
            Fp2::difference_of_products(&yy, &yy, &e3, &e.sub(&yy.double())),
            yy.mul(&two_yz).double().double(),
        ];
        line
    }

    /// Adds q to the point and returns the line through both, in the same form.
    ///
    /// As in \[AKLGL11\] §4: with `lambda = X - x_Q Z`, `theta = Y - y_Q Z`, `e = lambda^3`, `g = X lambda^2`, `h = e +
    /// Z theta^2 - 2 g`, `X' = lambda h`, `Y' = theta (g - h) - e Y`, `Z' = Z e`, and the line `theta x_Q - lambda
    /// y_Q`, `-theta x_P`, `lambda y_P`.
    fn add(&mut self) -> [Fp2; 3] {
        let ([x, y, z], q) = (&self.point, &self.q);
        let lambda = x.sub(&q.x.mul(z));
        let theta = y.sub(&q.y.mul(z));
        let line = [
            Fp2::difference_of_products(&theta, &q.x, &lambda, &q.y),
            theta.scale(&self.minus_x),
            lambda.scale(&self.y),
        ];
        let square = lambda.square();
        let (e, g) = (lambda.mul(&square), x.mul(&square));
        let h = e.add(&z.mul(&theta.square())).sub(&g.double());
        self.point = [
            lambda.mul(&h),
            Fp2::difference_of_products(&theta, &g.sub(&h), &e, y),
            z.mul(&e),
        ];
        line
    }

    /// Whether q is in G2. To be called after the Miller loop.
    ///
    /// It is if X q is the opposite of its image. An exceptional addition leaves Z = 0, and later steps preserve it;
    /// this does not happen for points of the subgroup.
    fn is_in_subgroup(&self) -> bool {
        let ([x, y, z], image) = (&self.point, G2::image(&self.q));
        !z.is_zero() && *x == image.x.mul(z) && y.negate() == image.y.mul(z)
    }
}

/// Computes the product of the Miller functions, up to factors that the final exponentiation removes. Returns `None` if
/// a point of the twist is not in G2. The points of G1 must be in the subgroup.
pub(in super::super::super) fn miller_loop(
    pairs: &[(Affine<fields::G1>, Affine<fields::G2>)],
) -> Option<blst_fp12> {
    let mut pairs: Vec<_> = pairs.iter().map(|(p, q)| Pair::new(p, q)).collect();
    let mut f = Fp12::ONE;
    each_step(&mut f, Fp12::square, |f, _, step| {
        for pair in &mut pairs {
            let line = match step {
                Step::Double => pair.double(),
                Step::Add => pair.add(),
            };
            *f = f.mul_by_line::<2>(&line);
        }
    });
    pairs.iter().all(Pair::is_in_subgroup).then(|| to_blst(&f))
}

/// The Miller loop of the KZG check, given x / y and 1 / y of its points of G1, up to factors that the final
/// exponentiation removes.
pub(in super::super::super) fn miller_loop_of_lines(
    factors: &[Option<[fields::Fp; 2]>; 2],
) -> blst_fp12 {
    let factors = factors.map(|factors| factors.map(|factors| factors.map(|c| G1::from_blst(&c))));
    let mut f = Fp12::ONE;
    each_step(&mut f, Fp12::square, |f, i, _| {
        for (point, factors) in factors.iter().enumerate() {
            let Some([by_x, constant]) = factors else {
                continue;
            };
            let [b, a] = [(0, by_x), (1, constant)].map(|(at, factor)| {
                let parts = [0, 1].map(|part| line_part(point, i, at, part));
                Fp2::new(parts.map(|part| Fp::from_montgomery(part.l))).scale(factor)
            });
            *f = f.mul_by_monic_line(&[a, b]);
        }
    });
    to_blst(&f)
}

/// Raises f to the power `(p^6 - 1)(p^2 + 1)`, which is in the cyclotomic subgroup.
pub(in super::super) fn easy_part(f: &blst_fp12) -> blst_fp12 {
    let f = from_blst(f);
    let f = f.conjugate().mul(&f.invert());
    to_blst(&f.frobenius_times(2).mul(&f))
}

/// The p^n-th power.
pub(in super::super) fn frobenius(f: &blst_fp12, n: usize) -> blst_fp12 {
    to_blst(&from_blst(f).frobenius_times(n))
}

/// Whether the final exponentiation of `f` gives one.
pub(in super::super::super) fn final_exponentiation_is_one(f: &blst_fp12) -> bool {
    let power = hard_part(
        &from_blst(&easy_part(f)),
        Fp12::mul,
        Fp12::cyclotomic_square_times,
        Fp12::conjugate,
        Fp12::frobenius_times,
    );
    power == Fp12::ONE
}
