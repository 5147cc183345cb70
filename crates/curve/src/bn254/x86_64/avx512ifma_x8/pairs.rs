//! The points of up to eight pairs in the Miller loop, one pair per lane.
//!
//! Coordinates are below 3 p. A lane without a pair is always zero modulo p.

use super::{
    super::super::{
        G2,
        pairing::{Pair, Step},
        tower,
    },
    field::Field,
    tower::{Factor, Fp2, Loose},
};
use crate::{field, group::Curve, lanes::LANES, montgomery::Adx, tower::Tower};

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
            minus_px: px.negate_where::<2>(!0),
            py: Field::load(&lanes.map(|pair| pair.map(|pair| pair.p.y))),
            q,
            psi: [
                splat(tower::Fp2::FROBENIUS[1]),
                splat(tower::Fp2::FROBENIUS[2]),
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
                y: self.q.y.negate_where::<3>(!0),
            }),
            Step::AddPsi => self.add(&self.psi(&self.q)),
            Step::SubtractPsiSquared => {
                let Affine { x, y } = self.psi(&self.psi(&self.q));
                let y = y.negate_where::<3>(!0);
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
        let b = self.y.square::<3>(); // 1.5
        let c = self.z.square::<3>(); // 1.5
        let e = self.triple_b.mul(&c); // 2.2
        let f = e.times::<3>(); // 6.6
        let g = b.add(&f); // 8.1
        let h = self.y.times::<2>().mul(&self.z); // 2.3
        let j = self.x.square::<3>(); // 1.5
        self.x = a.times::<2>().mul(&b.minus::<1, 1, 7>(&f)); // 4.4 * 8.5: 2.5
        // 4.3 + 16, as e^2 is below 1.3.
        let (gg, ee) = (g.square::<9>(), e.square::<3>());
        self.y = Loose::each(|i| gg.limb(i).minus(ee.limb(i).times::<12>()))
            .reduce::<254, 16>()
            .carried::<0>();
        self.z = b.times::<4>().mul(&h); // 2.2
        [
            Factor::new(&h.scale(&self.py)),                    // 1.1
            Factor::new(&j.times::<3>().scale(&self.minus_px)), // 1.2
            Factor::new(&b.minus::<1, 1, 3>(&e)),               // 4.5
        ]
    }

    /// Like the scalar `Pair::add`. q is below 3 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add(&mut self, q: &Affine) -> [Factor; 3] {
        let theta = self.y.minus::<1, 1, 3>(&q.y.mul(&self.z)); // 6
        let lambda = self.x.minus::<1, 1, 3>(&q.x.mul(&self.z)); // 6
        let c = theta.square::<6>(); // 2.8
        let d = lambda.square::<6>(); // 2.8
        let e = lambda.mul(&d); // 2.2
        let f = self.z.mul(&c); // 2.1
        let g = self.x.mul(&d); // 2.1
        let h = e.add(&f).minus::<1, 2, 5>(&g); // 9.3
        self.x = lambda.mul(&h); // 2.7
        let a = theta.mul(&g.minus::<1, 1, 10>(&h)); // 2.9
        let b = e.mul(&self.y);
        self.y = Loose::each(|i| a.limb(i).minus(b.limb(i)))
            .reduce::<254, 3>() // 5.9
            .carried::<0>();
        self.z = self.z.mul(&e); // 2.1
        let j = theta.mul(&q.x).minus::<1, 1, 3>(&lambda.mul(&q.y)); // 5.3
        [
            Factor::new(&lambda.scale(&self.py)),      // 1.1
            Factor::new(&theta.scale(&self.minus_px)), // 1.2
            Factor::new(&j),
        ]
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn psi(&self, q: &Affine) -> Affine {
        Affine {
            x: q.x.conjugate::<3>().mul(&self.psi[0]),
            y: q.y.conjugate::<3>().mul(&self.psi[1]),
        }
    }

    /// Whether all points of the twist are in G2, like the scalar `Pair::is_in_subgroup`. To be called after the Miller
    /// loop.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn are_in_subgroup(&self) -> bool {
        let end = self.psi(&self.psi(&self.psi(&self.q)));
        let x = self.x.minus::<1, 1, 3>(&end.x.mul(&self.z)).store();
        let y = self.y.add(&end.y.mul(&self.z)).store();
        let z = self.z.store();
        let is_zero = |a: &tower::Fp2<Adx>| field::Field::is_zero(a);
        (0..self.count).all(|i| is_zero(&x[i]) && is_zero(&y[i]) && !is_zero(&z[i]))
    }
}
