//! Output files: encoded by the threads that decode, written in order, visible only when complete.

use std::{
    fs,
    io::{self, BufWriter, Stdout, Write},
    path::{Path, PathBuf},
};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use lydite_arrow::{Role, compact_views};
use parquet::{
    arrow::{
        ArrowWriter,
        arrow_writer::{
            ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
        },
    },
    basic::{Compression as Codec, Encoding as ColumnEncoding, ZstdLevel},
    file::{
        metadata::KeyValue,
        properties::{DEFAULT_WRITE_BATCH_SIZE, EnabledStatistics, WriterProperties},
        writer::SerializedFileWriter,
    },
    schema::types::ColumnPath,
};

use crate::{
    Compression, Error, Format, Options,
    error::ErrorKind,
    input::BATCH,
    paths::{is_arrow, is_standard},
    resume::{KEY, TEMPORARY},
    stored,
    temporary::{RunLock, Temporary},
};

/// Rows that are encoded together in Parquet: those after which a column writer decides whether a page ends.
const STEP: usize = DEFAULT_WRITE_BATCH_SIZE;
/// Bytes that are written to a file together, and the most that wait for all files of a run.
const BUFFER: usize = 1 << 20;
const BUFFERS: usize = 64 << 20;
/// Output files that may be open at the same time. With more, each is closed after a row group.
const OPEN: usize = 128;

/// How one output file is encoded.
pub(crate) struct Encoding {
    path: PathBuf,
    schema: SchemaRef,
    overwrite: bool,
    format: Encoder,
    /// The fingerprint of the work.
    job: Option<String>,
    /// Bytes that are written together.
    buffer: usize,
    /// For files that are closed between row groups.
    run: Option<RunLock>,
}

enum Encoder {
    Parquet(Box<(WriterProperties, ArrowRowGroupWriterFactory)>),
    Arrow,
    ArrowStream,
}

/// The rows of a row group.
pub(crate) struct Rows {
    /// Rows that are encoded together. Where a page ends depends on it, so that it must not depend on how the rows were
    /// split into batches: a filter combines them.
    step: usize,
    /// Less than a step.
    rest: Vec<RecordBatch>,
    missing: usize,
    encoded: u64,
    encoder: RowsEncoder,
}

enum RowsEncoder {
    Parquet(Vec<ArrowColumnWriter>),
    Arrow(Vec<RecordBatch>),
}

/// A row group, ready to be written.
pub(crate) enum Encoded {
    Parquet(u64, Vec<ArrowColumnChunk>),
    Arrow(Vec<RecordBatch>),
}

/// An open output file.
pub(crate) struct Output {
    rows: u64,
    writer: Writer,
}

enum Writer {
    Parquet(Box<SerializedFileWriter<BufWriter<Target>>>),
    Arrow(Box<FileWriter<BufWriter<Target>>>),
    ArrowStream(Box<StreamWriter<BufWriter<Target>>>),
}

/// Where an output is written.
enum Target {
    File(Temporary),
    Standard(Stdout),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.file()?.write(bytes),
            Self::Standard(output) => output.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            // The operating system has all bytes.
            Self::File(_) => Ok(()),
            Self::Standard(output) => output.flush(),
        }
    }
}

impl Output {
    /// Closes the file until more is written.
    fn close(&mut self) {
        let target = match &mut self.writer {
            Writer::Parquet(writer) => writer.inner_mut().get_mut(),
            Writer::Arrow(writer) => writer.get_mut().get_mut(),
            Writer::ArrowStream(writer) => writer.get_mut().get_mut(),
        };
        if let Target::File(temporary) = target {
            temporary.close();
        }
    }
}

impl Encoding {
    pub(crate) fn new(
        path: PathBuf,
        schema: SchemaRef,
        options: &Options,
        job: Option<String>,
    ) -> Result<Self, Error> {
        Self::try_new(&path, schema, options, job).map_err(Error::at(path))
    }

    fn try_new(
        path: &Path,
        schema: SchemaRef,
        options: &Options,
        job: Option<String>,
    ) -> Result<Self, ErrorKind> {
        if !is_standard(path)
            && let Ok(metadata) = path.symlink_metadata()
        {
            if !options.overwrite {
                return Err(ErrorKind::Exists);
            }
            // It would be gone: a device or a pipe, or a link to one such as `/dev/stdout`.
            if !metadata.is_file() {
                return Err(ErrorKind::NotRegular);
            }
        }
        let by_name = if is_standard(path) || is_arrow(path) {
            Format::Arrow
        } else {
            Format::Parquet
        };
        let format = options.format.unwrap_or(by_name);
        let schema = stored::schema(&schema, format)?;
        let format = match format {
            Format::Parquet => Self::parquet(&schema, options, &job)?,
            Format::Arrow if is_standard(path) => Encoder::ArrowStream,
            Format::Arrow => Encoder::Arrow,
        };
        Ok(Self {
            path: path.into(),
            schema,
            overwrite: options.overwrite,
            format,
            job,
            buffer: BUFFER,
            run: None,
        })
    }

    /// One of this many outputs of a run.
    pub(crate) fn one_of(self, outputs: usize, run: &RunLock) -> Self {
        let buffer = (BUFFERS / outputs.max(1)).clamp(BUFFER / 16, BUFFER);
        let run = (outputs > OPEN).then(|| run.clone());
        Self {
            buffer,
            run,
            ..self
        }
    }

    fn parquet(
        schema: &SchemaRef,
        options: &Options,
        job: &Option<String>,
    ) -> Result<Encoder, ErrorKind> {
        if schema.fields().is_empty() {
            return Err(ErrorKind::NoColumns);
        }
        let properties = properties(schema, options, job)?;
        let writer = ArrowWriter::try_new(io::sink(), schema.clone(), Some(properties.clone()))?;
        let (_, factory) = writer.into_serialized_writer()?;
        Ok(Encoder::Parquet(Box::new((properties, factory))))
    }

    /// Converts the columns whose types are not written as they are.
    pub(crate) fn convert(&self, batch: RecordBatch) -> Result<RecordBatch, ErrorKind> {
        stored::convert(batch, &self.schema)
    }

    /// Starts a row group of rows that arrive in batches of at most this size.
    pub(crate) fn start(&self, batch: usize) -> Result<Rows, ErrorKind> {
        let (encoder, step) = match &self.format {
            Encoder::Parquet(parquet) => {
                // The index of the row group matters for encryption only.
                let writers = parquet.1.create_column_writers(0)?;
                (RowsEncoder::Parquet(writers), STEP)
            }
            Encoder::Arrow | Encoder::ArrowStream => (RowsEncoder::Arrow(Vec::new()), BATCH),
        };
        let step = step.min(batch).max(1);
        Ok(Rows {
            step,
            rest: Vec::new(),
            missing: step,
            encoded: 0,
            encoder,
        })
    }

    fn open(&self) -> Result<Output, ErrorKind> {
        let target = if is_standard(&self.path) {
            Target::Standard(io::stdout())
        } else {
            let directory = self.directory();
            fs::create_dir_all(directory)?;
            let run = self.run.as_ref().map(|run| run.prefix(directory));
            let prefix = run.transpose()?;
            let prefix = prefix.as_deref().unwrap_or(TEMPORARY.0);
            Target::File(Temporary::create(directory, prefix)?)
        };
        let file = BufWriter::with_capacity(self.buffer, target);
        let writer = match &self.format {
            Encoder::Parquet(parquet) => {
                let (schema, properties) = (self.schema.clone(), parquet.0.clone());
                let writer = ArrowWriter::try_new(file, schema, Some(properties))?;
                Writer::Parquet(Box::new(writer.into_serialized_writer()?.0))
            }
            Encoder::Arrow => {
                let mut writer = FileWriter::try_new(file, &self.schema)?;
                if let Some(job) = &self.job {
                    writer.write_metadata(KEY, job);
                }
                Writer::Arrow(Box::new(writer))
            }
            Encoder::ArrowStream => {
                Writer::ArrowStream(Box::new(StreamWriter::try_new(file, &self.schema)?))
            }
        };
        Ok(Output { rows: 0, writer })
    }

    /// Appends a row group to the file, which is opened by the first one.
    pub(crate) fn write(
        &self,
        output: &mut Option<Output>,
        encoded: Encoded,
    ) -> Result<(), ErrorKind> {
        let output = match output {
            Some(output) => output,
            None => output.insert(self.open()?),
        };
        match (&mut output.writer, encoded) {
            (Writer::Parquet(writer), Encoded::Parquet(rows, chunks)) => {
                let mut group = writer.next_row_group()?;
                for chunk in chunks {
                    chunk.append_to_row_group(&mut group)?;
                }
                group.close()?;
                output.rows += rows;
            }
            (Writer::Arrow(writer), Encoded::Arrow(batches)) => {
                for batch in batches {
                    writer.write(&batch)?;
                    output.rows += batch.num_rows() as u64;
                }
            }
            (Writer::ArrowStream(writer), Encoded::Arrow(batches)) => {
                for batch in batches {
                    writer.write(&batch)?;
                    output.rows += batch.num_rows() as u64;
                }
                // So that a reader has the rows of each segment at once.
                writer.flush()?;
            }
            // Not reached: both are of this encoding's format.
            _ => {}
        }
        if self.run.is_some() {
            output.close();
        }
        Ok(())
    }

    /// Completes the file, and gives it its name. Returns the number of rows.
    pub(crate) fn finish(&self, output: Option<Output>) -> Result<u64, ErrorKind> {
        let Output { rows, writer } = match output {
            Some(output) => output,
            None => self.open()?,
        };
        let mut file = match writer {
            Writer::Parquet(writer) => writer.into_inner()?,
            Writer::Arrow(mut writer) => {
                writer.finish()?;
                writer.into_inner()?
            }
            Writer::ArrowStream(mut writer) => {
                writer.finish()?;
                writer.into_inner()?
            }
        };
        file.flush()?;
        let mut temporary = match file.into_inner().map_err(io::IntoInnerError::into_error)? {
            Target::File(temporary) => temporary,
            Target::Standard(_) => return Ok(rows),
        };
        temporary.file()?.sync_all()?;
        temporary.persist(&self.path, self.overwrite)?;
        // So that the name is on disk too.
        #[cfg(unix)]
        std::fs::File::open(self.directory())?.sync_all()?;
        Ok(rows)
    }

    /// Removes the file of an earlier run, if it may be replaced, since this run has no rows for it.
    pub(crate) fn remove_old(&self) -> Result<(), ErrorKind> {
        if !self.overwrite {
            return Ok(());
        }
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => Ok(result?),
        }
    }

    fn directory(&self) -> &Path {
        let parent = self.path.parent();
        parent
            .filter(|path| !path.as_os_str().is_empty())
            .unwrap_or(Path::new("."))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Rows {
    pub(crate) fn append(&mut self, mut batch: RecordBatch) -> Result<(), ErrorKind> {
        while batch.num_rows() >= self.missing {
            let rows = batch.slice(0, self.missing);
            batch = batch.slice(self.missing, batch.num_rows() - self.missing);
            self.missing = self.step;
            if self.rest.is_empty() {
                self.encode(rows)?;
            } else {
                self.rest.push(rows);
                self.encode_rest()?;
            }
        }
        if batch.num_rows() > 0 {
            self.missing -= batch.num_rows();
            self.rest.push(batch);
        }
        Ok(())
    }

    fn encode_rest(&mut self) -> Result<(), ErrorKind> {
        let rest = std::mem::take(&mut self.rest);
        match rest.first() {
            Some(first) => self.encode(concat_batches(first.schema_ref(), &rest)?),
            None => Ok(()),
        }
    }

    fn encode(&mut self, batch: RecordBatch) -> Result<(), ErrorKind> {
        self.encoded += batch.num_rows() as u64;
        match &mut self.encoder {
            RowsEncoder::Parquet(writers) => {
                let mut writers = writers.iter_mut();
                for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
                    for (leaf, writer) in compute_leaves(field, array)?.iter().zip(&mut writers) {
                        writer.write(leaf)?;
                    }
                }
            }
            RowsEncoder::Arrow(batches) => {
                // The bytes of all views would be written again for each part of a batch.
                let columns = batch.columns().iter().map(compact_views).collect();
                let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
                let batch = RecordBatch::try_new_with_options(batch.schema(), columns, &options)?;
                batches.push(batch);
            }
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Encoded, ErrorKind> {
        self.encode_rest()?;
        Ok(match self.encoder {
            RowsEncoder::Parquet(writers) => {
                let chunks = writers.into_iter().map(ArrowColumnWriter::close);
                Encoded::Parquet(self.encoded, chunks.collect::<Result<_, _>>()?)
            }
            RowsEncoder::Arrow(batches) => Encoded::Arrow(batches),
        })
    }
}

/// Returns how columns are encoded. By default they have a dictionary up to a number of values, except
/// FixedSizeBinary, for which arrow-rs has none in version 1 of the format.
fn properties(
    schema: &Schema,
    options: &Options,
    job: &Option<String>,
) -> Result<WriterProperties, ErrorKind> {
    let codec = match options.compression {
        Compression::Zstd => Codec::ZSTD(ZstdLevel::try_new(1)?),
        Compression::Lz4 => Codec::LZ4_RAW,
        Compression::Snappy => Codec::SNAPPY,
        Compression::None => Codec::UNCOMPRESSED,
    };
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("lydite ", env!("CARGO_PKG_VERSION")).into())
        .set_compression(codec)
        .set_statistics_enabled(EnabledStatistics::Chunk);
    if let Some(job) = job {
        let pair = KeyValue::new(KEY.into(), job.clone());
        properties = properties.set_key_value_metadata(Some(vec![pair]));
    }
    let path = |field: &Field| ColumnPath::new(vec![field.name().clone()]);
    for field in schema.fields() {
        // The smallest and the largest of many addresses, hashes or data exclude nothing from a search.
        if matches!(
            field.data_type(),
            DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
                | DataType::FixedSizeBinary(20)
        ) {
            properties =
                properties.set_column_statistics_enabled(path(field), EnabledStatistics::None);
        }
    }
    // Sorted in most files.
    for role in [Role::BlockNumber, Role::TransactionIndex, Role::LogIndex] {
        let column = options.transform.map.find(schema, role).ok().flatten();
        let field = column.map(|index| schema.field(index));
        if let Some(field) = field.filter(|field| field.data_type().is_integer()) {
            properties = properties
                .set_column_dictionary_enabled(path(field), false)
                .set_column_encoding(path(field), ColumnEncoding::DELTA_BINARY_PACKED);
        }
    }
    Ok(properties.build())
}
