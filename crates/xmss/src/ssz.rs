//! The little of SSZ that keys and signatures need: little-endian words, offsets, lists of digests.

use alloc::vec::Vec;
use core::fmt;

use crate::hash::{DIGEST_WORDS, Digest, TweakHash};

/// Why bytes were refused.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes are not as many as they have to be.
    Length {
        /// Bytes given.
        length: usize,
        /// Bytes that were expected.
        expected: usize,
    },
    /// A list does not hold a whole number of digests.
    List {
        /// Where the list begins.
        at: usize,
        /// Its bytes.
        length: usize,
    },
    /// An offset does not point to where that part has to be.
    Offset {
        /// Where the offset stands.
        at: usize,
        /// The offset.
        offset: u32,
        /// What it has to be.
        expected: u32,
    },
    /// A word is not below p = 2^31 - 2^24 + 1.
    NotCanonical {
        /// Where the word stands.
        at: usize,
    },
    /// A number is not one that this key can have there.
    Number {
        /// Where the number stands.
        at: usize,
    },
}

impl DecodeError {
    /// The byte at fault; `None` where it is their number.
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
                write!(f, "{length} bytes where {expected} are due")
            }
            Self::List { at, length } => {
                write!(
                    f,
                    "byte {at}: a list of {length} bytes is no whole number of digests"
                )
            }
            Self::Offset {
                at,
                offset,
                expected,
            } => write!(f, "byte {at}: offset {offset} where {expected} is due"),
            Self::NotCanonical { at } => write!(f, "byte {at}: word not below the field's modulus"),
            Self::Number { at } => write!(f, "byte {at}: number out of range"),
        }
    }
}

impl core::error::Error for DecodeError {}

/// What to do with words that are no field elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Canonical {
    Required,
    Reduced,
}

/// Bytes and how far they have been read.
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

    /// Goes on reading at another place.
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

    /// An offset that can only be `expected`.
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

    /// A number that can only be `expected`.
    pub(crate) fn number(&mut self, expected: u64) -> Result<(), DecodeError> {
        let at = self.position;
        if self.u64()? == expected {
            Ok(())
        } else {
            Err(DecodeError::Number { at })
        }
    }

    /// `count` words; the rest of the array is zero.
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

    /// Digests up to byte `end`, which is not before the position and not past the bytes.
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
