//! Errors of decoders and bounded writers, with their position.
use core::fmt;

/// The reason why the bytes are not the canonical encoding of the expected item.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The input, or the list around the item, ends before the item does.
    UnexpectedEnd,
    /// A length for which a shorter form exists.
    LengthNotMinimal,
    /// An integer or a length that begins with a zero byte.
    LeadingZero,
    /// A single byte below 0x80 written with a prefix.
    SinglePrefixed,
    /// A list instead of a string.
    ExpectedString,
    /// A string instead of a list.
    ExpectedList,
    /// A string whose length does not match the type.
    WrongLength,
    /// An integer of more than `bits` bits, the width of the type.
    IntegerTooLarge {
        /// The width of the type.
        bits: u16,
    },
    /// A boolean other than 0 and 1.
    InvalidBool,
    /// Text that is not UTF-8.
    InvalidUtf8,
    /// Bytes after the item, or items after the last field of a list.
    TrailingBytes,
    /// The caller's buffer is shorter than the encoding. The offset is the required length.
    BufferTooSmall,
}

/// An [`ErrorKind`] with the offset of the invalid byte from the start of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of error.
    pub kind: ErrorKind,
    /// Offset of the invalid byte.
    pub offset: usize,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::IntegerTooLarge { bits } = self {
            return write!(f, "integer too large, expected at most {bits} bits");
        }
        f.write_str(match self {
            Self::UnexpectedEnd => "item longer than what is left",
            Self::LengthNotMinimal => "length not minimal",
            Self::LeadingZero => "leading zero",
            Self::SinglePrefixed => "prefix before a single byte below 0x80",
            Self::ExpectedString => "list where a string belongs",
            Self::ExpectedList => "string where a list belongs",
            Self::WrongLength => "string of the wrong length",
            Self::IntegerTooLarge { .. } => "integer too large",
            Self::InvalidBool => "boolean neither 0 nor 1",
            Self::InvalidUtf8 => "text not UTF-8",
            Self::TrailingBytes => "bytes after the end",
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
