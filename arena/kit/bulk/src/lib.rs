//! What Rust contenders share in the family `bulk`: input files, and digests of outputs.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arena_kit::{Output, Reader, Sum};
use arrow_array::builder::{
    BooleanBuilder, LargeBinaryBuilder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::types::{Int32Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array, UInt64Array, cast::AsArray as _};
use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use sha2::{Digest as _, Sha256};

/// Block of the first log, logs of a block.
const FIRST_BLOCK: u32 = 18_426_253;
const BLOCK: u32 = 335;
/// Rows of a batch in memory.
pub const BATCH: usize = 1 << 16;

/// Returns a path in the contender's folder.
pub fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(name)
}

/// Reads the logs of an item as one batch of cryo's columns.
pub fn logs(reader: &mut Reader) -> Option<RecordBatch> {
    let mut address = LargeBinaryBuilder::new();
    let mut topics = [(); 4].map(|()| LargeBinaryBuilder::new());
    let mut data = LargeBinaryBuilder::new();
    let (mut blocks, mut indices, mut rows) = (UInt32Builder::new(), UInt32Builder::new(), 0);
    while !reader.is_empty() {
        address.append_value(reader.take(20)?);
        let count = usize::from(reader.take(1)?[0]);
        for (index, topic) in topics.iter_mut().enumerate() {
            topic.append_option(if index < count {
                Some(reader.take(32)?)
            } else {
                None
            });
        }
        data.append_value(reader.bytes()?);
        blocks.append_value(FIRST_BLOCK + rows / BLOCK);
        indices.append_value(rows % BLOCK);
        rows += 1;
    }
    let bytes = |mut builder: LargeBinaryBuilder| -> ArrayRef { Arc::new(builder.finish()) };
    let [topic0, topic1, topic2, topic3] = topics.map(bytes);
    let columns: [(&str, ArrayRef); 10] = [
        ("log_index", Arc::new(indices.finish())),
        (
            "transaction_index",
            Arc::new(UInt32Array::from(vec![0; rows as usize])),
        ),
        ("block_number", Arc::new(blocks.finish())),
        ("address", bytes(address)),
        ("topic0", topic0),
        ("topic1", topic1),
        ("topic2", topic2),
        ("topic3", topic3),
        ("data", bytes(data)),
        (
            "chain_id",
            Arc::new(UInt64Array::from(vec![1; rows as usize])),
        ),
    ];
    RecordBatch::try_from_iter(columns).ok()
}

/// Reads the transactions of an item as one batch with the column `raw`.
pub fn transactions(reader: &mut Reader) -> Option<RecordBatch> {
    RecordBatch::try_from_iter([("raw", values(reader, None)?)]).ok()
}

/// The signatures of events, and a file of logs.
pub struct Mix {
    pub events: Vec<&'static str>,
    pub file: PathBuf,
}

/// Reads the signatures of an item, and writes its logs.
pub fn mix(reader: &mut Reader) -> Option<Mix> {
    let events = (0..reader.u32()?).map(|_| std::str::from_utf8(reader.bytes()?).ok());
    let events = events.collect::<Option<_>>()?;
    let file = write(&logs(reader)?)?;
    Some(Mix { events, file })
}

/// Reads the signed transactions of an item as batches of cryo's columns.
pub fn fields(reader: &mut Reader) -> Option<Vec<RecordBatch>> {
    let (mut kinds, mut parities) = (UInt32Builder::new(), BooleanBuilder::new());
    let mut numbers = [(); 6].map(|()| UInt64Builder::new());
    let mut byte_strings = [(); 6].map(|()| LargeBinaryBuilder::new());
    while !reader.is_empty() {
        let kind = reader.take(1)?[0];
        kinds.append_value(kind.into());
        let has_fees = kind >= 2;
        for (index, column) in numbers.iter_mut().enumerate() {
            let number = reader.u64()?;
            column.append_option((index < 4 || has_fees).then_some(number));
        }
        let [to, value, input, r, s, hash] = &mut byte_strings;
        to.append_option(Some(reader.bytes()?).filter(|to| !to.is_empty()));
        value.append_value(reader.take(32)?);
        input.append_value(reader.bytes()?);
        parities.append_value(reader.take(1)?[0] == 1);
        for column in [r, s, hash] {
            column.append_value(reader.take(32)?);
        }
    }
    let numbers = numbers.map(|mut builder| -> ArrayRef { Arc::new(builder.finish()) });
    let [chain_id, nonce, gas_limit, gas_price, max_fee, priority_fee] = numbers;
    let byte_strings = byte_strings.map(|mut builder| -> ArrayRef { Arc::new(builder.finish()) });
    let [to, value, input, r, s, hash] = byte_strings;
    let columns: [(&str, ArrayRef); 14] = [
        ("transaction_hash", hash),
        ("nonce", nonce),
        ("to_address", to),
        ("value_binary", value),
        ("input", input),
        ("gas_limit", gas_limit),
        ("gas_price", gas_price),
        ("transaction_type", Arc::new(kinds.finish())),
        ("max_priority_fee_per_gas", priority_fee),
        ("max_fee_per_gas", max_fee),
        ("v", Arc::new(parities.finish())),
        ("r", r),
        ("s", s),
        ("chain_id", chain_id),
    ];
    Some(split(&RecordBatch::try_from_iter(columns).ok()?))
}

/// Reads the call data of an item as batches with the column `input`.
pub fn inputs(reader: &mut Reader) -> Option<Vec<RecordBatch>> {
    let batch = RecordBatch::try_from_iter([("input", values(reader, None)?)]);
    Some(split(&batch.ok()?))
}

/// Reads the byte strings of an item, of this length or each with its length.
pub fn values(reader: &mut Reader, len: Option<usize>) -> Option<ArrayRef> {
    let mut values = LargeBinaryBuilder::new();
    while !reader.is_empty() {
        values.append_value(match len {
            Some(len) => reader.take(len)?,
            None => reader.bytes()?,
        });
    }
    Some(Arc::new(values.finish()))
}

/// Reads the texts of an item.
pub fn texts(reader: &mut Reader) -> Option<ArrayRef> {
    let mut texts = StringBuilder::new();
    while !reader.is_empty() {
        texts.append_value(std::str::from_utf8(reader.bytes()?).ok()?);
    }
    Some(Arc::new(texts.finish()))
}

/// The properties of all Parquet files: zstd, level 1.
pub fn properties() -> Option<WriterProperties> {
    let zstd = Compression::ZSTD(ZstdLevel::try_new(1).ok()?);
    let properties = WriterProperties::builder().set_compression(zstd);
    Some(
        properties
            .set_max_row_group_row_count(Some(1 << 18))
            .build(),
    )
}

/// Writes an input file, which each item has of its own.
pub fn write(batch: &RecordBatch) -> Option<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = path(&format!("input-{count}.parquet"));
    let file = File::create(&path).ok()?;
    let mut writer = ArrowWriter::try_new(file, batch.schema(), properties()).ok()?;
    writer.write(batch).ok()?;
    writer.close().ok()?;
    Some(path)
}

/// Batches of [`BATCH`] rows.
pub fn split(batch: &RecordBatch) -> Vec<RecordBatch> {
    let starts = (0..batch.num_rows()).step_by(BATCH);
    starts
        .map(|start| batch.slice(start, BATCH.min(batch.num_rows() - start)))
        .collect()
}

/// A result in memory: batches of the columns of the output, in order.
pub struct Batches(pub Vec<RecordBatch>);

/// A result in files with the columns of the outputs, and the number of rows written.
pub struct Written(pub Vec<PathBuf>, pub u64);

/// A result in memory of one column.
pub fn single(column: ArrayRef) -> Option<Batches> {
    let batch = RecordBatch::try_from_iter_with_nullable([("value", column, true)]);
    Some(Batches(vec![batch.ok()?]))
}

impl Output for Batches {
    fn add(&self, sum: &mut Sum) {
        sum.word(
            std::hint::black_box(&self.0)
                .iter()
                .map(|batch| batch.num_rows() as u64)
                .sum(),
        );
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        digest(&self.0, out).is_some()
    }
}

impl Output for Written {
    fn add(&self, sum: &mut Sum) {
        sum.word(self.1);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        let batches: Option<Vec<_>> = self.0.iter().map(|path| read(path)).collect();
        batches.is_some_and(|batches| digest(&batches.concat(), out).is_some())
    }
}

fn read(path: &Path) -> Option<Vec<RecordBatch>> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).ok()?).ok()?;
    reader.build().ok()?.collect::<Result<_, _>>().ok()
}

/// Appends the number of rows and the SHA-256 of all values.
fn digest(batches: &[RecordBatch], out: &mut Vec<u8>) -> Option<()> {
    let (mut rows, mut digest, mut values) = (0u64, Sha256::new(), Vec::new());
    for batch in batches {
        for row in 0..batch.num_rows() {
            for column in batch.columns() {
                append(column, row, &mut values)?;
            }
            digest.update(&values);
            values.clear();
            rows += 1;
        }
    }
    out.extend(rows.to_le_bytes());
    out.extend_from_slice(&digest.finalize());
    Some(())
}

/// Appends a value: an integer, the bytes of a byte string, a text or array after its length, the members of a tuple,
/// the byte 0xff for a null. Integers and lengths are big-endian u32, 64-bit integers u64.
fn append(array: &dyn Array, row: usize, out: &mut Vec<u8>) -> Option<()> {
    if array.is_null(row) {
        out.push(0xff);
        return Some(());
    }
    match array.data_type() {
        DataType::Boolean => {
            out.extend(u32::from(array.as_boolean_opt()?.value(row)).to_be_bytes())
        }
        DataType::UInt8 => {
            let number = array.as_primitive_opt::<UInt8Type>()?.value(row);
            out.extend(u32::from(number).to_be_bytes());
        }
        DataType::UInt32 => {
            let number = array.as_primitive_opt::<UInt32Type>()?.value(row);
            out.extend(number.to_be_bytes());
        }
        DataType::Int32 => {
            let number = array.as_primitive_opt::<Int32Type>()?.value(row);
            out.extend(number.to_be_bytes());
        }
        DataType::UInt64 => {
            let number = array.as_primitive_opt::<UInt64Type>()?.value(row);
            out.extend(number.to_be_bytes());
        }
        DataType::FixedSizeBinary(_) => out.extend(array.as_fixed_size_binary_opt()?.value(row)),
        DataType::Binary => out.extend(array.as_binary_opt::<i32>()?.value(row)),
        DataType::LargeBinary => out.extend(array.as_binary_opt::<i64>()?.value(row)),
        DataType::Utf8 => {
            let text = array.as_string_opt::<i32>()?.value(row);
            out.extend((text.len() as u32).to_be_bytes());
            out.extend(text.as_bytes());
        }
        DataType::List(_) => {
            let items = array.as_list_opt::<i32>()?.value(row);
            out.extend((items.len() as u32).to_be_bytes());
            for item in 0..items.len() {
                append(&items, item, out)?;
            }
        }
        DataType::Struct(_) => {
            for member in array.as_struct_opt()?.columns() {
                append(member, row, out)?;
            }
        }
        _ => return None,
    }
    Some(())
}
