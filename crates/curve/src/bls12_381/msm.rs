//! Sums of scalar multiples.

use alloc::vec::Vec;

use blst::{blst_scalar, blst_scalar_from_be_bytes};

use super::{
    Error, G1_LENGTH, G2_LENGTH,
    dispatch::Backend,
    encoding::{read_g1, read_g2, write_g1, write_g2},
    groups::Group,
};
use crate::group::Affine;

/// Converts 32 big-endian bytes to the form that blst's multiplications expect. Values of r and above are allowed: blst
/// reduces them modulo r.
pub(super) fn read_scalar(bytes: &[u8; 32]) -> blst_scalar {
    let mut scalar = blst_scalar::default();
    // SAFETY: `bytes` has the length passed; the output is a valid scalar.
    unsafe { blst_scalar_from_be_bytes(&mut scalar, bytes.as_ptr(), bytes.len()) };
    scalar
}

/// The sum of products.
pub(super) fn msm<G: Group, const LENGTH: usize>(
    backend: Backend,
    pairs: impl IntoIterator<Item = ([u8; LENGTH], [u8; 32])>,
    read: impl Fn(&[u8; LENGTH]) -> Result<Option<Affine<G>>, Error>,
) -> Result<Option<Affine<G>>, Error> {
    let (mut points, mut scalars) = (Vec::new(), Vec::new());
    for (point, scalar) in pairs {
        if let Some(point) = read(&point)? {
            points.push(point);
            scalars.push(read_scalar(&scalar));
        }
    }
    let sum = backend.msm(&points, &scalars);
    Ok(sum.ok_or(Error::NotInSubgroup)?.to_affine())
}

/// Computes the sum of scalar multiples in G1. Scalars are any 256-bit integers, big-endian. Allocates.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] or [`Error::NotOnCurve`] for the first invalid point, otherwise
/// [`Error::NotInSubgroup`].
pub fn g1_msm(
    pairs: impl IntoIterator<Item = ([u8; G1_LENGTH], [u8; 32])>,
) -> Result<[u8; G1_LENGTH], Error> {
    Ok(write_g1(msm(Backend::detect(), pairs, read_g1)?))
}

/// Computes the sum of scalar multiples in G2. Scalars are any 256-bit integers, big-endian. Allocates.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] or [`Error::NotOnCurve`] for the first invalid point, otherwise
/// [`Error::NotInSubgroup`].
pub fn g2_msm(
    pairs: impl IntoIterator<Item = ([u8; G2_LENGTH], [u8; 32])>,
) -> Result<[u8; G2_LENGTH], Error> {
    Ok(write_g2(msm(Backend::detect(), pairs, read_g2)?))
}
