//! Kernels of blst, for every target.

use alloc::vec::Vec;

use blst::{
    blst_final_exp, blst_fp, blst_fp2, blst_fp6, blst_fp12, blst_fp12_is_one,
    blst_fp12_mul_by_xy00z0, blst_fp12_sqr, blst_map_to_g1, blst_map_to_g2, blst_miller_loop_n,
    blst_p1, blst_p2,
};

use super::{
    fields::{Element, Fp, Fp2, G1, G2},
    groups::Group,
    miller::{each_step, line_part},
};
use crate::{field::Field, group::Affine};

/// The point of G1 for a field element.
pub(super) fn map_to_g1(element: &Fp) -> Option<Affine<G1>> {
    let mut point = blst_p1::default();
    // SAFETY: reads one valid field element (the second is optional) and writes a point.
    unsafe { blst_map_to_g1(&mut point, &element.0, core::ptr::null::<blst_fp>()) };
    G1::from_blst(&point).to_affine()
}

/// The point of G2 for an element of Fp2.
pub(super) fn map_to_g2(element: &Fp2) -> Option<Affine<G2>> {
    let mut point = blst_p2::default();
    // SAFETY: reads one valid field element (the second is optional) and writes a point.
    unsafe { blst_map_to_g2(&mut point, &element.0, core::ptr::null()) };
    G2::from_blst(&point).to_affine()
}

/// [`Backend::miller_loop`](super::dispatch::Backend::miller_loop)
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

/// [`Backend::final_exponentiation_is_one`](super::dispatch::Backend::final_exponentiation_is_one)
pub(super) fn final_exponentiation_is_one(f: &blst_fp12) -> bool {
    let mut power = blst_fp12::default();
    // SAFETY: the pointers come from references to field elements.
    unsafe {
        blst_final_exp(&mut power, f);
        blst_fp12_is_one(&power)
    }
}

/// [`Backend::miller_loop_of_lines`](super::dispatch::Backend::miller_loop_of_lines)
pub(super) fn miller_loop_of_lines(factors: &[Option<[Fp; 2]>; 2]) -> blst_fp12 {
    let square = |f: &blst_fp12| {
        let mut square = *f;
        // SAFETY: the pointers come from references to field elements.
        unsafe { blst_fp12_sqr(&mut square, f) };
        square
    };
    let mut f = blst_fp12::default();
    each_step(&mut f, square, |f, line, _| {
        let at: *mut blst_fp12 = f;
        for (point, factors) in factors.iter().enumerate() {
            let Some(factors) = factors else { continue };
            let [by_x, constant] = [0, 1].map(|i| blst_fp2 {
                fp: [0, 1].map(|part| Element(line_part(point, line, i, part)).mul(&factors[i]).0),
            });
            let line = blst_fp6 {
                fp2: [constant, by_x, Fp2::ONE.0],
            };
            // SAFETY: `at` and `line` point to valid field elements; blst allows the result to alias a factor.
            unsafe { blst_fp12_mul_by_xy00z0(at, at, &line) };
        }
    });
    f
}
