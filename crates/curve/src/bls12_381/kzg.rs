//! The check of a KZG proof at one point, of EIP-4844, under the trusted setup of Ethereum's ceremony.
//!
//! The claim p(z) = y holds for the commitment C and the proof Q if e(C - y G1 + z Q, -G2) e(Q, tau G2) = 1. Both points of
//! G2 are fixed, so nothing is computed with them but lines that a table holds, and both Miller loops share their squarings.
//!
//! Source: \[EIP-4844\] (point evaluation), \[KZG10\] §3.2; fixed arguments: \[CS10\] §3.

use blst::{
    BLST_ERROR, blst_final_exp, blst_fp, blst_fp2, blst_fp6, blst_fp12, blst_fp12_is_one,
    blst_fp12_mul, blst_miller_loop_lines, blst_p1, blst_p1_affine, blst_p1_affine_generator,
    blst_p1_affine_in_g1, blst_p1_from_affine, blst_p1_mult, blst_p1_uncompress,
};

use super::{Error, SCALAR_BITS, from_p1, read_scalar};
use crate::group::Jacobian;

/// The order of the groups, big-endian.
pub const ORDER: [u8; 32] = [
    0x73, 0xed, 0xa7, 0x53, 0x29, 0x9d, 0x7d, 0x48, 0x33, 0x39, 0xd8, 0x08, 0x09, 0xa1, 0xd8, 0x05,
    0x53, 0xbd, 0xa4, 0x02, 0xff, 0xfe, 0x5b, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01,
];

/// Lines of a Miller loop.
const LINES: usize = 68;
type Lines = [blst_fp6; LINES];

/// Lines of the Miller loops with -G2 and with tau G2. Written by `examples/generate_tables.rs`.
static NEGATED_GENERATOR: Lines = lines(include_bytes!("negated_generator.bin"));
static TAU: Lines = lines(include_bytes!("tau.bin"));

const fn lines(bytes: &[u8; LINES * 288]) -> Lines {
    let words = bytes.as_chunks::<8>().0;
    let zero = blst_fp2 {
        fp: [blst_fp { l: [0; 6] }; 2],
    };
    let (mut lines, mut i) = ([blst_fp6 { fp2: [zero; 3] }; LINES], 0);
    while i < words.len() {
        let (line, coefficient, part) = (i / 36, i / 12 % 3, i / 6 % 2);
        lines[line].fp2[coefficient].fp[part].l[i % 6] = u64::from_le_bytes(words[i]);
        i += 1;
    }
    lines
}

/// A point of G1 from its compressed form.
fn read(bytes: &[u8; 48]) -> Result<blst_p1_affine, Error> {
    let mut point = blst_p1_affine::default();
    // SAFETY: reads 48 bytes, writes a point.
    match unsafe { blst_p1_uncompress(&mut point, bytes.as_ptr()) } {
        BLST_ERROR::BLST_SUCCESS => {}
        BLST_ERROR::BLST_POINT_NOT_ON_CURVE => return Err(Error::NotOnCurve),
        _ => return Err(Error::PointEncoding),
    }
    // SAFETY: reads a point.
    if unsafe { blst_p1_affine_in_g1(&point) } {
        Ok(point)
    } else {
        Err(Error::NotInSubgroup)
    }
}

fn multiply(point: &blst_p1_affine, scalar: &[u8; 32]) -> Jacobian<super::G1> {
    let scalar = read_scalar(scalar);
    let (mut jacobian, mut product) = (blst_p1::default(), blst_p1::default());
    // SAFETY: reads and writes points, and reads the 32 bytes of a scalar.
    unsafe {
        blst_p1_from_affine(&mut jacobian, point);
        blst_p1_mult(&mut product, &jacobian, scalar.b.as_ptr(), SCALAR_BITS);
    }
    from_p1(&product)
}

/// Does `proof` prove that the polynomial committed to by `commitment` has the value y at z? Scalars are big-endian,
/// points compressed.
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
    if *z >= ORDER || *y >= ORDER {
        return Err(Error::ScalarOutOfRange);
    }
    let proof = read(proof)?;
    let commitment = read(commitment)?;

    // SAFETY: the pointer is to a static of the library.
    let generator = unsafe { *blst_p1_affine_generator() };
    let left = multiply(&proof, z)
        .add(&multiply(&generator, y).negate())
        .add(&from_affine(&commitment))
        .to_affine();
    let mut product = blst_fp12::default();
    let left = left.map(|point| blst_p1_affine {
        x: point.x.0,
        y: point.y.0,
    });
    for (point, lines) in [(left, &NEGATED_GENERATOR), (Some(proof), &TAU)] {
        if let Some(point) = point.filter(|point| *point != blst_p1_affine::default()) {
            let (mut factor, before) = (blst_fp12::default(), product);
            // SAFETY: reads as many lines as the library's own function writes, and writes field elements.
            unsafe {
                blst_miller_loop_lines(&mut factor, lines.as_ptr(), &point);
                blst_fp12_mul(&mut product, &before, &factor);
            }
        }
    }
    let mut power = blst_fp12::default();
    // SAFETY: reads and writes field elements.
    let one = unsafe {
        blst_final_exp(&mut power, &product);
        blst_fp12_is_one(&power)
    };
    if one {
        Ok(())
    } else {
        Err(Error::ProofMismatch)
    }
}

fn from_affine(point: &blst_p1_affine) -> Jacobian<super::G1> {
    let mut jacobian = blst_p1::default();
    // SAFETY: reads and writes a point.
    unsafe { blst_p1_from_affine(&mut jacobian, point) };
    from_p1(&jacobian)
}
