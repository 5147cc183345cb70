//! [`U256`] as text: decimal, or hexadecimal after `0x`.

use super::{U256, division};
use core::{fmt, str::FromStr};

/// The reason why a text is not an integer or does not fit.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No digits.
    Empty,
    /// The byte at `offset` is not a digit of the base.
    InvalidDigit {
        /// Offset in the text, including sign and prefix.
        offset: usize,
        /// The invalid byte.
        byte: u8,
    },
    /// The value is out of the type's range.
    Overflow,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty => f.write_str("expected digits, found none"),
            Self::InvalidDigit { offset, byte } => {
                write!(f, "byte {offset}: expected a digit, found {byte:#04x}")
            }
            Self::Overflow => f.write_str("integer out of range for its type"),
        }
    }
}

impl core::error::Error for Error {}

/// The largest power of ten that fits in a limb, and its exponent.
const CHUNK: u64 = 10_000_000_000_000_000_000;
const CHUNK_DIGITS: usize = 19;

impl FromStr for U256 {
    type Err = Error;

    /// Parses decimal digits, or hexadecimal digits in either case after `0x`. Leading zeros are allowed; signs, spaces
    /// and underscores are not.
    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text.as_bytes(), 0)
    }
}

/// Parses `text[start..]`.
pub(super) fn parse(text: &[u8], start: usize) -> Result<U256, Error> {
    let (skipped, base) = if text[start..].starts_with(b"0x") {
        (start + 2, 16)
    } else {
        (start, 10)
    };
    let digits = &text[skipped..];
    if digits.is_empty() {
        return Err(Error::Empty);
    }
    let value = |at: usize, byte: u8| {
        let digit = char::from(byte).to_digit(base).map(u64::from);
        digit.ok_or(Error::InvalidDigit {
            offset: skipped + at,
            byte,
        })
    };
    let mut result = Some(U256::ZERO);
    if base == 16 {
        for (at, &byte) in digits.iter().enumerate() {
            let digit = value(at, byte)?;
            result = result
                .filter(|r| r.0[3] >> 60 == 0)
                .map(|r| r << 4 | U256::from(digit));
        }
    } else {
        for (i, chunk) in digits.chunks(CHUNK_DIGITS).enumerate() {
            let mut limb = 0;
            for (j, &byte) in chunk.iter().enumerate() {
                limb = limb * 10 + value(i * CHUNK_DIGITS + j, byte)?;
            }
            let scale = U256::from(10u64.pow(chunk.len() as u32));
            result = result.and_then(|r| r.checked_mul(scale)?.checked_add(U256::from(limb)));
        }
    }
    // Checked last: an invalid digit is reported even if the value overflowed before it.
    result.ok_or(Error::Overflow)
}

/// Space for the digits of five chunks; the first one has zeros before it, up to a multiple of eight.
const BUFFER: usize = 24 + 4 * CHUNK_DIGITS;

impl U256 {
    /// Size of the buffer for [`U256::to_decimal`].
    pub const DECIMAL_BUFFER: usize = BUFFER;

    /// Returns the decimal digits in ASCII, at the end of the buffer. Does not allocate, and is faster than `Display`.
    ///
    /// ```
    /// use lydite_bytes::U256;
    /// let mut buffer = [0; U256::DECIMAL_BUFFER];
    /// assert_eq!(U256::MAX.to_decimal(&mut buffer).len(), 78);
    /// assert_eq!(U256::ZERO.to_decimal(&mut buffer), b"0");
    /// ```
    #[inline]
    pub fn to_decimal(self, buffer: &mut [u8; Self::DECIMAL_BUFFER]) -> &[u8] {
        let start = decimal(self, buffer);
        &buffer[start..]
    }
}

/// Returns the decimal digits as text.
#[inline(always)]
pub(super) fn decimal_text(value: U256, buffer: &mut [u8; BUFFER]) -> &str {
    core::str::from_utf8(value.to_decimal(buffer)).unwrap_or_default()
}

/// Writes the decimal digits to the end of the buffer, and returns the position of the first one.
// Inline, because the limbs mostly come from registers, from which they would first be stored.
#[inline(always)]
fn decimal(value: U256, buffer: &mut [u8; BUFFER]) -> usize {
    const EIGHT: u64 = 100_000_000;
    let mut limbs = value.0;
    let mut end = BUFFER;
    while limbs[0] >= CHUNK || limbs[1..] != [0; 3] {
        let mut chunk;
        (limbs, chunk) = division::by_limb(&limbs, CHUNK);
        for at in [8, 16, 24] {
            buffer[end - at..][..8].copy_from_slice(&eight_digits(chunk % EIGHT));
            chunk /= EIGHT;
        }
        // The zeros before the digits of this chunk are overwritten by the next one.
        end -= CHUNK_DIGITS;
    }
    let mut rest = limbs[0];
    while rest >= EIGHT {
        end -= 8;
        buffer[end..][..8].copy_from_slice(&eight_digits(rest % EIGHT));
        rest /= EIGHT;
    }
    let digits = eight_digits(rest);
    buffer[end - 8..end].copy_from_slice(&digits);
    let zeros = (u64::from_le_bytes(digits) & 0x0f0f_0f0f_0f0f_0f0f).trailing_zeros() as usize / 8;
    end - 8 + zeros.min(7)
}

/// Returns the eight decimal digits of a value below 10^8.
fn eight_digits(value: u64) -> [u8; 8] {
    // Each step halves the numbers in lanes: two of four digits, four of two digits, eight digits.
    let lanes = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((lanes * 10_486) >> 20) & 0x7f_0000_007f;
    let lanes = hundreds | ((lanes - 100 * hundreds) << 16);
    let tens = ((lanes * 103) >> 10) & 0x000f_000f_000f_000f;
    let digits = tens | ((lanes - 10 * tens) << 8);
    (digits | 0x3030_3030_3030_3030).to_le_bytes()
}

impl fmt::Display for U256 {
    /// Displays the value in decimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad_integral(true, "", decimal_text(*self, &mut [0; BUFFER]))
    }
}

impl fmt::Debug for U256 {
    /// Same as `Display`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the digits without leading zeros, at least one digit.
fn hexadecimal<'a>(value: &U256, buffer: &'a mut [u8; 64]) -> &'a str {
    crate::hex::encode_fixed(&value.to_be_bytes(), buffer);
    let start = (value.leading_zeros() as usize / 4).min(63);
    core::str::from_utf8(&buffer[start..]).unwrap_or_default()
}

impl fmt::LowerHex for U256 {
    /// Displays hexadecimal digits without leading zeros; `{:#x}` adds `0x`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad_integral(true, "0x", hexadecimal(self, &mut [0; 64]))
    }
}

impl fmt::UpperHex for U256 {
    /// Like [`fmt::LowerHex`], with upper-case letters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0; 64];
        let length = hexadecimal(self, &mut buffer).len();
        buffer.make_ascii_uppercase();
        f.pad_integral(
            true,
            "0x",
            core::str::from_utf8(&buffer[64 - length..]).unwrap_or_default(),
        )
    }
}
