//! The extension fields of bn254's pairing, with xi = 9 + u.
//!
//! Source: \[BN05\], \[Longa23\] §3 (sums of products).
//! Constant time: no, public data only.

use super::Fp;
use crate::{
    field::Field,
    montgomery::Kernel,
    tower::{self, Tower},
};

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
    pub(crate) fn scale(&self, factor: &Fp<K>) -> Self {
        Self {
            c0: self.c0.mul(factor),
            c1: self.c1.mul(factor),
        }
    }
}

/// A second factor, with its negated imaginary part for the real part of the product.
pub(crate) struct Factor<'a, K> {
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

/// [`Tower::FROBENIUS`].
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

const fn constant<K: Kernel>([c0, c1]: [[u64; 4]; 2]) -> Fp2<K> {
    Fp2::constant(c0, c1)
}

impl<K: Kernel> Tower for Fp2<K> {
    type Factor<'a> = Factor<'a, K>;

    const FROBENIUS: [Self; 5] = {
        let [a, b, c, d, e] = FROBENIUS;
        [
            constant(a),
            constant(b),
            constant(c),
            constant(d),
            constant(e),
        ]
    };

    #[inline(always)]
    fn conjugate(&self) -> Self {
        Self {
            c0: self.c0,
            c1: self.c1.negate(),
        }
    }

    #[inline(always)]
    fn mul_by_xi(&self) -> Self {
        let Self { c0, c1 } = self;
        let eight = self.double().double().double();
        Self {
            c0: eight.c0.add(&c0.sub(c1)),
            c1: eight.c1.add(&c0.add(c1)),
        }
    }

    #[inline(always)]
    fn factor(&self) -> Factor<'_, K> {
        Factor {
            c0: &self.c0,
            c1: &self.c1,
            minus_c1: self.c1.neg_unreduced(),
        }
    }

    #[inline(always)]
    fn dot3([x0, x1, x2]: [&Self; 3], [y0, y1, y2]: [&Self::Factor<'_>; 3]) -> Self {
        let x = [&x0.c0, &x0.c1, &x1.c0, &x1.c1, &x2.c0, &x2.c1];
        Self {
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
}

/// Fp12 of bn254.
pub(crate) type Fp12<K> = tower::Fp12<Fp2<K>>;

/// The coefficients of a line evaluated at a point: `c0 + c1 w + c2 w^3`.
pub(crate) type Line<K> = [Fp2<K>; 3];
