//! Multiples of the generator of G1, and the difference of multiples that the check of a KZG proof needs.
//!
//! Source: \[GLV01\].

use blst::blst_fp;

use super::{
    endomorphism::{halves, x_digits},
    fields::{Element, G1},
};
use crate::{
    field::Field,
    group::{Affine, Curve, Jacobian, interleave, odd_multiples, wnaf},
    words,
};

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
