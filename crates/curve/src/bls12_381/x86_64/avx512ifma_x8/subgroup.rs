//! Subgroup checks. For few points of G1 the products of one step are computed in parallel: four lanes per point.
//!
//! Doublings are those of `multiple`. Additions are those of `pairs`, but over Fp, with half the products: projective (x
//! = X / Z, y = Y / Z), from \[AKLGL11\] §4. A few points of G2 are checked one by one, by `multiple`.

use super::{
    super::super::{
        endomorphism::{X, g1_image, g2_image},
        fields::{Fp, G1, G2},
    },
    field::FpLanes,
    multiple::{self, g1::double},
    pairs::{OTHER, WIDTH, both, mask},
    points::{g1, g2},
};
use crate::{field::LazyField, group::Affine, lanes::LANES};

/// Loads `x`, `y`, `z` of each point.
#[target_feature(enable = "avx512f,avx512ifma")]
fn load(points: impl Iterator<Item = [Fp; 3]>) -> FpLanes {
    let mut lanes = [Fp::ZERO; LANES];
    for (lanes, elements) in lanes.chunks_mut(WIDTH).zip(points) {
        lanes[..3].copy_from_slice(&elements);
    }
    FpLanes::load(&lanes)
}

/// Adds q: with `lambda = X - x_Q Z`, `theta = Y - y_Q Z`, `e = lambda^3`, `g = X lambda^2`, `h = e + Z theta^2 - 2 g`,
/// `X' = lambda h`, `Y' = theta (g - h) - e Y`, `Z' = Z e`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn add(s: &FpLanes, q: &FpLanes) -> FpLanes {
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

/// Whether one or two points of the curve are in the subgroup: X^2 times each must be the opposite of its image.
///
/// An exceptional addition leaves Z = 0, and later steps preserve it. This does not happen for points of the subgroup,
/// as X^2 is below the order.
#[target_feature(enable = "avx512f,avx512ifma")]
fn are_few_in_subgroup(points: &[Affine<G1>]) -> bool {
    let multiplier = u128::from(X) * u128::from(X);
    let q = load(points.iter().map(|p| [p.x, p.y, Fp::ZERO]));
    let mut sum = load(points.iter().map(|p| [p.x, p.y, Fp::ONE]));
    for bit in (0..multiplier.ilog2()).rev() {
        sum = double(&sum);
        if multiplier >> bit & 1 == 1 {
            sum = add(&sum, &q);
        }
    }
    let image = load(points.iter().map(|p| {
        let image = g1_image(p);
        [image.x, image.y, Fp::ZERO]
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

/// Above this number of points of G1, one lane per point costs less than four.
const FEW_OF_G1: usize = 6;
/// The same for G2.
const FEW_OF_G2: usize = 3;

/// Whether these points of the curve, at most eight, are in G1.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(in super::super::super) fn are_in_g1(points: &[Affine<G1>]) -> bool {
    if points.len() > FEW_OF_G1 {
        return g1::are_opposite_multiples(points, u128::from(X) * u128::from(X), g1_image);
    }
    points
        .chunks(LANES / WIDTH)
        .all(|points| are_few_in_subgroup(points))
}

/// Whether these points of the twist, one to eight, are in G2.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(in super::super::super) fn are_in_g2(points: &[Affine<G2>]) -> bool {
    if points.len() > FEW_OF_G2 {
        return g2::are_opposite_multiples(points, u128::from(X), g2_image);
    }
    let scalar = [0; 4];
    points
        .iter()
        .all(|point| multiple::g2::multiple(point, &scalar).is_some())
}
