//! Errors of decoders and encoders, with their positions.
use core::fmt;

/// Why bytes are not the canonical encoding of the expected value, or why a value has no encoding.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The input ends before the value does.
    UnexpectedEnd,
    /// A byte that starts no value, or is not allowed at this position.
    UnexpectedByte,
    /// A number or length with a leading zero.
    LeadingZero,
    /// `0-`.
    NegativeZero,
    /// A NaN other than the canonical one.
    NotCanonicalNan,
    /// A string or symbol that is not UTF-8.
    InvalidUtf8,
    /// A key or set member that sorts before the preceding one.
    NotSorted,
    /// A duplicate key or set member.
    Duplicate,
    /// A key without a value.
    MissingValue,
    /// A record without a label.
    MissingLabel,
    /// Containers nested deeper than the limit.
    TooDeep,
    /// More values than [`Limits::values`](super::Limits::values), which bounds memory.
    TooManyValues,
    /// More bytes than the limit.
    TooLong,
    /// Bytes after the value.
    TrailingBytes,
    /// A value of an unexpected type.
    WrongType,
    /// An integer too large for its type, or negative where that is not allowed.
    IntegerOutOfRange,
    /// A byte array, list or record of an unexpected length.
    WrongLength,
    /// A record with an unexpected label, or an unexpected symbol.
    WrongLabel,
    /// An unexpected key.
    WrongKey,
    /// The caller's buffer is shorter than the encoding. The offset is the required length.
    BufferTooSmall,
}

/// An [`ErrorKind`] and the offset of the offending byte from the start of the input. For encoding errors the offset is
/// 0, unless the kind specifies otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of error.
    pub kind: ErrorKind,
    /// Offset of the offending byte.
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
            Self::UnexpectedEnd => "unexpected end of input",
            Self::UnexpectedByte => "unexpected byte",
            Self::LeadingZero => "leading zero",
            Self::NegativeZero => "negative zero",
            Self::NotCanonicalNan => "not the canonical NaN",
            Self::InvalidUtf8 => "text is not valid UTF-8",
            Self::NotSorted => "key or set member out of order",
            Self::Duplicate => "duplicate key or set member",
            Self::MissingValue => "key without a value",
            Self::MissingLabel => "record without a label",
            Self::TooDeep => "containers are nested deeper than the limit",
            Self::TooManyValues => "more values than the limit",
            Self::TooLong => "length exceeds the limit",
            Self::TrailingBytes => "unexpected bytes after the value",
            Self::WrongType => "value is not of the expected type",
            Self::IntegerOutOfRange => "integer out of range for its type",
            Self::WrongLength => "length does not match the type",
            Self::WrongLabel => "unexpected label or symbol",
            Self::WrongKey => "unexpected key",
            Self::BufferTooSmall => "buffer is too small",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ErrorKind::BufferTooSmall => {
                write!(f, "{}: expected at least {} bytes", self.kind, self.offset)
            }
            kind => write!(f, "byte {}: {kind}", self.offset),
        }
    }
}

impl core::error::Error for Error {}
