//! Verification of a KZG proof at one point (EIP-4844), under the trusted setup of Ethereum's ceremony.
//!
//! The claim p(z) = y holds for the commitment C and the proof Q if e(C - y G1 + z Q, -G2) e(Q, tau G2) = 1. Both
//! points of G2 are fixed, so their lines are precomputed in a table. The two Miller loops share their squarings, and
//! the two multiplications share their doublings.
//!
//! Source: \[EIP-4844\] (point evaluation), \[KZG10\] §3.2; fixed arguments: \[CS10\] §3; multiplication: \[GLV01\].

use alloc::vec::Vec;

use blst::{
    BLST_ERROR, blst_fp, blst_fp2, blst_fp6, blst_fp12, blst_fp12_mul_by_xy00z0, blst_fp12_sqr,
    blst_p1_affine, blst_p1_uncompress,
};

use super::{
    Error,
    dispatch::Backend,
    endomorphism::{halves, x_digits},
    fields::{Element, Fp, Fp2, G1},
    miller::{each_step, line_part},
    pairing::check,
};
use crate::{
    field::Field,
    group::{Affine, Curve, Jacobian, interleave, odd_multiples, wnaf},
    words,
};

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

/// Returns k0 and k1 below 2^128 with k0 + k1 X^2 = k, for k below r.
fn split(k: &[u8; 32]) -> [u128; 2] {
    halves(&x_digits(words::from_be(k)))
}

/// Odd multiples of the generator, each as 12 little-endian words x, y in blst's form.
static GENERATOR: &[[u8; 96]] = include_bytes!("generator.bin").as_chunks().0;

pub(super) fn generator_multiple(index: usize) -> Affine<G1> {
    let words = GENERATOR[index].as_chunks::<8>().0;
    let coordinate = |at| {
        Element(blst_fp {
            l: core::array::from_fn(|i| u64::from_le_bytes(words[at + i])),
        })
    };
    Affine {
        x: coordinate(0),
        y: coordinate(6),
    }
}

/// Windows of the multipliers of the point and of the generator.
const WINDOW: u32 = 5;
const GENERATOR_WINDOW: u32 = GENERATOR.len().ilog2() + 2;

/// Computes `a P - b G` for a and b below r, over one of the implementations of the field, which P is converted to.
/// `image` is the endomorphism. P must not be infinity.
pub(super) fn multiply_subtract<C: Curve<Field: Field>>(
    p: &Affine<G1>,
    a: &[u8; 32],
    b: &[u8; 32],
    convert: impl Fn(&Affine<G1>) -> Affine<C>,
    image: impl Fn(&Affine<C>) -> Affine<C>,
) -> Jacobian<C> {
    let (table, scale) = odd_multiples::<C, { 1 << (WINDOW - 2) }>(&convert(p));
    let images = table.map(|p| image(&p));
    let digits = |k: u128, window| wnaf::<129>(&words::from_u128(k), window);
    let ([a0, a1], [b0, b1]) = (split(a), split(b));
    let mut digits = [
        digits(a0, WINDOW),
        digits(a1, WINDOW),
        digits(b0, GENERATOR_WINDOW),
        digits(b1, GENERATOR_WINDOW),
    ];
    let mut sum = interleave(&mut digits, |i, digit| {
        let index = usize::from(digit.unsigned_abs() / 2);
        let (entry, scale) = match i {
            0 => (table[index], None),
            1 => (images[index], None),
            2 => (convert(&generator_multiple(index)), Some(&scale)),
            _ => (image(&convert(&generator_multiple(index))), Some(&scale)),
        };
        // The endomorphism's image is -X^2 times the point, and the generator's multiple is subtracted.
        let negated = matches!(i, 1 | 2);
        (entry.negate_if((digit < 0) != negated), scale)
    });
    sum.z = sum.z.mul(&scale);
    sum
}

/// [`Backend::miller_loop_of_lines`] by blst.
pub(super) fn miller_loop_of_lines(factors: &[Option<[Fp; 2]>; 2]) -> blst_fp12 {
    let square = |f: &blst_fp12| {
        let mut square = *f;
        // SAFETY: the pointers come from references to field elements.
        unsafe { blst_fp12_sqr(&mut square, f) };
        square
    };
    let mut f = blst_fp12::default();
    each_step(&mut f, square, |f, line, _| {
        let at: *mut blst_fp12 = f;
        for (point, factors) in factors.iter().enumerate() {
            let Some(factors) = factors else { continue };
            let [by_x, constant] = [0, 1].map(|i| blst_fp2 {
                fp: [0, 1].map(|part| Element(line_part(point, line, i, part)).mul(&factors[i]).0),
            });
            let line = blst_fp6 {
                fp2: [constant, by_x, Fp2::ONE.0],
            };
            // SAFETY: `at` and `line` point to valid field elements; blst allows the result to alias a factor.
            unsafe { blst_fp12_mul_by_xy00z0(at, at, &line) };
        }
    });
    f
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
