//! `decode-logs`, `decode-calls`, `senders` and `schema`, on files written here.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_ipc::writer::FileWriter;
use serde_json::{Value, json};

const TOPIC: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const TRANSFER: &str = "Transfer(address indexed from, address indexed to, uint256 value)";
const WORD: &str = "0x0000000000000000000000000000000000000000000000000000000000000007";
/// The EIP-155 example.
const TRANSACTION: &str = "0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83";

/// Runs the command in a directory. Returns the exit code, standard output and standard error.
fn lydite(directory: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lydite"));
    let done = command
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        done.status.code().unwrap(),
        text(done.stdout),
        text(done.stderr),
    )
}

fn json(directory: &Path, arguments: &[&str]) -> Value {
    let (code, out, error) = lydite(directory, &[arguments, &["--json"]].concat());
    assert_eq!((code, error.as_str()), (0, ""));
    serde_json::from_str(&out).unwrap()
}

fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = FileWriter::try_new(File::create(path).unwrap(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

fn text(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

/// Two transfers, the second one with an address that is too long.
fn write_logs(path: &Path) {
    let columns = vec![
        (
            "block_number",
            Arc::new(UInt64Array::from(vec![5, 6])) as ArrayRef,
        ),
        ("topic0", text(&[TOPIC, TOPIC])),
        ("topic1", text(&[WORD, TOPIC])),
        ("topic2", text(&[WORD, WORD])),
        ("data", text(&[WORD, WORD])),
    ];
    write(path, columns);
}

#[test]
fn logs() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write_logs(&at.join("logs.arrow"));
    let arguments = [
        "decode-logs",
        "logs.arrow",
        "-o",
        "out.parquet",
        "--event",
        TRANSFER,
    ];
    let (code, out, error) = lydite(at, &arguments);
    assert_eq!(code, 0);
    assert!(
        out.starts_with(
            "rows read             2\nlogs of these events  2\nwritten               out.parquet (2 rows)\n"
        ),
        "{out}"
    );
    assert_eq!(
        error,
        "1 rows could not be decoded: padding is not zero\nthe first of them:\n  \
         logs.arrow: row 1, block 6: byte 0: padding is not zero\n"
    );
    let (code, _, error) = lydite(at, &arguments);
    assert_eq!(
        (code, error.as_str()),
        (2, "error: out.parquet: file exists\n")
    );

    let more = [
        "--overwrite",
        "--on-error",
        "drop",
        "--uint256",
        "string,f64",
    ];
    let report = json(at, &[&arguments[..], &more].concat());
    assert_eq!(
        report["written"],
        json!([{"file": "out.parquet", "rows": 1}])
    );
    let columns = json(at, &["schema", "out.parquet"]);
    let names: Vec<&str> = columns["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["block_number", "from", "to", "value_string", "value_f64"]
    );

    let (code, _, error) = lydite(at, &["decode-logs", "logs.arrow", "-o", "x"]);
    assert_eq!(
        (code, error.as_str()),
        (2, "error: no event; give --event SIGNATURE or --abi FILE\n")
    );
    let (code, _, error) = lydite(
        at,
        &[&arguments[..], &["--overwrite", "--map", "data=nothing"]].concat(),
    );
    assert_eq!(
        (code, error.as_str()),
        (
            2,
            "error: logs.arrow: no column `nothing`, which was given for data\n"
        )
    );
}

#[test]
fn abi_files() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write_logs(&at.join("logs.arrow"));
    let inputs = r#"[{"name": "a", "type": "address", "indexed": true}, {"name": "b", "type": "address", "indexed": true},
        {"name": "c", "type": "uint256"}]"#;
    let event = format!(r#"{{"type": "event", "name": "Transfer", "inputs": {inputs}}}"#);
    fs::write(at.join("list.json"), format!("[{event}]")).unwrap();
    fs::write(
        at.join("build.json"),
        format!(r#"{{"bytecode": "0x", "abi": [{event}]}}"#),
    )
    .unwrap();
    fs::write(
        at.join("lines.txt"),
        format!("# comment\n\nfunction f()\nevent {TRANSFER};\n"),
    )
    .unwrap();
    for abi in ["list.json", "build.json", "lines.txt"] {
        let report = json(
            at,
            &[
                "decode-logs",
                "logs.arrow",
                "-o",
                "out.parquet",
                "--overwrite",
                "--abi",
                abi,
                "--on-error",
                "drop",
            ],
        );
        assert_eq!(report["selected"], 2, "{abi}");
    }
    fs::write(at.join("bad.txt"), "event E()\nnothing\n").unwrap();
    let (_, _, error) = lydite(
        at,
        &["decode-logs", "logs.arrow", "-o", "x", "--abi", "bad.txt"],
    );
    assert_eq!(
        error,
        "error: bad.txt: line 2: expected `event …` or `function …`\n"
    );
}

#[test]
fn calls() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let call = format!("0xa9059cbb{}{}", &WORD[2..], &WORD[2..]);
    write(
        &at.join("calls.arrow"),
        vec![("input", text(&[&call, "0x", &call]))],
    );
    let function = "function transfer(address to, uint256 amount)";
    let report = json(
        at,
        &[
            "decode-calls",
            "calls.arrow",
            "-o",
            "out.parquet",
            "--function",
            function,
        ],
    );
    assert_eq!(
        (&report["rows"], &report["selected"]),
        (&json!(3), &json!(2))
    );
    let (_, out, _) = lydite(at, &["schema", "calls.arrow"]);
    assert!(
        out.ends_with(
            "possible: decode-calls\n\nmost frequent in the first rows:\n        2  0xa9059cbb\n"
        ),
        "{out}"
    );
}

#[test]
fn transactions() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let right = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F";
    let raw = [("raw", text(&[TRANSACTION])), ("from", text(&[right]))];
    write(&at.join("tx.arrow"), raw.into());
    let arguments = [
        "senders",
        "tx.arrow",
        "-o",
        "out.arrow",
        "--check",
        "--hash",
    ];
    assert_eq!(lydite(at, &arguments).0, 0);
    let columns = json(at, &["schema", "out.arrow"])["columns"].clone();
    assert_eq!(
        columns,
        json!([
            {"name": "sender", "type": "FixedSizeBinary(20)", "role": null},
            {"name": "hash", "type": "FixedSizeBinary(32)", "role": "transaction_hash"}
        ])
    );
    let raw = [("raw", text(&[TRANSACTION])), ("from", text(&["0x00"]))];
    write(&at.join("tx.arrow"), raw.into());
    let (code, _, error) = lydite(at, &[&arguments[..], &["--overwrite"]].concat());
    assert_eq!(code, 1);
    assert!(
        error.starts_with("1 senders differ from the column\n"),
        "{error}"
    );
}
