//! The vector kernels, each behind evidence that the CPU has its instructions.

mod avx512ifma_x8;

use blst::{blst_fp12, blst_p1, blst_p2};
use lydite_hash::cpu::Avx512Ifma;

use super::fields::{Fp, G1, G2};
use crate::group::Affine;

/// Whether these points of the curve, one to eight, are in G1.
pub(super) fn are_in_g1(_: Avx512Ifma, points: &[Affine<G1>]) -> bool {
    // SAFETY: the argument is evidence of AVX-512F and IFMA.
    unsafe { avx512ifma_x8::are_in_g1(points) }
}

/// Whether these points of the twist, one to eight, are in G2.
pub(super) fn are_in_g2(_: Avx512Ifma, points: &[Affine<G2>]) -> bool {
    // SAFETY: the argument is evidence of AVX-512F and IFMA.
    unsafe { avx512ifma_x8::are_in_g2(points) }
}

/// The multiple of a point of the curve by a scalar in base X; `None` if the point is not in G1.
pub(super) fn multiple_in_g1(
    _: Avx512Ifma,
    point: &Affine<G1>,
    scalar: &[u64; 4],
) -> Option<blst_p1> {
    // SAFETY: the argument is evidence of AVX-512F and IFMA.
    unsafe { avx512ifma_x8::one_of_g1::multiple(point, scalar) }
}

/// The multiple of a point of the twist by a scalar in base X; `None` if the point is not in G2.
pub(super) fn multiple_in_g2(
    _: Avx512Ifma,
    point: &Affine<G2>,
    scalar: &[u64; 4],
) -> Option<blst_p2> {
    // SAFETY: the argument is evidence of AVX-512F and IFMA.
    unsafe { avx512ifma_x8::one_of_g2::multiple(point, scalar) }
}

/// The sum of multiples of points in G1. Multipliers have at most 128 bits.
pub(super) fn sum_in_g1(_: Avx512Ifma, terms: &[(Affine<G1>, u128)]) -> blst_p1 {
    // SAFETY: the argument is evidence of AVX-512F and IFMA.
    unsafe { avx512ifma_x8::g1::sum(terms) }
}

/// The sum of multiples of points in G2. Multipliers have at most 64 bits.
pub(super) fn sum_in_g2(_: Avx512Ifma, terms: &[(Affine<G2>, u128)]) -> blst_p2 {
    // SAFETY: the argument is evidence of AVX-512F and IFMA.
    unsafe { avx512ifma_x8::g2::sum(terms) }
}

/// The product of the Miller loops of these pairs, if the second points are in G2.
pub(super) fn miller_loop(_: Avx512Ifma, pairs: &[(Affine<G1>, Affine<G2>)]) -> Option<blst_fp12> {
    // SAFETY: the argument is evidence of AVX-512F and IFMA.
    unsafe { avx512ifma_x8::miller_loop(pairs) }
}

/// The product of the Miller loops with the two fixed points, given x / y and 1 / y of each variable point.
pub(super) fn miller_loop_of_lines(_: Avx512Ifma, factors: &[Option<[Fp; 2]>; 2]) -> blst_fp12 {
    // SAFETY: the argument is evidence of AVX-512F and IFMA.
    unsafe { avx512ifma_x8::miller_loop_of_lines(factors) }
}

/// Whether the final exponentiation of a product of Miller loops gives one.
pub(super) fn final_exponentiation_is_one(_: Avx512Ifma, f: &blst_fp12) -> bool {
    // SAFETY: the argument is evidence of AVX-512F and IFMA.
    unsafe { avx512ifma_x8::final_exponentiation_is_one(f) }
}
