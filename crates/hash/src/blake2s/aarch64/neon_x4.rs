//! Four messages in parallel with NEON, four times: word `i` of message `l` is lane `l` of vector `i`.
//!
//! There is no vector rotation. By 16 bits it is a reversal of halves, by 8 a table look-up, otherwise a shift and a
//! shift that inserts.

use core::arch::aarch64::*;

use super::super::{Column, Columns, INITIAL, LANES, second_half};

const WIDTH: usize = 4;

parts!(#[target_feature(enable = "neon")]);

#[target_feature(enable = "neon")]
#[inline]
fn compress<const W: usize>(
    h: [uint32x4_t; 8],
    block: [&Column; W],
    part: usize,
    counter: u64,
    last: bool,
) -> [uint32x4_t; 8] {
    let mut m = [splat(0); 16];
    for (word, column) in m.iter_mut().zip(block) {
        *word = load(column, part);
    }
    let mut v = [splat(0); 16];
    v[..8].copy_from_slice(&h);
    v[8..].copy_from_slice(&second_half(counter, last).map(|word| splat(word)));
    const BYTES_RIGHT_1: [u8; 16] = [1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12];
    // SAFETY: the reference is to 16 readable bytes.
    let bytes_right_1 = unsafe { vld1q_u8(BYTES_RIGHT_1.as_ptr()) };
    let add = |a, b| vaddq_u32(a, b);
    let xor = |a, b| veorq_u32(a, b);
    macro_rules! rotate {
        ($x:expr, 16) => {
            vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32($x)))
        };
        ($x:expr, 8) => {
            vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32($x), bytes_right_1))
        };
        ($x:expr, $n:literal) => {{
            let x = $x;
            vsriq_n_u32::<$n>(vshlq_n_u32::<{ 32 - $n }>(x), x)
        }};
    }
    rounds!(v m add xor rotate);
    core::array::from_fn(|i| xor(h[i], xor(v[i], v[i + 8])))
}

#[target_feature(enable = "neon")]
#[inline]
fn splat(word: u32) -> uint32x4_t {
    vdupq_n_u32(word)
}

#[target_feature(enable = "neon")]
#[inline]
fn load(column: &Column, part: usize) -> uint32x4_t {
    // SAFETY: the reference is to four readable words.
    unsafe { vld1q_u32(column.as_chunks::<WIDTH>().0[part].as_ptr()) }
}

#[target_feature(enable = "neon")]
#[inline]
fn store(column: &mut Column, part: usize, vector: uint32x4_t) {
    // SAFETY: the reference is to four writable words.
    unsafe { vst1q_u32(column.as_chunks_mut::<WIDTH>().0[part].as_mut_ptr(), vector) }
}
