//! Errors of the JSON form: where in the document, and what is wrong there.

use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::fmt;

use lydite_bytes::{hex, uint};
use serde_core::de;

/// Why typed data in JSON was refused. `Display` is one line such as
/// `message.from.wallet: not an address: byte 3: 0x7a is not a hexadecimal digit (near byte 512)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedDataError {
    /// Where: `message.from.wallet`, `types.Mail[2].type`; empty for the document itself.
    pub path: String,
    /// What.
    pub reason: Reason,
    /// Offset in the JSON text at which reading stopped, just behind the offending value; `None` where the types do not fit
    /// together.
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

/// What is wrong with typed data in JSON.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Not JSON, nested too deep (127 levels), or a value of another kind than the type asks for; in the words of the JSON reader.
    Json(String),
    /// A key that must be there is not.
    Missing,
    /// A key that means nothing here. What is not in the types would be shown to the signer and not be signed.
    Unknown,
    /// A key or type given twice.
    Duplicate,
    /// Not a Solidity identifier, or the name of an atomic type.
    Name,
    /// No EIP-712 type and no struct of the document.
    Type(String),
    /// Not `0x` and 40 hexadecimal digits.
    Address(hex::Error),
    /// Bytes not in hexadecimal.
    Hex(hex::Error),
    /// No `0x` in front of bytes or an address.
    Prefix,
    /// A `bytesN` of another length.
    BytesLength {
        /// N
        expected: usize,
        /// Bytes in the document
        actual: usize,
    },
    /// Neither decimal nor `0x` hexadecimal.
    Integer(uint::Error),
    /// An integer outside the range of its type.
    Range {
        /// `int` instead of `uint`
        signed: bool,
        /// Width of the type
        bits: u16,
    },
    /// A fixed array with another number of elements.
    ArrayLength {
        /// From the type
        expected: usize,
        /// Elements in the document; for one too long, where reading stopped
        actual: usize,
    },
    /// More than 256 struct types, or types of more than 4 GiB.
    TooManyTypes,
    /// So short a text cannot hold all members of the structs that it opens.
    TooShort,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(message) => f.write_str(message),
            Self::Missing => f.write_str("missing"),
            Self::Unknown => f.write_str("not in the types"),
            Self::Duplicate => f.write_str("given twice"),
            Self::Name => f.write_str("not a name for a struct or a member"),
            Self::Type(name) => write!(
                f,
                "`{name}` is neither an EIP-712 type nor a struct of the document"
            ),
            Self::Address(error) => write!(f, "not an address: {error}"),
            Self::Hex(error) => write!(f, "not hexadecimal bytes: {error}"),
            Self::Prefix => f.write_str("no 0x in front"),
            Self::BytesLength { expected, actual } => {
                write!(f, "expected {expected} bytes, got {actual}")
            }
            Self::Integer(error) => write!(f, "not an integer: {error}"),
            Self::Range { signed, bits } => {
                write!(
                    f,
                    "out of the range of {}int{bits}",
                    if *signed { "" } else { "u" }
                )
            }
            Self::ArrayLength { expected, actual } => {
                write!(f, "expected {expected} elements, got {actual}")
            }
            Self::TooManyTypes => f.write_str("more than 256 struct types or 4 GiB of them"),
            Self::TooShort => f.write_str("the text is too short for the structs it opens"),
        }
    }
}

/// Where the reader is, and why it stopped: serde's errors can carry neither.
#[derive(Default)]
pub(super) struct Trace<'s> {
    steps: Vec<Step<'s>>,
    failure: Option<Reason>,
}

enum Step<'s> {
    Key(Cow<'s, str>),
    Index(usize),
}

impl<'s> Trace<'s> {
    pub(super) fn at(root: &'s str) -> Self {
        let mut steps = Vec::with_capacity(8);
        steps.push(Step::Key(Cow::Borrowed(root)));
        Self {
            steps,
            failure: None,
        }
    }

    pub(super) fn enter_key(&mut self, key: impl Into<Cow<'s, str>>) {
        self.steps.push(Step::Key(key.into()));
    }

    pub(super) fn enter_index(&mut self, index: usize) {
        self.steps.push(Step::Index(index));
    }

    /// Back out of the last key or index. Not called on errors: the steps then say where.
    pub(super) fn leave(&mut self) {
        self.steps.pop();
    }

    pub(super) fn is_root(&self) -> bool {
        self.steps.len() == 1
    }

    /// Stops the reader.
    pub(super) fn fail<E: de::Error>(&mut self, reason: Reason) -> E {
        self.failure = Some(reason);
        E::custom("")
    }

    /// The error for the user. `json` is the text that was read; it starts at byte `start` of the document.
    pub(super) fn error(
        self,
        error: &serde_json::Error,
        json: &str,
        start: usize,
    ) -> TypedDataError {
        let reason = self.failure.clone().unwrap_or_else(|| {
            let message = format!("{error}");
            let place = format!(" at line {} column {}", error.line(), error.column());
            Reason::Json(message.strip_suffix(&place).unwrap_or(&message).into())
        });
        let line_start: usize = json
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1))
            .map(str::len)
            .sum();
        let offset = start + (line_start + error.column()).min(json.len());
        TypedDataError {
            offset: Some(offset),
            ..self.without_place(reason)
        }
    }

    /// An error that is not at one place of the text.
    pub(super) fn without_place(self, reason: Reason) -> TypedDataError {
        let mut path = String::new();
        for step in self.steps {
            match step {
                Step::Key(key) if path.is_empty() => path.push_str(&key),
                Step::Key(key) => path.extend([".", &key]),
                Step::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        TypedDataError {
            path,
            reason,
            offset: None,
        }
    }
}
