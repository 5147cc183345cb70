//! Kernels for AArch64.

pub(super) mod neon_x1;
pub(super) mod neon_x4;
