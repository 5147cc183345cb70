//! Kernels for x86-64.

mod adx;

pub(crate) use adx::Adx;
