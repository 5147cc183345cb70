//! Maps from field elements to points: simplified SWU to an isogenous curve, the isogeny, and a multiple that is in the
//! group.
//!
//! One power gives a square root and an inverse: if `t = a^((p - 3) / 4)`, then `t^2 a` is 1 for a square and -1 for any
//! other a. (a is never 0 here, because neither curve has a point with y = 0.) So coordinates are affine until the
//! isogeny.

use blst::{blst_fp, blst_fp2};

use super::{
    super::super::{
        endomorphism::{G2_BY_X, G2_BY_Y, X},
        fields::{self, Element},
    },
    constants::{
        G1_A, G1_B, G1_KERNEL, G1_ROOT, G1_X, G1_Y, G1_Z, G2_A, G2_B, G2_KERNEL, G2_ROOT, G2_X,
        G2_Y, G2_Z, QUARTER,
    },
    field::{Fp, Fp2, G1, G2},
};
use crate::{
    field::Field,
    group::{Affine, Curve, Jacobian},
};

/// `a^((p - 3) / 4)`, in windows of five bits that end with a set one.
fn quarter_power(a: &Fp) -> Fp {
    const BITS: usize = 379;
    let bit = |i: usize| QUARTER[i / 64] >> (i % 64) & 1;
    let square = a.square();
    let mut odd_powers = [*a; 16];
    for i in 1..16 {
        odd_powers[i] = odd_powers[i - 1].mul(&square);
    }
    let (mut power, mut end) = (Fp::ONE, BITS);
    while end > 0 {
        let mut start = end.saturating_sub(5);
        while start < end - 1 && bit(start) == 0 {
            start += 1;
        }
        let window = (start..end).rev().fold(0, |window, i| window << 1 | bit(i));
        if end < BITS {
            power.square_times(end - start);
        }
        if window > 0 {
            power.multiply(&odd_powers[window as usize / 2]);
        }
        end = start;
    }
    power
}

/// The curve y^2 = x^3 + A x + B and Z, for simplified SWU.
struct Isogenous<F> {
    a: F,
    b: F,
    z: F,
}

impl<F: Field> Isogenous<F> {
    /// Returns x and y, up to its sign. `root` takes g and d, and returns a square root of `g / d^3` or else of
    /// `Z^3 g / d^3`, `1 / d`, and which root it is.
    fn map(&self, u: &F, root: impl FnOnce(&F, &F) -> (F, F, bool)) -> [F; 2] {
        let uu = u.square();
        let zuu = self.z.mul(&uu);
        let sum = zuu.square().add(&zuu);
        // x = n / d.
        let n = self.b.mul(&sum.add(&F::ONE));
        let d = if sum.is_zero() {
            self.a.mul(&self.z)
        } else {
            self.a.mul(&sum).negate()
        };
        let dd = d.square();
        let g = n.square().add(&self.a.mul(&dd)).mul(&n);
        let g = g.add(&self.b.mul(&d.mul(&dd)));
        let (y, inverse, is_first) = root(&g, &d);
        let x = n.mul(&inverse);
        if is_first {
            [x, y]
        } else {
            [x.mul(&zuu), y.mul(&uu.mul(u))]
        }
    }
}

/// Returns a square root of `g / d^3` or else of `-G1_ROOT^2 g / d^3`, `1 / d`, and which root it is.
pub(super) fn root_in_fp(g: &Fp, d: &Fp) -> (Fp, Fp, bool) {
    let gdd = g.mul(d).mul(d);
    let t = quarter_power(&gdd.mul(d));
    let root = gdd.mul(&t); // of g d or -g d
    let inverse = root.mul(&t); // up to its sign
    let is_first = inverse.mul(d) == Fp::ONE;
    let root = root.mul(&inverse.square());
    if is_first {
        (root, inverse, true)
    } else {
        (root.mul(&G1_ROOT), inverse.negate(), false)
    }
}

/// Returns a square root of `g / d^3` or else of `Z^3 g / d^3`, `1 / d`, and which root it is.
pub(super) fn root_in_fp2(g: &Fp2, d: &Fp2) -> (Fp2, Fp2, bool) {
    let mut square = g.mul(d); // y = sqrt(g d) / d^2
    let (norm, d_norm) = (square.norm(), d.norm());
    let product = norm.mul(&d_norm);
    let t = quarter_power(&product.mul(&d_norm));
    let mut norm_root = product.mul(&t); // of the norm or its opposite
    let mut inverse = norm_root.mul(&t); // of d_norm, up to its sign
    let is_first = inverse.mul(&d_norm) == Fp::ONE;
    if !is_first {
        inverse = inverse.negate();
        norm_root = norm_root.mul(&G2_ROOT);
        square = square.mul(&G2_Z.square().mul(&G2_Z));
    }
    // For `re + im u` with the norm n^2, one of `(re + n) / 2` and `(re - n) / 2` is the square of the real part of the
    // root; their product is `-(im / 2)^2`.
    let [re, im] = square.parts();
    let mut candidate = re.add(&norm_root).half();
    if candidate.is_zero() {
        candidate = re;
    }
    let t = quarter_power(&candidate);
    let (first, second) = (candidate.mul(&t), im.half().mul(&t));
    let root = if first.mul(&t) == Fp::ONE {
        [first, second]
    } else {
        [second, first.negate()]
    };
    let inverse = d.conjugate().scale(&inverse);
    (Fp2::new(root).mul(&inverse.square()), inverse, is_first)
}

/// Evaluates a polynomial, given without its highest coefficient, which is 1.
fn evaluate<F: Field>(coefficients: &[F], x: &F) -> F {
    let mut coefficients = coefficients.iter().rev();
    let first = coefficients.next().map_or(F::ONE, |c| x.add(c));
    coefficients.fold(first, |value, c| value.mul(x).add(c))
}

/// `X P`, or `(X + 1) P`, for any point of the curve.
fn times_x<C: Curve<Field: Field>>(p: &Jacobian<C>, plus_one: bool) -> Jacobian<C> {
    // The same point on the isomorphic curve where its Z is 1.
    let base: Affine<C> = Affine { x: p.x, y: p.y };
    let mut multiple = Jacobian::from(base);
    for bit in (0..X.ilog2()).rev() {
        multiple = multiple.double();
        if X >> bit & 1 == 1 {
            multiple = multiple.add_affine(&base);
        }
    }
    if plus_one {
        multiple = multiple.add_affine(&base);
    }
    Jacobian {
        z: multiple.z.mul(&p.z),
        ..multiple
    }
}

/// The point of the curve for a field element.
pub(in super::super::super) fn to_g1_curve(u: &fields::Fp) -> Jacobian<fields::G1> {
    let u = from_blst(u);
    let curve = Isogenous {
        a: G1_A,
        b: G1_B,
        z: G1_Z,
    };
    let [x, mut y] = curve.map(&u, root_in_fp);
    if y.is_odd() != u.is_odd() {
        y = y.negate();
    }
    let kernel = evaluate(&G1_KERNEL, &x);
    Jacobian {
        x: to_blst(evaluate(&G1_X, &x)),
        y: to_blst(y.mul(&evaluate(&G1_Y, &x))),
        z: to_blst(kernel.mul(&G1_Z)),
    }
}

/// The point of the curve for an element of Fp2.
pub(in super::super::super) fn to_g2_curve(u: &fields::Fp2) -> Jacobian<fields::G2> {
    let u = fp2_from_blst(u);
    let curve = Isogenous {
        a: G2_A,
        b: G2_B,
        z: G2_Z,
    };
    let [x, mut y] = curve.map(&u, root_in_fp2);
    if y.is_odd() != u.is_odd() {
        y = y.negate();
    }
    let kernel = evaluate(&G2_KERNEL, &x);
    Jacobian {
        x: fp2_to_blst(evaluate(&G2_X, &x)),
        y: fp2_to_blst(y.mul(&evaluate(&G2_Y, &x))),
        z: fp2_to_blst(kernel.add(&kernel.double()).negate()),
    }
}

/// `(X + 1) P`
pub(in super::super::super) fn clear_g1(p: &Jacobian<fields::G1>) -> Jacobian<fields::G1> {
    let p: Jacobian<G1> = Jacobian {
        x: from_blst(&p.x),
        y: from_blst(&p.y),
        z: from_blst(&p.z),
    };
    let multiple = times_x(&p, true);
    Jacobian {
        x: to_blst(multiple.x),
        y: to_blst(multiple.y),
        z: to_blst(multiple.z),
    }
}

/// `(X^2 + X - 1) P - (X + 1) image(P) + image(image(2 P))`
pub(in super::super::super) fn clear_g2(p: &Jacobian<fields::G2>) -> Jacobian<fields::G2> {
    let p = Jacobian {
        x: fp2_from_blst(&p.x),
        y: fp2_from_blst(&p.y),
        z: fp2_from_blst(&p.z),
    };
    let next = times_x(&p, true);
    let minus = p.add(&image(&next)).negate();
    let sum = times_x(&next, false)
        .add(&minus)
        .add(&image(&image(&p.double())));
    Jacobian {
        x: fp2_to_blst(sum.x),
        y: fp2_to_blst(sum.y),
        z: fp2_to_blst(sum.z),
    }
}

/// The endomorphism of G2's curve.
fn image(p: &Jacobian<G2>) -> Jacobian<G2> {
    Jacobian {
        x: p.x.conjugate().mul(&fp2_from_blst(&G2_BY_X)),
        y: p.y.conjugate().mul(&fp2_from_blst(&G2_BY_Y)),
        z: p.z.conjugate(),
    }
}

pub(super) fn from_blst(element: &fields::Fp) -> Fp {
    Fp::from_montgomery(element.0.l)
}

pub(super) fn to_blst(element: Fp) -> fields::Fp {
    Element(blst_fp {
        l: element.to_montgomery(),
    })
}

pub(super) fn fp2_from_blst(element: &fields::Fp2) -> Fp2 {
    Fp2::new(element.0.fp.map(|c| from_blst(&Element(c))))
}

pub(super) fn fp2_to_blst(element: Fp2) -> fields::Fp2 {
    Element(blst_fp2 {
        fp: element.parts().map(|c| to_blst(c).0),
    })
}
