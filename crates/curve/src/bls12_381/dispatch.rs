//! Backend selection. This is the only place that calls kernels with specific CPU instructions.

use blst::{blst_fp12, blst_scalar};
#[cfg(target_arch = "x86_64")]
use lydite_hash::cpu::{Adx, Avx512Ifma};

#[cfg(target_arch = "x86_64")]
use super::x86_64::{adx, avx512ifma_x8};
use super::{
    endomorphism::g1_image,
    fields::{Fp, Fp2, G1, G2},
    generator::multiply_subtract,
    groups::Group,
    portable,
};
use crate::group::{Affine, Jacobian};

/// A set of kernels. A value exists only if the CPU supports it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Backend {
    /// blst, on every target.
    Blst,
    /// Own field arithmetic with BMI2 and ADX.
    #[cfg(target_arch = "x86_64")]
    Adx(Adx),
    /// Eight points, or the products of a pairing or of one point, at a time, and the rest as in `Adx`: AVX-512F and
    /// AVX-512IFMA, BMI2 and ADX.
    #[cfg(target_arch = "x86_64")]
    Avx512IfmaX8(Adx, Avx512Ifma),
}

impl Backend {
    /// Returns the fastest backend for this CPU.
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(adx) = Adx::detect() {
            return match Avx512Ifma::detect() {
                Some(ifma) => Self::Avx512IfmaX8(adx, ifma),
                None => Self::Adx(adx),
            };
        }
        Self::Blst
    }

    /// Returns all backends that this CPU supports.
    #[cfg(test)]
    pub(super) fn available() -> impl Iterator<Item = Self> {
        [
            Some(Self::Blst),
            #[cfg(target_arch = "x86_64")]
            Adx::detect().map(Self::Adx),
            #[cfg(target_arch = "x86_64")]
            Adx::detect()
                .zip(Avx512Ifma::detect())
                .map(|(adx, ifma)| Self::Avx512IfmaX8(adx, ifma)),
        ]
        .into_iter()
        .flatten()
    }

    /// The point of G1 for a field element.
    pub(super) fn map_to_g1(self, element: &Fp) -> Option<Affine<G1>> {
        match self {
            Self::Blst => portable::map_to_g1(element),
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) => adx::clear::<adx::G1>(&adx::to_curve::<adx::G1>(element)).to_affine(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512IfmaX8(..) => {
                let point = adx::to_curve::<adx::G1>(element);
                // SAFETY: the backend holds evidence of AVX-512F and IFMA.
                unsafe { avx512ifma_x8::clear_g1(&point) }.to_affine()
            }
        }
    }

    /// The point of G2 for an element of Fp2.
    pub(super) fn map_to_g2(self, element: &Fp2) -> Option<Affine<G2>> {
        match self {
            Self::Blst => portable::map_to_g2(element),
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) => adx::clear::<adx::G2>(&adx::to_curve::<adx::G2>(element)).to_affine(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512IfmaX8(..) => {
                let point = adx::to_curve::<adx::G2>(element);
                // SAFETY: the backend holds evidence of AVX-512F and IFMA.
                unsafe { avx512ifma_x8::clear_g2(&point) }.to_affine()
            }
        }
    }

    /// Whether these points of the curve are in the group.
    pub(super) fn are_in_group<G: Group>(self, points: &[Affine<G>]) -> bool {
        match self {
            Self::Blst => points.iter().all(G::contains),
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) => adx::are_in_group::<G::Adx>(points),
            // SAFETY: the backend holds evidence of AVX-512F and IFMA.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512IfmaX8(..) => unsafe { avx512ifma_x8::are_in_group(points) },
        }
    }

    /// Returns the sum of products of points of the curve and scalars; `None` if a point is not in the group.
    pub(super) fn msm<G: Group>(
        self,
        points: &[Affine<G>],
        scalars: &[blst_scalar],
    ) -> Option<Jacobian<G>> {
        match self {
            Self::Blst => G::msm(points, scalars),
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) => adx::msm(points, scalars),
            // SAFETY: the backend holds evidence of AVX-512F and IFMA.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512IfmaX8(..) => unsafe { avx512ifma_x8::msm(points, scalars) },
        }
    }

    /// Returns the product of the Miller functions of these pairs, up to factors that the final exponentiation removes;
    /// `None` if a point of the twist is not in G2. The points of G1 must be in the subgroup.
    pub(super) fn miller_loop(self, pairs: &[(Affine<G1>, Affine<G2>)]) -> Option<blst_fp12> {
        match self {
            Self::Blst => portable::miller_loop(pairs),
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) => adx::miller_loop(pairs),
            // SAFETY: the backend holds evidence of AVX-512F and IFMA.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512IfmaX8(..) => unsafe { avx512ifma_x8::miller_loop(pairs) },
        }
    }

    /// Computes `a P - b G` for a and b below r. P must not be infinity.
    pub(super) fn multiply_subtract(
        self,
        p: &Affine<G1>,
        a: &[u8; 32],
        b: &[u8; 32],
    ) -> Jacobian<G1> {
        match self {
            Self::Blst => multiply_subtract(p, a, b, |p| *p, g1_image),
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) | Self::Avx512IfmaX8(..) => adx::multiply_subtract(p, a, b),
        }
    }

    /// Returns the product of the Miller functions of the KZG check, given x / y and 1 / y of its points of G1, up to
    /// factors that the final exponentiation removes.
    pub(super) fn miller_loop_of_lines(self, factors: &[Option<[Fp; 2]>; 2]) -> blst_fp12 {
        match self {
            Self::Blst => portable::miller_loop_of_lines(factors),
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) => adx::miller_loop_of_lines(factors),
            // SAFETY: the backend holds evidence of AVX-512F and IFMA.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512IfmaX8(..) => unsafe { avx512ifma_x8::miller_loop_of_lines(factors) },
        }
    }

    /// Whether the final exponentiation of a product of Miller loops gives one.
    pub(super) fn final_exponentiation_is_one(self, f: &blst_fp12) -> bool {
        match self {
            Self::Blst => portable::final_exponentiation_is_one(f),
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) => adx::final_exponentiation_is_one(f),
            // SAFETY: the backend holds evidence of AVX-512F and IFMA.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512IfmaX8(..) => unsafe { avx512ifma_x8::final_exponentiation_is_one(f) },
        }
    }
}
