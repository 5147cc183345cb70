//! Real files with values decoded by eth-abi and senders recovered by libsecp256k1. They are not part of the repository:
//! the directory is in `LYDITE_DATA`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use crate::common::{proceed, rows};
use lydite_arrow::{
    CallDecoder, CallSet, EventDecoder, EventSet, Keep, Options as Columns, Role, SendersOptions,
    TransformOptions, Uint256Format,
};
use lydite_bulk::{Options, decode_calls, decode_logs, inspect, senders};
use lydite_bytes::hex;
use lydite_evm::trie;
use serde_json::{Value, json};

const GLACIERS: &str = "glaciers/ethereum__logs__blocks__18426253_to_18426303_example.parquet";

/// Returns a file of the directory; `None` if there is no directory.
fn data(file: &str) -> Option<PathBuf> {
    let Some(directory) = std::env::var_os("LYDITE_DATA") else {
        eprintln!("skipped: LYDITE_DATA is not set to the directory of real files");
        return None;
    };
    let path = Path::new(&directory).join(file);
    assert!(path.exists(), "{}", path.display());
    Some(path)
}

fn keep(columns: Vec<String>) -> TransformOptions {
    TransformOptions {
        keep: Keep::Named(columns),
        ..TransformOptions::default()
    }
}

fn events<'a>(signatures: impl IntoIterator<Item = &'a str>, options: &Columns) -> EventSet {
    let decoders = signatures
        .into_iter()
        .map(|signature| EventDecoder::parse(signature, options).unwrap());
    EventSet::new(decoders).unwrap()
}

/// Decoded values by event, block and log index.
type Logs = BTreeMap<(String, u64, u64), Vec<Value>>;

/// Reads the values that eth-abi decoded. Those of indexed parameters come first in the file, here in the order of the
/// signature.
fn expected(file: &Path) -> Logs {
    let lines = BufReader::new(flate2::read::GzDecoder::new(File::open(file).unwrap())).lines();
    let mut logs = Logs::new();
    for line in lines {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let event = line["event"].as_str().unwrap();
        let mut indexed = line["indexed"].as_array().unwrap().iter();
        let mut others = line["data"].as_array().unwrap().iter();
        let codec = EventDecoder::parse(event, &Columns::default()).unwrap();
        let inputs = codec.codec().signature().inputs.iter();
        let values = inputs.map(|input| {
            if input.indexed {
                indexed.next()
            } else {
                others.next()
            }
        });
        let values = values.map(|value| value.unwrap().clone()).collect();
        let number = |name: &str| line[name].as_u64().unwrap();
        logs.insert(
            (event.into(), number("block_number"), number("log_index")),
            values,
        );
    }
    logs
}

/// Decodes a file by all events of `expected`, and returns the values.
fn decoded(file: &Path, expected: &Logs) -> Logs {
    let signatures: BTreeSet<&str> = expected.keys().map(|(event, ..)| event.as_str()).collect();
    let columns = Columns {
        uint256: vec![Uint256Format::String],
        ..Columns::default()
    };
    let options = Options {
        transform: keep(vec![
            column_name(file, Role::BlockNumber),
            column_name(file, Role::LogIndex),
        ]),
        overwrite: true,
        ..Options::default()
    };
    let directory = tempfile::tempdir().unwrap();
    let mut logs = Logs::new();
    for signature in signatures {
        let output = directory.path().join("one.parquet");
        let events = events([signature], &columns);
        let report = decode_logs(&[file.into()], &output, &events, &options, &proceed).unwrap();
        assert_eq!(report.failures, BTreeMap::new(), "{signature}");
        let rows = rows(&output);
        assert_eq!(rows.len() as u64, report.selected);
        for mut row in rows {
            let values = row.split_off(2);
            let number = |value: &Value| value.as_str().unwrap().parse().unwrap();
            logs.insert((signature.into(), number(&row[0]), number(&row[1])), values);
        }
    }
    logs
}

fn column_name(file: &Path, role: Role) -> String {
    let roles = inspect(file, &Default::default()).unwrap().roles;
    roles.into_iter().find(|(one, _)| *one == role).unwrap().1
}

fn assert_equal(found: &Logs, expected: &Logs) {
    for (key, values) in expected {
        assert_eq!(found.get(key), Some(values), "{key:?}");
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn values_of_eth_abi() {
    let Some(file) = data(GLACIERS) else { return };
    let expected = expected(&file.with_file_name("decoded-expected.jsonl.gz"));
    let count = |event: &str| {
        let events = expected.keys().filter(|(one, ..)| one.starts_with(event));
        events.count()
    };
    assert_eq!(expected.len(), 10_893);
    assert_eq!(
        count("Transfer(address indexed from, address indexed to, uint256 value"),
        7_430
    );
    assert_eq!(
        count("Transfer(address indexed from, address indexed to, uint256 indexed"),
        370
    );
    assert_equal(&decoded(&file, &expected), &expected);
}

#[test]
fn four_schemas_of_the_same_logs() {
    let Some(directory) = data("portal-spec-tests") else {
        return;
    };
    let expected = expected(&directory.join("decoded-expected.jsonl.gz"));
    assert_eq!(expected.len(), 13_252);
    for schema in ["cryo", "hypersync", "ethereum-etl", "xatu"] {
        let file = directory.join(format!("logs-as-{schema}.parquet"));
        let found = decoded(&file, &expected);
        assert_equal(&found, &expected);
    }
}

#[test]
fn many_events_in_one_pass() {
    let (Some(file), Some(signatures)) = (
        data(GLACIERS),
        data("ethereum-etl-airflow/event-signatures.tsv"),
    ) else {
        return;
    };
    let signatures = std::fs::read_to_string(signatures).unwrap();
    let lines: Vec<Vec<&str>> = signatures
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(lines.len(), 3_001);
    let options = Options {
        transform: TransformOptions {
            prefix: "event__".into(),
            ..TransformOptions::default()
        },
        ..Options::default()
    };
    for line in &lines {
        let decoder = EventDecoder::parse(line[1], &Columns::default()).unwrap();
        assert_eq!(decoder.codec().topic().to_string(), line[0]);
    }
    // The logs of anonymous events cannot be told apart.
    let named = lines
        .iter()
        .map(|line| line[1])
        .filter(|line| !line.ends_with("anonymous"));
    let events = events(named, &Columns::default());
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("events");
    let report = decode_logs(&[file], &output, &events, &options, &proceed).unwrap();
    assert_eq!(report.rows, 17_096);
    assert_eq!(report.selected + report.other_layout, 14_862);
    let written: u64 = report.written.iter().map(|(_, rows)| rows).sum();
    assert_eq!(written, report.selected);
}

#[test]
fn transfers_among_calls() {
    let Some(file) = data("glaciers/ethereum__traces__blocks__21_000_000_to_21_000_010.parquet")
    else {
        return;
    };
    let options = Options::default();
    let signatures = [
        "function transfer(address to, uint256 amount) returns (bool)",
        "function balanceOf(address owner) returns (uint256)",
    ];
    let decoders =
        signatures.map(|signature| CallDecoder::parse(signature, &Columns::default()).unwrap());
    let directory = tempfile::tempdir().unwrap();
    let functions = CallSet::new(decoders).with_results();
    let report = decode_calls(&[file], directory.path(), &functions, &options, &proceed).unwrap();
    let written: Vec<u64> = report.written.iter().map(|(_, rows)| *rows).collect();
    assert_eq!((report.rows, written), (9_034, vec![1_574, 1_874]));
    // Three transfers returned a single byte.
    let failures = BTreeMap::from([("returned values: unexpected end of data".into(), 3)]);
    assert_eq!(report.failures, failures);
}

#[test]
fn senders_of_every_type() {
    let Some(file) = data("portal-spec-tests/raw-transactions.parquet") else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("senders.parquet");
    let options = Options {
        transform: keep(vec!["from".into(), "transaction_hash".into()]),
        ..Options::default()
    };
    let what = SendersOptions {
        hash: true,
        check: true,
    };
    let report = senders(&[file], &output, what, &options, &proceed).unwrap();
    assert_eq!((report.rows, report.different), (1_686, 0));
    assert_eq!(report.failures, BTreeMap::new());
    for row in rows(&output) {
        assert_eq!(row[..2], row[2..]);
        assert_ne!(row[0], json!(null));
    }
}

/// The transactions roots of the blocks' headers. Source: ethereum/portal-spec-tests at 938744a, tests/mainnet/history.
#[test]
fn transactions_roots() {
    let Some(file) = data("portal-spec-tests/raw-transactions.parquet") else {
        return;
    };
    let mut blocks: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for row in rows(&file) {
        let (block, raw) = (row[0].as_str().unwrap(), row[5].as_str().unwrap());
        let raw = hex::decode(raw).unwrap();
        blocks.entry(block.into()).or_default().push(raw);
    }
    let roots: Vec<(&str, String)> = blocks
        .iter()
        .map(|(block, raw)| (block.as_str(), hex::encode(trie::ordered_root(raw))))
        .collect();
    let expected = [
        (
            "14764013",
            "18a2978fc62cd1a23e90de920af68c0c3af3330327927cda4c005faccefb5ce7",
        ),
        (
            "15537393",
            "dd5eec02b019ff76e359b09bfa19395a2a0e97bc01e70d8d5491e640167c96a8",
        ),
        (
            "15537394",
            "1ea1746468686159ce730c1cc49a886721244e5d1fa9a06d6d4196b6f013c82c",
        ),
        (
            "15547621",
            "792cc186cb5463beb85195cdb8788cb706cc4bc8fb5b6f067479b44fd0fab5ab",
        ),
        (
            "17034869",
            "749c345c3827e94c7fcd112a367a723f872b01b66daf39e7acfbcaca0a69f0ec",
        ),
        (
            "17034870",
            "6f235d618461c08943aa5c23cc751310d6177ab8a9b9a7b66ffa637d988680e6",
        ),
        (
            "17062257",
            "a9b1eb12f083134d2dec35e151c1715d4e2689dd6a7193d4980524686305f04a",
        ),
        (
            "19426586",
            "d3a2720a46c43f41eced8190fef8abbb9e1683e7151ee9d4df1a65cd6eca04f8",
        ),
        (
            "19426587",
            "20cbdd2cd6113eb72dade6be7ec18fe6a7167a8a0af912a2171af909a8cda9f6",
        ),
        (
            "22162263",
            "157b7c9161c55469dc7b623d57ae5ffc7f201754fd3dbaf30763bf347b987183",
        ),
        (
            "22431083",
            "ab7eae1336847da00fa377786f2f168cd0c347b741938fae190ed5b3090de09e",
        ),
        (
            "22431084",
            "6522a2eba58778c64f0facee1378ddcdb1b5927285f461f9a8314c1b5fe1e5b1",
        ),
        (
            "22869878",
            "536b4b65d83fcd6b19f184c6fb9c956d1ded2d09cedf7ddda81752563279f190",
        ),
    ];
    assert_eq!(
        roots,
        expected.map(|(block, root)| (block, root.to_owned()))
    );
}

/// Rebuilt from fees, value, access list and signature; the hash of each is checked.
#[test]
fn senders_from_columns() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("senders.parquet");
    let what = SendersOptions {
        hash: true,
        check: true,
    };
    let options = Options {
        transform: keep(vec!["from".into(), "tx_hash".into()]),
        overwrite: true,
        ..Options::default()
    };
    let deposit = BTreeMap::from([("transaction type 126 has no known signature".into(), 1)]);
    for (name, count, failures) in [
        ("mainnet-15000000", 348, BTreeMap::new()),
        ("base-33411770", 414, deposit),
    ] {
        let Some(file) = data(&format!("amp/{name}-transactions.parquet")) else {
            return;
        };
        let report = senders(&[file], &output, what, &options, &proceed).unwrap();
        assert_eq!((report.rows, report.different), (count, 0));
        assert_eq!(report.failures, failures);
        let rows = rows(&output);
        let equal = rows.iter().filter(|row| row[..2] == row[2..]).count() as u64;
        assert_eq!(equal, count - report.failures.len() as u64);
    }

    // Without access lists and chain ids, only the hash shows which transactions are complete.
    let Some(file) = data("amp/mainnet-15000000-transactions-firehose.parquet") else {
        return;
    };
    let report = senders(&[file], &output, what, &options, &proceed).unwrap();
    assert_eq!(report.different, 0);
    let incomplete: u64 = report.failures.values().sum();
    let equal = rows(&output)
        .iter()
        .filter(|row| row[..2] == row[2..])
        .count() as u64;
    assert_eq!(equal + incomplete, 348);
}
