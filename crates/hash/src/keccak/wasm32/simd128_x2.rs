//! Two Keccak-f\[1600\] in parallel: lane `i` of message `j` is word `j` of vector `i`.
//!
//! There is no vector rotation, so each lane takes two shifts and an OR. Constant time: no branch or index depends on
//! the lanes.

use core::arch::wasm32::*;

use super::super::batch::{LANES, Wide, rounds};

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
    let xor5 = |[a, b, c, d, e]: [v128; 5]| xor(xor(xor(a, b), xor(c, d)), e);
    let rax1 = |a, b| xor(a, rol!(b, 1));
    rounds!(a, xor, xor5, rax1, chi, rol, u64x2_splat);
    a
}
