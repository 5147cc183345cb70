//! Reference outputs, computed by slow readable code that shares nothing with the library under test: tiny-keccak,
//! k256, num-bigint, and encoders written from the specifications. The vectors of `vectors/` test all of it.

pub mod abi;
pub mod eip712;
pub mod rlp;
pub mod secp256k1;
pub mod transaction;
pub mod trie;

use anyhow::{Context as _, Result, ensure};
use num_bigint::BigUint;
use tiny_keccak::{Hasher as _, Keccak};

/// The expected output of one call: what `verify` must write, and what `run` must add to its checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The output blob.
    pub bytes: Vec<u8>,
    /// Wrapping sum of its 64-bit words, with each part zero-padded separately.
    pub sum: u64,
}

impl Expected {
    /// The output consisting of these parts.
    pub fn of(parts: &[Vec<u8>]) -> Self {
        Self {
            sum: parts
                .iter()
                .fold(0, |sum, part| sum.wrapping_add(word_sum(part))),
            bytes: parts.concat(),
        }
    }
}

/// Wrapping sum of the little-endian 64-bit words of one part, zero-padded to whole words.
pub fn word_sum(part: &[u8]) -> u64 {
    part.chunks(8).fold(0, |sum, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum.wrapping_add(u64::from_le_bytes(word))
    })
}

/// The expected checksum of `n` calls over these items, where call `k` works on item `k mod items`.
pub fn predict(expected: &[Expected], n: u64) -> u64 {
    let items = expected.len() as u64;
    let sum = |items: &[Expected]| {
        items
            .iter()
            .fold(0u64, |sum, item| sum.wrapping_add(item.sum))
    };
    let rest = (n % items) as usize;
    sum(expected)
        .wrapping_mul(n / items)
        .wrapping_add(sum(&expected[..rest]))
}

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

/// Keccak-256.
pub fn keccak256(data: &[u8]) -> [u8; 32] {
    let mut hasher = Keccak::v256();
    let mut out = [0; 32];
    hasher.update(data);
    hasher.finalize(&mut out);
    out
}

/// Lowercase hexadecimal without a prefix.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The checksum address of EIP-55.
pub fn checksum(address: &[u8]) -> String {
    let digits = hex(address);
    let hash = hex(&keccak256(digits.as_bytes()));
    let mixed = digits.chars().zip(hash.chars()).map(|(digit, nibble)| {
        if nibble >= '8' {
            digit.to_ascii_uppercase()
        } else {
            digit
        }
    });
    format!("0x{}", mixed.collect::<String>())
}

/// Decodes hexadecimal text in either case, without a prefix.
pub fn unhex(text: &[u8]) -> Result<Vec<u8>> {
    ensure!(text.len().is_multiple_of(2), "an odd number of digits");
    let digit = |c: u8| (c as char).to_digit(16).context("not a digit");
    text.chunks(2)
        .map(|pair| Ok((digit(pair[0])? * 16 + digit(pair[1])?) as u8))
        .collect()
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
