//! Many events, known at run time: a row is decoded to values, which builders take.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use alloy_dyn_abi::{DynSolEvent, DynSolType, DynSolValue, Specifier};
use alloy_json_abi::Event;
use alloy_primitives::B256;
use arena_kit::Reader;
use arena_kit_bulk::{Mix, Written, mix, path, properties};
use arrow_array::builder::*;
use arrow_array::{Array as _, ArrayRef, RecordBatch, UInt32Array, cast::AsArray as _};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;
use parquet::arrow::ArrowWriter;

/// An event and the columns of its file.
struct Decoder {
    event: DynSolEvent,
    is_indexed: Vec<bool>,
    schema: SchemaRef,
}

/// The events of an item and its file.
pub struct Input {
    decoders: Vec<Decoder>,
    /// The decoder of a first topic and number of topics.
    by_topics: HashMap<(B256, usize), usize>,
    file: PathBuf,
}

/// The columns that are passed on.
const KEPT: [&str; 3] = ["block_number", "log_index", "address"];

/// Reads an item.
pub fn parse(reader: &mut Reader) -> Option<Input> {
    let Mix { events, file } = mix(reader)?;
    let decoders: Option<Vec<Decoder>> = events.into_iter().map(decoder).collect();
    let decoders = decoders?;
    let by_topics = decoders.iter().enumerate().map(|(index, decoder)| {
        let topics = decoder.event.indexed().len() + 1;
        Some(((decoder.event.topic_0()?, topics), index))
    });
    Some(Input {
        by_topics: by_topics.collect::<Option<_>>()?,
        decoders,
        file,
    })
}

fn decoder(signature: &str) -> Option<Decoder> {
    let event = Event::parse(signature).ok()?;
    let field = |name: &str, data_type| Field::new(name, data_type, true);
    let mut fields = vec![
        field("block_number", DataType::UInt32),
        field("log_index", DataType::UInt32),
        field("address", DataType::LargeBinary),
    ];
    let (mut is_indexed, mut indexed, mut body) = (Vec::new(), Vec::new(), Vec::new());
    for input in &event.inputs {
        let ty: DynSolType = input.resolve().ok()?;
        // A dynamic value that is indexed is hashed.
        let is_dynamic = matches!(
            ty,
            DynSolType::Bytes | DynSolType::String | DynSolType::Array(_)
        );
        let data_type = match input.indexed && is_dynamic {
            true => DataType::FixedSizeBinary(32),
            false => data_type(&ty)?,
        };
        fields.push(field(&input.name, data_type));
        is_indexed.push(input.indexed);
        match input.indexed {
            true => indexed.push(ty),
            false => body.push(ty),
        }
    }
    Some(Decoder {
        event: DynSolEvent::new(Some(event.selector()), indexed, DynSolType::Tuple(body))?,
        is_indexed,
        schema: Arc::new(Schema::new(fields)),
    })
}

fn data_type(ty: &DynSolType) -> Option<DataType> {
    Some(match ty {
        DynSolType::Bool => DataType::Boolean,
        DynSolType::Uint(8) => DataType::UInt8,
        DynSolType::Uint(32) => DataType::UInt32,
        DynSolType::Uint(64) => DataType::UInt64,
        DynSolType::Int(24) => DataType::Int32,
        DynSolType::Uint(_) | DynSolType::Int(_) => DataType::FixedSizeBinary(32),
        DynSolType::Address => DataType::FixedSizeBinary(20),
        DynSolType::FixedBytes(size) => DataType::FixedSizeBinary(*size as i32),
        DynSolType::Bytes => DataType::Binary,
        DynSolType::String => DataType::Utf8,
        DynSolType::Array(item) => DataType::new_list(data_type(item)?, true),
        DynSolType::Tuple(members) => {
            let members = members.iter().enumerate().map(|(index, member)| {
                Some(Field::new(index.to_string(), data_type(member)?, true))
            });
            DataType::Struct(members.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// Decodes the logs of a file to a file for each event.
pub fn decode(input: &Input) -> Option<Written> {
    let mut writers = Vec::new();
    for (index, decoder) in input.decoders.iter().enumerate() {
        let file = File::create(path(&format!("event-{index}.tmp"))).ok()?;
        let copy = file.try_clone().ok()?;
        let writer = ArrowWriter::try_new(copy, decoder.schema.clone(), properties()).ok()?;
        writers.push((file, writer));
    }
    let mut written = 0;
    for batch in crate::read(&input.file, &crate::LOG_COLUMNS)? {
        let batch = batch.ok()?;
        for (index, decoded) in decode_batch(input, &batch)? {
            written += decoded.num_rows() as u64;
            writers[index].1.write(&decoded).ok()?;
        }
    }
    let mut paths = Vec::new();
    for (index, (file, writer)) in writers.into_iter().enumerate() {
        writer.close().ok()?;
        file.sync_all().ok()?;
        let output = path(&format!("event-{index}.parquet"));
        std::fs::rename(path(&format!("event-{index}.tmp")), &output).ok()?;
        paths.push(output);
    }
    Some(Written(paths, written))
}

/// The rows of each event in a batch. An invalid one would be null, but the inputs contain only valid ones.
fn decode_batch(input: &Input, batch: &RecordBatch) -> Option<Vec<(usize, RecordBatch)>> {
    let bytes = |name: &str| batch.column_by_name(name)?.as_binary_opt::<i64>();
    let topics = [
        bytes("topic0")?,
        bytes("topic1")?,
        bytes("topic2")?,
        bytes("topic3")?,
    ];
    let data = bytes("data")?;
    let builders = |decoder: &Decoder| {
        let fields = &decoder.schema.fields()[KEPT.len()..];
        let builders = fields
            .iter()
            .map(|field| make_builder(field.data_type(), 0));
        (Vec::new(), builders.collect::<Vec<_>>())
    };
    let mut outputs: Vec<(Vec<u32>, Vec<Box<dyn ArrayBuilder>>)> =
        input.decoders.iter().map(builders).collect();
    for row in 0..batch.num_rows() {
        let topics = topics.iter().filter(|topic| topic.is_valid(row));
        let topics = topics.map(|topic| B256::try_from(topic.value(row)).ok());
        let topics: Vec<B256> = topics.collect::<Option<_>>()?;
        let Some(first) = topics.first() else {
            continue;
        };
        let Some(&index) = input.by_topics.get(&(*first, topics.len())) else {
            continue;
        };
        let (decoder, (rows, builders)) = (&input.decoders[index], &mut outputs[index]);
        let decoded = decoder
            .event
            .decode_log_parts(topics, data.value(row))
            .ok()?;
        rows.push(row as u32);
        let (mut indexed, mut body) = (decoded.indexed.iter(), decoded.body.iter());
        for (builder, is_indexed) in builders.iter_mut().zip(&decoder.is_indexed) {
            let value = if *is_indexed {
                indexed.next()
            } else {
                body.next()
            };
            append(builder, value?)?;
        }
    }
    let mut batches = Vec::new();
    for (index, (rows, mut builders)) in outputs.into_iter().enumerate() {
        if rows.is_empty() {
            continue;
        }
        let rows = UInt32Array::from(rows);
        let kept = KEPT.map(|name| take(batch.column_by_name(name)?, &rows, None).ok());
        let mut columns: Vec<ArrayRef> = kept.into_iter().collect::<Option<_>>()?;
        columns.extend(builders.iter_mut().map(|builder| builder.finish()));
        let schema = input.decoders[index].schema.clone();
        batches.push((index, RecordBatch::try_new(schema, columns).ok()?));
    }
    Some(batches)
}

/// Appends a value to the builder of its type.
fn append(builder: &mut Box<dyn ArrayBuilder>, value: &DynSolValue) -> Option<()> {
    let any = builder.as_any_mut();
    let mut fixed = |bytes: &[u8]| {
        let builder = any.downcast_mut::<FixedSizeBinaryBuilder>()?;
        builder.append_value(bytes).ok()
    };
    match value {
        DynSolValue::Address(address) => fixed(address.as_slice())?,
        DynSolValue::FixedBytes(word, size) => fixed(&word[..*size])?,
        DynSolValue::Bool(value) => any.downcast_mut::<BooleanBuilder>()?.append_value(*value),
        DynSolValue::Uint(value, 8) => any.downcast_mut::<UInt8Builder>()?.append_value(value.to()),
        DynSolValue::Uint(value, 32) => any
            .downcast_mut::<UInt32Builder>()?
            .append_value(value.to()),
        DynSolValue::Uint(value, 64) => any
            .downcast_mut::<UInt64Builder>()?
            .append_value(value.to()),
        DynSolValue::Int(value, 24) => {
            let value = i32::try_from(*value).ok()?;
            any.downcast_mut::<Int32Builder>()?.append_value(value);
        }
        DynSolValue::Uint(value, _) => fixed(&value.to_be_bytes::<32>())?,
        DynSolValue::Int(value, _) => fixed(&value.to_be_bytes::<32>())?,
        DynSolValue::Bytes(value) => any.downcast_mut::<BinaryBuilder>()?.append_value(value),
        DynSolValue::String(value) => any.downcast_mut::<StringBuilder>()?.append_value(value),
        DynSolValue::Array(items) => {
            let list = any.downcast_mut::<ListBuilder<Box<dyn ArrayBuilder>>>()?;
            for item in items {
                append(list.values(), item)?;
            }
            list.append(true);
        }
        DynSolValue::Tuple(members) => {
            let tuple = any.downcast_mut::<StructBuilder>()?;
            for (builder, member) in tuple.field_builders_mut().iter_mut().zip(members) {
                append(builder, member)?;
            }
            tuple.append(true);
        }
        _ => return None,
    }
    Some(())
}
