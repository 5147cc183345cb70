//! Backend selection for SHA-256: CPU features are detected once at run time. Every call to the kernel is here,
//! together with the evidence that the CPU supports it.

use sha2::block_api::compress256;

#[cfg(target_arch = "x86_64")]
use super::x86_64::sha_avx512;
#[cfg(target_arch = "x86_64")]
use crate::cpu::ShaAvx512;

/// An implementation of SHA-256. All backends return the same digests; a value exists only if the CPU supports it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Backend {
    /// The crate `sha2`, which detects CPU features itself.
    Portable,
    /// SHA-NI, with AVX-512BW and VL to load and pad partial blocks.
    #[cfg(target_arch = "x86_64")]
    ShaAvx512(ShaAvx512),
}

impl Backend {
    /// Returns the fastest backend for this CPU.
    #[inline]
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(sha_avx512) = ShaAvx512::detect() {
            return Self::ShaAvx512(sha_avx512);
        }
        Self::Portable
    }

    /// Returns all backends that this CPU supports, slowest first.
    #[cfg(test)]
    pub(super) fn available() -> std::vec::Vec<Self> {
        let mut all = std::vec![Self::Portable];
        if !matches!(Self::detect(), Self::Portable) {
            all.push(Self::detect());
        }
        all
    }

    /// Compresses each block into the state.
    pub(super) fn absorb(self, state: &mut [u32; 8], blocks: &[[u8; 64]]) {
        match self {
            Self::Portable => compress256(state, blocks),
            #[cfg(target_arch = "x86_64")]
            Self::ShaAvx512(_) => {
                // SAFETY: the backend holds evidence of SHA-NI, SSE4.1, AVX-512BW and VL.
                unsafe { sha_avx512::absorb(state, blocks) }
            }
        }
    }

    /// Returns the digest of blocks that include the padding.
    #[inline]
    pub(super) fn padded(self, state: &[u32; 8], blocks: &[[u8; 64]]) -> [u8; 32] {
        match self {
            Self::Portable => {
                let mut state = *state;
                compress256(&mut state, blocks);
                digest(&state)
            }
            #[cfg(target_arch = "x86_64")]
            Self::ShaAvx512(_) => {
                // SAFETY: the backend holds evidence of SHA-NI, SSE4.1, AVX-512BW and VL.
                unsafe { sha_avx512::padded(state, blocks) }
            }
        }
    }

    /// Returns the digest of a message of `length` bytes, of which `rest` is absorbed last.
    #[inline]
    pub(super) fn finish(self, state: &[u32; 8], rest: &[u8], length: u64) -> [u8; 32] {
        match self {
            Self::Portable => finish(*state, rest, length),
            #[cfg(target_arch = "x86_64")]
            Self::ShaAvx512(_) => {
                // SAFETY: the backend holds evidence of SHA-NI, SSE4.1, AVX-512BW and VL.
                unsafe { sha_avx512::finish(state, rest, length) }
            }
        }
    }
}

fn finish(mut state: [u32; 8], rest: &[u8], length: u64) -> [u8; 32] {
    let (blocks, rest) = rest.as_chunks::<64>();
    compress256(&mut state, blocks);
    // The rest, a 1 bit, zeros, and the length in bits: one or two blocks.
    let mut padded = [0; 128];
    padded[..rest.len()].copy_from_slice(rest);
    padded[rest.len()] = 0x80;
    let used = if rest.len() < 56 { 64 } else { 128 };
    padded[used - 8..used].copy_from_slice(&(length << 3).to_be_bytes());
    compress256(&mut state, padded[..used].as_chunks().0);
    digest(&state)
}

fn digest(state: &[u32; 8]) -> [u8; 32] {
    let mut digest = [0; 32];
    for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    digest
}
