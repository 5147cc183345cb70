//! Detection of the end of a run of decimal digits.
//!
//! Constant time: no.

/// Returns a bit for each byte that is not a decimal digit; the lowest bit is for the first byte.
///
/// ```
/// let mut block = [b'7'; 64];
/// assert_eq!(lydite_bytes::non_digits(&block), 0);
/// (block[2], block[63]) = (b'+', b':');
/// assert_eq!(lydite_bytes::non_digits(&block), 1 << 2 | 1 << 63);
/// ```
#[inline(always)]
pub fn non_digits(block: &[u8; 64]) -> u64 {
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "sse2",
        not(lydite_backend = "portable")
    ))]
    // SAFETY: SSE2 is enabled for the whole build; the loads stay within `block`.
    unsafe {
        use core::arch::x86_64::*;
        let mut bits = 0;
        for i in 0..4 {
            let bytes = _mm_loadu_si128(block.as_ptr().cast::<__m128i>().add(i));
            // The digits become the smallest signed bytes.
            let least = _mm_add_epi8(bytes, _mm_set1_epi8(0x50));
            let others = _mm_cmpgt_epi8(least, _mm_set1_epi8(i8::MIN + 9));
            bits |= (_mm_movemask_epi8(others) as u64) << (16 * i);
        }
        bits
    }
    #[cfg(not(all(
        target_arch = "x86_64",
        target_feature = "sse2",
        not(lydite_backend = "portable")
    )))]
    portable(block)
}

#[allow(dead_code)]
#[inline(always)]
fn portable(block: &[u8; 64]) -> u64 {
    let (words, _) = block.as_chunks::<8>();
    words.iter().rev().fold(0, |bits, word| {
        let values = u64::from_le_bytes(*word) ^ 0x3030_3030_3030_3030;
        let others = ((values & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676) | values;
        // Gather the top bits with a multiplication whose partial products do not overlap.
        let top = others >> 7 & 0x0101_0101_0101_0101;
        bits << 8 | top.wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

#[cfg(test)]
mod tests {
    use super::{non_digits, portable};

    #[test]
    fn every_byte_in_every_place() {
        let mut block = [0; 64];
        for first in (0..=255).step_by(if cfg!(miri) { 15 } else { 1 }) {
            for (i, byte) in block.iter_mut().enumerate() {
                *byte = (i as u8).wrapping_mul(37).wrapping_add(first);
            }
            let expected = block.iter().rev().fold(0, |bits, byte| {
                bits << 1 | u64::from(!byte.is_ascii_digit())
            });
            assert_eq!(non_digits(&block), expected);
            assert_eq!(portable(&block), expected);
        }
    }
}
