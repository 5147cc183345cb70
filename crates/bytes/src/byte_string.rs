//! Byte strings of any length.

#![forbid(unsafe_code)]

use crate::hex;
use alloc::vec::Vec;
use core::{
    fmt,
    ops::{Deref, DerefMut},
    str::FromStr,
};

/// Owned bytes, parsed and displayed as `0x` and two hexadecimal digits per byte.
///
/// ```
/// use lydite_bytes::Bytes;
///
/// let data: Bytes = "0x68656c6c6f".parse()?;
/// assert_eq!(&data[..], b"hello");
/// assert_eq!(data.to_string(), "0x68656c6c6f");
/// # Ok::<(), lydite_bytes::hex::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    /// Creates an empty byte string.
    pub const fn new() -> Self {
        Self(Vec::new())
    }
}

impl Deref for Bytes {
    type Target = Vec<u8>;

    #[inline]
    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Bytes {
    #[inline]
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl AsRef<[u8]> for Bytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Bytes {
    #[inline]
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<Bytes> for Vec<u8> {
    #[inline]
    fn from(bytes: Bytes) -> Self {
        bytes.0
    }
}

impl From<&[u8]> for Bytes {
    #[inline]
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl<const N: usize> From<[u8; N]> for Bytes {
    #[inline]
    fn from(bytes: [u8; N]) -> Self {
        Self(bytes.into())
    }
}

impl FromStr for Bytes {
    type Err = hex::Error;

    #[inline]
    fn from_str(text: &str) -> Result<Self, hex::Error> {
        hex::decode(text).map(Self)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write_prefixed(f, &self.0)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write_prefixed(f, &self.0)
    }
}
