//! Kernels for x86-64.

mod adx;

pub(super) use adx::Adx;
