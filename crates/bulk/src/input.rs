//! Input files, split into segments.

use std::{
    fs::{self, File},
    io::Read as _,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::RecordBatch;
use arrow_ipc::reader::FileReaderBuilder;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::{
    ProjectionMask,
    arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
};
use parquet::file::metadata::RowGroupMetaData;

use crate::{Error, error::ErrorKind};

/// Rows of a segment, unless it is one larger row group.
const SEGMENT: usize = 1 << 18;
/// Rows of the largest segment.
const MAX_SEGMENT: usize = 1 << 20;
/// Rows of a batch, unless they are long.
const BATCH: usize = 1 << 13;
/// Bytes of a batch of long rows.
const BATCH_BYTES: u64 = 1 << 24;

/// An open file.
#[derive(Clone)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) schema: SchemaRef,
    content: Content,
}

#[derive(Clone)]
enum Content {
    Parquet(ArrowReaderMetadata),
    /// Number of batches.
    Arrow(usize),
}

/// A part of a file, read by one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Row groups or batches.
    groups: Range<usize>,
    /// Rows of the groups, for Parquet.
    rows: Option<Range<usize>>,
}

/// Returns the number of rows of a batch.
fn batch_rows(metadata: &ArrowReaderMetadata, groups: &Range<usize>) -> usize {
    let groups = &metadata.metadata().row_groups()[groups.clone()];
    let sum = |of: fn(&RowGroupMetaData) -> i64| -> u64 {
        groups
            .iter()
            .map(|group| of(group).max(0).unsigned_abs())
            .sum()
    };
    let (rows, bytes) = (
        sum(RowGroupMetaData::num_rows),
        sum(RowGroupMetaData::total_byte_size),
    );
    let fitting = BATCH_BYTES.saturating_mul(rows) / bytes.max(1);
    fitting.clamp(16, BATCH as u64) as usize
}

/// Returns the files: those given, and the Parquet and Arrow files in directories, sorted by name.
pub(crate) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        let metadata = fs::metadata(path).map_err(|error| Error::at(path)(error.into()))?;
        if metadata.is_dir() {
            collect(path, &mut files)?;
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() {
        let kind = ErrorKind::NoInput;
        return Err(Error {
            file: paths.first().cloned(),
            kind,
        });
    }
    Ok(files)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    let at = |error: std::io::Error| Error::at(directory)(error.into());
    let entries = fs::read_dir(directory).map_err(at)?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(at)?.path());
    }
    paths.sort();
    for path in paths {
        let hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let known = path
            .extension()
            .is_some_and(|extension| extension == "parquet" || is_arrow(&path));
        if hidden {
            continue;
        }
        // Links to directories are not followed, so that there is no cycle.
        if path.is_dir() && !path.is_symlink() {
            collect(&path, files)?;
        } else if known {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether the name of a file is that of an Arrow file.
pub(crate) fn is_arrow(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("arrow" | "feather" | "ipc"))
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        Self::try_open(path).map_err(Error::at(path))
    }

    fn try_open(path: &Path) -> Result<Self, ErrorKind> {
        let mut file = File::open(path)?;
        let mut magic = [0; 6];
        let length = file.read(&mut magic)?;
        let (schema, content) = if magic.starts_with(b"PAR1") {
            let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?;
            (metadata.schema().clone(), Content::Parquet(metadata))
        } else if magic[..length] == *b"ARROW1" {
            let reader = FileReaderBuilder::new().build(File::open(path)?)?;
            (reader.schema(), Content::Arrow(reader.num_batches()))
        } else {
            return Err(ErrorKind::UnknownFormat);
        };
        Ok(Self {
            path: path.into(),
            schema,
            content,
        })
    }

    /// Reads these columns of a Parquet file as views of its pages, where they contain byte strings: without copies, and
    /// without expanding a dictionary.
    pub(crate) fn with_views(mut self, columns: &[usize]) -> Result<Self, ErrorKind> {
        if let Content::Parquet(metadata) = &self.content {
            let fields = self.schema.fields().iter().enumerate();
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
            let metadata_of_file = self.schema.metadata().clone();
            let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), metadata_of_file);
            let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
            let metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)?;
            self.schema = metadata.schema().clone();
            self.content = Content::Parquet(metadata);
        }
        Ok(self)
    }

    /// Returns the number of rows; 0 for Arrow files, which do not store it.
    pub(crate) fn rows(&self) -> u64 {
        match &self.content {
            Content::Parquet(metadata) => {
                let groups = metadata.metadata().row_groups().iter();
                groups
                    .map(|group| group.num_rows().max(0).unsigned_abs())
                    .sum()
            }
            Content::Arrow(_) => 0,
        }
    }

    pub(crate) fn segments(&self) -> Vec<Segment> {
        let mut segments = Vec::new();
        let metadata = match &self.content {
            Content::Parquet(metadata) => metadata.metadata(),
            Content::Arrow(batches) => {
                let batches = 0..*batches;
                return batches
                    .map(|batch| Segment {
                        groups: batch..batch + 1,
                        rows: None,
                    })
                    .collect();
            }
        };
        let (mut start, mut rows) = (0, 0);
        let groups = metadata.row_groups();
        for (index, group) in groups.iter().enumerate() {
            rows += usize::try_from(group.num_rows()).unwrap_or_default();
            if rows < SEGMENT && index + 1 < groups.len() {
                continue;
            }
            // A row group of at most the largest size is not split, since each part would decode the pages before it.
            let step = if rows <= MAX_SEGMENT {
                rows.max(1)
            } else {
                SEGMENT
            };
            for from in (0..rows).step_by(step) {
                segments.push(Segment {
                    groups: start..index + 1,
                    rows: Some(from..rows.min(from + step)),
                });
            }
            (start, rows) = (index + 1, 0);
        }
        segments
    }

    /// Reads the given columns of a segment.
    pub(crate) fn read(
        &self,
        segment: &Segment,
        columns: &[usize],
    ) -> Result<Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>, ErrorKind> {
        let file = File::open(&self.path)?;
        match (&self.content, &segment.rows) {
            (Content::Parquet(metadata), Some(rows)) => {
                let mask =
                    ProjectionMask::roots(metadata.parquet_schema(), columns.iter().copied());
                let reader =
                    ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
                        .with_projection(mask)
                        .with_row_groups(segment.groups.clone().collect())
                        .with_offset(rows.start)
                        .with_limit(rows.len())
                        .with_batch_size(batch_rows(metadata, &segment.groups))
                        .build()?;
                Ok(Box::new(reader))
            }
            _ => {
                let builder = FileReaderBuilder::new().with_projection(columns.to_vec());
                let mut reader = builder.build(file)?;
                reader.set_index(segment.groups.start)?;
                Ok(Box::new(reader.take(segment.groups.len())))
            }
        }
    }
}
