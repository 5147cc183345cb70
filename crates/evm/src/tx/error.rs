//! The reasons why bytes or fields are not a valid transaction, or its sender cannot be recovered.
use core::fmt;

use lydite_curve::secp256k1;

use super::{Field, TransactionType};
use crate::rlp;

/// The reason why bytes or fields are not a valid transaction, or its sender cannot be recovered.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Not the canonical encoding of the fields. Offsets are measured from the start of the envelope.
    Rlp(rlp::Error),
    /// The first byte is neither a known transaction type nor the start of a list.
    UnknownType(u8),
    /// The v of a legacy transaction is not 27, 28, or at least 35 with a chain id below 2^64.
    InvalidV {
        /// Offset of v in the envelope.
        offset: usize,
    },
    /// The wrapper of a blob transaction has a version other than 1 (EIP-7594).
    UnknownWrapper(u8),
    /// A blob transaction has different numbers of blobs, commitments, proofs or versioned hashes.
    BlobCount,
    /// The sender cannot be recovered from the signature, or its s is above n / 2 (EIP-2).
    Signature(secp256k1::Error),
    /// A request lacks a field that its type requires.
    MissingField(Field),
    /// A request has a field that its type does not have.
    ForeignField(Field, TransactionType),
    /// The slices of a batch differ in length.
    Length,
}

impl From<rlp::Error> for Error {
    fn from(error: rlp::Error) -> Self {
        Self::Rlp(error)
    }
}

impl From<secp256k1::Error> for Error {
    fn from(error: secp256k1::Error) -> Self {
        Self::Signature(error)
    }
}

impl Error {
    /// Returns the offset of the invalid byte in the envelope, if the error has one.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        match self {
            Self::Rlp(error) => Some(error.offset),
            Self::UnknownType(_) => Some(0),
            Self::InvalidV { offset } => Some(*offset),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rlp(error) => error.fmt(f),
            Self::UnknownType(byte) => write!(f, "byte 0: unknown transaction type {byte:#04x}"),
            Self::InvalidV { offset } => {
                write!(
                    f,
                    "byte {offset}: expected v 27, 28, or at least 35 with a chain id below 2^64"
                )
            }
            Self::UnknownWrapper(version) => {
                write!(f, "unknown blob wrapper version {version}; expected 1")
            }
            Self::BlobCount => f.write_str(
                "numbers of blobs, commitments, proofs and versioned hashes do not match",
            ),
            Self::Signature(error) => error.fmt(f),
            Self::MissingField(Field::To) => {
                f.write_str("to: missing; this transaction type cannot create a contract")
            }
            Self::MissingField(field) => write!(f, "{}: missing", field.name()),
            Self::ForeignField(field, kind) => {
                write!(
                    f,
                    "{}: not a field of transaction type {}",
                    field.name(),
                    *kind as u8
                )
            }
            Self::Length => f.write_str("batch: expected slices of equal length"),
        }
    }
}

impl core::error::Error for Error {}
