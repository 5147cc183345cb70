//! Backend selection for BLAKE2b: CPU features are detected once at run time. Every call to the kernel is here, together
//! with the evidence that the CPU supports it.

use super::portable;
#[cfg(target_arch = "x86_64")]
use super::x86_64::avx512vl;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx512Vl, Model, model};

/// An implementation of the rounds. All backends return the same words; a value exists only if the CPU supports it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Backend {
    /// One word at a time.
    Portable,
    /// AVX-512F and VL: the state in four 256-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512Vl(Avx512Vl),
}

impl Backend {
    /// Returns the fastest backend for this CPU. On AMD Zen 5, whose vector instructions have a latency of two cycles,
    /// one word at a time is faster; on Intel, vectors are.
    #[inline]
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512vl) = Avx512Vl::detect()
            && model() == Model::Intel
        {
            return Self::Avx512Vl(avx512vl);
        }
        Self::Portable
    }

    /// Returns all backends that this CPU supports, [`Backend::Portable`] first.
    #[cfg(test)]
    pub(super) fn available() -> std::vec::Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512vl) = Avx512Vl::detect() {
            return std::vec![Self::Portable, Self::Avx512Vl(avx512vl)];
        }
        std::vec![Self::Portable]
    }

    /// Mixes the message block `m` into the working vector `v`.
    #[inline]
    pub(super) fn mix(self, rounds: u32, v: &mut [u64; 16], m: &[u64; 16]) {
        match self {
            Self::Portable => portable::mix(rounds, v, m),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vl(_) => {
                // SAFETY: the backend holds evidence of AVX-512F and VL.
                unsafe { avx512vl::mix(rounds, v, m) }
            }
        }
    }
}
