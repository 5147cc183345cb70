//! Vector kernels for x86-64.

pub(super) mod avx512ifma_x8;
