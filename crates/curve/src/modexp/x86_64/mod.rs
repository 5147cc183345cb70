//! x86-64 kernels.

mod adx;
mod avx512ifma;
mod few;
mod four;

pub(super) use adx::Adx;
