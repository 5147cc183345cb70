//! What the CapTP layer objects to.
use core::fmt;

use super::Dialect;
use crate::syrup;

/// Why a message is none, or has no form in a dialect.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The bytes are no value, or not one of the wanted type.
    Value(syrup::ErrorKind),
    /// A record whose label no operation or descriptor of the dialect has.
    UnknownLabel,
    /// The message has no form in this dialect.
    NotInDialect(Dialect),
    /// A key or signature of another algorithm than Ed25519, or a key that is no point.
    InvalidKey,
    /// A signature that its key did not make.
    InvalidSignature,
    /// A version of the protocol other than `1.0`.
    WrongVersion,
    /// A frame that does not start with a length and a colon.
    InvalidFrame,
    /// A message longer than the limit.
    MessageTooLong,
    /// A stream that its reader has given up.
    Stopped,
    /// Text that is no locator.
    InvalidLocator,
}

/// An [`ErrorKind`] and the offset of the byte at fault: in the message or the locator, for frames in the stream. An error of
/// encoding or of a signature has none: then the offset is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Offset of the byte at fault.
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
            Self::NotInDialect(dialect) => return write!(f, "no form in the dialect {dialect}"),
            Self::UnknownLabel => "no label of an operation or descriptor that may stand here",
            Self::InvalidKey => "no Ed25519 key or signature",
            Self::InvalidSignature => "signature not made by this key",
            Self::WrongVersion => "protocol version other than 1.0",
            Self::InvalidFrame => "no length and colon where a frame starts",
            Self::MessageTooLong => "message longer than the limit",
            Self::Stopped => "stream given up",
            Self::InvalidLocator => "no OCapN locator",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.kind)
    }
}

impl core::error::Error for Error {}
