//! Sums of two points, subgroup checks, and conversions between our points and blst's.

#[cfg(target_arch = "x86_64")]
use alloc::vec::Vec;

use blst::{
    blst_p1, blst_p1_affine, blst_p1_affine_in_g1, blst_p2, blst_p2_affine, blst_p2_affine_in_g2,
};

#[cfg(target_arch = "x86_64")]
use super::x86_64;
use super::{
    Error, G1_LENGTH, G2_LENGTH,
    encoding::{read_g1, read_g2, write_g1, write_g2},
    fields::{Fp, Fp2, G1, G2},
};
#[cfg(target_arch = "x86_64")]
use crate::cpu;
use crate::group::{self, Affine, Jacobian};

/// Converts a point of the curve of G1 to blst's form.
pub(super) fn to_p1_affine(Affine { x, y }: Affine<G1>) -> blst_p1_affine {
    blst_p1_affine { x: x.0, y: y.0 }
}

/// Converts a point of the curve of G2 to blst's form.
pub(super) fn to_p2_affine(Affine { x, y }: Affine<G2>) -> blst_p2_affine {
    blst_p2_affine { x: x.0, y: y.0 }
}

#[cfg(target_arch = "x86_64")]
pub(super) fn from_p1_affine(p: &blst_p1_affine) -> Affine<G1> {
    Affine {
        x: Fp(p.x),
        y: Fp(p.y),
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) fn from_p2_affine(p: &blst_p2_affine) -> Affine<G2> {
    Affine {
        x: Fp2(p.x),
        y: Fp2(p.y),
    }
}

pub(super) fn from_p1(p: &blst_p1) -> Jacobian<G1> {
    Jacobian {
        x: Fp(p.x),
        y: Fp(p.y),
        z: Fp(p.z),
    }
}

pub(super) fn from_p2(p: &blst_p2) -> Jacobian<G2> {
    Jacobian {
        x: Fp2(p.x),
        y: Fp2(p.y),
        z: Fp2(p.z),
    }
}

/// Number of points checked at once.
const LANES: usize = 8;

/// Checks that finite points are in the subgroup. Uses vector kernels from `$from` points on; blst is as fast for a
/// single point of G2.
macro_rules! check {
    ($check:ident, $affine:ident, $in_group:ident, $in_lanes:ident, $from_affine:ident, $from:literal) => {
        pub(super) fn $check(points: &[$affine]) -> Result<(), Error> {
            let all = points.chunks(LANES).all(|points| {
                #[cfg(target_arch = "x86_64")]
                if points.len() >= $from && cpu::has_avx512ifma() {
                    let points: Vec<_> = points.iter().map($from_affine).collect();
                    // SAFETY: `has_avx512ifma` was checked above.
                    return unsafe { x86_64::avx512ifma_x8::$in_lanes(&points) };
                }
                // SAFETY: the pointer comes from a reference to a point.
                points.iter().all(|point| unsafe { $in_group(point) })
            });
            all.then_some(()).ok_or(Error::NotInSubgroup)
        }
    };
}

check!(
    check_g1,
    blst_p1_affine,
    blst_p1_affine_in_g1,
    are_in_g1,
    from_p1_affine,
    1
);
check!(
    check_g2,
    blst_p2_affine,
    blst_p2_affine_in_g2,
    are_in_g2,
    from_p2_affine,
    2
);

/// Adds two points of G1. They need not be in the subgroup.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] or [`Error::NotOnCurve`] if a point is invalid.
pub fn g1_add(p: &[u8; G1_LENGTH], q: &[u8; G1_LENGTH]) -> Result<[u8; G1_LENGTH], Error> {
    Ok(write_g1(group::add_affine(read_g1(p)?, read_g1(q)?)))
}

/// Adds two points of G2. They need not be in the subgroup.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] or [`Error::NotOnCurve`] if a point is invalid.
pub fn g2_add(p: &[u8; G2_LENGTH], q: &[u8; G2_LENGTH]) -> Result<[u8; G2_LENGTH], Error> {
    Ok(write_g2(group::add_affine(read_g2(p)?, read_g2(q)?)))
}
