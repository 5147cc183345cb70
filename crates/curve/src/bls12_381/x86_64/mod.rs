//! Kernels for x86-64.

pub(super) mod adx;
pub(super) mod avx512ifma_x8;
mod endomorphism;
mod final_exponentiation;
