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
    gather::{Few, Waiting},
    guard::guard,
    input::{Input, Limits},
    lock,
    output::{self, Encoding, Output},
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

/// The rows of one output in a segment.
enum Rows {
    /// Of one of several outputs, and too few for a row group.
    Few(Few),
    Full(output::Rows),
}

impl Default for Rows {
    fn default() -> Self {
        Self::Few(Few::default())
    }
}

/// The rows of all outputs in a segment.
struct Outputs {
    rows: Vec<Rows>,
    /// Bytes of the segment.
    bytes: u64,
}

/// The rows of a segment, with the index of their output, and a part of the report.
#[derive(Default)]
struct Decoded {
    few: Vec<(usize, Few)>,
    full: Vec<(usize, output::Rows)>,
    report: Report,
}

/// Row groups to be written, with the index of their output, and a part of the report.
struct Encoded {
    groups: Vec<(usize, output::Encoded)>,
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
        let worker = Worker {
            transform: self.transform,
            encodings,
            limits: &self.limits,
            seen: &seen,
            waiting: &(encodings.len() > 1).then(|| Waiting::new(encodings.len(), self.limits)),
        };
        thread::scope(|scope| {
            for _ in 0..self.threads {
                let done = done.clone();
                let (segments, permitted) = (&segments, &permitted);
                scope.spawn(move || {
                    let next = || {
                        lock(permitted).recv().ok()?;
                        let (index, segments) = &mut *lock(segments);
                        *index += 1;
                        Some((*index - 1, segments.next()))
                    };
                    while let Some((index, work)) = next() {
                        let decoded = match work {
                            Some(work) => Some(worker.segment(index, work)),
                            None => worker.rest(index),
                        };
                        let Some(decoded) = decoded else { return };
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
        decoded: Receiver<(usize, Result<Encoded, Error>)>,
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

/// Decodes and encodes segments on one thread.
#[derive(Clone, Copy)]
struct Worker<'a> {
    transform: &'a Arc<Transform>,
    encodings: &'a [Encoding],
    limits: &'a Limits,
    seen: &'a Seen,
    /// Of several outputs.
    waiting: &'a Option<Waiting>,
}

impl Worker<'_> {
    /// Decodes and encodes a segment.
    fn segment(self, index: usize, work: Result<Work, Error>) -> Result<Encoded, Error> {
        let mut decoded = work.and_then(|work| self.decode(work));
        let mut groups = Vec::new();
        if let Some(waiting) = self.waiting {
            // Later segments wait for this one, also after an error.
            let few = match &mut decoded {
                Ok(decoded) => std::mem::take(&mut decoded.few),
                Err(_) => Vec::new(),
            };
            let full = decoded.iter().flat_map(|decoded| &decoded.full);
            groups = waiting.add(index, few, full.map(|(output, _)| *output));
        }
        self.encode(groups, decoded?)
    }

    /// Encodes the rows of an output that wait after the last segment.
    fn rest(self, index: usize) -> Option<Result<Encoded, Error>> {
        let group = self.waiting.as_ref()?.rest(index)?;
        Some(self.encode(vec![group], Decoded::default()))
    }

    fn decode(self, work: Work) -> Result<Decoded, Error> {
        let mut decoded = Decoded::default();
        let rows = self.encodings.iter().map(|_| Rows::default());
        let mut outputs = Outputs {
            rows: rows.collect(),
            bytes: 0,
        };
        for part in work.parts {
            let source = part.source.clone();
            let report = guard(|| self.decode_part(part, &mut outputs));
            decoded.report.add(report.map_err(Error::at(&source.path))?);
        }
        for (index, rows) in outputs.rows.into_iter().enumerate() {
            match rows {
                Rows::Few(few) if few.rows() == 0 => {}
                Rows::Few(mut few) => {
                    let combined =
                        timed(&mut decoded.report.times.encode, || guard(|| few.combine()));
                    combined.map_err(Error::at(self.encodings[index].path()))?;
                    decoded.few.push((index, few));
                }
                Rows::Full(full) => decoded.full.push((index, full)),
            }
        }
        Ok(decoded)
    }

    fn decode_part(self, part: Part, outputs: &mut Outputs) -> Result<Report, ErrorKind> {
        let Part {
            source,
            segment,
            first_row,
        } = part;
        let mut report = Report::default();
        let filter = self.seen.is_selective().then_some(self.transform);
        let mut batches = timed(&mut report.times.read, || {
            source.read(segment, self.limits, filter)
        })?;
        report.rows = batches.rows() as u64;
        outputs.bytes = outputs.bytes.saturating_add(batches.bytes);
        // Long rows are not kept in memory.
        let gather = self.waiting.is_some() && outputs.bytes <= self.limits.waiting_bytes;
        let group = if gather { self.limits.group } else { 0 };
        while let Some(batch) = timed(&mut report.times.read, || batches.next())? {
            let map = &self.transform.options().map;
            let failed_row = |row: usize, error: &dyn ToString| FailedRow {
                file: source.path.clone(),
                row: first_row + batches.row(&batch, row) as u64,
                block_number: integer(&batch, Role::BlockNumber, row, map),
                log_index: integer(&batch, Role::LogIndex, row, map),
                error: error.to_string(),
            };
            let transformed = timed(&mut report.times.decode, || self.transform.apply(&batch));
            let transformed = transformed.map_err(|error| match error {
                lydite_arrow::Error::Row(failure) => {
                    ErrorKind::Row(failed_row(failure.row, &failure.error))
                }
                error => error.into(),
            })?;
            report.selected += transformed.selected as u64;
            report.other_layout += transformed.other_layout as u64;
            report.overflows += transformed.overflows.len() as u64;
            report.different += transformed.differences.len() as u64;
            for failure in &transformed.failures {
                let count = report.failures.entry(failure.error.reason()).or_default();
                *count += 1;
            }
            let missing = FIRST_FAILURES - report.first_failures.len();
            let failures = transformed.failures.iter().chain(&transformed.overflows);
            let failures = failures.map(|failure| failed_row(failure.row, &failure.error));
            let differences = transformed.differences.iter();
            let differences = differences.map(|(row, text)| failed_row(*row, text));
            let first = failures.chain(differences).take(missing);
            report.first_failures.extend(first);
            let (batch_rows, batches) = (batches.batch_rows, transformed.batches.into_iter());
            for ((batch, output), encoding) in batches.zip(&mut outputs.rows).zip(self.encodings) {
                let Some(batch) = batch else { continue };
                timed(&mut report.times.encode, || {
                    let batch = encoding.convert(batch)?;
                    let few = match output {
                        Rows::Few(few) => few,
                        Rows::Full(full) => return full.append(batch),
                    };
                    few.push(batch, batch_rows);
                    if few.rows() >= group {
                        *output = Rows::Full(std::mem::take(few).start(encoding)?);
                    }
                    Ok::<_, ErrorKind>(())
                })?;
            }
        }
        self.seen.rows.fetch_add(report.rows, Ordering::Relaxed);
        self.seen
            .selected
            .fetch_add(report.selected, Ordering::Relaxed);
        Ok(report)
    }

    /// Encodes row groups: first those whose rows have waited, then those of this segment.
    fn encode(self, groups: Vec<(usize, Few)>, decoded: Decoded) -> Result<Encoded, Error> {
        let mut report = decoded.report;
        let encoded = timed(&mut report.times.encode, || {
            let at = |output: usize| Error::at(self.encodings[output].path());
            let mut encoded = Vec::new();
            for (output, few) in groups {
                let rows = few
                    .start(&self.encodings[output])
                    .and_then(output::Rows::finish);
                encoded.push((output, rows.map_err(at(output))?));
            }
            for (output, rows) in decoded.full {
                encoded.push((output, rows.finish().map_err(at(output))?));
            }
            Ok::<_, Error>(encoded)
        });
        Ok(Encoded {
            groups: encoded?,
            report,
        })
    }
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
    fn write(&mut self, segment: Encoded) -> Result<(), Error> {
        self.report.add(segment.report);
        for (index, group) in segment.groups {
            let (encoding, output) = (&self.encodings[index], &mut self.outputs[index]);
            let write = || encoding.write(output, group);
            let written = timed(&mut self.report.times.write, write);
            written.map_err(Error::at(encoding.path()))?;
        }
        Ok(())
    }

    /// Completes the files. A single file is also written without rows; of several, that of an earlier run is removed.
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
            } else {
                encoding.remove_old().map_err(Error::at(encoding.path()))?;
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
        self.overflows += part.overflows;
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
