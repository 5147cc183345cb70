//! Files of Ethereum data: decoded logs and calls, and senders of transactions, from Parquet or Arrow files to such files.
//!
//! [`decode_logs`], [`decode_calls`] and [`senders`] read files that other tools wrote, without configuration: columns
//! are found by their names, see [`Role`](lydite_arrow::Role). [`inspect`] reports what was found.
//!
//! - The rows of the output are in the order of the input, and its bytes do not depend on the number of threads.
//! - Parquet is read in segments of at most 1,048,576 rows, usually 262,144, and Arrow files batch by batch. Each thread
//!   reads, decodes and encodes one segment at a time; a bounded number of finished segments waits for the writer. So
//!   memory depends on the number of threads and the size of a segment, not on the size of the files.
//! - An output file appears under its name only when it is complete and on disk, not after an error.
//! - A row that cannot be decoded is null and counted, see [`Report`]; [`OnError`](lydite_arrow::OnError) has alternatives.
//!
//! ```no_run
//! use std::ops::ControlFlow;
//! use lydite_arrow::{EventDecoder, EventSet};
//! use lydite_bulk::{Options, decode_logs};
//!
//! let options = Options::default();
//! let transfer = "event Transfer(address indexed from, address indexed to, uint256 value)";
//! let events = EventSet::new([EventDecoder::parse(transfer, &lydite_arrow::Options::default())?])?;
//! let report = decode_logs(&["logs".into()], "transfers.parquet".as_ref(), &events, &options, &|_| {
//!     ControlFlow::Continue(())
//! })?;
//! println!("{} logs, {} transfers", report.rows, report.selected);
//! # Ok::<(), lydite_bulk::Error>(())
//! ```
#![forbid(unsafe_code)]

mod error;
mod input;
mod inspect;
mod output;
mod pipeline;

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};

use lydite_arrow::{CallSet, EventSet, Job, SendersOptions, TransformOptions};

pub use error::{Error, ErrorKind};
pub use inspect::{Inspection, inspect};

/// How files are read, decoded and written.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which columns are read, and what happens to rows that cannot be decoded.
    pub transform: TransformOptions,
    /// Format of the output; without it, by the name of the file: Arrow for `.arrow`, `.feather` and `.ipc`, otherwise
    /// Parquet.
    pub format: Option<Format>,
    /// Compression of Parquet output.
    pub compression: Compression,
    /// Number of threads; without it, all cores.
    pub threads: Option<NonZeroUsize>,
    /// Replace existing files.
    pub overwrite: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            transform: TransformOptions::default(),
            format: None,
            compression: Compression::Zstd,
            threads: None,
            overwrite: false,
        }
    }
}

/// Format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Parquet.
    Parquet,
    /// Arrow IPC file.
    Arrow,
}

/// Compression of Parquet output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Zstandard, level 1.
    Zstd,
    /// LZ4.
    Lz4,
    /// Snappy.
    Snappy,
    /// None.
    None,
}

/// What a run has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Rows read.
    pub rows: u64,
    /// Rows that are logs of one of the events, calls of one of the functions, or transactions.
    pub selected: u64,
    /// Logs with the first topic of an event but another number of topics.
    pub other_layout: u64,
    /// Rows that could not be decoded, by reason.
    pub failures: BTreeMap<String, u64>,
    /// The first of them.
    pub first_failures: Vec<FailedRow>,
    /// For [`senders`] with a check: rows whose sender differs from the column.
    pub different: u64,
    /// The files written, with their number of rows.
    pub written: Vec<(PathBuf, u64)>,
    /// Time of each step, added up over all threads.
    pub times: Times,
}

/// Time of each step, added up over all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Reading and decompressing columns.
    pub read: Duration,
    /// Decoding rows, or recovering senders.
    pub decode: Duration,
    /// Encoding and compressing columns.
    pub encode: Duration,
    /// Writing files.
    pub write: Duration,
}

/// A row that could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRow {
    /// The file.
    pub file: PathBuf,
    /// Index of the row in the file.
    pub row: u64,
    /// Number of the block, if there is such a column.
    pub block_number: Option<u64>,
    /// Position of the log in its block, if there is such a column.
    pub log_index: Option<u64>,
    /// The reason.
    pub error: String,
}

/// Number of rows in [`Report::first_failures`].
pub const FIRST_FAILURES: usize = 10;

/// What a run has done so far. Reported after each segment; the callback cancels the run by returning `Break`.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Rows read and written.
    pub done: u64,
    /// Rows of all Parquet files. Arrow files do not store it.
    pub total: u64,
}

/// Decodes the logs of some events. With one event `output` is a file, with several a directory with a file per event.
///
/// A log belongs to an event if its first topic and its number of topics match; others are left out.
///
/// # Errors
/// [`Error`], with the file. No output is left.
pub fn decode_logs(
    inputs: &[PathBuf],
    output: &Path,
    events: &EventSet,
    options: &Options,
    progress: &dyn Fn(Progress) -> ControlFlow<()>,
) -> Result<Report, Error> {
    pipeline::run(inputs, output, Job::Logs(events.clone()), options, progress)
}

/// Decodes the calls of some functions. With one function `output` is a file, with several a directory with a file per
/// function.
///
/// # Errors
/// [`Error`], with the file. No output is left.
pub fn decode_calls(
    inputs: &[PathBuf],
    output: &Path,
    functions: &CallSet,
    options: &Options,
    progress: &dyn Fn(Progress) -> ControlFlow<()>,
) -> Result<Report, Error> {
    pipeline::run(
        inputs,
        output,
        Job::Calls(functions.clone()),
        options,
        progress,
    )
}

/// Recovers the sender of each signed transaction, to the column `sender`. Without a column of signed transactions, they
/// are rebuilt from their fields, see [`TransactionColumns`](lydite_arrow::TransactionColumns).
///
/// # Errors
/// [`Error`], with the file. No output is left.
pub fn senders(
    inputs: &[PathBuf],
    output: &Path,
    senders: SendersOptions,
    options: &Options,
    progress: &dyn Fn(Progress) -> ControlFlow<()>,
) -> Result<Report, Error> {
    pipeline::run(inputs, output, Job::Senders(senders), options, progress)
}
