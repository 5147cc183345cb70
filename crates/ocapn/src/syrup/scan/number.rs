//! Decimal numbers: lengths and the magnitudes of integers.

use super::{LENIENT, STRICT};
use crate::syrup::{Error, ErrorKind};

/// A decimal number and the marker after it.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    /// The value, if it fits in 64 bits.
    pub value: Option<u64>,
    /// Number of digits.
    pub digits: usize,
    /// The byte after the digits.
    pub marker: u8,
}

/// The top bit of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Parses the number at the start of `rest`, which must start with a digit. Error offsets are relative to `rest`.
#[inline(always)]
pub(crate) fn number<const MODE: u8>(rest: &[u8]) -> Result<Number, Error> {
    match short_number::<MODE>(rest) {
        Some((value, digits, marker, _)) => Ok(Number {
            value: Some(value),
            digits,
            marker,
        }),
        None => long_number::<MODE>(rest),
    }
}

/// Returns value, digit count and marker of a number of at most seven digits, and the bytes after it.
#[inline(always)]
pub(super) fn short_number<const MODE: u8>(rest: &[u8]) -> Option<(u64, usize, u8, &[u8])> {
    // One and two digits are handled with branches: if these are predicted, the code that follows need not wait for the
    // arithmetic.
    if let [digit, marker, tail @ ..] = rest
        && !marker.is_ascii_digit()
    {
        return Some((u64::from(digit & 15), 1, *marker, tail));
    }
    if let [tens, ones, marker, tail @ ..] = rest
        && !marker.is_ascii_digit()
        && (MODE == LENIENT || *tens != b'0')
    {
        let value = u64::from(tens & 15) * 10 + u64::from(ones & 15);
        return Some((value, 2, *marker, tail));
    }
    let window = rest.first_chunk()?;
    let (digits @ 2..8, values) = digits(*window) else {
        return None;
    };
    if MODE != LENIENT && values & 0xff == 0 {
        return None;
    }
    let marker = u64::from_le_bytes(*window) >> (8 * digits);
    let tail = &rest[digits + 1..];
    Some((total(values, digits), digits, marker as u8, tail))
}

/// Returns sign, magnitude and length of the integer at the start of `rest`, if it is canonical, has at most seven
/// digits and `rest` has at least eight bytes. No branch depends on its sign or length, which are hard to predict.
#[inline(always)]
pub(crate) fn small(rest: &[u8]) -> Option<(bool, u64, usize)> {
    let window = rest.first_chunk()?;
    let (digits @ 1..8, values) = digits(*window) else {
        return None;
    };
    let marker = u64::from_le_bytes(*window) >> (8 * digits);
    let (negative, value) = integer(values, digits, marker as u8)?;
    Some((negative, value, digits + 1))
}

/// Returns sign and magnitude of a number of one to seven digits with this marker, if it is a canonical integer.
#[inline(always)]
pub(super) fn integer(values: u64, digits: usize, marker: u8) -> Option<(bool, u64)> {
    const PLUS: u64 = (b'+' ^ b'0') as u64;
    let negative = marker == b'-';
    // `0+` is the only canonical integer that starts with a zero.
    let leading = (values & 0xff == 0) & (values & 0xff00 != PLUS << 8);
    (((marker == b'+') | negative) & !leading).then(|| (negative, total(values, digits)))
}

/// Returns the number of leading digits in the window, and each byte as a digit value.
#[inline(always)]
const fn digits(window: [u8; 8]) -> (usize, u64) {
    let values = values(window);
    (other_bytes(values).trailing_zeros() as usize / 8, values)
}

/// Converts each byte to its digit value.
#[inline(always)]
pub(super) const fn values(window: [u8; 8]) -> u64 {
    u64::from_le_bytes(window) ^ 0x3030_3030_3030_3030
}

/// Sets the top bit of each byte that is not a digit.
#[inline(always)]
const fn other_bytes(values: u64) -> u64 {
    (((values & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676) | values) & HIGH
}

/// The value of the first `digits` digits, one to eight.
#[inline(always)]
const fn total(values: u64, digits: usize) -> u64 {
    // Shift the digits to the top, with zeros below, then combine pairs, fours and all eight.
    let padded = values << (64 - 8 * digits);
    let pairs = padded.wrapping_mul(10).wrapping_add(padded >> 8);
    const MASK: u64 = 0x0000_00ff_0000_00ff;
    let low = (pairs & MASK).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & MASK).wrapping_mul(0x0000_2710_0000_0001);
    (low.wrapping_add(high) >> 32) as u32 as u64
}

/// Parses the decimal number at the start of `input`, an integer's magnitude or a length. Returns it and the marker
/// after it.
///
/// # Errors
///
/// [`ErrorKind::UnexpectedByte`] if `input` does not start with a digit; [`ErrorKind::LeadingZero`];
/// [`ErrorKind::IntegerOutOfRange`] if the number does not fit in a `u64`; [`ErrorKind::UnexpectedEnd`] if no marker
/// follows.
///
/// ```
/// use lydite_ocapn::syrup;
///
/// assert_eq!(syrup::decimal(b"1234:"), Ok((1234, b':')));
/// assert_eq!(syrup::decimal(b"007+").unwrap_err().to_string(), "byte 0: leading zero");
/// ```
#[inline(always)]
pub fn decimal(input: &[u8]) -> Result<(u64, u8), Error> {
    match input.first() {
        Some(first) if first.is_ascii_digit() => {
            // A call would take as long as a few digits.
            let number = match input.len() {
                ..8 => any_number::<STRICT>(input)?,
                _ => number::<STRICT>(input)?,
            };
            let value = number.value.ok_or(ErrorKind::IntegerOutOfRange.at(0))?;
            Ok((value, number.marker))
        }
        Some(_) => Err(ErrorKind::UnexpectedByte.at(0)),
        None => Err(ErrorKind::UnexpectedEnd.at(0)),
    }
}

/// Parses a number of eight or more digits, or one with fewer than eight bytes of input.
#[inline(never)]
pub(super) fn long_number<const MODE: u8>(rest: &[u8]) -> Result<Number, Error> {
    any_number::<MODE>(rest)
}

/// Parses a number, eight digits at a time, then one at a time.
#[inline(always)]
fn any_number<const MODE: u8>(rest: &[u8]) -> Result<Number, Error> {
    let (mut value, mut last) = (0u64, rest);
    while let Some((window, after)) = last.split_first_chunk()
        && let (8, values) = digits(*window)
    {
        value = value.wrapping_mul(100_000_000);
        value = value.wrapping_add(total(values, 8));
        last = after;
    }
    for (index, &marker) in last.iter().enumerate() {
        let digit = marker.wrapping_sub(b'0');
        if digit < 10 {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            continue;
        }
        let digits = rest.len() - last.len() + index;
        // Up to 19 digits cannot have wrapped. More than 20 do not fit, unless there are leading zeros.
        let value = match digits {
            ..=19 => Some(value),
            20 => checked(&rest[..digits]),
            _ if MODE == LENIENT => checked(&rest[..digits]),
            _ => None,
        };
        if MODE != LENIENT && digits > 1 && rest[0] == b'0' {
            return Err(ErrorKind::LeadingZero.at(0));
        }
        return Ok(Number {
            value,
            digits,
            marker,
        });
    }
    Err(ErrorKind::UnexpectedEnd.at(rest.len()))
}

/// The value of the digits, if it fits in 64 bits.
#[cold]
fn checked(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |value, digit| {
        value.checked_mul(10)?.checked_add(u64::from(digit & 15))
    })
}

/// Whether the number at the start of `rest` fits in 64 bits. `value` is `u64::MAX` if it does not.
#[inline(always)]
pub(super) fn fits<const MODE: u8>(value: u64, digits: usize, rest: &[u8]) -> bool {
    value < u64::MAX || is_largest::<MODE>(&rest[..digits])
}

#[cold]
#[inline(never)]
fn is_largest<const MODE: u8>(digits: &[u8]) -> bool {
    (MODE == LENIENT || digits.len() == 20) && checked(digits).is_some()
}
