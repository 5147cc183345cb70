//! The byte format of items and outputs: fields of fixed size, length prefixes, and integers of 256 bits.

use anyhow::{Context as _, Result};
use num_bigint::BigUint;

/// A cursor over an item's fields.
pub struct Reader<'a>(
    /// The remaining bytes.
    pub &'a [u8],
);

impl<'a> Reader<'a> {
    /// Takes `len` bytes.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(len).context("the item is short")?;
        self.0 = tail;
        Ok(head)
    }
    /// Takes `N` bytes as an array.
    pub fn array<const N: usize>(&mut self) -> Result<&'a [u8; N]> {
        Ok(self.take(N)?.try_into()?)
    }
    /// Takes all remaining bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
    /// Takes a count (u32, little-endian).
    pub fn u32(&mut self) -> Result<usize> {
        Ok(u32::from_le_bytes(*self.array()?) as usize)
    }
    /// Takes a length prefix and that number of bytes.
    pub fn lp(&mut self) -> Result<&'a [u8]> {
        let len = self.u32()?;
        self.take(len)
    }
    /// Takes a little-endian integer of `len` bytes.
    pub fn le(&mut self, len: usize) -> Result<BigUint> {
        Ok(BigUint::from_bytes_le(self.take(len)?))
    }
    /// Takes a little-endian integer of 32 bytes.
    pub fn u256(&mut self) -> Result<BigUint> {
        self.le(32)
    }
    /// Takes a little-endian u64.
    pub fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(*self.array()?))
    }
    /// Takes a little-endian i64 in two's complement.
    pub fn i64(&mut self) -> Result<i64> {
        Ok(self.u64()? as i64)
    }
    /// Takes a length prefix and that number of bytes of UTF-8.
    pub fn text(&mut self) -> Result<&'a str> {
        Ok(std::str::from_utf8(self.lp()?)?)
    }
}

/// Length prefix (u32, little-endian), then the bytes; the inverse of [`Reader::lp`].
pub fn lp(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes(), bytes].concat()
}

/// The value modulo 2^256.
pub fn wrap(value: &BigUint) -> BigUint {
    value % (BigUint::from(1u32) << 256)
}

/// The value modulo 2^256 as 32 little-endian bytes.
pub fn le32(value: &BigUint) -> Vec<u8> {
    let mut bytes = wrap(value).to_bytes_le();
    bytes.resize(32, 0);
    bytes
}

/// The value modulo 2^256 as 32 big-endian bytes.
pub fn be32(value: &BigUint) -> Vec<u8> {
    let mut bytes = le32(value);
    bytes.reverse();
    bytes
}
