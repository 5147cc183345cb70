//! Row groups of outputs with few rows in a segment.
//!
//! With a file per event, most events are rare: a segment has a handful of their logs. The rows of such an output wait,
//! decoded, for those of the next segments, until they are enough for a row group or too many bytes wait. Segments are
//! added in order, so the row groups do not depend on the number of threads.

use std::sync::{Condvar, Mutex, PoisonError};

use arrow_array::{Array as _, RecordBatch, RecordBatchOptions, cast::AsArray as _};
use arrow_select::concat::concat_batches;
use lydite_arrow::compact_views;

use crate::{
    error::ErrorKind,
    input::{Limits, bytes_of},
    lock,
    output::{Encoding, Rows},
};

/// Bytes of a waiting column in addition to its values.
const COLUMN: u64 = 512;

/// Decoded rows of an output.
#[derive(Default)]
pub(crate) struct Few {
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: u64,
    /// Rows of the batches that were read, at most.
    batch_rows: usize,
}

impl Few {
    pub(crate) fn push(&mut self, batch: RecordBatch, batch_rows: usize) {
        if self.rows == 0 {
            self.batch_rows = batch_rows;
        }
        self.rows += batch.num_rows();
        self.batches.push(batch);
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Starts a row group with these rows.
    pub(crate) fn start(self, encoding: &Encoding) -> Result<Rows, ErrorKind> {
        let mut rows = encoding.start(self.batch_rows)?;
        for batch in self.batches {
            rows.append(batch)?;
        }
        Ok(rows)
    }

    /// Combines the batches, so that they need no more memory than their values, and determines their size. It must not
    /// depend on how the rows were split into batches.
    pub(crate) fn combine(&mut self) -> Result<(), ErrorKind> {
        let Some(first) = self.batches.first() else {
            return Ok(());
        };
        let combined = concat_batches(first.schema_ref(), &self.batches)?;
        self.bytes = bytes_of(&combined);
        let mut columns = Vec::with_capacity(combined.num_columns());
        for column in combined.columns() {
            // There is a bitmap of nulls if one of the batches had one.
            if column.nulls().is_none() {
                self.bytes += column.len().div_ceil(8) as u64;
            }
            self.bytes += COLUMN;
            if let Some(views) = column.as_binary_view_opt() {
                self.bytes += views.total_buffer_bytes_used() as u64;
            } else if let Some(views) = column.as_string_view_opt() {
                self.bytes += views.total_buffer_bytes_used() as u64;
            }
            columns.push(compact_views(column));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let batch = RecordBatch::try_new_with_options(combined.schema(), columns, &options)?;
        self.batches = vec![batch];
        Ok(())
    }

    fn append(&mut self, other: Self) {
        if self.rows == 0 {
            self.batch_rows = other.batch_rows;
        }
        self.batches.extend(other.batches);
        self.rows += other.rows;
        self.bytes += other.bytes;
    }
}

/// The rows that wait, of all outputs.
pub(crate) struct Waiting {
    limits: Limits,
    state: Mutex<State>,
    /// Notified after each segment.
    added: Condvar,
}

struct State {
    /// The segment that is added next.
    next: usize,
    outputs: Vec<Few>,
    bytes: u64,
}

impl State {
    fn take(&mut self, output: usize) -> Option<(usize, Few)> {
        let few = std::mem::take(&mut self.outputs[output]);
        self.bytes -= few.bytes;
        (few.rows > 0).then_some((output, few))
    }

    fn largest(&self) -> Option<usize> {
        (0..self.outputs.len())
            .rev()
            .max_by_key(|output| self.outputs[*output].bytes)
    }
}

impl Waiting {
    pub(crate) fn new(outputs: usize, limits: Limits) -> Self {
        let outputs = (0..outputs).map(|_| Few::default()).collect();
        Self {
            limits,
            state: Mutex::new(State {
                next: 0,
                outputs,
                bytes: 0,
            }),
            added: Condvar::new(),
        }
    }

    /// Adds the rows of a segment, after those of all earlier ones. Of the outputs in `full` none stay, since their other
    /// rows follow. Returns row groups.
    pub(crate) fn add(
        &self,
        segment: usize,
        few: Vec<(usize, Few)>,
        full: impl Iterator<Item = usize>,
    ) -> Vec<(usize, Few)> {
        self.in_turn(segment, |state| {
            let mut groups: Vec<_> = full.filter_map(|output| state.take(output)).collect();
            for (output, few) in few {
                state.bytes += few.bytes;
                state.outputs[output].append(few);
                if state.outputs[output].rows >= self.limits.group {
                    groups.extend(state.take(output));
                }
            }
            while state.bytes > self.limits.waiting_bytes {
                groups.extend(state.largest().and_then(|output| state.take(output)));
            }
            groups
        })
    }

    /// Returns the rows of an output that wait after the last segment; `None` if there are no more.
    pub(crate) fn rest(&self, segment: usize) -> Option<(usize, Few)> {
        self.in_turn(segment, |state| {
            (0..state.outputs.len()).find_map(|output| state.take(output))
        })
    }

    fn in_turn<T>(&self, segment: usize, step: impl FnOnce(&mut State) -> T) -> T {
        let state = lock(&self.state);
        let state = self.added.wait_while(state, |state| state.next < segment);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let result = step(&mut state);
        state.next += 1;
        self.added.notify_all();
        result
    }
}
