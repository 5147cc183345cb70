//! Kernels for x86-64, one file per instruction set and width.

pub(super) mod avx2_x4;
pub(super) mod avx512_x1;
pub(super) mod avx512_x8;
pub(super) mod avx512vl_x1;
pub(super) mod bmi2;

/// Rho's rotations [FIPS202 §3.2.2] by lane.
const RHO: [u64; 25] = {
    let mut offsets = [0; 25];
    let (mut x, mut y, mut t) = (1, 0, 0);
    while t < 24 {
        offsets[x + 5 * y] = (t + 1) * (t + 2) / 2 % 64;
        (x, y) = (y, (2 * x + 3 * y) % 5);
        t += 1;
    }
    offsets
};
