//! Fp2. The products that add up to a part of a result are reduced once.

use zeroize::Zeroize;

use super::{
    field::{Fp, Words, dot1, dot2, dot3, dot4, dot6, negated, sum},
    literal::{constant, small},
};
use crate::{field::Field, tower::Tower};

/// `re + im u` with u^2 = -1.
#[derive(Clone, Copy, PartialEq, Zeroize)]
pub(in super::super::super) struct Fp2([Fp; 2]);

impl Fp2 {
    pub(super) const fn new(parts: [Fp; 2]) -> Self {
        Self(parts)
    }

    pub(super) const fn parts(self) -> [Fp; 2] {
        self.0
    }

    pub(super) fn norm(&self) -> Fp {
        let [Fp(re), Fp(im)] = &self.0;
        Fp(dot2([[re, re], [im, im]]))
    }

    pub(super) fn scale(&self, by: &Fp) -> Self {
        let [re, im] = &self.0;
        Self([re.mul(by), im.mul(by)])
    }
}

impl Field for Fp2 {
    const ZERO: Self = Self([Fp::ZERO; 2]);
    const ONE: Self = Self([Fp::ONE, Fp::ZERO]);

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        let ([a0, a1], [b0, b1]) = (&self.0, &other.0);
        Self([a0.add(b0), a1.add(b1)])
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        let ([a0, a1], [b0, b1]) = (&self.0, &other.0);
        Self([a0.sub(b0), a1.sub(b1)])
    }

    #[inline(always)]
    fn negate(&self) -> Self {
        Self::ZERO.sub(self)
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        let ([Fp(a0), Fp(a1)], [Fp(b0), Fp(b1)]) = (&self.0, &other.0);
        Self([
            Fp(dot2([[a0, b0], [&negated(a1), b1]])),
            Fp(dot2([[a0, b1], [a1, b0]])),
        ])
    }

    /// By `(re + im) (re - im)` and `2 re im`.
    #[inline(always)]
    fn square(&self) -> Self {
        let [Fp(re), Fp(im)] = &self.0;
        Self([
            Fp(dot1(&sum(re, im), &sum(re, &negated(im)))),
            Fp(dot1(&sum(re, re), im)),
        ])
    }

    #[inline(always)]
    fn half(&self) -> Self {
        Self(self.0.map(|part| part.half()))
    }

    #[inline(always)]
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        let ([Fp(a0), Fp(a1)], [Fp(b0), Fp(b1)]) = (&a.0, &b.0);
        let ([Fp(c0), Fp(c1)], [Fp(d0), Fp(d1)]) = (&c.0, &d.0);
        let (minus_a1, minus_c0, minus_c1) = (negated(a1), negated(c0), negated(c1));
        Self([
            Fp(dot4([[a0, b0], [&minus_a1, b1], [&minus_c0, d0], [c1, d1]])),
            Fp(dot4([[a0, b1], [a1, b0], [&minus_c0, d1], [&minus_c1, d0]])),
        ])
    }

    #[inline(always)]
    fn product_minus_square(a: &Self, b: &Self, c: &Self) -> Self {
        let ([Fp(a0), Fp(a1)], [Fp(b0), Fp(b1)]) = (&a.0, &b.0);
        let [Fp(c0), Fp(c1)] = &c.0;
        let minus_c0 = negated(c0);
        // c^2 is (c0 + c1) (c0 - c1) + 2 c0 c1 u.
        Self([
            Fp(dot3([
                [a0, b0],
                [&negated(a1), b1],
                [&sum(c0, c1), &sum(c1, &minus_c0)],
            ])),
            Fp(dot3([[a0, b1], [a1, b0], [&sum(c1, c1), &minus_c0]])),
        ])
    }

    /// By the norm.
    fn invert(&self) -> Self {
        self.conjugate().scale(&self.norm().invert())
    }
}

/// A second factor, with its negated imaginary part for the real part of the product.
pub(in super::super::super) struct Factor<'a> {
    re: &'a Words,
    im: &'a Words,
    minus_im: Words,
}

impl Fp2 {
    /// `sum x[i] y[i]` of two products.
    #[inline(always)]
    pub(super) fn dot2([x0, x1]: [&Self; 2], [y0, y1]: [&Factor<'_>; 2]) -> Self {
        let ([Fp(a0), Fp(a1)], [Fp(b0), Fp(b1)]) = (&x0.0, &x1.0);
        Self([
            Fp(dot4([
                [a0, y0.re],
                [a1, &y0.minus_im],
                [b0, y1.re],
                [b1, &y1.minus_im],
            ])),
            Fp(dot4([[a0, y0.im], [a1, y0.re], [b0, y1.im], [b1, y1.re]])),
        ])
    }
}

/// xi is `1 + u`.
impl Tower for Fp2 {
    type Factor<'a> = Factor<'a>;

    const FROBENIUS: [Self; 5] = FROBENIUS;

    #[inline(always)]
    fn conjugate(&self) -> Self {
        let [re, im] = &self.0;
        Self([*re, im.negate()])
    }

    #[inline(always)]
    fn mul_by_xi(&self) -> Self {
        let [re, im] = &self.0;
        Self([re.sub(im), re.add(im)])
    }

    #[inline(always)]
    fn factor(&self) -> Factor<'_> {
        let [Fp(re), Fp(im)] = &self.0;
        Factor {
            re,
            im,
            minus_im: negated(im),
        }
    }

    #[inline(always)]
    fn dot3([x0, x1, x2]: [&Self; 3], [y0, y1, y2]: [&Factor<'_>; 3]) -> Self {
        let ([Fp(a0), Fp(a1)], [Fp(b0), Fp(b1)]) = (&x0.0, &x1.0);
        let [Fp(c0), Fp(c1)] = &x2.0;
        Self([
            Fp(dot6([
                [a0, y0.re],
                [a1, &y0.minus_im],
                [b0, y1.re],
                [b1, &y1.minus_im],
                [c0, y2.re],
                [c1, &y2.minus_im],
            ])),
            Fp(dot6([
                [a0, y0.im],
                [a1, y0.re],
                [b0, y1.im],
                [b1, y1.re],
                [c0, y2.im],
                [c1, y2.re],
            ])),
        ])
    }

    /// With one reduction for each part of the result.
    #[inline(always)]
    fn square4(a: &Self, b: &Self) -> [Self; 2] {
        let ([Fp(a0), Fp(a1)], [Fp(b0), Fp(b1)]) = (&a.0, &b.0);
        let (twice_b0, twice_b1, minus_b1) = (sum(b0, b0), sum(b1, b1), negated(b1));
        let twice_minus_b1 = sum(&minus_b1, &minus_b1);
        // a^2 is (a0 + a1) (a0 - a1) + 2 a0 a1 u. The parts of xi b^2 are b0 (b0 - 2 b1) - b1^2 and
        // b0 (b0 + 2 b1) - b1^2. Sizes are at most 4 + 3 + 1.
        let real = [
            dot3([
                [&sum(a0, a1), &sum(a0, &negated(a1))],
                [b0, &sum(b0, &twice_minus_b1)],
                [b1, &minus_b1],
            ]),
            dot3([
                [a0, &sum(a1, a1)],
                [b0, &sum(b0, &twice_b1)],
                [b1, &minus_b1],
            ]),
        ];
        let product = [
            dot2([[a0, &twice_b0], [a1, &twice_minus_b1]]),
            dot2([[a0, &twice_b1], [a1, &twice_b0]]),
        ];
        [Self(real.map(Fp)), Self(product.map(Fp))]
    }
}

/// (1 + u)^((p - 1) k / 6) for k from 1 to 5.
const FROBENIUS: [Fp2; 5] = [
    Fp2::new([
        constant(
            "1904d3bf02bb0667c231beb4202c0d1f0fd603fd3cbd5f4f7b2443d784bab9c4f67ea53d63e7813d8d0775ed92235fb8",
        ),
        constant(
            "00fc3e2b36c4e03288e9e902231f9fb854a14787b6c7b36fec0c8ec971f63c5f282d5ac14d6c7ec22cf78a126ddc4af3",
        ),
    ]),
    Fp2::new([
        small(0),
        constant(
            "1a0111ea397fe699ec02408663d4de85aa0d857d89759ad4897d29650fb85f9b409427eb4f49fffd8bfd00000000aaac",
        ),
    ]),
    Fp2::new([
        constant(
            "06af0e0437ff400b6831e36d6bd17ffe48395dabc2d3435e77f76e17009241c5ee67992f72ec05f4c81084fbede3cc09",
        ),
        constant(
            "06af0e0437ff400b6831e36d6bd17ffe48395dabc2d3435e77f76e17009241c5ee67992f72ec05f4c81084fbede3cc09",
        ),
    ]),
    Fp2::new([
        constant(
            "1a0111ea397fe699ec02408663d4de85aa0d857d89759ad4897d29650fb85f9b409427eb4f49fffd8bfd00000000aaad",
        ),
        small(0),
    ]),
    Fp2::new([
        constant(
            "05b2cfd9013a5fd8df47fa6b48b1e045f39816240c0b8fee8beadf4d8e9c0566c63a3e6e257f87329b18fae980078116",
        ),
        constant(
            "144e4211384586c16bd3ad4afa99cc9170df3560e77982d0db45f3536814f0bd5871c1908bd478cd1ee605167ff82995",
        ),
    ]),
];
