//! Maps from field elements to points.

use blst::{blst_fp, blst_map_to_g1, blst_map_to_g2, blst_p1, blst_p2};

use super::{
    Error, G1_LENGTH, G2_LENGTH,
    encoding::{write_g1, write_g2},
    fields::{Element, Fp, Fp2, G1, G2},
    groups::Group,
};

/// Maps a field element to a point of G1.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] if the element is not below the field prime.
pub fn map_fp_to_g1(element: &[u8; 48]) -> Result<[u8; G1_LENGTH], Error> {
    let Element(element) = Fp::from_bytes(element)?;
    let mut point = blst_p1::default();
    // SAFETY: reads one valid field element (the second is optional) and writes a point.
    unsafe { blst_map_to_g1(&mut point, &element, core::ptr::null::<blst_fp>()) };
    Ok(write_g1(G1::from_blst(&point).to_affine()))
}

/// Maps an element of Fp2, real part first, to a point of G2.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] if a part is not below the field prime.
pub fn map_fp2_to_g2(element: &[u8; 96]) -> Result<[u8; G2_LENGTH], Error> {
    let Element(element) = Fp2::from_bytes(element)?;
    let mut point = blst_p2::default();
    // SAFETY: reads one valid field element (the second is optional) and writes a point.
    unsafe { blst_map_to_g2(&mut point, &element, core::ptr::null()) };
    Ok(write_g2(G2::from_blst(&point).to_affine()))
}
