//! Kernels of x86-64.

pub(super) mod avx512ifma_x8;
