//! Backend selection. This is the only place that calls kernels with specific CPU instructions.

#[cfg(target_arch = "x86_64")]
use lydite_hash::cpu::{Adx, Avx512Ifma};

use super::{Error, add_with, multiply_with, pairing, pairing_check_with};
#[cfg(target_arch = "x86_64")]
use crate::montgomery;
use crate::montgomery::{Kernel, Portable};

/// A set of kernels. A value exists only if the CPU supports it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Backend {
    /// On every target.
    Portable,
    /// BMI2 and ADX.
    #[cfg(target_arch = "x86_64")]
    Adx(Adx),
    /// Pairings of eight points at a time, and the rest as in `Adx`: AVX-512F and AVX-512IFMA, BMI2 and ADX.
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
        Self::Portable
    }

    /// Returns all backends that this CPU supports.
    #[cfg(test)]
    pub(super) fn available() -> impl Iterator<Item = Self> {
        [
            Some(Self::Portable),
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

    pub(super) fn add(self, p: &[u8; 64], q: &[u8; 64]) -> Result<[u8; 64], Error> {
        match self {
            Self::Portable => add_with::<Portable>(p, q),
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) | Self::Avx512IfmaX8(..) => add_with::<montgomery::Adx>(p, q),
        }
    }

    pub(super) fn multiply(self, p: &[u8; 64], scalar: &[u8; 32]) -> Result<[u8; 64], Error> {
        match self {
            Self::Portable => multiply_with::<Portable>(p, scalar),
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) | Self::Avx512IfmaX8(..) => multiply_with::<montgomery::Adx>(p, scalar),
        }
    }

    pub(super) fn pairing_check<'a>(
        self,
        pairs: impl IntoIterator<Item = (&'a [u8; 64], &'a [u8; 128])>,
    ) -> Result<bool, Error> {
        match self {
            Self::Portable => pairing_check_one_by_one::<Portable>(pairs),
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) => pairing_check_one_by_one::<montgomery::Adx>(pairs),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512IfmaX8(..) => {
                use super::x86_64::avx512ifma_x8::{final_exponentiation_is_one, miller_loop};
                pairing_check_with::<montgomery::Adx>(
                    pairs,
                    // SAFETY: the backend holds evidence of AVX-512F and IFMA.
                    |pairs| unsafe { miller_loop(pairs) },
                    // SAFETY: the backend holds evidence of AVX-512F and IFMA.
                    |f| unsafe { final_exponentiation_is_one(f) },
                )
            }
        }
    }
}

fn pairing_check_one_by_one<'a, K: Kernel>(
    pairs: impl IntoIterator<Item = (&'a [u8; 64], &'a [u8; 128])>,
) -> Result<bool, Error> {
    pairing_check_with::<K>(
        pairs,
        pairing::miller_loop,
        pairing::final_exponentiation_is_one,
    )
}
