//! Signed integers: a [`U256`] interpreted as two's complement, like the ABI's `int` types.

use super::{Error, U256, text};
use core::{cmp::Ordering, fmt, str::FromStr};

/// An integer in `-2^255 .. 2^255`, stored as the two's complement in a [`U256`].
///
/// ```
/// use lydite_bytes::{I256, U256};
///
/// assert_eq!("-1".parse::<I256>()?.0, U256::MAX);
/// assert_eq!(I256(U256::MAX - U256::ONE).to_string(), "-2");
/// assert!(I256::from(-128i64).fits(8));
/// # Ok::<(), lydite_bytes::uint::Error>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct I256(pub U256);

impl I256 {
    /// -2^255.
    pub const MIN: Self = Self(U256([0, 0, 0, 1 << 63]));
    /// 2^255 - 1.
    pub const MAX: Self = Self(U256([u64::MAX, u64::MAX, u64::MAX, u64::MAX >> 1]));

    /// Whether the value is below 0.
    #[inline]
    pub const fn is_negative(&self) -> bool {
        self.0.0[3] >> 63 == 1
    }

    /// Returns the absolute value; 2^255 for [`I256::MIN`].
    #[inline]
    pub const fn unsigned_abs(&self) -> U256 {
        if self.is_negative() {
            self.0.wrapping_neg()
        } else {
            self.0
        }
    }

    /// Whether the value is in `-2^(bits - 1) .. 2^(bits - 1)`, the range of the ABI's `int<bits>`.
    #[inline]
    pub fn fits(&self, bits: u32) -> bool {
        let magnitude = if self.is_negative() { !self.0 } else { self.0 };
        magnitude.bit_len() < bits
    }
}

impl Ord for I256 {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0 ^ Self::MIN.0).cmp(&(other.0 ^ Self::MIN.0))
    }
}

impl PartialOrd for I256 {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<i64> for I256 {
    #[inline]
    fn from(value: i64) -> Self {
        Self::from(i128::from(value))
    }
}

impl From<i128> for I256 {
    #[inline]
    fn from(value: i128) -> Self {
        let sign = (value >> 127) as u64;
        Self(U256([value as u64, (value >> 64) as u64, sign, sign]))
    }
}

impl FromStr for I256 {
    type Err = Error;

    /// Parses an optional `-` followed by a number in the form of [`U256`]: `-12`, `-0x80`.
    fn from_str(digits: &str) -> Result<Self, Error> {
        let negative = digits.starts_with('-');
        let magnitude = text::parse(digits.as_bytes(), usize::from(negative))?;
        if magnitude > Self::MIN.0 || (magnitude == Self::MIN.0 && !negative) {
            return Err(Error::Overflow);
        }
        Ok(Self(if negative {
            magnitude.wrapping_neg()
        } else {
            magnitude
        }))
    }
}

impl fmt::Display for I256 {
    /// Displays the value in decimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad_integral(
            !self.is_negative(),
            "",
            text::decimal_text(self.unsigned_abs(), &mut [0; U256::DECIMAL_BUFFER]),
        )
    }
}

impl fmt::Debug for I256 {
    /// Same as `Display`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
