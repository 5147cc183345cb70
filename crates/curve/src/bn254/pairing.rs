//! The optimal ate pairing of bn254, used to check that a product of pairings is one.
//!
//! All pairs share one Miller loop, and so its squarings. Points of the twist are projective (x = X / Z, y = Y / Z).
//! Each step returns the line through them, evaluated at the point of G1.
//!
//! Source: \[Vercauteren10\] (optimal ate), \[AKLGL11\] §4 (steps on the twist), \[FKR11\] (hard part of the final
//! exponent), \[EHGP22\] §4 (membership in G2).
//! Constant time: no, public data only.

use super::{
    Fp, G1, G2,
    tower::{Fp2, Fp12, Line},
};
use crate::{
    field::Field,
    group::{Affine, Curve, Jacobian, interleave, odd_multiples, wnaf},
    montgomery::Kernel,
    tower::Tower,
};

/// The parameter of the curve: p, the order and the loop length are polynomials in it.
const X: u64 = 0x44e9_92b4_4a69_09f1;

/// Digits of 6 X + 2 in non-adjacent form, from high to low, without the highest digit, which is 1.
const LOOP: [i8; 65] = [
    0, -1, 0, 1, 0, 0, 0, -1, 0, -1, 0, 0, 0, -1, 0, 1, 0, -1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0,
    -1, 0, 1, 0, 0, -1, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, -1, 0, -1, 0, 0, 1, 0, 0, 0, -1, 0, 0, -1,
    0, 1, 0, 1, 0, 0, 0,
];

/// A pair and its state in the Miller loop.
#[derive(Clone, Copy)]
pub(crate) struct Pair<K: Kernel> {
    pub(super) p: Affine<G1<K>>,
    pub(super) q: Affine<G2<K>>,
    x: Fp2<K>,
    y: Fp2<K>,
    z: Fp2<K>,
}

impl<K: Kernel> Pair<K> {
    /// Initialises arrays.
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

    /// Both points must be in the groups.
    pub(crate) fn new(p: Affine<G1<K>>, q: Affine<G2<K>>) -> Self {
        Self {
            p,
            q,
            x: q.x,
            y: q.y,
            z: Fp2::ONE,
        }
    }

    /// Doubles the point and returns the tangent at p.
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

    /// Adds q and returns the line through both points at p.
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

impl<K: Kernel> Pair<K> {
    pub(super) fn take(&mut self, step: Step) -> Line<K> {
        match step {
            Step::Double => self.double(),
            Step::Add { negative } => self.add(&self.q.negate_if(negative)),
            Step::AddPsi => self.add(&psi(&self.q)),
            Step::SubtractPsiSquared => self.add(&psi(&psi(&self.q)).negate_if(true)),
        }
    }

    /// Whether q is in G2. To be called after the Miller loop.
    ///
    /// It is if `(6 X + 2) q + psi(q) - psi^2(q) + psi^3(q) = 0`. Proof: as `psi^2 - t psi + p = 0` on the whole twist,
    /// the order of such a point divides the resultant of the two polynomials in psi, and the greatest common divisor
    /// of this resultant and the twist's order, r (2 p - r), is r. The loop ends with the sum of the first three terms.
    /// It adds a point to itself or to its opposite only if q is not in G2; then Z becomes 0 and stays 0.
    pub(super) fn is_in_subgroup(&self) -> bool {
        let end = psi(&psi(&psi(&self.q))).negate_if(true);
        !self.z.is_zero() && self.x == end.x.mul(&self.z) && self.y == end.y.mul(&self.z)
    }
}

/// The endomorphism of the twist that corresponds to Frobenius on the curve over Fp12.
fn psi<K: Kernel>(q: &Affine<G2<K>>) -> Affine<G2<K>> {
    Affine {
        x: q.x.conjugate().mul(&Fp2::FROBENIUS[1]),
        y: q.y.conjugate().mul(&Fp2::FROBENIUS[2]),
    }
}

/// Whether a point of the twist is in G2, without a Miller loop.
///
/// It is if `(X + 1) q + psi(X q) + psi^2(X q) = psi^3(2 X q)`, for the same reason as in [`Pair::is_in_subgroup`]: r
/// is again the greatest common divisor of the resultant and the twist's order.
pub(crate) fn is_in_subgroup<K: Kernel>(q: &Affine<G2<K>>) -> bool {
    // No finite point has an order below 10069, the smallest prime factor of the twist's order.
    let (table, scale) = odd_multiples::<_, { 1 << (WINDOW - 2) }>(q);
    let mut product = interleave(&mut [wnaf::<64>(&[X, 0, 0, 0], WINDOW)], |_, digit| {
        let entry = table[usize::from(digit.unsigned_abs() / 2)];
        (entry.negate_if(digit < 0), None)
    });
    product.z = product.z.mul(&scale);
    let Some(product) = product.to_affine() else {
        return false;
    };
    let image = psi(&product);
    let image_2 = psi(&image);
    let end = psi(&image_2).negate_if(true);
    [*q, image, image_2, end, end]
        .iter()
        .fold(Jacobian::from(product), |sum, point| sum.add_affine(point))
        .is_infinity()
}

/// A step of the Miller loop for the points of all pairs.
#[derive(Clone, Copy)]
pub(super) enum Step {
    Double,
    /// Adds q, or subtracts it.
    Add {
        negative: bool,
    },
    AddPsi,
    SubtractPsiSquared,
}

/// Runs the Miller loop: squares f where needed and calls `multiply` for each step, which must perform the step and
/// multiply f by the line of each pair.
#[inline(always)]
pub(super) fn each_step<F>(
    f: &mut F,
    square: impl Fn(&F) -> F,
    mut multiply: impl FnMut(&mut F, Step),
) {
    for (i, &digit) in LOOP.iter().enumerate() {
        if i > 0 {
            *f = square(f);
        }
        multiply(f, Step::Double);
        if digit != 0 {
            let negative = digit < 0;
            multiply(f, Step::Add { negative });
        }
    }
    multiply(f, Step::AddPsi);
    multiply(f, Step::SubtractPsiSquared);
}

/// Computes the product of the pairs' Miller functions. Returns `None` if a point of the twist is not in G2.
pub(crate) fn miller_loop<K: Kernel>(pairs: &mut [Pair<K>]) -> Option<Fp12<K>> {
    let mut f = Fp12::ONE;
    each_step(&mut f, Fp12::square, |f, step| {
        for pair in pairs.iter_mut() {
            *f = f.mul_by_line::<1>(&pair.take(step));
        }
    });
    pairs.iter().all(Pair::is_in_subgroup).then_some(f)
}

/// Bits of the windows of X.
const WINDOW: u32 = 4;

/// Raises f, in the cyclotomic subgroup, to a multiple of (p^4 - p^2 + 1) / r. Variable names are those of \[FKR11\].
#[inline(always)]
pub(super) fn hard_part<F: Copy>(
    f: &F,
    mul: impl Fn(&F, &F) -> F,
    square: impl Fn(&F) -> F,
    conjugate: impl Fn(&F) -> F,
    frobenius: impl Fn(&F) -> F,
) -> F {
    let (digits, length) = wnaf::<64>(&[X, 0, 0, 0], WINDOW);
    // f^X for f in the cyclotomic subgroup.
    let power_of_x = |f: &F| {
        // The odd powers.
        let mut odd = [*f; 1 << (WINDOW - 2)];
        let squared = square(f);
        for i in 1..odd.len() {
            odd[i] = mul(&odd[i - 1], &squared);
        }
        let power_of = |digit: i16| &odd[usize::from(digit.unsigned_abs() / 2)];
        let mut power = *power_of(digits[length - 1]);
        for &digit in digits[..length - 1].iter().rev() {
            power = square(&power);
            let factor = power_of(digit);
            if digit > 0 {
                power = mul(&power, factor);
            } else if digit < 0 {
                power = mul(&power, &conjugate(factor));
            }
        }
        power
    };
    let y0 = conjugate(&power_of_x(f));
    let y1 = square(&y0);
    let y2 = square(&y1);
    let y3 = mul(&y2, &y1);
    let y4 = conjugate(&power_of_x(&y3));
    let y5 = square(&y4);
    let y6 = power_of_x(&y5);
    let y3 = conjugate(&y3);
    let y7 = mul(&y6, &y4);
    let y8 = mul(&y7, &y3);
    let y9 = mul(&y8, &y1);
    let y10 = mul(&y8, &y4);
    let y11 = mul(&y10, f);
    let y12 = frobenius(&y9);
    let y13 = mul(&y12, &y11);
    let y14 = mul(&frobenius(&frobenius(&y8)), &y13);
    let y15 = mul(&conjugate(f), &y9);
    mul(&frobenius(&frobenius(&frobenius(&y15))), &y14)
}

/// Whether `f^(k (p^12 - 1) / r)` is one, for a k coprime to r.
pub(crate) fn final_exponentiation_is_one<K: Kernel>(f: &Fp12<K>) -> bool {
    // (p^6 - 1)(p^2 + 1)
    let f = f.conjugate().mul(&f.invert());
    let f = f.frobenius().frobenius().mul(&f);
    let power = hard_part(
        &f,
        Fp12::mul,
        Fp12::cyclotomic_square,
        Fp12::conjugate,
        Fp12::frobenius,
    );
    power == Fp12::ONE
}
