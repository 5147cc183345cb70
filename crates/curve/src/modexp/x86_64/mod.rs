//! x86-64 kernels.

mod adx;
mod avx512ifma;

pub(super) use adx::Adx;
