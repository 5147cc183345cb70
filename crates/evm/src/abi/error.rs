//! The one error of the module: what was wrong, and at which byte.

use core::fmt;

/// What was wrong with the input.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The type or signature text is not one that Solidity knows.
    Syntax,
    /// A type is nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH) levels.
    TooDeep,
    /// More than [`MAX_TYPES`](super::MAX_TYPES) types in one text.
    TooManyTypes,
    /// More than [`MAX_VALUES`](super::MAX_VALUES) values in one text.
    TooManyValues,
    /// A type's head does not fit in memory, or an array's elements take no bytes at all.
    Size,
    /// The data ends before the item does.
    Truncated,
    /// An offset points outside the data.
    Offset,
    /// A length reaches beyond the data.
    Length,
    /// The items decoded add up to more than a small multiple of the data: offsets are reused.
    Budget,
    /// Bytes that must be zero (or the sign) are not.
    Padding,
    /// An integer does not fit its type.
    Range,
    /// A boolean is neither 0 nor 1.
    Bool,
    /// A string is not UTF-8.
    Utf8,
    /// Canonical decoding: an item is not where `encode` would have put it.
    NotCanonical,
    /// A value does not have the shape of the type; the offset is that of its head, or of its text.
    Mismatch,
    /// A log's topics or a call's selector are not those of the type.
    Selector,
    /// The caller's buffer is too short; the offset is the length it needs.
    Buffer,
}

/// What was wrong, and at which byte of the input it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// What was wrong.
    pub kind: ErrorKind,
    /// The byte of the input (data or text) at which it was found; see [`ErrorKind`] for exceptions.
    pub offset: usize,
}

impl Error {
    #[cold]
    pub(crate) const fn new(kind: ErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "not a Solidity type or signature",
            Self::TooDeep => "type nested too deep",
            Self::TooManyTypes => "expected at most 65536 types",
            Self::TooManyValues => "expected at most 16777216 values",
            Self::Size => "type too large, or array of elements without bytes",
            Self::Truncated => "data ends too early",
            Self::Offset => "offset outside the data",
            Self::Length => "length beyond the data",
            Self::Budget => "offsets reused: items exceed the data many times over",
            Self::Padding => "padding not zero",
            Self::Range => "integer out of range of its type",
            Self::Bool => "boolean neither 0 nor 1",
            Self::Utf8 => "string not UTF-8",
            Self::NotCanonical => "item not where the canonical encoding has it",
            Self::Mismatch => "value not of the type",
            Self::Selector => "selector or topics not those of the type",
            Self::Buffer => "buffer too short",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ErrorKind::Buffer => write!(f, "{}: {} bytes needed", self.kind, self.offset),
            kind => write!(f, "byte {}: {kind}", self.offset),
        }
    }
}

impl core::error::Error for Error {}
