//! Hexadecimal kernels for AArch64.

pub(super) mod neon;
