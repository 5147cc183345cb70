//! The optimal ate pairing of bn254, as a check that a product of pairings is one.
//!
//! One Miller loop for all pairs, so its squarings are shared. Points of the twist are projective
//! (x = X / Z, y = Y / Z); each step gives the line through them with what is left to do for the point of G1.
//!
//! Source: \[Vercauteren10\] (optimal ate), \[AKLGL11\] §4 (steps on the twist), \[FKR11\] (hard part of the final exponent),
//! \[EHGP22\] §4 (membership in G2).
//! Constant time: no, public data only.

use super::{
    Fp, G1, G2,
    tower::{Fp2, Fp12, Line, frobenius_factor},
};
use crate::{
    field::Field,
    group::{Affine, Curve, Jacobian},
    montgomery::Kernel,
};

/// The parameter of the curve: p, the order and the loop are polynomials in it.
const X: u64 = 0x44e9_92b4_4a69_09f1;

/// Digits of 6 X + 2 in non-adjacent form, the highest, 1, left out, the others from high to low.
const LOOP: [i8; 65] = [
    0, -1, 0, 1, 0, 0, 0, -1, 0, -1, 0, 0, 0, -1, 0, 1, 0, -1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0,
    -1, 0, 1, 0, 0, -1, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, -1, 0, -1, 0, 0, 1, 0, 0, 0, -1, 0, 0, -1,
    0, 1, 0, 1, 0, 0, 0,
];

/// A pair, and where its loop is.
#[derive(Clone, Copy)]
pub(crate) struct Pair<K: Kernel> {
    p: Affine<G1<K>>,
    q: Affine<G2<K>>,
    x: Fp2<K>,
    y: Fp2<K>,
    z: Fp2<K>,
}

impl<K: Kernel> Pair<K> {
    /// What fills an array before there are pairs.
    pub(crate) const EMPTY: Self = Self {
        p: Affine {
            x: Fp::ZERO,
            y: Fp::ZERO,
        },
        q: Affine {
            x: Fp2::ZERO,
            y: Fp2::ZERO,
        },
        x: Fp2::ZERO,
        y: Fp2::ZERO,
        z: Fp2::ZERO,
    };

    /// Both must be in the groups.
    pub(crate) fn new(p: Affine<G1<K>>, q: Affine<G2<K>>) -> Self {
        Self {
            p,
            q,
            x: q.x,
            y: q.y,
            z: Fp2::ONE,
        }
    }

    /// Doubles the point and gives the tangent at p.
    fn double(&mut self) -> Line<K> {
        let a = self.x.mul(&self.y).half();
        let b = self.y.square();
        let c = self.z.square();
        let e = <G2<K> as Curve>::b().mul(&c.double().add(&c));
        let f = e.double().add(&e);
        let g = b.add(&f).half();
        let h = self.y.add(&self.z).square().sub(&b.add(&c));
        let i = e.sub(&b);
        let j = self.x.square();
        let ee = e.square();
        self.x = a.mul(&b.sub(&f));
        self.y = g.square().sub(&ee.double().add(&ee));
        self.z = b.mul(&h);
        [
            h.negate().scale(&self.p.y),
            j.double().add(&j).scale(&self.p.x),
            i,
        ]
    }

    /// Adds q and gives the line through both at p.
    fn add(&mut self, q: &Affine<G2<K>>) -> Line<K> {
        let theta = self.y.sub(&q.y.mul(&self.z));
        let lambda = self.x.sub(&q.x.mul(&self.z));
        let c = theta.square();
        let d = lambda.square();
        let e = lambda.mul(&d);
        let f = self.z.mul(&c);
        let g = self.x.mul(&d);
        let h = e.add(&f).sub(&g.double());
        self.x = lambda.mul(&h);
        self.y = theta.mul(&g.sub(&h)).sub(&e.mul(&self.y));
        self.z = self.z.mul(&e);
        let j = theta.mul(&q.x).sub(&lambda.mul(&q.y));
        [lambda.scale(&self.p.y), theta.negate().scale(&self.p.x), j]
    }
}

/// The endomorphism of the twist that is the p-th power on the curve over Fp12.
fn psi<K: Kernel>(q: &Affine<G2<K>>) -> Affine<G2<K>> {
    Affine {
        x: q.x.conjugate().mul(&const { frobenius_factor(2) }),
        y: q.y.conjugate().mul(&const { frobenius_factor(3) }),
    }
}

fn psi_jacobian<K: Kernel>(q: &Jacobian<G2<K>>) -> Jacobian<G2<K>> {
    Jacobian {
        x: q.x.conjugate().mul(&const { frobenius_factor(2) }),
        y: q.y.conjugate().mul(&const { frobenius_factor(3) }),
        z: q.z.conjugate(),
    }
}

/// Is this point of the twist in G2? It is if `(X + 1) Q + psi(X Q) + psi^2(X Q) = psi^3(2 X Q)`.
#[inline(never)]
pub(crate) fn is_in_subgroup<K: Kernel>(q: &Affine<G2<K>>) -> bool {
    let mut xq = Jacobian::from(*q);
    for bit in (0..62).rev() {
        xq = xq.double();
        if X >> bit & 1 == 1 {
            xq = xq.add_affine(q);
        }
    }
    let psi1 = psi_jacobian(&xq);
    let psi2 = psi_jacobian(&psi1);
    let psi3 = psi_jacobian(&psi2);
    xq.add_affine(q)
        .add(&psi1)
        .add(&psi2)
        .equals(&psi3.double())
}

/// The product of the pairs' Miller functions.
pub(crate) fn miller_loop<K: Kernel>(pairs: &mut [Pair<K>]) -> Fp12<K> {
    let mut f = Fp12::ONE;
    for (i, &digit) in LOOP.iter().enumerate() {
        if i > 0 {
            f = f.square();
        }
        for pair in pairs.iter_mut() {
            f = f.mul_by_line(&pair.double());
            if digit != 0 {
                let q = pair.q.negate_if(digit < 0);
                f = f.mul_by_line(&pair.add(&q));
            }
        }
    }
    for pair in pairs {
        let q1 = psi(&pair.q);
        let q2 = psi(&q1).negate_if(true);
        f = f.mul_by_line(&pair.add(&q1));
        f = f.mul_by_line(&pair.add(&q2));
    }
    f
}

/// `f^-X` for f in the cyclotomic subgroup.
fn power_of_minus_x<K: Kernel>(f: &Fp12<K>) -> Fp12<K> {
    let mut power = *f;
    for bit in (0..62).rev() {
        power = power.cyclotomic_square();
        if X >> bit & 1 == 1 {
            power = power.mul(f);
        }
    }
    power.conjugate()
}

/// `f^(k (p^12 - 1) / r)` for a k prime to r.
pub(crate) fn final_exponentiation<K: Kernel>(f: &Fp12<K>) -> Fp12<K> {
    // (p^6 - 1)(p^2 + 1)
    let f = f.conjugate().mul(&f.invert());
    let f = f.frobenius().frobenius().mul(&f);
    // A multiple of (p^4 - p^2 + 1) / r, in the letters of [FKR11].
    let y0 = power_of_minus_x(&f);
    let y1 = y0.cyclotomic_square();
    let y2 = y1.cyclotomic_square();
    let y3 = y2.mul(&y1);
    let y4 = power_of_minus_x(&y3);
    let y5 = y4.cyclotomic_square();
    let y6 = power_of_minus_x(&y5).conjugate();
    let y3 = y3.conjugate();
    let y7 = y6.mul(&y4);
    let y8 = y7.mul(&y3);
    let y9 = y8.mul(&y1);
    let y10 = y8.mul(&y4);
    let y11 = y10.mul(&f);
    let y12 = y9.frobenius();
    let y13 = y12.mul(&y11);
    let y14 = y8.frobenius().frobenius().mul(&y13);
    let y15 = f.conjugate().mul(&y9);
    y15.frobenius().frobenius().frobenius().mul(&y14)
}
