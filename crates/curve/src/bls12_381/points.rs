//! Sums of two points.

use super::{
    Error, G1_LENGTH, G2_LENGTH,
    encoding::{read_g1, read_g2, write_g1, write_g2},
};
use crate::group;

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
