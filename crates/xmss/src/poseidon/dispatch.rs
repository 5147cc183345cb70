//! Selects the instructions for permutations: detected once at run time, selected once per call. Every call to a kernel
//! that needs more than the target's baseline is here, and requires a proof that the CPU has the instructions that the
//! kernel was compiled for.

#[cfg(target_arch = "aarch64")]
use lydite_hash::cpu::Neon;
#[cfg(target_arch = "x86_64")]
use lydite_hash::cpu::{Avx2, Avx512};

#[cfg(target_arch = "aarch64")]
use super::aarch64::{neon_x1, neon_x4};
#[cfg(target_arch = "x86_64")]
use super::x86_64;
use super::{LANES, Lanes, Permutation, Poseidon1, Poseidon2, portable};

/// An implementation of the permutations. All backends give the same results. A value exists only if the CPU can run
/// it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Safe Rust for every target.
    Portable,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// AVX-512F and AVX-512BW.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    /// NEON.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
}

impl Backend {
    /// The fastest backend that this CPU can run.
    #[inline]
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(avx512) = Avx512::detect() {
                return Self::Avx512(avx512);
            }
            if let Some(avx2) = Avx2::detect() {
                return Self::Avx2(avx2);
            }
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(neon) = Neon::detect() {
            return Self::Neon(neon);
        }
        Self::Portable
    }

    /// All backends that this CPU can run, [`Backend::Portable`] first.
    pub fn available() -> impl Iterator<Item = Self> {
        let portable = core::iter::once(Self::Portable);
        #[cfg(target_arch = "x86_64")]
        let portable = portable.chain(
            [
                Avx2::detect().map(Self::Avx2),
                Avx512::detect().map(Self::Avx512),
            ]
            .into_iter()
            .flatten(),
        );
        #[cfg(target_arch = "aarch64")]
        let portable = portable.chain(Neon::detect().map(Self::Neon));
        portable
    }
}

/// Number of lanes that the portable kernel processes at once.
const PORTABLE_LANES: usize = 8;

/// Runs the portable kernel on [`LANES`] states, a few at a time.
#[inline(always)]
fn in_parts<K: Permutation<W, P>, const W: usize, const P: usize>(state: &mut Lanes<W>) {
    for start in (0..LANES).step_by(PORTABLE_LANES) {
        let mut part = [[0; PORTABLE_LANES]; W];
        for (part, whole) in part.iter_mut().zip(&state.0) {
            part.copy_from_slice(&whole[start..start + PORTABLE_LANES]);
        }
        portable::permute::<K, W, P, PORTABLE_LANES>(&mut part);
        for (part, whole) in part.iter().zip(&mut state.0) {
            whole[start..start + PORTABLE_LANES].copy_from_slice(part);
        }
    }
}

macro_rules! permutations {
    ($($(#[$doc:meta])* $all:ident $one:ident: $kind:ty, $width:literal, $rounds:literal;)*) => {
        impl Backend {
            $(
                $(#[$doc])*
                pub fn $all(self, state: &mut Lanes<$width>) {
                    match self {
                        Self::Portable => in_parts::<$kind, $width, $rounds>(state),
                        // SAFETY: the backend holds evidence of AVX2.
                        #[cfg(target_arch = "x86_64")]
                        Self::Avx2(evidence) => unsafe { x86_64::avx2_x8::$all(state, evidence) },
                        // SAFETY: the backend holds evidence of AVX-512F and AVX-512BW.
                        #[cfg(target_arch = "x86_64")]
                        Self::Avx512(evidence) => unsafe {
                            x86_64::avx512_x16::$all(state, evidence)
                        },
                        // SAFETY: the backend holds evidence of NEON.
                        #[cfg(target_arch = "aarch64")]
                        Self::Neon(_) => unsafe { neon_x4::$all(state) },
                    }
                }

                /// The same permutation of a single state, for hashes that depend on one another.
                pub fn $one(self, state: &mut [u32; $width]) {
                    match self {
                        Self::Portable => portable::permute_one::<$kind, $width, $rounds>(state),
                        // SAFETY: the backend holds evidence of AVX2.
                        #[cfg(target_arch = "x86_64")]
                        Self::Avx2(evidence) => unsafe { x86_64::avx2_x1::$one(state, evidence) },
                        // SAFETY: the backend holds evidence of AVX-512F and AVX-512BW.
                        #[cfg(target_arch = "x86_64")]
                        Self::Avx512(evidence) => unsafe {
                            x86_64::avx512_x1::$one(state, evidence)
                        },
                        // SAFETY: the backend holds evidence of NEON.
                        #[cfg(target_arch = "aarch64")]
                        Self::Neon(evidence) => unsafe { neon_x1::$one(state, evidence) },
                    }
                }
            )*
        }
    };
}

permutations! {
    /// Poseidon of width 16.
    poseidon1_16 poseidon1_16_one: Poseidon1, 16, 20;
    /// Poseidon of width 24.
    poseidon1_24 poseidon1_24_one: Poseidon1, 24, 23;
    /// Poseidon2 of width 16, with the constants of Plonky3 2117e4b.
    poseidon2_16 poseidon2_16_one: Poseidon2, 16, 20;
    /// Poseidon2 of width 24, with the constants of Plonky3 2117e4b.
    poseidon2_24 poseidon2_24_one: Poseidon2, 24, 23;
}
