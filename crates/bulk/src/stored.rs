//! Types of columns in an output: some of the input are not written as they are, or cannot be written.

use std::sync::Arc;

use arrow_array::{
    Array as _, ArrayRef, ArrowNativeTypeOp as _, PrimitiveArray, RecordBatch, RecordBatchOptions,
    cast::AsArray as _,
    types::{
        Date32Type, Date64Type, Time32MillisecondType, Time32SecondType, TimestampMillisecondType,
        TimestampSecondType,
    },
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use arrow_select::take::take;

use crate::{Format, error::ErrorKind};

const MILLISECONDS_IN_DAY: i64 = 86_400_000;

/// Returns the columns of an output.
pub(crate) fn schema(schema: &Schema, format: Format) -> Result<SchemaRef, ErrorKind> {
    let mut fields: Vec<FieldRef> = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let data_type = field.data_type();
        if !is_writable(data_type, format) {
            return Err(ErrorKind::Type {
                column: field.name().clone(),
                found: data_type.clone(),
            });
        }
        let field = Field::clone(field).with_data_type(stored(data_type, format));
        fields.push(Arc::new(field));
    }
    let metadata = schema.metadata().clone();
    Ok(Arc::new(Schema::new_with_metadata(fields, metadata)))
}

/// Parquet has no unions. Of values of no bytes, arrow-rs loses the number.
fn is_writable(data_type: &DataType, format: Format) -> bool {
    let is_writable = |field: &FieldRef| is_writable(field.data_type(), format);
    match data_type {
        DataType::FixedSizeBinary(0) => false,
        DataType::Union(..) => format != Format::Parquet,
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _)
        | DataType::RunEndEncoded(_, field) => is_writable(field),
        DataType::Struct(fields) => fields.iter().all(is_writable),
        _ => true,
    }
}

/// Returns the type that is written for a column. Dictionaries differ from batch to batch: an Arrow file can hold one,
/// and all of them may be too many for the type of the keys. Parquet has neither seconds nor dates in milliseconds.
fn stored(data_type: &DataType, format: Format) -> DataType {
    let parquet = format == Format::Parquet;
    match data_type {
        DataType::Dictionary(_, values) => stored(values, format),
        DataType::Timestamp(TimeUnit::Second, zone) if parquet => {
            DataType::Timestamp(TimeUnit::Millisecond, zone.clone())
        }
        DataType::Time32(TimeUnit::Second) if parquet => DataType::Time32(TimeUnit::Millisecond),
        DataType::Date64 if parquet => DataType::Date32,
        other => other.clone(),
    }
}

/// Converts a batch to the columns of an output.
pub(crate) fn convert(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ErrorKind> {
    let columns = batch.columns().iter().zip(schema.fields());
    if columns
        .clone()
        .all(|(array, field)| array.data_type() == field.data_type())
    {
        return Ok(batch);
    }
    let columns = columns.map(|(array, field)| column(array, field.data_type()));
    let columns = columns.collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(
        schema.clone(),
        columns,
        &options,
    )?)
}

fn column(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        return column(&take(dictionary.values(), dictionary.keys(), None)?, to);
    }
    Ok(match (array.data_type(), to) {
        (from, to) if from == to => array.clone(),
        (DataType::Timestamp(TimeUnit::Second, zone), DataType::Timestamp(..)) => {
            let seconds = array.as_primitive::<TimestampSecondType>();
            let milliseconds: PrimitiveArray<TimestampMillisecondType> =
                seconds.try_unary(|value| value.mul_checked(1000))?;
            Arc::new(milliseconds.with_timezone_opt(zone.clone()))
        }
        (DataType::Time32(TimeUnit::Second), DataType::Time32(_)) => {
            let seconds = array.as_primitive::<Time32SecondType>();
            let milliseconds: PrimitiveArray<Time32MillisecondType> =
                seconds.try_unary(|value| value.mul_checked(1000))?;
            Arc::new(milliseconds)
        }
        (DataType::Date64, DataType::Date32) => {
            let milliseconds = array.as_primitive::<Date64Type>();
            let days: PrimitiveArray<Date32Type> = milliseconds.try_unary(|value| {
                let overflow = |_| ArrowError::ArithmeticOverflow(format!("date of {value} ms"));
                i32::try_from(value.div_euclid(MILLISECONDS_IN_DAY)).map_err(overflow)
            })?;
            Arc::new(days)
        }
        _ => array.clone(),
    })
}
