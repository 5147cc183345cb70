//! Arrow streams, sizes of segments, and the filter on first topics.

use std::{
    fs::{self, File},
    sync::Arc,
};

use crate::common::{SIGNATURE, decode, files, logs, moved, proceed, rows, word, write};
use arrow_array::{ArrayRef, BinaryArray, FixedSizeBinaryArray, RecordBatch, StringViewArray};
use arrow_ipc::{
    CompressionType,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};
use lydite_arrow::{EventDecoder, EventSet, Keep, OnError, TransformOptions};
use lydite_bulk::{Options, decode_logs};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::json;

fn stream(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default()
        .try_with_compression(compression)
        .unwrap();
    let schema = batches[0].schema();
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
    batches
        .iter()
        .for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

/// Returns the rows of each row group.
fn groups(file: &std::path::Path) -> Vec<i64> {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    let groups = reader.metadata().row_groups().iter();
    groups.map(|group| group.num_rows()).collect()
}

#[test]
fn batches_become_row_groups() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let batches: Vec<RecordBatch> = (0..300).map(|i| logs(i * 10..(i + 1) * 10)).collect();
    write(&path("in.parquet"), &batches, 3_000);
    decode(
        &path("in.parquet"),
        &path("parquet.parquet"),
        &Options::default(),
    )
    .unwrap();
    let expected = rows(&path("parquet.parquet"));
    for compression in [
        None,
        Some(CompressionType::ZSTD),
        Some(CompressionType::LZ4_FRAME),
    ] {
        fs::write(path("in.arrows"), stream(&batches, compression)).unwrap();
        let options = Options {
            overwrite: true,
            ..Options::default()
        };
        let report = decode(&path("in.arrows"), &path("out.parquet"), &options).unwrap();
        assert_eq!((report.rows, report.first_failures[1].row), (3_000, 200));
        assert_eq!(groups(&path("out.parquet")), [2_000]);
        assert!(rows(&path("out.parquet")) == expected);

        // 1,024 rows per segment, two of three of which are logs of the event.
        let options = Options {
            memory: Some(1),
            ..options
        };
        fs::write(path("in.arrows"), stream(&[logs(0..3_000)], compression)).unwrap();
        decode(&path("in.arrows"), &path("out.parquet"), &options).unwrap();
        assert!(groups(&path("out.parquet")).iter().all(|rows| *rows <= 683));
        assert!(rows(&path("out.parquet")) == expected);
    }
}

#[test]
fn damaged_streams() {
    let directory = tempfile::tempdir().unwrap();
    let (input, output) = (directory.path().join("in"), directory.path().join("out"));
    let whole = stream(&[logs(0..40), logs(40..80)], Some(CompressionType::ZSTD));
    let run = |bytes: &[u8]| {
        fs::write(&input, bytes).unwrap();
        let result = decode(&input, &output, &Options::default());
        let _ = fs::remove_file(&output);
        assert_eq!(files(directory.path()), ["in"]);
        result.map_err(|error| error.to_string())
    };
    assert_eq!(run(&whole).unwrap().rows, 80);
    // Without its end, a stream may end after a message.
    assert_eq!(run(&whole[..whole.len() - 8]).unwrap().rows, 80);
    for length in (0..whole.len() - 8).step_by(7) {
        assert!(
            run(&whole[..length]).map_or(true, |report| report.rows < 80),
            "{length}"
        );
    }
    let damaged = (0..whole.len()).step_by(5).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        usize::from(run(&bytes).is_err())
    });
    assert!(damaged.sum::<usize>() > 0);

    let mut long = whole.clone();
    long[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = run(&long).unwrap_err();
    assert!(
        error.ends_with("metadata of a message: expected at most 67108864 bytes, found 4294967295"),
        "{error}"
    );
    // The length of the first batch's body, in its metadata.
    let schema = 8 + u32::from_le_bytes(whole[4..8].try_into().unwrap()) as usize;
    let metadata = u32::from_le_bytes(whole[schema + 4..schema + 8].try_into().unwrap()) as usize;
    let message = arrow_ipc::root_as_message(&whole[schema + 8..schema + 8 + metadata]).unwrap();
    let body = message.bodyLength().to_le_bytes();
    let at = whole.windows(8).position(|window| window == body).unwrap();
    let mut long = whole.clone();
    long[at..at + 8].copy_from_slice(&(1u64 << 60).to_le_bytes());
    let error = run(&long).unwrap_err();
    assert!(
        error.contains("body of a message: expected at most 1073741824 bytes, found"),
        "{error}"
    );
    // The uncompressed length of the first buffer.
    let mut long = whole.clone();
    let body = schema + 8 + metadata;
    long[body..body + 8].copy_from_slice(&(1u64 << 40).to_le_bytes());
    let error = run(&long).unwrap_err();
    assert!(
        error.contains("uncompressed body of a message: expected at most"),
        "{error}"
    );
}

/// Unlike a stream, a file has an end, also if it is cut between two messages.
#[test]
fn truncated_arrow_files() {
    let directory = tempfile::tempdir().unwrap();
    let (input, output) = (
        directory.path().join("in.arrow"),
        directory.path().join("out"),
    );
    let batches = [logs(0..40), logs(40..80)];
    let mut writer = FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches
        .iter()
        .for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    let whole = writer.into_inner().unwrap();
    let run = |bytes: &[u8]| {
        fs::write(&input, bytes).unwrap();
        let result = decode(&input, &output, &Options::default());
        let _ = fs::remove_file(&output);
        result.map_err(|error| error.to_string())
    };
    assert_eq!(run(&whole).unwrap().rows, 80);
    for length in (0..whole.len()).step_by(4) {
        assert!(run(&whole[..length]).is_err(), "{length}");
    }
    let error = run(&whole[..whole.len() - 1]).unwrap_err();
    assert!(
        error.ends_with("expected ARROW1 at the end of the file, found 0x004152524f57"),
        "{error}"
    );
    // Without an end marker, although the last value ends with the magic number.
    let mut columns = logs(1..3).columns().to_vec();
    let data = [
        [0; 32],
        std::array::from_fn(|i| *b"ARROW1".get(i.wrapping_sub(26)).unwrap_or(&0)),
    ];
    columns[3] = Arc::new(BinaryArray::from_iter_values(data));
    let stream = stream(
        &[RecordBatch::try_new(logs(1..3).schema(), columns).unwrap()],
        None,
    );
    let file = [b"ARROW1\0\0", &stream[..stream.len() - 8]].concat();
    assert!(file.ends_with(b"ARROW1"));
    let error = run(&file).unwrap_err();
    assert!(
        error.ends_with("without an end marker in a file"),
        "{error}"
    );
}

/// Logs of which one in ten is of the event.
fn sparse(numbers: std::ops::Range<u64>) -> RecordBatch {
    let batch = logs(numbers.clone());
    let event = moved(&Default::default()).decoders()[0].codec().topic().0;
    let topics = numbers.map(|n| Some(if n % 10 == 0 { event } else { word(n) }));
    let topics = FixedSizeBinaryArray::try_from_sparse_iter_with_size(topics, 32).unwrap();
    let mut columns = batch.columns().to_vec();
    columns[1] = Arc::new(topics);
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

#[test]
fn rows_are_filtered_before_other_columns() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let batches: Vec<RecordBatch> = (0..20)
        .map(|i| sparse(i * 2_000..(i + 1) * 2_000))
        .collect();
    write(&path("in.parquet"), &batches, 2_000);
    let run = |memory, on_error, output: &str| {
        let options = Options {
            memory,
            threads: std::num::NonZeroUsize::new(1),
            transform: TransformOptions {
                on_error,
                keep: Keep::Identity,
                ..TransformOptions::default()
            },
            ..Options::default()
        };
        decode(&path("in.parquet"), &path(output), &options)
    };
    // One segment, which is not filtered, and twenty, of which all except the first are.
    let one = run(None, OnError::Null, "one.parquet").unwrap();
    let many = run(Some(1), OnError::Null, "many.parquet").unwrap();
    assert_eq!((one.rows, one.selected), (40_000, 4_000));
    assert_eq!((many.rows, many.selected), (one.rows, one.selected));
    assert_eq!(many.first_failures, one.first_failures);
    let failed: Vec<u64> = many
        .first_failures
        .iter()
        .map(|failed| failed.row)
        .collect();
    assert_eq!(failed, (0..10).map(|i| i * 100).collect::<Vec<_>>());
    assert_eq!(groups(&path("many.parquet")), [200; 20]);
    assert!(rows(&path("one.parquet")) == rows(&path("many.parquet")));
    assert_eq!(rows(&path("many.parquet"))[3_999][0], json!("39990"));
    // A row of a filtered segment is named by its place in the file.
    let others = [sparse(1..91), sparse(6_001..8_001)];
    write(&path("in.parquet"), &others, 90);
    let error = run(Some(1), OnError::Fail, "none.parquet").unwrap_err();
    // Row 99 of the second batch has number 6,100.
    assert!(
        error
            .to_string()
            .ends_with("in.parquet: row 189: byte 0: integer out of range for its type"),
        "{error}"
    );
}

/// Segments of 1,024 rows. Those of a rare event share row groups of at least 256 rows, in order, also if it becomes more
/// common; unless the rows of too many events wait.
#[test]
fn rare_events_share_row_groups() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let common = moved(&Default::default()).decoders()[0].codec().topic().0;
    for events in [1, 60] {
        let signature = |i| format!("event Rare{i}(address indexed to, uint128 amount)");
        let signatures = std::iter::once(SIGNATURE.to_owned()).chain((0..events).map(signature));
        let decoders =
            signatures.map(|one| EventDecoder::parse(&one, &Default::default()).unwrap());
        let events = EventSet::new(decoders).unwrap();
        let rare: Vec<[u8; 32]> = events.decoders()[1..]
            .iter()
            .map(|one| one.codec().topic().0)
            .collect();
        let batches = (0..20).map(|i| {
            let numbers = i * 1_024..(i + 1) * 1_024;
            let topics = numbers.clone().map(|n| {
                Some(match n % 3 {
                    0 if n > 15_000 => rare[0],
                    0 if n % 30 == 0 => rare[n as usize / 30 % rare.len()],
                    _ => common,
                })
            });
            let topics = FixedSizeBinaryArray::try_from_sparse_iter_with_size(topics, 32).unwrap();
            let batch = logs(numbers);
            let mut columns = batch.columns().to_vec();
            columns[1] = Arc::new(topics);
            RecordBatch::try_new(batch.schema(), columns).unwrap()
        });
        write(&path("in.parquet"), &batches.collect::<Vec<_>>(), 1_024);
        let outputs = [1, 2, 5].map(|threads| {
            let output = path(&format!("{threads}-{}", rare.len()));
            let options = Options {
                memory: Some(1),
                threads: std::num::NonZeroUsize::new(threads),
                ..Options::default()
            };
            let input = [path("in.parquet")];
            let report = decode_logs(&input, &output, &events, &options, &proceed).unwrap();
            assert_eq!(report.selected, 20 * 1_024);
            let mut bytes = Vec::new();
            for name in files(&output) {
                let file = output.join(&name);
                let rows = rows(&file)
                    .into_iter()
                    .map(|row| row[0].as_str().unwrap().parse::<u64>().unwrap());
                assert!(rows.is_sorted(), "{name}");
                bytes.push((name, fs::read(file).unwrap()));
            }
            assert_eq!(bytes.len(), 1 + rare.len());
            bytes
        });
        assert!(outputs[0] == outputs[1] && outputs[0] == outputs[2]);
        let groups = groups(&path(&format!("1-{}", rare.len())).join("Rare0.parquet"));
        match rare.len() {
            1 => assert_eq!(groups, [274, 346, 342, 341, 341, 342, 341]),
            _ => assert!(groups[0] < 256),
        }
    }
}

/// Files are closed between row groups if there are many of them. Another run, which removes the temporary files of
/// interrupted ones, leaves them.
#[test]
fn more_events_than_open_files() {
    let directory = tempfile::tempdir().unwrap();
    let (input, output) = (
        directory.path().join("in.parquet"),
        directory.path().join("out"),
    );
    let signatures = (0..130).map(|i| format!("event E{i}(address indexed to, uint128 amount)"));
    let decoders = signatures.map(|one| EventDecoder::parse(&one, &Default::default()).unwrap());
    let events = EventSet::new(decoders).unwrap();
    let decoders = events.decoders();
    let topics = (0..16_384).map(|n| Some(decoders[n % 130].codec().topic().0));
    let topics = FixedSizeBinaryArray::try_from_sparse_iter_with_size(topics, 32).unwrap();
    let batch = logs(0..16_384);
    let mut columns = batch.columns().to_vec();
    columns[1] = Arc::new(topics);
    let batch = RecordBatch::try_new(batch.schema(), columns).unwrap();
    write(&input, &[batch], 1_024);
    let other = directory.path().join("other.parquet");
    write(&other, &[logs(0..100)], 100);
    let resume = Options {
        resume: true,
        ..Options::default()
    };
    // Where the system lists them.
    let open = std::cell::Cell::new(0);
    let progress = |_| {
        decode(&other, &output.join(""), &resume).unwrap();
        let descriptors = fs::read_dir("/proc/self/fd").into_iter().flatten();
        let paths = descriptors.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        let outputs = paths.filter(|path| path.starts_with(&output)).count();
        open.set(open.get().max(outputs));
        std::ops::ControlFlow::Continue(())
    };
    let options = Options {
        memory: Some(1),
        ..Options::default()
    };
    let report = decode_logs(&[input], &output, &events, &options, &progress).unwrap();
    // The one that is locked.
    assert!(open.get() <= 1);
    assert_eq!(report.written.len(), 130);
    assert_eq!(files(&output).len(), 131);
    for (file, written) in &report.written {
        assert_eq!(rows(file).len() as u64, *written);
        assert!(groups(file).len() > 1, "{}", file.display());
    }
    let written: u64 = report.written.iter().map(|(_, rows)| rows).sum();
    assert_eq!(written, report.selected);
}

/// Logs with a column of views that is kept by default.
fn with_views(numbers: std::ops::Range<u64>) -> RecordBatch {
    let batch = sparse(numbers.clone());
    let names = batch
        .schema_ref()
        .fields()
        .iter()
        .map(|field| field.name().clone());
    let hashes = StringViewArray::from_iter_values(numbers.map(|n| format!("0x{n:064x}")));
    let hashes: ArrayRef = Arc::new(hashes);
    let columns = names.zip(batch.columns().to_vec());
    let columns = columns.chain([("transaction_hash".into(), hashes)]);
    RecordBatch::try_from_iter(columns).unwrap()
}

/// An Arrow file has the bytes of each view once, and none of rows that were left out.
#[test]
fn views_of_selected_rows() {
    let directory = tempfile::tempdir().unwrap();
    let [input, output] = ["in.arrows", "out.arrow"].map(|name| directory.path().join(name));
    fs::write(&input, stream(&[with_views(0..100_000)], None)).unwrap();
    decode(&input, &output, &Options::default()).unwrap();
    let bytes = fs::read(&output).unwrap();
    let has = |n: u64| {
        let hash = format!("0x{n:064x}");
        bytes
            .windows(hash.len())
            .filter(|window| *window == hash.as_bytes())
            .count()
    };
    assert_eq!([50_010, 50_011].map(has), [1, 0]);
    assert!(bytes.len() < 10_000 * 300, "{} bytes", bytes.len());
}

/// With one thread, the second segment is filtered, whose batches have more rows then; with two threads, usually not.
#[test]
fn a_filter_changes_no_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let segment = 1 << 18;
    let batches = [0..segment, segment..2 * segment].map(with_views);
    write(&path("in.parquet"), &batches, segment as usize);
    for output in ["out.parquet", "out.arrow"] {
        let bytes = [1, 2].map(|threads| {
            let options = Options {
                threads: std::num::NonZeroUsize::new(threads),
                overwrite: true,
                ..Options::default()
            };
            decode(&path("in.parquet"), &path(output), &options).unwrap();
            fs::read(path(output)).unwrap()
        });
        assert!(bytes[0] == bytes[1], "{output}");
    }
}
