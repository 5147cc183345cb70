//! Sums of two points, and subgroup checks.

#[cfg(target_arch = "x86_64")]
use alloc::vec::Vec;

#[cfg(target_arch = "x86_64")]
use lydite_hash::cpu::Avx512Ifma;

use super::{
    Error, G1_LENGTH, G2_LENGTH,
    encoding::{read_g1, read_g2, write_g1, write_g2},
    groups::Group,
};
use crate::group;

/// Number of points checked at once.
#[cfg(target_arch = "x86_64")]
const LANES: usize = 8;

/// Checks that finite points of the curve are in the group.
///
/// # Errors
/// [`Error::NotInSubgroup`].
pub(super) fn check<G: Group>(points: &[G::AffinePoint]) -> Result<(), Error> {
    #[cfg(target_arch = "x86_64")]
    let all = points.chunks(LANES).all(|points| {
        if let Some(ifma) = Avx512Ifma::detect() {
            let points: Vec<_> = points.iter().map(G::from_affine_point).collect();
            return G::contains_all_by_lanes(ifma, &points);
        }
        points.iter().all(G::contains)
    });
    #[cfg(not(target_arch = "x86_64"))]
    let all = points.iter().all(G::contains);
    all.then_some(()).ok_or(Error::NotInSubgroup)
}

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
