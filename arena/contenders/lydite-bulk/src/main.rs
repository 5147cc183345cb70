//! lydite-arrow and lydite-bulk as a contender.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use arena_kit::{Reader, op, run, step};
use arena_kit_bulk::{
    Batches, Mix, Written, fields, inputs, logs, mix, path, single, split, texts, transactions,
    values, write,
};
use arrow_array::{ArrayRef, RecordBatch};
use lydite_arrow::{
    ByteColumn, CallDecoder, CallSet, EventDecoder, EventSet, Integers, Job, Keep,
    Options as Columns, SendersOptions, Transform, TransformOptions, checksum, hex_decode,
    uint256_to_text,
};
use lydite_bulk::{Error, Options, Progress, Report};

const TRANSFER: &str = "event Transfer(address indexed from, address indexed to, uint256 value)";
const ORDER: &str = "event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, \
    address recipient, (uint8,address,uint256,uint256)[] offer, \
    (uint8,address,uint256,uint256,address)[] consideration)";
const CALL: &str = "function transfer(address to, uint256 value)";

static TRANSFERS: LazyLock<Option<EventSet>> = LazyLock::new(|| event(TRANSFER));
static ORDERS: LazyLock<Option<EventSet>> = LazyLock::new(|| event(ORDER));
static CALLS: LazyLock<Option<CallSet>> = LazyLock::new(|| {
    let decoder = CallDecoder::parse(CALL, &Columns::default()).ok()?;
    Some(CallSet::new([decoder]))
});

fn event(signature: &str) -> Option<EventSet> {
    let decoder = EventDecoder::parse(signature, &Columns::default()).ok()?;
    EventSet::new([decoder]).ok()
}

fn keep(names: &[&str]) -> TransformOptions {
    TransformOptions {
        keep: Keep::Named(names.iter().map(|name| name.to_string()).collect()),
        ..TransformOptions::default()
    }
}

fn kept_of_logs() -> TransformOptions {
    keep(&["block_number", "log_index", "address"])
}

fn transform(batches: &[RecordBatch], job: Job, options: TransformOptions) -> Option<Batches> {
    let transform = Transform::new(job, batches.first()?.schema_ref(), options).ok()?;
    let mut decoded = Vec::new();
    for batch in batches {
        decoded.extend(transform.apply(batch).ok()?.batches.into_iter().flatten());
    }
    Some(Batches(decoded))
}

fn transfers(batches: &Vec<RecordBatch>) -> Option<Batches> {
    transform(batches, Job::Logs(TRANSFERS.clone()?), kept_of_logs())
}

fn orders(batches: &Vec<RecordBatch>) -> Option<Batches> {
    transform(batches, Job::Logs(ORDERS.clone()?), kept_of_logs())
}

fn calls(batches: &Vec<RecordBatch>) -> Option<Batches> {
    transform(batches, Job::Calls(CALLS.clone()?), keep(&[]))
}

fn senders_columns(batches: &Vec<RecordBatch>) -> Option<Batches> {
    let job = Job::Senders(SendersOptions::default());
    transform(batches, job, keep(&[]))
}

fn checksums(addresses: &ArrayRef) -> Option<Batches> {
    single(Arc::new(checksum(&ByteColumn::try_new(addresses).ok()?).0))
}

fn decimals(words: &ArrayRef) -> Option<Batches> {
    let words = ByteColumn::try_new(words).ok()?;
    single(Arc::new(uint256_to_text(&words, Integers::Uint256).0))
}

fn decoded_hex(texts: &ArrayRef) -> Option<Batches> {
    single(Arc::new(hex_decode(&ByteColumn::try_new(texts).ok()?).0))
}

fn options(transform: TransformOptions) -> Options {
    Options {
        transform,
        threads: NonZeroUsize::new(1),
        overwrite: true,
        ..Options::default()
    }
}

fn proceed(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn written(report: Result<Report, Error>) -> Option<Written> {
    let Report { written, times, .. } = report.ok()?;
    step("reading", times.read);
    step("decoding", times.decode);
    step("encoding", times.encode);
    step("writing", times.write);
    let (paths, rows): (Vec<_>, Vec<_>) = written.into_iter().unzip();
    Some(Written(paths, rows.iter().sum()))
}

fn transfers_file(input: &PathBuf) -> Option<Written> {
    let (events, options) = (TRANSFERS.as_ref()?, options(kept_of_logs()));
    let output = path("output.parquet");
    written(lydite_bulk::decode_logs(
        &[input.clone()],
        &output,
        events,
        &options,
        &proceed,
    ))
}

/// The signatures compiled, and a file of logs.
fn compiled(reader: &mut Reader) -> Option<(EventSet, PathBuf)> {
    let Mix { events, file } = mix(reader)?;
    let decoders = events
        .into_iter()
        .map(|event| EventDecoder::parse(event, &Columns::default()));
    let decoders: Result<Vec<_>, _> = decoders.collect();
    Some((EventSet::new(decoders.ok()?).ok()?, file))
}

fn mix_file((events, input): &(EventSet, PathBuf)) -> Option<Written> {
    written(lydite_bulk::decode_logs(
        &[input.clone()],
        &path("output"),
        events,
        &options(kept_of_logs()),
        &proceed,
    ))
}

fn senders_file(input: &PathBuf) -> Option<Written> {
    let (senders, options) = (SendersOptions::default(), options(keep(&[])));
    let output = path("output.parquet");
    written(lydite_bulk::senders(
        &[input.clone()],
        &output,
        senders,
        &options,
        &proceed,
    ))
}

fn main() {
    run(
        "lydite-bulk",
        env!("CARGO_PKG_VERSION"),
        vec![
            op("bulk_transfers", |reader| Some(split(&logs(reader)?))).call(transfers),
            op("bulk_orders", |reader| Some(split(&logs(reader)?))).call(orders),
            op("bulk_calls", inputs).call(calls),
            op("bulk_senders_columns", fields).call(senders_columns),
            op("bulk_checksums", |reader| values(reader, Some(20))).call(checksums),
            op("bulk_decimals", |reader| values(reader, Some(32))).call(decimals),
            op("bulk_hex_decode", texts).call(decoded_hex),
            op("bulk_transfers_file", |reader| write(&logs(reader)?)).call(transfers_file),
            op("bulk_mix_file", compiled).call(mix_file),
            op("bulk_senders_file", |reader| write(&transactions(reader)?)).call(senders_file),
        ],
    );
}
