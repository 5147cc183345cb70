//! Points in the precompiles' form: coordinates of 48 big-endian bytes, x first; elements of Fp2 have the real part
//! first; infinity is all zeros.

use super::{
    Error, G1_LENGTH, G2_LENGTH,
    fields::{Fp, Fp2, G1, G2},
};
use crate::group::Affine;

pub(super) fn read_g1(bytes: &[u8; G1_LENGTH]) -> Result<Option<Affine<G1>>, Error> {
    if *bytes == [0; G1_LENGTH] {
        return Ok(None);
    }
    let words = bytes.as_chunks::<48>().0;
    let (x, y) = (Fp::from_bytes(&words[0])?, Fp::from_bytes(&words[1])?);
    Affine::checked(x, y, Error::NotOnCurve).map(Some)
}

pub(super) fn read_g2(bytes: &[u8; G2_LENGTH]) -> Result<Option<Affine<G2>>, Error> {
    if *bytes == [0; G2_LENGTH] {
        return Ok(None);
    }
    let halves = bytes.as_chunks::<96>().0;
    let (x, y) = (Fp2::from_bytes(&halves[0])?, Fp2::from_bytes(&halves[1])?);
    Affine::checked(x, y, Error::NotOnCurve).map(Some)
}

pub(super) fn write_g1(point: Option<Affine<G1>>) -> [u8; G1_LENGTH] {
    let mut bytes = [0; G1_LENGTH];
    if let Some(point) = point {
        bytes[..48].copy_from_slice(&point.x.to_bytes());
        bytes[48..].copy_from_slice(&point.y.to_bytes());
    }
    bytes
}

pub(super) fn write_g2(point: Option<Affine<G2>>) -> [u8; G2_LENGTH] {
    let mut bytes = [0; G2_LENGTH];
    if let Some(point) = point {
        bytes[..96].copy_from_slice(&point.x.to_bytes());
        bytes[96..].copy_from_slice(&point.y.to_bytes());
    }
    bytes
}
