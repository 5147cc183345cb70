//! Eight messages in parallel with AVX2, twice: word `i` of message `l` is lane `l` of vector `i`.
//!
//! There is no vector rotation. By 16 and 8 bits it is a shuffle of bytes, otherwise two shifts and an OR.

use core::arch::x86_64::*;

use super::super::{Column, Columns, INITIAL, LANES, second_half};

const WIDTH: usize = 8;

parts!(#[target_feature(enable = "avx2")]);

#[target_feature(enable = "avx2")]
#[inline]
fn compress<const W: usize>(
    h: [__m256i; 8],
    block: [&Column; W],
    part: usize,
    counter: u64,
    last: bool,
) -> [__m256i; 8] {
    let mut m = [splat(0); 16];
    for (word, column) in m.iter_mut().zip(block) {
        *word = load(column, part);
    }
    let mut v = [splat(0); 16];
    v[..8].copy_from_slice(&h);
    v[8..].copy_from_slice(&second_half(counter, last).map(|word| splat(word)));
    let add = |a, b| _mm256_add_epi32(a, b);
    let xor = |a, b| _mm256_xor_si256(a, b);
    let by16 = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13,
    ));
    let by8 = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12,
    ));
    macro_rules! rotate {
        ($x:expr, 16) => {
            _mm256_shuffle_epi8($x, by16)
        };
        ($x:expr, 8) => {
            _mm256_shuffle_epi8($x, by8)
        };
        ($x:expr, $n:literal) => {{
            let x = $x;
            _mm256_or_si256(
                _mm256_srli_epi32::<$n>(x),
                _mm256_slli_epi32::<{ 32 - $n }>(x),
            )
        }};
    }
    rounds!(v m add xor rotate);
    core::array::from_fn(|i| xor(h[i], xor(v[i], v[i + 8])))
}

#[target_feature(enable = "avx2")]
#[inline]
fn splat(word: u32) -> __m256i {
    _mm256_set1_epi32(word.cast_signed())
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(column: &Column, part: usize) -> __m256i {
    let words = &column.as_chunks::<WIDTH>().0[part];
    // SAFETY: the reference is to 32 readable bytes, and the load has no alignment requirement.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(column: &mut Column, part: usize, vector: __m256i) {
    let words = &mut column.as_chunks_mut::<WIDTH>().0[part];
    // SAFETY: the reference is to 32 writable bytes, and the store has no alignment requirement.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) };
}
