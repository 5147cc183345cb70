//! Errors of the JSON form: the position in the document and the reason.

use alloc::{boxed::Box, format, string::String};
use core::fmt;

use lydite_bytes::{hex, uint};

/// The limits of [`TypedSchema`](super::TypedSchema), which the texts state.
pub(super) const MAX_STRUCTS: usize = 256;
pub(super) const MAX_TYPE_TEXT: usize = 4 << 20;

/// The reason why typed data in JSON was rejected. `Display` writes one line such as `message.from.wallet: not an
/// address: byte 3: expected a hexadecimal digit, found 0x7a (near byte 512)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedDataError {
    /// The path, such as `message.from.wallet` or `types.Mail[2].type`; empty for the document itself.
    pub path: String,
    /// The reason.
    pub reason: Reason,
    /// Offset in the JSON text at which reading stopped, directly after the invalid value; `None` if the types are
    /// inconsistent.
    pub offset: Option<usize>,
}

impl fmt::Display for TypedDataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}", self.reason)?;
        match self.offset {
            Some(offset) => write!(f, " (near byte {offset})"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for TypedDataError {}

/// The kind of error in typed data in JSON.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Not JSON, nested too deep (127 levels), or a value of a kind that the type does not allow; the text is that of
    /// the JSON reader.
    Json(String),
    /// A required key is missing.
    Missing,
    /// An unknown key. Data that is not in the types would be shown to the signer but not signed.
    Unknown,
    /// A duplicate key or type.
    Duplicate,
    /// Not a Solidity identifier (a struct's name may also contain `:`), or the name of an atomic type.
    Name,
    /// Neither an EIP-712 type nor a struct of the document.
    Type(String),
    /// Not `0x` and 40 hexadecimal digits.
    Address(hex::Error),
    /// Bytes that are not hexadecimal.
    Hex(hex::Error),
    /// Bytes or an address without the prefix `0x`.
    Prefix,
    /// A `bytesN` with the wrong length.
    BytesLength {
        /// N of the type
        expected: usize,
        /// Number of bytes in the document
        actual: usize,
    },
    /// Neither decimal nor `0x` hexadecimal.
    Integer(uint::Error),
    /// An integer outside the range of its type.
    Range {
        /// `true` for `int`, `false` for `uint`
        signed: bool,
        /// Width of the type in bits
        bits: u16,
    },
    /// A message of type `EIP712Domain` that is not the domain, and so would be shown to the signer but not signed.
    NotDomain,
    /// A fixed array with the wrong number of elements.
    ArrayLength {
        /// Length in the type
        expected: usize,
        /// Number of elements in the document; for an array that is too long, the number at which reading stopped
        actual: usize,
    },
    /// More than [`MAX_STRUCTS`](super::TypedSchema::MAX_STRUCTS) struct types, `EIP712Domain` included.
    TooManyTypes,
    /// More than [`MAX_TYPE_TEXT`](super::TypedSchema::MAX_TYPE_TEXT) bytes of type strings to hash, counted up to the
    /// type in the path.
    TypesTooLong,
    /// More than 4 GiB of types, domain or message.
    TooLong,
    /// The text is too short to contain all members of the structs that it opens.
    TooShort,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(message) => f.write_str(message),
            Self::Missing => f.write_str("missing"),
            Self::Unknown => f.write_str("unknown key"),
            Self::Duplicate => f.write_str("duplicate name"),
            Self::Name => f.write_str("expected a Solidity identifier that is not a built-in type"),
            Self::Type(name) => write!(
                f,
                "unknown type `{name}`; expected an EIP-712 type or a struct of the document"
            ),
            Self::Address(error) => write!(f, "not an address: {error}"),
            Self::Hex(error) => write!(f, "not hexadecimal bytes: {error}"),
            Self::Prefix => f.write_str("expected a 0x prefix"),
            Self::BytesLength { expected, actual } => {
                write!(f, "expected {expected} bytes, found {actual}")
            }
            Self::Integer(error) => write!(f, "not an integer: {error}"),
            Self::Range { signed, bits } => {
                write!(
                    f,
                    "out of range for {}int{bits}",
                    if *signed { "" } else { "u" }
                )
            }
            Self::NotDomain => {
                f.write_str("expected the domain or an empty object, found another domain")
            }
            Self::ArrayLength { expected, actual } => {
                write!(f, "expected {expected} elements, found {actual}")
            }
            Self::TooManyTypes => write!(
                f,
                "expected at most {} struct types, including EIP712Domain",
                MAX_STRUCTS
            ),
            Self::TypesTooLong => write!(
                f,
                "expected at most {} bytes of type strings, each including the types it refers to",
                MAX_TYPE_TEXT
            ),
            Self::TooLong => f.write_str("expected at most 4 GiB of JSON"),
            Self::TooShort => f.write_str("text is too short for the members of its structs"),
        }
    }
}

/// One step of a path.
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl TypedDataError {
    /// Creates an error without a position in the text.
    #[cold]
    pub(super) fn at(path: &str, reason: Reason) -> Box<Self> {
        Box::new(Self {
            path: path.into(),
            reason,
            offset: None,
        })
    }

    /// Prepends a step to the path.
    #[cold]
    pub(super) fn inside(mut self: Box<Self>, step: Step<'_>) -> Box<Self> {
        let dot = if self.path.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.path = match step {
            Step::Key(key) => format!("{key}{dot}{}", self.path),
            Step::Index(index) => format!("[{index}]{dot}{}", self.path),
        };
        self
    }
}
