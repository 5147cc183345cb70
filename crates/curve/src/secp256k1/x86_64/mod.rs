//! Kernels of x86-64.

pub(crate) mod adx;
pub(crate) mod avx512ifma_x8;
