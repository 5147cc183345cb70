//! Constant-time multiplication of a public point by a secret.
//!
//! The multiplier is split by the endomorphism into v_0 and v_1 of 130 bits, each read as 26 windows of 5 bits with
//! signed, odd digits that are never zero: the bits b_i of v represent the sum of (2 b_i - 1) 2^i = 2 v + 1 - 2^130.
//! Both sums share their doublings. The table holds the odd multiples of the point up to 31.
//!
//! Source: signed all-bits-set digits: [Ham12] §3.3; their use with the endomorphism: [LIBSECP] `ecmult_const_impl.h`.
//!
//! Constant time: in the multiplier. Every look-up reads the whole table, and the additions are branch-free. The table
//! is computed in variable time, as the point is public.
//!
//! Why incomplete additions suffice: a partial sum a P + b lambda P equals its addend or its opposite only if (a, b)
//! plus or minus the addend is in the lattice used for the split, whose shortest non-zero vector is longer than 2^127.
//! The vector is not 0, because the component that is not added to is odd or an odd multiple of 32. Only the sums of
//! the last window are long enough to reach a non-zero vector. So only a few multipliers, as many as there are such
//! vectors, end with Z = 0; these are computed again with complete additions. Whether a multiplier is one of them is
//! not treated as a secret.

use super::curve::Endomorphism;
use crate::{
    field::{LazyField, SecretField},
    group::{Affine, Jacobian, odd_multiples},
    mask::Mask,
};

/// Bits per window.
const WINDOW: usize = 5;
/// Windows per half.
const WINDOWS: usize = 26;
/// Entries of the table.
const ENTRIES: usize = 1 << (WINDOW - 1);

/// Computes `(2 v[0] + 1 - 2^130) P + (2 v[1] + 1 - 2^130) lambda P`. The order of P must be above 62.
pub(crate) fn multiply_secret<C: Endomorphism>(
    point: &Affine<C>,
    v: &[[u64; 3]; 2],
) -> Jacobian<C> {
    let product = multiply::<C, false>(point, v);
    if product.z.is_zero_mask().declassify() {
        multiply::<C, true>(point, v)
    } else {
        product
    }
}

/// Like [`multiply_secret`], with complete or incomplete additions.
pub(crate) fn multiply<C: Endomorphism, const COMPLETE: bool>(
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

/// Returns the multiple of the point that a window represents.
#[inline(always)]
fn look_up<C: Endomorphism>(
    table: &[Affine<C>; ENTRIES],
    v: &[u64; 3],
    window: usize,
) -> Affine<C> {
    let (word, shift) = (window * WINDOW / 64, window * WINDOW % 64);
    let mut bits = v[word] >> shift;
    if shift > 64 - WINDOW {
        bits |= v[word + 1] << (64 - shift);
    }
    let bits = bits & 31;
    // The digit 2 bits - 31 is positive if bits >= 16; its index is (|digit| - 1) / 2.
    let negative = Mask::from_bit((bits >> 4) ^ 1);
    let index = (bits ^ negative.word()) & 15;
    let mut found = table[0];
    for (i, entry) in table.iter().enumerate().skip(1) {
        found = Affine::select(Mask::is_zero(i as u64 ^ index), entry, &found);
    }
    found.negate_where(negative)
}
