//! Subgroup checks. For few points the products of one step are computed in parallel: four lanes per point.
//!
//! Doublings are those of `multiple`. Additions are those of `pairs`, but with elements in place of factors, with half
//! the products: projective (x = X / Z, y = Y / Z), from \[AKLGL11\] §4.

use super::{
    field::{Extension, Lanes},
    group::LaneGroup,
    multiple::double,
    pairs::{OTHER, WIDTH, both, load, mask},
    points,
    products::Factor,
};
use crate::{
    field::LazyField,
    group::Affine,
    lanes::{LANES, field::Products},
};

/// Adds q: with `lambda = X - x_Q Z`, `theta = Y - y_Q Z`, `e = lambda^3`, `g = X lambda^2`, `h = e + Z theta^2 - 2 g`,
/// `X' = lambda h`, `Y' = theta (g - h) - e Y`, `Z' = Z e`. Sizes are below 8.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn add<D: Extension>(s: &Lanes<D>, q: &Lanes<D>) -> Lanes<D> {
    let z = s.permuted(s, &const { both([2; 4]) });
    let d = s.minus::<1, 1, 2>(&q.mul(&z)); // lambda, theta
    let squares = d.square();
    let x = d.permuted(s, &const { both([0, OTHER + 2, OTHER, 0]) });
    let cubes = x.mul(&squares.permuted(&squares, &const { both([0, 1, 0, 0]) })); // e, Z theta^2, g
    let e = cubes.permuted(&cubes, &const { both([0; 4]) });
    let g = cubes.permuted(&cubes, &const { both([2; 4]) });
    let h = e
        .add(&cubes.permuted(&cubes, &const { both([1; 4]) }))
        .minus::<1, 2, 3>(&g); // 6
    let y = s
        .permuted(s, &const { both([0, 0, 1, 2]) })
        .select(mask(0), &h)
        .select(mask(1), &g.minus::<1, 1, 6>(&h));
    let x = d.permuted(&cubes, &const { both([0, 1, OTHER, OTHER]) });
    let products = x.mul(&y);
    let last = products.permuted(&products, &const { both([2; 4]) });
    products
        .permuted(&products, &const { both([0, 1, 3, 3]) })
        .select(mask(1), &products.minus::<1, 1, 2>(&last))
}

/// Whether one or two points of the curve are in the group: `X^POWER` times each must be the opposite of its image.
///
/// An exceptional addition leaves Z = 0, and later steps preserve it. This does not happen for points of the group, as
/// the multiplier is below the order.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn are_few_in_group<G: LaneGroup>(points: &[Affine<G>]) -> bool {
    let (zero, one) = (G::Field::ZERO, G::Field::ONE);
    let multiplier = G::multiplier();
    let q: Lanes<G::Degree> = load(points.iter().map(|p| [p.x, p.y, zero]));
    let mut sum = Factor::new(&load(points.iter().map(|p| [p.x, p.y, one])));
    for bit in (0..multiplier.ilog2()).rev() {
        sum = double(&sum);
        if multiplier >> bit & 1 == 1 {
            sum = Factor::new(&add(&sum.element(), &q));
        }
    }
    let sum = sum.element();
    let image = load(points.iter().map(|p| {
        let image = G::image(p);
        [image.x, image.y, zero]
    }));
    let image = image.mul(&sum.permuted(&sum, &const { both([2; 4]) }));
    let lanes = sum
        .minus::<1, 1, 2>(&image)
        .select(mask(1), &sum.add(&image))
        .store();
    (0..points.len()).all(|i| {
        let [x, y, z] = [0, 1, 2].map(|lane| lanes[WIDTH * i + lane].is_zero());
        x && y && !z
    })
}

/// Whether these points of the curve are in the group.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(in super::super::super) fn are_in_group<G: LaneGroup>(points: &[Affine<G>]) -> bool {
    points.chunks(LANES).all(|points| {
        if points.len() > G::FEW {
            return points::are_in_group(points);
        }
        let mut pairs = points.chunks(LANES / WIDTH);
        pairs.all(|points| are_few_in_group(points))
    })
}
