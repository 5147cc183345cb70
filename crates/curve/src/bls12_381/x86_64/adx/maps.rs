//! Maps from field elements to points: simplified SWU to an isogenous curve, the isogeny, and a multiple that is in the
//! group.
//!
//! One power gives a square root and an inverse: if `t = a^((p - 3) / 4)`, then `t^2 a` is 1 for a square and -1 for any
//! other a. (a is never 0 here, because neither curve has a point with y = 0.) So coordinates are affine until the
//! isogeny.

use super::{
    super::super::endomorphism::{G2_BY_X, G2_BY_Y},
    constants::{
        G1_A, G1_B, G1_KERNEL, G1_ROOT, G1_X, G1_Y, G1_Z, G2_A, G2_B, G2_KERNEL, G2_ROOT, G2_SCALE,
        G2_X, G2_Y, G2_Z, QUARTER,
    },
    curves::{AdxCurve, G1, G2},
    field::Fp,
    fp2::Fp2,
    multiples::times_x,
};
use crate::{
    field::Field,
    group::{Curve, Jacobian},
    tower::Tower,
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

/// A curve to which elements are mapped, through an isogenous one: y^2 = x^3 + A x + B.
pub(in super::super::super) trait Map: AdxCurve<Field: 'static> {
    const A: Self::Field;
    const B: Self::Field;
    /// Z of simplified SWU.
    const Z: Self::Field;
    /// The numerators of the isogeny's x and y, and a third polynomial: the denominators are the square and the cube of
    /// `SCALE` times that. All without their highest coefficient, which is 1.
    const POLYNOMIALS: [&'static [Self::Field]; 3];
    const SCALE: Self::Field;

    /// `sgn0`, which differs between an element and its opposite.
    fn is_odd(element: &Self::Field) -> bool;

    /// Returns a square root of `g / d^3` or else of `Z^3 g / d^3`, `1 / d`, and which root it is.
    fn root(g: &Self::Field, d: &Self::Field) -> (Self::Field, Self::Field, bool);

    /// The multiple of a point of the curve that is in the group.
    fn clear(p: &Jacobian<Self>) -> Jacobian<Self>;
}

/// The point of the curve for an element.
pub(in super::super::super) fn to_curve<C: Map>(
    u: &<C::Blst as Curve>::Field,
) -> Jacobian<C::Blst> {
    let u = C::from_blst(u);
    let [x, y] = to_isogenous::<C>(&u);
    let [x, factor_of_y, kernel] = C::POLYNOMIALS.map(|polynomial| evaluate(polynomial, &x));
    C::jacobian_to_blst(&Jacobian {
        x,
        y: y.mul(&factor_of_y),
        z: kernel.mul(&C::SCALE),
    })
}

/// The multiple of a point of the curve that is in the group.
pub(in super::super::super) fn clear<C: Map>(p: &Jacobian<C::Blst>) -> Jacobian<C::Blst> {
    C::jacobian_to_blst(&C::clear(&C::jacobian(p)))
}

/// Returns x and y on the isogenous curve.
fn to_isogenous<C: Map>(u: &C::Field) -> [C::Field; 2] {
    let uu = u.square();
    let zuu = C::Z.mul(&uu);
    let sum = zuu.square().add(&zuu);
    // x = n / d.
    let n = C::B.mul(&sum.add(&Field::ONE));
    let d = if sum.is_zero() {
        C::A.mul(&C::Z)
    } else {
        C::A.mul(&sum).negate()
    };
    let dd = d.square();
    let g = n.square().add(&C::A.mul(&dd)).mul(&n);
    let g = g.add(&C::B.mul(&d.mul(&dd)));
    let (mut y, inverse, is_first) = C::root(&g, &d);
    let mut x = n.mul(&inverse);
    if !is_first {
        x = x.mul(&zuu);
        y = y.mul(&uu.mul(u));
    }
    if C::is_odd(&y) != C::is_odd(u) {
        y = y.negate();
    }
    [x, y]
}

/// Evaluates a polynomial, given without its highest coefficient, which is 1.
fn evaluate<F: Field>(coefficients: &[F], x: &F) -> F {
    let mut coefficients = coefficients.iter().rev();
    let first = coefficients.next().map_or(F::ONE, |c| x.add(c));
    coefficients.fold(first, |value, c| value.mul(x).add(c))
}

/// Whether the integer is odd.
fn is_odd(element: &Fp) -> bool {
    let one = Fp::from_montgomery([1, 0, 0, 0, 0, 0]);
    element.mul(&one).to_montgomery()[0] & 1 == 1
}

impl Map for G1 {
    const A: Fp = G1_A;
    const B: Fp = G1_B;
    const Z: Fp = G1_Z;
    const POLYNOMIALS: [&'static [Fp]; 3] = [&G1_X, &G1_Y, &G1_KERNEL];
    const SCALE: Fp = G1_Z;

    fn is_odd(element: &Fp) -> bool {
        is_odd(element)
    }

    fn root(g: &Fp, d: &Fp) -> (Fp, Fp, bool) {
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

    /// `(X + 1) P`
    fn clear(p: &Jacobian<Self>) -> Jacobian<Self> {
        times_x(p, true)
    }
}

impl Map for G2 {
    const A: Fp2 = G2_A;
    const B: Fp2 = G2_B;
    const Z: Fp2 = G2_Z;
    const POLYNOMIALS: [&'static [Fp2]; 3] = [&G2_X, &G2_Y, &G2_KERNEL];
    const SCALE: Fp2 = G2_SCALE;

    /// Of the real part, or of the imaginary one if that is 0.
    fn is_odd(element: &Fp2) -> bool {
        let [re, im] = element.parts();
        is_odd(if re.is_zero() { &im } else { &re })
    }

    fn root(g: &Fp2, d: &Fp2) -> (Fp2, Fp2, bool) {
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
        // For `re + im u` with the norm n^2, one of `(re + n) / 2` and `(re - n) / 2` is the square of the real part of
        // the root; their product is `-(im / 2)^2`.
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

    /// `(X^2 + X - 1) P - (X + 1) image(P) + image(image(2 P))`
    fn clear(p: &Jacobian<Self>) -> Jacobian<Self> {
        let next = times_x(p, true);
        let minus = p.add(&image(&next)).negate();
        times_x(&next, false)
            .add(&minus)
            .add(&image(&image(&p.double())))
    }
}

/// The endomorphism of G2's curve.
fn image(p: &Jacobian<G2>) -> Jacobian<G2> {
    Jacobian {
        x: p.x.conjugate().mul(&G2::from_blst(&G2_BY_X)),
        y: p.y.conjugate().mul(&G2::from_blst(&G2_BY_Y)),
        z: p.z.conjugate(),
    }
}
