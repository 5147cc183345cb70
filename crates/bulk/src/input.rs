//! Input files, read in segments.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, BufReader, Read, Seek as _, SeekFrom},
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use lydite_arrow::{ColumnsRead, Transform};
use lydite_bytes::hex;
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{
            ArrowPredicateFn, ArrowReaderMetadata, ArrowReaderOptions,
            ParquetRecordBatchReaderBuilder, RowFilter,
        },
    },
    file::metadata::RowGroupMetaData,
};

use crate::{error::ErrorKind, ipc, lock, paths::is_standard};

/// Rows of a batch, unless they are long.
pub(crate) const BATCH: usize = 1 << 13;
/// The start and the end of an Arrow file.
const MAGIC: &[u8; 6] = b"ARROW1";
/// Rows of a batch of an Arrow stream, which are in memory already.
const STREAM_BATCH: usize = 1 << 16;

/// Sizes that bound memory. Output depends on them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Rows of a segment, unless it is one larger row group.
    pub(crate) segment: usize,
    /// Rows of the largest segment.
    max_segment: usize,
    /// Bytes of a segment that is in memory as a whole.
    pub(crate) segment_bytes: u64,
    /// Bytes of a batch of long rows.
    batch_bytes: u64,
    /// Rows of a row group of one of several outputs.
    pub(crate) group: usize,
    /// Decoded bytes of several outputs that wait for more rows.
    pub(crate) waiting_bytes: u64,
}

impl Limits {
    /// Returns the sizes for this number of bytes in all; by default those of a few hundred MiB.
    pub(crate) fn new(memory: Option<u64>) -> Self {
        let memory = memory.unwrap_or(u64::MAX);
        // A row of common logs needs about 400 bytes: read, decoded, encoded.
        let rows = (memory / 16 / 400).clamp(1 << 10, 1 << 18) as usize;
        Self {
            segment: rows,
            max_segment: 4 * rows,
            segment_bytes: (memory / 16).clamp(1 << 16, 1 << 26),
            batch_bytes: (memory / 64).clamp(1 << 16, 1 << 24),
            group: rows / 4,
            waiting_bytes: 512 * rows as u64,
        }
    }
}

/// An open file, or standard input.
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) schema: SchemaRef,
    content: Content,
}

enum Content {
    Parquet(ArrowReaderMetadata),
    Arrow(Box<ipc::Reader>),
}

/// An input file and the columns read from it.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// Columns read, in order.
    columns: Vec<usize>,
    /// The column of first topics, for a filter.
    filter_column: Option<usize>,
    /// For Parquet.
    metadata: Option<ArrowReaderMetadata>,
}

/// The part of a file that has not been read.
pub(crate) enum Cursor {
    Parquet {
        /// The first row group that is not in a segment.
        next: usize,
        /// Row groups, their rows that are not in a segment, and the rows of a segment.
        groups: Option<(Range<usize>, Range<usize>, usize)>,
    },
    Arrow(Box<ipc::Reader>, Option<RecordBatch>),
}

/// A part of a file, decoded by one thread.
pub(crate) enum Segment {
    Rows {
        groups: Range<usize>,
        /// Rows of the groups.
        rows: Range<usize>,
        /// Whether these are all rows of the groups.
        whole: bool,
    },
    Batches(Vec<RecordBatch>),
}

impl Segment {
    /// Returns the bytes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Rows { .. } => 0,
            Self::Batches(batches) => batches.iter().map(bytes_of).sum(),
        }
    }

    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Rows { rows, .. } => rows.len(),
            Self::Batches(batches) => batches.iter().map(RecordBatch::num_rows).sum(),
        }
    }
}

/// The batches of a segment, with the rows of the segment that they contain.
pub(crate) struct Batches {
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>,
    /// For a filter.
    selected: Option<Arc<Mutex<Selected>>>,
    /// Rows returned so far.
    returned: usize,
    /// Rows of the segment, with those left out.
    rows: usize,
    /// Rows of a batch, at most.
    pub(crate) batch_rows: usize,
    /// Bytes of the segment before they were encoded; an estimate.
    pub(crate) bytes: u64,
}

/// The rows that a filter has selected.
#[derive(Default)]
struct Selected {
    rows: Vec<u32>,
    /// Number of rows before the filter.
    of: usize,
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self, ErrorKind> {
        let (schema, content) = if is_standard(path) {
            arrow(
                Box::new(BufReader::with_capacity(1 << 20, io::stdin())),
                false,
            )?
        } else {
            let mut file = File::open(path)?;
            let mut magic = Vec::new();
            Read::by_ref(&mut file).take(8).read_to_end(&mut magic)?;
            if magic.starts_with(b"PAR1") {
                let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?;
                (metadata.schema().clone(), Content::Parquet(metadata))
            } else if magic.starts_with(MAGIC) {
                // The footer, which ends with the magic number, is not read otherwise.
                let mut end = [0; MAGIC.len()];
                file.seek(SeekFrom::End(-(MAGIC.len() as i64)))?;
                file.read_exact(&mut end)?;
                if end != *MAGIC {
                    let found = hex::encode_prefixed(end);
                    let text = format!("expected ARROW1 at the end of the file, found {found}");
                    return Err(ArrowError::IpcError(text).into());
                }
                // The stream follows, after as many zeros as its writer aligns to.
                file.seek(SeekFrom::Start(magic.len() as u64))?;
                let mut file = BufReader::with_capacity(1 << 20, file);
                let mut word = [0; 8];
                while word == [0; 8] {
                    file.read_exact(&mut word)?;
                }
                arrow(Box::new(io::Cursor::new(word).chain(file)), true)?
            } else if magic.starts_with(&[0xff; 4]) {
                file.seek(SeekFrom::Start(0))?;
                arrow(Box::new(BufReader::with_capacity(1 << 20, file)), false)?
            } else {
                return Err(ErrorKind::UnknownFormat);
            }
        };
        Ok(Self {
            path: path.into(),
            schema,
            content,
        })
    }

    /// Returns the number of rows; `None` for Arrow, which does not store it.
    pub(crate) fn rows(&self) -> Option<u64> {
        match &self.content {
            Content::Parquet(metadata) => {
                let groups = metadata.metadata().row_groups().iter();
                Some(groups.map(rows_of_group).fold(0, u64::saturating_add))
            }
            Content::Arrow(_) => None,
        }
    }

    /// Prepares reading the columns of an operation.
    pub(crate) fn source(self, transform: &Transform) -> Result<(Source, Cursor), ErrorKind> {
        let ColumnsRead { kept, mut decoded } = transform.columns(&self.schema)?;
        decoded.retain(|column| !kept.contains(column));
        let columns: BTreeSet<usize> = kept.iter().chain(&decoded).copied().collect();
        let columns = columns.into_iter().collect();
        let filter_column = transform.filter_column(&self.schema)?;
        self.read_columns(columns, &decoded, filter_column)
    }

    /// Prepares reading these columns, those of `views` as views.
    pub(crate) fn read_columns(
        self,
        columns: Vec<usize>,
        views: &[usize],
        filter_column: Option<usize>,
    ) -> Result<(Source, Cursor), ErrorKind> {
        let (metadata, cursor) = match self.content {
            Content::Parquet(metadata) => {
                let metadata = with_views(&self.schema, &metadata, views)?;
                let (next, groups) = (0, None);
                (Some(metadata), Cursor::Parquet { next, groups })
            }
            Content::Arrow(reader) => (None, Cursor::Arrow(reader, None)),
        };
        let source = Source {
            path: self.path,
            columns,
            filter_column,
            metadata,
        };
        Ok((source, cursor))
    }
}

fn arrow(source: Box<dyn Read + Send>, in_file: bool) -> Result<(SchemaRef, Content), ErrorKind> {
    let reader = ipc::Reader::new(source, in_file)?;
    Ok((reader.schema().clone(), Content::Arrow(Box::new(reader))))
}

fn rows_of_group(group: &RowGroupMetaData) -> u64 {
    group.num_rows().max(0).unsigned_abs()
}

/// Reads these columns of a Parquet file as views of its pages, where they contain byte strings: without copies, and
/// without expanding a dictionary.
fn with_views(
    schema: &Schema,
    metadata: &ArrowReaderMetadata,
    columns: &[usize],
) -> Result<ArrowReaderMetadata, ErrorKind> {
    let fields = schema.fields().iter().enumerate();
    let fields = fields.map(|(index, field)| {
        let view = match field.data_type() {
            DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
            DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
            _ => return field.clone(),
        };
        if columns.contains(&index) {
            Arc::new(Field::clone(field).with_data_type(view))
        } else {
            field.clone()
        }
    });
    let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    let metadata = metadata.metadata().clone();
    Ok(ArrowReaderMetadata::try_new(metadata, options)?)
}

impl Cursor {
    /// Returns the next segment; `None` at the end of the file.
    pub(crate) fn next(
        &mut self,
        source: &Source,
        limits: &Limits,
    ) -> Result<Option<Segment>, ErrorKind> {
        match (self, &source.metadata) {
            (Self::Parquet { next, groups }, Some(metadata)) => {
                Ok(next_rows(next, groups, metadata, limits))
            }
            (Self::Arrow(reader, rest), _) => next_batches(reader, rest, source, limits),
            // Not reached: the cursor of a Parquet file is made with its metadata.
            (Self::Parquet { .. }, None) => Ok(None),
        }
    }
}

fn next_rows(
    next: &mut usize,
    groups: &mut Option<(Range<usize>, Range<usize>, usize)>,
    metadata: &ArrowReaderMetadata,
    limits: &Limits,
) -> Option<Segment> {
    let all = metadata.metadata().row_groups();
    if groups
        .as_ref()
        .is_none_or(|(_, rows, _)| rows.start == rows.end)
    {
        let (start, mut rows) = (*next, 0usize);
        while *next < all.len() && rows < limits.segment {
            let of_group = usize::try_from(rows_of_group(&all[*next])).unwrap_or(usize::MAX);
            rows = rows.saturating_add(of_group);
            *next += 1;
        }
        if rows == 0 {
            return None;
        }
        // A row group of at most the largest size is not split, since each part would decode the pages before it.
        let step = if rows <= limits.max_segment {
            rows
        } else {
            limits.segment
        };
        *groups = Some((start..*next, 0..rows, step));
    }
    let (range, rest, step) = groups.as_mut()?;
    let rows = rest.start..rest.end.min(rest.start.saturating_add(*step));
    rest.start = rows.end;
    Some(Segment::Rows {
        whole: rows.start == 0 && rest.start == rest.end,
        groups: range.clone(),
        rows,
    })
}

/// Collects batches up to the size of a segment, and splits larger ones, so that row groups have a usual size.
fn next_batches(
    reader: &mut ipc::Reader,
    rest: &mut Option<RecordBatch>,
    source: &Source,
    limits: &Limits,
) -> Result<Option<Segment>, ErrorKind> {
    let (mut batches, mut rows, mut bytes) = (Vec::new(), 0, 0);
    while rows < limits.segment && bytes < limits.segment_bytes {
        let batch = match rest.take() {
            Some(batch) => batch,
            None => match reader.next()? {
                Some(batch) => batch.project(&source.columns)?,
                None => break,
            },
        };
        let size = bytes_of(&batch).max(1);
        // As many rows as fit, if rows are of equal length.
        let fitting = (limits.segment_bytes - bytes).saturating_mul(batch.num_rows() as u64) / size;
        let fitting = usize::try_from(fitting).unwrap_or(usize::MAX).max(1);
        let count = batch
            .num_rows()
            .min(limits.segment - rows)
            .min(fitting)
            .min(STREAM_BATCH);
        if count < batch.num_rows() {
            *rest = Some(batch.slice(count, batch.num_rows() - count));
        }
        let batch = batch.slice(0, count);
        rows += count;
        bytes += bytes_of(&batch);
        if count > 0 {
            batches.push(batch);
        }
    }
    Ok((rows > 0).then_some(Segment::Batches(batches)))
}

pub(crate) fn bytes_of(batch: &RecordBatch) -> u64 {
    let columns = batch.columns().iter();
    let sizes = columns.map(|column| column.to_data().get_slice_memory_size().unwrap_or_default());
    sizes.sum::<usize>() as u64
}

impl Source {
    /// Reads a segment. With `filter`, rows that are not logs of an event may be left out before their other columns are
    /// read.
    pub(crate) fn read(
        &self,
        segment: Segment,
        limits: &Limits,
        filter: Option<&Arc<Transform>>,
    ) -> Result<Batches, ErrorKind> {
        let (groups, rows, whole, metadata) = match (segment, &self.metadata) {
            (
                Segment::Rows {
                    groups,
                    rows,
                    whole,
                },
                Some(metadata),
            ) => (groups, rows, whole, metadata),
            (Segment::Batches(batches), _) => {
                return Ok(Batches {
                    rows: batches.iter().map(RecordBatch::num_rows).sum(),
                    batch_rows: STREAM_BATCH,
                    bytes: batches.iter().map(bytes_of).sum(),
                    batches: Box::new(batches.into_iter().map(Ok)),
                    selected: None,
                    returned: 0,
                });
            }
            // Not reached: such segments are made with the metadata.
            (Segment::Rows { .. }, None) => return Err(ErrorKind::UnknownFormat),
        };
        let schema = metadata.parquet_schema();
        let file = File::open(&self.path)?;
        let of_groups = &metadata.metadata().row_groups()[groups.clone()];
        let group_bytes = of_groups
            .iter()
            .map(|group| group.total_byte_size().max(0).unsigned_abs());
        let group_bytes = group_bytes.fold(0, u64::saturating_add).max(1);
        let group_rows = of_groups
            .iter()
            .map(rows_of_group)
            .fold(0, u64::saturating_add);
        let fitting = limits.batch_bytes.saturating_mul(group_rows) / group_bytes;
        let batch_rows = fitting.clamp(16, BATCH as u64) as usize;
        let bytes = group_bytes.saturating_mul(rows.len() as u64) / group_rows.max(1);
        let mut builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
                .with_projection(ProjectionMask::roots(schema, self.columns.iter().copied()))
                .with_batch_size(batch_rows)
                .with_row_groups(groups.collect());
        let mut selected = None;
        match (filter, self.filter_column) {
            (Some(transform), Some(column)) if whole => {
                let (transform, rows) =
                    (transform.clone(), Arc::new(Mutex::new(Selected::default())));
                selected = Some(rows.clone());
                let predicate = move |batch: RecordBatch| {
                    let external = |error| ArrowError::ExternalError(Box::new(error));
                    let matching = transform.filter(batch.column(0)).map_err(external)?;
                    let mut selected = lock(&rows);
                    let before = selected.of;
                    let positions = matching.values().set_indices();
                    selected
                        .rows
                        .extend(positions.map(|row| (before + row) as u32));
                    selected.of += batch.num_rows();
                    Ok(matching)
                };
                let mask = ProjectionMask::roots(schema, [column]);
                let predicate = ArrowPredicateFn::new(mask, predicate);
                builder = builder.with_row_filter(RowFilter::new(vec![Box::new(predicate)]));
            }
            // The offset of a reader counts the selected rows.
            _ => builder = builder.with_offset(rows.start).with_limit(rows.len()),
        }
        Ok(Batches {
            batches: Box::new(builder.build()?),
            selected,
            returned: 0,
            rows: rows.len(),
            batch_rows,
            bytes,
        })
    }
}

impl Batches {
    /// Returns the next batch.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, ErrorKind> {
        let Some(batch) = self.batches.next().transpose()? else {
            let found = match &self.selected {
                Some(selected) => lock(selected).of,
                None => self.returned,
            };
            if found != self.rows {
                let expected = self.rows;
                return Err(ErrorKind::Rows { expected, found });
            }
            return Ok(None);
        };
        self.returned += batch.num_rows();
        Ok(Some(batch))
    }

    /// Returns the position in the segment of the rows of the last batch.
    pub(crate) fn row(&self, batch: &RecordBatch, row: usize) -> usize {
        let position = self.returned - batch.num_rows() + row;
        match &self.selected {
            Some(selected) => lock(selected).rows[position] as usize,
            None => position,
        }
    }

    /// Returns the number of rows of the segment.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }
}
