//! Clearing cofactors: the multiple of a point of the curve that is in the group. The steps are those of `multiple`, for
//! the point of the check.

use super::{
    super::super::{
        endomorphism::X,
        fields::{G1, G2},
    },
    field::Extension,
    group::LaneGroup,
    multiple::{CHECK, add, double, jacobian, load, opposite_image, summand},
    products::Factor,
};
use crate::{field::LazyField, group::Jacobian};

#[target_feature(enable = "avx512f,avx512ifma")]
fn load_jacobian<G: LaneGroup>(p: &Jacobian<G>) -> Factor<G::Degree> {
    load::<G>([p.x.mul(&p.z), p.y, p.z.square().mul(&p.z)])
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn store<G: LaneGroup>(points: &Factor<G::Degree>) -> Jacobian<G> {
    let [x, y, z, ..] = points.element().store();
    jacobian([x, y, z])
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn times_x<D: Extension>(point: &Factor<D>) -> Factor<D> {
    let summand = summand(point, CHECK, false);
    let mut multiple = *point;
    for bit in (0..X.ilog2()).rev() {
        multiple = double(&multiple);
        if X >> bit & 1 == 1 {
            add::<_, CHECK>(&mut multiple, &summand, false);
        }
    }
    multiple
}

/// `(X + 1) P`
#[target_feature(enable = "avx512f,avx512ifma")]
pub(in super::super::super) fn clear_g1(p: &Jacobian<G1>) -> Jacobian<G1> {
    let point = load_jacobian(p);
    let mut multiple = times_x(&point);
    add::<_, CHECK>(&mut multiple, &summand(&point, CHECK, false), false);
    store(&multiple)
}

/// `(X^2 + X - 1) P - (X + 1) image(P) + image(image(2 P))`
#[target_feature(enable = "avx512f,avx512ifma")]
pub(in super::super::super) fn clear_g2(p: &Jacobian<G2>) -> Jacobian<G2> {
    let point = load_jacobian(p);
    let factors = load::<G2>([G2::BY_X, G2::BY_Y.negate(1), LazyField::ONE]);
    let one = summand(&point, CHECK, false);
    let mut next = times_x(&point);
    add::<_, CHECK>(&mut next, &one, false);
    let mut sum = times_x(&next);
    add::<_, CHECK>(&mut sum, &one, true);
    let twice = opposite_image(&double(&point), &factors);
    for points in [
        opposite_image(&next, &factors),
        opposite_image(&twice, &factors),
    ] {
        add::<_, CHECK>(&mut sum, &summand(&points, CHECK, false), false);
    }
    store(&sum)
}
