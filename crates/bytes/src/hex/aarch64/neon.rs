//! Hexadecimal 16 bytes at a time with NEON, small enough to inline.
//!
//! A final piece shorter than a block is processed as a whole block that overlaps the previous one. Source: the digit's
//! value from a saturated difference, \[Mula-Hex\]. Constant time in the input's value (not relied upon).

use crate::hex::portable;
use core::{arch::aarch64::*, mem::MaybeUninit};

/// Requires `output.len() == 2 * input.len()`.
#[inline]
#[target_feature(enable = "neon")]
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
#[target_feature(enable = "neon")]
fn encode_16(block: &[u8; 16], digits: &mut [MaybeUninit<u8>; 32]) {
    // SAFETY: the references are to 16 readable bytes, and the loads have no alignment requirement.
    let (bytes, table) = unsafe {
        (
            vld1q_u8(block.as_ptr()),
            vld1q_u8(b"0123456789abcdef".as_ptr()),
        )
    };
    let high = vqtbl1q_u8(table, vshrq_n_u8::<4>(bytes));
    let low = vqtbl1q_u8(table, vandq_u8(bytes, vdupq_n_u8(15)));
    // SAFETY: `digits` is 32 writable bytes, and the store has no alignment requirement.
    unsafe { vst2q_u8(digits.as_mut_ptr().cast(), uint8x16x2_t(high, low)) }
}

/// Returns whether every byte of `digits` is a digit. If so, `output` is set to their value. Requires `digits.len() ==
/// 2 * output.len()`.
#[inline]
#[target_feature(enable = "neon")]
pub(in crate::hex) fn decode(digits: &[u8], output: &mut [MaybeUninit<u8>]) -> bool {
    debug_assert_eq!(digits.len(), 2 * output.len());
    let (blocks, rest) = digits.as_chunks::<32>();
    let mut worst = vdupq_n_u8(0xff);
    for (block, bytes) in blocks.iter().zip(output.as_chunks_mut::<16>().0) {
        worst = vminq_u8(worst, decode_32(block, bytes));
    }
    if !rest.is_empty() {
        match (digits.last_chunk(), output.last_chunk_mut()) {
            (Some(block), Some(bytes)) => worst = vminq_u8(worst, decode_32(block, bytes)),
            _ => return portable::decode(digits, output),
        }
    }
    vminvq_u8(worst) >= 0xf0
}

/// Writes 16 bytes. Returns the lesser of the [`values`] of their digits.
#[inline]
#[target_feature(enable = "neon")]
fn decode_32(block: &[u8; 32], bytes: &mut [MaybeUninit<u8>; 16]) -> uint8x16_t {
    // SAFETY: `block` is 32 readable bytes, and the load has no alignment requirement.
    let uint8x16x2_t(high, low) = unsafe { vld2q_u8(block.as_ptr()) };
    let (high, low) = (values(high), values(low));
    // SAFETY: `bytes` is 16 writable bytes, and the store has no alignment requirement.
    unsafe { vst1q_u8(bytes.as_mut_ptr().cast(), vsliq_n_u8::<4>(low, high)) }
    vminq_u8(high, low)
}

/// Returns 0xf0 plus the value of each digit; less for other characters.
#[inline]
#[target_feature(enable = "neon")]
fn values(text: uint8x16_t) -> uint8x16_t {
    // '0'..='9' move to the top of the range; the saturating step moves them to 0xf0.. and all others below.
    let top = vaddq_u8(text, vdupq_n_u8(0xff - b'9'));
    let decimal = vqsubq_u8(top, vdupq_n_u8(6));
    // 'A'..='F' and 'a'..='f' move to 0xfa... Only 0x36..=0x3f would move to 0xf0..=0xf9, and they have the masked bit.
    let before = vsubq_u8(text, vdupq_n_u8(1));
    let letter = vaddq_u8(
        vandq_u8(before, vdupq_n_u8(!0x20)),
        vdupq_n_u8(0xfa - (b'A' - 1)),
    );
    vmaxq_u8(decimal, letter)
}
