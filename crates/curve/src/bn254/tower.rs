//! The extension fields of bn254's pairing: Fp2 = Fp\[u\]/(u^2 + 1), Fp6 = Fp2\[v\]/(v^3 - xi) with xi = 9 + u,
//! Fp12 = Fp6\[w\]/(w^2 - v).
//!
//! Every coefficient of a product is one sum of products, so it is reduced once, with no additions in between. Only the
//! outermost product in Fp12 uses Karatsuba.
//!
//! Source: \[BN05\], \[Longa23\] §3 (sums of products), \[GS10\] (squaring in the cyclotomic subgroup).
//! Constant time: no, public data only.

use super::Fp;
use crate::{field::Field, montgomery::Kernel};

/// `c0 + c1 u`.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Fp2<K> {
    pub(crate) c0: Fp<K>,
    pub(crate) c1: Fp<K>,
}

impl<K: Kernel> Fp2<K> {
    pub(crate) const fn constant(c0: [u64; 4], c1: [u64; 4]) -> Self {
        Self {
            c0: Fp::constant(c0),
            c1: Fp::constant(c1),
        }
    }

    #[inline(always)]
    pub(crate) fn conjugate(&self) -> Self {
        Self {
            c0: self.c0,
            c1: self.c1.negate(),
        }
    }

    #[inline(always)]
    pub(crate) fn scale(&self, factor: &Fp<K>) -> Self {
        Self {
            c0: self.c0.mul(factor),
            c1: self.c1.mul(factor),
        }
    }

    /// Multiplies by xi.
    #[inline(always)]
    pub(crate) fn mul_by_xi(&self) -> Self {
        let Self { c0, c1 } = self;
        let eight = self.double().double().double();
        Self {
            c0: eight.c0.add(&c0.sub(c1)),
            c1: eight.c1.add(&c0.add(c1)),
        }
    }

    /// Prepares the element as second factor of sums of products.
    #[inline(always)]
    fn factor(&self) -> Factor<'_, K> {
        Factor {
            c0: &self.c0,
            c1: &self.c1,
            minus_c1: self.c1.neg_unreduced(),
        }
    }
}

/// A second factor, with its negated imaginary part for the real part of the product.
struct Factor<'a, K> {
    c0: &'a Fp<K>,
    c1: &'a Fp<K>,
    minus_c1: Fp<K>,
}

impl<K: Kernel> Field for Fp2<K> {
    const ZERO: Self = Self {
        c0: Fp::ZERO,
        c1: Fp::ZERO,
    };
    const ONE: Self = Self {
        c0: Fp::ONE,
        c1: Fp::ZERO,
    };

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        Self {
            c0: self.c0.add(&other.c0),
            c1: self.c1.add(&other.c1),
        }
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        Self {
            c0: self.c0.sub(&other.c0),
            c1: self.c1.sub(&other.c1),
        }
    }

    #[inline(always)]
    fn negate(&self) -> Self {
        Self {
            c0: self.c0.negate(),
            c1: self.c1.negate(),
        }
    }

    #[inline(never)]
    fn mul(&self, other: &Self) -> Self {
        let a = [&self.c0, &self.c1];
        let b = other.factor();
        Self {
            c0: Fp::dot(a, [b.c0, &b.minus_c1]),
            c1: Fp::dot(a, [b.c1, b.c0]),
        }
    }

    #[inline(never)]
    fn square(&self) -> Self {
        Self {
            c0: self.c0.add(&self.c1).mul(&self.c0.sub(&self.c1)),
            c1: self.c0.double().mul(&self.c1),
        }
    }

    #[inline(always)]
    fn half(&self) -> Self {
        Self {
            c0: self.c0.half(),
            c1: self.c1.half(),
        }
    }

    fn invert(&self) -> Self {
        let norm = Fp::dot([&self.c0, &self.c1], [&self.c0, &self.c1]);
        self.conjugate().scale(&norm.invert())
    }
}

/// `sum x[i] y[i]` of three products.
#[inline(always)]
fn dot3<K: Kernel>([x0, x1, x2]: [&Fp2<K>; 3], [y0, y1, y2]: [&Factor<'_, K>; 3]) -> Fp2<K> {
    let x = [&x0.c0, &x0.c1, &x1.c0, &x1.c1, &x2.c0, &x2.c1];
    Fp2 {
        c0: Fp::dot(
            x,
            [
                y0.c0,
                &y0.minus_c1,
                y1.c0,
                &y1.minus_c1,
                y2.c0,
                &y2.minus_c1,
            ],
        ),
        c1: Fp::dot(x, [y0.c1, y0.c0, y1.c1, y1.c0, y2.c1, y2.c0]),
    }
}

/// `c[0] + c[1] v + c[2] v^2`.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Fp6<K>(pub(crate) [Fp2<K>; 3]);

impl<K: Kernel> Fp6<K> {
    const ONE: Self = Self([Fp2::ONE, Fp2::ZERO, Fp2::ZERO]);
    const ZERO: Self = Self([Fp2::ZERO; 3]);

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
            dot3([a0, a1, a2], [&b0, &x2, &x1]),
            dot3([a0, a1, a2], [&b1, &b0, &x2]),
            dot3([a0, a1, a2], [&b2, &b1, &b0]),
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
pub(crate) struct Fp12<K> {
    pub(crate) c0: Fp6<K>,
    pub(crate) c1: Fp6<K>,
}

/// xi^((p - 1) k / 6) for k from 1 to 5: w^(k p) is w^k times this.
const FROBENIUS: [[[u64; 4]; 2]; 5] = [
    [
        [
            0xd60b_35da_dcc9_e470,
            0x5c52_1e08_292f_2176,
            0xe8b9_9fdd_76e6_8b60,
            0x1284_b71c_2865_a7df,
        ],
        [
            0xca5c_f05f_80f3_62ac,
            0x7479_9277_8eee_c7e5,
            0xa632_7cfe_1215_0b8e,
            0x2469_96f3_b4fa_e7e6,
        ],
    ],
    [
        [
            0x99e3_9557_176f_553d,
            0xb78c_c310_c2c3_330c,
            0x4c0b_ec3c_f559_b143,
            0x2fb3_4798_4f79_11f7,
        ],
        [
            0x1665_d51c_640f_cba2,
            0x32ae_2a1d_0b7c_9dce,
            0x4ba4_cc8b_d75a_0794,
            0x16c9_e550_61eb_ae20,
        ],
    ],
    [
        [
            0xdc54_0146_71a0_135a,
            0xdbaa_e0ed_a9c9_5998,
            0xdc5e_c698_b6e2_f9b9,
            0x063c_f305_489a_f5dc,
        ],
        [
            0x82d3_7f63_2623_b0e3,
            0x2180_7dc9_8fa2_5bd2,
            0x0704_b5a7_ec79_6f2b,
            0x07c0_3cbc_ac41_049a,
        ],
    ],
    [
        [
            0x848a_1f55_921e_a762,
            0xd333_65f7_be94_ec72,
            0x80f3_c0b7_5a18_1e84,
            0x05b5_4f5e_64ee_a801,
        ],
        [
            0xc13b_4711_cd2b_8126,
            0x3685_d2ea_1bde_c763,
            0x9f3a_80b0_3b0b_1c92,
            0x2c14_5edb_e7fd_8aee,
        ],
    ],
    [
        [
            0x2ea2_c810_eab7_692f,
            0x425c_459b_55aa_1bd3,
            0xe93a_3661_a435_3ff4,
            0x0183_c1e7_4f79_8649,
        ],
        [
            0x24c6_b8ee_6e0c_2c4b,
            0xb080_cb99_678e_2ac0,
            0xa27f_b246_c772_9f7d,
            0x12ac_f2ca_76fd_0675,
        ],
    ],
];

/// xi^((p - 1) k / 6).
pub(crate) const fn frobenius_factor<K: Kernel>(k: usize) -> Fp2<K> {
    let [c0, c1] = FROBENIUS[k - 1];
    Fp2::constant(c0, c1)
}

/// The coefficients of a line evaluated at a point: `c0 + c1 w + c2 v w`.
pub(crate) type Line<K> = [Fp2<K>; 3];

impl<K: Kernel> Fp12<K> {
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

    /// Multiplies by a line: each coefficient is a sum of three products.
    pub(crate) fn mul_by_line(&self, [a, b, c]: &Line<K>) -> Self {
        let (xb, xc) = (b.mul_by_xi(), c.mul_by_xi());
        let (xb, xc) = (xb.factor(), xc.factor());
        let (a, b, c) = (a.factor(), b.factor(), c.factor());
        let (Fp6([f0, f1, f2]), Fp6([g0, g1, g2])) = (&self.c0, &self.c1);
        Self {
            c0: Fp6([
                dot3([f0, g2, g1], [&a, &xb, &xc]),
                dot3([f1, g0, g2], [&a, &b, &xc]),
                dot3([f2, g1, g0], [&a, &b, &c]),
            ]),
            c1: Fp6([
                dot3([g0, f0, f2], [&a, &b, &xc]),
                dot3([g1, f1, f0], [&a, &b, &c]),
                dot3([g2, f2, f1], [&a, &b, &c]),
            ]),
        }
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
        let (Fp6([f0, f1, f2]), Fp6([g0, g1, g2])) = (&self.c0, &self.c1);
        // The coefficient of w^k, conjugated.
        let power = |c: &Fp2<K>, factor: Fp2<K>| c.conjugate().mul(&factor);
        Self {
            c0: Fp6([
                f0.conjugate(),
                power(f1, const { frobenius_factor(2) }),
                power(f2, const { frobenius_factor(4) }),
            ]),
            c1: Fp6([
                power(g0, const { frobenius_factor(1) }),
                power(g1, const { frobenius_factor(3) }),
                power(g2, const { frobenius_factor(5) }),
            ]),
        }
    }

    /// The square of an element of the cyclotomic subgroup. Source: \[GS10\] §3.2.
    pub(crate) fn cyclotomic_square(&self) -> Self {
        let (Fp6([f0, f1, f2]), Fp6([g0, g1, g2])) = (&self.c0, &self.c1);
        // Squares in Fp4 = Fp2[s]/(s^2 - xi): (a + b s)^2 = (a^2 + xi b^2) + 2 a b s.
        let square4 = |a: &Fp2<K>, b: &Fp2<K>| {
            let product = a.mul(b);
            let real = a.add(b).mul(&a.add(&b.mul_by_xi()));
            (
                real.sub(&product).sub(&product.mul_by_xi()),
                product.double(),
            )
        };
        let (t0, t1) = square4(f0, g1);
        let (t2, t3) = square4(g0, f2);
        let (t4, t5) = square4(f1, g2);
        // 3 t - 2 f and 3 t + 2 g.
        let minus = |t: &Fp2<K>, f: &Fp2<K>| t.sub(f).double().add(t);
        let plus = |t: &Fp2<K>, g: &Fp2<K>| t.add(g).double().add(t);
        Self {
            c0: Fp6([minus(&t0, f0), minus(&t2, f1), minus(&t4, f2)]),
            c1: Fp6([plus(&t5.mul_by_xi(), g0), plus(&t1, g1), plus(&t3, g2)]),
        }
    }
}
