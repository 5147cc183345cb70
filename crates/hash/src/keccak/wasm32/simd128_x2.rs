//! Two Keccak-f\[1600\] side by side: lane `i` of message `j` is word `j` of vector `i`.
//!
//! Without a vector rotation a lane costs two shifts and an OR. Constant time: no branch or index depends on the lanes.

use core::arch::wasm32::*;

use super::super::batch::{LANES, Wide};
use super::super::portable::ROUND_CONSTANTS;

/// Clears the messages whose `keep` is zero (it is zero or all ones), XORs one block into each, and permutes.
pub(in super::super) fn absorb<const RATE: usize>(
    state: &mut Wide<2>,
    blocks: &[&[u8; RATE]; 2],
    keep: &[u64; 2],
) {
    let keep = u64x2(keep[0], keep[1]);
    let mut a = state
        .0
        .map(|[first, second]| v128_and(u64x2(first, second), keep));
    let words = blocks.map(|block| block.as_chunks::<8>().0);
    for ((vector, first), second) in a.iter_mut().zip(words[0]).zip(words[1]) {
        let [first, second] = [first, second].map(|word| u64::from_le_bytes(*word));
        *vector = v128_xor(*vector, u64x2(first, second));
    }
    let a = permute(a);
    for (lane, vector) in state.0.iter_mut().zip(a) {
        *lane = [
            u64x2_extract_lane::<0>(vector),
            u64x2_extract_lane::<1>(vector),
        ];
    }
}

#[inline]
fn permute(mut a: [v128; LANES]) -> [v128; LANES] {
    let xor = |a, b| v128_xor(a, b);
    // `andnot` complements its second operand.
    let chi = |a, b, c| xor(a, v128_andnot(c, b));
    macro_rules! rol {
        ($x:expr, $n:literal) => {{
            let x = $x;
            v128_or(i64x2_shl(x, $n), u64x2_shr(x, 64 - $n))
        }};
    }
    for constant in ROUND_CONSTANTS {
        // theta
        let parity = |x: usize| {
            xor(
                xor(xor(a[x], a[x + 5]), xor(a[x + 10], a[x + 15])),
                a[x + 20],
            )
        };
        let (c0, c1, c2, c3, c4) = (parity(0), parity(1), parity(2), parity(3), parity(4));
        let d0 = xor(c4, rol!(c1, 1));
        let d1 = xor(c0, rol!(c2, 1));
        let d2 = xor(c1, rol!(c3, 1));
        let d3 = xor(c2, rol!(c4, 1));
        let d4 = xor(c3, rol!(c0, 1));
        // theta's end, rho and pi
        let b00 = xor(a[0], d0);
        let b01 = rol!(xor(a[6], d1), 44);
        let b02 = rol!(xor(a[12], d2), 43);
        let b03 = rol!(xor(a[18], d3), 21);
        let b04 = rol!(xor(a[24], d4), 14);
        let b10 = rol!(xor(a[3], d3), 28);
        let b11 = rol!(xor(a[9], d4), 20);
        let b12 = rol!(xor(a[10], d0), 3);
        let b13 = rol!(xor(a[16], d1), 45);
        let b14 = rol!(xor(a[22], d2), 61);
        let b20 = rol!(xor(a[1], d1), 1);
        let b21 = rol!(xor(a[7], d2), 6);
        let b22 = rol!(xor(a[13], d3), 25);
        let b23 = rol!(xor(a[19], d4), 8);
        let b24 = rol!(xor(a[20], d0), 18);
        let b30 = rol!(xor(a[4], d4), 27);
        let b31 = rol!(xor(a[5], d0), 36);
        let b32 = rol!(xor(a[11], d1), 10);
        let b33 = rol!(xor(a[17], d2), 15);
        let b34 = rol!(xor(a[23], d3), 56);
        let b40 = rol!(xor(a[2], d2), 62);
        let b41 = rol!(xor(a[8], d3), 55);
        let b42 = rol!(xor(a[14], d4), 39);
        let b43 = rol!(xor(a[15], d0), 41);
        let b44 = rol!(xor(a[21], d1), 2);
        // chi and iota
        a = [
            xor(chi(b00, b01, b02), u64x2_splat(constant)),
            chi(b01, b02, b03),
            chi(b02, b03, b04),
            chi(b03, b04, b00),
            chi(b04, b00, b01),
            chi(b10, b11, b12),
            chi(b11, b12, b13),
            chi(b12, b13, b14),
            chi(b13, b14, b10),
            chi(b14, b10, b11),
            chi(b20, b21, b22),
            chi(b21, b22, b23),
            chi(b22, b23, b24),
            chi(b23, b24, b20),
            chi(b24, b20, b21),
            chi(b30, b31, b32),
            chi(b31, b32, b33),
            chi(b32, b33, b34),
            chi(b33, b34, b30),
            chi(b34, b30, b31),
            chi(b40, b41, b42),
            chi(b41, b42, b43),
            chi(b42, b43, b44),
            chi(b43, b44, b40),
            chi(b44, b40, b41),
        ];
    }
    a
}
