//! Keccak-f\[1600\] in safe `const` Rust for every target. Lanes are 64-bit words, `state[x + 5 * y]`, as in [FIPS202
//! §3.1.2]; every word pattern is a valid state. Constant time: no branch or index depends on the lanes.

use super::{RATE, State};

/// The round constants of iota, [FIPS202 §3.2.5]; a test derives them from the LFSR.
pub(super) const ROUND_CONSTANTS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];

/// Rho's rotations [FIPS202 §3.2.2] by lane.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", test))]
pub(super) const RHO: [u64; 25] = {
    let mut offsets = [0; 25];
    let (mut x, mut y, mut t) = (1, 0, 0);
    while t < 24 {
        offsets[x + 5 * y] = (t + 1) * (t + 2) / 2 % 64;
        (x, y) = (y, (2 * x + 3 * y) % 5);
        t += 1;
    }
    offsets
};

/// The 24 rounds.
///
/// Works on a copy: LLVM would put words that are stored in each round into vectors if it may (x86-64-v4: 579 ns
/// instead of 225).
#[inline]
pub(super) const fn permute(state: &mut State) {
    let mut a = *state;
    let mut round = 0;
    while round < 24 {
        // theta
        let c0 = a[0] ^ a[5] ^ a[10] ^ a[15] ^ a[20];
        let c1 = a[1] ^ a[6] ^ a[11] ^ a[16] ^ a[21];
        let c2 = a[2] ^ a[7] ^ a[12] ^ a[17] ^ a[22];
        let c3 = a[3] ^ a[8] ^ a[13] ^ a[18] ^ a[23];
        let c4 = a[4] ^ a[9] ^ a[14] ^ a[19] ^ a[24];
        let d0 = c4 ^ c1.rotate_left(1);
        let d1 = c0 ^ c2.rotate_left(1);
        let d2 = c1 ^ c3.rotate_left(1);
        let d3 = c2 ^ c4.rotate_left(1);
        let d4 = c3 ^ c0.rotate_left(1);
        // rho and pi, one output row at a time; then chi on that row
        let (b00, b01, b02, b03, b04) = (
            a[0] ^ d0,
            (a[6] ^ d1).rotate_left(44),
            (a[12] ^ d2).rotate_left(43),
            (a[18] ^ d3).rotate_left(21),
            (a[24] ^ d4).rotate_left(14),
        );
        let (b10, b11, b12, b13, b14) = (
            (a[3] ^ d3).rotate_left(28),
            (a[9] ^ d4).rotate_left(20),
            (a[10] ^ d0).rotate_left(3),
            (a[16] ^ d1).rotate_left(45),
            (a[22] ^ d2).rotate_left(61),
        );
        let (b20, b21, b22, b23, b24) = (
            (a[1] ^ d1).rotate_left(1),
            (a[7] ^ d2).rotate_left(6),
            (a[13] ^ d3).rotate_left(25),
            (a[19] ^ d4).rotate_left(8),
            (a[20] ^ d0).rotate_left(18),
        );
        let (b30, b31, b32, b33, b34) = (
            (a[4] ^ d4).rotate_left(27),
            (a[5] ^ d0).rotate_left(36),
            (a[11] ^ d1).rotate_left(10),
            (a[17] ^ d2).rotate_left(15),
            (a[23] ^ d3).rotate_left(56),
        );
        let (b40, b41, b42, b43, b44) = (
            (a[2] ^ d2).rotate_left(62),
            (a[8] ^ d3).rotate_left(55),
            (a[14] ^ d4).rotate_left(39),
            (a[15] ^ d0).rotate_left(41),
            (a[21] ^ d1).rotate_left(2),
        );
        a = [
            b00 ^ (!b01 & b02) ^ ROUND_CONSTANTS[round],
            b01 ^ (!b02 & b03),
            b02 ^ (!b03 & b04),
            b03 ^ (!b04 & b00),
            b04 ^ (!b00 & b01),
            b10 ^ (!b11 & b12),
            b11 ^ (!b12 & b13),
            b12 ^ (!b13 & b14),
            b13 ^ (!b14 & b10),
            b14 ^ (!b10 & b11),
            b20 ^ (!b21 & b22),
            b21 ^ (!b22 & b23),
            b22 ^ (!b23 & b24),
            b23 ^ (!b24 & b20),
            b24 ^ (!b20 & b21),
            b30 ^ (!b31 & b32),
            b31 ^ (!b32 & b33),
            b32 ^ (!b33 & b34),
            b33 ^ (!b34 & b30),
            b34 ^ (!b30 & b31),
            b40 ^ (!b41 & b42),
            b41 ^ (!b42 & b43),
            b42 ^ (!b43 & b44),
            b43 ^ (!b44 & b40),
            b44 ^ (!b40 & b41),
        ];
        round += 1;
    }
    *state = a;
}

/// Computes Keccak-256; can be evaluated at compile time.
pub(super) const fn keccak256(data: &[u8]) -> [u8; 32] {
    let mut state: State = [0; 25];
    let mut offset = 0;
    let mut index = 0;
    while index < data.len() {
        state[offset / 8] ^= (data[index] as u64) << (8 * (offset % 8));
        index += 1;
        offset += 1;
        if offset == RATE {
            permute(&mut state);
            offset = 0;
        }
    }
    state[offset / 8] ^= 1 << (8 * (offset % 8));
    state[RATE / 8 - 1] ^= 1 << 63;
    permute(&mut state);

    let mut digest = [0; 32];
    let mut index = 0;
    while index < 32 {
        digest[index] = (state[index / 8] >> (8 * (index % 8))) as u8;
        index += 1;
    }
    digest
}
