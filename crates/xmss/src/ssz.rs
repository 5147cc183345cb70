//! The parts of SSZ that keys and signatures need: little-endian words, offsets, lists of digests.

use alloc::vec::Vec;
use core::fmt;

use crate::hash::{DIGEST_WORDS, Digest, TweakHash};

/// Why bytes could not be decoded.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The number of bytes is wrong.
    Length {
        /// Number of bytes given.
        length: usize,
        /// Number of bytes expected.
        expected: usize,
    },
    /// A list does not hold a whole number of digests.
    List {
        /// Start of the list.
        at: usize,
        /// Length of the list in bytes.
        length: usize,
    },
    /// An offset does not point to the required position.
    Offset {
        /// Position of the offset.
        at: usize,
        /// The offset.
        offset: u32,
        /// The expected offset.
        expected: u32,
    },
    /// A word is not below p = 2^31 - 2^24 + 1.
    NotCanonical {
        /// Position of the word.
        at: usize,
    },
    /// A number is not valid at this position of a key.
    Number {
        /// Position of the number.
        at: usize,
    },
}

impl DecodeError {
    /// Offset of the offending byte, or `None` if the length is wrong.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        match *self {
            Self::List { at, .. }
            | Self::Offset { at, .. }
            | Self::NotCanonical { at }
            | Self::Number { at } => Some(at),
            Self::Length { .. } => None,
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { length, expected } => {
                write!(f, "expected {expected} bytes, found {length}")
            }
            Self::List { at, length } => {
                write!(
                    f,
                    "byte {at}: expected a whole number of digests, found a list of {length} bytes"
                )
            }
            Self::Offset {
                at,
                offset,
                expected,
            } => write!(f, "byte {at}: expected offset {expected}, found {offset}"),
            Self::NotCanonical { at } => {
                write!(f, "byte {at}: word is not below the field modulus")
            }
            Self::Number { at } => write!(f, "byte {at}: number is out of range"),
        }
    }
}

impl core::error::Error for DecodeError {}

/// How to treat words that are not field elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Canonical {
    Required,
    Reduced,
}

/// Bytes and the current read position.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Continues reading at another position.
    pub(crate) fn seek(&mut self, position: usize) {
        self.position = position;
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let array = self
            .bytes
            .get(self.position..)
            .and_then(|rest| rest.first_chunk())
            .ok_or(DecodeError::Length {
                length: self.bytes.len(),
                expected: self.position + N,
            })?;
        self.position += N;
        Ok(*array)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, DecodeError> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads an offset, which must be `expected`.
    pub(crate) fn offset(&mut self, expected: usize) -> Result<(), DecodeError> {
        let at = self.position;
        let offset = self.u32()?;
        if offset as usize == expected {
            Ok(())
        } else {
            Err(DecodeError::Offset {
                at,
                offset,
                expected: expected as u32,
            })
        }
    }

    /// Reads a number, which must be `expected`.
    pub(crate) fn number(&mut self, expected: u64) -> Result<(), DecodeError> {
        let at = self.position;
        if self.u64()? == expected {
            Ok(())
        } else {
            Err(DecodeError::Number { at })
        }
    }

    /// Reads `count` words. The rest of the array is zero.
    pub(crate) fn words<H: TweakHash, const N: usize>(
        &mut self,
        count: usize,
        canonical: Canonical,
    ) -> Result<[u32; N], DecodeError> {
        let mut words = [0; N];
        for word in &mut words[..count] {
            let at = self.position;
            *word = self.u32()?;
            if !H::is_word(*word) {
                if canonical == Canonical::Required {
                    return Err(DecodeError::NotCanonical { at });
                }
                *word = H::reduce(*word);
            }
        }
        Ok(words)
    }

    /// Reads digests up to byte `end`, which must be neither before the position nor past the end of the bytes.
    pub(crate) fn digests<H: TweakHash>(
        &mut self,
        end: usize,
        canonical: Canonical,
    ) -> Result<Vec<Digest>, DecodeError> {
        let length = end - self.position;
        if !length.is_multiple_of(4 * H::DIGEST) {
            return Err(DecodeError::List {
                at: self.position,
                length,
            });
        }
        (0..length / (4 * H::DIGEST))
            .map(|_| self.words::<H, DIGEST_WORDS>(H::DIGEST, canonical))
            .collect()
    }
}
