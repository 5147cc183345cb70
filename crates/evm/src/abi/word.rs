//! Conversion between 32-byte big-endian words and numbers or byte strings.

use lydite_bytes::U256;

/// Whether this is the width of an integer type, in bits.
pub(crate) const fn is_width(bits: usize) -> bool {
    bits >= 8 && bits <= 256 && bits.is_multiple_of(8)
}

/// Returns the high and the low half as numbers.
#[inline(always)]
pub(crate) fn halves(word: &[u8; 32]) -> (u128, u128) {
    let (halves, _) = word.as_chunks::<16>();
    (
        u128::from_be_bytes(halves[0]),
        u128::from_be_bytes(halves[1]),
    )
}

#[inline(always)]
pub(crate) fn from_u64(value: u64) -> [u8; 32] {
    right(&value.to_be_bytes())
}

#[inline(always)]
pub(crate) fn from_i128(value: i128) -> [u8; 32] {
    let mut word = [if value < 0 { 0xff } else { 0 }; 32];
    word[16..].copy_from_slice(&value.to_be_bytes());
    word
}

#[inline(always)]
pub(crate) fn from_u256(value: &U256) -> [u8; 32] {
    value.to_be_bytes()
}

#[inline(always)]
pub(crate) fn to_u256(word: &[u8; 32]) -> U256 {
    U256::from_be_bytes(*word)
}

#[inline(always)]
pub(crate) fn to_bool(word: &[u8; 32]) -> Option<bool> {
    match halves(word) {
        (0, 0) => Some(false),
        (0, 1) => Some(true),
        _ => None,
    }
}

// The `put_` functions write in place: a word that is first built on the stack would be read back before its stores
// complete.

/// Writes the number.
#[inline(always)]
pub(crate) fn put_u256(slot: &mut [u8; 32], value: &U256) {
    *slot = value.to_be_bytes();
}

/// Writes `bytes` right-aligned, after zeros.
#[inline(always)]
pub(crate) fn put_right<const N: usize>(slot: &mut [u8; 32], bytes: &[u8; N]) {
    slot[..32 - N].fill(0);
    slot[32 - N..].copy_from_slice(bytes);
}

/// Writes `bytes` left-aligned, followed by zeros.
#[inline(always)]
pub(crate) fn put_left<const N: usize>(slot: &mut [u8; 32], bytes: &[u8; N]) {
    slot[..N].copy_from_slice(bytes);
    slot[N..].fill(0);
}

/// Returns `bytes` right-aligned, after zeros.
#[inline(always)]
pub(crate) fn right<const N: usize>(bytes: &[u8; N]) -> [u8; 32] {
    let mut word = [0; 32];
    put_right(&mut word, bytes);
    word
}

/// Returns the last `N` bytes if all bytes before them are zero.
#[inline(always)]
pub(crate) fn to_right<const N: usize>(word: &[u8; 32]) -> Option<[u8; N]> {
    fits_uint(word, 8 * N).then(|| get_right(word))
}

/// Returns `bytes` left-aligned, followed by zeros.
#[inline(always)]
pub(crate) fn left(bytes: &[u8]) -> [u8; 32] {
    let mut word = [0; 32];
    word[..bytes.len()].copy_from_slice(bytes);
    word
}

/// Returns the last `N` bytes.
#[inline(always)]
pub(crate) fn get_right<const N: usize>(word: &[u8; 32]) -> [u8; N] {
    const { assert!(N <= 32) };
    core::array::from_fn(|i| word[32 - N + i])
}

/// Returns the first `N` bytes.
#[inline(always)]
pub(crate) fn get_left<const N: usize>(word: &[u8; 32]) -> [u8; N] {
    const { assert!(N <= 32) };
    core::array::from_fn(|i| word[i])
}

/// Returns the first `N` bytes if all bytes after them are zero.
#[inline(always)]
pub(crate) fn to_left<const N: usize>(word: &[u8; 32]) -> Option<[u8; N]> {
    (N == 32 || is_padded(word, 32 - N)).then(|| get_left(word))
}

/// Whether the last `padding` bytes (1 to 32) are zero.
#[inline(always)]
pub(crate) fn is_padded(word: &[u8; 32], padding: usize) -> bool {
    match halves(word) {
        (high, low) if padding > 16 => low == 0 && high << (8 * (32 - padding)) == 0,
        (_, low) => low << (8 * (16 - padding)) == 0,
    }
}

/// Clears all but the last `len` bytes.
pub(crate) fn keep_right(word: &[u8; 32], len: usize) -> [u8; 32] {
    let mut word = *word;
    word[..32 - len].fill(0);
    word
}

/// Clears all but the first `len` bytes.
pub(crate) fn keep_left(word: &[u8; 32], len: usize) -> [u8; 32] {
    let mut word = *word;
    word[len..].fill(0);
    word
}

/// Sign-extends the number in the last `len` bytes (1 to 32).
#[inline(always)]
pub(crate) fn sign_extend(word: &[u8; 32], len: usize) -> [u8; 32] {
    let mut word = *word;
    let sign = if word[32 - len] & 0x80 != 0 { 0xff } else { 0 };
    word[..32 - len].fill(sign);
    word
}

#[inline(always)]
pub(crate) fn fits_uint(word: &[u8; 32], bits: usize) -> bool {
    match halves(word) {
        (high, low) if bits < 128 => high == 0 && low >> bits == 0,
        (high, _) => bits >= 256 || high >> (bits - 128) == 0,
    }
}

#[inline(always)]
pub(crate) fn fits_int(word: &[u8; 32], bits: usize) -> bool {
    let (high, low) = halves(word);
    let (high, low) = (high as i128, low as i128);
    // Whether all bits of the half above its lowest `bits` (1 to 128) bits equal the sign.
    let keeps = |half: i128, bits: usize| half << (128 - bits) >> (128 - bits) == half;
    if bits <= 128 {
        high == low >> 127 && keeps(low, bits)
    } else {
        keeps(high, bits - 128)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_and_every_dirty_byte() {
        for len in 0..=32usize {
            for dirty in 0..32 {
                let mut word = [0; 32];
                word[dirty] = 0x80;
                assert_eq!(fits_uint(&word, 8 * len), dirty >= 32 - len);
                if len > 0 {
                    assert_eq!(is_padded(&word, len), dirty < 32 - len);
                    assert_eq!(fits_int(&word, 8 * len), dirty > 32 - len || len == 32);
                }
            }
        }
        assert!(fits_int(&[0xff; 32], 8));
    }
}
