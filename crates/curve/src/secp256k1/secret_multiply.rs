//! Constant-time multiplication of a public point by a secret.
//!
//! The multiplier is split by the endomorphism into v_0 and v_1 of 130 bits, each read as 26 windows of 5 bits with
//! signed, odd, never zero digits: the bits b_i of v stand for the sum of (2 b_i - 1) 2^i = 2 v + 1 - 2^130. The two sums
//! share their doublings; the table holds the odd multiples up to 31 of the point.
//!
//! Source: signed all-bits-set digits: [Ham12] §3.3; their use with the endomorphism: [LIBSECP] `ecmult_const_impl.h`.
//! Constant time: in the multiplier. Every look-up reads the whole table; additions and doublings are complete. The table
//! is made in variable time, as the point is public.

use super::{
    group::{Affine, Curve, Projective},
    multiply::odd_multiples,
};
use crate::mask::Mask;

/// Bits of a window.
const WINDOW: usize = 5;
/// Windows of each half.
const WINDOWS: usize = 26;
/// Entries of the table.
const ENTRIES: usize = 1 << (WINDOW - 1);

/// `(2 v[0] + 1 - 2^130) P + (2 v[1] + 1 - 2^130) lambda P`. The order of P must be above 62.
pub(crate) fn multiply_secret<C: Curve>(point: &Affine<C>, v: &[[u64; 3]; 2]) -> Projective<C> {
    let (table, scale) = odd_multiples::<C, ENTRIES>(point);
    // From the isomorphic curve back to this one: here all have Z = scale.
    let inverse = scale.invert_vartime();
    let square = inverse.square();
    let cube = square.mul(&inverse);
    let table = table.map(|entry| Affine::new(entry.x.mul(&square), entry.y.mul(&cube)));

    let mut sum = Projective::INFINITY;
    for window in (0..WINDOWS).rev() {
        for _ in 0..WINDOW {
            sum = sum.double();
        }
        let [entry, image] = [&v[0], &v[1]].map(|v| look_up(&table, v, window));
        sum = sum.add_affine(&entry).add_affine(&image.endomorphism());
    }
    sum
}

/// The multiple of the point that a window stands for.
#[inline(always)]
fn look_up<C: Curve>(table: &[Affine<C>; ENTRIES], v: &[u64; 3], window: usize) -> Affine<C> {
    let (word, shift) = (window * WINDOW / 64, window * WINDOW % 64);
    let mut bits = v[word] >> shift;
    if shift > 64 - WINDOW {
        bits |= v[word + 1] << (64 - shift);
    }
    let bits = bits & 31;
    // The digit 2 bits - 31 is positive from 16 up; its index is (|digit| - 1) / 2.
    let negative = Mask::from_bit((bits >> 4) ^ 1);
    let index = (bits ^ negative.word()) & 15;
    let mut found = table[0];
    for (i, entry) in table.iter().enumerate().skip(1) {
        found = Affine::select(Mask::is_zero(i as u64 ^ index), entry, &found);
    }
    found.negate_if(negative)
}
