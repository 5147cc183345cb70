//! The check of a KZG proof at one point, of EIP-4844, under the trusted setup of Ethereum's ceremony.
//!
//! The claim p(z) = y holds for the commitment C and the proof Q if e(C - y G1 + z Q, -G2) e(Q, tau G2) = 1. Both points of
//! G2 are fixed, so nothing is computed with them but lines that a table holds, and both Miller loops share their squarings,
//! as both multiplications share their doublings.
//!
//! Source: \[EIP-4844\] (point evaluation), \[KZG10\] §3.2; fixed arguments: \[CS10\] §3; multiplication: \[GLV01\].

use blst::{
    BLST_ERROR, blst_fp, blst_fp2, blst_fp6, blst_fp12, blst_fp12_mul_by_xy00z0, blst_fp12_sqr,
    blst_p1_affine, blst_p1_uncompress,
};

use super::{
    Error, X, check_g1,
    fields::{Fp, G1},
    final_exponentiation_is_one, g1_image, halves, x_digits,
};
use crate::{
    field::Field,
    group::{Affine, Jacobian, interleave, odd_multiples, wnaf},
};

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

/// A point of G1 from its compressed form; `None` is infinity.
fn read(bytes: &[u8; 48]) -> Result<Option<Affine<G1>>, Error> {
    let mut point = blst_p1_affine::default();
    // SAFETY: reads 48 bytes, writes a point.
    match unsafe { blst_p1_uncompress(&mut point, bytes.as_ptr()) } {
        BLST_ERROR::BLST_SUCCESS => {}
        BLST_ERROR::BLST_POINT_NOT_ON_CURVE => return Err(Error::NotOnCurve),
        _ => return Err(Error::PointEncoding),
    }
    check_g1(&[point])?;
    let infinity = point == blst_p1_affine::default();
    Ok((!infinity).then_some(Affine {
        x: Fp(point.x),
        y: Fp(point.y),
    }))
}

/// k0 and k1 below 2^128 with k0 + k1 X^2 = k, for k below r.
fn split(k: &[u8; 32]) -> [u128; 2] {
    halves(&x_digits(crate::words_from_be(k)))
}

/// Odd multiples of the generator, each as 12 little-endian words x, y of blst's form.
static GENERATOR: &[[u8; 96]] = include_bytes!("generator.bin").as_chunks().0;

pub(super) fn generator_multiple(index: usize) -> Affine<G1> {
    let words = GENERATOR[index].as_chunks::<8>().0;
    let coordinate = |at| {
        Fp(blst_fp {
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

/// `a P - b G` for a and b below r; P is not infinity.
pub(super) fn multiply_subtract(p: &Affine<G1>, a: &[u8; 32], b: &[u8; 32]) -> Jacobian<G1> {
    let (table, scale) = odd_multiples::<G1, { 1 << (WINDOW - 2) }>(p);
    let images = table.map(|p| g1_image(&p));
    let digits = |k: u128, window| wnaf::<129>(&[k as u64, (k >> 64) as u64, 0, 0], window);
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
            2 => (generator_multiple(index), Some(&scale)),
            _ => (g1_image(&generator_multiple(index)), Some(&scale)),
        };
        // The image is -X^2 times the point, and the generator is subtracted.
        let negated = matches!(i, 1 | 2);
        (entry.negate_if((digit < 0) != negated), scale)
    });
    sum.z = sum.z.mul(&scale);
    sum
}

/// The product of the Miller functions with |x| for the curve's parameter x, which is negative: the inverse of the product of
/// the pairings once exponentiated. Up to factors that the final exponentiation takes away.
fn miller_loop(pairs: [(Option<Affine<G1>>, &Lines); 2]) -> blst_fp12 {
    // blst's lines are to be evaluated at (-2 x, 2 y).
    let pairs = pairs.map(|(p, lines)| (p.map(|p| (p.x.double().negate(), p.y.double())), lines));
    let mut f = blst_fp12::default();
    let at = &raw mut f;
    let multiply = |line: usize| {
        for (p, lines) in &pairs {
            let Some((x, y)) = p else { continue };
            let [constant, by_x, by_y] = lines[line].fp2;
            let scaled = |c: blst_fp2, by: &Fp| blst_fp2 {
                fp: c.fp.map(|c| Fp(c).mul(by).0),
            };
            let line = blst_fp6 {
                fp2: [constant, scaled(by_x, x), scaled(by_y, y)],
            };
            // SAFETY: reads and writes field elements; the result may stand where a factor does.
            unsafe { blst_fp12_mul_by_xy00z0(at, at, &line) };
        }
    };
    let mut line = 0;
    for bit in (0..X.ilog2()).rev() {
        if line > 0 {
            // SAFETY: as above.
            unsafe { blst_fp12_sqr(at, at) };
        }
        multiply(line);
        line += 1;
        if X >> bit & 1 == 1 {
            multiply(line);
            line += 1;
        }
    }
    f
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

    let multiple = match proof {
        Some(proof) => multiply_subtract(&proof, z, y),
        None => multiply_subtract(&generator_multiple(0), &[0; 32], y),
    };
    let left = match commitment {
        Some(commitment) => multiple.add_affine(&commitment),
        None => multiple,
    };
    let product = miller_loop([(left.to_affine(), &NEGATED_GENERATOR), (proof, &TAU)]);
    if final_exponentiation_is_one(&product) {
        Ok(())
    } else {
        Err(Error::ProofMismatch)
    }
}
