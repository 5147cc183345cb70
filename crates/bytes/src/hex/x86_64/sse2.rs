//! Hexadecimal with 16 bytes at a time with SSE2, which every x86-64 CPU has: no detection, and small enough to inline.
//!
//! A final piece shorter than a block is processed as a whole block that overlaps the previous one.
//! Source: the digit's value as the minimum of two saturated differences, [Mula-Hex].
//! Constant time in the input's value (not relied upon).

use crate::hex::portable;
use core::{arch::x86_64::*, mem::MaybeUninit};

#[inline]
#[target_feature(enable = "sse2")]
fn load(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: `bytes` is 16 readable bytes; the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn store(bytes: &mut [MaybeUninit<u8>; 16], value: __m128i) {
    // SAFETY: `bytes` is 16 writable bytes; the store needs no alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), value) }
}

/// Requires `output.len() == 2 * input.len()`.
#[inline]
#[target_feature(enable = "sse2")]
pub(in crate::hex) fn encode(input: &[u8], output: &mut [MaybeUninit<u8>]) {
    debug_assert_eq!(output.len(), 2 * input.len());
    let (blocks, rest) = input.as_chunks::<16>();
    for (block, digits) in blocks.iter().zip(output.as_chunks_mut::<32>().0) {
        encode_16(block, digits);
    }
    if !rest.is_empty() {
        match (input.last_chunk(), output.last_chunk_mut()) {
            (Some(block), Some(digits)) => encode_16(block, digits),
            _ => portable::encode(input, output),
        }
    }
}

#[inline]
#[target_feature(enable = "sse2")]
fn encode_16(block: &[u8; 16], digits: &mut [MaybeUninit<u8>; 32]) {
    let bytes = load(block);
    let low = _mm_and_si128(bytes, _mm_set1_epi8(15));
    let high = _mm_and_si128(_mm_srli_epi16::<4>(bytes), _mm_set1_epi8(15));
    let (first, second) = digits.split_at_mut(16);
    for (half, nibbles) in [
        (first, _mm_unpacklo_epi8(high, low)),
        (second, _mm_unpackhi_epi8(high, low)),
    ] {
        let letter = _mm_cmpgt_epi8(nibbles, _mm_set1_epi8(9));
        let step = _mm_and_si128(letter, _mm_set1_epi8((b'a' - b'0' - 10) as i8));
        let text = _mm_add_epi8(_mm_add_epi8(nibbles, _mm_set1_epi8(b'0' as i8)), step);
        if let Some(half) = half.first_chunk_mut() {
            store(half, text);
        }
    }
}

/// Returns whether every byte of `digits` is a digit. If so, `output` is set to their value. Requires `digits.len() ==
/// 2 * output.len()`.
#[inline]
#[target_feature(enable = "sse2")]
pub(in crate::hex) fn decode(digits: &[u8], output: &mut [MaybeUninit<u8>]) -> bool {
    debug_assert_eq!(digits.len(), 2 * output.len());
    let (blocks, rest) = digits.as_chunks::<32>();
    let mut worst = _mm_setzero_si128();
    for (block, bytes) in blocks.iter().zip(output.as_chunks_mut::<16>().0) {
        let (value, largest) = decode_32(block);
        store(bytes, value);
        worst = _mm_max_epu8(worst, largest);
    }
    if !rest.is_empty() {
        match (digits.last_chunk(), output.last_chunk_mut()) {
            (Some(block), Some(bytes)) => {
                let (value, largest) = decode_32(block);
                store(bytes, value);
                worst = _mm_max_epu8(worst, largest);
            }
            _ => return portable::decode(digits, output),
        }
    }
    // All characters are digits exactly if every value is at most 15.
    let excess = _mm_subs_epu8(worst, _mm_set1_epi8(15));
    _mm_movemask_epi8(_mm_cmpeq_epi8(excess, _mm_setzero_si128())) == 0xffff
}

/// Returns 16 bytes, and the largest digit value in each of 16 lanes: above 15 for a character that is not a digit.
#[inline]
#[target_feature(enable = "sse2")]
fn decode_32(block: &[u8; 32]) -> (__m128i, __m128i) {
    let (halves, _) = block.as_chunks::<16>();
    let (first, second) = (values(load(&halves[0])), values(load(&halves[1])));
    // Characters alternate between high and low nibble: even and odd lanes.
    let even = _mm_set1_epi16(0xff);
    let high = _mm_packus_epi16(_mm_and_si128(first, even), _mm_and_si128(second, even));
    let low = _mm_packus_epi16(_mm_srli_epi16::<8>(first), _mm_srli_epi16::<8>(second));
    (
        _mm_or_si128(_mm_slli_epi16::<4>(high), low),
        _mm_max_epu8(first, second),
    )
}

/// Returns the value of each digit; above 15 for other characters.
#[inline]
#[target_feature(enable = "sse2")]
fn values(text: __m128i) -> __m128i {
    // '0'..='9' move to the top of the range; the saturating step pushes all characters below them under it.
    let top = _mm_add_epi8(text, _mm_set1_epi8((0xff - b'9') as i8));
    let decimal = _mm_sub_epi8(
        _mm_subs_epu8(top, _mm_set1_epi8(6)),
        _mm_set1_epi8(0xf0u8 as i8),
    );
    let upper = _mm_and_si128(text, _mm_set1_epi8(!0x20));
    let letter = _mm_sub_epi8(upper, _mm_set1_epi8(b'A' as i8));
    _mm_min_epu8(decimal, _mm_adds_epu8(letter, _mm_set1_epi8(10)))
}
