//! Files of Ethereum data: decoded logs and calls, and senders of transactions, from Parquet or Arrow files to such files.
//!
//! [`decode_logs`], [`decode_calls`] and [`senders`] read files that other tools wrote, without configuration: columns
//! are found by their names, see [`Role`](lydite_arrow::Role). [`inspect`] reports what was found, and [`write()`] writes the
//! results of others.
//!
//! - The rows of the output are in the order of the input, and its bytes do not depend on the number of threads.
//! - Inputs are files, directories, patterns such as `logs/*.parquet`, and `-`, an Arrow stream on standard input. They are
//!   opened one after the other. Files in an output directory inside of them are not read.
//! - They are read in segments of at most 1,048,576 rows, usually 262,144. Each thread reads, decodes and encodes one
//!   segment at a time; a bounded number of finished segments waits for the writer. So memory depends on the number of
//!   threads and the size of a segment ([`Options::memory`]), not on the size of the files.
//! - With a file per event, the rows of an event that is rare in a segment wait for those of the next segments, so that its
//!   file has row groups of a usual size. Of more than 128 such files, none is open between its row groups.
//! - Logs of other events are left out before their other columns are read, if they are the majority.
//! - An output file appears under its name only when it is complete and on disk, not after an error. The output `-` is an
//!   Arrow stream on standard output, which can hold one event or function only.
//! - If the output is a directory (it exists, or its name ends with `/`), each input has an output of its name there, for
//!   one event or function. With [`Options::resume`] an interrupted run continues.
//! - A panic of the Parquet reader on a damaged file becomes an error. So that it is not printed, the first run installs a
//!   panic hook that calls the previous one for all other panics.
//! - Copied columns keep their types, except that a dictionary is written as its values, and in Parquet seconds as
//!   milliseconds and `Date64` as `Date32`.
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
mod gather;
mod guard;
mod input;
mod inspect;
mod ipc;
mod output;
mod paths;
mod pipeline;
mod resume;
mod run;
mod segments;
mod stored;
mod temporary;

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use lydite_arrow::{CallSet, EventSet, Job, SendersOptions, TransformOptions};
use output::Encoding;

pub use error::{Error, ErrorKind};
pub use inspect::{Inspection, inspect};
pub use paths::{InputFile, input_files};
pub use temporary::exit;

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
    /// Bytes of memory, from which the sizes of segments and batches are chosen; without it, those for a few hundred MiB
    /// per thread. A page of a Parquet file, or a batch of an Arrow stream, is in memory as a whole. A value that a
    /// Parquet file has once for many rows is repeated in copied columns and in hexadecimal text, for up to 8,192 rows
    /// at a time.
    pub memory: Option<u64>,
    /// Replace existing files, which must be regular ones. With a file per event or function, also remove those for
    /// which there are no rows.
    pub overwrite: bool,
    /// Skip outputs that an earlier run has made from the same inputs, with the same options and version; for one output
    /// per input. Also removes the temporary files of interrupted runs.
    pub resume: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            transform: TransformOptions::default(),
            format: None,
            compression: Compression::Zstd,
            threads: None,
            memory: None,
            overwrite: false,
            resume: false,
        }
    }
}

/// Format of the output.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Parquet.
    Parquet,
    /// Arrow IPC: a file, or a stream on standard output.
    Arrow,
}

/// Compression of Parquet output.
#[non_exhaustive]
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
    /// The first of them, and of the rows counted in `overflows` and `different`.
    pub first_failures: Vec<FailedRow>,
    /// Other rows in which a value is null, because
    /// [`Uint256Format::Decimal`](lydite_arrow::Uint256Format::Decimal) cannot hold it.
    pub overflows: u64,
    /// For [`senders`] with a check: rows whose sender, or null without a transaction, differs from the column.
    pub different: u64,
    /// Outputs that an earlier run has made, with [`Options::resume`]. Their rows are not counted.
    pub skipped: u64,
    /// The files written, with their number of rows.
    pub written: Vec<(PathBuf, u64)>,
    /// Time of each step, added up over all threads.
    pub times: Times,
    /// Time of the run, from start to end.
    pub elapsed: Duration,
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
    /// Rows of all files, estimated from those opened so far; 0 for Arrow, which does not store it.
    pub total: u64,
}

/// Decodes the logs of some events. With one event `output` is a file, with several a directory with a file per event.
///
/// A log belongs to an event if its first topic and its number of topics match; others are left out.
///
/// # Errors
/// [`Error`], with the file. No output is left, except complete ones of other inputs.
pub fn decode_logs(
    inputs: &[PathBuf],
    output: &Path,
    events: &EventSet,
    options: &Options,
    progress: &dyn Fn(Progress) -> ControlFlow<()>,
) -> Result<Report, Error> {
    run::run(inputs, output, Job::Logs(events.clone()), options, progress)
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
    run::run(
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
    run::run(inputs, output, Job::Senders(senders), options, progress)
}

/// Writes batches with a schema to a file, or to standard output for `-`. Returns the number of rows.
///
/// # Errors
/// [`Error`]: the first one of the batches, or one of the output. No output is left.
pub fn write(
    schema: SchemaRef,
    batches: impl IntoIterator<Item = Result<RecordBatch, ArrowError>>,
    output: &Path,
    options: &Options,
) -> Result<u64, Error> {
    /// Rows in a row group, more by less than a batch.
    const ROWS: u64 = 1 << 18;
    let encoding = Encoding::new(output.into(), schema, options, None)?;
    let at = || Error::at(output);
    let mut file = None;
    let mut batches = batches.into_iter().peekable();
    while batches.peek().is_some() {
        let mut rows = encoding.start(input::BATCH).map_err(at())?;
        let mut missing = ROWS;
        for batch in batches.by_ref() {
            let batch = batch?;
            missing = missing.saturating_sub(batch.num_rows() as u64);
            let batch = encoding.convert(batch).map_err(at())?;
            rows.append(batch).map_err(at())?;
            if missing == 0 {
                break;
            }
        }
        let encoded = rows.finish().map_err(at())?;
        encoding.write(&mut file, encoded).map_err(at())?;
    }
    encoding.finish(file).map_err(at())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
