//! Points of both groups.
//!
//! In a sum of multiples, each lane gets the same number of points, and all points in all lanes share their doublings.
//! Each lane starts with a point that is not in the subgroup, half of the lanes with its opposite. So no partial sum is
//! in the subgroup, and none equals an added point, its opposite or infinity. At the end the starting points of the
//! lanes cancel out.
//!
//! Source: Strauss' interleaving, \[HMV04\] algorithm 3.51; subgroups: \[Scott21\].

use alloc::vec::Vec;
use core::arch::x86_64::*;

use crate::{
    field::LazyField,
    group::{Affine, odd_multiples_by},
    lanes::{LANES, load, points::points_of_lanes},
};

/// Bits of a digit of a multiplier.
const WINDOW: usize = 4;
/// Number of multiples of a point in a table.
const ENTRIES: usize = 1 << (WINDOW - 1);

/// Returns the signed digits of a multiplier, lowest first: from `-2^(WINDOW - 1) + 1` to `2^(WINDOW - 1)`, the last
/// one 0 or 1.
pub(super) fn digits<const DIGITS: usize>(k: u128) -> [i8; DIGITS] {
    let mut carry = 0;
    core::array::from_fn(|i| {
        let low = k.checked_shr((WINDOW * i) as u32).unwrap_or(0) as i8 & ((1 << WINDOW) - 1);
        let digit = low + carry;
        carry = i8::from(digit > ENTRIES as i8);
        digit - (carry << WINDOW)
    })
}

macro_rules! group {
    ($group:ident, $curve:ident, $scalar:ident, $field:ident, $jacobian:ident, $bits:literal, $base:expr) => {
        pub(in super::super::super) mod $group {
            use blst::$jacobian;

            use super::super::super::super::{
                fields::{$curve, $scalar},
                groups::Group as _,
            };
            use super::{super::field::$field, *};

            points_of_lanes!(AffineLanes, JacobianLanes, $field);

            /// Number of digits of a multiplier.
            const DIGITS: usize = $bits / WINDOW + 1;

            /// Multiples of one point per lane, on a curve isomorphic by `scale`, and the digits of its multiplier.
            struct Term {
                multiples: [AffineLanes; ENTRIES],
                scale: $field,
                /// The product of the scales of all other terms.
                others: $field,
                digits: [[u64; LANES]; DIGITS],
            }

            #[target_feature(enable = "avx512f,avx512ifma")]
            fn load_points(points: &[Affine<$curve>; LANES]) -> AffineLanes {
                AffineLanes {
                    x: $field::load(&points.map(|point| point.x)),
                    y: $field::load(&points.map(|point| point.y)),
                }
            }

            impl Term {
                /// Takes points of the subgroup.
                #[target_feature(enable = "avx512f,avx512ifma")]
                fn new(terms: &[(Affine<$curve>, u128); LANES]) -> Self {
                    let point = load_points(&terms.map(|(point, _)| point));
                    let [double, same] = point.double_with_one_z();
                    let mut more = [point; ENTRIES - 1];
                    let scale = odd_multiples_by(
                        &mut more,
                        [same, double],
                        point.y.times::<2>(),
                        |a, b| a.mul(b),
                        |point, scale| point.scaled(scale),
                        |_, step, sum| step.add_with_one_z(sum),
                    );
                    let mut multiples = [point.scaled(&scale); ENTRIES];
                    multiples[1..].copy_from_slice(&more);
                    let lanes = terms.map(|(_, multiplier)| digits::<DIGITS>(multiplier));
                    Self {
                        multiples,
                        scale,
                        others: $field::one(),
                        digits: core::array::from_fn(|i| {
                            lanes.map(|digits| i64::from(digits[i]).cast_unsigned())
                        }),
                    }
                }

                /// Adds digit i times each lane's point to a sum on the curve isomorphic by the product of all scales.
                #[inline]
                #[target_feature(enable = "avx512f,avx512ifma")]
                fn add_to(&self, sum: &JacobianLanes, i: usize) -> JacobianLanes {
                    let digit = load(&self.digits[i]);
                    let magnitude = _mm512_abs_epi64(digit);
                    let mut entry = self.multiples[0];
                    for (at, multiple) in self.multiples.iter().enumerate().skip(1) {
                        let here = _mm512_set1_epi64(at as i64 + 1);
                        let mask = _mm512_cmpeq_epi64_mask(magnitude, here);
                        entry.x = entry.x.select(mask, &multiple.x);
                        entry.y = entry.y.select(mask, &multiple.y);
                    }
                    let zero = _mm512_setzero_si512();
                    let entry = entry.negate_where(_mm512_cmplt_epi64_mask(digit, zero));
                    let more = sum.add_as(&entry, &sum.z.mul(&self.others));
                    sum.select(_mm512_test_epi64_mask(digit, digit), &more)
                }
            }

            /// Computes the sum of multiples of points in the subgroup. Multipliers have at most the number of bits
            /// given for the group.
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(in super::super::super::super) fn sum(
                terms: &[(Affine<$curve>, u128)],
            ) -> $jacobian {
                let Some((last, _)) = terms.last() else {
                    return $jacobian::default();
                };
                let mut sets: Vec<Term> = terms
                    .chunks(LANES)
                    .map(|chunk| {
                        let mut lanes = [(*last, 0); LANES];
                        lanes[..chunk.len()].copy_from_slice(chunk);
                        Term::new(&lanes)
                    })
                    .collect();
                let base: Affine<$curve> = $base;
                let mut scale = $field::one();
                for set in &mut sets {
                    set.others = scale;
                    scale = scale.mul(&set.scale);
                }
                let mut after = $field::one();
                for set in sets.iter_mut().rev() {
                    set.others = set.others.mul(&after);
                    after = after.mul(&set.scale);
                }
                let base = load_points(&[base; LANES])
                    .negate_where(0x55)
                    .scaled(&scale);
                let mut sum = JacobianLanes {
                    x: base.x,
                    y: base.y,
                    z: $field::one(),
                };
                for i in (0..DIGITS).rev() {
                    if i + 1 < DIGITS {
                        for _ in 0..WINDOW {
                            sum = sum.double();
                        }
                    }
                    for set in &sets {
                        sum = set.add_to(&sum, i);
                    }
                }
                let (x, y, z) = (sum.x.store(), sum.y.store(), sum.z.mul(&scale).store());
                let mut total = $jacobian::default();
                for ((x, y), z) in x.iter().zip(&y).zip(&z) {
                    let lane = $jacobian {
                        x: x.0,
                        y: y.0,
                        z: z.0,
                    };
                    total = $curve::sum(&total, &lane);
                }
                total
            }

            /// Whether `multiplier` times each point is the opposite of its image. Takes one to eight points.
            ///
            /// An exceptional addition leaves Z = 0, and later steps preserve it. This does not happen for points of
            /// the subgroup, as the multiplier is below the order.
            #[target_feature(enable = "avx512f,avx512ifma")]
            pub(in super::super::super::super) fn are_opposite_multiples(
                points: &[Affine<$curve>],
                multiplier: u128,
                image: impl Fn(&Affine<$curve>) -> Affine<$curve>,
            ) -> bool {
                let mut lanes = [points[0]; LANES];
                lanes[..points.len()].copy_from_slice(points);
                let point = load_points(&lanes);
                let mut sum = JacobianLanes {
                    x: point.x,
                    y: point.y,
                    z: $field::one(),
                };
                for bit in (0..multiplier.ilog2()).rev() {
                    sum = sum.double();
                    if multiplier >> bit & 1 == 1 {
                        sum = sum.add(&point);
                    }
                }
                let image = load_points(&lanes.map(|point| image(&point))).scaled(&sum.z);
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
        }
    };
}

group!(
    g1,
    G1,
    Fp,
    FpLanes,
    blst_p1,
    128,
    // (0, 2), of order 3.
    Affine {
        x: Fp::ZERO,
        y: Fp::ONE.double()
    }
);
group!(
    g2,
    G2,
    Fp2,
    Fp2Lanes,
    blst_p2,
    64,
    // (-1, 2 + u).
    Affine {
        x: Fp2::ONE.negate(1),
        y: Fp2::TWO_PLUS_U
    }
);
