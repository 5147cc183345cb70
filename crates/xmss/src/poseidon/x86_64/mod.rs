//! Kernels for x86-64, one file per instruction set and width.

pub(super) mod avx2;
pub(super) mod avx512_x1;
pub(super) mod avx512_x16;
pub(super) mod poseidon2_avx512_x16;
