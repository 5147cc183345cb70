//! Sums of products.

use alloc::vec::Vec;

use blst::blst_scalar;

use super::{
    super::{super::groups::Group, adx, endomorphism::digits},
    multiple::multiple,
    points,
    subgroup::are_in_group,
};
use crate::group::{Affine, Jacobian};

/// Points per sum. More are processed in several sums, so that the tables take at most a megabyte.
const AT_ONCE: usize = 128;

/// Returns the sum of products of points of the curve and scalars; `None` if a point is not in the group.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(in super::super::super) fn msm<G: Group>(
    points: &[Affine<G>],
    scalars: &[blst_scalar],
) -> Option<Jacobian<G>> {
    let terms = |point: &Affine<G>, scalar| G::terms(*point, digits(scalar));
    if points.len() <= G::ONE_BY_ONE_UP_TO {
        let mut products = Vec::with_capacity(points.len());
        for (point, scalar) in points.iter().zip(scalars) {
            products.push(multiple(point, &digits(scalar))?);
        }
        return Some(adx::sum_of_points(products));
    }
    if !are_in_group(points) {
        return None;
    }
    let chunks = points.chunks(AT_ONCE).zip(scalars.chunks(AT_ONCE));
    Some(adx::sum_of_points(chunks.map(|(points, scalars)| {
        let products = points.iter().zip(scalars);
        let terms: Vec<_> = products.flat_map(|(p, k)| terms(p, k)).collect();
        points::sum(&terms)
    })))
}
