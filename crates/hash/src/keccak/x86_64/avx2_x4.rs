//! Four Keccak-f\[1600\] in parallel with AVX2: lane `i` of message `j` is word `j` of vector `i`.
//!
//! There is no vector rotation, so each lane takes two shifts and an OR, or one byte shuffle for the rotations by 8 and
//! 56. The 16 registers cannot hold the state, so lanes are on the stack. Constant time: no branch or index depends on
//! the lanes.

use core::arch::x86_64::*;

use super::super::batch::{LANES, Wide, rounds};

/// Clears the messages whose `keep` is zero (it is zero or all ones), XORs one block into each, and permutes.
#[target_feature(enable = "avx2")]
pub(in super::super) fn absorb<const RATE: usize>(
    state: &mut Wide<4>,
    blocks: &[&[u8; RATE]; 4],
    keep: &[u64; 4],
) {
    let keep = load(keep);
    let mut a = [_mm256_setzero_si256(); LANES];
    for (vector, lane) in a.iter_mut().zip(&state.0) {
        *vector = _mm256_and_si256(load(lane), keep);
    }
    for quarter in 0..4 {
        let words = transpose(blocks.map(|block| load_words(block, quarter)));
        for (vector, word) in a[4 * quarter..].iter_mut().zip(words) {
            *vector = _mm256_xor_si256(*vector, word);
        }
    }
    // The words after the sixteenth: one for a rate of 136 bytes, five for 168
    for (vector, word) in a[16..RATE / 8].iter_mut().zip(16..) {
        let words = blocks.map(|block| u64::from_le_bytes(block.as_chunks().0[word]));
        *vector = _mm256_xor_si256(*vector, load(&words));
    }
    let a = permute(a);
    for (lane, vector) in state.0.iter_mut().zip(a) {
        store(lane, vector);
    }
}

/// Returns the first four words of each message's state. Reading them one by one would wait for the vectors that were
/// just stored.
#[target_feature(enable = "avx2")]
pub(in super::super) fn squeeze(state: &Wide<4>) -> [[u64; 4]; 4] {
    let mut words = [[0; 4]; 4];
    let lanes = [0, 1, 2, 3].map(|lane: usize| load(&state.0[lane]));
    for (words, row) in words.iter_mut().zip(transpose(lanes)) {
        store(words, row);
    }
    words
}

#[target_feature(enable = "avx2")]
#[inline]
fn permute(mut a: [__m256i; LANES]) -> [__m256i; LANES] {
    let xor = |a, b| _mm256_xor_si256(a, b);
    let chi = |a, b, c| xor(a, _mm256_andnot_si256(b, c));
    let splat = |constant: u64| _mm256_set1_epi64x(constant.cast_signed());
    let bytes_left_1 = _mm256_set_epi8(
        14, 13, 12, 11, 10, 9, 8, 15, 6, 5, 4, 3, 2, 1, 0, 7, 14, 13, 12, 11, 10, 9, 8, 15, 6, 5,
        4, 3, 2, 1, 0, 7,
    );
    let bytes_left_7 = _mm256_set_epi8(
        8, 15, 14, 13, 12, 11, 10, 9, 0, 7, 6, 5, 4, 3, 2, 1, 8, 15, 14, 13, 12, 11, 10, 9, 0, 7,
        6, 5, 4, 3, 2, 1,
    );
    macro_rules! rol {
        ($x:expr, 8) => {
            _mm256_shuffle_epi8($x, bytes_left_1)
        };
        ($x:expr, 56) => {
            _mm256_shuffle_epi8($x, bytes_left_7)
        };
        ($x:expr, $n:literal) => {{
            let x = $x;
            _mm256_or_si256(
                _mm256_slli_epi64::<$n>(x),
                _mm256_srli_epi64::<{ 64 - $n }>(x),
            )
        }};
    }
    let xor5 = |[a, b, c, d, e]: [__m256i; 5]| xor(xor(xor(a, b), xor(c, d)), e);
    let rax1 = |a, b| xor(a, rol!(b, 1));
    rounds!(a, xor, xor5, rax1, chi, rol, splat);
    a
}

/// Transposes: word `j` of output `i` is word `i` of input `j`.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose(rows: [__m256i; 4]) -> [__m256i; 4] {
    let [r0, r1, r2, r3] = rows;
    let (e0, o0) = (_mm256_unpacklo_epi64(r0, r1), _mm256_unpackhi_epi64(r0, r1));
    let (e1, o1) = (_mm256_unpacklo_epi64(r2, r3), _mm256_unpackhi_epi64(r2, r3));
    [
        _mm256_permute2x128_si256::<0x20>(e0, e1),
        _mm256_permute2x128_si256::<0x20>(o0, o1),
        _mm256_permute2x128_si256::<0x31>(e0, e1),
        _mm256_permute2x128_si256::<0x31>(o0, o1),
    ]
}

/// Loads words `4 * quarter ..` of a block; `quarter` must be below 4.
#[target_feature(enable = "avx2")]
#[inline]
fn load_words<const RATE: usize>(block: &[u8; RATE], quarter: usize) -> __m256i {
    let (vectors, _) = block.as_chunks::<32>();
    // SAFETY: the reference is to 32 readable bytes, and the load has no alignment requirement.
    unsafe { _mm256_loadu_si256(vectors[quarter].as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(words: &[u64; 4]) -> __m256i {
    // SAFETY: the reference is to 32 readable bytes, and the load has no alignment requirement.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(words: &mut [u64; 4], vector: __m256i) {
    // SAFETY: the reference is to 32 writable bytes, and the store has no alignment requirement.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) }
}
