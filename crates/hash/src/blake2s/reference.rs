//! \[RFC7693\] §3.1 to §3.3, line by line. For tests only.

use std::vec::Vec;

use super::IV;

const SIGMA: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

fn g(v: &mut [u32; 16], [a, b, c, d]: [usize; 4], x: u32, y: u32) {
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(x);
    v[d] = (v[d] ^ v[a]).rotate_right(16);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(12);
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(y);
    v[d] = (v[d] ^ v[a]).rotate_right(8);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(7);
}

pub(super) fn compress(h: &mut [u32; 8], m: &[u32; 16], t: u64, f: bool) {
    let mut v = [0; 16];
    v[..8].copy_from_slice(h);
    v[8..].copy_from_slice(&IV);
    v[12] ^= t as u32;
    v[13] ^= (t >> 32) as u32;
    if f {
        v[14] ^= u32::MAX;
    }
    for s in SIGMA {
        for j in 0..4 {
            let column = [j, j + 4, j + 8, j + 12];
            g(&mut v, column, m[s[2 * j]], m[s[2 * j + 1]]);
        }
        for j in 0..4 {
            let diagonal = [j, 4 + (j + 1) % 4, 8 + (j + 2) % 4, 12 + (j + 3) % 4];
            g(&mut v, diagonal, m[s[8 + 2 * j]], m[s[9 + 2 * j]]);
        }
    }
    for i in 0..8 {
        h[i] ^= v[i] ^ v[i + 8];
    }
}

/// BLAKE2s with 32 bytes of output and no key.
pub(super) fn hash(data: &[u8]) -> [u8; 32] {
    let mut h = IV;
    h[0] ^= 0x0101_0000 ^ 32;
    let mut padded = data.to_vec();
    padded.resize(data.len().next_multiple_of(64).max(64), 0);
    let blocks: Vec<[u32; 16]> = padded
        .chunks(64)
        .map(|block| {
            core::array::from_fn(|i| u32::from_le_bytes(core::array::from_fn(|j| block[4 * i + j])))
        })
        .collect();
    let (last, first) = blocks.split_last().unwrap_or((&[0; 16], &[]));
    for (i, block) in first.iter().enumerate() {
        compress(&mut h, block, 64 * (i as u64 + 1), false);
    }
    compress(&mut h, last, data.len() as u64, true);
    let mut digest = [0; 32];
    for (bytes, word) in digest.chunks_mut(4).zip(h) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    digest
}
