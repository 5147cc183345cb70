pub(super) mod neon_x4;
