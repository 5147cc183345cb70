//! G1 and G2: blst's functions on them and the vector kernels behind one trait.

use blst::*;
#[cfg(target_arch = "x86_64")]
use lydite_hash::cpu::Avx512Ifma;

use super::fields::{Element, G1, G2};
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

type Pippenger<G> = unsafe extern "C" fn(
    *mut <G as Group>::Point,
    *const *const <G as Group>::AffinePoint,
    usize,
    *const *const u8,
    usize,
    *mut limb_t,
);

/// A group: the points of a subgroup of the curve.
///
/// # Safety
/// The functions must be those of blst for this group and these types of points.
pub(super) unsafe trait Group: Curve + Copy {
    /// A finite point of the curve in blst's form.
    type AffinePoint: Copy + Default;
    /// A point of the curve in blst's form, in Jacobian coordinates.
    type Point: Copy + Default;

    const IN_GROUP: unsafe extern "C" fn(*const Self::AffinePoint) -> bool;
    const FROM_AFFINE: unsafe extern "C" fn(*mut Self::Point, *const Self::AffinePoint);
    const MULTIPLY: unsafe extern "C" fn(*mut Self::Point, *const Self::Point, *const u8, usize);
    const PIPPENGER: Pippenger<Self>;
    const PIPPENGER_SCRATCH: unsafe extern "C" fn(usize) -> usize;
    #[cfg(target_arch = "x86_64")]
    const ADD: unsafe extern "C" fn(*mut Self::Point, *const Self::Point, *const Self::Point);

    /// Number of points up to which the vector kernels multiply each separately faster than all at once.
    #[cfg(target_arch = "x86_64")]
    const ONE_BY_ONE_UP_TO: usize;

    fn to_affine_point(point: Affine<Self>) -> Self::AffinePoint;

    #[cfg(target_arch = "x86_64")]
    fn from_affine_point(point: &Self::AffinePoint) -> Affine<Self>;

    fn from_point(point: &Self::Point) -> Jacobian<Self>;

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

    /// Whether a point of the curve is in the group.
    fn contains(point: &Self::AffinePoint) -> bool {
        // SAFETY: the pointer comes from a reference to a point.
        unsafe { Self::IN_GROUP(point) }
    }

    /// The multiple of a point of the group.
    fn multiple(point: &Self::AffinePoint, scalar: &blst_scalar) -> Self::Point {
        let (mut jacobian, mut product) = (Self::Point::default(), Self::Point::default());
        // SAFETY: the pointers come from references to points; the scalar has 32 bytes, and `bits` returns at most 255.
        unsafe {
            Self::FROM_AFFINE(&mut jacobian, point);
            Self::MULTIPLY(&mut product, &jacobian, scalar.b.as_ptr(), bits(scalar));
        }
        product
    }

    /// The sum of multiples of points of the group, by Pippenger's algorithm. Takes at least one.
    fn sum_of_multiples(points: &[Self::AffinePoint], scalars: &[blst_scalar]) -> Self::Point {
        assert!(!points.is_empty() && points.len() == scalars.len());
        let mut sum = Self::Point::default();
        // A null pointer in second place: all further items follow the first in memory.
        let points_list = [points.as_ptr(), core::ptr::null()];
        let scalars_list = [scalars.as_ptr().cast::<u8>(), core::ptr::null()];
        // SAFETY: the function only computes a size.
        let bytes = unsafe { Self::PIPPENGER_SCRATCH(points.len()) };
        let mut scratch = alloc::vec![0; bytes.div_ceil(size_of::<limb_t>())];
        // SAFETY: reads `points.len()` points and as many scalars of 32 bytes each, which both slices have; the scratch
        // space has the required size.
        unsafe {
            Self::PIPPENGER(
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

    /// The sum of two points, which may be equal.
    #[cfg(target_arch = "x86_64")]
    fn sum(a: &Self::Point, b: &Self::Point) -> Self::Point {
        let mut sum = Self::Point::default();
        // SAFETY: the pointers come from references to two points to read and one to write.
        unsafe { Self::ADD(&mut sum, a, b) };
        sum
    }
}

// SAFETY: these are blst's functions for G1.
unsafe impl Group for G1 {
    type AffinePoint = blst_p1_affine;
    type Point = blst_p1;

    const IN_GROUP: unsafe extern "C" fn(*const blst_p1_affine) -> bool = blst_p1_affine_in_g1;
    const FROM_AFFINE: unsafe extern "C" fn(*mut blst_p1, *const blst_p1_affine) =
        blst_p1_from_affine;
    const MULTIPLY: unsafe extern "C" fn(*mut blst_p1, *const blst_p1, *const u8, usize) =
        blst_p1_mult;
    const PIPPENGER: Pippenger<Self> = blst_p1s_mult_pippenger;
    const PIPPENGER_SCRATCH: unsafe extern "C" fn(usize) -> usize =
        blst_p1s_mult_pippenger_scratch_sizeof;
    #[cfg(target_arch = "x86_64")]
    const ADD: unsafe extern "C" fn(*mut blst_p1, *const blst_p1, *const blst_p1) =
        blst_p1_add_or_double;

    #[cfg(target_arch = "x86_64")]
    const ONE_BY_ONE_UP_TO: usize = 5;

    fn to_affine_point(Affine { x, y }: Affine<Self>) -> blst_p1_affine {
        blst_p1_affine { x: x.0, y: y.0 }
    }

    #[cfg(target_arch = "x86_64")]
    fn from_affine_point(point: &blst_p1_affine) -> Affine<Self> {
        Affine {
            x: Element(point.x),
            y: Element(point.y),
        }
    }

    fn from_point(point: &blst_p1) -> Jacobian<Self> {
        Jacobian {
            x: Element(point.x),
            y: Element(point.y),
            z: Element(point.z),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn terms(
        point: Affine<Self>,
        digits: [u64; 4],
    ) -> impl IntoIterator<Item = (Affine<Self>, u128)> {
        g1_terms(point, digits)
    }

    #[cfg(target_arch = "x86_64")]
    fn contains_all_by_lanes(evidence: Avx512Ifma, points: &[Affine<Self>]) -> bool {
        x86_64::are_in_g1(evidence, points)
    }

    #[cfg(target_arch = "x86_64")]
    fn multiple_by_lanes(
        evidence: Avx512Ifma,
        point: &Affine<Self>,
        scalar: &[u64; 4],
    ) -> Option<blst_p1> {
        x86_64::multiple_in_g1(evidence, point, scalar)
    }

    #[cfg(target_arch = "x86_64")]
    fn sum_by_lanes(evidence: Avx512Ifma, terms: &[(Affine<Self>, u128)]) -> blst_p1 {
        x86_64::sum_in_g1(evidence, terms)
    }
}

// SAFETY: these are blst's functions for G2.
unsafe impl Group for G2 {
    type AffinePoint = blst_p2_affine;
    type Point = blst_p2;

    const IN_GROUP: unsafe extern "C" fn(*const blst_p2_affine) -> bool = blst_p2_affine_in_g2;
    const FROM_AFFINE: unsafe extern "C" fn(*mut blst_p2, *const blst_p2_affine) =
        blst_p2_from_affine;
    const MULTIPLY: unsafe extern "C" fn(*mut blst_p2, *const blst_p2, *const u8, usize) =
        blst_p2_mult;
    const PIPPENGER: Pippenger<Self> = blst_p2s_mult_pippenger;
    const PIPPENGER_SCRATCH: unsafe extern "C" fn(usize) -> usize =
        blst_p2s_mult_pippenger_scratch_sizeof;
    #[cfg(target_arch = "x86_64")]
    const ADD: unsafe extern "C" fn(*mut blst_p2, *const blst_p2, *const blst_p2) =
        blst_p2_add_or_double;

    #[cfg(target_arch = "x86_64")]
    const ONE_BY_ONE_UP_TO: usize = 6;

    fn to_affine_point(Affine { x, y }: Affine<Self>) -> blst_p2_affine {
        blst_p2_affine { x: x.0, y: y.0 }
    }

    #[cfg(target_arch = "x86_64")]
    fn from_affine_point(point: &blst_p2_affine) -> Affine<Self> {
        Affine {
            x: Element(point.x),
            y: Element(point.y),
        }
    }

    fn from_point(point: &blst_p2) -> Jacobian<Self> {
        Jacobian {
            x: Element(point.x),
            y: Element(point.y),
            z: Element(point.z),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn terms(
        point: Affine<Self>,
        digits: [u64; 4],
    ) -> impl IntoIterator<Item = (Affine<Self>, u128)> {
        g2_terms(point, digits)
    }

    #[cfg(target_arch = "x86_64")]
    fn contains_all_by_lanes(evidence: Avx512Ifma, points: &[Affine<Self>]) -> bool {
        x86_64::are_in_g2(evidence, points)
    }

    #[cfg(target_arch = "x86_64")]
    fn multiple_by_lanes(
        evidence: Avx512Ifma,
        point: &Affine<Self>,
        scalar: &[u64; 4],
    ) -> Option<blst_p2> {
        x86_64::multiple_in_g2(evidence, point, scalar)
    }

    #[cfg(target_arch = "x86_64")]
    fn sum_by_lanes(evidence: Avx512Ifma, terms: &[(Affine<Self>, u128)]) -> blst_p2 {
        x86_64::sum_in_g2(evidence, terms)
    }
}
