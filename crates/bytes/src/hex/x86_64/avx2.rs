//! Hexadecimal 32 bytes at a time with AVX2.
//!
//! Like [`super::sse2`], with a table look-up for the digits and a multiply-add for the pairs.

use super::sse2;
use core::{arch::x86_64::*, mem::MaybeUninit};

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: `bytes` is 32 readable bytes; the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(bytes: &mut [MaybeUninit<u8>; 32], value: __m256i) {
    // SAFETY: `bytes` is 32 writable bytes; the store needs no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), value) }
}

/// Requires `output.len() == 2 * input.len()`.
#[target_feature(enable = "avx2")]
pub(in crate::hex) fn encode(input: &[u8], output: &mut [MaybeUninit<u8>]) {
    let (blocks, rest) = input.as_chunks::<32>();
    let (pairs, digits_rest) = output.as_chunks_mut::<64>();
    let table = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102,
    ));
    for (block, digits) in blocks.iter().zip(pairs) {
        // The unpacks work within 128-bit lanes, so quarters in the order 0 2 1 3 come out in order.
        let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(load(block));
        let low = _mm256_and_si256(bytes, _mm256_set1_epi8(15));
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), _mm256_set1_epi8(15));
        let (halves, _) = digits.as_chunks_mut::<32>();
        store(
            &mut halves[0],
            _mm256_shuffle_epi8(table, _mm256_unpacklo_epi8(high, low)),
        );
        store(
            &mut halves[1],
            _mm256_shuffle_epi8(table, _mm256_unpackhi_epi8(high, low)),
        );
    }
    sse2::encode(rest, digits_rest);
}

/// Returns whether every byte of `digits` is a digit. If so, `output` is set to their value. Requires `digits.len() ==
/// 2 * output.len()`.
#[target_feature(enable = "avx2")]
pub(in crate::hex) fn decode(digits: &[u8], output: &mut [MaybeUninit<u8>]) -> bool {
    let (blocks, rest) = digits.as_chunks::<64>();
    let (lines, output_rest) = output.as_chunks_mut::<32>();
    let mut worst = _mm256_setzero_si256();
    let weights = _mm256_set1_epi16(0x01_10);
    for (block, line) in blocks.iter().zip(lines) {
        let (halves, _) = block.as_chunks::<32>();
        let (first, second) = (values(load(&halves[0])), values(load(&halves[1])));
        worst = _mm256_max_epu8(worst, _mm256_max_epu8(first, second));
        let bytes = _mm256_packus_epi16(
            _mm256_maddubs_epi16(first, weights),
            _mm256_maddubs_epi16(second, weights),
        );
        store(line, _mm256_permute4x64_epi64::<0b11_01_10_00>(bytes));
    }
    let excess = _mm256_subs_epu8(worst, _mm256_set1_epi8(15));
    _mm256_testz_si256(excess, excess) == 1 && sse2::decode(rest, output_rest)
}

/// Returns the value of each digit; above 15 for other characters.
#[inline]
#[target_feature(enable = "avx2")]
fn values(text: __m256i) -> __m256i {
    let top = _mm256_add_epi8(text, _mm256_set1_epi8((0xff - b'9') as i8));
    let decimal = _mm256_sub_epi8(
        _mm256_subs_epu8(top, _mm256_set1_epi8(6)),
        _mm256_set1_epi8(0xf0u8 as i8),
    );
    let upper = _mm256_and_si256(text, _mm256_set1_epi8(!0x20));
    let letter = _mm256_sub_epi8(upper, _mm256_set1_epi8(b'A' as i8));
    _mm256_min_epu8(decimal, _mm256_adds_epu8(letter, _mm256_set1_epi8(10)))
}
