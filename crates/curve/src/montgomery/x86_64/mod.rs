//! x86-64 kernels.

mod adx;

pub(crate) use adx::Adx;
