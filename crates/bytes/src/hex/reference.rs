//! Reference implementation of hexadecimal: one digit at a time.

pub(super) fn encode(input: &[u8], output: &mut [u8]) {
    for (byte, pair) in input.iter().zip(output.chunks_exact_mut(2)) {
        pair[0] = b"0123456789abcdef"[usize::from(byte >> 4)];
        pair[1] = b"0123456789abcdef"[usize::from(byte & 15)];
    }
}

/// Returns whether every byte of `digits` is a digit. If so, `output` is set to their value.
pub(super) fn decode(digits: &[u8], output: &mut [u8]) -> bool {
    for (pair, byte) in digits.chunks_exact(2).zip(output) {
        let nibble = |digit: u8| char::from(digit).to_digit(16);
        let (Some(high), Some(low)) = (nibble(pair[0]), nibble(pair[1])) else {
            return false;
        };
        *byte = (high * 16 + low) as u8;
    }
    true
}
