//! Segments in, decoded by all threads, written in order.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use arrow_array::{Array, ArrayRef, RecordBatch, cast::AsArray as _, types};
use arrow_schema::DataType;
use lydite_arrow::{ColumnMap, Role, Transform};

use crate::{
    Error, FIRST_FAILURES, FailedRow, Report,
    error::ErrorKind,
    guard::guard,
    input::{Input, Limits},
    lock,
    output::{self, Encoded, Encoding, Output},
    paths::InputFile,
    segments::{Part, Segments, Totals, Work},
};

/// Finished segments that may wait for the writer, in addition to one per thread.
const WAITING: usize = 2;

/// What a run needs besides its files.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) transform: &'a Arc<Transform>,
    pub(crate) limits: Limits,
    pub(crate) threads: usize,
    pub(crate) totals: &'a Totals,
    /// Called after each segment.
    pub(crate) progress: &'a dyn Fn() -> ControlFlow<()>,
}

/// A decoded segment: what is to be written to each file, and a part of the report.
struct Decoded {
    encoded: Vec<Option<Encoded>>,
    report: Report,
}

/// Numbers of rows read and of rows that are logs of an event, by which the threads decide whether a filter pays.
#[derive(Default)]
struct Seen {
    rows: AtomicU64,
    selected: AtomicU64,
}

impl Seen {
    /// Whether less than half of the rows are selected. The output is the same.
    fn is_selective(&self) -> bool {
        let (rows, selected) = (&self.rows, &self.selected);
        2 * selected.load(Ordering::Relaxed) < rows.load(Ordering::Relaxed)
    }
}

impl Run<'_> {
    /// Reads files, of which `first` is the first one, and writes all outputs.
    pub(crate) fn files(
        self,
        files: Vec<InputFile>,
        first: Input,
        encodings: &[Encoding],
    ) -> Result<Report, Error> {
        let segments = Segments::new(files, first, self.transform, self.limits, self.totals);
        let segments = Mutex::new((0, segments));
        let seen = Seen::default();
        // A thread takes a permit before a segment, and the writer returns it once the segment is written.
        let (permits, permitted) = sync_channel(self.threads + WAITING);
        for _ in 0..self.threads + WAITING {
            // The receiver exists.
            let _ = permits.send(());
        }
        let permitted = Mutex::new(permitted);
        let (done, decoded) = sync_channel(self.threads + WAITING);
        let (transform, limits) = (self.transform, &self.limits);
        thread::scope(|scope| {
            for _ in 0..self.threads {
                let done = done.clone();
                let (segments, permitted, seen) = (&segments, &permitted, &seen);
                scope.spawn(move || {
                    let next = || {
                        lock(permitted).recv().ok()?;
                        let (index, segments) = &mut *lock(segments);
                        *index += 1;
                        Some((*index - 1, segments.next()?))
                    };
                    while let Some((index, work)) = next() {
                        let decoded =
                            work.and_then(|work| decode(work, transform, encodings, limits, seen));
                        if done.send((index, decoded)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(done);
            let mut writer = Writer {
                encodings,
                outputs: encodings.iter().map(|_| None).collect(),
                report: Report::default(),
            };
            // The permits are dropped with an error, and the threads stop.
            self.write_in_order(decoded, permits, &mut writer)?;
            writer.finish()
        })
    }

    fn write_in_order(
        self,
        decoded: Receiver<(usize, Result<Decoded, Error>)>,
        permits: SyncSender<()>,
        writer: &mut Writer<'_>,
    ) -> Result<(), Error> {
        let (mut next, mut waiting) = (0, BTreeMap::new());
        for (index, segment) in decoded {
            waiting.insert(index, segment);
            while let Some(segment) = waiting.remove(&next) {
                let segment = segment?;
                self.totals.add_done(segment.report.rows);
                writer.write(segment)?;
                next += 1;
                if (self.progress)().is_break() {
                    let kind = ErrorKind::Cancelled;
                    return Err(Error { file: None, kind });
                }
                // All threads may have stopped, since there are no more segments.
                let _ = permits.send(());
            }
        }
        Ok(())
    }
}

/// Decodes and encodes segments.
fn decode(
    work: Work,
    transform: &Arc<Transform>,
    encodings: &[Encoding],
    limits: &Limits,
    seen: &Seen,
) -> Result<Decoded, Error> {
    let mut report = Report::default();
    let mut outputs: Vec<Option<output::Rows>> = encodings.iter().map(|_| None).collect();
    for part in work.parts {
        let source = part.source.clone();
        let decoded = guard(|| decode_part(part, transform, encodings, limits, seen, &mut outputs));
        report.add(decoded.map_err(Error::at(&source.path))?);
    }
    let encoded = timed(&mut report.times.encode, || {
        let outputs = outputs.into_iter().zip(encodings);
        let encoded = outputs.map(|(output, encoding)| {
            let encoded = output.map(output::Rows::finish).transpose();
            encoded.map_err(Error::at(encoding.path()))
        });
        encoded.collect::<Result<_, _>>()
    });
    Ok(Decoded {
        encoded: encoded?,
        report,
    })
}

fn decode_part(
    part: Part,
    transform: &Arc<Transform>,
    encodings: &[Encoding],
    limits: &Limits,
    seen: &Seen,
    outputs: &mut [Option<output::Rows>],
) -> Result<Report, ErrorKind> {
    let Part {
        source,
        segment,
        first_row,
    } = part;
    let mut report = Report::default();
    let filter = seen.is_selective().then_some(transform);
    let mut batches = timed(&mut report.times.read, || {
        source.read(segment, limits, filter)
    })?;
    report.rows = batches.rows() as u64;
    while let Some(batch) = timed(&mut report.times.read, || batches.next())? {
        let map = &transform.options().map;
        let failed_row = |row: usize, error: &dyn ToString| FailedRow {
            file: source.path.clone(),
            row: first_row + batches.row(&batch, row) as u64,
            block_number: integer(&batch, Role::BlockNumber, row, map),
            log_index: integer(&batch, Role::LogIndex, row, map),
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
        let batches = transformed.batches.into_iter();
        for ((batch, output), encoding) in batches.zip(&mut *outputs).zip(encodings) {
            let Some(batch) = batch else { continue };
            timed(&mut report.times.encode, || match output {
                Some(output) => output.append(batch),
                none => none.insert(encoding.start()?).append(batch),
            })?;
        }
    }
    seen.rows.fetch_add(report.rows, Ordering::Relaxed);
    seen.selected.fetch_add(report.selected, Ordering::Relaxed);
    Ok(report)
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
    encodings: &'a [Encoding],
    outputs: Vec<Option<Output>>,
    report: Report,
}

impl Writer<'_> {
    fn write(&mut self, segment: Decoded) -> Result<(), Error> {
        self.report.add(segment.report);
        let outputs = self.encodings.iter().zip(&mut self.outputs);
        for ((encoding, output), encoded) in outputs.zip(segment.encoded) {
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
                self.report
                    .written
                    .push((encoding.path().to_path_buf(), rows));
            }
        }
        Ok(self.report)
    }
}

impl Report {
    /// Adds the report of the next segment or file.
    pub(crate) fn add(&mut self, part: Report) {
        self.rows += part.rows;
        self.selected += part.selected;
        self.other_layout += part.other_layout;
        self.different += part.different;
        self.skipped += part.skipped;
        self.times.read += part.times.read;
        self.times.decode += part.times.decode;
        self.times.encode += part.times.encode;
        self.times.write += part.times.write;
        for (reason, count) in part.failures {
            *self.failures.entry(reason).or_default() += count;
        }
        self.first_failures.extend(part.first_failures);
        self.first_failures.truncate(FIRST_FAILURES);
        self.written.extend(part.written);
    }
}
