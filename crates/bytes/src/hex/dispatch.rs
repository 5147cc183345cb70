//! Backend selection for hexadecimal. Short texts use the target's baseline instructions, inlined; long texts use the
//! best instructions of this CPU.

use core::mem::MaybeUninit;

#[cfg(target_arch = "aarch64")]
use lydite_hash::cpu::Neon;
#[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
use lydite_hash::cpu::{Avx2, Avx512Vbmi};

#[cfg(target_arch = "aarch64")]
use super::aarch64::neon;
use super::portable;
#[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
use super::x86_64::{avx2, avx512, sse2};

/// An implementation of hexadecimal encoding and decoding. A value exists only if the CPU supports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    /// Safe Rust for every target.
    #[cfg(any(
        test,
        not(all(target_arch = "x86_64", not(lydite_backend = "portable")))
    ))]
    Portable,
    /// SSE2, which every x86-64 CPU has.
    #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
    Sse2,
    #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
    Avx2(Avx2),
    #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
    Avx512(Avx512Vbmi),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
}

impl Backend {
    /// Returns the fastest backend for this CPU.
    #[inline]
    pub(super) fn detect() -> Self {
        #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
        {
            if let Some(avx512) = Avx512Vbmi::detect() {
                Self::Avx512(avx512)
            } else if let Some(avx2) = Avx2::detect() {
                Self::Avx2(avx2)
            } else {
                Self::Sse2
            }
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(neon) = Neon::detect() {
            return Self::Neon(neon);
        }
        #[cfg(not(all(target_arch = "x86_64", not(lydite_backend = "portable"))))]
        Self::Portable
    }

    /// Returns all backends that this CPU supports, slowest first.
    #[cfg(test)]
    pub(super) fn available() -> impl Iterator<Item = Self> {
        #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
        let vector = [
            Some(Self::Sse2),
            Avx2::detect().map(Self::Avx2),
            Avx512Vbmi::detect().map(Self::Avx512),
        ];
        #[cfg(target_arch = "aarch64")]
        let vector = [Neon::detect().map(Self::Neon)];
        #[cfg(not(any(
            all(target_arch = "x86_64", not(lydite_backend = "portable")),
            target_arch = "aarch64"
        )))]
        let vector: [Option<Self>; 0] = [];
        core::iter::once(Self::Portable).chain(vector.into_iter().flatten())
    }

    /// Writes all of `output`. Requires `output.len() == 2 * input.len()`.
    #[inline]
    pub(super) fn encode(self, input: &[u8], output: &mut [MaybeUninit<u8>]) {
        match self {
            #[cfg(any(
                test,
                not(all(target_arch = "x86_64", not(lydite_backend = "portable")))
            ))]
            Self::Portable => portable::encode(input, output),
            // SAFETY: SSE2 is part of x86-64.
            #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
            Self::Sse2 => unsafe { sse2::encode(input, output) },
            // SAFETY: the backend holds evidence of AVX2.
            #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
            Self::Avx2(_) => unsafe { avx2::encode(input, output) },
            #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
            Self::Avx512(_) => {
                if let (Ok(word), Ok(digits)) = (input.try_into(), (&mut *output).try_into()) {
                    // SAFETY: the backend holds evidence of AVX-512F, BW, VL and VBMI.
                    unsafe { avx512::encode_word(word, digits) }
                } else if input.len() >= avx512::MIN {
                    // SAFETY: the backend holds evidence of AVX-512F, BW, VL and VBMI.
                    unsafe { avx512::encode(input, output) }
                } else {
                    portable::encode(input, output);
                }
            }
            // SAFETY: the backend holds evidence of NEON.
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => unsafe { neon::encode(input, output) },
        }
    }

    /// Returns whether every byte of `digits` is a digit. If so, all of `output` is written with their value. Requires
    /// `digits.len() == 2 * output.len()`.
    #[inline]
    pub(super) fn decode(self, digits: &[u8], output: &mut [MaybeUninit<u8>]) -> bool {
        match self {
            #[cfg(any(
                test,
                not(all(target_arch = "x86_64", not(lydite_backend = "portable")))
            ))]
            Self::Portable => portable::decode(digits, output),
            // SAFETY: SSE2 is part of x86-64.
            #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
            Self::Sse2 => unsafe { sse2::decode(digits, output) },
            // SAFETY: the backend holds evidence of AVX2.
            #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
            Self::Avx2(_) => unsafe { avx2::decode(digits, output) },
            #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
            Self::Avx512(_) => {
                if let (Ok(digits), Ok(word)) = (digits.try_into(), (&mut *output).try_into()) {
                    // SAFETY: the backend holds evidence of AVX-512F, BW, VL and VBMI.
                    unsafe { avx512::decode_word(digits, word) }
                } else if output.len() >= avx512::MIN {
                    // SAFETY: the backend holds evidence of AVX-512F, BW, VL and VBMI.
                    unsafe { avx512::decode(digits, output) }
                } else {
                    portable::decode(digits, output)
                }
            }
            // SAFETY: the backend holds evidence of NEON.
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => unsafe { neon::decode(digits, output) },
        }
    }
}

/// Returns the backend to inline at the call site for `length` bytes; `None` if the cost of a call does not matter.
///
/// An AVX-512 call, including detection, costs less than inlined SSE2 from the first block on.
#[inline]
fn backend(length: usize) -> Option<Backend> {
    #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
    {
        if length >= avx512::MIN
            && let Some(avx512) = Avx512Vbmi::detect()
        {
            Some(Backend::Avx512(avx512))
        } else if length <= SHORT {
            Some(Backend::Sse2)
        } else {
            None
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(lydite_backend = "portable"))))]
    (length <= SHORT).then(Backend::detect)
}

/// Maximum input length in bytes for which the target's baseline, or NEON, is inlined if AVX-512 is not available.
const SHORT: usize = 64;

/// Views initialised memory as a destination for a backend. Backends only store initialised bytes.
#[inline]
pub(super) fn place(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: same memory, size and alignment; backends only store initialised bytes, so the memory stays initialised.
    unsafe { &mut *(core::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) }
}

/// Writes all of `output`. Requires `output.len() == 2 * input.len()`.
#[inline]
pub(super) fn encode(input: &[u8], output: &mut [MaybeUninit<u8>]) {
    match backend(input.len()) {
        Some(backend) => backend.encode(input, output),
        None => encode_long(input, output),
    }
}

#[inline(never)]
fn encode_long(input: &[u8], output: &mut [MaybeUninit<u8>]) {
    Backend::detect().encode(input, output);
}

/// Returns whether every byte of `digits` is a digit. If so, all of `output` is written with their value. Requires
/// `digits.len() == 2 * output.len()`.
#[inline]
pub(super) fn decode(digits: &[u8], output: &mut [MaybeUninit<u8>]) -> bool {
    match backend(output.len()) {
        Some(backend) => backend.decode(digits, output),
        None => decode_long(digits, output),
    }
}

#[inline(never)]
fn decode_long(digits: &[u8], output: &mut [MaybeUninit<u8>]) -> bool {
    Backend::detect().decode(digits, output)
}
