//! The pairing check.

use alloc::vec::Vec;

use blst::{blst_final_exp, blst_fp12, blst_fp12_is_one, blst_fp12_mul, blst_miller_loop_n};

#[cfg(target_arch = "x86_64")]
use super::endomorphism::X;
use super::{
    Error, G1_LENGTH, G2_LENGTH,
    dispatch::Backend,
    encoding::{read_g1, read_g2},
    fields::{G1, G2},
    groups::Group,
};
use crate::group::Affine;

/// Number of pairs per Miller loop. More pairs take several loops, whose results are multiplied.
const CHUNK: usize = 16;

/// [`Backend::miller_loop`] by blst.
pub(super) fn miller_loop(pairs: &[(Affine<G1>, Affine<G2>)]) -> Option<blst_fp12> {
    if !pairs.iter().all(|(_, q)| G2::contains(q)) {
        return None;
    }
    let (p, q): (Vec<_>, Vec<_>) = pairs
        .iter()
        .map(|(p, q)| (G1::to_blst(p), G2::to_blst(q)))
        .unzip();
    let (ps, qs) = (
        [p.as_ptr(), core::ptr::null()],
        [q.as_ptr(), core::ptr::null()],
    );
    let mut loops = blst_fp12::default();
    // SAFETY: reads `pairs.len()` points of each list (a null pointer in second place: all further points follow the
    // first in memory) and writes one field element.
    unsafe { blst_miller_loop_n(&mut loops, qs.as_ptr(), ps.as_ptr(), pairs.len()) };
    Some(loops)
}

/// [`Backend::final_exponentiation_is_one`] by blst.
pub(super) fn final_exponentiation_is_one(f: &blst_fp12) -> bool {
    let mut power = blst_fp12::default();
    // SAFETY: the pointers come from references to field elements.
    unsafe {
        blst_final_exp(&mut power, f);
        blst_fp12_is_one(&power)
    }
}

/// Raises f, in the cyclotomic subgroup, to the power `3 (p^4 - p^2 + 1) / r`. Source: \[HHT20\].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn hard_part<F: Copy>(
    f: &F,
    mul: impl Fn(&F, &F) -> F,
    square_times: impl Fn(&F, usize) -> F,
    conjugate: impl Fn(&F) -> F,
    frobenius: impl Fn(&F, usize) -> F,
) -> F {
    // f^-X
    let power = |f: &F| {
        let (mut power, mut count) = (*f, 0);
        for bit in (0..X.ilog2()).rev() {
            count += 1;
            if X >> bit & 1 == 1 {
                power = mul(&square_times(&power, count), f);
                count = 0;
            }
        }
        conjugate(&square_times(&power, count))
    };
    // (x - 1)^2 (x + p) (x^2 + p^2 - 1) + 3
    let y = mul(&power(f), &conjugate(f));
    let y = mul(&power(&y), &conjugate(&y));
    let y = mul(&power(&y), &frobenius(&y, 1));
    let z = power(&power(&y));
    let z = mul(&mul(&z, &frobenius(&y, 2)), &conjugate(&y));
    mul(&z, &mul(&square_times(f, 1), f))
}

/// Checks that points of the curve are in the group.
///
/// # Errors
/// [`Error::NotInSubgroup`].
pub(super) fn check<G: Group>(backend: Backend, points: &[Affine<G>]) -> Result<(), Error> {
    let all = backend.are_in_group(points);
    all.then_some(()).ok_or(Error::NotInSubgroup)
}

/// Multiplies by the Miller loop of these pairs, at least one, if all points are in the groups.
fn multiply(
    backend: Backend,
    product: &mut blst_fp12,
    pairs: &[(Affine<G1>, Affine<G2>)],
) -> Result<(), Error> {
    let points: Vec<_> = pairs.iter().map(|(p, _)| *p).collect();
    check(backend, &points)?;
    let factor = backend.miller_loop(pairs).ok_or(Error::NotInSubgroup)?;
    let before = *product;
    // SAFETY: the pointers come from references to field elements.
    unsafe { blst_fp12_mul(product, &before, &factor) };
    Ok(())
}

/// [`pairing_check`] with this backend.
pub(super) fn pairing_check_with(
    backend: Backend,
    pairs: impl IntoIterator<Item = ([u8; G1_LENGTH], [u8; G2_LENGTH])>,
) -> Result<bool, Error> {
    let mut product = blst_fp12::default();
    let mut finite = Vec::with_capacity(CHUNK);
    for (p, q) in pairs {
        match (read_g1(&p)?, read_g2(&q)?) {
            (Some(p), Some(q)) => finite.push((p, q)),
            (Some(p), None) => check(backend, &[p])?,
            (None, Some(q)) => check(backend, &[q])?,
            (None, None) => {}
        }
        if finite.len() == CHUNK {
            multiply(backend, &mut product, &finite)?;
            finite.clear();
        }
    }
    match &*finite {
        [] => {}
        [(p, q)] if product == blst_fp12::default() => {
            // The pairing of two finite points is never one.
            check(backend, &[*p])?;
            check(backend, &[*q])?;
            return Ok(false);
        }
        pairs => multiply(backend, &mut product, pairs)?,
    }
    Ok(backend.final_exponentiation_is_one(&product))
}

/// Checks whether the product of the pairings of these pairs is one. Allocates.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`], [`Error::NotOnCurve`] or [`Error::NotInSubgroup`] if a pair is invalid. Within
/// each sixteen pairs, the coordinates are checked before the subgroups.
pub fn pairing_check(
    pairs: impl IntoIterator<Item = ([u8; G1_LENGTH], [u8; G2_LENGTH])>,
) -> Result<bool, Error> {
    pairing_check_with(Backend::detect(), pairs)
}
