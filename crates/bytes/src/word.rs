//! Words of 32 bytes, big-endian, stored as two vectors.
//!
//! Reading back a word that was written in pieces of 8 bytes is expensive: a load that spans several stores waits until
//! they have left the store buffer. Code that hashes, copies or sends a word reads it in pieces of 16 bytes or more.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use core::arch::x86_64::*;

/// Converts limbs, least significant first, to a word.
#[inline(always)]
pub(crate) fn from_limbs(limbs: &[u64; 4]) -> [u8; 32] {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: SSE2 is enabled for the whole build; the loads and stores stay within `limbs` and `word`.
    unsafe {
        let mut word = [0u8; 32];
        let from = limbs.as_ptr().cast::<__m128i>();
        let to = word.as_mut_ptr().cast::<__m128i>();
        _mm_storeu_si128(to, swap(_mm_loadu_si128(from.add(1))));
        _mm_storeu_si128(to.add(1), swap(_mm_loadu_si128(from)));
        word
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    {
        let mut word = [0; 32];
        for (piece, limb) in word
            .as_chunks_mut::<8>()
            .0
            .iter_mut()
            .zip(limbs.iter().rev())
        {
            *piece = limb.to_be_bytes();
        }
        word
    }
}

/// Reverses all 16 bytes.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
unsafe fn swap(x: __m128i) -> __m128i {
    // SAFETY: SSE2 is enabled for the whole build.
    unsafe {
        let pairs = _mm_or_si128(_mm_slli_epi16::<8>(x), _mm_srli_epi16::<8>(x));
        let low = _mm_shufflelo_epi16::<0b00_01_10_11>(pairs);
        let halves = _mm_shufflehi_epi16::<0b00_01_10_11>(low);
        _mm_shuffle_epi32::<0b01_00_11_10>(halves)
    }
}

/// Returns 12 zeros followed by the 20 bytes.
#[inline(always)]
pub(crate) fn right_aligned(bytes: &[u8; 20]) -> [u8; 32] {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: SSE2 is enabled for the whole build; the loads and stores stay within `bytes` and `word`.
    unsafe {
        let mut word = [0u8; 32];
        let to = word.as_mut_ptr().cast::<__m128i>();
        let first = _mm_cvtsi32_si128(i32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        _mm_storeu_si128(to, _mm_slli_si128::<12>(first));
        _mm_storeu_si128(to.add(1), _mm_loadu_si128(bytes.as_ptr().add(4).cast()));
        word
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    {
        let mut word = [0; 32];
        word[12..].copy_from_slice(bytes);
        word
    }
}

/// Writes `prefix` followed by `words` to `out`, in pieces of 16 bytes aligned to the start of `out`. Code that copies,
/// hashes or sends the result reads it in the same pieces. (If the words were stored directly, at an offset of 4 bytes,
/// each load of such a reader would span two stores: 3.4 ns slower.)
///
/// # Panics
/// If the length of `words` is not a multiple of 16 bytes, or `out` is not 4 bytes longer.
#[inline(always)]
pub fn write_after_prefix(prefix: [u8; 4], words: &[u8], out: &mut [u8]) {
    assert!(words.len().is_multiple_of(16) && out.len() == 4 + words.len());
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        let (to, last) = out.as_chunks_mut::<16>();
        // SAFETY: SSE2 is enabled for the whole build; each load and store is of one array of 16 bytes.
        let carry = unsafe {
            let mut carry = _mm_cvtsi32_si128(i32::from_ne_bytes(prefix));
            for (to, from) in to.iter_mut().zip(words.as_chunks::<16>().0) {
                let piece = _mm_loadu_si128(from.as_ptr().cast());
                let shifted = _mm_or_si128(_mm_slli_si128::<4>(piece), carry);
                _mm_storeu_si128(to.as_mut_ptr().cast(), shifted);
                carry = _mm_srli_si128::<12>(piece);
            }
            _mm_cvtsi128_si32(carry)
        };
        last.copy_from_slice(&carry.to_ne_bytes());
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    {
        out[..4].copy_from_slice(&prefix);
        out[4..].copy_from_slice(words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 4 } else { 256 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn words_equal_the_definition(limbs in any::<[u64; 4]>(), bytes in any::<[u8; 20]>()) {
            let mut word = [0; 32];
            for (i, byte) in word.iter_mut().rev().enumerate() {
                *byte = (limbs[i / 8] >> (8 * (i % 8))) as u8;
            }
            prop_assert_eq!(from_limbs(&limbs), word);
            prop_assert_eq!(&right_aligned(&bytes)[..12], &[0; 12]);
            prop_assert_eq!(&right_aligned(&bytes)[12..], &bytes);
            let prefix = [bytes[0], bytes[1], bytes[2], bytes[3]];
            for pieces in 0..3 {
                let words = &word[..16 * pieces];
                let mut out = [0; 36];
                let out = &mut out[..4 + words.len()];
                write_after_prefix(prefix, words, out);
                prop_assert_eq!(&out[..4], &prefix);
                prop_assert_eq!(&out[4..], words);
            }
        }
    }
}
