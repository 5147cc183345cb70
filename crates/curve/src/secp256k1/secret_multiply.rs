//! Constant-time multiplication of a public point by a secret.
//!
//! The multiplier is split by the endomorphism into v_0 and v_1 of 130 bits, each read as 26 windows of 5 bits with
//! signed, odd, never zero digits: the bits b_i of v stand for the sum of (2 b_i - 1) 2^i = 2 v + 1 - 2^130. The two sums
//! share their doublings; the table holds the odd multiples up to 31 of the point.
//!
//! Source: signed all-bits-set digits: [Ham12] §3.3; their use with the endomorphism: [LIBSECP] `ecmult_const_impl.h`.
//! Constant time: in the multiplier. Every look-up reads the whole table; the additions have no branch. They are incomplete
//! ones: a sum a P + b lambda P meets its addend or its opposite only where (a, b) plus or minus that addend is a vector
//! of the lattice that the split is by, whose shortest one is longer than 2^127, or 0. It is not 0, as the part that is
//! not added to is an odd multiple of 32, or odd itself; and only the last window has sums that long. So a handful of
//! multipliers, by the number of such vectors, end with Z = 0: these are computed again by complete additions. Whether a
//! multiplier is one of them is not treated as a secret. The table is made in variable time, as the point is public.

use super::curve::Koblitz;
use crate::{
    field::{LazyField, SecretField},
    group::{Affine, Jacobian, odd_multiples},
    mask::Mask,
};

/// Bits of a window.
const WINDOW: usize = 5;
/// Windows of each half.
const WINDOWS: usize = 26;
/// Entries of the table.
const ENTRIES: usize = 1 << (WINDOW - 1);

/// `(2 v[0] + 1 - 2^130) P + (2 v[1] + 1 - 2^130) lambda P`. The order of P must be above 62.
pub(crate) fn multiply_secret<C: Koblitz>(point: &Affine<C>, v: &[[u64; 3]; 2]) -> Jacobian<C> {
    let product = multiply::<C, false>(point, v);
    if product.z.is_zero_mask().declassify() {
        multiply::<C, true>(point, v)
    } else {
        product
    }
}

/// The same by complete additions, or by incomplete ones.
pub(crate) fn multiply<C: Koblitz, const COMPLETE: bool>(
    point: &Affine<C>,
    v: &[[u64; 3]; 2],
) -> Jacobian<C> {
    let (table, scale) = odd_multiples::<C, ENTRIES>(point);
    let tables = [table, table.map(|entry| entry.endomorphism())];
    let mut sum: Jacobian<C> = look_up(&tables[0], &v[0], WINDOWS - 1).into();
    for window in (0..WINDOWS).rev() {
        if window < WINDOWS - 1 {
            for _ in 0..WINDOW {
                sum = sum.double();
            }
            sum = sum.add_secret::<COMPLETE>(&look_up(&tables[0], &v[0], window));
        }
        sum = sum.add_secret::<COMPLETE>(&look_up(&tables[1], &v[1], window));
    }
    sum.z = sum.z.mul(&scale);
    sum
}

/// The multiple of the point that a window stands for.
#[inline(always)]
fn look_up<C: Koblitz>(table: &[Affine<C>; ENTRIES], v: &[u64; 3], window: usize) -> Affine<C> {
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
    found.negate_where(negative)
}
