//! Clearing cofactors: the multiple of a point of the curve that is in the group.
//!
//! For G1, the steps are those of `multiple`, for the point of the check. For G2 they are repeated here for one point that
//! fills all lanes: 0 to 2 hold the real parts of X, Y and Z, 4 to 6 the imaginary ones. So a product takes half the
//! instructions. The formulas are the same, and complete.

use blst::blst_fp2;

use super::{
    super::super::{
        endomorphism::X,
        fields::{Element, Fp, Fp2, G1, G2},
    },
    field::{FpLanes, dot},
    group::LaneGroup,
    multiple::{self, CHECK},
    pairs::{WIDTH, both, mask},
    products::{Limb, Loose},
};
use crate::{
    field::LazyField,
    group::Jacobian,
    lanes::{LANES, field::One},
};

/// `(X + 1) P`
#[target_feature(enable = "avx512f,avx512ifma")]
pub(in super::super::super) fn clear_g1(p: &Jacobian<G1>) -> Jacobian<G1> {
    let point = multiple::load::<G1>(projective(p));
    let summand = multiple::summand(&point, CHECK, false);
    let mut sum = point;
    for bit in (0..X.ilog2()).rev() {
        sum = multiple::double(&sum);
        if X >> bit & 1 == 1 {
            multiple::add::<_, CHECK>(&mut sum, &summand, false);
        }
    }
    multiple::add::<_, CHECK>(&mut sum, &summand, false);
    let [x, y, z, ..] = sum.element().store();
    multiple::jacobian([x, y, z])
}

fn projective<G: LaneGroup>(p: &Jacobian<G>) -> [G::Field; 3] {
    [p.x.mul(&p.z), p.y, p.z.square().mul(&p.z)]
}

/// `(X^2 + X - 1) P - (X + 1) image(P) + image(image(2 P))`
#[target_feature(enable = "avx512f,avx512ifma")]
pub(in super::super::super) fn clear_g2(p: &Jacobian<G2>) -> Jacobian<G2> {
    let p = Point::load(projective(p));
    let factors = Point::load([G2::BY_X, G2::BY_Y, Fp2::ONE]).0;
    let next = p.times_x().add(&p);
    let minus = p.add(&next.image(&factors)).negated();
    let twice = p.doubled().image(&factors).image(&factors);
    let [x, y, z] = next.times_x().add(&minus).add(&twice).store();
    multiple::jacobian([x, y, z])
}

/// Lanes of the real parts.
const REAL: u8 = 0x0f;
/// Lanes of the imaginary parts.
const IMAGINARY: u8 = 0xf0;

/// Selects these lanes of four from the halves that start at lanes `real` and `imaginary`.
const fn halves(of: [u64; WIDTH], real: u64, imaginary: u64) -> [u64; LANES] {
    let (mut lanes, mut i) = ([0; LANES], 0);
    while i < WIDTH {
        lanes[i] = of[i] + real;
        lanes[i + WIDTH] = of[i] + imaginary;
        i += 1;
    }
    lanes
}

/// The first factors of products in Fp2: the real parts in both halves; and the imaginary parts, negated in the first.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn first(x: &FpLanes, of: [u64; WIDTH]) -> [FpLanes; 2] {
    let imaginary = x.permuted(x, &halves(of, 4, 4));
    [
        x.permuted(x, &halves(of, 0, 0)),
        imaginary.negate_where::<256>(REAL),
    ]
}

/// The second factors: both parts, and both exchanged.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn second(y: &FpLanes, of: [u64; WIDTH]) -> [FpLanes; 2] {
    [
        y.permuted(y, &halves(of, 0, 4)),
        y.permuted(y, &halves(of, 4, 0)),
    ]
}

/// Products of factors below 256 p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn product([a, b]: [FpLanes; 2], [c, d]: [FpLanes; 2]) -> FpLanes {
    FpLanes::strict(dot::<2, true>([&a.0[0], &b.0[0]], [&c.0[0], &d.0[0]]))
}

/// Sums of two products.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn sum_of_products(x: [[FpLanes; 2]; 2], y: [[FpLanes; 2]; 2]) -> FpLanes {
    let ([[a, b], [c, d]], [[e, f], [g, h]]) = (&x, &y);
    FpLanes::strict(dot::<4, true>(
        [&a.0[0], &b.0[0], &c.0[0], &d.0[0]],
        [&e.0[0], &f.0[0], &g.0[0], &h.0[0]],
    ))
}

/// Multiplies by 3 b = 12 (1 + u).
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn times_3b(limb: Limb<One>) -> Limb<One> {
    let swapped = limb.permuted(&const { halves([0, 1, 2, 3], 4, 0) });
    limb.minus_where::<REAL>(swapped)
        .plus_where::<IMAGINARY>(swapped)
        .times::<12>()
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn loose(x: &FpLanes) -> Loose<One> {
    Loose::each(|i| x.limb(i))
}

const ALL: [u64; WIDTH] = [0, 1, 2, 3];

/// A point of G2's curve: X, Y, Z, unused. Coordinates are below 4 p.
#[derive(Clone, Copy)]
struct Point(FpLanes);

impl Point {
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn load(coordinates: [Fp2; 3]) -> Self {
        let mut lanes = [Fp::ZERO; LANES];
        for (i, c) in coordinates.into_iter().enumerate() {
            [lanes[i], lanes[i + WIDTH]] = c.0.fp.map(Element);
        }
        Self(FpLanes::load(&lanes))
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn store(&self) -> [Fp2; 3] {
        let lanes = self.0.store();
        core::array::from_fn(|i| {
            Element(blst_fp2 {
                fp: [lanes[i].0, lanes[i + WIDTH].0],
            })
        })
    }

    /// `X P`
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn times_x(&self) -> Self {
        let mut multiple = *self;
        for bit in (0..X.ilog2()).rev() {
            multiple = multiple.doubled();
            if X >> bit & 1 == 1 {
                multiple = multiple.add(self);
            }
        }
        multiple
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn negated(&self) -> Self {
        Self(self.0.negate_where::<4>(mask(1)))
    }

    /// The endomorphism, given the factors of x, y and 1.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn image(&self, factors: &FpLanes) -> Self {
        let conjugate = self.0.negate_where::<4>(IMAGINARY);
        Self(product(first(&conjugate, ALL), second(factors, ALL)))
    }

    /// `multiple::double`
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn doubled(&self) -> Self {
        let products = product(first(&self.0, [0, 1, 2, 1]), second(&self.0, [1, 1, 2, 2]));
        let [x, y] = multiple::second_factors(&loose(&products), |limb| times_3b(limb));
        let products = product(
            first(&x.carried::<16>(), ALL),
            second(&y.carried::<128>(), ALL),
        );
        Self(multiple::doubled(&loose(&products)).carried::<0>())
    }

    /// `multiple::add`
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add(&self, other: &Self) -> Self {
        let (Self(p), Self(q)) = (self, other);
        // t0, t1, t2
        let t = product(first(p, ALL), second(q, ALL));
        // t3, t4, t5
        let s = sum_of_products(
            [first(p, [0, 1, 0, 3]), first(p, [1, 2, 2, 3])],
            [second(q, [1, 2, 2, 3]), second(q, [0, 1, 0, 3])],
        );
        // 3 b t2, in -14 p .. 27 p.
        let b = |i: usize| times_3b(t.limb(i).permuted(&const { both([2; 4]) }));
        let t1 = |i: usize| t.limb(i).permuted(&const { both([1; 4]) });
        // t3, u, t4, and v, v, u
        let x = Loose::each(|i| {
            let limb = s.limb(i).permuted(&const { both([0, 0, 1, 1]) });
            limb.select(mask(1), t1(i).plus(b(i)))
        });
        let y = Loose::each(|i| {
            t1(i)
                .minus_where::<{ mask(0) | mask(1) }>(b(i))
                .plus_where::<{ mask(2) }>(b(i))
        });
        // -t4, 3 t0, 3 t0, and w, w, t3
        let z = Loose::each(|i| {
            let t0 = t.limb(i).permuted(&const { both([0; 4]) });
            let t4 = s.limb(i).permuted(&const { both([1; 4]) });
            t0.times::<3>()
                .select(mask(0), Loose::multiple::<2>(i).minus(t4))
        });
        let w = Loose::each(|i| {
            let w = times_3b(s.limb(i).permuted(&const { both([2; 4]) }));
            w.select(mask(2), s.limb(i).permuted(&const { both([0; 4]) }))
        });
        Self(sum_of_products(
            [
                first(&x.carried::<16>(), ALL),
                first(&z.carried::<0>(), ALL),
            ],
            [
                second(&y.carried::<32>(), ALL),
                second(&w.carried::<16>(), ALL),
            ],
        ))
    }
}
