//! What a decoder or an encoder objects to, and where.
use core::fmt;

/// Why the bytes are not the canonical encoding of the wanted value, or the value has none.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The input ends before the value does.
    UnexpectedEnd,
    /// A byte that no value starts with, or that cannot stand here.
    UnexpectedByte,
    /// A number or a length that begins with a needless zero.
    LeadingZero,
    /// `0-`.
    NegativeZero,
    /// A NaN other than the canonical one.
    NotCanonicalNan,
    /// A string or symbol that is not UTF-8.
    InvalidUtf8,
    /// A key or a member of a set that belongs before the one that precedes it.
    NotSorted,
    /// A key or a member of a set that was there already.
    Duplicate,
    /// A key without a value.
    MissingValue,
    /// A record without a label.
    MissingLabel,
    /// More containers inside each other than the limit.
    TooDeep,
    /// More values than [`Limits::values`](super::Limits::values), which bounds memory.
    TooManyValues,
    /// More bytes than the limit.
    TooLong,
    /// Bytes after the value.
    TrailingBytes,
    /// A value of another type than wanted.
    WrongType,
    /// An integer too large for its type, or negative where that is not allowed.
    IntegerOutOfRange,
    /// A byte array, list or record of another length than wanted.
    WrongLength,
    /// A record with another label than wanted, or another symbol.
    WrongLabel,
    /// A key other than the wanted one.
    WrongKey,
    /// The caller's buffer is shorter than the encoding; the offset is the length it needs.
    BufferTooSmall,
}

/// An [`ErrorKind`] and the offset of the byte at fault from the start of the input. Of an encoding that failed there is
/// no input: then the offset is 0, unless the kind says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Offset of the byte at fault.
    pub offset: usize,
}

impl ErrorKind {
    #[inline]
    pub(crate) const fn at(self, offset: usize) -> Error {
        Error { kind: self, offset }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnexpectedEnd => "input ends inside a value",
            Self::UnexpectedByte => "unexpected byte",
            Self::LeadingZero => "leading zero",
            Self::NegativeZero => "negative zero",
            Self::NotCanonicalNan => "NaN not canonical",
            Self::InvalidUtf8 => "text not UTF-8",
            Self::NotSorted => "key or member out of order",
            Self::Duplicate => "key or member twice",
            Self::MissingValue => "key without a value",
            Self::MissingLabel => "record without a label",
            Self::TooDeep => "nested too deep",
            Self::TooManyValues => "more values than the limit",
            Self::TooLong => "too long",
            Self::TrailingBytes => "bytes after the end",
            Self::WrongType => "value of another type",
            Self::IntegerOutOfRange => "integer out of range",
            Self::WrongLength => "wrong length",
            Self::WrongLabel => "another label",
            Self::WrongKey => "another key",
            Self::BufferTooSmall => "buffer too small",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ErrorKind::BufferTooSmall => write!(f, "{}, {} bytes needed", self.kind, self.offset),
            kind => write!(f, "byte {}: {kind}", self.offset),
        }
    }
}

impl core::error::Error for Error {}
