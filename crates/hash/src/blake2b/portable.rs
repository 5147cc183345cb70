//! The rounds in safe Rust, one word at a time.

use super::{IV, SIGMA};

/// See [`Backend::compress`](super::Backend::compress).
pub(super) fn compress(rounds: u32, h: &mut [u64; 8], m: &[u64; 16], ends: &[u64; 4]) {
    let mut v = [0; 16];
    v[..8].copy_from_slice(h);
    v[8..].copy_from_slice(&IV);
    for (word, end) in v[12..].iter_mut().zip(ends) {
        *word ^= end;
    }
    let mut left = rounds;
    macro_rules! unrolled {
        ($($row:literal)*) => {
            $(
                if left == 0 {
                    break;
                }
                left -= 1;
                round::<$row>(&mut v, m);
            )*
        };
    }
    loop {
        unrolled!(0 1 2 3 4 5 6 7 8 9);
    }
    for i in 0..8 {
        h[i] ^= v[i] ^ v[i + 8];
    }
}

/// A round with row `ROW` of the schedule.
#[inline(always)]
fn round<const ROW: usize>(v: &mut [u64; 16], m: &[u64; 16]) {
    let s = const { SIGMA[ROW] };
    g(v, [0, 4, 8, 12], m[s[0]], m[s[1]]);
    g(v, [1, 5, 9, 13], m[s[2]], m[s[3]]);
    g(v, [2, 6, 10, 14], m[s[4]], m[s[5]]);
    g(v, [3, 7, 11, 15], m[s[6]], m[s[7]]);
    g(v, [0, 5, 10, 15], m[s[8]], m[s[9]]);
    g(v, [1, 6, 11, 12], m[s[10]], m[s[11]]);
    g(v, [2, 7, 8, 13], m[s[12]], m[s[13]]);
    g(v, [3, 4, 9, 14], m[s[14]], m[s[15]]);
}

#[inline(always)]
fn g(v: &mut [u64; 16], [a, b, c, d]: [usize; 4], x: u64, y: u64) {
    v[a] = v[a].wrapping_add(x).wrapping_add(v[b]);
    v[d] = (v[d] ^ v[a]).rotate_right(32);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(24);
    v[a] = v[a].wrapping_add(y).wrapping_add(v[b]);
    v[d] = (v[d] ^ v[a]).rotate_right(16);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(63);
}
