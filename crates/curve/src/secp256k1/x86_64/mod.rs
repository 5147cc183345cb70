//! x86-64 kernels.

pub(crate) mod adx;
pub(crate) mod avx2fma_x8;
pub(crate) mod avx512ifma_x8;
mod digits;
mod field_x8;
pub(crate) mod ifma256_x8;
mod public_x8;
mod secret_x8;
