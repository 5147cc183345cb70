//! Four messages in parallel with WebAssembly's 128-bit vectors, four times: word `i` of message `l` is lane `l` of
//! vector `i`.
//!
//! There is no vector rotation. By 16 and 8 bits it is a shuffle of bytes, otherwise two shifts and an OR.

use core::arch::wasm32::*;

use super::super::{Columns, LANES, second_half};

const WIDTH: usize = 4;

pub(in super::super) fn compress_lanes<const W: usize>(
    state: &mut Columns<8>,
    block: &Columns<W>,
    counter: u64,
    last: bool,
) {
    for part in 0..LANES / WIDTH {
        let load = |column: &[u32; LANES]| {
            let [a, b, c, d] = column.as_chunks::<WIDTH>().0[part];
            u32x4(a, b, c, d)
        };
        let mut m = [u32x4_splat(0); 16];
        for (word, column) in m.iter_mut().zip(block) {
            *word = load(column);
        }
        let h = state.each_ref().map(load);
        let mut v = [u32x4_splat(0); 16];
        v[..8].copy_from_slice(&h);
        v[8..].copy_from_slice(&second_half(counter, last).map(|word| u32x4_splat(word)));
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
        for (i, column) in state.iter_mut().enumerate() {
            let sum = xor(h[i], xor(v[i], v[i + 8]));
            column.as_chunks_mut::<WIDTH>().0[part] = [
                u32x4_extract_lane::<0>(sum),
                u32x4_extract_lane::<1>(sum),
                u32x4_extract_lane::<2>(sum),
                u32x4_extract_lane::<3>(sum),
            ];
        }
    }
}
