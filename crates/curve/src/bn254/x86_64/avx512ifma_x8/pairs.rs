//! The points of up to eight pairs in the Miller loop, one pair per lane.
//!
//! Coordinates are below 3 p. A lane without a pair is always zero modulo p.

use super::{
    super::super::{
        G2,
        pairing::{Pair, Step},
        tower::{self, frobenius_factor},
    },
    field::Field,
    tower::{Factor, Fp2},
};
use crate::{field, group::Curve, lanes::LANES, montgomery::Adx};

/// Points of the twist, affine.
#[derive(Clone, Copy)]
struct Affine {
    x: Fp2,
    y: Fp2,
}

/// Eight pairs and their states in the Miller loop.
pub(super) struct Pairs {
    count: usize,
    /// -x and y of the points of G1.
    minus_px: Field,
    py: Field,
    q: Affine,
    psi: [Fp2; 2],
    triple_b: Fp2,
    x: Fp2,
    y: Fp2,
    z: Fp2,
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn splat(element: tower::Fp2<Adx>) -> Fp2 {
    Fp2::load(&[Some(element); LANES])
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn negated(a: &Fp2) -> Fp2 {
    Fp2::zero().sub(a, 3)
}

impl Pairs {
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn new(pairs: &[Pair<Adx>]) -> Self {
        let lanes: [_; LANES] = core::array::from_fn(|lane| pairs.get(lane));
        let q = Affine {
            x: Fp2::load(&lanes.map(|pair| pair.map(|pair| pair.q.x))),
            y: Fp2::load(&lanes.map(|pair| pair.map(|pair| pair.q.y))),
        };
        let px = Field::load(&lanes.map(|pair| pair.map(|pair| pair.p.x)));
        let b = <G2<Adx> as Curve>::b();
        Self {
            count: pairs.len(),
            minus_px: Field::zero().loose().minus(&px).plus_p(2).carried(),
            py: Field::load(&lanes.map(|pair| pair.map(|pair| pair.p.y))),
            q,
            psi: [
                splat(const { frobenius_factor(2) }),
                splat(const { frobenius_factor(3) }),
            ],
            triple_b: splat(field::Field::add(&field::Field::double(&b), &b)),
            x: q.x,
            y: q.y,
            z: Fp2::one(),
        }
    }

    /// Number of pairs.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Performs a step and returns the lines' coefficients, whose bounds add up to less than 8 p.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn take(&mut self, step: Step) -> [Factor; 3] {
        match step {
            Step::Double => self.double(),
            Step::Add { negative: false } => self.add(&self.q.clone()),
            Step::Add { negative: true } => self.add(&Affine {
                x: self.q.x,
                y: negated(&self.q.y),
            }),
            Step::AddPsi => self.add(&self.psi(&self.q)),
            Step::SubtractPsiSquared => {
                let Affine { x, y } = self.psi(&self.psi(&self.q));
                let y = negated(&y);
                self.add(&Affine { x, y })
            }
        }
    }

    /// Like the scalar `Pair::double`, but with a and g twice as large, which avoids the halvings and makes the point's
    /// coordinates four times as large. The line is negated.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn double(&mut self) -> [Factor; 3] {
        let a = self.x.mul(&self.y); // below 2.2 p, like all such products below
        let b = self.y.square(3); // 1.5
        let c = self.z.square(3); // 1.5
        let e = self.triple_b.mul(&c); // 2.2
        let f = e.tripled(); // 6.6
        let g = b.add(&f); // 8.1
        let h = self.y.doubled::<1>().mul(&self.z); // 2.3
        let j = self.x.square(3); // 1.5
        self.x = a.doubled::<1>().mul(&b.sub(&f, 7)); // 4.4 * 8.5: 2.5
        // 4.3 + 16, as e^2 is below 1.3.
        self.y = g.square(9).zip(&e.square(3), |gg, ee| {
            let twelve = ee.loose().tripled().doubled::<2>();
            gg.loose().plus_p(16).minus_loose(twelve).reduce()
        });
        self.z = b.doubled::<2>().mul(&h); // 2.2
        [
            h.scale(&self.py).factor(),                 // 1.1
            j.tripled().scale(&self.minus_px).factor(), // 1.2
            b.sub(&e, 3).factor(),                      // 4.5
        ]
    }

    /// Like the scalar `Pair::add`. q is below 3 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add(&mut self, q: &Affine) -> [Factor; 3] {
        let theta = self.y.sub(&q.y.mul(&self.z), 3); // 6
        let lambda = self.x.sub(&q.x.mul(&self.z), 3); // 6
        let c = theta.square(6); // 2.8
        let d = lambda.square(6); // 2.8
        let e = lambda.mul(&d); // 2.2
        let f = self.z.mul(&c); // 2.1
        let g = self.x.mul(&d); // 2.1
        let h = e.add(&f).sub(&g.doubled::<1>(), 5); // 9.3
        self.x = lambda.mul(&h); // 2.7
        self.y = theta
            .mul(&g.sub(&h, 10)) // 2.9
            .zip(&e.mul(&self.y), |a, b| {
                a.loose().minus(b).plus_p(3).reduce() // 5.9
            });
        self.z = self.z.mul(&e); // 2.1
        let j = theta.mul(&q.x).sub(&lambda.mul(&q.y), 3); // 5.3
        [
            lambda.scale(&self.py).factor(),      // 1.1
            theta.scale(&self.minus_px).factor(), // 1.2
            j.factor(),
        ]
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn psi(&self, q: &Affine) -> Affine {
        let map = |a: &Fp2, factor: &Fp2| {
            let im = Field::zero().loose().minus(&a.im).plus_p(3).carried();
            Fp2 { re: a.re, im }.mul(factor)
        };
        Affine {
            x: map(&q.x, &self.psi[0]),
            y: map(&q.y, &self.psi[1]),
        }
    }

    /// Whether all points of the twist are in G2, like the scalar `Pair::is_in_subgroup`. To be called after the Miller
    /// loop.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn are_in_subgroup(&self) -> bool {
        let end = self.psi(&self.psi(&self.psi(&self.q)));
        let x = self.x.sub(&end.x.mul(&self.z), 3).store();
        let y = self.y.add(&end.y.mul(&self.z)).store();
        let z = self.z.store();
        let is_zero = |a: &tower::Fp2<Adx>| field::Field::is_zero(a);
        (0..self.count).all(|i| is_zero(&x[i]) && is_zero(&y[i]) && !is_zero(&z[i]))
    }
}
