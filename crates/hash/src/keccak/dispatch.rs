//! Backend selection for Keccak: CPU features are detected once at run time, and a backend is chosen once per hash or
//! batch. Every call to a kernel that needs more than the target's baseline is here, together with the evidence that
//! the CPU supports it.

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use super::ZERO;
#[cfg(target_arch = "aarch64")]
use super::aarch64::{scalar::permute, sha3_x2};
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
use super::batch;
#[cfg(not(any(target_arch = "aarch64", target_arch = "wasm32")))]
use super::portable::permute;
#[cfg(target_arch = "wasm32")]
use super::wasm32::scalar::permute;
#[cfg(target_arch = "x86_64")]
use super::x86_64;
use super::{State, xor_bytes};
#[cfg(target_arch = "aarch64")]
use crate::cpu::Sha3;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512, Avx512Vl, Bmi2, Model, model};

/// An implementation of Keccak. All backends return the same digests; a value exists only if the CPU supports it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The target's baseline: safe Rust, or special kernels on AArch64 and WebAssembly.
    Portable,
    /// BMI1 and BMI2, one message at a time.
    #[cfg(target_arch = "x86_64")]
    Bmi2(Bmi2),
    /// Like [`Backend::Bmi2`], with batches of four messages in parallel with AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// AVX-512F and BW: one message in five vectors; batches of eight messages in parallel.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    /// Like [`Backend::Avx512`], with AVX-512VL and one message in 256-bit vectors, which is faster on AMD Zen 4.
    #[cfg(target_arch = "x86_64")]
    Avx512Vl(Avx512Vl),
    /// The SHA-3 instructions: batches of two messages in parallel. On Apple's CPUs also one message, which takes longer
    /// than scalar code on others.
    #[cfg(target_arch = "aarch64")]
    Sha3(Sha3),
}

impl Backend {
    /// Returns the fastest backend for this CPU within [`cpu::tier`](crate::cpu::tier).
    #[inline]
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(avx512vl) = Avx512Vl::detect()
                && model() == Model::AmdFamily19
            {
                return Self::Avx512Vl(avx512vl);
            }
            if let Some(avx512) = Avx512::detect() {
                return Self::Avx512(avx512);
            }
            if let Some(avx2) = Avx2::detect() {
                return Self::Avx2(avx2);
            }
            if let Some(bmi2) = Bmi2::detect() {
                return Self::Bmi2(bmi2);
            }
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(sha3) = Sha3::detect() {
            return Self::Sha3(sha3);
        }
        Self::Portable
    }

    /// Returns all backends that this CPU supports within [`cpu::tier`](crate::cpu::tier), [`Backend::Portable`] first.
    pub fn available() -> impl Iterator<Item = Self> {
        let portable = core::iter::once(Self::Portable);
        #[cfg(target_arch = "x86_64")]
        let portable = portable.chain(
            [
                Bmi2::detect().map(Self::Bmi2),
                Avx2::detect().map(Self::Avx2),
                Avx512::detect().map(Self::Avx512),
                Avx512Vl::detect().map(Self::Avx512Vl),
            ]
            .into_iter()
            .flatten(),
        );
        #[cfg(target_arch = "aarch64")]
        let portable = portable.chain(Sha3::detect().map(Self::Sha3));
        portable
    }

    /// Computes one Keccak-f\[1600\].
    #[inline]
    pub(super) fn permute(self, state: &mut State) {
        match self {
            Self::Portable => permute(state),
            #[cfg(target_arch = "x86_64")]
            Self::Bmi2(_) | Self::Avx2(_) => {
                // SAFETY: the backend holds evidence of BMI1 and BMI2.
                unsafe { x86_64::bmi2::permute(state) }
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => {
                // SAFETY: the backend holds evidence of AVX-512F.
                unsafe { x86_64::avx512_x1::permute(state) }
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vl(_) => {
                // SAFETY: the backend holds evidence of AVX-512F and VL.
                unsafe { x86_64::avx512vl_x1::permute(state) }
            }
            #[cfg(all(target_arch = "aarch64", target_vendor = "apple"))]
            Self::Sha3(_) => {
                // SAFETY: the backend holds evidence of the SHA-3 instructions.
                unsafe { sha3_x2::permute_one(state) }
            }
            #[cfg(all(target_arch = "aarch64", not(target_vendor = "apple")))]
            Self::Sha3(_) => permute(state),
        }
    }

    /// XORs each block into the state and permutes after each.
    #[inline]
    pub(super) fn absorb<const RATE: usize>(self, state: &mut State, blocks: &[[u8; RATE]]) {
        #[cfg(target_arch = "x86_64")]
        if let Self::Avx512(_) = self {
            // SAFETY: the backend holds evidence of AVX-512F and BW.
            return unsafe { x86_64::avx512_x1::absorb(state, blocks) };
        }
        #[cfg(target_arch = "x86_64")]
        if let Self::Avx512Vl(_) = self {
            // SAFETY: the backend holds evidence of AVX-512F and VL.
            return unsafe { x86_64::avx512vl_x1::absorb(state, blocks) };
        }
        for block in blocks {
            xor_bytes(state, 0, block);
            self.permute(state);
        }
    }

    /// Returns at most one block of output of a sponge whose padding starts with `suffix`. `state` has absorbed all
    /// whole blocks of the message; `rest` is the remainder.
    #[inline]
    pub(super) fn sponge<const RATE: usize, const OUT: usize>(
        self,
        suffix: u8,
        state: &State,
        rest: &[u8],
    ) -> [u8; OUT] {
        #[cfg(target_arch = "x86_64")]
        if let Self::Avx512(_) = self {
            // SAFETY: the backend holds evidence of AVX-512F and BW.
            return unsafe { x86_64::avx512_x1::sponge::<RATE, OUT>(suffix, state, rest) };
        }
        #[cfg(target_arch = "x86_64")]
        if let Self::Avx512Vl(_) = self {
            // SAFETY: the backend holds evidence of AVX-512F, BW and VL.
            return unsafe { x86_64::avx512vl_x1::sponge::<RATE, OUT>(suffix, state, rest) };
        }
        let mut state = *state;
        let (blocks, rest) = rest.as_chunks::<RATE>();
        self.absorb(&mut state, blocks);
        xor_bytes(&mut state, 0, rest);
        self.finish::<RATE, OUT>(suffix, &mut state, rest.len())
    }

    /// Hashes `inputs` into `out`, which has the same length, with the sponge of [`Self::sponge`].
    pub(super) fn sponge_all<const RATE: usize, const OUT: usize>(
        self,
        suffix: u8,
        inputs: &[&[u8]],
        out: &mut [[u8; OUT]],
    ) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) | Self::Avx512Vl(_) => batch::run::<8, RATE, OUT>(
                suffix,
                inputs,
                out,
                // SAFETY: the backend holds evidence of AVX-512F.
                |state, blocks, keep| unsafe { x86_64::avx512_x8::absorb(state, blocks, keep) },
                // SAFETY: the backend holds evidence of AVX-512F.
                |state| unsafe { x86_64::avx512_x8::squeeze(state) },
                |state, rest| self.sponge::<RATE, OUT>(suffix, &state, rest),
            ),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => batch::run::<4, RATE, OUT>(
                suffix,
                inputs,
                out,
                // SAFETY: the backend holds evidence of AVX2.
                |state, blocks, keep| unsafe { x86_64::avx2_x4::absorb(state, blocks, keep) },
                // SAFETY: the backend holds evidence of AVX2.
                |state| unsafe { x86_64::avx2_x4::squeeze(state) },
                |state, rest| self.sponge::<RATE, OUT>(suffix, &state, rest),
            ),
            #[cfg(target_arch = "aarch64")]
            Self::Sha3(_) => batch::run::<2, RATE, OUT>(
                suffix,
                inputs,
                out,
                // SAFETY: the backend holds evidence of the SHA-3 instructions.
                |state, blocks, keep| unsafe { sha3_x2::absorb(state, blocks, keep) },
                |state| [0, 1].map(|lane| [0, 1, 2, 3].map(|i: usize| state.0[i][lane])),
                |state, rest| self.sponge::<RATE, OUT>(suffix, &state, rest),
            ),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Portable => batch::run::<2, RATE, OUT>(
                suffix,
                inputs,
                out,
                super::wasm32::simd128_x2::absorb,
                |state| [0, 1].map(|lane| [0, 1, 2, 3].map(|i| state.0[i][lane])),
                |state, rest| self.sponge::<RATE, OUT>(suffix, &state, rest),
            ),
            #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
            _ => {
                for (input, digest) in inputs.iter().zip(out) {
                    *digest = self.sponge::<RATE, OUT>(suffix, &ZERO, input);
                }
            }
        }
    }
}
