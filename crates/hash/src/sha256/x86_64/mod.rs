pub(super) mod sha_avx512;
