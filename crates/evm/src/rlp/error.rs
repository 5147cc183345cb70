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
            return write!(
                f,
                "expected an integer of at most {bits} bits, found a larger one"
            );
        }
        f.write_str(match self {
            Self::UnexpectedEnd => "item extends past the end of the input or of its list",
            Self::LengthNotMinimal => "length is not in its shortest form",
            Self::LeadingZero => "leading zero",
            Self::SinglePrefixed => "single byte below 0x80 has a prefix",
            Self::ExpectedString => "expected a string, found a list",
            Self::ExpectedList => "expected a list, found a string",
            Self::WrongLength => "string length does not match the type",
            Self::IntegerTooLarge { .. } => "integer is too large",
            Self::InvalidBool => "expected a boolean (0 or 1)",
            Self::InvalidUtf8 => "text is not valid UTF-8",
            Self::TrailingBytes => "unexpected bytes after the last item",
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
