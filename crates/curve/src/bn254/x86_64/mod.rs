//! x86-64 kernels.

pub(super) mod avx512ifma_x8;
