//! Hexadecimal text: two characters a byte, high nibble first, written in lower case, read in either case.
//!
//! Decoders accept one optional `0x` prefix (not `0X`). Offsets in errors count from the start of the text
//! as given, the prefix included.
//!
//! ```
//! use lydite_bytes::hex;
//!
//! assert_eq!(hex::encode([0xde, 0xad]), "dead");
//! assert_eq!(hex::decode("0xDEad")?, [0xde, 0xad]);
//! assert_eq!(hex::decode("0xdexd").unwrap_err().to_string(), "byte 4: 0x78 is not a hexadecimal digit");
//! # Ok::<(), hex::Error>(())
//! ```
//!
//! Constant time: no. Neither the tables nor the early exit on a wrong byte suit secrets.

mod dispatch;
pub(crate) mod portable;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
#[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
mod x86_64;

use alloc::{string::String, vec, vec::Vec};
use core::fmt;

/// Why a text is not hexadecimal, or does not fit.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The byte at `offset` of the text is none of `0-9a-fA-F`.
    InvalidDigit {
        /// Offset in the text, prefix included.
        offset: usize,
        /// The offending byte.
        byte: u8,
    },
    /// The text has an odd number of digits.
    OddLength {
        /// Number of digits, prefix excluded.
        digits: usize,
    },
    /// Source and destination do not agree in length.
    Length {
        /// Digits that the destination (of a decoder) or characters that the source (of an encoder) asks for.
        expected: usize,
        /// Digits or characters that there are.
        actual: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::InvalidDigit { offset, byte } => {
                write!(f, "byte {offset}: {byte:#04x} is not a hexadecimal digit")
            }
            Self::OddLength { digits } => write!(f, "odd number of hexadecimal digits: {digits}"),
            Self::Length { expected, actual } => {
                write!(f, "expected {expected} hexadecimal digits, got {actual}")
            }
        }
    }
}

impl core::error::Error for Error {}

/// Writes the `2 * input.len()` lower-case digits of `input` to `output`, without prefix.
///
/// # Errors
/// [`Error::Length`] unless `output.len() == 2 * input.len()`.
#[inline]
pub fn encode_to_slice(input: &[u8], output: &mut [u8]) -> Result<(), Error> {
    if !output.len().is_multiple_of(2) || output.len() / 2 != input.len() {
        return Err(Error::Length {
            expected: input.len().saturating_mul(2),
            actual: output.len(),
        });
    }
    dispatch::encode(input, output);
    Ok(())
}

/// [`encode_to_slice`] for lengths that the compiler knows to agree.
#[inline]
pub(crate) fn encode_fixed<const N: usize, const DIGITS: usize>(
    input: &[u8; N],
    output: &mut [u8; DIGITS],
) {
    const { assert!(DIGITS == 2 * N) };
    dispatch::encode(input, output);
}

/// The lower-case digits of `input`, without prefix. Allocation-free twin: [`encode_to_slice`].
#[inline]
pub fn encode(input: impl AsRef<[u8]>) -> String {
    encode_after(b"", input.as_ref())
}

/// The lower-case digits of `input` after `0x`.
#[inline]
pub fn encode_prefixed(input: impl AsRef<[u8]>) -> String {
    encode_after(b"0x", input.as_ref())
}

#[inline]
fn encode_after(prefix: &[u8], input: &[u8]) -> String {
    let fill = |text: &mut [u8]| {
        let (head, digits) = text.split_at_mut(prefix.len());
        head.copy_from_slice(prefix);
        dispatch::encode(input, digits);
    };
    let length = prefix.len() + 2 * input.len();
    // A copy of a word's digits costs less than memory that is zeroed first.
    let mut short = [0; 2 + 2 * 32];
    let text = if prefix.is_empty()
        && let Ok(word) = input.try_into()
        && let Some(text) = dispatch::encode_word(word)
    {
        text
    } else if let Some(text) = short.get_mut(..length) {
        fill(text);
        text.to_vec()
    } else {
        let mut text = vec![0; length];
        fill(&mut text);
        text
    };
    // SAFETY: the prefix is empty or "0x", the rest was written by an encoder: all ASCII.
    unsafe { String::from_utf8_unchecked(text) }
}

/// `0x` and the digits of `bytes`, through a small stack buffer. For `Display` and `Debug` of the byte types.
pub(crate) fn write_prefixed(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("0x")?;
    let mut buffer = [0; 128];
    for piece in bytes.chunks(buffer.len() / 2) {
        let digits = &mut buffer[..2 * piece.len()];
        dispatch::encode(piece, digits);
        f.write_str(core::str::from_utf8(digits).unwrap_or_default())?;
    }
    Ok(())
}

/// The digits of `text`, and the offset of the first one: 2 after `0x`, else 0.
#[inline]
fn split_prefix(text: &[u8]) -> (&[u8], usize) {
    match text {
        [b'0', b'x', digits @ ..] => (digits, 2),
        _ => (text, 0),
    }
}

/// Decodes `text` into `output`, all of which is written. After an error the content of `output` is unspecified.
///
/// # Errors
/// [`Error::OddLength`], then [`Error::Length`] unless there are `2 * output.len()` digits, then
/// [`Error::InvalidDigit`] at the first wrong byte.
#[inline]
pub fn decode_to_slice(text: impl AsRef<[u8]>, output: &mut [u8]) -> Result<(), Error> {
    let (digits, skipped) = split_prefix(text.as_ref());
    if !digits.len().is_multiple_of(2) || digits.len() / 2 != output.len() {
        return Err(length_error(digits.len(), output.len()));
    }
    if dispatch::decode(digits, output) {
        Ok(())
    } else {
        Err(invalid_digit(digits, skipped))
    }
}

/// Decodes exactly `N` bytes.
///
/// # Errors
/// As [`decode_to_slice`].
#[inline]
pub fn decode_to_array<const N: usize>(text: impl AsRef<[u8]>) -> Result<[u8; N], Error> {
    let mut output = [0; N];
    decode_to_slice(text, &mut output)?;
    Ok(output)
}

/// Decodes text of any even length. Allocation-free twin: [`decode_to_slice`].
///
/// # Errors
/// [`Error::OddLength`], [`Error::InvalidDigit`].
#[inline]
pub fn decode(text: impl AsRef<[u8]>) -> Result<Vec<u8>, Error> {
    let text = text.as_ref();
    let length = split_prefix(text).0.len() / 2;
    // As in `encode_after`; and nothing is allocated for a wrong text.
    let mut short = [0; 32];
    if let Some(output) = short.get_mut(..length) {
        decode_to_slice(text, output)?;
        return Ok(output.to_vec());
    }
    let mut output = vec![0; length];
    decode_to_slice(text, &mut output)?;
    Ok(output)
}

#[cold]
fn length_error(digits: usize, output: usize) -> Error {
    if !digits.is_multiple_of(2) {
        Error::OddLength { digits }
    } else {
        Error::Length {
            expected: output.saturating_mul(2),
            actual: digits,
        }
    }
}

/// Finds the byte that a backend only knows to exist.
#[cold]
fn invalid_digit(digits: &[u8], skipped: usize) -> Error {
    let at = digits
        .iter()
        .position(|byte| !byte.is_ascii_hexdigit())
        .unwrap_or(0);
    Error::InvalidDigit {
        offset: skipped + at,
        byte: digits.get(at).copied().unwrap_or(0),
    }
}
