//! Reading output files and turning their values into JSON.

use std::{fs::File, path::Path};

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, cast::AsArray, types::*};
use arrow_schema::{DataType, SchemaRef};
use lydite_bytes::hex;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

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
#[allow(dead_code)]
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
