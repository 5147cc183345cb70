//! Kernels for x86-64.

pub(super) mod avx512vl;
