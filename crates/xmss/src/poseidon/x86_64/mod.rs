//! Kernels for x86-64: algorithms for vectors of any width, and one file per instruction set and width.

pub(super) mod avx2_x1;
pub(super) mod avx2_x8;
pub(super) mod avx512_x1;
pub(super) mod avx512_x16;
mod poseidon1;
mod poseidon2;
mod rows;
mod vectors;
