//! Input files of logs; output files, with their values turned into JSON.

use std::{
    fs::{self, File},
    path::Path,
    sync::Arc,
};

use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, RecordBatch, RecordBatchReader,
    UInt64Array, cast::AsArray, types::*,
};
use arrow_schema::{DataType, SchemaRef};
use lydite_arrow::{EventDecoder, EventSet, Options as Columns};
use lydite_bulk::{Error, Options, Report, decode_logs};
use lydite_bytes::hex;
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    file::properties::WriterProperties,
};
use serde_json::{Value, json};

pub const SIGNATURE: &str = "event Moved(address indexed to, uint128 amount)";

pub fn moved(columns: &Columns) -> EventSet {
    EventSet::new([EventDecoder::parse(SIGNATURE, columns).unwrap()]).unwrap()
}

pub fn word(number: u64) -> [u8; 32] {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&number.to_be_bytes());
    word
}

/// Returns logs with these numbers. Every third one is of another event. The amount of every number divisible by 100 is out of
/// range.
pub fn logs(numbers: std::ops::Range<u64>) -> RecordBatch {
    let topic = moved(&Columns::default()).decoders()[0].codec().topic().0;
    let topics0 = numbers
        .clone()
        .map(|n| if n % 3 == 0 { word(n) } else { topic });
    let topics1 = numbers.clone().map(word);
    let data = numbers.clone().map(|n| {
        let mut word = word(n);
        word[0] = u8::from(n % 100 == 0);
        word
    });
    let fixed = |words: Vec<[u8; 32]>| -> ArrayRef {
        let values = words.into_iter().map(Some);
        Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, 32).unwrap())
    };
    RecordBatch::try_from_iter([
        (
            "block_number",
            Arc::new(UInt64Array::from_iter_values(numbers.clone())) as ArrayRef,
        ),
        ("topic0", fixed(topics0.collect())),
        ("topic1", fixed(topics1.collect())),
        (
            "data",
            Arc::new(BinaryArray::from_iter_values(data)) as ArrayRef,
        ),
    ])
    .unwrap()
}

pub fn write(path: &Path, batches: &[RecordBatch], rows_per_group: usize) {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(rows_per_group));
    let file = File::create(path).unwrap();
    let schema = batches[0].schema();
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties.build())).unwrap();
    batches
        .iter()
        .for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
}

pub fn decode(input: &Path, output: &Path, options: &Options) -> Result<Report, Error> {
    decode_logs(
        &[input.into()],
        output,
        &moved(&Columns::default()),
        options,
        &proceed,
    )
}

/// Returns the names of the files in a directory.
pub fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Does not cancel.
pub fn proceed(_: lydite_bulk::Progress) -> std::ops::ControlFlow<()> {
    std::ops::ControlFlow::Continue(())
}

pub fn read(path: &Path) -> (SchemaRef, Vec<RecordBatch>) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let reader = reader.build().unwrap();
    (reader.schema(), reader.map(Result::unwrap).collect())
}

/// Returns the rows of a Parquet file as lists of values.
pub fn rows(path: &Path) -> Vec<Vec<Value>> {
    let (_, batches) = read(path);
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            rows.push(
                batch
                    .columns()
                    .iter()
                    .map(|column| value(column, row))
                    .collect(),
            );
        }
    }
    rows
}

/// Integers as decimal text, bytes as hexadecimal text, structs as lists.
pub fn value(array: &ArrayRef, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    let bytes = |bytes: &[u8]| json!(hex::encode_prefixed(bytes));
    macro_rules! integer {
        ($type:ty) => {
            json!(array.as_primitive::<$type>().value(row).to_string())
        };
    }
    match array.data_type() {
        DataType::Boolean => json!(array.as_boolean().value(row)),
        DataType::UInt8 => integer!(UInt8Type),
        DataType::UInt16 => integer!(UInt16Type),
        DataType::UInt32 => integer!(UInt32Type),
        DataType::UInt64 => integer!(UInt64Type),
        DataType::Int8 => integer!(Int8Type),
        DataType::Int16 => integer!(Int16Type),
        DataType::Int32 => integer!(Int32Type),
        DataType::Int64 => integer!(Int64Type),
        DataType::Decimal128(..) => integer!(Decimal128Type),
        DataType::Utf8 => json!(array.as_string::<i32>().value(row)),
        DataType::Binary => bytes(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => bytes(array.as_binary::<i64>().value(row)),
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary().value(row)),
        DataType::List(_) => {
            let list = array.as_list::<i32>().value(row);
            (0..list.len()).map(|i| value(&list, i)).collect()
        }
        DataType::Struct(_) => {
            let columns = array.as_struct().columns();
            columns.iter().map(|column| value(column, row)).collect()
        }
        other => panic!("{other}"),
    }
}
