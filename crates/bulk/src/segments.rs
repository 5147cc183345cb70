//! The segments of all input files, opened one after the other.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    vec,
};

use lydite_arrow::Transform;

use crate::{
    Error, Progress,
    error::ErrorKind,
    guard::guard,
    input::{Cursor, Input, Limits, Segment, Source},
    paths::InputFile,
};

/// Rows for [`Progress`].
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// Bytes of all files.
    bytes: AtomicU64,
    /// Bytes and rows of those that have been opened.
    opened_bytes: AtomicU64,
    opened_rows: AtomicU64,
    done: AtomicU64,
}

impl Totals {
    pub(crate) fn new(files: &[InputFile]) -> Self {
        let bytes = files.iter().map(|file| size(&file.path)).sum();
        Self {
            bytes: AtomicU64::new(bytes),
            ..Self::default()
        }
    }

    /// Leaves out a file.
    pub(crate) fn skip(&self, file: &Path) {
        self.bytes.fetch_sub(size(file), Ordering::Relaxed);
    }

    pub(crate) fn add_done(&self, rows: u64) {
        self.done.fetch_add(rows, Ordering::Relaxed);
    }

    fn add_opened(&self, input: &Input) {
        self.opened_bytes
            .fetch_add(size(&input.path), Ordering::Relaxed);
        let rows = input.rows().unwrap_or_default();
        self.opened_rows.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn progress(&self) -> Progress {
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let rows = u128::from(load(&self.opened_rows)) * u128::from(load(&self.bytes));
        let total = rows / u128::from(load(&self.opened_bytes)).max(1);
        Progress {
            done: load(&self.done),
            total: u64::try_from(total).unwrap_or(u64::MAX),
        }
    }
}

fn size(file: &Path) -> u64 {
    file.metadata().map_or(0, |metadata| metadata.len())
}

/// Segments of one or more files that together become one row group.
pub(crate) struct Work {
    pub(crate) parts: Vec<Part>,
}

/// A segment and its file.
pub(crate) struct Part {
    pub(crate) source: Arc<Source>,
    pub(crate) segment: Segment,
    /// Rows of the file before.
    pub(crate) first_row: u64,
}

pub(crate) struct Segments<'a> {
    files: vec::IntoIter<InputFile>,
    /// The first of the files, which is open already.
    first: Option<Input>,
    current: Option<(Arc<Source>, Cursor, u64)>,
    transform: &'a Transform,
    limits: Limits,
    totals: &'a Totals,
}

impl<'a> Segments<'a> {
    /// Prepares reading files, of which `first` is the first one.
    pub(crate) fn new(
        files: Vec<InputFile>,
        first: Input,
        transform: &'a Transform,
        limits: Limits,
        totals: &'a Totals,
    ) -> Self {
        Self {
            files: files.into_iter(),
            first: Some(first),
            current: None,
            transform,
            limits,
            totals,
        }
    }

    /// Returns the next segments; `None` at the end, also after an error.
    pub(crate) fn next(&mut self) -> Option<Result<Work, Error>> {
        let (mut parts, mut rows, mut bytes) = (Vec::new(), 0, 0);
        while rows < self.limits.segment && bytes < self.limits.segment_bytes {
            match self.next_part() {
                Ok(Some(part)) => {
                    bytes += part.segment.bytes();
                    rows = part.segment.rows().saturating_add(rows);
                    parts.push(part);
                }
                Ok(None) => break,
                Err(error) => {
                    (self.files, self.current) = (Vec::new().into_iter(), None);
                    return Some(Err(error));
                }
            }
        }
        (!parts.is_empty()).then_some(Ok(Work { parts }))
    }

    fn next_part(&mut self) -> Result<Option<Part>, Error> {
        loop {
            let (source, cursor, first_row) = match &mut self.current {
                Some(current) => current,
                none => {
                    let Some(file) = self.files.next() else {
                        return Ok(None);
                    };
                    let first = self.first.take();
                    let opened = guard(|| {
                        let input = first.map_or_else(|| Input::open(&file.path), Ok)?;
                        self.totals.add_opened(&input);
                        let (source, cursor) = input.source(self.transform)?;
                        Ok::<_, ErrorKind>((Arc::new(source), cursor, 0))
                    });
                    none.insert(opened.map_err(Error::at(&file.path))?)
                }
            };
            let next = guard(|| cursor.next(source, &self.limits));
            if let Some(segment) = next.map_err(Error::at(&source.path))? {
                let part = Part {
                    source: source.clone(),
                    first_row: *first_row,
                    segment,
                };
                *first_row += part.segment.rows() as u64;
                return Ok(Some(part));
            }
            self.current = None;
        }
    }
}
