//! Which instructions read and write hexadecimal: short texts with what every CPU of the target has, inlined;
//! long ones with what this CPU has.

use core::mem::MaybeUninit;

use super::portable;
#[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
use super::x86_64::{avx2, avx512, sse2};

#[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
cpufeatures::new!(has_avx2, "avx2");
#[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
cpufeatures::new!(has_avx512, "avx512f", "avx512bw", "avx512vl", "avx512vbmi");

/// A way to read and write hexadecimal. Private to the module: values come from [`Backend::detect`] and
/// [`Backend::available`] only, so that each is one this CPU can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    /// Safe Rust for every target.
    #[cfg(any(
        test,
        not(all(target_arch = "x86_64", not(lydite_backend = "portable")))
    ))]
    Portable,
    /// Every x86-64.
    #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
    Sse2,
    #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
    Avx2,
    #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
    Avx512,
}

impl Backend {
    /// The fastest backend of this CPU.
    #[inline]
    pub(super) fn detect() -> Self {
        #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
        {
            if has_avx512::get() {
                return Self::Avx512;
            }
            if has_avx2::get() {
                Self::Avx2
            } else {
                Self::Sse2
            }
        }
        #[cfg(not(all(target_arch = "x86_64", not(lydite_backend = "portable"))))]
        Self::Portable
    }

    /// Every backend this CPU can run, the slowest first.
    #[cfg(test)]
    pub(super) fn available() -> impl Iterator<Item = Self> {
        #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
        let vector = [
            Some(Self::Sse2),
            has_avx2::get().then_some(Self::Avx2),
            has_avx512::get().then_some(Self::Avx512),
        ];
        #[cfg(not(all(target_arch = "x86_64", not(lydite_backend = "portable"))))]
        let vector: [Option<Self>; 0] = [];
        core::iter::once(Self::Portable).chain(vector.into_iter().flatten())
    }

    /// Writes all of `output`. `output.len() == 2 * input.len()`.
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
            // SAFETY: this value exists, so the CPU has AVX2 (see the type).
            #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
            Self::Avx2 => unsafe { avx2::encode(input, output) },
            #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
            Self::Avx512 => {
                if let (Ok(word), Ok(digits)) = (input.try_into(), (&mut *output).try_into()) {
                    // SAFETY: this value exists, so the CPU has AVX-512 F, BW, VL and VBMI (see the type).
                    unsafe { avx512::encode_word(word, digits) }
                } else if input.len() >= avx512::MIN {
                    // SAFETY: as above.
                    unsafe { avx512::encode(input, output) }
                } else {
                    portable::encode(input, output);
                }
            }
        }
    }

    /// Whether every byte of `digits` is a digit; if so, all of `output` is written and holds their value.
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
            // SAFETY: this value exists, so the CPU has AVX2 (see the type).
            #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
            Self::Avx2 => unsafe { avx2::decode(digits, output) },
            #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
            Self::Avx512 => {
                if let (Ok(digits), Ok(word)) = (digits.try_into(), (&mut *output).try_into()) {
                    // SAFETY: this value exists, so the CPU has AVX-512 F, BW, VL and VBMI (see the type).
                    unsafe { avx512::decode_word(digits, word) }
                } else if output.len() >= avx512::MIN {
                    // SAFETY: as above.
                    unsafe { avx512::decode(digits, output) }
                } else {
                    portable::decode(digits, output)
                }
            }
        }
    }
}

/// The backend to inline at the call for `length` bytes; none where a call more does not matter.
///
/// An AVX-512 call costs less than SSE2 inlined from its first block on, detection included.
#[inline]
fn backend(length: usize) -> Option<Backend> {
    #[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
    {
        if length >= avx512::MIN && has_avx512::get() {
            Some(Backend::Avx512)
        } else if length <= SHORT {
            Some(Backend::Sse2)
        } else {
            None
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(lydite_backend = "portable"))))]
    (length <= SHORT).then_some(Backend::Portable)
}

/// Longest input in bytes for which the baseline of the target is inlined where AVX-512 is missing.
const SHORT: usize = 64;

/// Memory with a value, as a place for a backend to write to. Backends store bytes, never the lack of a value.
#[inline]
pub(super) fn place(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: the same memory under a type of the same size and alignment; as said above, it keeps a value.
    unsafe { &mut *(core::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) }
}

/// Writes all of `output`. `output.len() == 2 * input.len()`.
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

/// Whether every byte of `digits` is a digit; if so, all of `output` is written and holds their value.
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
