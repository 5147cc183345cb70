pub(super) mod simd128_x4;
