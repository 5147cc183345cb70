//! Errors of the CapTP layer.
use core::fmt;

use super::Dialect;
use crate::syrup;

/// Why bytes are not a valid message, or cannot be expressed in a dialect.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The bytes are not a valid value, or not one of the expected type.
    Value(syrup::ErrorKind),
    /// A record whose label is not that of an operation or descriptor in this dialect.
    UnknownLabel,
    /// The message has no form in this dialect.
    NotInDialect(Dialect),
    /// A key or signature of an algorithm other than Ed25519, or a key that is not a curve point.
    InvalidKey,
    /// A signature that was not made by this key.
    InvalidSignature,
    /// A protocol version other than `1.0`.
    WrongVersion,
    /// A frame that does not start with a length and a colon.
    InvalidFrame,
    /// A message longer than the limit.
    MessageTooLong,
    /// The stream failed earlier and can no longer be read.
    Stopped,
    /// Text that is not a locator.
    InvalidLocator,
}

/// An [`ErrorKind`] and the offset of the offending byte: in the message or locator, or in the stream for frames.
/// Errors in encoding and signatures have offset 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of error.
    pub kind: ErrorKind,
    /// Offset of the offending byte.
    pub offset: usize,
}

impl ErrorKind {
    pub(super) const fn at(self, offset: usize) -> Error {
        Error { kind: self, offset }
    }
}

impl From<syrup::Error> for Error {
    #[inline(always)]
    fn from(error: syrup::Error) -> Self {
        ErrorKind::Value(error.kind).at(error.offset)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value(kind) => return kind.fmt(f),
            Self::NotInDialect(dialect) => {
                return write!(f, "cannot be expressed in the dialect {dialect}");
            }
            Self::UnknownLabel => "expected the label of an operation or descriptor allowed here",
            Self::InvalidKey => "expected an Ed25519 key or signature",
            Self::InvalidSignature => "signature is not valid for this key",
            Self::WrongVersion => "expected protocol version 1.0",
            Self::InvalidFrame => "expected a length and a colon at the start of the frame",
            Self::MessageTooLong => "message is longer than the limit",
            Self::Stopped => "stream failed earlier and can no longer be read",
            Self::InvalidLocator => "expected an OCapN locator",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.kind)
    }
}

impl core::error::Error for Error {}
