//! The rounds on rows: the working vector is a matrix of four rows a, b, c, d, each in one 256-bit vector, so that one
//! instruction works on all columns. For the diagonals, the rows a, c and d are rotated against b, whose words are the
//! last ones that a half round computes: the rotations of the others are then off the critical path.
//!
//! Lower bound: a half round is a chain of twelve instructions of one cycle, thirteen without AVX-512VL, a round two of
//! them.

use core::arch::asm;
use core::arch::x86_64::*;
use core::{convert::identity, hint::black_box};

use super::{IV, SIGMA};

/// Defines a kernel; see [`Backend::compress`](super::Backend::compress).
macro_rules! kernel {
    ($name:ident, $features:literal, $message:ident, $($row:literal)*) => {
        #[target_feature(enable = $features)]
        pub(super) fn $name(rounds: u32, h: &mut [u64; 8], m: &[u64; 16], ends: &[u64; 4]) {
            let ([low, high], [c, d]) = (h.as_chunks_mut::<4>().0, IV.as_chunks::<4>().0) else {
                return;
            };
            let d = _mm256_xor_si256(load(d), load(ends));
            let mut state = [load(low), load(high), load(c), d];
            let mut left = rounds;
            loop {
                let m = pairs($message(m));
                $(
                    if left == 0 {
                        break;
                    }
                    left -= 1;
                    half_round(
                        &mut state,
                        gather::<$row, 0, 2, 4, 6>(&m),
                        gather::<$row, 1, 3, 5, 7>(&m),
                    );
                    state = turn::<false>(state);
                    // The diagonal with the first word of b is the last.
                    half_round(
                        &mut state,
                        gather::<$row, 14, 8, 10, 12>(&m),
                        gather::<$row, 15, 9, 11, 13>(&m),
                    );
                    state = turn::<true>(state);
                )*
            }
            let [a, b, c, d] = state;
            for (half, row) in [(low, _mm256_xor_si256(a, c)), (high, _mm256_xor_si256(b, d))] {
                let row = _mm256_xor_si256(load(half), row);
                // SAFETY: `half` has 32 bytes.
                unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), row) };
            }
        }
    };
}

// With 16 registers, the words gathered in one pass over the schedule would be kept in memory for the next: on Zen 3,
// this takes longer than the few rounds of a hash.
kernel!(compress_avx2, "avx2", black_box, 0 1 2 3 4 5 6 7 8 9);
// Rotates by one instruction. On Intel, many rounds take less time if gathered words are kept.
kernel!(compress_avx512vl, "avx2,avx512f,avx512vl", identity, 0 1 2 3 4 5 6 7 8 9);

/// Two words of the message in each half of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn pairs(m: &[u64; 16]) -> [__m256i; 8] {
    let mut pairs = [_mm256_setzero_si256(); 8];
    for (pair, words) in pairs.iter_mut().zip(m.as_chunks::<2>().0) {
        // SAFETY: `words` has 16 bytes.
        *pair = _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(words.as_ptr().cast()) });
    }
    pairs
}

/// The message words at four places in row `ROW` of the schedule.
#[inline]
#[target_feature(enable = "avx2")]
fn gather<const ROW: usize, const A: usize, const B: usize, const C: usize, const D: usize>(
    m: &[__m256i; 8],
) -> __m256i {
    let [a, b, c, d] = const { [SIGMA[ROW][A], SIGMA[ROW][B], SIGMA[ROW][C], SIGMA[ROW][D]] };
    _mm256_blend_epi32::<0b1111_0000>(pair(m, a, b), pair(m, c, d))
}

/// The message words `a` and `b` in each half.
#[inline]
#[target_feature(enable = "avx2")]
fn pair(m: &[__m256i; 8], a: usize, b: usize) -> __m256i {
    let [first, second] = [m[a / 2], m[b / 2]];
    match (a % 2, b % 2) {
        (0, 0) => _mm256_unpacklo_epi64(first, second),
        (0, _) => _mm256_blend_epi32::<0b1100_1100>(first, second),
        (_, 0) => _mm256_alignr_epi8::<8>(second, first),
        (_, _) => _mm256_unpackhi_epi64(first, second),
    }
}

/// G on all columns at once, with the first and the second message word of each.
#[inline]
#[target_feature(enable = "avx2")]
fn half_round([a, b, c, d]: &mut [__m256i; 4], first: __m256i, second: __m256i) {
    *a = _mm256_add_epi64(_mm256_add_epi64(*a, first), *b);
    *d = rotate_left::<32, 32>(_mm256_xor_si256(*d, *a));
    *c = _mm256_add_epi64(*c, *d);
    *b = rotate_left::<40, 24>(_mm256_xor_si256(*b, *c));
    *a = _mm256_add_epi64(_mm256_add_epi64(*a, second), *b);
    *d = rotate_left::<48, 16>(_mm256_xor_si256(*d, *a));
    *c = _mm256_add_epi64(*c, *d);
    *b = rotate_left::<1, 63>(_mm256_xor_si256(*b, *c));
}

/// Rotates each word left by `N` bits, right by `M = 64 - N`. The compiler selects a shuffle or a rotation for it.
#[inline]
#[target_feature(enable = "avx2")]
fn rotate_left<const N: i32, const M: i32>(words: __m256i) -> __m256i {
    const { assert!(N + M == 64) };
    let [left, right] = [_mm256_slli_epi64::<N>(words), _mm256_srli_epi64::<M>(words)];
    _mm256_or_si256(left, right)
}

/// Moves the words of each diagonal into one lane, or back if `BACK`. The first word of b is in the last diagonal.
#[inline]
#[target_feature(enable = "avx2")]
fn turn<const BACK: bool>([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let up = |row| _mm256_permute4x64_epi64::<0b10_01_00_11>(row);
    let down = |row| _mm256_permute4x64_epi64::<0b00_11_10_01>(row);
    let [a, c] = if BACK {
        [down(a), up(c)]
    } else {
        [up(a), down(c)]
    };
    [a, b, c, swap(d)]
}

/// Swaps the halves. The compiler would select `vpermq`, with which d is on the critical path on AMD Zen 3.
#[inline]
#[target_feature(enable = "avx2")]
fn swap(row: __m256i) -> __m256i {
    let swapped;
    // SAFETY: the instruction is in AVX2 and writes only `swapped`.
    unsafe {
        asm!("vperm2i128 {}, {row}, {row}, 1", out(ymm_reg) swapped, row = in(ymm_reg) row,
             options(pure, nomem, nostack, preserves_flags));
    }
    swapped
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(words: &[u64; 4]) -> __m256i {
    // SAFETY: `words` has 32 bytes.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}
