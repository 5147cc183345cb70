//! Segments in, decoded by all threads, written in order.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array, cast::AsArray as _, types};
use arrow_schema::DataType;
use arrow_select::take::take;
use lydite_arrow::{Decoded, Role};

use crate::{
    Error, FIRST_FAILURES, FailedRow, Keep, OnError, Options, Progress, Report,
    error::ErrorKind,
    input::{self, Input, Segment},
    job::Job,
    output::{self, Encoded, Encoding, Output},
};

/// Finished segments that may wait for the writer, in addition to one per thread.
const WAITING: usize = 2;

/// An input file and the columns read from it.
struct Source {
    input: Input,
    /// Columns read, in order.
    columns: Vec<usize>,
    /// Positions of the kept columns among those read.
    kept: Vec<usize>,
}

/// A decoded segment: what is to be written to each file, and the part of the report. Rows are counted from the start of
/// the segment.
struct Part {
    encoded: Vec<Option<Encoded>>,
    report: Report,
}

pub(crate) fn run<J: Job>(
    inputs: &[PathBuf],
    output: &Path,
    job: &J,
    options: &Options,
    progress: &dyn Fn(Progress) -> ControlFlow<()>,
) -> Result<Report, Error> {
    let sources = open(inputs, job, options)?;
    let encodings = encodings(&sources[0], output, job, options)?;
    let total = sources.iter().map(|source| source.input.rows()).sum();
    let segments = sources.iter().enumerate().flat_map(|(file, source)| {
        let segments = source.input.segments().into_iter();
        segments.map(move |segment| (file, segment))
    });
    let segments = Mutex::new(segments.enumerate());

    let available = thread::available_parallelism().map_or(1, |threads| threads.get());
    let threads = options.threads.map_or(available, |threads| threads.get());
    // A thread takes a permit before a segment, and the writer returns it once the segment is written.
    let (permits, permitted) = sync_channel(threads + WAITING);
    for _ in 0..threads + WAITING {
        // The receiver exists.
        let _ = permits.send(());
    }
    let permitted = Mutex::new(permitted);
    let (done, decoded) = sync_channel(threads + WAITING);
    thread::scope(|scope| {
        for _ in 0..threads {
            let done = done.clone();
            let (sources, encodings, segments, permitted) =
                (&sources, &encodings, &segments, &permitted);
            scope.spawn(move || {
                let next = || {
                    lock(permitted).recv().ok()?;
                    lock(segments).next()
                };
                while let Some((index, (file, segment))) = next() {
                    let source = &sources[file];
                    let decode = || decode(source, &segment, job, encodings, options);
                    let part = catch_unwind(AssertUnwindSafe(decode))
                        .unwrap_or_else(|panic| Err(ErrorKind::Panic(panic_text(panic))));
                    if done.send((index, file, part)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        let mut writer = Writer {
            sources: &sources,
            encodings: &encodings,
            outputs: encodings.iter().map(|_| None).collect(),
            report: Report::default(),
            file: (0, 0),
        };
        // The permits are dropped with an error, and the threads stop.
        write_in_order(decoded, permits, &mut writer, total, progress)?;
        writer.finish()
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn panic_text(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}

/// Opens the files and finds their columns.
fn open<J: Job>(inputs: &[PathBuf], job: &J, options: &Options) -> Result<Vec<Source>, Error> {
    let mut sources: Vec<Source> = Vec::new();
    for path in input::files(inputs)? {
        let input = Input::open(&path)?;
        let source = source(input, job, options).map_err(Error::at(&path))?;
        if let Some(first) = sources.first() {
            let (expected, found) = (first.kept_fields(), source.kept_fields());
            if expected != found {
                let kind = ErrorKind::SchemaDiffers { expected, found };
                return Err(Error::at(path)(kind));
            }
        }
        sources.push(source);
    }
    Ok(sources)
}

fn source<J: Job>(input: Input, job: &J, options: &Options) -> Result<Source, ErrorKind> {
    let schema = &input.schema;
    let kept: Vec<usize> = match &options.keep {
        Keep::All => (0..schema.fields().len()).collect(),
        Keep::Identity => {
            let mut kept = Vec::new();
            for role in Role::IDENTITY {
                kept.extend(options.map.find(schema, role)?);
            }
            kept
        }
        Keep::Named(names) => {
            let find = |name: &String| {
                let position = schema
                    .fields()
                    .iter()
                    .position(|field| field.name() == name);
                position.ok_or_else(|| ErrorKind::MissingColumn(name.clone()))
            };
            names.iter().map(find).collect::<Result<_, _>>()?
        }
    };
    let mut decoded = job.columns(schema, &options.map)?;
    decoded.retain(|column| !kept.contains(column));
    let columns: BTreeSet<usize> = kept.iter().chain(&decoded).copied().collect();
    let columns: Vec<usize> = columns.into_iter().collect();
    let position = |index: &usize| columns.iter().position(|column| column == index);
    let kept = kept.iter().filter_map(position).collect();
    Ok(Source {
        input: input.with_views(&decoded)?,
        columns,
        kept,
    })
}

impl Source {
    fn kept_schema(&self) -> Result<arrow_schema::Schema, ErrorKind> {
        let schema = self.input.project(&self.columns)?;
        // Nullable, because other files may contain nulls, and without the metadata of the file.
        let kept = self.kept.iter().map(|index| schema.field(*index).clone());
        let fields = kept.map(|field| field.with_nullable(true));
        Ok(arrow_schema::Schema::new(fields.collect::<Vec<_>>()))
    }

    fn kept_fields(&self) -> String {
        let fields = self.kept.iter().map(|index| {
            let field = &self.input.schema.fields()[self.columns[*index]];
            format!("{}: {}", field.name(), field.data_type())
        });
        fields.collect::<Vec<_>>().join(", ")
    }
}

/// Returns the encoding of each output file.
fn encodings<J: Job>(
    first: &Source,
    output: &Path,
    job: &J,
    options: &Options,
) -> Result<Vec<Encoding>, Error> {
    let kept = first.kept_schema().map_err(Error::at(&first.input.path))?;
    let files = job.outputs();
    let extension = match options.format {
        Some(crate::Format::Arrow) => "arrow",
        _ => "parquet",
    };
    // Some file systems do not distinguish upper and lower case.
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for file in &files {
        *names.entry(file.name.to_lowercase()).or_default() += 1;
    }
    let mut encodings = Vec::new();
    for file in &files {
        let path = if files.len() == 1 {
            output.to_path_buf()
        } else {
            let suffix = match names[&file.name.to_lowercase()] {
                1 => "",
                _ => &file.suffix,
            };
            output.join(format!("{}{suffix}.{extension}", file.name))
        };
        let schema =
            output::schema(&kept, &file.fields, &options.prefix).map_err(Error::at(&path))?;
        encodings.push(Encoding::new(path, schema, options)?);
    }
    Ok(encodings)
}

/// Decodes and encodes a segment.
fn decode<J: Job>(
    source: &Source,
    segment: &Segment,
    job: &J,
    encodings: &[Encoding],
    options: &Options,
) -> Result<Part, ErrorKind> {
    let mut report = Report::default();
    let mut outputs: Vec<Option<output::Rows>> = encodings.iter().map(|_| None).collect();
    let start = Instant::now();
    let mut batches = source.input.read(segment, &source.columns)?;
    report.times.read += start.elapsed();
    while let Some(batch) = timed(&mut report.times.read, || batches.next()) {
        let (batch, start) = (batch?, Instant::now());
        let encoding_before = report.times.encode;
        let rows_before = report.rows;
        let failed_row = |row: usize, error: &dyn ToString| {
            failed_row(source, &batch, options, row, rows_before, error)
        };
        let input = job.read(&batch, &options.map)?;
        let selection = job.select(&input);
        report.other_layout += selection.other_layout as u64;
        for (k, mut rows) in selection.rows.into_iter().enumerate() {
            if rows.is_empty() {
                continue;
            }
            report.selected += rows.len() as u64;
            let mut decoded = job.decode(&input, k, &rows);
            for failure in &decoded.failures {
                let count = report.failures.entry(failure.error.reason()).or_default();
                *count += 1;
                if options.on_error == OnError::Fail {
                    let failed = failed_row(failure.row, &failure.error);
                    return Err(ErrorKind::Row(failed));
                }
                if report.first_failures.len() < FIRST_FAILURES {
                    let failed = failed_row(failure.row, &failure.error);
                    report.first_failures.push(failed);
                }
            }
            if options.on_error == OnError::Drop && !decoded.failures.is_empty() {
                let failed: BTreeSet<usize> =
                    decoded.failures.iter().map(|failure| failure.row).collect();
                rows.retain(|row| !failed.contains(row));
                decoded = job.decode(&input, k, &rows);
            }
            for (row, text) in job.differences(&input, &rows, &decoded) {
                report.different += 1;
                if report.first_failures.len() < FIRST_FAILURES {
                    report.first_failures.push(failed_row(row, &text));
                }
            }
            let batch = assemble(source, &batch, &encodings[k], &rows, decoded)?;
            timed(&mut report.times.encode, || match &mut outputs[k] {
                Some(output) => output.append(batch),
                none => none.insert(encodings[k].start()?).append(batch),
            })?;
        }
        report.rows += batch.num_rows() as u64;
        report.times.decode += start.elapsed() - (report.times.encode - encoding_before);
    }
    let encoded = timed(&mut report.times.encode, || {
        let outputs = outputs.into_iter();
        let encoded = outputs.map(|output| output.map(output::Rows::finish).transpose());
        encoded.collect::<Result<_, _>>()
    });
    Ok(Part {
        encoded: encoded?,
        report,
    })
}

/// Adds the time of a step.
fn timed<T>(total: &mut Duration, step: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = step();
    *total += start.elapsed();
    result
}

/// Returns the kept and the decoded columns of the selected rows.
fn assemble(
    source: &Source,
    batch: &RecordBatch,
    encoding: &Encoding,
    rows: &[usize],
    decoded: Decoded,
) -> Result<RecordBatch, ErrorKind> {
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(encoding.schema.fields().len());
    let positions: UInt32Array = rows
        .iter()
        .map(|row| *row as u32)
        .collect::<Vec<_>>()
        .into();
    for index in &source.kept {
        let column = batch.column(*index);
        columns.push(if rows.len() == batch.num_rows() {
            column.clone()
        } else {
            take(column, &positions, None)?
        });
    }
    columns.extend(decoded.columns);
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows.len()));
    Ok(RecordBatch::try_new_with_options(
        encoding.schema.clone(),
        columns,
        &options,
    )?)
}

fn failed_row(
    source: &Source,
    batch: &RecordBatch,
    options: &Options,
    row: usize,
    rows_before: u64,
    error: &dyn ToString,
) -> FailedRow {
    let integer = |role| {
        let index = options.map.find(batch.schema_ref(), role).ok()??;
        integer(batch.column(index), row)
    };
    FailedRow {
        file: source.input.path.clone(),
        row: rows_before + row as u64,
        block_number: integer(Role::BlockNumber),
        log_index: integer(Role::LogIndex),
        error: error.to_string(),
    }
}

fn integer(array: &ArrayRef, row: usize) -> Option<u64> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::UInt32 => Some(array.as_primitive::<types::UInt32Type>().value(row).into()),
        DataType::UInt64 => Some(array.as_primitive::<types::UInt64Type>().value(row)),
        DataType::Int32 => array
            .as_primitive::<types::Int32Type>()
            .value(row)
            .try_into()
            .ok(),
        DataType::Int64 => array
            .as_primitive::<types::Int64Type>()
            .value(row)
            .try_into()
            .ok(),
        _ => None,
    }
}

/// Writes the segments and combines their reports.
struct Writer<'a> {
    sources: &'a [Source],
    encodings: &'a [Encoding],
    outputs: Vec<Option<Output>>,
    report: Report,
    /// Index of the current file, and its rows in the segments before.
    file: (usize, u64),
}

type Decoding = (usize, usize, Result<Part, ErrorKind>);

fn write_in_order(
    decoded: Receiver<Decoding>,
    permits: SyncSender<()>,
    writer: &mut Writer<'_>,
    total: u64,
    progress: &dyn Fn(Progress) -> ControlFlow<()>,
) -> Result<(), Error> {
    let (mut next, mut waiting) = (0, BTreeMap::new());
    for (index, file, part) in decoded {
        waiting.insert(index, (file, part));
        while let Some((file, part)) = waiting.remove(&next) {
            writer.write(file, part)?;
            next += 1;
            let done = writer.report.rows;
            if progress(Progress { done, total }).is_break() {
                let kind = ErrorKind::Cancelled;
                return Err(Error { file: None, kind });
            }
            // All threads may have stopped, since there are no more segments.
            let _ = permits.send(());
        }
    }
    Ok(())
}

impl Writer<'_> {
    fn write(&mut self, file: usize, part: Result<Part, ErrorKind>) -> Result<(), Error> {
        if self.file.0 != file {
            self.file = (file, 0);
        }
        let before = self.file.1;
        let path = &self.sources[file].input.path;
        let Part { encoded, report } = part.map_err(|mut kind| {
            if let ErrorKind::Row(failed) = &mut kind {
                failed.row += before;
            }
            Error::at(path)(kind)
        })?;
        self.file.1 += report.rows;
        self.report.add(report, before);
        let outputs = self.encodings.iter().zip(&mut self.outputs);
        for ((encoding, output), encoded) in outputs.zip(encoded) {
            if let Some(encoded) = encoded {
                let write = || encoding.write(output, encoded);
                let written = timed(&mut self.report.times.write, write);
                written.map_err(Error::at(encoding.path()))?;
            }
        }
        Ok(())
    }

    /// Completes the files. A single file is also written without rows.
    fn finish(mut self) -> Result<Report, Error> {
        let single = self.encodings.len() == 1;
        for (encoding, output) in self.encodings.iter().zip(self.outputs) {
            if output.is_some() || single {
                let finish = || encoding.finish(output);
                let rows = timed(&mut self.report.times.write, finish);
                let rows = rows.map_err(Error::at(encoding.path()))?;
                self.report.written.push((encoding.path().into(), rows));
            }
        }
        Ok(self.report)
    }
}

impl Report {
    /// Adds the report of a segment after the first `before` rows of its file.
    fn add(&mut self, part: Report, before: u64) {
        self.rows += part.rows;
        self.selected += part.selected;
        self.other_layout += part.other_layout;
        self.different += part.different;
        self.times.read += part.times.read;
        self.times.decode += part.times.decode;
        self.times.encode += part.times.encode;
        for (reason, count) in part.failures {
            *self.failures.entry(reason).or_default() += count;
        }
        let failures = part.first_failures.into_iter().map(|mut failed| {
            failed.row += before;
            failed
        });
        self.first_failures.extend(failures);
        self.first_failures.truncate(FIRST_FAILURES);
    }
}
