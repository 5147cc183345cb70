//! Safe Rust for every target.

use super::second_half;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use super::{Column, Columns, INITIAL, LANES};

macro_rules! rotate {
    ($x:expr, $n:literal) => {
        $x.rotate_right($n)
    };
}

pub(super) fn compress(state: &mut [u32; 8], block: &[u32; 16], counter: u64, last: bool) {
    let mut v = [0; 16];
    v[..8].copy_from_slice(state);
    v[8..].copy_from_slice(&second_half(counter, last));
    let add = u32::wrapping_add;
    let xor = |a: u32, b: u32| a ^ b;
    rounds!(v block add xor rotate);
    for i in 0..8 {
        state[i] ^= v[i] ^ v[i + 8];
    }
}

/// Message after message: without vector instructions known at compile time, this is faster than arrays of words.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(super) fn compress_lanes<const W: usize>(
    state: &mut Columns<8>,
    block: [&Column; W],
    counter: u64,
    last: bool,
) {
    for l in 0..LANES {
        let mut one = state.each_ref().map(|column| column[l]);
        compress(&mut one, &lane(block, l), counter, last);
        for (column, word) in state.iter_mut().zip(one) {
            column[l] = word;
        }
    }
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(super) fn compress_first<const W: usize, const N: usize>(
    block: [&Column; W],
    counter: u64,
    last: bool,
    out: &mut Columns<N>,
) {
    for l in 0..LANES {
        let mut one = INITIAL;
        compress(&mut one, &lane(block, l), counter, last);
        for (column, word) in out.iter_mut().zip(one) {
            column[l] = word;
        }
    }
}

/// The block of one message.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
fn lane<const W: usize>(block: [&Column; W], l: usize) -> [u32; 16] {
    let mut words = [0; 16];
    for (word, column) in words.iter_mut().zip(block) {
        *word = column[l];
    }
    words
}
