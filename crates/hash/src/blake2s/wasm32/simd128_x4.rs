//! Four messages in parallel with WebAssembly's 128-bit vectors, four times: word `i` of message `l` is lane `l` of
//! vector `i`.
//!
//! There is no vector rotation. By 16 and 8 bits it is a shuffle of bytes, otherwise two shifts and an OR.

use core::arch::wasm32::*;

use super::super::{Column, Columns, INITIAL, LANES, second_half};

const WIDTH: usize = 4;

parts!();

#[inline]
fn compress<const W: usize>(
    h: [v128; 8],
    block: [&Column; W],
    part: usize,
    counter: u64,
    last: bool,
) -> [v128; 8] {
    let mut m = [splat(0); 16];
    for (word, column) in m.iter_mut().zip(block) {
        *word = load(column, part);
    }
    let mut v = [splat(0); 16];
    v[..8].copy_from_slice(&h);
    v[8..].copy_from_slice(&second_half(counter, last).map(|word| splat(word)));
    let add = |a, b| u32x4_add(a, b);
    let xor = |a, b| v128_xor(a, b);
    macro_rules! rotate {
        ($x:expr, 16) => {{
            let x = $x;
            u8x16_shuffle::<2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13>(x, x)
        }};
        ($x:expr, 8) => {{
            let x = $x;
            u8x16_shuffle::<1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12>(x, x)
        }};
        ($x:expr, $n:literal) => {{
            let x = $x;
            v128_or(u32x4_shr(x, $n), u32x4_shl(x, 32 - $n))
        }};
    }
    rounds!(v m add xor rotate);
    core::array::from_fn(|i| xor(h[i], xor(v[i], v[i + 8])))
}

#[inline]
fn splat(word: u32) -> v128 {
    u32x4_splat(word)
}

#[inline]
fn load(column: &Column, part: usize) -> v128 {
    let [a, b, c, d] = column.as_chunks::<WIDTH>().0[part];
    u32x4(a, b, c, d)
}

#[inline]
fn store(column: &mut Column, part: usize, vector: v128) {
    column.as_chunks_mut::<WIDTH>().0[part] = [
        u32x4_extract_lane::<0>(vector),
        u32x4_extract_lane::<1>(vector),
        u32x4_extract_lane::<2>(vector),
        u32x4_extract_lane::<3>(vector),
    ];
}
