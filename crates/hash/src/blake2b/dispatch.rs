//! Backend selection for BLAKE2b: CPU features are detected once at run time. Every call to the kernel is here, together
//! with the evidence that the CPU supports it.

use super::portable;
#[cfg(target_arch = "x86_64")]
use super::x86_64::avx512vl;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{AVX512VL, Model, has, model};

/// Evidence that this CPU has the instructions of a [`Backend`]; only detection creates it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Proof(());

/// An implementation of the rounds. All backends return the same words; a value exists only if the CPU supports it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Backend {
    /// One word at a time.
    Portable,
    /// AVX-512F and VL: the state in four 256-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512Vl(Proof),
}

impl Backend {
    /// Returns the fastest backend for this CPU. On AMD Zen 5, whose vector instructions have a latency of two cycles,
    /// one word at a time is faster; on Intel, vectors are.
    #[inline]
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if has(AVX512VL) && model() == Model::Intel {
            return Self::Avx512Vl(Proof(()));
        }
        Self::Portable
    }

    /// Returns all backends that this CPU supports, [`Backend::Portable`] first.
    #[cfg(test)]
    pub(super) fn available() -> std::vec::Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        if has(AVX512VL) {
            return std::vec![Self::Portable, Self::Avx512Vl(Proof(()))];
        }
        std::vec![Self::Portable]
    }

    /// Mixes the message block `m` into the working vector `v`.
    #[inline]
    pub(super) fn mix(self, rounds: u32, v: &mut [u64; 16], m: &[u64; 16]) {
        match self {
            Self::Portable => portable::mix(rounds, v, m),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vl(Proof(())) => {
                // SAFETY: the `Proof` for this backend is only created after detecting AVX-512F and VL.
                unsafe { avx512vl::mix(rounds, v, m) }
            }
        }
    }
}
