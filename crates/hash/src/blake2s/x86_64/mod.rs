pub(super) mod avx2_x8;
pub(super) mod avx512_x16;
