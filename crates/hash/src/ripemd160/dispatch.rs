//! Backend selection for RIPEMD-160: CPU features are detected once at run time. Every call to the kernel is here,
//! together with the evidence that the CPU supports it.

use super::Plain;
#[cfg(target_arch = "x86_64")]
use super::x86_64;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Bmi2;

/// An implementation of RIPEMD-160. All backends return the same digests; a value exists only if the CPU supports it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Backend {
    /// Instructions of the target's baseline.
    Portable,
    /// BMI1 and BMI2: rotations and AND-NOT that keep their operands.
    #[cfg(target_arch = "x86_64")]
    Bmi2(Bmi2),
}

impl Backend {
    /// Returns the fastest backend for this CPU.
    #[inline]
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(bmi2) = Bmi2::detect() {
            return Self::Bmi2(bmi2);
        }
        Self::Portable
    }

    /// Returns all backends that this CPU supports, [`Backend::Portable`] first.
    #[cfg(test)]
    pub(super) fn available() -> impl Iterator<Item = Self> {
        [
            Some(Self::Portable),
            #[cfg(target_arch = "x86_64")]
            Bmi2::detect().map(Self::Bmi2),
        ]
        .into_iter()
        .flatten()
    }

    #[inline]
    pub(super) fn digest(self, data: &[u8]) -> [u8; 20] {
        match self {
            Self::Portable => super::digest::<Plain>(data),
            #[cfg(target_arch = "x86_64")]
            Self::Bmi2(_) => {
                // SAFETY: the backend holds evidence of BMI1 and BMI2.
                unsafe { x86_64::digest(data) }
            }
        }
    }
}
