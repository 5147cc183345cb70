//! The program that a Rust user writes with alloy, arrow and parquet: `sol!` decodes each row, builders take the values.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use alloy_consensus::{TxEnvelope, transaction::SignerRecoverable};
use alloy_eips::eip2718::Decodable2718;
use alloy_primitives::B256;
use alloy_sol_types::{SolEvent, sol};
use arena_kit::{locked_version, op, run};
use arena_kit_bulk::{BATCH, Batches, Written, logs, path, properties, split, transactions, write};
use arrow_array::builder::{FixedSizeBinaryBuilder, LargeBinaryBuilder, UInt32Builder};
use arrow_array::{Array, LargeBinaryArray, RecordBatch, cast::AsArray as _, types::UInt32Type};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::{ArrowWriter, ProjectionMask};

sol! {
    event Transfer(address indexed from, address indexed to, uint256 value);
}

fn schema() -> SchemaRef {
    let field = |name, data_type| Field::new(name, data_type, true);
    Arc::new(Schema::new(vec![
        field("block_number", DataType::UInt32),
        field("log_index", DataType::UInt32),
        field("address", DataType::LargeBinary),
        field("from", DataType::FixedSizeBinary(20)),
        field("to", DataType::FixedSizeBinary(20)),
        field("value", DataType::FixedSizeBinary(32)),
    ]))
}

/// Decodes the transfers of a batch. An invalid one would be null, but the inputs contain only valid ones.
fn decode(batch: &RecordBatch, schema: &SchemaRef) -> Option<RecordBatch> {
    let bytes = |name: &str| Some(batch.column_by_name(name)?.as_binary_opt::<i64>()?.clone());
    let integers = |name: &str| {
        Some(
            batch
                .column_by_name(name)?
                .as_primitive_opt::<UInt32Type>()?
                .clone(),
        )
    };
    let topics: [LargeBinaryArray; 4] = [
        bytes("topic0")?,
        bytes("topic1")?,
        bytes("topic2")?,
        bytes("topic3")?,
    ];
    let (data, address) = (bytes("data")?, bytes("address")?);
    let (blocks, indices) = (integers("block_number")?, integers("log_index")?);
    let rows = batch.num_rows();
    let (mut block, mut index) = (
        UInt32Builder::with_capacity(rows),
        UInt32Builder::with_capacity(rows),
    );
    let mut token = LargeBinaryBuilder::with_capacity(rows, 20 * rows);
    let mut from = FixedSizeBinaryBuilder::with_capacity(rows, 20);
    let mut to = FixedSizeBinaryBuilder::with_capacity(rows, 20);
    let mut value = FixedSizeBinaryBuilder::with_capacity(rows, 32);
    for row in 0..rows {
        let is_transfer =
            topics[0].is_valid(row) && topics[0].value(row) == Transfer::SIGNATURE_HASH.as_slice();
        if !is_transfer || topics[2].is_null(row) || topics[3].is_valid(row) {
            continue;
        }
        let topics =
            [&topics[0], &topics[1], &topics[2]].map(|topic| B256::try_from(topic.value(row)));
        let [Ok(a), Ok(b), Ok(c)] = topics else {
            return None;
        };
        block.append_value(blocks.value(row));
        index.append_value(indices.value(row));
        token.append_value(address.value(row));
        match Transfer::decode_raw_log_validate([a, b, c], data.value(row)) {
            Ok(transfer) => {
                from.append_value(transfer.from).ok()?;
                to.append_value(transfer.to).ok()?;
                value
                    .append_value(transfer.value.to_be_bytes::<32>())
                    .ok()?;
            }
            Err(_) => {
                from.append_null();
                to.append_null();
                value.append_null();
            }
        }
    }
    let columns: Vec<Arc<dyn Array>> = vec![
        Arc::new(block.finish()),
        Arc::new(index.finish()),
        Arc::new(token.finish()),
        Arc::new(from.finish()),
        Arc::new(to.finish()),
        Arc::new(value.finish()),
    ];
    RecordBatch::try_new(schema.clone(), columns).ok()
}

fn transfers(batches: &Vec<RecordBatch>) -> Option<Batches> {
    let schema = schema();
    let decoded: Option<Vec<RecordBatch>> =
        batches.iter().map(|batch| decode(batch, &schema)).collect();
    decoded.map(Batches)
}

/// Reads these columns, applies a function to each batch, and writes the results.
fn convert(
    input: &PathBuf,
    columns: &[&str],
    schema: SchemaRef,
    batch: impl Fn(&RecordBatch) -> Option<RecordBatch>,
) -> Option<Written> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(input).ok()?).ok()?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
    let reader = builder
        .with_projection(mask)
        .with_batch_size(BATCH)
        .build()
        .ok()?;
    let output = path("output.parquet");
    let temporary = path("output.tmp");
    let file = File::create(&temporary).ok()?;
    let mut writer = ArrowWriter::try_new(file.try_clone().ok()?, schema, properties()).ok()?;
    let mut rows = 0;
    for read in reader {
        let decoded = batch(&read.ok()?)?;
        rows += decoded.num_rows() as u64;
        writer.write(&decoded).ok()?;
    }
    writer.close().ok()?;
    file.sync_all().ok()?;
    std::fs::rename(&temporary, &output).ok()?;
    Some(Written(output, rows))
}

fn transfers_file(input: &PathBuf) -> Option<Written> {
    let columns = [
        "block_number",
        "log_index",
        "address",
        "topic0",
        "topic1",
        "topic2",
        "topic3",
        "data",
    ];
    let schema = schema();
    convert(input, &columns, schema.clone(), |batch| {
        decode(batch, &schema)
    })
}

fn senders_file(input: &PathBuf) -> Option<Written> {
    let field = Field::new("sender", DataType::FixedSizeBinary(20), true);
    let schema = Arc::new(Schema::new(vec![field]));
    convert(input, &["raw"], schema.clone(), |batch| {
        let raw = batch.column_by_name("raw")?.as_binary_opt::<i64>()?;
        let mut senders = FixedSizeBinaryBuilder::with_capacity(raw.len(), 20);
        for row in 0..raw.len() {
            let transaction = TxEnvelope::decode_2718(&mut raw.value(row)).ok();
            match transaction.and_then(|transaction| transaction.recover_signer().ok()) {
                Some(sender) => senders.append_value(sender).ok()?,
                None => senders.append_null(),
            }
        }
        RecordBatch::try_new(schema.clone(), vec![Arc::new(senders.finish())]).ok()
    })
}

fn main() {
    let lockfile = include_str!("../../Cargo.lock");
    run(
        "alloy-bulk",
        locked_version(lockfile, "alloy-sol-types"),
        vec![
            op("bulk_transfers", |reader| Some(split(&logs(reader)?))).call(transfers),
            op("bulk_transfers_file", |reader| write(&logs(reader)?)).call(transfers_file),
            op("bulk_senders_file", |reader| write(&transactions(reader)?)).call(senders_file),
        ],
    );
}
