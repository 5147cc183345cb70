//! Backend selection for BLAKE2s in lanes: CPU features are detected once at run time. Every call to a kernel that needs
//! more than the target's baseline is here, together with the evidence that the CPU supports it.

#[cfg(target_arch = "aarch64")]
use super::aarch64::neon_x4;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use super::portable::{compress_first, compress_lanes};
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use super::wasm32::simd128_x4::{compress_first, compress_lanes};
#[cfg(target_arch = "x86_64")]
use super::x86_64;
use super::{Column, Columns};
#[cfg(target_arch = "aarch64")]
use crate::cpu::Neon;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};

/// An implementation of BLAKE2s in lanes. All backends return the same words; a value exists only if the CPU supports
/// it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The target's baseline: safe Rust, or 128-bit vectors on WebAssembly with `simd128`.
    Portable,
    /// AVX2: eight messages in parallel.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// AVX-512F: sixteen messages in parallel.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    /// NEON: four messages in parallel.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
}

impl Backend {
    /// Returns the fastest backend for this CPU within [`cpu::tier`](crate::cpu::tier).
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

    /// Returns all backends that this CPU supports within [`cpu::tier`](crate::cpu::tier), [`Backend::Portable`] first.
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

    /// Compresses one block of each message: [`compress`](super::compress) in every lane. `block` has the first `W` words,
    /// at most 16; the others are zero and cost no additions. The words are read where they are, so that a caller need not
    /// copy them into one block.
    #[inline]
    pub fn compress_lanes<const W: usize>(
        self,
        state: &mut Columns<8>,
        block: [&Column; W],
        counter: u64,
        last: bool,
    ) {
        const { assert!(W <= 16) };
        match self {
            Self::Portable => compress_lanes(state, block, counter, last),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => {
                // SAFETY: the backend holds evidence of AVX2.
                unsafe { x86_64::avx2_x8::compress_lanes(state, block, counter, last) }
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => {
                // SAFETY: the backend holds evidence of AVX-512F.
                unsafe { x86_64::avx512_x16::compress_lanes(state, block, counter, last) }
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => {
                // SAFETY: the backend holds evidence of NEON.
                unsafe { neon_x4::compress_lanes(state, block, counter, last) }
            }
        }
    }

    /// [`Self::compress_lanes`] of the first block: from the state [`INITIAL`](super::INITIAL). Returns the first `N` words
    /// of the state, at most 8, in `out`.
    #[inline]
    pub fn compress_first<const W: usize, const N: usize>(
        self,
        block: [&Column; W],
        counter: u64,
        last: bool,
        out: &mut Columns<N>,
    ) {
        const { assert!(W <= 16 && N <= 8) };
        match self {
            Self::Portable => compress_first(block, counter, last, out),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => {
                // SAFETY: the backend holds evidence of AVX2.
                unsafe { x86_64::avx2_x8::compress_first(block, counter, last, out) }
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => {
                // SAFETY: the backend holds evidence of AVX-512F.
                unsafe { x86_64::avx512_x16::compress_first(block, counter, last, out) }
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => {
                // SAFETY: the backend holds evidence of NEON.
                unsafe { neon_x4::compress_first(block, counter, last, out) }
            }
        }
    }
}
