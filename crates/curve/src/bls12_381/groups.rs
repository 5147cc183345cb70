//! G1 and G2: blst's functions on them and the vector kernels behind one trait.

use blst::*;
#[cfg(target_arch = "x86_64")]
use lydite_hash::cpu::Avx512Ifma;

use super::fields::{Fp, Fp2, G1, G2};
#[cfg(target_arch = "x86_64")]
use super::{
    endomorphism::{g1_terms, g2_terms},
    x86_64,
};
use crate::group::{Affine, Curve, Jacobian};

/// Bits of a scalar below r.
const SCALAR_BITS: usize = 255;

/// The number of bits of a scalar, rounded up to bytes: blst computes short multiples faster.
fn bits(scalar: &blst_scalar) -> usize {
    let highest = scalar.b.iter().rposition(|byte| *byte != 0);
    SCALAR_BITS.min(8 * (highest.unwrap_or(0) + 1))
}

/// A group. Its points are those of a subgroup of the curve.
pub(super) trait Group: Curve + Copy {
    /// A finite point of the curve in blst's form.
    type AffinePoint: Copy + Default;
    /// A point of the curve in blst's form, in Jacobian coordinates.
    type Point: Copy + Default;

    /// Number of points up to which the vector kernels multiply each separately faster than all at once.
    #[cfg(target_arch = "x86_64")]
    const ONE_BY_ONE_UP_TO: usize;

    fn to_affine_point(point: Affine<Self>) -> Self::AffinePoint;

    #[cfg(target_arch = "x86_64")]
    fn from_affine_point(point: &Self::AffinePoint) -> Affine<Self>;

    fn from_point(point: &Self::Point) -> Jacobian<Self>;

    /// Whether a point of the curve is in the group.
    fn contains(point: &Self::AffinePoint) -> bool;

    /// The multiple of a point of the group.
    fn multiple(point: &Self::AffinePoint, scalar: &blst_scalar) -> Self::Point;

    /// The sum of multiples of points of the group, by Pippenger's algorithm. Takes at least one.
    fn sum_of_multiples(points: &[Self::AffinePoint], scalars: &[blst_scalar]) -> Self::Point;

    /// The sum of two points, which may be equal.
    #[cfg(target_arch = "x86_64")]
    fn sum(a: &Self::Point, b: &Self::Point) -> Self::Point;

    /// Splits a product, its scalar given in base X, into terms with shorter multipliers.
    #[cfg(target_arch = "x86_64")]
    fn terms(
        point: Affine<Self>,
        digits: [u64; 4],
    ) -> impl IntoIterator<Item = (Affine<Self>, u128)>;

    /// Whether one to eight points of the curve are in the group.
    #[cfg(target_arch = "x86_64")]
    fn contains_all_by_lanes(evidence: Avx512Ifma, points: &[Affine<Self>]) -> bool;

    /// The multiple of a point of the curve by a scalar in base X; `None` if the point is not in the group.
    #[cfg(target_arch = "x86_64")]
    fn multiple_by_lanes(
        evidence: Avx512Ifma,
        point: &Affine<Self>,
        scalar: &[u64; 4],
    ) -> Option<Self::Point>;

    /// The sum of terms.
    #[cfg(target_arch = "x86_64")]
    fn sum_by_lanes(evidence: Avx512Ifma, terms: &[(Affine<Self>, u128)]) -> Self::Point;
}

macro_rules! group {
    (
        $group:ident over $field:ident, $affine:ident, $point:ident, contains: $in_group:ident,
        multiple: $from_affine:ident $mult:ident, sum_of_multiples: $pippenger:ident $scratch_size:ident, sum: $add:ident,
        terms: $terms:ident, by lanes: $in_lanes:ident,
        $multiple_lanes:ident up to $one_by_one:literal, $sum_lanes:ident
    ) => {
        impl Group for $group {
            type AffinePoint = $affine;
            type Point = $point;

            #[cfg(target_arch = "x86_64")]
            const ONE_BY_ONE_UP_TO: usize = $one_by_one;

            fn to_affine_point(Affine { x, y }: Affine<Self>) -> $affine {
                $affine { x: x.0, y: y.0 }
            }

            #[cfg(target_arch = "x86_64")]
            fn from_affine_point(point: &$affine) -> Affine<Self> {
                Affine {
                    x: $field(point.x),
                    y: $field(point.y),
                }
            }

            fn from_point(point: &$point) -> Jacobian<Self> {
                Jacobian {
                    x: $field(point.x),
                    y: $field(point.y),
                    z: $field(point.z),
                }
            }

            fn contains(point: &$affine) -> bool {
                // SAFETY: the pointer comes from a reference to a point.
                unsafe { $in_group(point) }
            }

            fn multiple(point: &$affine, scalar: &blst_scalar) -> $point {
                let (mut jacobian, mut product) = ($point::default(), $point::default());
                // SAFETY: the pointers come from references to points; the scalar has 32 bytes, and `bits` returns at most
                // 255.
                unsafe {
                    $from_affine(&mut jacobian, point);
                    $mult(&mut product, &jacobian, scalar.b.as_ptr(), bits(scalar));
                }
                product
            }

            fn sum_of_multiples(points: &[$affine], scalars: &[blst_scalar]) -> $point {
                assert!(!points.is_empty() && points.len() == scalars.len());
                let mut sum = $point::default();
                // A null pointer in second place: all further items follow the first in memory.
                let points_list = [points.as_ptr(), core::ptr::null()];
                let scalars_list = [scalars.as_ptr().cast::<u8>(), core::ptr::null()];
                // SAFETY: the function only computes a size.
                let bytes = unsafe { $scratch_size(points.len()) };
                let mut scratch = alloc::vec![0; bytes.div_ceil(size_of::<limb_t>())];
                // SAFETY: reads `points.len()` points and as many scalars of 32 bytes each, which both slices have; the
                // scratch space has the required size.
                unsafe {
                    $pippenger(
                        &mut sum,
                        points_list.as_ptr(),
                        points.len(),
                        scalars_list.as_ptr(),
                        SCALAR_BITS,
                        scratch.as_mut_ptr(),
                    );
                }
                sum
            }

            #[cfg(target_arch = "x86_64")]
            fn sum(a: &$point, b: &$point) -> $point {
                let mut sum = $point::default();
                // SAFETY: the pointers come from references to two points to read and one to write.
                unsafe { $add(&mut sum, a, b) };
                sum
            }

            #[cfg(target_arch = "x86_64")]
            fn terms(
                point: Affine<Self>,
                digits: [u64; 4],
            ) -> impl IntoIterator<Item = (Affine<Self>, u128)> {
                $terms(point, digits)
            }

            #[cfg(target_arch = "x86_64")]
            fn contains_all_by_lanes(evidence: Avx512Ifma, points: &[Affine<Self>]) -> bool {
                x86_64::$in_lanes(evidence, points)
            }

            #[cfg(target_arch = "x86_64")]
            fn multiple_by_lanes(
                evidence: Avx512Ifma,
                point: &Affine<Self>,
                scalar: &[u64; 4],
            ) -> Option<$point> {
                x86_64::$multiple_lanes(evidence, point, scalar)
            }

            #[cfg(target_arch = "x86_64")]
            fn sum_by_lanes(evidence: Avx512Ifma, terms: &[(Affine<Self>, u128)]) -> $point {
                x86_64::$sum_lanes(evidence, terms)
            }
        }
    };
}

group!(
    G1 over Fp, blst_p1_affine, blst_p1, contains: blst_p1_affine_in_g1,
    multiple: blst_p1_from_affine blst_p1_mult,
    sum_of_multiples: blst_p1s_mult_pippenger blst_p1s_mult_pippenger_scratch_sizeof, sum: blst_p1_add_or_double,
    terms: g1_terms, by lanes: are_in_g1, multiple_in_g1 up to 5, sum_in_g1
);
group!(
    G2 over Fp2, blst_p2_affine, blst_p2, contains: blst_p2_affine_in_g2,
    multiple: blst_p2_from_affine blst_p2_mult,
    sum_of_multiples: blst_p2s_mult_pippenger blst_p2s_mult_pippenger_scratch_sizeof, sum: blst_p2_add_or_double,
    terms: g2_terms, by lanes: are_in_g2, multiple_in_g2 up to 6, sum_in_g2
);
