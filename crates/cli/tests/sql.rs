//! `sql`, on files written here.

#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeBinaryArray, Int64Array, RecordBatch};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;

/// Runs `lydite sql` in a directory. Returns the exit code, standard output and standard error.
fn sql(directory: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lydite"));
    let command = command.arg("sql").args(arguments);
    let done = command.current_dir(directory).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = done.status.code().unwrap();
    (code, text(done.stdout), text(done.stderr))
}

/// Writes transfers: the i-th holder receives i, `rows` times over 7 holders.
fn write_transfers(path: &Path, rows: i64) {
    let column = |value: fn(i64) -> [u8; 32]| -> ArrayRef {
        let values = (0..rows).map(|row| value(row % 7));
        Arc::new(FixedSizeBinaryArray::try_from_iter(values).unwrap())
    };
    let blocks: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
    let batch = RecordBatch::try_from_iter([
        ("block_number", blocks),
        ("holder", column(|holder| [0xa0 + holder as u8; 32])),
        (
            "value",
            column(|holder| std::array::from_fn(|i| if i == 31 { holder as u8 } else { 0 })),
        ),
    ]);
    let batch = batch.unwrap();
    let mut writer = FileWriter::try_new(File::create(path).unwrap(), &batch.schema()).unwrap();
    for first in (0..batch.num_rows()).step_by(8_192) {
        let rows = (batch.num_rows() - first).min(8_192);
        writer.write(&batch.slice(first, rows)).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn files_are_tables_by_their_paths_and_by_names() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    fs::create_dir(directory.join("many files")).unwrap();
    write_transfers(&directory.join("many files/a.arrow"), 70);
    write_transfers(&directory.join("many files/b.arrow"), 7);
    fs::write(directory.join("names.csv"), "id,name\n6,six\n5,five\n").unwrap();

    let sum = "SELECT uint256_to_string(uint256_sum(value)) AS total FROM";
    for (table, total) in [
        ("'many files/a.arrow'", "210"),
        ("'many files/*.arrow'", "231"),
        ("'many files'", "231"),
    ] {
        let found = sql(directory, &["--json", &format!("{sum} {table}")]);
        assert_eq!(
            found,
            (0, format!("{{\"total\":\"{total}\"}}\n"), String::new())
        );
    }
    let query = "SELECT name, holder FROM t JOIN \"the names\" AS n ON uint256(n.id) = t.value \
        WHERE block_number < 7 ORDER BY name DESC";
    let tables = [
        "-t",
        "t=many files/a.arrow",
        "--table",
        "the names=names.csv",
    ];
    let (code, table, error) = sql(directory, &[&tables[..], &[query]].concat());
    assert_eq!((code, error.as_str()), (0, ""));
    let lines: Vec<&str> = table.lines().collect();
    let row = |name: &str, byte: &str| format!("| {name:4} | 0x{} |", byte.repeat(32));
    assert_eq!(lines[3..5], [row("six", "a6"), row("five", "a5")]);

    let (_, table, error) = sql(
        directory,
        &["SELECT n FROM generate_series(1, 5000) AS t(n)"],
    );
    assert_eq!(table.lines().count(), 1_004);
    assert_eq!(error, "1000 rows shown of more; -o FILE writes all\n");
}

#[test]
fn results_are_files_that_appear_when_they_are_complete() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    write_transfers(&directory.join("a.arrow"), 600_000);
    let copy = "SELECT block_number, value FROM 'a.arrow' ORDER BY block_number DESC";
    // The rows have more bytes than this.
    let limits = ["--memory", "40M", "--threads", "2"];
    for out in ["sorted.arrow", "sorted.parquet"] {
        let found = sql(directory, &[&limits[..], &[copy, "-o", out]].concat());
        assert_eq!(found, (0, String::new(), String::new()));
    }
    let reader = FileReader::try_new(File::open(directory.join("sorted.arrow")).unwrap(), None);
    let rows: usize = reader.unwrap().map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 600_000);
    let check = "SELECT count(*) AS rows, sum(block_number) AS sum, \
        uint256_to_string(uint256_sum(value)) AS total FROM 'sorted.parquet'";
    let (_, found, _) = sql(directory, &["--json", check]);
    let total = (0..600_000u64).map(|row| row % 7).sum::<u64>();
    let expected = format!(
        "{{\"rows\":600000,\"sum\":{},\"total\":\"{total}\"}}\n",
        600_000u64 * 599_999 / 2
    );
    assert_eq!(found, expected);

    let (code, _, error) = sql(directory, &[copy, "-o", "sorted.parquet"]);
    assert_eq!(
        (code, error.as_str()),
        (2, "error: sorted.parquet: file exists\n")
    );
    // An error in the last rows leaves nothing.
    let fails = "SELECT uint256_sub(value, uint256(block_number / 599998), false) FROM 'a.arrow'";
    let (code, _, error) = sql(directory, &[fails, "-o", "none.parquet"]);
    assert!(
        code == 2 && error.contains("expected a result below 2^256"),
        "{error}"
    );
    let names = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.arrow", "sorted.arrow", "sorted.parquet"]);
}

#[test]
fn errors_say_what_and_where() {
    let directory = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (&["SELECT 1 FROM 'none.parquet'"][..], "none.parquet"),
        (&["SELECT evm_selector('transfer(adress)')"], "byte 9"),
        (
            &["SELECT keccak256(1)"],
            "expected binary or hexadecimal text for bytes",
        ),
        (&["SELEC 1"], "SELEC"),
        (&["SELECT 1", "-t", "none"], "expected name=path"),
        (
            &["SELECT nothing FROM (VALUES (1))"],
            "No field named nothing",
        ),
    ] {
        let (code, out, error) = sql(directory.path(), arguments);
        assert_eq!((code, out.as_str()), (2, ""));
        assert_eq!(error.matches(expected).count(), 1, "{error}");
    }
}
