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

use arrow_array::{Array, ArrayRef, RecordBatch, cast::AsArray as _, types};
use arrow_schema::DataType;
use lydite_arrow::{ColumnMap, ColumnsRead, Job, Role, Transform};

use crate::{
    Error, FIRST_FAILURES, FailedRow, Options, Progress, Report,
    error::ErrorKind,
    input::{self, Input, Segment},
    output::{self, Encoded, Encoding, Output},
};

/// Finished segments that may wait for the writer, in addition to one per thread.
const WAITING: usize = 2;

/// An input file and the columns read from it.
struct Source {
    input: Input,
    /// Columns read, in order.
    columns: Vec<usize>,
}

/// A decoded segment: what is to be written to each file, and the part of the report. Rows are counted from the start of
/// the segment.
struct Part {
    encoded: Vec<Option<Encoded>>,
    report: Report,
}

pub(crate) fn run(
    inputs: &[PathBuf],
    output: &Path,
    job: Job,
    options: &Options,
    progress: &dyn Fn(Progress) -> ControlFlow<()>,
) -> Result<Report, Error> {
    let (transform, sources) = open(inputs, job, options)?;
    let encodings = encodings(&transform, output, options)?;
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
            let (transform, sources, encodings, segments, permitted) =
                (&transform, &sources, &encodings, &segments, &permitted);
            scope.spawn(move || {
                let next = || {
                    lock(permitted).recv().ok()?;
                    lock(segments).next()
                };
                while let Some((index, (file, segment))) = next() {
                    let source = &sources[file];
                    let decode = || decode(source, &segment, transform, encodings);
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

/// Opens the files and finds their columns. The first file determines the columns of the output.
fn open(
    inputs: &[PathBuf],
    job: Job,
    options: &Options,
) -> Result<(Transform, Vec<Source>), Error> {
    let files = input::files(inputs)?;
    let first = Input::open(&files[0])?;
    let transform = Transform::new(job, &first.schema, options.transform.clone());
    let transform = transform.map_err(|error| Error::at(&files[0])(error.into()))?;
    let mut sources = Vec::with_capacity(files.len());
    let mut first = Some(first);
    for path in &files {
        let input = match first.take() {
            Some(first) => first,
            None => Input::open(path)?,
        };
        sources.push(source(input, &transform).map_err(Error::at(path))?);
    }
    Ok((transform, sources))
}

fn source(input: Input, transform: &Transform) -> Result<Source, ErrorKind> {
    let ColumnsRead { kept, mut decoded } = transform.columns(&input.schema)?;
    decoded.retain(|column| !kept.contains(column));
    let columns: BTreeSet<usize> = kept.iter().chain(&decoded).copied().collect();
    Ok(Source {
        input: input.with_views(&decoded)?,
        columns: columns.into_iter().collect(),
    })
}

/// Returns the encoding of each output file.
fn encodings(
    transform: &Transform,
    output: &Path,
    options: &Options,
) -> Result<Vec<Encoding>, Error> {
    let files = transform.outputs();
    let extension = match options.format {
        Some(crate::Format::Arrow) => "arrow",
        _ => "parquet",
    };
    // Some file systems do not distinguish upper and lower case.
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        *names.entry(file.name.to_lowercase()).or_default() += 1;
    }
    let mut encodings = Vec::new();
    for file in files {
        let path = if files.len() == 1 {
            output.to_path_buf()
        } else {
            let suffix = match names[&file.name.to_lowercase()] {
                1 => "",
                _ => &file.suffix,
            };
            output.join(format!("{}{suffix}.{extension}", file.name))
        };
        encodings.push(Encoding::new(path, file.schema.clone(), options)?);
    }
    Ok(encodings)
}

/// Decodes and encodes a segment.
fn decode(
    source: &Source,
    segment: &Segment,
    transform: &Transform,
    encodings: &[Encoding],
) -> Result<Part, ErrorKind> {
    let mut report = Report::default();
    let mut outputs: Vec<Option<output::Rows>> = encodings.iter().map(|_| None).collect();
    let start = Instant::now();
    let mut batches = source.input.read(segment, &source.columns)?;
    report.times.read += start.elapsed();
    while let Some(batch) = timed(&mut report.times.read, || batches.next()) {
        let batch = batch?;
        let rows_before = report.rows;
        let failed_row = |row: usize, error: &dyn ToString| FailedRow {
            file: source.input.path.clone(),
            row: rows_before + row as u64,
            block_number: integer(&batch, Role::BlockNumber, row, &transform.options().map),
            log_index: integer(&batch, Role::LogIndex, row, &transform.options().map),
            error: error.to_string(),
        };
        let transformed = timed(&mut report.times.decode, || transform.apply(&batch));
        let transformed = transformed.map_err(|error| match error {
            lydite_arrow::Error::Row(failure) => {
                ErrorKind::Row(failed_row(failure.row, &failure.error))
            }
            error => error.into(),
        })?;
        report.selected += transformed.selected as u64;
        report.other_layout += transformed.other_layout as u64;
        report.different += transformed.differences.len() as u64;
        for failure in &transformed.failures {
            let count = report.failures.entry(failure.error.reason()).or_default();
            *count += 1;
        }
        let missing = FIRST_FAILURES - report.first_failures.len();
        let failures = transformed.failures.iter();
        let failures = failures.map(|failure| failed_row(failure.row, &failure.error));
        let differences = transformed.differences.iter();
        let differences = differences.map(|(row, text)| failed_row(*row, text));
        let first = failures.chain(differences).take(missing);
        report.first_failures.extend(first);
        for ((batch, output), encoding) in transformed
            .batches
            .into_iter()
            .zip(&mut outputs)
            .zip(encodings)
        {
            let Some(batch) = batch else { continue };
            timed(&mut report.times.encode, || match output {
                Some(output) => output.append(batch),
                none => none.insert(encoding.start()?).append(batch),
            })?;
        }
        report.rows += batch.num_rows() as u64;
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

/// Returns an integer of a row; `None` without such a column.
fn integer(batch: &RecordBatch, role: Role, row: usize, map: &ColumnMap) -> Option<u64> {
    let array: &ArrayRef = batch.column(map.find(batch.schema_ref(), role).ok()??);
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
