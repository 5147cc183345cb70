//! Points of both groups, one in each lane.
//!
//! In a sum of multiples, each lane gets the same number of points, and all points in all lanes share their doublings.
//! Each lane starts with a point that is not in the subgroup, half of the lanes with its opposite. So no partial sum is
//! in the subgroup, and none equals an added point, its opposite or infinity. At the end the starting points of the
//! lanes cancel out.
//!
//! Source: Strauss' interleaving, \[HMV04\] algorithm 3.51; subgroups: \[Scott21\].

use alloc::{vec, vec::Vec};
use core::arch::x86_64::*;

use super::{
    super::{super::groups::Group, adx},
    field::{Extension, Lanes},
    group::LaneGroup,
};
use crate::{
    field::LazyField,
    group::{Affine, Jacobian, signed_digits, sums_with_one_z},
    lanes::{
        LANES,
        field::Products,
        load,
        points::{AffineLanes, JacobianLanes},
    },
};

/// Bits of a digit of a multiplier.
const WINDOW: usize = 4;
/// Number of multiples of a point in a table.
const ENTRIES: usize = 1 << (WINDOW - 1);

/// Multiples of one point per lane, on a curve isomorphic by `scale`, and the digits of its multiplier.
struct Term<D: Extension> {
    multiples: [AffineLanes<Lanes<D>>; ENTRIES],
    scale: Lanes<D>,
    /// The product of the scales of all other terms.
    others: Lanes<D>,
    digits: Vec<[u64; LANES]>,
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn load_points<G: LaneGroup>(points: &[Affine<G>; LANES]) -> AffineLanes<Lanes<G::Degree>> {
    AffineLanes {
        x: Lanes::load(&points.map(|point| point.x)),
        y: Lanes::load(&points.map(|point| point.y)),
    }
}

impl<D: Extension> Term<D> {
    /// Takes points of the group.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn new<G: LaneGroup<Degree = D>>(terms: &[(Affine<G>, u128); LANES]) -> Self {
        let point = load_points(&terms.map(|(point, _)| point));
        let [double, same] = point.double_with_one_z();
        let mut more = [point; ENTRIES - 1];
        let (same, scale) = sums_with_one_z(
            &mut more,
            [same, double],
            point.y.times::<2>(),
            |a, b| a.mul(b),
            |point, scale| point.scaled(scale),
            |_, step, sum| step.add_with_one_z(sum),
        );
        let mut multiples = [same; ENTRIES];
        multiples[1..].copy_from_slice(&more);
        // A multiplier has 64 POWER bits, and the last digit is a carry.
        let mut rows = vec![[0; LANES]; 64 * G::POWER / WINDOW + 1];
        for (lane, (_, multiplier)) in terms.iter().enumerate() {
            for (row, digit) in rows.iter_mut().zip(signed_digits(*multiplier, WINDOW)) {
                row[lane] = i64::from(digit).cast_unsigned();
            }
        }
        Self {
            multiples,
            scale,
            others: Lanes::one(),
            digits: rows,
        }
    }

    /// Adds digit i times each lane's point to a sum on the curve isomorphic by the product of all scales.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add_to(&self, sum: &JacobianLanes<Lanes<D>>, i: usize) -> JacobianLanes<Lanes<D>> {
        let digit = load(&self.digits[i]);
        let magnitude = _mm512_abs_epi64(digit);
        let mut entry = self.multiples[0];
        for (at, multiple) in self.multiples.iter().enumerate().skip(1) {
            let mask = _mm512_cmpeq_epi64_mask(magnitude, _mm512_set1_epi64(at as i64 + 1));
            entry.x = entry.x.select(mask, &multiple.x);
            entry.y = entry.y.select(mask, &multiple.y);
        }
        let zero = _mm512_setzero_si512();
        let entry = entry.negate_where(_mm512_cmplt_epi64_mask(digit, zero));
        let more = sum.add_as(&entry, &sum.z.mul(&self.others));
        sum.select(_mm512_test_epi64_mask(digit, digit), &more)
    }
}

/// Computes the sum of multiples of points in the group.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn sum<G: Group>(terms: &[(Affine<G>, u128)]) -> Jacobian<G> {
    let Some((last, _)) = terms.last() else {
        return Jacobian::INFINITY;
    };
    let mut sets: Vec<Term<G::Degree>> = terms
        .chunks(LANES)
        .map(|chunk| {
            let mut lanes = [(*last, 0); LANES];
            lanes[..chunk.len()].copy_from_slice(chunk);
            Term::new(&lanes)
        })
        .collect();
    let mut scale = Lanes::one();
    for set in &mut sets {
        set.others = scale;
        scale = scale.mul(&set.scale);
    }
    let mut after = Lanes::one();
    for set in sets.iter_mut().rev() {
        set.others = set.others.mul(&after);
        after = after.mul(&set.scale);
    }
    let base = load_points(&[G::outside(); LANES])
        .negate_where(0x55)
        .scaled(&scale);
    let mut sum = JacobianLanes {
        x: base.x,
        y: base.y,
        z: Lanes::one(),
    };
    let length = sets[0].digits.len();
    for i in (0..length).rev() {
        if i + 1 < length {
            for _ in 0..WINDOW {
                sum = sum.double();
            }
        }
        for set in &sets {
            sum = set.add_to(&sum, i);
        }
    }
    let (x, y, z) = (sum.x.store(), sum.y.store(), sum.z.mul(&scale).store());
    adx::sum_of_points((0..LANES).map(|lane| Jacobian {
        x: x[lane],
        y: y[lane],
        z: z[lane],
    }))
}

/// Whether these points of the curve, one to eight, are in the group: `X^POWER` times each must be the opposite of its
/// image.
///
/// An exceptional addition leaves Z = 0, and later steps preserve it. This does not happen for points of the group, as
/// the multiplier is below the order.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn are_in_group<G: LaneGroup>(points: &[Affine<G>]) -> bool {
    let multiplier = G::multiplier();
    let mut lanes = [points[0]; LANES];
    lanes[..points.len()].copy_from_slice(points);
    let point = load_points(&lanes);
    let mut sum = JacobianLanes {
        x: point.x,
        y: point.y,
        z: Lanes::one(),
    };
    for bit in (0..multiplier.ilog2()).rev() {
        sum = sum.double();
        if multiplier >> bit & 1 == 1 {
            sum = sum.add(&point);
        }
    }
    let image = load_points(&lanes.map(|point| G::image(&point))).scaled(&sum.z);
    let x = image.x.minus::<1, 1, 11>(&sum.x).store();
    // The sum of both y coordinates.
    let y = image
        .y
        .negate_where::<2>(!0)
        .minus::<1, 1, 11>(&sum.y)
        .store();
    let z = sum.z.store();
    let mut lanes = x.iter().zip(&y).zip(&z);
    lanes.all(|((x, y), z)| x.is_zero() && y.is_zero() && !z.is_zero())
}
