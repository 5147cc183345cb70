//! The pairing check.

use alloc::vec::Vec;

use blst::{blst_fp12, blst_fp12_mul};

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
