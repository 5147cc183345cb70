//! Errors of a run.

use std::{fmt, io, path::PathBuf};

use arrow_schema::{ArrowError, DataType};
use parquet::errors::ParquetError;

use crate::FailedRow;

/// The reason why a run failed.
#[derive(Debug)]
pub struct Error {
    /// The file that could not be read or written.
    pub file: Option<PathBuf>,
    /// The reason.
    pub kind: ErrorKind,
}

/// The reason why a run failed.
#[non_exhaustive]
#[derive(Debug)]
pub enum ErrorKind {
    /// The operating system reported an error.
    Io(io::Error),
    /// Not valid Parquet.
    Parquet(ParquetError),
    /// Not valid Arrow.
    Arrow(ArrowError),
    /// A column is missing or has the wrong type.
    Columns(lydite_arrow::Error),
    /// Neither Parquet nor Arrow IPC.
    UnknownFormat,
    /// A file contains fewer or more rows than its metadata declares.
    Rows {
        /// Rows declared.
        expected: usize,
        /// Rows read.
        found: usize,
    },
    /// Two input files would have the same output.
    SameOutput,
    /// One output per input, or resumption, is possible for one event or function only, and not for standard input.
    NotPerInput,
    /// Several events or functions have a file each, which standard output cannot hold.
    SeveralOutputs,
    /// The output was made from another input, with other options or by another version.
    OtherJob,
    /// No input file was found.
    NoInput,
    /// The output exists.
    Exists,
    /// The output exists, and is not a regular file, so that it cannot be replaced.
    NotRegular,
    /// The type of a column cannot be written to the output.
    Type {
        /// Name of the column.
        column: String,
        /// Its type.
        found: DataType,
    },
    /// A Parquet file without columns would not contain the number of rows.
    NoColumns,
    /// A row could not be decoded, and [`OnError::Fail`](lydite_arrow::OnError::Fail) was chosen.
    Row(FailedRow),
    /// The progress callback cancelled the run.
    Cancelled,
    /// A thread was stopped by a defect in a reader.
    Panic(String),
}

impl Error {
    pub(crate) fn at(file: impl Into<PathBuf>) -> impl FnOnce(ErrorKind) -> Self {
        let file = Some(file.into());
        move |kind| Self { file, kind }
    }
}

macro_rules! from {
    ($($type:ty => $kind:ident),*) => {$(
        impl From<$type> for ErrorKind {
            fn from(error: $type) -> Self {
                Self::$kind(error)
            }
        }

        impl From<$type> for Error {
            fn from(error: $type) -> Self {
                Self { file: None, kind: error.into() }
            }
        }
    )*};
}
from!(io::Error => Io, ParquetError => Parquet, ArrowError => Arrow, lydite_arrow::Error => Columns);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}: {}", file.display(), self.kind),
            None => self.kind.fmt(f),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Parquet(error) => error.fmt(f),
            Self::Arrow(error) => error.fmt(f),
            Self::Columns(error) => error.fmt(f),
            Self::UnknownFormat => f.write_str("expected Parquet or Arrow IPC"),
            Self::Rows { expected, found } => {
                write!(f, "the file is damaged: expected {expected} rows, found {found}")
            }
            Self::SameOutput => f.write_str("two inputs would have this output"),
            Self::NotPerInput => f.write_str(
                "an output per input requires a directory as output, one event or function, and files as input",
            ),
            Self::SeveralOutputs => f.write_str(
                "expected a directory for the files of several events or functions, found standard output",
            ),
            Self::OtherJob => f.write_str(
                "file exists, made from another input, with other options or by another version",
            ),
            Self::NoInput => f.write_str("expected at least one Parquet or Arrow file"),
            Self::Exists => f.write_str("file exists"),
            Self::NotRegular => {
                f.write_str("expected a regular file to replace, found a device, pipe, link or directory")
            }
            Self::Type { column, found } => {
                write!(f, "column `{column}`: expected a type that the output can hold, found {found}")
            }
            Self::NoColumns => f.write_str("expected at least one column in a Parquet file, found none"),
            Self::Row(row) => write!(f, "row {}: {}", row.row, row.error),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Panic(text) => write!(f, "the file is damaged: {text}"),
        }
    }
}

impl std::error::Error for Error {
    /// Returns the cause of an error of the operating system or of a format, whose text ends with that of the cause.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Io(error) => Some(error),
            ErrorKind::Parquet(error) => error.source(),
            ErrorKind::Arrow(error) => error.source(),
            _ => None,
        }
    }
}
