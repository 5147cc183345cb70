//! G1 and G2: blst's functions on them behind one trait.

use alloc::vec::Vec;

use blst::*;

use super::fields::{Element, G1, G2};
#[cfg(target_arch = "x86_64")]
use super::x86_64::{
    adx::{self, AdxCurve},
    avx512ifma_x8::LaneGroup,
};
#[cfg(not(target_arch = "x86_64"))]
use crate::group::Curve as LaneGroup;
use crate::group::{Affine, Jacobian};

/// Bits of a scalar below r.
const SCALAR_BITS: usize = 255;

/// The number of bits of a scalar, rounded up to bytes: blst computes short multiples faster.
fn bits(scalar: &blst_scalar) -> usize {
    let highest = scalar.b.iter().rposition(|byte| *byte != 0);
    SCALAR_BITS.min(8 * (highest.unwrap_or(0) + 1))
}

type Contains<P> = unsafe extern "C" fn(*const P) -> bool;
type FromAffine<P, A> = unsafe extern "C" fn(*mut P, *const A);
type Multiply<P> = unsafe extern "C" fn(*mut P, *const P, *const u8, usize);
type Pippenger<P, A> =
    unsafe extern "C" fn(*mut P, *const *const A, usize, *const *const u8, usize, *mut limb_t);
type ScratchSize = unsafe extern "C" fn(usize) -> usize;

/// A group: the points of a subgroup of the curve.
///
/// # Safety
/// The functions must be those of blst for this group and these types of points.
pub(super) unsafe trait Group: LaneGroup {
    /// A finite point of the curve in blst's form.
    type AffinePoint: Copy;
    /// A point of the curve in blst's form, in Jacobian coordinates.
    type Point: Copy + Default;
    /// The curve over own elements.
    #[cfg(target_arch = "x86_64")]
    type Adx: AdxCurve<Blst = Self>;

    const CONTAINS: Contains<Self::AffinePoint>;
    const FROM_AFFINE: FromAffine<Self::Point, Self::AffinePoint>;
    const MULTIPLY: Multiply<Self::Point>;
    const PIPPENGER: Pippenger<Self::Point, Self::AffinePoint>;
    const PIPPENGER_SCRATCH: ScratchSize;

    fn to_blst(point: &Affine<Self>) -> Self::AffinePoint;

    fn from_blst(point: &Self::Point) -> Jacobian<Self>;

    /// Whether a point of the curve is in the group.
    fn contains(point: &Affine<Self>) -> bool {
        // SAFETY: the pointer comes from a reference to a point.
        unsafe { Self::CONTAINS(&Self::to_blst(point)) }
    }

    /// The multiple of a point of the group.
    fn multiple(point: &Affine<Self>, scalar: &blst_scalar) -> Jacobian<Self> {
        let (mut jacobian, mut product) = (Self::Point::default(), Self::Point::default());
        // SAFETY: the pointers come from references to points; the scalar has 32 bytes, and `bits` returns at most 255.
        unsafe {
            Self::FROM_AFFINE(&mut jacobian, &Self::to_blst(point));
            Self::MULTIPLY(&mut product, &jacobian, scalar.b.as_ptr(), bits(scalar));
        }
        Self::from_blst(&product)
    }

    /// The sum of multiples of points of the group, by Pippenger's algorithm. Takes at least one.
    fn sum_of_multiples(points: &[Affine<Self>], scalars: &[blst_scalar]) -> Jacobian<Self> {
        assert!(!points.is_empty() && points.len() == scalars.len());
        let points: Vec<_> = points.iter().map(Self::to_blst).collect();
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
        Self::from_blst(&sum)
    }

    /// Returns the sum of products of points of the curve and scalars; `None` if a point is not in the group.
    fn msm(points: &[Affine<Self>], scalars: &[blst_scalar]) -> Option<Jacobian<Self>> {
        if !points.iter().all(Self::contains) {
            return None;
        }
        Some(match (points, scalars) {
            ([], _) => Jacobian::INFINITY,
            ([point], [scalar]) => Self::multiple(point, scalar),
            (points, scalars) => Self::sum_of_multiples(points, scalars),
        })
    }
}

// SAFETY: these are blst's functions for G1.
unsafe impl Group for G1 {
    type AffinePoint = blst_p1_affine;
    type Point = blst_p1;
    #[cfg(target_arch = "x86_64")]
    type Adx = adx::G1;

    const CONTAINS: Contains<blst_p1_affine> = blst_p1_affine_in_g1;
    const FROM_AFFINE: FromAffine<blst_p1, blst_p1_affine> = blst_p1_from_affine;
    const MULTIPLY: Multiply<blst_p1> = blst_p1_mult;
    const PIPPENGER: Pippenger<blst_p1, blst_p1_affine> = blst_p1s_mult_pippenger;
    const PIPPENGER_SCRATCH: ScratchSize = blst_p1s_mult_pippenger_scratch_sizeof;

    fn to_blst(point: &Affine<Self>) -> blst_p1_affine {
        blst_p1_affine {
            x: point.x.0,
            y: point.y.0,
        }
    }

    fn from_blst(point: &blst_p1) -> Jacobian<Self> {
        Jacobian {
            x: Element(point.x),
            y: Element(point.y),
            z: Element(point.z),
        }
    }
}

// SAFETY: these are blst's functions for G2.
unsafe impl Group for G2 {
    type AffinePoint = blst_p2_affine;
    type Point = blst_p2;
    #[cfg(target_arch = "x86_64")]
    type Adx = adx::G2;

    const CONTAINS: Contains<blst_p2_affine> = blst_p2_affine_in_g2;
    const FROM_AFFINE: FromAffine<blst_p2, blst_p2_affine> = blst_p2_from_affine;
    const MULTIPLY: Multiply<blst_p2> = blst_p2_mult;
    const PIPPENGER: Pippenger<blst_p2, blst_p2_affine> = blst_p2s_mult_pippenger;
    const PIPPENGER_SCRATCH: ScratchSize = blst_p2s_mult_pippenger_scratch_sizeof;

    fn to_blst(point: &Affine<Self>) -> blst_p2_affine {
        blst_p2_affine {
            x: point.x.0,
            y: point.y.0,
        }
    }

    fn from_blst(point: &blst_p2) -> Jacobian<Self> {
        Jacobian {
            x: Element(point.x),
            y: Element(point.y),
            z: Element(point.z),
        }
    }
}
