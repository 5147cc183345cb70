//! Maps from field elements to points.

use super::{
    Error, G1_LENGTH, G2_LENGTH,
    dispatch::Backend,
    encoding::{write_g1, write_g2},
    fields::{Fp, Fp2},
};

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
