//! Kernels for x86-64, one file per instruction set and width.

pub(super) mod avx2_x4;
pub(super) mod avx512_x1;
pub(super) mod avx512_x8;
pub(super) mod avx512vl_x1;
pub(super) mod bmi2;
