//! What a decoder or a bounded writer objects to, and where.
use core::fmt;

/// Why the bytes are not the canonical encoding of the wanted item.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The input, or the list around the item, ends before the item does.
    UnexpectedEnd,
    /// A length that a shorter form could hold.
    LengthNotMinimal,
    /// An integer or a length that begins with a zero byte.
    LeadingZero,
    /// A single byte below 0x80 written with a prefix.
    SinglePrefixed,
    /// A list where a string belongs.
    ExpectedString,
    /// A string where a list belongs.
    ExpectedList,
    /// A string of another length than the type has.
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
    /// The caller's buffer is shorter than the encoding; the offset is the length it needs.
    BufferTooSmall,
}

/// An [`ErrorKind`] and the offset of the byte at fault, counted from the start of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Offset of the byte at fault.
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
