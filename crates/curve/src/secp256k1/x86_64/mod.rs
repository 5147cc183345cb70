//! Kernels of x86-64.

pub(crate) mod adx;
pub(super) mod avx512_scan;
pub(crate) mod avx512ifma_x8;
