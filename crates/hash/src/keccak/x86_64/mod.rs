//! Kernels for x86-64, one file per instruction set and width, and the schedule (`round`) that two of them share.

pub(super) mod avx2_x4;
pub(super) mod avx512_x1;
pub(super) mod avx512_x8;
pub(super) mod avx512vl_x1;
pub(super) mod bmi2;
mod round;
