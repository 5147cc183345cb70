//! The extensions of Fp2 over which pairings are computed: Fp6 = Fp2\[v\]/(v^3 - xi), Fp12 = Fp6\[w\]/(w^2 - v).
//!
//! Every coefficient of a product is one sum of products, so it is reduced once, with no additions in between. Only the
//! outermost product in Fp12 uses Karatsuba.
//!
//! Source: \[BN05\], \[Longa23\] §3 (sums of products), \[GS10\] (squaring in the cyclotomic subgroup).
//! Constant time: no, public data only.

use crate::field::Field;

/// Fp2 = Fp\[u\]/(u^2 + 1), with an element xi that has no square or cube root.
pub(crate) trait Tower: Field + 'static {
    /// A second factor of sums of products.
    type Factor<'a>;

    /// xi^((p - 1) k / 6) for k from 1 to 5: w^(k p) is w^k times this.
    const FROBENIUS: [Self; 5];

    fn conjugate(&self) -> Self;

    /// Multiplies by xi.
    fn mul_by_xi(&self) -> Self;

    /// Prepares the element as second factor of sums of products.
    fn factor(&self) -> Self::Factor<'_>;

    /// `sum x[i] y[i]` of three products.
    fn dot3(x: [&Self; 3], y: [&Self::Factor<'_>; 3]) -> Self;

    /// The square of `a + b s` in Fp4 = Fp2\[s\]/(s^2 - xi): `a^2 + xi b^2` and `2 a b`.
    #[inline(always)]
    fn square4(a: &Self, b: &Self) -> [Self; 2] {
        let product = a.mul(b);
        let real = a.add(b).mul(&a.add(&b.mul_by_xi()));
        [
            real.sub(&product).sub(&product.mul_by_xi()),
            product.double(),
        ]
    }
}

/// `3 t - 2 f`
#[inline(always)]
pub(crate) fn triple_minus_double<F: Field>(t: &F, f: &F) -> F {
    t.sub(f).double().add(t)
}

/// `3 t + 2 f`
#[inline(always)]
pub(crate) fn triple_plus_double<F: Field>(t: &F, f: &F) -> F {
    t.add(f).double().add(t)
}

/// `c[0] + c[1] v + c[2] v^2`.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Fp6<F>(pub(crate) [F; 3]);

impl<F: Tower> Fp6<F> {
    const ONE: Self = Self([F::ONE, F::ZERO, F::ZERO]);
    const ZERO: Self = Self([F::ZERO; 3]);

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        let ([a0, a1, a2], [b0, b1, b2]) = (&self.0, &other.0);
        Self([a0.add(b0), a1.add(b1), a2.add(b2)])
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        let ([a0, a1, a2], [b0, b1, b2]) = (&self.0, &other.0);
        Self([a0.sub(b0), a1.sub(b1), a2.sub(b2)])
    }

    #[inline(always)]
    fn negate(&self) -> Self {
        let [a0, a1, a2] = &self.0;
        Self([a0.negate(), a1.negate(), a2.negate()])
    }

    fn mul(&self, other: &Self) -> Self {
        let [a0, a1, a2] = &self.0;
        let [b0, b1, b2] = &other.0;
        let (x1, x2) = (b1.mul_by_xi(), b2.mul_by_xi());
        let (x1, x2) = (x1.factor(), x2.factor());
        let (b0, b1, b2) = (b0.factor(), b1.factor(), b2.factor());
        Self([
            F::dot3([a0, a1, a2], [&b0, &x2, &x1]),
            F::dot3([a0, a1, a2], [&b1, &b0, &x2]),
            F::dot3([a0, a1, a2], [&b2, &b1, &b0]),
        ])
    }

    #[inline(always)]
    fn mul_by_v(&self) -> Self {
        let [c0, c1, c2] = self.0;
        Self([c2.mul_by_xi(), c0, c1])
    }

    fn invert(&self) -> Self {
        let [a, b, c] = &self.0;
        let t0 = a.square().sub(&b.mul(c).mul_by_xi());
        let t1 = c.square().mul_by_xi().sub(&a.mul(b));
        let t2 = b.square().sub(&a.mul(c));
        let norm = a.mul(&t0).add(&c.mul(&t1).add(&b.mul(&t2)).mul_by_xi());
        let inverse = norm.invert();
        Self([t0.mul(&inverse), t1.mul(&inverse), t2.mul(&inverse)])
    }
}

/// `c0 + c1 w`.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Fp12<F> {
    pub(crate) c0: Fp6<F>,
    pub(crate) c1: Fp6<F>,
}

impl<F: Tower> Fp12<F> {
    pub(crate) const ONE: Self = Self {
        c0: Fp6::ONE,
        c1: Fp6::ZERO,
    };

    pub(crate) fn mul(&self, other: &Self) -> Self {
        let low = self.c0.mul(&other.c0);
        let high = self.c1.mul(&other.c1);
        let cross = self.c0.add(&self.c1).mul(&other.c0.add(&other.c1));
        Self {
            c0: low.add(&high.mul_by_v()),
            c1: cross.sub(&low).sub(&high),
        }
    }

    pub(crate) fn square(&self) -> Self {
        // (a + b)(a + v b) = a^2 + v b^2 + a b + v a b.
        let product = self.c0.mul(&self.c1);
        let sum = self.c0.add(&self.c1);
        let other = self.c0.add(&self.c1.mul_by_v());
        Self {
            c0: sum.mul(&other).sub(&product).sub(&product.mul_by_v()),
            c1: product.add(&product),
        }
    }

    /// The coefficients of 1, w, ..., w^5.
    #[inline(always)]
    pub(crate) fn coefficients(&self) -> [&F; 6] {
        let (Fp6([f0, f2, f4]), Fp6([f1, f3, f5])) = (&self.c0, &self.c1);
        [f0, f1, f2, f3, f4, f5]
    }

    /// Takes the coefficient of w^k for each k.
    #[inline(always)]
    pub(crate) fn from_coefficients(coefficient: impl Fn(usize) -> F) -> Self {
        let half = |odd| Fp6([coefficient(odd), coefficient(odd + 2), coefficient(odd + 4)]);
        Self {
            c0: half(0),
            c1: half(1),
        }
    }

    /// Multiplies by `a + b w^B + c w^3`, for B = 1 or 2.
    pub(crate) fn mul_by_line<const B: usize>(&self, [a, b, c]: &[F; 3]) -> Self {
        let (xb, xc) = (b.mul_by_xi(), c.mul_by_xi());
        let (xb, xc) = (xb.factor(), xc.factor());
        let (a, b, c) = (a.factor(), b.factor(), c.factor());
        let f = self.coefficients();
        // w^6 is xi.
        Self::from_coefficients(|k| {
            let (second, b) = if k < B {
                (f[k + 6 - B], &xb)
            } else {
                (f[k - B], &b)
            };
            let (third, c) = if k < 3 {
                (f[k + 3], &xc)
            } else {
                (f[k - 3], &c)
            };
            F::dot3([f[k], second, third], [&a, b, c])
        })
    }

    /// The p^6-th power. In the cyclotomic subgroup this is the inverse.
    pub(crate) fn conjugate(&self) -> Self {
        Self {
            c0: self.c0,
            c1: self.c1.negate(),
        }
    }

    pub(crate) fn invert(&self) -> Self {
        let norm = self.c0.mul(&self.c0).sub(&self.c1.mul(&self.c1).mul_by_v());
        let inverse = norm.invert();
        Self {
            c0: self.c0.mul(&inverse),
            c1: self.c1.mul(&inverse).negate(),
        }
    }

    /// The p-th power.
    pub(crate) fn frobenius(&self) -> Self {
        let f = self.coefficients();
        Self::from_coefficients(|k| match k {
            0 => f[0].conjugate(),
            _ => f[k].conjugate().mul(&F::FROBENIUS[k - 1]),
        })
    }

    /// The square of an element of the cyclotomic subgroup. Source: \[GS10\] §3.2.
    pub(crate) fn cyclotomic_square(&self) -> Self {
        let (Fp6([f0, f1, f2]), Fp6([g0, g1, g2])) = (&self.c0, &self.c1);
        let [t0, t1] = F::square4(f0, g1);
        let [t2, t3] = F::square4(g0, f2);
        let [t4, t5] = F::square4(f1, g2);
        Self {
            c0: Fp6([
                triple_minus_double(&t0, f0),
                triple_minus_double(&t2, f1),
                triple_minus_double(&t4, f2),
            ]),
            c1: Fp6([
                triple_plus_double(&t5.mul_by_xi(), g0),
                triple_plus_double(&t1, g1),
                triple_plus_double(&t3, g2),
            ]),
        }
    }
}
