//! Subgroup checks and sums of multiples.
//!
//! Source: subgroups \[Scott21\]; decomposition \[GLV01\], \[GLS09\].

use alloc::vec::Vec;

use blst::blst_scalar;

use super::{
    super::{
        super::{endomorphism::X, fields, generator, groups::Group},
        endomorphism::{Endomorphism, digits},
    },
    buckets,
    curves::{AdxCurve, G1},
};
use crate::{
    field::{Field, invert_all},
    group::{Affine, Curve, Jacobian, interleave, odd_multiples, wnaf},
    words::from_u128,
};

/// `X P`, or `(X + 1) P`, for any point of the curve.
pub(super) fn times_x<C: Curve<Field: Field>>(p: &Jacobian<C>, plus_one: bool) -> Jacobian<C> {
    // The same point on the isomorphic curve where its Z is 1.
    let base: Affine<C> = Affine { x: p.x, y: p.y };
    let mut multiple = Jacobian::from(base);
    for bit in (0..X.ilog2()).rev() {
        multiple = multiple.double();
        if X >> bit & 1 == 1 {
            multiple = multiple.add_affine(&base);
        }
    }
    if plus_one {
        multiple = multiple.add_affine(&base);
    }
    Jacobian {
        z: multiple.z.mul(&p.z),
        ..multiple
    }
}

/// Whether a point of the curve is in the group: `X^POWER` times it must be the opposite of its image.
fn is_in_group<C: AdxCurve>(point: &Affine<C>) -> bool {
    let mut multiple = Jacobian::from(*point);
    for _ in 0..C::POWER {
        multiple = times_x(&multiple, false);
    }
    let Affine { x, y } = C::image(point).scaled(&multiple.z);
    !multiple.is_infinity() && multiple.x == x && multiple.y == y.negate()
}

/// Whether these points of the curve are in the group.
pub(in super::super::super) fn are_in_group<C: AdxCurve>(points: &[Affine<C::Blst>]) -> bool {
    points.iter().all(|point| is_in_group(&C::affine(point)))
}

/// The sum of points, which may be equal.
pub(in super::super) fn sum_of_points<G: Group>(
    points: impl IntoIterator<Item = Jacobian<G>>,
) -> Jacobian<G> {
    let points = points.into_iter().map(|point| G::Adx::jacobian(&point));
    let sum = points.fold(Jacobian::INFINITY, |sum, point| sum.add(&point));
    G::Adx::jacobian_to_blst(&sum)
}

/// Bits of a digit of a multiplier, with its sign.
const WINDOW: u32 = 5;
/// Odd multiples in a table.
const ENTRIES: usize = 1 << (WINDOW - 2);
/// Maximum number of points of [`sum`].
pub(super) const FEW: usize = 64;

/// Returns the sum of products of points of the curve and scalars; `None` if a point is not in the group.
pub(in super::super::super) fn msm<G: Group>(
    points: &[Affine<G>],
    scalars: &[blst_scalar],
) -> Option<Jacobian<G>> {
    if !are_in_group::<G::Adx>(points) {
        return None;
    }
    const { assert!(G::Adx::BUCKETS_FROM <= FEW) };
    let sum = if points.len() < G::Adx::BUCKETS_FROM {
        sum::<G::Adx>(points, scalars)
    } else {
        let products = points.iter().zip(scalars);
        let terms: Vec<_> = products
            .flat_map(|(point, scalar)| G::Adx::terms(G::Adx::affine(point), digits(scalar)))
            .collect();
        buckets::sum(&terms)
    };
    Some(G::Adx::jacobian_to_blst(&sum))
}

/// Returns the sum of products of up to [`FEW`] points of the group and scalars.
pub(super) fn sum<C: AdxCurve>(points: &[Affine<C::Blst>], scalars: &[blst_scalar]) -> Jacobian<C> {
    // Odd multiples of the points, and of their images.
    let (multiples, mut scales): (Vec<_>, Vec<_>) = points
        .iter()
        .map(|point| odd_multiples::<C, ENTRIES>(&C::affine(point)))
        .unzip();
    invert_all::<_, FEW>(&mut scales, &Field::ONE, C::Field::mul, C::Field::invert);
    let (mut tables, mut all_digits) = (Vec::new(), Vec::new());
    for ((multiples, scale), scalar) in multiples.iter().zip(&scales).zip(scalars) {
        let mut table = multiples.map(|entry| entry.scaled(scale));
        for (i, k) in C::multipliers(digits(scalar)).enumerate() {
            if i > 0 {
                table = table.map(|entry| C::image(&entry));
            }
            tables.push(table);
            all_digits.push(wnaf::<129>(&from_u128(k), WINDOW));
        }
    }
    interleave(&mut all_digits, |i, digit| {
        let entry = tables[i][usize::from(digit.unsigned_abs() / 2)];
        // The image is -X^POWER times the point, and each point has an even number of tables.
        (entry.negate_if((digit < 0) != (i % 2 == 1)), None)
    })
}

/// [`generator::multiply_subtract`] over this field.
pub(in super::super::super) fn multiply_subtract(
    p: &Affine<fields::G1>,
    a: &[u8; 32],
    b: &[u8; 32],
) -> Jacobian<fields::G1> {
    G1::jacobian_to_blst(&generator::multiply_subtract(
        p,
        a,
        b,
        G1::affine,
        G1::image,
    ))
}
