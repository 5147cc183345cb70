//! The error type of the module: the kind of error and the byte at which it occurred.

use core::fmt;

/// The kind of an error.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The type or signature text is not valid Solidity.
    Syntax,
    /// A type is nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH) levels.
    TooDeep,
    /// More than [`MAX_TYPES`](super::MAX_TYPES) types in one text.
    TooManyTypes,
    /// More than [`MAX_VALUES`](super::MAX_VALUES) values in one text.
    TooManyValues,
    /// A type's head does not fit in memory, or an array's elements take no bytes.
    Size,
    /// The data ends before the item does.
    Truncated,
    /// An offset points outside the data.
    Offset,
    /// A length extends beyond the data.
    Length,
    /// The decoded items add up to more than a small multiple of the data, because offsets are reused.
    Budget,
    /// Padding bytes are not zero, or not equal to the sign.
    Padding,
    /// An integer does not fit its type.
    Range,
    /// A boolean is neither 0 nor 1.
    Bool,
    /// A string is not UTF-8.
    Utf8,
    /// Canonical decoding: an item is not at the position where `encode` puts it.
    NotCanonical,
    /// A value does not have the shape of its type. The offset is that of its head or of its text.
    Mismatch,
    /// The topics of a log or the selector of a call do not match the type.
    Selector,
    /// The caller's buffer is too short. The offset is the required length.
    Buffer,
}

/// An error, with its position in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of error.
    pub kind: ErrorKind,
    /// The byte of the input (data or text) at which it occurred; see [`ErrorKind`] for exceptions.
    pub offset: usize,
}

impl Error {
    #[cold]
    pub(crate) const fn new(kind: ErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// Moves an error in data after a prefix of this length.
    pub(crate) const fn after(self, prefix: usize) -> Self {
        Self {
            offset: self.offset + prefix,
            ..self
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "expected a Solidity type or signature",
            Self::TooDeep => "expected at most 64 levels of nesting",
            Self::TooManyTypes => "expected at most 65536 types",
            Self::TooManyValues => "expected at most 16777216 values",
            Self::Size => "type is too large, or its array elements take no bytes",
            Self::Truncated => "unexpected end of data",
            Self::Offset => "offset points outside the data",
            Self::Length => "length exceeds the data",
            Self::Budget => "reused offsets: decoded items far exceed the data",
            Self::Padding => "padding is not zero",
            Self::Range => "integer out of range for its type",
            Self::Bool => "expected a boolean (0 or 1)",
            Self::Utf8 => "string is not valid UTF-8",
            Self::NotCanonical => "item is not at its position in the canonical encoding",
            Self::Mismatch => "value does not match the type",
            Self::Selector => "selector or topics do not match the type",
            Self::Buffer => "buffer is too small",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ErrorKind::Buffer => {
                write!(f, "{}: expected at least {} bytes", self.kind, self.offset)
            }
            kind => write!(f, "byte {}: {kind}", self.offset),
        }
    }
}

impl core::error::Error for Error {}
