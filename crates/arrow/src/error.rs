//! Errors of a whole batch, and failures of its rows.

use std::fmt;

use arrow_schema::DataType;
use lydite_evm::{abi, tx};

use crate::Role;

/// The reason why a signature cannot be compiled or a batch has the wrong shape.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A signature, and the reason why it is invalid.
    Signature(String, abi::Error),
    /// A signature that cannot be part of a set, because its event is anonymous.
    Anonymous(String),
    /// A column does not contain byte strings.
    NotBytes(DataType),
    /// A column does not contain integers.
    NotIntegers(DataType),
    /// A column does not contain text.
    NotText(DataType),
    /// A call of a function with the wrong number of arguments, or one of the wrong type.
    Arguments(String),
    /// A column is not a list of the structs that its role requires.
    NotList(Role, DataType),
    /// Two columns differ in their number of rows.
    Length(usize, usize),
    /// No column has the name of a role.
    MissingRole(Role),
    /// A column named for a role is not in the schema.
    MissingColumn(Role, String),
    /// A column to keep does not exist.
    MissingKept(String),
    /// A column to keep has the name of a decoded one.
    NameTaken(String),
    /// The kept columns differ from those of the outputs.
    KeptDiffer {
        /// Columns of the outputs.
        expected: String,
        /// Columns found.
        found: String,
    },
    /// A row could not be decoded, and [`OnError::Fail`](crate::OnError::Fail) was chosen.
    Row(Failure),
    /// Columns could not be combined to a batch.
    Arrow(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signature(text, error) => write!(f, "signature `{text}`: {error}"),
            Self::Anonymous(text) => write!(
                f,
                "signature `{text}`: an anonymous event must be decoded alone"
            ),
            Self::NotBytes(found) => {
                write!(
                    f,
                    "expected a column of binary values or hexadecimal text, found {found}"
                )
            }
            Self::NotIntegers(found) => {
                write!(
                    f,
                    "expected a column of integers, decimal or hexadecimal text, or big-endian bytes, found {found}"
                )
            }
            Self::NotText(found) => write!(f, "expected a column of text, found {found}"),
            Self::Arguments(text) => f.write_str(text),
            Self::NotList(role, found) => write!(f, "expected a list for {role}, found {found}"),
            Self::Length(one, other) => {
                write!(f, "columns differ in length: {one} and {other} rows")
            }
            Self::MissingRole(role) => {
                write!(
                    f,
                    "no column for {role}; expected a column named {}",
                    role.names().join(" or ")
                )?;
                match role {
                    Role::Raw => f.write_str("; or columns for r, s, v and the signed fields"),
                    _ => Ok(()),
                }
            }
            Self::MissingColumn(role, name) => {
                write!(f, "no column `{name}`, which was given for {role}")
            }
            Self::MissingKept(name) => write!(f, "no column `{name}` to keep"),
            Self::NameTaken(name) => {
                write!(
                    f,
                    "column `{name}` is both kept and decoded; keep other columns or choose a prefix"
                )
            }
            Self::KeptDiffer { expected, found } => {
                write!(
                    f,
                    "expected the columns of the first input, {expected}; found {found}"
                )
            }
            Self::Row(failure) => write!(f, "row {}: {}", failure.row, failure.error),
            Self::Arrow(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

/// A row that could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Index of the row in the batch.
    pub row: usize,
    /// The reason.
    pub error: RowError,
}

/// Combines two lists of failures, in the order of their rows.
pub(crate) fn merged(mut failures: Vec<Failure>, others: Vec<Failure>) -> Vec<Failure> {
    failures.extend(others);
    failures.sort_by_key(|failure| failure.row);
    failures
}

/// The reason why a row could not be decoded.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowError {
    /// The text in a column is not hexadecimal.
    Hexadecimal,
    /// The number of bytes of a value is wrong. Holds the number expected and the number found.
    Length(usize, usize),
    /// No key can be recovered from the signature.
    Signature(lydite_curve::secp256k1::Error),
    /// The number of bytes of a topic is not 32. Holds the index of the topic and the number found.
    TopicLength(usize, usize),
    /// A topic is absent although a later one is present. Holds its index.
    TopicAbsent(usize),
    /// The data or a topic is not a valid encoding.
    Abi(abi::Error),
    /// The output of a call is not a valid encoding.
    Results(abi::Error),
    /// The bytes are not a valid transaction, or have no sender.
    Transaction(tx::Error),
    /// The value of a column is missing, is not of the expected length, or is out of range.
    Field(Role),
    /// Transactions of this type have no signature, or it is not known.
    Unsigned(u64),
    /// The hash of the rebuilt transaction differs from the column: a field is missing, or is not the signed one.
    Hash,
    /// The number is not one that the result can hold. Says what was expected.
    Integer(&'static str),
    /// The value cannot be encoded. Says what was expected.
    Value(&'static str),
    /// With the row, the values of a column would exceed 2^31 - 1 bytes or list items, the limit of an Arrow array with
    /// 32-bit offsets. Smaller batches avoid this.
    Full,
}

impl RowError {
    /// Returns a short text without positions, by which failures can be counted.
    pub fn reason(&self) -> String {
        match self {
            Self::Length(expected, _) => format!("value is not {expected} bytes"),
            Self::TopicLength(..) => "topic is not 32 bytes".into(),
            Self::TopicAbsent(_) => "topic absent before a later one".into(),
            Self::Abi(error) => error.kind.to_string(),
            Self::Results(error) => format!("returned values: {}", error.kind),
            Self::Transaction(tx::Error::Rlp(error)) => error.kind.to_string(),
            Self::Transaction(tx::Error::UnknownType(_)) => "unknown transaction type".into(),
            Self::Transaction(tx::Error::InvalidV { .. }) => "invalid v".into(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hexadecimal => f.write_str("expected hexadecimal text"),
            Self::Length(expected, found) => {
                write!(f, "expected {expected} bytes, found {found}")
            }
            Self::Signature(error) => error.fmt(f),
            Self::TopicLength(topic, found) => {
                write!(f, "topic{topic}: expected 32 bytes, found {found}")
            }
            Self::TopicAbsent(topic) => {
                write!(f, "topic{topic}: absent, but a later topic is present")
            }
            Self::Abi(error) => error.fmt(f),
            Self::Results(error) => write!(f, "returned values: {error}"),
            Self::Transaction(error) => error.fmt(f),
            Self::Field(role) => write!(f, "missing or invalid {role}"),
            Self::Unsigned(kind) => write!(f, "transaction type {kind} has no known signature"),
            Self::Integer(expected) | Self::Value(expected) => write!(f, "expected {expected}"),
            Self::Full => {
                f.write_str("expected at most 2^31 - 1 bytes or list items in a column, found more")
            }
            Self::Hash => f.write_str(
                "transaction hash differs: a field is missing, or is not the signed one",
            ),
        }
    }
}

impl std::error::Error for RowError {}
