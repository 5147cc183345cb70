//! Maps from field elements to points.

use blst::{blst_fp, blst_map_to_g1, blst_map_to_g2, blst_p1, blst_p2};

use super::{
    Error, G1_LENGTH, G2_LENGTH,
    dispatch::Backend,
    encoding::{write_g1, write_g2},
    fields::{Fp, Fp2, G1, G2},
    groups::Group,
};
use crate::group::Affine;

/// Maps a field element to a point of G1.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] if the element is not below the field prime.
pub fn map_fp_to_g1(element: &[u8; 48]) -> Result<[u8; G1_LENGTH], Error> {
    let element = Fp::from_bytes(element)?;
    Ok(write_g1(Backend::detect().map_to_g1(&element)))
}

/// Maps an element of Fp2, real part first, to a point of G2.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] if a part is not below the field prime.
pub fn map_fp2_to_g2(element: &[u8; 96]) -> Result<[u8; G2_LENGTH], Error> {
    let element = Fp2::from_bytes(element)?;
    Ok(write_g2(Backend::detect().map_to_g2(&element)))
}

/// The point of G1 for a field element, by blst.
pub(super) fn to_g1(element: &Fp) -> Option<Affine<G1>> {
    let mut point = blst_p1::default();
    // SAFETY: reads one valid field element (the second is optional) and writes a point.
    unsafe { blst_map_to_g1(&mut point, &element.0, core::ptr::null::<blst_fp>()) };
    G1::from_blst(&point).to_affine()
}

/// The point of G2 for an element of Fp2, by blst.
pub(super) fn to_g2(element: &Fp2) -> Option<Affine<G2>> {
    let mut point = blst_p2::default();
    // SAFETY: reads one valid field element (the second is optional) and writes a point.
    unsafe { blst_map_to_g2(&mut point, &element.0, core::ptr::null()) };
    G2::from_blst(&point).to_affine()
}
