//! Parquet and Arrow files.

use std::{num::NonZeroUsize, ops::ControlFlow, path::PathBuf};

use lydite_arrow::{SendersOptions, TransformOptions};
use lydite_bulk::{Compression, Format, Options, Progress, Report};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    arrow,
    error::{IntoPython, LyditeError},
    stream::{Columns, KeepArgument, transform_options},
};

/// A value, or a list of values.
#[derive(FromPyObject)]
pub enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> From<OneOrMany<T>> for Vec<T> {
    fn from(values: OneOrMany<T>) -> Self {
        match values {
            OneOrMany::One(value) => vec![value],
            OneOrMany::Many(values) => values,
        }
    }
}

/// Returns the files that the functions for files read, each with the path of its output in a directory, apart from the
/// extension. Those in the directory `output` inside of the inputs are left out.
#[pyfunction]
#[pyo3(signature = (inputs, output = None))]
pub fn input_files(
    inputs: OneOrMany<PathBuf>,
    output: Option<PathBuf>,
) -> PyResult<Vec<(PathBuf, PathBuf)>> {
    let files = lydite_bulk::input_files(&Vec::from(inputs), output.as_deref());
    let files = files.map_err(IntoPython::into_python)?;
    Ok(files
        .into_iter()
        .map(|file| (file.path, file.name))
        .collect())
}

fn options(
    transform: TransformOptions,
    format: Option<&str>,
    compression: &str,
    threads: Option<NonZeroUsize>,
    memory: Option<u64>,
    overwrite: bool,
    resume: bool,
) -> PyResult<Options> {
    let format = match format {
        None => None,
        Some("parquet") => Some(Format::Parquet),
        Some("arrow") => Some(Format::Arrow),
        Some(other) => {
            return Err(LyditeError::new_err(format!(
                "format: expected 'parquet' or 'arrow', found '{other}'"
            )));
        }
    };
    let compression = match compression {
        "zstd" => Compression::Zstd,
        "lz4" => Compression::Lz4,
        "snappy" => Compression::Snappy,
        "none" => Compression::None,
        other => {
            return Err(LyditeError::new_err(format!(
                "compression: expected 'zstd', 'lz4', 'snappy' or 'none', found '{other}'"
            )));
        }
    };
    if overwrite && resume {
        let message = "resume: expected False with overwrite=True";
        return Err(LyditeError::new_err(message));
    }
    Ok(Options {
        transform,
        format,
        compression,
        threads,
        memory,
        overwrite,
        resume,
    })
}

fn report(py: Python<'_>, report: Report) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("rows", report.rows)?;
    dict.set_item("selected", report.selected)?;
    dict.set_item("other_layout", report.other_layout)?;
    dict.set_item("failures", report.failures)?;
    dict.set_item("overflows", report.overflows)?;
    dict.set_item("different", report.different)?;
    dict.set_item("skipped", report.skipped)?;
    let first = report.first_failures.into_iter().map(|failed| {
        let row = PyDict::new(py);
        row.set_item("file", failed.file)?;
        row.set_item("row", failed.row)?;
        row.set_item("block_number", failed.block_number)?;
        row.set_item("log_index", failed.log_index)?;
        row.set_item("error", failed.error)?;
        Ok(row)
    });
    dict.set_item("first_failures", first.collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("written", report.written)?;
    dict.set_item("elapsed", report.elapsed.as_secs_f64())?;
    Ok(dict)
}

/// Decodes the logs of events in Parquet or Arrow files, found by first topic and number of topics, to a file; with
/// several events to a directory with a file per event. Returns a report. Uses all cores; lets other threads run.
///
/// `columns` gives the names of columns by role, such as {"topic0": "first_topic"}; usual names are known. `keep` is
/// "all", "none" or a list of columns to copy, by default those that identify a row. A row that is invalid is null
/// (`on_error="null"`), left out ("drop"), or an error ("fail"). `uint256` and `mode` are those of `decode_logs`.
///
/// `format` is "parquet" or "arrow", by default by the name of the output; `compression` of Parquet is "zstd", "lz4",
/// "snappy" or "none". `memory` is a number of bytes from which the sizes of row groups are chosen. With `resume=True` the
/// output is a directory, and outputs that an earlier run has completed are skipped.
#[pyfunction]
#[pyo3(signature = (inputs, output, events, *, uint256 = "binary", mode = "strict", on_error = "null", keep = None, prefix = "", columns = None, format = None, compression = "zstd", threads = None, memory = None, overwrite = false, resume = false))]
#[allow(clippy::too_many_arguments)]
pub fn decode_logs_file<'py>(
    py: Python<'py>,
    inputs: OneOrMany<PathBuf>,
    output: PathBuf,
    events: OneOrMany<String>,
    uint256: &str,
    mode: &str,
    on_error: &str,
    keep: Option<KeepArgument>,
    prefix: &str,
    columns: Option<Columns>,
    format: Option<&str>,
    compression: &str,
    threads: Option<NonZeroUsize>,
    memory: Option<u64>,
    overwrite: bool,
    resume: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let formats = arrow::options(uint256, mode)?;
    let transform = transform_options(on_error, keep, prefix, columns)?;
    let options = options(
        transform,
        format,
        compression,
        threads,
        memory,
        overwrite,
        resume,
    )?;
    let events = arrow::events(&Vec::from(events), &formats)?;
    let inputs = Vec::from(inputs);
    let done =
        py.detach(|| lydite_bulk::decode_logs(&inputs, &output, &events, &options, &proceed));
    report(py, done.map_err(IntoPython::into_python)?)
}

/// Decodes the calls of functions in Parquet or Arrow files, found by selector, to a file; with several functions to a
/// directory with a file per function. With `results=True`, also what they returned, in a column `output`, to columns
/// `output_…`. The other arguments are those of `decode_logs_file`.
#[pyfunction]
#[pyo3(signature = (inputs, output, functions, *, uint256 = "binary", mode = "strict", results = false, on_error = "null", keep = None, prefix = "", columns = None, format = None, compression = "zstd", threads = None, memory = None, overwrite = false, resume = false))]
#[allow(clippy::too_many_arguments)]
pub fn decode_calls_file<'py>(
    py: Python<'py>,
    inputs: OneOrMany<PathBuf>,
    output: PathBuf,
    functions: OneOrMany<String>,
    uint256: &str,
    mode: &str,
    results: bool,
    on_error: &str,
    keep: Option<KeepArgument>,
    prefix: &str,
    columns: Option<Columns>,
    format: Option<&str>,
    compression: &str,
    threads: Option<NonZeroUsize>,
    memory: Option<u64>,
    overwrite: bool,
    resume: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let formats = arrow::options(uint256, mode)?;
    let transform = transform_options(on_error, keep, prefix, columns)?;
    let options = options(
        transform,
        format,
        compression,
        threads,
        memory,
        overwrite,
        resume,
    )?;
    let functions = arrow::functions(&Vec::from(functions), &formats, results)?;
    let inputs = Vec::from(inputs);
    let done =
        py.detach(|| lydite_bulk::decode_calls(&inputs, &output, &functions, &options, &proceed));
    report(py, done.map_err(IntoPython::into_python)?)
}

/// Recovers the senders of the signed transactions in Parquet or Arrow files to the column `sender`, and with
/// `hash=True` their hashes. Without a column of signed transactions they are rebuilt from their fields. With
/// `check=True`, the report has the number of senders that differ from the column `from`. The other arguments are those
/// of `decode_logs_file`.
#[pyfunction]
#[pyo3(signature = (inputs, output, *, hash = false, check = false, on_error = "null", keep = None, prefix = "", columns = None, format = None, compression = "zstd", threads = None, memory = None, overwrite = false, resume = false))]
#[allow(clippy::too_many_arguments)]
pub fn senders_file<'py>(
    py: Python<'py>,
    inputs: OneOrMany<PathBuf>,
    output: PathBuf,
    hash: bool,
    check: bool,
    on_error: &str,
    keep: Option<KeepArgument>,
    prefix: &str,
    columns: Option<Columns>,
    format: Option<&str>,
    compression: &str,
    threads: Option<NonZeroUsize>,
    memory: Option<u64>,
    overwrite: bool,
    resume: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let transform = transform_options(on_error, keep, prefix, columns)?;
    let options = options(
        transform,
        format,
        compression,
        threads,
        memory,
        overwrite,
        resume,
    )?;
    let inputs = Vec::from(inputs);
    let what = SendersOptions { hash, check };
    let done = py.detach(|| lydite_bulk::senders(&inputs, &output, what, &options, &proceed));
    report(py, done.map_err(IntoPython::into_python)?)
}

/// Cancels a run on Ctrl-C, with `KeyboardInterrupt`.
fn proceed(_: Progress) -> ControlFlow<()> {
    match Python::attach(|py| py.check_signals()) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}
