//! `decode-logs`, `decode-calls`, `senders` and `schema`, on files written here.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, StreamWriter};
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

/// An Arrow stream on standard input, one on standard output.
#[test]
fn streams() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    write_logs(&directory.join("logs.arrow"));
    let mut stream = Vec::new();
    let reader = FileReader::try_new(File::open(directory.join("logs.arrow")).unwrap(), None);
    let reader = reader.unwrap();
    let mut writer = StreamWriter::try_new(&mut stream, &reader.schema()).unwrap();
    reader.for_each(|batch| writer.write(&batch.unwrap()).unwrap());
    writer.finish().unwrap();
    let mut process = Command::new(env!("CARGO_BIN_EXE_lydite"))
        .args([
            "decode-logs",
            "-",
            "-o",
            "-",
            "--event",
            TRANSFER,
            "--memory",
            "64M",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    process.stdin.take().unwrap().write_all(&stream).unwrap();
    let done = process.wait_with_output().unwrap();
    let error = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.success(), "{error}");
    assert!(
        error.starts_with("2 rows read, 2 logs of these events\n1 rows could not"),
        "{error}"
    );
    let batches: Vec<RecordBatch> = StreamReader::try_new(&done.stdout[..], None)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let names: Vec<_> = batches[0]
        .schema()
        .fields()
        .iter()
        .map(|f| f.name().clone())
        .collect();
    assert_eq!(names, ["block_number", "from", "to", "value"]);
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 2);

    let run = |arguments: &[&str]| {
        let (code, out, error) = lydite(directory, arguments);
        assert!(out.is_empty(), "{out}");
        (code, error)
    };
    let one = ["decode-logs", "logs.arrow", "--event", TRANSFER];
    let (code, error) = run(&[&one[..], &["-o", "out.parquet", "--resume"]].concat());
    assert_eq!(code, 2);
    assert!(
        error.contains("an output per input requires a directory as output"),
        "{error}"
    );
    let (code, error) = run(&[&one[..], &["-o", "out.parquet", "--memory", "5X"]].concat());
    assert_eq!(code, 2);
    assert!(
        error.contains("expected a number of bytes such as 512M, found `5X`"),
        "{error}"
    );
    let arguments = [
        "decode-logs",
        "*.arrow",
        "--event",
        TRANSFER,
        "-o",
        "out/",
        "--resume",
    ];
    assert_eq!(json(directory, &arguments)["skipped"], json!(0));
    assert_eq!(json(directory, &arguments)["skipped"], json!(1));
}

/// A directory that is called `-` is not the output.
#[test]
fn standard_output() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write_logs(&at.join("logs.arrow"));
    fs::create_dir(at.join("-")).unwrap();
    let arguments = ["decode-logs", "logs.arrow", "-o", "-", "--event", TRANSFER];
    for format in [&[][..], &["--format", "arrow"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lydite"));
        let command = command.args(arguments).args(format).current_dir(at);
        let stream = command.output().unwrap().stdout;
        let batches = StreamReader::try_new(&stream[..], None).unwrap();
        let rows = batches.map(|batch| batch.unwrap().num_rows());
        assert_eq!(rows.sum::<usize>(), 2, "{format:?}");
    }
    // The reader of the stream is gone.
    let mut command = Command::new(env!("CARGO_BIN_EXE_lydite"));
    command.args(arguments).current_dir(at);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let done = command.stdout(writer).output().unwrap();
    assert_eq!((done.status.code(), done.stderr), (Some(0), vec![]));

    let more = [
        "--event",
        "Approval(address indexed a, address indexed b, uint256 c)",
    ];
    let (code, out, error) = lydite(at, &[&arguments[..], &more].concat());
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(
        error,
        "error: -: expected a directory for the files of several events or functions, found standard output\n"
    );
    assert_eq!(fs::read_dir(at.join("-")).unwrap().count(), 0);
}

/// Ends at once, without a temporary file, while it waits for more of its input.
#[cfg(unix)]
#[test]
fn interrupted() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let count = 5_000;
    let batch = log_columns(&vec![WORD; count], (0..count as u64).collect());
    let batch = RecordBatch::try_from_iter(batch).unwrap();
    let mut process = Command::new(env!("CARGO_BIN_EXE_lydite"))
        .args(["decode-logs", "-", "-o", "out.parquet", "--event", TRANSFER])
        .args(["--memory", "1"])
        .current_dir(at)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let input = process.stdin.take().unwrap();
    let mut writer = StreamWriter::try_new(input, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.flush().unwrap();
    let mut waited = 0..600;
    let mut wait = || {
        assert!(waited.next().is_some());
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    while fs::read_dir(at).unwrap().count() == 0 {
        wait();
    }
    let id = process.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    while process.try_wait().unwrap().is_none() {
        wait();
    }
    let done = process.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(done.stderr, b"error: cancelled\n");
    assert_eq!(fs::read_dir(at).unwrap().count(), 0);
    drop(writer);
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
    write(path, log_columns(&[WORD, TOPIC], vec![5, 6]));
}

fn log_columns(topic1: &[&str], blocks: Vec<u64>) -> Vec<(&'static str, ArrayRef)> {
    let repeated = |value| text(&vec![value; blocks.len()]);
    vec![
        ("topic0", repeated(TOPIC)),
        ("topic1", text(topic1)),
        ("topic2", repeated(WORD)),
        ("data", repeated(WORD)),
        ("block_number", Arc::new(UInt64Array::from(blocks))),
    ]
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
            "rows read             2\nlogs of these events  2\nwritten               out.parquet (2 rows)\n\
             seconds               0."
        ),
        "{out}"
    );
    assert!(
        out.contains(" rows a second\ncore seconds          0."),
        "{out}"
    );
    for step in ["read", "decode", "encode", "write"] {
        assert!(out.contains(&format!(" {step} ")), "{out}");
    }
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
    let more = [
        "--overwrite",
        "--mode",
        "lenient",
        "--report",
        "report.json",
    ];
    let (code, _, error) = lydite(at, &[&arguments[..], &more].concat());
    assert_eq!((code, error.as_str()), (0, ""));
    let report = fs::read(at.join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(
        (&report["selected"], &report["failures"]),
        (&json!(2), &json!({}))
    );

    let (code, _, error) = lydite(at, &["decode-logs", "logs.arrow", "-o", "x"]);
    assert_eq!(
        (code, error.as_str()),
        (2, "error: no event; give --event SIGNATURE or --abi PATH\n")
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

/// Of events with the same first topic and number of topics, the first one is used.
#[test]
fn events_that_cannot_be_distinguished() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write_logs(&at.join("logs.arrow"));
    let other = "Transfer(address indexed from, address to, uint256 indexed value)";
    let arguments = [
        "decode-logs",
        "logs.arrow",
        "-o",
        "out",
        "--overwrite",
        "--event",
        TRANSFER,
        "--event",
    ];
    let expected = format!("{other}, whose rows are decoded as {TRANSFER}");
    let (_, out, error) = lydite(at, &[&arguments[..], &[other]].concat());
    assert!(
        out.contains(&format!("left out              {expected}\n")),
        "{out} {error}"
    );
    assert!(at.join("out").is_file());
    let more = [other, "--event", other, "--mode", "lenient"];
    let report = json(at, &[&arguments[..], &more].concat());
    assert_eq!(report["left_out"], json!([expected]));
    let report = json(
        at,
        &[&arguments[..], &[TRANSFER, "--mode", "lenient"]].concat(),
    );
    assert_eq!(report["left_out"], json!([]));
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
    // A build tool's directory, in which not every file has an ABI.
    fs::create_dir_all(at.join("out/token")).unwrap();
    fs::copy(at.join("build.json"), at.join("out/token/token.json")).unwrap();
    fs::write(at.join("out/cache.json"), "{}").unwrap();
    fs::write(at.join("out/notes.txt"), "nothing").unwrap();
    for abi in ["list.json", "build.json", "lines.txt", "out"] {
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
        vec![
            ("input", text(&[&call, "0x", &call])),
            ("output", text(&["0x", "0x", WORD])),
        ],
    );
    let function = "function transfer(address to, uint256 amount) returns (uint256)";
    let report = json(
        at,
        &[
            "decode-calls",
            "calls.arrow",
            "-o",
            "out.parquet",
            "--function",
            function,
            "--results",
            "--uint256",
            "string",
        ],
    );
    let columns = json(at, &["schema", "out.parquet"]);
    assert_eq!(columns["columns"][2]["name"], "output_0");
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

// Elsewhere, such a file may not have this name.
#[cfg(target_os = "linux")]
#[test]
fn reports() {
    use std::os::unix::ffi::OsStrExt as _;
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write_logs(&at.join("logs.arrow"));
    let run = |output: &[u8], more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lydite"));
        command.args(["decode-logs", "logs.arrow", "--event", TRANSFER, "-o"]);
        let command = command.arg(std::ffi::OsStr::from_bytes(output)).args(more);
        let done = command.current_dir(at).output().unwrap();
        (
            done.status.code(),
            done.stdout,
            String::from_utf8(done.stderr).unwrap(),
        )
    };
    let (code, out, error) = run(b"\xff.parquet", &["--json"]);
    assert_eq!(code, Some(0), "{error}");
    let report: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(report["written"][0]["file"], "\u{fffd}.parquet");

    // Found before the run.
    let file = "expected a file for the report that is not an input or output\n";
    fs::create_dir(at.join("out")).unwrap();
    for (output, report, expected) in [
        ("a.parquet", "./a.parquet", file),
        ("out", "out/logs.parquet", file),
        ("a.parquet", "logs.arrow", file),
        (
            "a.parquet",
            "none/report",
            "No such file or directory (os error 2)\n",
        ),
    ] {
        let (code, _, error) = run(output.as_bytes(), &["--report", report]);
        assert_eq!(code, Some(2));
        assert_eq!(error, format!("error: {report}: {expected}"));
        assert!(!at.join("a.parquet").exists());
    }
    assert_eq!(fs::read_dir(at.join("out")).unwrap().count(), 0);
    assert_eq!(run(b"out", &["--report", "out/report.json"]).0, Some(0));
    assert_eq!(run(b"a.parquet", &[]).0, Some(0));
}

/// Columns with known names and other types.
#[test]
fn columns_that_cannot_be_decoded() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let numbers = || Arc::new(UInt64Array::from(vec![1])) as ArrayRef;
    for columns in [
        vec![("data", numbers()), ("raw", numbers())],
        vec![("topics", text(&["0x,0x"])), ("data", text(&["0x"]))],
        vec![("topic0", text(&[TOPIC])), ("data", numbers())],
    ] {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        write(&at.join("in.arrow"), columns);
        let found = json(at, &["schema", "in.arrow"]);
        for (name, column) in names.iter().zip(found["columns"].as_array().unwrap()) {
            assert_eq!(column["name"], *name);
        }
        // An Arrow file does not store its number of rows.
        let rest = ["rows", "commands", "frequent"].map(|field| found[field].clone());
        assert_eq!(rest, [json!(null), json!([]), json!([])], "{names:?}");
        let (_, out, _) = lydite(at, &["schema", "in.arrow"]);
        assert!(out.starts_with(&format!("{}  ", names[0])), "{out}");
    }
}

#[test]
fn transactions() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let right = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F";
    // Like in files of mempool-dumpster, whose column `hash` is replaced.
    let raw = [
        ("hash", text(&[TOPIC])),
        ("raw", text(&[TRANSACTION])),
        ("from", text(&[right])),
    ];
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
    // A transaction that is invalid, and none.
    let raw: ArrayRef = Arc::new(StringArray::from(vec![Some("0x05"), None]));
    for row in [0, 1] {
        let raw = [("raw", raw.slice(row, 1)), ("from", text(&[right]))];
        write(&at.join("tx.arrow"), raw.into());
        let (code, _, error) = lydite(at, &[&arguments[..], &["--overwrite"]].concat());
        assert_eq!(code, 1, "{error}");
    }
}
