//! Kernels for AArch64: the baseline's, and those for the SHA-3 instructions.

pub(super) mod scalar;
#[cfg(target_arch = "aarch64")]
pub(super) mod sha3_x2;
