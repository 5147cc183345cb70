//! Memory on a large and on a damaged row group, measured in a separate process.

use std::{env, fs, fs::File, process::Command, sync::Arc};

use crate::common::{files, moved, proceed, word};
use arrow_array::{ArrayRef, BinaryArray, DictionaryArray, Int32Array, RecordBatch};
use arrow_schema::DataType;
use lydite_bulk::{Options, decode_logs, inspect};
use parquet::{
    arrow::{ArrowWriter, arrow_writer::ArrowWriterOptions},
    basic::{Compression, ZstdLevel},
    file::properties::WriterProperties,
};

/// Peak resident memory in MiB; `None` where it is not known.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024)
}

/// The process that is measured: another run of this test binary.
#[test]
fn measured_process() {
    if env::var_os("LYDITE_TEST_MEASURED").is_some() {
        large_row_group();
    }
}

#[test]
fn a_row_group_of_a_gibibyte() {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "hostile::measured_process"]);
    let output = command.env("LYDITE_TEST_MEASURED", "1").output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// One row group of more than 1 GiB, which is 1 MiB compressed.
fn large_row_group() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("in.parquet");
    let topic = moved(&Default::default()).decoders()[0].codec().topic().0;
    let rows = 1 << 15;
    let column = |value: &[u8]| -> ArrayRef {
        Arc::new(BinaryArray::from_iter_values(std::iter::repeat_n(
            value, rows,
        )))
    };
    let batch = RecordBatch::try_from_iter([
        ("topic0", column(&topic)),
        ("topic1", column(&word(1))),
        ("data", column(&[&word(2)[..], &[0; 960]].concat())),
    ])
    .unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(None);
    let file = File::create(&input).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties.build())).unwrap();
    let batches = 36;
    (0..batches).for_each(|_| writer.write(&batch).unwrap());
    let metadata = writer.close().unwrap();
    assert_eq!(metadata.num_row_groups(), 1);
    assert!(metadata.row_group(0).total_byte_size() > 1 << 30);
    drop(batch);

    let before = peak();
    let options = Options {
        memory: Some(1 << 26),
        ..Options::default()
    };
    let output = directory.path().join("out.parquet");
    let events = moved(&Default::default());
    let report = decode_logs(
        std::slice::from_ref(&input),
        &output,
        &events,
        &options,
        &proceed,
    )
    .unwrap();
    assert_eq!(report.selected, batches * rows as u64);
    if let (Some(before), Some(after)) = (before, peak()) {
        assert!(
            after < before.max(192) + 128,
            "{before} MiB before, {after} MiB after"
        );
    }

    // A footer that declares more rows than there are.
    fs::remove_file(&output).unwrap();
    let mut bytes = fs::read(&input).unwrap();
    let footer = bytes.len()
        - 8
        - u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap()) as usize;
    let declared = varint(2 * batches * rows as u64);
    let lie = varint((2 * batches * rows as u64) | (1 << 26));
    assert_eq!(declared.len(), lie.len());
    let places: Vec<usize> = (footer..bytes.len() - declared.len())
        .filter(|at| bytes[*at..].starts_with(&declared))
        .collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + lie.len()].copy_from_slice(&lie);
    }
    fs::write(&input, bytes).unwrap();
    let error = decode_logs(&[input], &output, &events, &options, &proceed).unwrap_err();
    assert!(error.to_string().contains("in.parquet: "), "{error}");
    assert_eq!(files(directory.path()), ["in.parquet"]);
}

/// 2,100 times the same MiB, which the file has once. Expanded, it exceeds an array with 32-bit offsets.
#[test]
fn inspection_does_not_expand_a_dictionary() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("in.parquet");
    let value: ArrayRef = Arc::new(BinaryArray::from_iter_values([vec![1; 1 << 20]]));
    let input = DictionaryArray::new(Int32Array::from(vec![0; 2_100]), value);
    let batch = RecordBatch::try_from_iter([("input", Arc::new(input) as ArrayRef)]).unwrap();
    let properties = WriterProperties::builder().set_dictionary_page_size_limit(1 << 22);
    // So that the type of the column is Binary.
    let options = ArrowWriterOptions::new()
        .with_properties(properties.build())
        .with_skip_arrow_metadata(true);
    let output = File::create(&file).unwrap();
    let mut writer = ArrowWriter::try_new_with_options(output, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    assert!(fs::metadata(&file).unwrap().len() < 1 << 21);
    let found = inspect(&file, &Default::default()).unwrap();
    assert_eq!(found.schema.field(0).data_type(), &DataType::Binary);
    assert_eq!(found.frequent, [(vec![1; 4], 2_100)]);
}

/// A number as in Thrift's compact protocol.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}
