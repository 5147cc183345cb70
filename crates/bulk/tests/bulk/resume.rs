//! One output per input: interrupted runs, and outputs of other runs.

use std::{
    collections::BTreeMap,
    env, fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::common::{files, logs, moved, proceed, write};
use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use lydite_arrow::{
    CallDecoder, CallSet, EventDecoder, EventSet, Options as Columns, TransformOptions,
};
use lydite_bulk::{
    Compression, Error, Format, Options, Report, decode_calls, decode_logs, input_files,
};

const FILES: u64 = 12;
const ROWS: u64 = 30_000;

fn run(directory: &Path, output: &str, options: &Options) -> Result<Report, Error> {
    let inputs = [directory.join("in/*.parquet")];
    let output = directory.join(output).join("");
    decode_logs(
        &inputs,
        &output,
        &moved(&Columns::default()),
        options,
        &proceed,
    )
}

fn resume() -> Options {
    Options {
        resume: true,
        ..Options::default()
    }
}

fn inputs(directory: &Path) {
    fs::create_dir(directory.join("in")).unwrap();
    for file in 0..FILES {
        let batches: Vec<RecordBatch> = (0..3)
            .map(|part| logs(file * ROWS + part * 10_000..file * ROWS + (part + 1) * 10_000))
            .collect();
        write(
            &directory.join(format!("in/{file:02}.parquet")),
            &batches,
            7_000,
        );
    }
}

fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let names = files(directory).into_iter();
    names
        .map(|name| (name.clone(), fs::read(directory.join(name)).unwrap()))
        .collect()
}

/// The process that is killed: another run of this test binary.
#[test]
fn killed_process() {
    if let Some(directory) = env::var_os("LYDITE_TEST_KILLED") {
        run(directory.as_ref(), "out", &resume()).unwrap();
    }
}

/// `LYDITE_TEST_KILLS` is the number of random moments.
#[test]
fn killed_and_resumed() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    inputs(directory);
    run(directory, "whole", &Options::default()).unwrap();
    let whole = contents(&directory.join("whole"));
    assert_eq!(whole.len() as u64, FILES);

    let start = || {
        let mut command = Command::new(env::current_exe().unwrap());
        command
            .args(["--exact", "resume::killed_process"])
            .stdout(Stdio::null());
        command
            .env("LYDITE_TEST_KILLED", directory)
            .spawn()
            .unwrap()
    };
    let begin = Instant::now();
    assert!(start().wait().unwrap().success());
    let undisturbed = begin.elapsed();
    assert!(contents(&directory.join("out")) == whole);

    let kills = env::var("LYDITE_TEST_KILLS").map_or(50, |kills| kills.parse().unwrap());
    let (mut random, mut partial, mut temporary) = (1u64, 0, 0);
    fs::remove_dir_all(directory.join("out")).unwrap();
    for _ in 0..kills {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let mut process = start();
        let share = (random >> 40) as f64 / (1u64 << 24) as f64;
        thread::sleep(Duration::from_secs_f64(share * undisturbed.as_secs_f64()));
        process.kill().unwrap();
        process.wait().unwrap();
        if !directory.join("out").exists() {
            continue;
        }
        // Whatever has its name is complete.
        let mut found = contents(&directory.join("out"));
        let all = found.len();
        found.retain(|name, _| !name.ends_with(".tmp"));
        temporary += usize::from(found.len() < all);
        partial += usize::from((1..whole.len()).contains(&found.len()));
        assert!(found.iter().all(|(name, bytes)| whole[name] == *bytes));
        if found.len() == whole.len() {
            fs::remove_dir_all(directory.join("out")).unwrap();
        }
    }
    assert!(partial + temporary > 0, "no run was interrupted");
    let report = run(directory, "out", &resume()).unwrap();
    assert_eq!(report.skipped + report.written.len() as u64, FILES);
    assert!(contents(&directory.join("out")) == whole);
    let report = run(directory, "out", &resume()).unwrap();
    assert_eq!((report.skipped, report.rows), (FILES, 0));
}

/// An Arrow file of the same length, in which a value far from the end differs.
#[test]
fn changed_arrow_file() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("in.arrow");
    let run = |first| {
        let batches = [logs(first..first + 1), logs(0..20_000)];
        let file = fs::File::create(&input).unwrap();
        let mut writer = FileWriter::try_new(file, &batches[0].schema()).unwrap();
        batches
            .iter()
            .for_each(|batch| writer.write(batch).unwrap());
        writer.finish().unwrap();
        let events = moved(&Columns::default());
        let output = directory.path().join("out/");
        decode_logs(
            std::slice::from_ref(&input),
            &output,
            &events,
            &resume(),
            &proceed,
        )
    };
    run(1).unwrap();
    assert_eq!(run(1).unwrap().skipped, 1);
    let length = fs::metadata(&input).unwrap().len();
    let error = run(2).unwrap_err().to_string();
    assert!(error.contains("made from another input"), "{error}");
    assert_eq!(fs::metadata(&input).unwrap().len(), length);
    assert!(length > 2 << 20);
}

#[test]
fn outputs_of_other_runs() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    inputs(directory);
    for format in [None, Some(Format::Arrow)] {
        let options = Options { format, ..resume() };
        let output = if format.is_none() { "parquet" } else { "arrow" };
        let report = run(directory, output, &options).unwrap();
        assert_eq!((report.skipped, report.rows), (0, FILES * ROWS));
        let first_out = directory.join(output).join("00").with_extension(output);
        fs::remove_file(&first_out).unwrap();
        fs::write(directory.join(output).join(".lydite-abc.tmp"), "left").unwrap();
        // A temporary file of a run that goes on.
        let held = directory.join(output).join(".lydite-def.tmp");
        let lock = fs::File::create(&held).unwrap();
        lock.lock().unwrap();
        let report = run(directory, output, &options).unwrap();
        assert_eq!(
            (report.skipped, report.written),
            (FILES - 1, vec![(first_out, 20_000)])
        );
        assert!(held.exists());
        fs::remove_file(held).unwrap();
        assert_eq!(files(&directory.join(output)).len() as u64, FILES);
    }

    let error = |options: &Options| run(directory, "parquet", options).unwrap_err().to_string();
    assert!(error(&Options::default()).ends_with("00.parquet: file exists"));
    let other = "00.parquet: file exists, made from another input, with other options or by another version";
    let transform = TransformOptions {
        prefix: "x_".into(),
        ..TransformOptions::default()
    };
    for options in [
        Options {
            transform,
            ..resume()
        },
        Options {
            compression: Compression::Lz4,
            ..resume()
        },
        Options {
            memory: Some(1 << 24),
            ..resume()
        },
    ] {
        assert!(error(&options).ends_with(other), "{}", error(&options));
    }
    write(&directory.join("in/00.parquet"), &[logs(1..7)], 100);
    assert!(error(&resume()).ends_with(other));

    // The same types and columns, but other logs.
    let signature = "event Moved(address to, uint128 indexed amount)";
    let anonymous = "event Moved(address indexed to, uint128 amount) anonymous";
    for signature in [signature, anonymous] {
        let event = EventDecoder::parse(signature, &Columns::default()).unwrap();
        let events = EventSet::new([event]).unwrap();
        let (inputs, output) = (
            [directory.join("in/01.parquet")],
            directory.join("parquet/"),
        );
        let error = decode_logs(&inputs, &output, &events, &resume(), &proceed).unwrap_err();
        assert!(error.to_string().ends_with(&other[2..]), "{error}");
    }
    // Two types of results with the same type of column.
    let results = ["uint160", "uint128"].map(|ty| {
        let function = format!("function f() returns ({ty} a)");
        let function = CallDecoder::parse(&function, &Columns::default()).unwrap();
        let functions = CallSet::new([function]).with_results();
        let (inputs, output) = ([directory.join("in/01.parquet")], directory.join("calls/"));
        let mut options = resume();
        options.transform.map = "output=data".parse().unwrap();
        let report = decode_calls(&inputs, &output, &functions, &options, &proceed);
        report.map_err(|error| error.to_string())
    });
    assert!(results[0].is_ok());
    assert!(
        results[1]
            .as_ref()
            .is_err_and(|error| error.ends_with(&other[2..]))
    );

    // Outputs inside of the inputs are not read, except by name.
    fs::create_dir(directory.join("in/deep")).unwrap();
    fs::copy(
        directory.join("in/01.parquet"),
        directory.join("in/deep/a.parquet"),
    )
    .unwrap();
    let found = |inputs: &str, output: &str| {
        let inputs = [directory.join(inputs)];
        let files = input_files(&inputs, Some(&directory.join(output))).unwrap();
        files.len() as u64
    };
    for inputs in ["in", "in/*", "in/**/*.parquet", "in*"] {
        assert_eq!(found(inputs, "in/deep/"), FILES, "{inputs}");
        assert_eq!(found(inputs, "in/other/"), FILES + 1, "{inputs}");
    }
    assert_eq!(found("in", "in"), FILES + 1);
    assert_eq!(found("in/*.parquet", "in"), FILES);
    assert_eq!(found("in/deep", ""), 1);
    assert_eq!(found("in/deep/*", "in"), 1);
    assert_eq!(found("in/deep/a.parquet", "in/deep"), 1);
    fs::remove_dir_all(directory.join("in/deep")).unwrap();
    let nested = || {
        let (inputs, output) = ([directory.join("in")], directory.join("in/out/"));
        decode_logs(
            &inputs,
            &output,
            &moved(&Columns::default()),
            &resume(),
            &proceed,
        )
        .unwrap()
    };
    assert_eq!((nested().skipped, nested().skipped), (0, FILES));
    fs::remove_dir_all(directory.join("in/out")).unwrap();

    let single = |inputs: &[&str], output: &str, options: &Options| {
        let inputs: Vec<_> = inputs.iter().map(|input| directory.join(input)).collect();
        let output = directory.join(output);
        decode_logs(
            &inputs,
            &output,
            &moved(&Columns::default()),
            options,
            &proceed,
        )
        .unwrap_err()
        .to_string()
    };
    let message = "an output per input requires a directory as output";
    assert!(single(&["in"], "one.parquet", &resume()).contains(message));
    let twice = single(&["in/01.parquet", "in"], "new/", &Options::default());
    assert!(
        twice.ends_with("new/01.parquet: two inputs would have this output"),
        "{twice}"
    );
    assert!(!directory.join("new").exists());
}
