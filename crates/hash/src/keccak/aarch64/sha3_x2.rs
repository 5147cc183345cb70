//! Two Keccak-f\[1600\] in parallel with the SHA-3 instructions: lane `i` of message `j` is word `j` of vector `i`.
//!
//! The 32 registers hold both states. Constant time: no branch or index depends on the lanes.

use core::arch::aarch64::*;

#[cfg(any(target_vendor = "apple", test))]
use super::super::State;
use super::super::batch::{LANES, Wide, rounds};

/// Clears the messages whose `keep` is zero (it is zero or all ones), XORs one block into each, and permutes.
#[target_feature(enable = "sha3")]
pub(in super::super) fn absorb<const RATE: usize>(
    state: &mut Wide<2>,
    blocks: &[&[u8; RATE]; 2],
    keep: &[u64; 2],
) {
    let keep = load(keep);
    let mut a = [keep; LANES];
    for (vector, lane) in a.iter_mut().zip(&state.0) {
        *vector = vandq_u64(load(lane), keep);
    }
    let [first, second] = blocks.map(|block| block.as_chunks::<16>().0);
    for ((vectors, first), second) in a.as_chunks_mut::<2>().0.iter_mut().zip(first).zip(second) {
        let (first, second) = (load_bytes(first), load_bytes(second));
        vectors[0] = veorq_u64(vectors[0], vtrn1q_u64(first, second));
        vectors[1] = veorq_u64(vectors[1], vtrn2q_u64(first, second));
    }
    // The last word: both rates are an odd number of words
    let last = RATE / 8 - 1;
    let words = blocks.map(|block| u64::from_le_bytes(block.as_chunks().0[last]));
    a[last] = veorq_u64(a[last], load(&words));
    let a = permute(a);
    for (lane, vector) in state.0.iter_mut().zip(a) {
        store(lane, vector);
    }
}

/// Computes one permutation; the second word of each vector is not used.
#[cfg(any(target_vendor = "apple", test))]
#[target_feature(enable = "sha3")]
pub(in super::super) fn permute_one(state: &mut State) {
    let a = permute(state.map(|lane| vdupq_n_u64(lane)));
    for (lane, vector) in state.iter_mut().zip(a) {
        *lane = vgetq_lane_u64::<0>(vector);
    }
}

#[target_feature(enable = "sha3")]
#[inline]
fn permute(mut a: [uint64x2_t; LANES]) -> [uint64x2_t; LANES] {
    let xor = |a, b| veorq_u64(a, b);
    let xor5 = |[a, b, c, d, e]: [uint64x2_t; 5]| veor3q_u64(veor3q_u64(a, b, c), d, e);
    let rax1 = |a, b| vrax1q_u64(a, b);
    let chi = |a, b, c| vbcaxq_u64(a, c, b);
    macro_rules! rol {
        ($xor:ident($x:expr, $y:expr), $n:literal) => {
            vxarq_u64::<{ 64 - $n }>($x, $y)
        };
    }
    rounds!(a, xor, xor5, rax1, chi, rol, vdupq_n_u64);
    a
}

#[target_feature(enable = "neon")]
#[inline]
fn load(words: &[u64; 2]) -> uint64x2_t {
    // SAFETY: the reference is to two readable words.
    unsafe { vld1q_u64(words.as_ptr()) }
}

#[target_feature(enable = "neon")]
#[inline]
fn load_bytes(bytes: &[u8; 16]) -> uint64x2_t {
    // SAFETY: the reference is to 16 readable bytes, and the load has no alignment requirement.
    vreinterpretq_u64_u8(unsafe { vld1q_u8(bytes.as_ptr()) })
}

#[target_feature(enable = "neon")]
#[inline]
fn store(words: &mut [u64; 2], vector: uint64x2_t) {
    // SAFETY: the reference is to two writable words.
    unsafe { vst1q_u64(words.as_mut_ptr(), vector) }
}
