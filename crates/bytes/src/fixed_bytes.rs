//! Byte strings of a length known at compile time.

#![forbid(unsafe_code)]

use crate::hex;
use core::{
    fmt,
    ops::{Deref, DerefMut},
    str::FromStr,
};

/// `N` bytes, parsed and displayed as `0x` and `2 * N` hexadecimal digits.
///
/// ```
/// use lydite_bytes::FixedBytes;
///
/// let selector: FixedBytes<4> = "0xa9059cbb".parse()?;
/// assert_eq!(selector.0, [0xa9, 0x05, 0x9c, 0xbb]);
/// assert_eq!(selector.to_string(), "0xa9059cbb");
/// # Ok::<(), lydite_bytes::hex::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct FixedBytes<const N: usize>(pub [u8; N]);

/// A hash or any other 32-byte word.
pub type B256 = FixedBytes<32>;

impl<const N: usize> FixedBytes<N> {
    /// All bytes zero.
    pub const ZERO: Self = Self([0; N]);

    /// Returns the bytes as a slice.
    #[inline]
    pub const fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

impl<const N: usize> Default for FixedBytes<N> {
    #[inline]
    fn default() -> Self {
        Self::ZERO
    }
}

impl<const N: usize> Deref for FixedBytes<N> {
    type Target = [u8; N];

    #[inline]
    fn deref(&self) -> &[u8; N] {
        &self.0
    }
}

impl<const N: usize> DerefMut for FixedBytes<N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8; N] {
        &mut self.0
    }
}

impl<const N: usize> AsRef<[u8]> for FixedBytes<N> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<const N: usize> From<[u8; N]> for FixedBytes<N> {
    #[inline]
    fn from(bytes: [u8; N]) -> Self {
        Self(bytes)
    }
}

impl<const N: usize> From<FixedBytes<N>> for [u8; N] {
    #[inline]
    fn from(bytes: FixedBytes<N>) -> Self {
        bytes.0
    }
}

impl<const N: usize> TryFrom<&[u8]> for FixedBytes<N> {
    type Error = core::array::TryFromSliceError;

    #[inline]
    fn try_from(bytes: &[u8]) -> Result<Self, Self::Error> {
        bytes.try_into().map(Self)
    }
}

impl<const N: usize> PartialEq<[u8; N]> for FixedBytes<N> {
    #[inline]
    fn eq(&self, other: &[u8; N]) -> bool {
        self.0 == *other
    }
}

impl<const N: usize> PartialEq<FixedBytes<N>> for [u8; N] {
    #[inline]
    fn eq(&self, other: &FixedBytes<N>) -> bool {
        *self == other.0
    }
}

impl<const N: usize> PartialEq<[u8]> for FixedBytes<N> {
    #[inline]
    fn eq(&self, other: &[u8]) -> bool {
        self.0 == *other
    }
}

impl<const N: usize> FromStr for FixedBytes<N> {
    type Err = hex::Error;

    #[inline]
    fn from_str(text: &str) -> Result<Self, hex::Error> {
        hex::decode_to_array(text).map(Self)
    }
}

impl<const N: usize> fmt::Display for FixedBytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write_prefixed(f, &self.0)
    }
}

impl<const N: usize> fmt::Debug for FixedBytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write_prefixed(f, &self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;
    use alloc::{format, string::ToString};

    #[test]
    fn text_round_trip() {
        let word = B256::from(core::array::from_fn(|i| i as u8 * 7));
        assert_eq!(word.to_string().parse::<B256>().unwrap(), word);
        assert_eq!(format!("{word:?}"), word.to_string());
        assert_eq!(FixedBytes::<0>::ZERO.to_string(), "0x");
        assert_eq!(
            "0x00".parse::<B256>(),
            Err(hex::Error::Length {
                expected: 64,
                actual: 2
            })
        );
        // Longer than the formatter's stack buffer.
        let long = FixedBytes([0xa5; 200]);
        assert_eq!(long.to_string(), format!("0x{}", "a5".repeat(200)));
    }

    #[test]
    fn from_slice_checks_the_length() {
        assert_eq!(FixedBytes::<2>::try_from(&[1, 2][..]).unwrap().0, [1, 2]);
        assert!(FixedBytes::<2>::try_from(&[1][..]).is_err());
    }
}
