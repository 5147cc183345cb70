//! lydite-arrow and lydite-bulk as a contender.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::LazyLock;

use arena_kit::{op, run};
use arena_kit_bulk::{Batches, Written, logs, path, split, transactions, write};
use arrow_array::RecordBatch;
use lydite_arrow::{
    EventDecoder, EventSet, Job, Keep, Options as Columns, SendersOptions, Transform,
    TransformOptions,
};
use lydite_bulk::{Error, Options, Progress, Report};

const TRANSFER: &str = "event Transfer(address indexed from, address indexed to, uint256 value)";

static EVENTS: LazyLock<Option<EventSet>> = LazyLock::new(|| {
    let decoder = EventDecoder::parse(TRANSFER, &Columns::default()).ok()?;
    EventSet::new([decoder]).ok()
});

fn keep(names: &[&str]) -> TransformOptions {
    TransformOptions {
        keep: Keep::Named(names.iter().map(|name| name.to_string()).collect()),
        ..TransformOptions::default()
    }
}

fn kept_of_logs() -> TransformOptions {
    keep(&["block_number", "log_index", "address"])
}

fn transfers(batches: &Vec<RecordBatch>) -> Option<Batches> {
    let job = Job::Logs(EVENTS.clone()?);
    let transform = Transform::new(job, batches.first()?.schema_ref(), kept_of_logs()).ok()?;
    let mut decoded = Vec::new();
    for batch in batches {
        decoded.extend(transform.apply(batch).ok()?.batches.into_iter().flatten());
    }
    Some(Batches(decoded))
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
    let (path, rows) = report.ok()?.written.pop()?;
    Some(Written(path, rows))
}

fn transfers_file(input: &PathBuf) -> Option<Written> {
    let (events, options) = (EVENTS.as_ref()?, options(kept_of_logs()));
    let output = path("output.parquet");
    written(lydite_bulk::decode_logs(
        &[input.clone()],
        &output,
        events,
        &options,
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
            op("bulk_transfers_file", |reader| write(&logs(reader)?)).call(transfers_file),
            op("bulk_senders_file", |reader| write(&transactions(reader)?)).call(senders_file),
        ],
    );
}
