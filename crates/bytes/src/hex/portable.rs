//! Hexadecimal with eight digits at a time in a `u64` ("SIMD within a register"), for every target.
//!
//! Lanes are the bytes of the little-endian word: lane 0 is the first character. Lane sums never carry, because all
//! operands are below 0x80. A final piece shorter than a word is processed as a whole word that overlaps the previous
//! one. Constant time in the input's value (not relied upon).

#![forbid(unsafe_code)]

use core::mem::MaybeUninit;

/// Returns `byte` in all eight lanes.
pub(crate) const fn lanes(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Requires `output.len() == 2 * input.len()`.
#[inline]
pub(super) fn encode(input: &[u8], output: &mut [MaybeUninit<u8>]) {
    debug_assert_eq!(output.len(), 2 * input.len());
    let (words, rest) = input.as_chunks::<4>();
    for (word, digits) in words.iter().zip(output.as_chunks_mut::<8>().0) {
        *digits = encode_4(*word).map(MaybeUninit::new);
    }
    if rest.is_empty() {
        return;
    }
    if let (Some(word), Some(digits)) = (input.last_chunk(), output.last_chunk_mut()) {
        *digits = encode_4(*word).map(MaybeUninit::new);
        return;
    }
    for (byte, pair) in input.iter().zip(output.as_chunks_mut::<2>().0) {
        let [high, low, ..] = encode_4([*byte, 0, 0, 0]);
        *pair = [high, low].map(MaybeUninit::new);
    }
}

/// Returns the nibbles of four bytes in eight lanes, high nibble first.
#[inline]
pub(crate) fn nibbles(bytes: [u8; 4]) -> u64 {
    // Move one byte to each 16-bit lane, then its high nibble to the low (first) byte of the lane.
    let mut word = u64::from(u32::from_le_bytes(bytes));
    word = (word | word << 16) & 0x0000_ffff_0000_ffff;
    word = (word | word << 8) & 0x00ff_00ff_00ff_00ff;
    (word >> 4 | word << 8) & lanes(15)
}

#[inline]
fn encode_4(bytes: [u8; 4]) -> [u8; 8] {
    let nibbles = nibbles(bytes);
    let letters = (nibbles + lanes(6)) >> 4 & lanes(1);
    (nibbles + lanes(b'0') + letters * u64::from(b'a' - b'0' - 10)).to_le_bytes()
}

/// Returns whether every byte of `digits` is a digit. If so, `output` is set to their value. Requires `digits.len() ==
/// 2 * output.len()`.
#[inline]
pub(super) fn decode(digits: &[u8], output: &mut [MaybeUninit<u8>]) -> bool {
    debug_assert_eq!(digits.len(), 2 * output.len());
    let (octets, rest) = digits.as_chunks::<8>();
    let mut valid = lanes(0x80);
    for (octet, word) in octets.iter().zip(output.as_chunks_mut::<4>().0) {
        let (bytes, ok) = decode_8(*octet);
        *word = bytes.map(MaybeUninit::new);
        valid &= ok;
    }
    if !rest.is_empty() {
        if let (Some(octet), Some(word)) = (digits.last_chunk(), output.last_chunk_mut()) {
            let (bytes, ok) = decode_8(*octet);
            *word = bytes.map(MaybeUninit::new);
            valid &= ok;
        } else {
            for (pair, byte) in digits.as_chunks::<2>().0.iter().zip(output) {
                let (bytes, ok) = decode_8([pair[0], pair[1], b'0', b'0', b'0', b'0', b'0', b'0']);
                byte.write(bytes[0]);
                valid &= ok;
            }
        }
    }
    valid == lanes(0x80)
}

/// Returns the four bytes, and a word whose top bit of each lane is set if the character is a digit.
#[inline]
fn decode_8(digits: [u8; 8]) -> ([u8; 4], u64) {
    let text = u64::from_le_bytes(digits);
    let low = text & lanes(0x7f);
    let lower_case = low | lanes(0x20);
    // The top bit of `x + (0x80 - bound)` is set if `x >= bound`.
    let digit = (low + lanes(0x80 - b'0')) & !(low + lanes(0x80 - b'9' - 1));
    let letter = (lower_case + lanes(0x80 - b'a')) & !(lower_case + lanes(0x80 - b'f' - 1));
    let valid = (digit | letter) & !text & lanes(0x80);
    let nibbles = (text & lanes(15)) + (letter >> 7 & lanes(1)) * 9;
    let mut word = (nibbles << 4 | nibbles >> 8) & 0x00ff_00ff_00ff_00ff;
    word = (word | word >> 8) & 0x0000_ffff_0000_ffff;
    word |= word >> 16;
    ((word as u32).to_le_bytes(), valid)
}
