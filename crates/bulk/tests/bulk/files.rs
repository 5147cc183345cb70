//! Files made here: order, threads, formats, errors and damage.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    num::NonZeroUsize,
    ops::ControlFlow,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::common::{SIGNATURE, decode, files, logs, moved, proceed, rows, word, write};
use arrow_array::{
    Array as _, ArrayRef, BinaryArray, Date64Array, DictionaryArray, FixedSizeBinaryArray,
    Int8Array, RecordBatch, StringArray, Time32SecondArray, TimestampSecondArray,
    cast::AsArray as _,
    types::{Date32Type, Time32MillisecondType, TimestampMillisecondType},
};
use arrow_ipc::{reader::FileReader, writer::FileWriter};
use arrow_schema::{DataType, Field, Schema, TimeUnit, UnionFields, UnionMode};
use lydite_arrow::{
    CallDecoder, CallSet, EventDecoder, EventSet, Keep, OnError, Options as Columns,
    SendersOptions, TransformOptions, Uint256Format,
};
use lydite_bulk::{
    Compression, Error, FIRST_FAILURES, Format, Options, Progress, decode_calls, decode_logs,
    inspect, senders,
};
use lydite_bytes::U256;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

fn threads(threads: usize) -> Option<NonZeroUsize> {
    NonZeroUsize::new(threads)
}

#[test]
fn rows_and_report() {
    let directory = tempfile::tempdir().unwrap();
    let (input, output) = (
        directory.path().join("in.parquet"),
        directory.path().join("out.parquet"),
    );
    write(&input, &[logs(1..1001)], 1 << 20);
    let mut options = Options::default();
    let events = moved(&Columns {
        uint256: vec![Uint256Format::String],
        ..Columns::default()
    });
    let run = |options: &Options| {
        decode_logs(
            std::slice::from_ref(&input),
            &output,
            &events,
            options,
            &proceed,
        )
    };
    let report = run(&options).unwrap();
    assert_eq!(
        (report.rows, report.selected, report.other_layout),
        (1000, 667, 0)
    );
    // 300, 600 and 900 are of the other event.
    assert_eq!(
        report.failures,
        BTreeMap::from([("integer out of range for its type".into(), 7)])
    );
    let first = &report.first_failures[0];
    assert_eq!(
        (first.row, first.block_number, first.log_index),
        (99, Some(100), None)
    );
    assert_eq!(first.error, "byte 0: integer out of range for its type");
    assert_eq!(report.written, [(output.clone(), 667)]);
    let expected = (1..1001)
        .filter(|n| n % 3 != 0)
        .map(|n: u64| match n % 100 {
            0 => vec![json!(n.to_string()), Value::Null, Value::Null],
            _ => vec![
                json!(n.to_string()),
                json!(format!("0x{n:040x}")),
                json!(n.to_string()),
            ],
        });
    assert_eq!(rows(&output), expected.collect::<Vec<_>>());

    options.overwrite = true;
    options.transform.on_error = OnError::Drop;
    let report = run(&options).unwrap();
    assert_eq!((report.selected, report.written[0].1), (667, 660));
    assert!(rows(&output).iter().flatten().all(|value| !value.is_null()));

    options.transform.on_error = OnError::Fail;
    let before = fs::read(&output).unwrap();
    let error = run(&options).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}: row 99: byte 0: integer out of range for its type",
            input.display()
        )
    );
    assert_eq!(fs::read(&output).unwrap(), before);
    assert_eq!(files(directory.path()), ["in.parquet", "out.parquet"]);
}

/// More segments than threads, a row group that is split, and several files.
/// Such a row keeps its other values, and is reported.
#[test]
fn amounts_of_more_than_38_digits() {
    let directory = tempfile::tempdir().unwrap();
    let [input, output] = ["in.parquet", "out.parquet"].map(|name| directory.path().join(name));
    let batch = logs(1..3);
    let largest = U256::from(10u128.pow(38) - 1);
    let amounts = [largest, largest.wrapping_add(U256::ONE)].map(U256::to_be_bytes);
    let mut columns = batch.columns().to_vec();
    columns[3] = Arc::new(BinaryArray::from_iter_values(amounts));
    let batch = RecordBatch::try_new(batch.schema(), columns).unwrap();
    write(&input, &[batch], 1 << 20);
    let events = moved(&Columns {
        uint256: vec![Uint256Format::Decimal],
        ..Columns::default()
    });
    let run = |on_error| {
        let transform = TransformOptions {
            on_error,
            ..TransformOptions::default()
        };
        let options = Options {
            transform,
            overwrite: true,
            ..Options::default()
        };
        decode_logs(
            std::slice::from_ref(&input),
            &output,
            &events,
            &options,
            &proceed,
        )
    };
    let report = run(OnError::Null).unwrap();
    assert_eq!((report.overflows, report.failures), (1, BTreeMap::new()));
    let first = &report.first_failures[0];
    assert_eq!(
        (first.row, first.block_number, first.error.as_str()),
        (1, Some(2), "expected at most 38 digits")
    );
    assert_eq!(report.written, [(output.clone(), 2)]);
    let file = File::open(&output).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let found = reader.build().unwrap().next().unwrap().unwrap();
    let null = |index: usize| found.column(index).null_count();
    assert_eq!((null(1), null(2)), (0, 1));
    let error = run(OnError::Fail).unwrap_err().to_string();
    assert!(
        error.contains("row 1") && error.ends_with("expected at most 38 digits"),
        "{error}"
    );
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("in");
    fs::create_dir_all(input.join("nested")).unwrap();
    let batches: Vec<RecordBatch> = (0..12)
        .map(|i| logs(i * 100_000..(i + 1) * 100_000))
        .collect();
    write(&input.join("a.parquet"), &batches, usize::MAX);
    write(&input.join("b.parquet"), &batches[..5], 70_000);
    write(&input.join("nested/c.parquet"), &[logs(7..8)], 10);
    fs::write(input.join("notes.txt"), "not read").unwrap();
    let total = 1_700_001;
    let outputs: Vec<Vec<u8>> = [1, 2, 5]
        .into_iter()
        .map(|count| {
            let output = directory.path().join(format!("{count}.parquet"));
            let options = Options {
                threads: threads(count),
                ..Options::default()
            };
            let (done, total_seen) = (AtomicU64::new(0), AtomicU64::new(0));
            let report = decode_logs(
                std::slice::from_ref(&input),
                &output,
                &moved(&Columns::default()),
                &options,
                &|progress| {
                    assert!(done.swap(progress.done, Ordering::Relaxed) <= progress.done);
                    total_seen.store(progress.total, Ordering::Relaxed);
                    ControlFlow::Continue(())
                },
            );
            let report = report.unwrap();
            assert_eq!((report.rows, done.into_inner()), (total, total));
            assert_eq!(total_seen.into_inner(), total);
            assert_eq!(report.first_failures.len(), FIRST_FAILURES);
            fs::read(output).unwrap()
        })
        .collect();
    assert!(outputs[0] == outputs[1] && outputs[0] == outputs[2]);
    let blocks: Vec<Value> = rows(&directory.path().join("1.parquet"))
        .into_iter()
        .map(|mut row| row.swap_remove(0))
        .collect();
    let expected = (0..1_200_000u64)
        .chain(0..500_000)
        .chain(7..8)
        .filter(|n| n % 3 != 0);
    assert!(
        blocks
            .into_iter()
            .eq(expected.map(|n| json!(n.to_string())))
    );
}

#[test]
fn cancellation_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("in.parquet");
    let batches: Vec<RecordBatch> = (0..6)
        .map(|i| logs(i * 100_000..(i + 1) * 100_000))
        .collect();
    write(&input, &batches, 50_000);
    let options = Options::default();
    let output = directory.path().join("out.parquet");
    let cancel = |progress: Progress| match progress.done {
        ..300_000 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let error = decode_logs(
        &[input],
        &output,
        &moved(&Columns::default()),
        &options,
        &cancel,
    )
    .unwrap_err();
    assert_eq!(error.to_string(), "cancelled");
    assert_eq!(files(directory.path()), ["in.parquet"]);
}

#[test]
fn arrow_files() {
    let directory = tempfile::tempdir().unwrap();
    let (input, output) = (
        directory.path().join("in.arrow"),
        directory.path().join("out.arrow"),
    );
    let mut writer =
        FileWriter::try_new(File::create(&input).unwrap(), &logs(0..1).schema()).unwrap();
    [logs(0..10), logs(10..250)]
        .iter()
        .for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    let report = decode(&input, &output, &Options::default()).unwrap();
    assert_eq!((report.rows, report.selected), (250, 166));
    assert_eq!(report.first_failures[0].row, 100);
    let batches: Vec<RecordBatch> = FileReader::try_new(File::open(&output).unwrap(), None)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, 166);
    assert_eq!(
        batches[0].column(1).as_fixed_size_binary().value(0),
        [&[0; 19][..], &[1]].concat()
    );

    // The format does not have to be that of the name.
    let options = Options {
        format: Some(Format::Parquet),
        compression: Compression::None,
        overwrite: true,
        ..Options::default()
    };
    decode(&input, &output, &options).unwrap();
    assert_eq!(crate::common::rows(&output).len(), 166);
}

#[test]
fn kept_columns() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    write(&path("in.parquet"), &[logs(0..10)], 100);
    let run = |keep, prefix: &str| {
        let options = Options {
            transform: TransformOptions {
                keep,
                prefix: prefix.into(),
                ..TransformOptions::default()
            },
            overwrite: true,
            ..Options::default()
        };
        decode(&path("in.parquet"), &path("out.parquet"), &options)?;
        let (schema, _) = crate::common::read(&path("out.parquet"));
        Ok::<_, Error>(
            schema
                .fields()
                .iter()
                .map(|field| field.name().clone())
                .collect::<Vec<_>>(),
        )
    };
    let named = |names: &[&str]| Keep::Named(names.iter().map(|name| name.to_string()).collect());
    assert_eq!(
        run(Keep::Identity, "").unwrap(),
        ["block_number", "to", "amount"]
    );
    assert_eq!(run(named(&[]), "e_").unwrap(), ["e_to", "e_amount"]);
    assert_eq!(
        run(named(&["data", "topic0"]), "").unwrap(),
        ["data", "topic0", "to", "amount"]
    );
    assert_eq!(run(Keep::All, "").unwrap().len(), 6);
    let error = run(named(&["none"]), "").unwrap_err().to_string();
    assert!(
        error.ends_with("in.parquet: no column `none` to keep"),
        "{error}"
    );

    let other = logs(0..5);
    let renamed = ["to", "topic0", "topic1", "data"]
        .into_iter()
        .zip(other.columns().to_vec());
    write(
        &path("in.parquet"),
        &[RecordBatch::try_from_iter(renamed).unwrap()],
        100,
    );
    let error = run(Keep::All, "").unwrap_err().to_string();
    assert!(
        error.ends_with("in.parquet: column `to` is both kept and decoded; keep other columns or choose a prefix"),
        "{error}"
    );
    write(&path("z.parquet"), &[logs(0..5)], 100);
    let inputs = [path("in.parquet"), path("z.parquet")];
    let options = Options {
        overwrite: true,
        ..Options::default()
    };
    let error = decode_logs(
        &inputs,
        &path("out.parquet"),
        &moved(&Columns::default()),
        &options,
        &proceed,
    )
    .unwrap_err();
    let error = error.to_string();
    assert!(
        error.ends_with(
            "z.parquet: expected the columns of the first input, ; found block_number: UInt64"
        ),
        "{error}"
    );
}

/// Such rows have a number in Arrow files only.
#[test]
fn rows_without_columns() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let event = EventDecoder::parse("event Paused()", &Columns::default()).unwrap();
    let topics = FixedSizeBinaryArray::try_from_iter([event.codec().topic().0; 5].iter()).unwrap();
    let data = BinaryArray::from_iter_values([b""; 5]);
    let columns = [
        ("topic0", Arc::new(topics) as ArrayRef),
        ("data", Arc::new(data) as ArrayRef),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    write(&path("in.parquet"), &[batch], 100);
    let events = EventSet::new([event]).unwrap();
    let run = |output: &str| {
        let inputs = [path("in.parquet")];
        decode_logs(
            &inputs,
            &path(output),
            &events,
            &Options::default(),
            &proceed,
        )
    };
    let error = run("out.parquet").unwrap_err().to_string();
    assert!(
        error.ends_with("out.parquet: expected at least one column in a Parquet file, found none"),
        "{error}"
    );
    assert_eq!(run("out.arrow").unwrap().written[0].1, 5);
    let reader = FileReader::try_new(File::open(path("out.arrow")).unwrap(), None).unwrap();
    assert_eq!(
        reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(),
        5
    );
}

/// Types that Parquet lacks, and dictionaries that differ from file to file and are too many for the type of the keys.
#[test]
fn kept_types() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let seconds = 1_700_000_000;
    let times: [(&str, ArrayRef, DataType); 3] = [
        (
            "at",
            Arc::new(TimestampSecondArray::from(vec![seconds; 120]).with_timezone("UTC")),
            DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        ),
        (
            "time",
            Arc::new(Time32SecondArray::from(vec![7; 120])),
            DataType::Time32(TimeUnit::Millisecond),
        ),
        (
            "day",
            Arc::new(Date64Array::from(vec![-86_400_000; 120])),
            DataType::Date32,
        ),
    ];
    let text = |file: usize, row: usize| (!row.is_multiple_of(10)).then(|| format!("{file} {row}"));
    for file in [0, 1] {
        let keys = (0..120).map(|row| (row % 10 > 0).then_some(row));
        let values = StringArray::from_iter_values((0..120).map(|row| format!("{file} {row}")));
        let dictionary = DictionaryArray::new(Int8Array::from_iter(keys), Arc::new(values));
        let batch = logs(0..120);
        let names = batch.schema();
        let names = names.fields().iter().map(|field| field.name().as_str());
        let mut columns: Vec<(&str, ArrayRef)> = names.zip(batch.columns().to_vec()).collect();
        columns.push(("net", Arc::new(dictionary)));
        columns.extend(times.iter().map(|(name, array, _)| (*name, array.clone())));
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, true)),
        );
        write(&path(&format!("{file}.parquet")), &[batch.unwrap()], 120);
    }
    let options = Options {
        transform: TransformOptions {
            keep: Keep::Named(["net", "at", "time", "day"].map(String::from).into()),
            ..TransformOptions::default()
        },
        ..Options::default()
    };
    let inputs = [path("0.parquet"), path("1.parquet")];
    let events = moved(&Columns::default());
    let run = |output: &str| decode_logs(&inputs, &path(output), &events, &options, &proceed);
    run("out.parquet").unwrap();
    run("out.arrow").unwrap();
    let reader = FileReader::try_new(File::open(path("out.arrow")).unwrap(), None).unwrap();
    let (schema, batches) = crate::common::read(&path("out.parquet"));
    for (at, (_, _, expected)) in times.iter().enumerate() {
        assert_eq!(schema.field(at + 1).data_type(), expected);
    }
    let batch = &batches[0];
    let at = batch.column(1).as_primitive::<TimestampMillisecondType>();
    let time = batch.column(2).as_primitive::<Time32MillisecondType>();
    let day = batch.column(3).as_primitive::<Date32Type>();
    assert_eq!(
        (at.value(0), time.value(0), day.value(0)),
        (seconds * 1000, 7000, -1)
    );
    let all = (0..240).filter(|row| row % 120 % 3 > 0);
    let expected: Vec<Option<String>> = all.map(|row| text(row / 120, row % 120)).collect();
    for batches in [batches, reader.map(Result::unwrap).collect()] {
        let found = batches.iter().flat_map(|batch| {
            let column = batch.column(0).as_string::<i32>().iter();
            column.map(|text| text.map(String::from))
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}

/// In a column or within its values.
#[test]
fn types_that_cannot_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let of = |data_type| Field::new("x", data_type, true);
    let union = DataType::Union(UnionFields::empty(), UnionMode::Sparse);
    let nothing = DataType::FixedSizeBinary(0);
    for (data_type, output) in [
        (union.clone(), "out.parquet"),
        (DataType::List(Arc::new(of(union))), "out.parquet"),
        (nothing.clone(), "out.parquet"),
        (DataType::Struct(vec![of(nothing)].into()), "out.arrow"),
    ] {
        let text = format!(
            "{output}: column `x`: expected a type that the output can hold, found {data_type}"
        );
        let schema = Schema::new(vec![of(data_type)]);
        let output = directory.path().join(output);
        let error = lydite_bulk::write(schema.into(), [], &output, &Options::default());
        let error = error.unwrap_err().to_string();
        assert!(error.ends_with(&text), "{error}");
    }
}

#[test]
fn a_file_per_event() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("in.parquet");
    write(&input, &[logs(0..100)], 1000);
    let mut options = Options::default();
    let signatures = [
        SIGNATURE,
        "Moved(address indexed to, uint128 amount, bool)",
        "Never(address indexed to)",
    ];
    let decoders = signatures.map(|text| EventDecoder::parse(text, &Columns::default()).unwrap());
    let events = EventSet::new(decoders).unwrap();
    let output = directory.path().join("out");
    let inputs = [input];
    let report = decode_logs(&inputs, &output, &events, &options, &proceed).unwrap();
    assert_eq!(report.written.len(), 1);
    let topic = moved(&Columns::default()).decoders()[0]
        .codec()
        .topic()
        .to_string();
    assert_eq!(
        files(&output),
        [format!("Moved_{}_1.parquet", &topic[2..10])]
    );

    // Number 0 is of another event. No file of the run before stays among those of this one.
    write(&inputs[0], &[logs(0..1)], 1000);
    fs::write(output.join("other.parquet"), "").unwrap();
    options.overwrite = true;
    let report = decode_logs(&inputs, &output, &events, &options, &proceed).unwrap();
    assert_eq!((report.rows, report.written.len()), (1, 0));
    assert_eq!(files(&output), ["other.parquet"]);
}

#[test]
fn calls_and_transactions() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let options = Options::default();
    let decoder = CallDecoder::parse("function burn(uint8 amount)", &Columns::default()).unwrap();
    let selector = decoder.codec().selector();
    let call = |amount: u64| [&selector[..], &word(amount)].concat();
    let inputs = BinaryArray::from_iter(vec![Some(call(7)), None, Some(call(256)), Some(vec![1])]);
    let inputs = RecordBatch::try_from_iter([("input", Arc::new(inputs) as ArrayRef)]).unwrap();
    write(&path("in.parquet"), &[inputs], 100);
    let functions = CallSet::new([decoder]);
    let input: &[PathBuf] = &[path("in.parquet")];
    let report = decode_calls(input, &path("out.parquet"), &functions, &options, &proceed).unwrap();
    assert_eq!((report.rows, report.selected), (4, 2));
    assert_eq!(rows(&path("out.parquet")), [[json!("7")], [json!(null)]]);

    // With the returned values, of which the calls in rows 1 and 4 have none, and row 2 invalid ones.
    let decoder = "burn(uint8 amount) returns (bool, uint8 left)";
    let decoder = CallDecoder::parse(decoder, &Columns::default()).unwrap();
    let data = BinaryArray::from_iter_values([7, 8, 256, 9, 5].map(call));
    let returned = |left| [word(1), word(left)].concat();
    let output = BinaryArray::from_iter(vec![
        Some(returned(3)),
        None,
        Some(returned(2)),
        Some(returned(256)),
        Some(vec![]),
    ]);
    let batch = [
        ("input", Arc::new(data) as ArrayRef),
        ("result_output", Arc::new(output) as ArrayRef),
    ];
    let batch = RecordBatch::try_from_iter(batch).unwrap();
    write(&path("results.parquet"), &[batch], 100);
    let functions = CallSet::new([decoder]).with_results();
    let input: &[PathBuf] = &[path("results.parquet")];
    let report = decode_calls(input, &path("results"), &functions, &options, &proceed).unwrap();
    let null = json!(null);
    assert_eq!(
        rows(&path("results")),
        [
            [json!("7"), json!(true), json!("3")],
            [json!("8"), null.clone(), null.clone()],
            [null.clone(), null.clone(), null.clone()],
            [json!("9"), null.clone(), null.clone()],
            [json!("5"), null.clone(), null],
        ]
    );
    let errors: Vec<(u64, &str)> = report
        .first_failures
        .iter()
        .map(|failed| (failed.row, failed.error.as_str()))
        .collect();
    let range = "integer out of range for its type";
    let expected = [
        (2, format!("byte 4: {range}")),
        (3, format!("returned values: byte 32: {range}")),
    ];
    let expected = expected.each_ref().map(|(row, text)| (*row, text.as_str()));
    assert_eq!(errors, expected);

    // A transaction whose sender is not that of the column, an invalid one, and none.
    let raw = lydite_bytes::hex::decode(TRANSACTION).unwrap();
    let raw = BinaryArray::from_iter([Some(&raw[..]), Some(&[5]), None]);
    let from = BinaryArray::from_iter_values([[1; 20], [2; 20], [3; 20]]);
    let columns = [
        ("rawTx", Arc::new(raw) as ArrayRef),
        ("from", Arc::new(from) as ArrayRef),
    ];
    write(
        &path("tx.parquet"),
        &[RecordBatch::try_from_iter(columns).unwrap()],
        100,
    );
    let what = SendersOptions {
        hash: true,
        check: true,
    };
    let run = |on_error| {
        let options = Options {
            transform: TransformOptions {
                on_error,
                ..TransformOptions::default()
            },
            overwrite: true,
            ..Options::default()
        };
        senders(
            &[path("tx.parquet")],
            &path("out.parquet"),
            what,
            &options,
            &proceed,
        )
        .unwrap()
    };
    for (on_error, written) in [(OnError::Null, 3), (OnError::Drop, 2)] {
        let report = run(on_error);
        assert_eq!(
            (report.rows, report.different, report.written[0].1),
            (3, 2, written)
        );
        let texts: Vec<&str> = report
            .first_failures
            .iter()
            .map(|row| row.error.as_str())
            .collect();
        let difference = "expected sender 0x0101010101010101010101010101010101010101, found 0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f";
        let absent = "expected sender 0x0303030303030303030303030303030303030303, found null";
        assert_eq!(
            texts,
            ["byte 0: unknown transaction type 0x05", difference, absent]
        );
        assert_eq!(rows(&path("out.parquet")).len() as u64, written);
    }

    // With an s of 0 there is a hash, but no sender: the row is invalid, so both are null.
    let mut unsigned = lydite_bytes::hex::decode(TRANSACTION).unwrap();
    unsigned.truncate(unsigned.len() - 33);
    unsigned.push(0x80);
    unsigned[1] -= 32;
    let raw = BinaryArray::from_iter_values([&unsigned]);
    let raw = RecordBatch::try_from_iter([("raw", Arc::new(raw) as ArrayRef)]).unwrap();
    write(&path("unsigned.parquet"), &[raw], 100);
    let what = SendersOptions {
        hash: true,
        check: false,
    };
    let output = path("unsigned-out.parquet");
    let report = senders(
        &[path("unsigned.parquet")],
        &output,
        what,
        &options,
        &proceed,
    )
    .unwrap();
    assert_eq!(report.failures.len(), 1);
    assert!(
        report.first_failures[0].error.contains("signature"),
        "{:?}",
        report.failures
    );
    assert_eq!(rows(&output), [[Value::Null, Value::Null]]);

    let found = inspect(&path("tx.parquet"), &Default::default()).unwrap();
    assert_eq!(
        (found.rows, found.logs, found.calls, found.transactions),
        (Some(3), false, false, true)
    );
    let found = inspect(&path("in.parquet"), &Default::default()).unwrap();
    assert_eq!((found.calls, found.frequent[0].1), (true, 2));
}

/// The EIP-155 example.
const TRANSACTION: &str = "0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83";

#[test]
fn errors_name_the_file_and_leave_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    write(&path("in.parquet"), &[logs(0..10)], 100);
    fs::write(path("text.csv"), "a,b").unwrap();
    fs::create_dir(path("empty")).unwrap();
    let error = |input: &str, output: &str| {
        let error = decode(&path(input), &path(output), &Options::default()).unwrap_err();
        error
            .to_string()
            .replace(&format!("{}/", directory.path().display()), "")
    };
    assert_eq!(
        error("missing", "out"),
        "missing: No such file or directory (os error 2)"
    );
    assert_eq!(
        error("text.csv", "out"),
        "text.csv: expected Parquet or Arrow IPC"
    );
    assert_eq!(
        error("empty", "out"),
        "empty: expected at least one Parquet or Arrow file"
    );
    assert_eq!(error("in.parquet", "text.csv"), "text.csv: file exists");
    assert_eq!(files(directory.path()), ["empty", "in.parquet", "text.csv"]);
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    write(&path("in.parquet"), &[logs(0..10)], 100);
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    std::os::unix::fs::symlink("socket", path("link")).unwrap();
    let options = Options {
        overwrite: true,
        ..Options::default()
    };
    for output in ["socket", "link"].map(path) {
        let before = output.symlink_metadata().unwrap().file_type();
        let error = decode(&path("in.parquet"), &output, &options)
            .unwrap_err()
            .to_string();
        let text = "expected a regular file to replace, found a device, pipe, link or directory";
        assert_eq!(error, format!("{}: {text}", output.display()));
        assert_eq!(output.symlink_metadata().unwrap().file_type(), before);
    }
}

/// No damage leads to a panic that escapes, to a hang or to a partial file.
#[test]
fn damaged_files() {
    let directory = tempfile::tempdir().unwrap();
    let (input, output) = (
        directory.path().join("in.parquet"),
        directory.path().join("out.parquet"),
    );
    write(&input, &[logs(0..300)], 100);
    let whole = fs::read(&input).unwrap();
    let options = Options {
        overwrite: true,
        threads: threads(2),
        ..Options::default()
    };
    let run = |bytes: &[u8]| {
        fs::write(&input, bytes).unwrap();
        let result = decode(&input, &output, &options);
        match &result {
            Ok(report) => assert_eq!(rows(&output).len() as u64, report.written[0].1),
            Err(error) => assert!(error.to_string().contains("in.parquet: "), "{error}"),
        }
        let _ = fs::remove_file(&output);
        assert_eq!(files(directory.path()), ["in.parquet"]);
        result.is_err()
    };
    assert!((0..whole.len()).step_by(61).all(|len| run(&whole[..len])));
    let mut errors = 0;
    for at in (0..whole.len()).step_by(17) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        errors += usize::from(run(&bytes));
    }
    assert!(errors > 0);
}
