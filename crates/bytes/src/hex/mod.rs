//! Hexadecimal text: two characters per byte, high nibble first. Written in lower case, read in either case.
//!
//! Decoders accept one optional `0x` prefix (not `0X`). Error offsets are measured from the start of the given text,
//! including the prefix.
//!
//! ```
//! use lydite_bytes::hex;
//!
//! assert_eq!(hex::encode([0xde, 0xad]), "dead");
//! assert_eq!(hex::decode("0xDEad")?, [0xde, 0xad]);
//! assert_eq!(hex::decode("0xdexd").unwrap_err().to_string(), "byte 4: expected a hexadecimal digit, found 0x78");
//! # Ok::<(), hex::Error>(())
//! ```
//!
//! Constant time: no. The tables and the early exit on an invalid byte are not suitable for secrets.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod dispatch;
pub(crate) mod portable;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
#[cfg(all(target_arch = "x86_64", not(lydite_backend = "portable")))]
mod x86_64;

use alloc::{string::String, vec::Vec};
use core::{fmt, mem::MaybeUninit};
use dispatch::place;

/// The reason why a text is not hexadecimal or does not fit.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The byte at `offset` of the text is not in `0-9a-fA-F`.
    InvalidDigit {
        /// Offset in the text, including the prefix.
        offset: usize,
        /// The invalid byte.
        byte: u8,
    },
    /// The text has an odd number of digits.
    OddLength {
        /// Number of digits, excluding the prefix.
        digits: usize,
    },
    /// The lengths of source and destination do not match.
    Length {
        /// Digits that the destination of a decoder requires, or characters that the source of an encoder requires.
        expected: usize,
        /// Actual number of digits or characters.
        actual: usize,
    },
}

impl Error {
    /// Returns the offset of the invalid byte; `None` if the length is wrong.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        match *self {
            Self::InvalidDigit { offset, .. } => Some(offset),
            Self::OddLength { .. } | Self::Length { .. } => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::InvalidDigit { offset, byte } => {
                write!(
                    f,
                    "byte {offset}: expected a hexadecimal digit, found {byte:#04x}"
                )
            }
            Self::OddLength { digits } => {
                write!(
                    f,
                    "expected an even number of hexadecimal digits, found {digits}"
                )
            }
            Self::Length { expected, actual } => {
                write!(f, "expected {expected} hexadecimal digits, found {actual}")
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
    dispatch::encode(input, place(output));
    Ok(())
}

/// [`encode_to_slice`] with lengths that match at compile time.
#[inline]
pub(crate) fn encode_fixed<const N: usize, const DIGITS: usize>(
    input: &[u8; N],
    output: &mut [u8; DIGITS],
) {
    const { assert!(DIGITS == 2 * N) };
    dispatch::encode(input, place(output));
}

/// Returns the lower-case digits of `input`, without prefix. [`encode_to_slice`] does not allocate.
#[inline]
pub fn encode(input: impl AsRef<[u8]>) -> String {
    encode_after(b"", input.as_ref())
}

/// Returns `0x` and the lower-case digits of `input`.
#[inline]
pub fn encode_prefixed(input: impl AsRef<[u8]>) -> String {
    encode_after(b"0x", input.as_ref())
}

#[inline]
fn encode_after(prefix: &[u8], input: &[u8]) -> String {
    let length = prefix.len() + 2 * input.len();
    let mut text = Vec::with_capacity(length);
    text.extend_from_slice(prefix);
    dispatch::encode(input, &mut text.spare_capacity_mut()[..2 * input.len()]);
    // SAFETY: this many bytes have been written: the prefix, and all digits by the encoder. They are ASCII, because the
    // prefix is empty or "0x".
    unsafe {
        text.set_len(length);
        String::from_utf8_unchecked(text)
    }
}

/// Writes `0x` and the digits of `bytes`, through a small stack buffer. For `Display` and `Debug` of the byte types.
pub(crate) fn write_prefixed(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("0x")?;
    let mut buffer = [0; 128];
    for piece in bytes.chunks(buffer.len() / 2) {
        let digits = &mut buffer[..2 * piece.len()];
        dispatch::encode(piece, place(digits));
        f.write_str(core::str::from_utf8(digits).unwrap_or_default())?;
    }
    Ok(())
}

/// Returns the digits of `text`, and the offset of the first one: 2 after `0x`, else 0.
#[inline]
fn split_prefix(text: &[u8]) -> (&[u8], usize) {
    match text {
        [b'0', b'x', digits @ ..] => (digits, 2),
        _ => (text, 0),
    }
}

/// Decodes `text` into `output`, all of which is written. After an error the contents of `output` are unspecified.
///
/// # Errors
/// [`Error::OddLength`]; then [`Error::Length`] unless there are `2 * output.len()` digits; then
/// [`Error::InvalidDigit`] at the first invalid byte.
#[inline]
pub fn decode_to_slice(text: impl AsRef<[u8]>, output: &mut [u8]) -> Result<(), Error> {
    decode_exact(text.as_ref(), place(output))
}

/// Like [`decode_to_slice`], into uninitialised memory. All of `output` is written unless there is an error.
///
/// A text of the right length is not checked for a prefix: the `x` of a prefix would be an invalid digit, and the wrong
/// length is then detected off the hot path. There is one path per length, so that a known length stays known where
/// this is inlined.
#[inline]
fn decode_exact(text: &[u8], output: &mut [MaybeUninit<u8>]) -> Result<(), Error> {
    let length = output.len();
    let fits = |digits: &[u8]| digits.len().is_multiple_of(2) && digits.len() / 2 == length;
    let decoded = if fits(text) {
        dispatch::decode(text, output)
    } else {
        match text {
            [b'0', b'x', digits @ ..] if fits(digits) => dispatch::decode(digits, output),
            _ => false,
        }
    };
    if decoded {
        Ok(())
    } else {
        Err(decode_error(text, length))
    }
}

/// Decodes exactly `N` bytes.
///
/// # Errors
/// Those of [`decode_to_slice`].
#[inline]
pub fn decode_to_array<const N: usize>(text: impl AsRef<[u8]>) -> Result<[u8; N], Error> {
    let mut output = MaybeUninit::<[u8; N]>::uninit();
    // SAFETY: same memory, size and alignment; `MaybeUninit<u8>` does not require initialisation.
    let place: &mut [MaybeUninit<u8>; N] = unsafe { &mut *output.as_mut_ptr().cast() };
    decode_exact(text.as_ref(), place)?;
    // SAFETY: on success the decoder has written all of it.
    Ok(unsafe { output.assume_init() })
}

/// Decodes text of any even length. [`decode_to_slice`] does not allocate.
///
/// # Errors
/// [`Error::OddLength`] or [`Error::InvalidDigit`].
#[inline]
pub fn decode(text: impl AsRef<[u8]>) -> Result<Vec<u8>, Error> {
    let text = text.as_ref();
    let decoded = |length: usize| {
        let mut output = Vec::with_capacity(length);
        decode_exact(text, &mut output.spare_capacity_mut()[..length])?;
        // SAFETY: on success the decoder has written `length` bytes.
        unsafe { output.set_len(length) };
        Ok(output)
    };
    match split_prefix(text) {
        (digits, 0) => decoded(digits.len() / 2),
        (digits, _) => decoded(digits.len() / 2),
    }
}

/// Returns the error for `text` that does not decode to `output` bytes.
#[cold]
#[inline(never)]
fn decode_error(text: &[u8], output: usize) -> Error {
    let (digits, skipped) = split_prefix(text);
    if !digits.len().is_multiple_of(2) {
        return Error::OddLength {
            digits: digits.len(),
        };
    }
    if digits.len() / 2 != output {
        return Error::Length {
            expected: output.saturating_mul(2),
            actual: digits.len(),
        };
    }
    let at = digits
        .iter()
        .position(|byte| !byte.is_ascii_hexdigit())
        .unwrap_or(0);
    Error::InvalidDigit {
        offset: skipped + at,
        byte: digits.get(at).copied().unwrap_or(0),
    }
}
