//! Backend selection for BLAKE2b: CPU features are detected once at run time. Every call to the kernel is here, together
//! with the evidence that the CPU supports it.

use super::portable;
#[cfg(target_arch = "x86_64")]
use super::x86_64::{compress_avx2, compress_avx512vl};
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512Vl, Model, model};

/// An implementation of the compression. All backends compute the same words; a value exists only if the CPU supports it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Backend {
    /// One word at a time.
    Portable,
    /// AVX2: the state in four 256-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// Also AVX-512F and VL, which have rotations.
    #[cfg(target_arch = "x86_64")]
    Avx512Vl(Avx2, Avx512Vl),
}

impl Backend {
    /// Returns the fastest backend for this CPU. On AMD Zen 5, whose vector instructions have a latency of two cycles,
    /// one word at a time is faster; on Intel and AMD Zen 3 and 4, vectors are. Zen 4 executes the rotations of AVX-512VL
    /// more slowly than the shuffles in place of them.
    #[inline]
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = Avx2::detect() {
            return match (model(), Avx512Vl::detect()) {
                (Model::Intel, Some(vl)) => Self::Avx512Vl(avx2, vl),
                (Model::Intel | Model::AmdFamily19, _) => Self::Avx2(avx2),
                (Model::Other, _) => Self::Portable,
            };
        }
        Self::Portable
    }

    /// Returns all backends that this CPU supports, [`Backend::Portable`] first.
    #[cfg(test)]
    pub(super) fn available() -> impl Iterator<Item = Self> {
        [
            Some(Self::Portable),
            #[cfg(target_arch = "x86_64")]
            Avx2::detect().map(Self::Avx2),
            #[cfg(target_arch = "x86_64")]
            Avx2::detect()
                .zip(Avx512Vl::detect())
                .map(|(avx2, vl)| Self::Avx512Vl(avx2, vl)),
        ]
        .into_iter()
        .flatten()
    }

    /// Updates `h` by compressing the message block `m`. `ends` is the last row of the working vector XOR its initial
    /// value: the counters and the flag.
    #[inline]
    pub(super) fn compress(self, rounds: u32, h: &mut [u64; 8], m: &[u64; 16], ends: &[u64; 4]) {
        match self {
            Self::Portable => portable::compress(rounds, h, m, ends),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => {
                // SAFETY: the backend holds evidence of AVX2.
                unsafe { compress_avx2(rounds, h, m, ends) }
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vl(..) => {
                // SAFETY: the backend holds evidence of AVX2, AVX-512F and VL.
                unsafe { compress_avx512vl(rounds, h, m, ends) }
            }
        }
    }
}
