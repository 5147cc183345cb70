//! Verification of a KZG proof at one point (EIP-4844), under the trusted setup of Ethereum's ceremony.
//!
//! The claim p(z) = y holds for the commitment C and the proof Q if e(C - y G1 + z Q, -G2) e(Q, tau G2) = 1. Both
//! points of G2 are fixed, so their lines are precomputed in a table. The two Miller loops share their squarings, and
//! the two multiplications share their doublings.
//!
//! Source: \[EIP-4844\] (point evaluation), \[KZG10\] §3.2; fixed arguments: \[CS10\] §3.

use alloc::vec::Vec;

use blst::{BLST_ERROR, blst_p1_affine, blst_p1_uncompress};

use super::{
    Error,
    dispatch::Backend,
    fields::{Element, G1},
    generator::generator_multiple,
    pairing::check,
};
use crate::{field::Field, group::Affine};

/// The order of the groups, big-endian.
pub const ORDER: [u8; 32] = [
    0x73, 0xed, 0xa7, 0x53, 0x29, 0x9d, 0x7d, 0x48, 0x33, 0x39, 0xd8, 0x08, 0x09, 0xa1, 0xd8, 0x05,
    0x53, 0xbd, 0xa4, 0x02, 0xff, 0xfe, 0x5b, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01,
];

/// Decompresses a point of the curve; `None` is infinity.
fn read(bytes: &[u8; 48]) -> Result<Option<Affine<G1>>, Error> {
    let mut point = blst_p1_affine::default();
    // SAFETY: `bytes` has 48 bytes; the output is a valid point.
    match unsafe { blst_p1_uncompress(&mut point, bytes.as_ptr()) } {
        BLST_ERROR::BLST_SUCCESS => Ok((point != blst_p1_affine::default()).then_some(Affine {
            x: Element(point.x),
            y: Element(point.y),
        })),
        BLST_ERROR::BLST_POINT_NOT_ON_CURVE => Err(Error::NotOnCurve),
        _ => Err(Error::PointEncoding),
    }
}

/// [`verify_proof`] with this backend.
pub(super) fn verify_proof_with(
    backend: Backend,
    commitment: &[u8; 48],
    z: &[u8; 32],
    y: &[u8; 32],
    proof: &[u8; 48],
) -> Result<(), Error> {
    if *z >= ORDER || *y >= ORDER {
        return Err(Error::ScalarOutOfRange);
    }
    let points = [read(proof)?, read(commitment)?];
    check(
        backend,
        &points.iter().copied().flatten().collect::<Vec<_>>(),
    )?;
    let [proof, commitment] = points;

    let multiple = match proof {
        Some(proof) => backend.multiply_subtract(&proof, z, y),
        None => backend.multiply_subtract(&generator_multiple(0), &[0; 32], y),
    };
    let left = match commitment {
        Some(commitment) => multiple.add_affine(&commitment),
        None => multiple,
    };
    // x / y and 1 / y.
    let factors = [left.to_affine(), proof].map(|point| {
        point.map(|Affine { x, y }| {
            let inverse = y.invert();
            [x.mul(&inverse), inverse]
        })
    });
    let product = backend.miller_loop_of_lines(&factors);
    if backend.final_exponentiation_is_one(&product) {
        Ok(())
    } else {
        Err(Error::ProofMismatch)
    }
}

/// Verifies that the polynomial committed to by `commitment` has the value y at z. Scalars are big-endian, points
/// compressed.
///
/// # Errors
/// [`Error::ScalarOutOfRange`], [`Error::PointEncoding`], [`Error::NotOnCurve`], [`Error::NotInSubgroup`], or
/// [`Error::ProofMismatch`].
pub fn verify_proof(
    commitment: &[u8; 48],
    z: &[u8; 32],
    y: &[u8; 32],
    proof: &[u8; 48],
) -> Result<(), Error> {
    verify_proof_with(Backend::detect(), commitment, z, y, proof)
}
