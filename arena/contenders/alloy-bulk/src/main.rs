//! The program that a Rust user writes with alloy, arrow and parquet: `sol!` decodes each row, builders take the values.

mod mix;

use std::fmt::Write as _;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use alloy_consensus::{
    SignableTransaction, Signed, TxEip1559, TxEip2930, TxEnvelope, TxLegacy,
    transaction::{SignerRecoverable, TxHashable},
};
use alloy_eips::{eip2718::Decodable2718, eip2930::AccessList};
use alloy_primitives::{Address, B256, Bytes, Signature, TxKind, U256, hex};
use alloy_sol_types::{SolCall, SolEvent, sol};
use arena_kit::{locked_version, op, run};
use arena_kit_bulk::{
    BATCH, Batches, Written, fields, inputs, logs, path, properties, single, split, texts,
    transactions, values, write,
};
use arrow_array::builder::{
    BinaryBuilder, FixedSizeBinaryBuilder, ListBuilder, StringBuilder, StructBuilder, UInt8Builder,
};
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, LargeBinaryArray, RecordBatch, UInt32Array, cast::AsArray as _,
};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use arrow_select::take::take;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ArrowWriter, ProjectionMask};

sol! {
    event Transfer(address indexed from, address indexed to, uint256 value);

    struct SpentItem {
        uint8 itemType;
        address token;
        uint256 identifier;
        uint256 amount;
    }

    struct ReceivedItem {
        uint8 itemType;
        address token;
        uint256 identifier;
        uint256 amount;
        address recipient;
    }

    event OrderFulfilled(
        bytes32 orderHash,
        address indexed offerer,
        address indexed zone,
        address recipient,
        SpentItem[] offer,
        ReceivedItem[] consideration
    );

    function transfer(address to, uint256 value);
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
    let topics: [LargeBinaryArray; 4] = [
        bytes("topic0")?,
        bytes("topic1")?,
        bytes("topic2")?,
        bytes("topic3")?,
    ];
    let data = bytes("data")?;
    let rows = batch.num_rows();
    let mut decoded = Vec::with_capacity(rows);
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
        decoded.push(row as u32);
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
    let decoded = UInt32Array::from(decoded);
    let column = |name: &str| {
        let column = batch.column_by_name(name)?;
        match decoded.len() == rows {
            true => Some(column.clone()),
            false => take(column, &decoded, None).ok(),
        }
    };
    let columns: Vec<ArrayRef> = vec![
        column("block_number")?,
        column("log_index")?,
        column("address")?,
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

/// The members of an item of an order. The last one is not in the items that are offered.
fn item_fields(count: usize) -> Fields {
    let types = [
        ("itemType", DataType::UInt8),
        ("token", DataType::FixedSizeBinary(20)),
        ("identifier", DataType::FixedSizeBinary(32)),
        ("amount", DataType::FixedSizeBinary(32)),
        ("recipient", DataType::FixedSizeBinary(20)),
    ];
    let fields = types.into_iter().take(count);
    fields
        .map(|(name, data_type)| Field::new(name, data_type, true))
        .collect()
}

/// Appends an item of an order to a list.
fn append_item(
    items: &mut StructBuilder,
    kind: u8,
    token: Address,
    numbers: [U256; 2],
    recipient: Option<Address>,
) -> Option<()> {
    items.field_builder::<UInt8Builder>(0)?.append_value(kind);
    let mut bytes = |field, value: &[u8]| {
        items
            .field_builder::<FixedSizeBinaryBuilder>(field)?
            .append_value(value)
            .ok()
    };
    bytes(1, token.as_slice())?;
    bytes(2, &numbers[0].to_be_bytes::<32>())?;
    bytes(3, &numbers[1].to_be_bytes::<32>())?;
    if let Some(recipient) = recipient {
        bytes(4, recipient.as_slice())?;
    }
    items.append(true);
    Some(())
}

fn orders(batches: &Vec<RecordBatch>) -> Option<Batches> {
    let decoded: Option<Vec<RecordBatch>> = batches.iter().map(decode_orders).collect();
    decoded.map(Batches)
}

/// Decodes the orders of a batch, which contains nothing else.
fn decode_orders(batch: &RecordBatch) -> Option<RecordBatch> {
    let bytes = |name: &str| batch.column_by_name(name)?.as_binary_opt::<i64>();
    let topics = [bytes("topic0")?, bytes("topic1")?, bytes("topic2")?];
    let data = bytes("data")?;
    let rows = batch.num_rows();
    let mut order_hash = FixedSizeBinaryBuilder::with_capacity(rows, 32);
    let mut offerer = FixedSizeBinaryBuilder::with_capacity(rows, 20);
    let mut zone = FixedSizeBinaryBuilder::with_capacity(rows, 20);
    let mut recipient = FixedSizeBinaryBuilder::with_capacity(rows, 20);
    let items = |count| ListBuilder::new(StructBuilder::from_fields(item_fields(count), rows));
    let (mut offer, mut consideration) = (items(4), items(5));
    for row in 0..rows {
        let topics = topics.map(|topic| B256::try_from(topic.value(row)));
        let [Ok(a), Ok(b), Ok(c)] = topics else {
            return None;
        };
        let order = OrderFulfilled::decode_raw_log_validate([a, b, c], data.value(row)).ok()?;
        order_hash.append_value(order.orderHash).ok()?;
        offerer.append_value(order.offerer).ok()?;
        zone.append_value(order.zone).ok()?;
        recipient.append_value(order.recipient).ok()?;
        for item in &order.offer {
            let numbers = [item.identifier, item.amount];
            append_item(offer.values(), item.itemType, item.token, numbers, None)?;
        }
        offer.append(true);
        for item in &order.consideration {
            let numbers = [item.identifier, item.amount];
            let recipient = Some(item.recipient);
            let items = consideration.values();
            append_item(items, item.itemType, item.token, numbers, recipient)?;
        }
        consideration.append(true);
    }
    let column = |name: &str| batch.column_by_name(name).cloned();
    let columns: [(&str, ArrayRef); 9] = [
        ("block_number", column("block_number")?),
        ("log_index", column("log_index")?),
        ("address", column("address")?),
        ("orderHash", Arc::new(order_hash.finish())),
        ("offerer", Arc::new(offerer.finish())),
        ("zone", Arc::new(zone.finish())),
        ("recipient", Arc::new(recipient.finish())),
        ("offer", Arc::new(offer.finish())),
        ("consideration", Arc::new(consideration.finish())),
    ];
    RecordBatch::try_from_iter(columns).ok()
}

fn calls(batches: &Vec<RecordBatch>) -> Option<Batches> {
    let decode = |batch: &RecordBatch| {
        let inputs = batch.column_by_name("input")?.as_binary_opt::<i64>()?;
        let mut to = FixedSizeBinaryBuilder::with_capacity(inputs.len(), 20);
        let mut value = FixedSizeBinaryBuilder::with_capacity(inputs.len(), 32);
        for row in 0..inputs.len() {
            let Some(arguments) = inputs.value(row).strip_prefix(&transferCall::SELECTOR) else {
                continue;
            };
            match transferCall::abi_decode_raw_validate(arguments) {
                Ok(call) => {
                    to.append_value(call.to).ok()?;
                    value.append_value(call.value.to_be_bytes::<32>()).ok()?;
                }
                Err(_) => {
                    to.append_null();
                    value.append_null();
                }
            }
        }
        let columns: [(&str, ArrayRef); 2] = [
            ("to", Arc::new(to.finish())),
            ("value", Arc::new(value.finish())),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
            .ok()
    };
    let decoded: Option<Vec<RecordBatch>> = batches.iter().map(decode).collect();
    decoded.map(Batches)
}

fn senders_columns(batches: &Vec<RecordBatch>) -> Option<Batches> {
    let recovered: Option<Vec<RecordBatch>> = batches.iter().map(recover).collect();
    recovered.map(Batches)
}

/// Recovers the senders of a batch. One that does not follow from the columns is null.
fn recover(batch: &RecordBatch) -> Option<RecordBatch> {
    let bytes = |name: &str| batch.column_by_name(name)?.as_binary_opt::<i64>();
    let numbers = |name: &str| {
        let column = batch.column_by_name(name)?;
        column.as_primitive_opt::<UInt64Type>()
    };
    let kinds = batch.column_by_name("transaction_type")?;
    let kinds = kinds.as_primitive_opt::<UInt32Type>()?;
    let parities = batch.column_by_name("v")?.as_boolean_opt()?;
    let [chain_ids, nonces, gas_limits] = [
        numbers("chain_id")?,
        numbers("nonce")?,
        numbers("gas_limit")?,
    ];
    let [gas_prices, max_fees, priority_fees] = [
        numbers("gas_price")?,
        numbers("max_fee_per_gas")?,
        numbers("max_priority_fee_per_gas")?,
    ];
    let [tos, values, inputs] = [
        bytes("to_address")?,
        bytes("value_binary")?,
        bytes("input")?,
    ];
    let [rs, ss, hashes] = [bytes("r")?, bytes("s")?, bytes("transaction_hash")?];

    let mut senders = FixedSizeBinaryBuilder::with_capacity(batch.num_rows(), 20);
    for row in 0..batch.num_rows() {
        let (chain_id, nonce, gas_limit) = (
            chain_ids.value(row),
            nonces.value(row),
            gas_limits.value(row),
        );
        let to = match tos.is_null(row) {
            true => TxKind::Create,
            false => TxKind::Call(Address::try_from(tos.value(row)).ok()?),
        };
        let value = U256::try_from_be_slice(values.value(row))?;
        let input = Bytes::copy_from_slice(inputs.value(row));
        let [r, s] = [rs.value(row), ss.value(row)].map(U256::try_from_be_slice);
        let signature = Signature::new(r?, s?, parities.value(row));
        let hash = B256::try_from(hashes.value(row)).ok()?;
        let gas_price = gas_prices.value(row).into();
        let sender = match kinds.value(row) {
            0 => {
                let mut transaction = TxLegacy {
                    chain_id: Some(chain_id),
                    nonce,
                    gas_price,
                    gas_limit,
                    to,
                    value,
                    input,
                };
                let mut signed = Signed::new_unhashed(transaction, signature);
                if *signed.hash() != hash {
                    // Before EIP-155, there was no chain id.
                    transaction = signed.strip_signature();
                    transaction.chain_id = None;
                    signed = Signed::new_unhashed(transaction, signature);
                }
                checked_signer(&signed, hash)
            }
            1 => {
                let transaction = TxEip2930 {
                    chain_id,
                    nonce,
                    gas_price,
                    gas_limit,
                    to,
                    value,
                    access_list: AccessList::default(),
                    input,
                };
                checked_signer(&Signed::new_unhashed(transaction, signature), hash)
            }
            2 => {
                let transaction = TxEip1559 {
                    chain_id,
                    nonce,
                    gas_limit,
                    max_fee_per_gas: max_fees.value(row).into(),
                    max_priority_fee_per_gas: priority_fees.value(row).into(),
                    to,
                    value,
                    access_list: AccessList::default(),
                    input,
                };
                checked_signer(&Signed::new_unhashed(transaction, signature), hash)
            }
            // The lists of the other types have no columns.
            _ => None,
        };
        match sender {
            Some(sender) => senders.append_value(sender).ok()?,
            None => senders.append_null(),
        }
    }
    let senders: ArrayRef = Arc::new(senders.finish());
    RecordBatch::try_from_iter_with_nullable([("sender", senders, true)]).ok()
}

/// The sender of a transaction that has this hash.
fn checked_signer<T>(signed: &Signed<T>, hash: B256) -> Option<Address>
where
    T: SignableTransaction<Signature> + TxHashable<Signature>,
{
    (*signed.hash() == hash).then(|| signed.recover_signer().ok())?
}

fn checksums(addresses: &ArrayRef) -> Option<Batches> {
    let addresses = addresses.as_binary_opt::<i64>()?;
    let mut texts = StringBuilder::with_capacity(addresses.len(), 42 * addresses.len());
    for address in addresses.iter() {
        let address = Address::try_from(address?).ok()?;
        texts.append_value(address.to_checksum_buffer(None).as_str());
    }
    single(Arc::new(texts.finish()))
}

fn decimals(words: &ArrayRef) -> Option<Batches> {
    let words = words.as_binary_opt::<i64>()?;
    let mut texts = StringBuilder::with_capacity(words.len(), 20 * words.len());
    for word in words.iter() {
        write!(texts, "{}", U256::try_from_be_slice(word?)?).ok()?;
        texts.append_value("");
    }
    single(Arc::new(texts.finish()))
}

fn decoded_hex(texts: &ArrayRef) -> Option<Batches> {
    let texts = texts.as_string_opt::<i32>()?;
    let mut values = BinaryBuilder::with_capacity(texts.len(), texts.values().len() / 2);
    let mut buffer = Vec::new();
    for text in texts.iter() {
        let text = text?;
        let digits = text.strip_prefix("0x").unwrap_or(text);
        buffer.resize(digits.len() / 2, 0);
        hex::decode_to_slice(digits, &mut buffer).ok()?;
        values.append_value(&buffer);
    }
    single(Arc::new(values.finish()))
}

/// The columns that logs are decoded from.
const LOG_COLUMNS: [&str; 8] = [
    "block_number",
    "log_index",
    "address",
    "topic0",
    "topic1",
    "topic2",
    "topic3",
    "data",
];

/// Reads these columns in batches.
fn read(input: &PathBuf, columns: &[&str]) -> Option<ParquetRecordBatchReader> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(input).ok()?).ok()?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
    let builder = builder.with_projection(mask).with_batch_size(BATCH);
    builder.build().ok()
}

/// Reads these columns, applies a function to each batch, and writes the results.
fn convert(
    input: &PathBuf,
    columns: &[&str],
    schema: SchemaRef,
    batch: impl Fn(&RecordBatch) -> Option<RecordBatch>,
) -> Option<Written> {
    let reader = read(input, columns)?;
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
    Some(Written(vec![output], rows))
}

fn transfers_file(input: &PathBuf) -> Option<Written> {
    let schema = schema();
    convert(input, &LOG_COLUMNS, schema.clone(), |batch| {
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
            op("bulk_orders", |reader| Some(split(&logs(reader)?))).call(orders),
            op("bulk_calls", inputs).call(calls),
            op("bulk_senders_columns", fields).call(senders_columns),
            op("bulk_checksums", |reader| values(reader, Some(20))).call(checksums),
            op("bulk_decimals", |reader| values(reader, Some(32))).call(decimals),
            op("bulk_hex_decode", texts).call(decoded_hex),
            op("bulk_transfers_file", |reader| write(&logs(reader)?)).call(transfers_file),
            op("bulk_mix_file", mix::parse).call(mix::decode),
            op("bulk_senders_file", |reader| write(&transactions(reader)?)).call(senders_file),
        ],
    );
}
