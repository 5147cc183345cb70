//! `lydite decode-logs`, `decode-calls`, `senders`, `schema`: files with millions of rows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{IsTerminal as _, Write as _};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use lydite::bytes::hex;
use lydite::evm::abi::{CallCodec, EventCodec, JsonAbi, Parameter, Signature};
use lydite_arrow::{
    CallDecoder, CallSet, ColumnMap, EventDecoder, EventSet, Keep, OnError, SendersOptions,
    TransformOptions, Uint256Format,
};
use lydite_bulk::{Format, Options, Progress, Report};
use serde_json::{Value, json};

use crate::{
    Answer,
    output::{self, Output},
};

/// Decode event logs in Parquet or Arrow files
///
/// Columns are recognised by their names in files of cryo, hypersync, ethereum-etl, xatu, Amp and others; see `lydite
/// schema`. A log belongs to an event if its first topic and its number of topics match.
///
/// lydite decode-logs logs/ -o transfers.parquet --event 'Transfer(address indexed from, address indexed to, uint256
/// value)'
#[derive(Args)]
pub struct DecodeLogs {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    decoding: Decoding,
    /// Signature of an event, with `indexed` and names; repeatable
    #[arg(long = "event", value_name = "SIGNATURE")]
    events: Vec<String>,
}

/// Decode calls in Parquet or Arrow files
///
/// The data of calls is in a column `input`. A call belongs to a function if it starts with its selector.
#[derive(Args)]
pub struct DecodeCalls {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    decoding: Decoding,
    /// Signature of a function, with names; repeatable
    #[arg(long = "function", value_name = "SIGNATURE")]
    functions: Vec<String>,
    /// Also decode the returned values, in a column `output`, to columns `output_…`; null if a call returned nothing
    #[arg(long)]
    results: bool,
}

/// Recover the senders of signed transactions in Parquet or Arrow files
///
/// The signed transactions (EIP-2718 envelopes) are in a column `raw` or `rawTx`, or are rebuilt from columns of their
/// fields and compared with the column `transaction_hash`. Writes the column `sender`.
#[derive(Args)]
pub struct Senders {
    #[command(flatten)]
    files: Files,
    /// Also write the column `hash`, the hashes of the transactions, in place of one of this name
    #[arg(long)]
    hash: bool,
    /// Compare the senders with the column `from`; exit code 1 if one differs or cannot be recovered
    #[arg(long)]
    check: bool,
}

/// Show the columns of a Parquet or Arrow file and what can be done with them
#[derive(Args)]
pub struct Schema {
    /// Parquet or Arrow file
    file: PathBuf,
    #[command(flatten)]
    columns: Columns,
}

#[derive(Args)]
struct Files {
    /// Parquet and Arrow files, directories with such files, patterns, or `-` for an Arrow stream
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// Output: a file, or `-` for an Arrow stream; a directory for a file per input, or per event or function
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// Columns to copy: names, or `all` or `none` (default: those that identify a row)
    #[arg(long, value_delimiter = ',', value_name = "COLUMN")]
    keep: Vec<String>,
    /// Prefix of the names of new columns
    #[arg(long, default_value = "")]
    prefix: String,
    #[command(flatten)]
    columns: Columns,
    /// What to do with rows that cannot be decoded
    #[arg(long, value_enum, default_value = "null")]
    on_error: OnErrorArgument,
    /// Format of the output (default: by the name of the file)
    #[arg(long, value_enum)]
    format: Option<FormatArgument>,
    /// Compression of Parquet output
    #[arg(long, value_enum, default_value = "zstd")]
    compression: CompressionArgument,
    /// Number of threads (default: all cores)
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Memory from which the sizes of batches and row groups are chosen, such as 512M
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// Replace existing files; with a file per event or function, also remove those for which there are no rows
    #[arg(long)]
    overwrite: bool,
    /// Skip outputs that an earlier run has completed; the output must be a directory
    #[arg(long, conflicts_with = "overwrite")]
    resume: bool,
    /// Also write what is printed to a file, in JSON; empty after an error
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Reads a number of bytes, with K, M or G for powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    let expected = || format!("expected a number of bytes such as 512M, found `{text}`");
    let digits = text.trim_end_matches(|unit: char| !unit.is_ascii_digit());
    let unit: u64 = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 1,
        "K" | "KB" | "KIB" => 1 << 10,
        "M" | "MB" | "MIB" => 1 << 20,
        "G" | "GB" | "GIB" => 1 << 30,
        _ => return Err(expected()),
    };
    let number: u64 = digits.parse().map_err(|_| expected())?;
    number.checked_mul(unit).ok_or_else(expected)
}

#[derive(Args)]
struct Columns {
    /// Name of the column with a role, such as topic0=first_topic; repeatable
    #[arg(long = "map", value_name = "ROLE=COLUMN")]
    map: Vec<ColumnMap>,
}

impl Columns {
    fn map(&self) -> ColumnMap {
        ColumnMap(self.map.iter().flat_map(|map| map.0.clone()).collect())
    }
}

#[derive(Args)]
struct Decoding {
    /// ABI in JSON, a build tool's file with the member `abi`, a directory with such files (.json), or a file with a signature
    /// per line; repeatable
    #[arg(long, value_name = "PATH")]
    abi: Vec<PathBuf>,
    /// Formats of integers of more than 64 bits; with several, a column for each
    #[arg(long, value_enum, value_delimiter = ',', default_value = "binary")]
    uint256: Vec<Uint256Argument>,
    /// How strictly encodings are checked
    #[arg(long, value_enum, default_value = "strict")]
    mode: ModeArgument,
}

macro_rules! value_enum {
    ($(#[$attribute:meta])* $name:ident for $type:path { $($(#[$doc:meta])* $variant:ident = $value:ident,)* }) => {
        #[derive(Clone, Copy, ValueEnum)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl From<$name> for $type {
            fn from(argument: $name) -> Self {
                match argument {
                    $($name::$variant => Self::$value,)*
                }
            }
        }
    };
}
value_enum!(OnErrorArgument for OnError {
    /// All new columns are null
    Null = Null,
    /// Leave the row out
    Drop = Drop,
    /// Stop without output
    Fail = Fail,
});
value_enum!(FormatArgument for Format {
    Parquet = Parquet,
    Arrow = Arrow,
});
value_enum!(CompressionArgument for lydite_bulk::Compression {
    Zstd = Zstd,
    Lz4 = Lz4,
    Snappy = Snappy,
    None = None,
});
value_enum!(ModeArgument for lydite_arrow::Mode {
    /// Values in the range of their types, padded with zeros, as contracts emit them
    Strict = Strict,
    /// Excess bits are dropped, and the final padding may be missing
    Lenient = Lenient,
    /// Like strict, without gaps or data after the last value
    Canonical = Canonical,
});
value_enum!(Uint256Argument for Uint256Format {
    /// 32 bytes, big-endian
    Binary = Binary,
    /// Decimal text
    String = String,
    /// Decimal of 38 digits, null above
    Decimal = Decimal,
    /// Nearest double
    F64 = F64,
});

impl Files {
    fn options(&self) -> Options {
        let transform = TransformOptions {
            on_error: self.on_error.into(),
            keep: match self.keep.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                [] => Keep::Identity,
                ["all"] => Keep::All,
                ["none"] => Keep::Named(Vec::new()),
                _ => Keep::Named(self.keep.clone()),
            },
            prefix: self.prefix.clone(),
            map: self.columns.map(),
        };
        Options {
            transform,
            format: self.format.map(Into::into),
            compression: self.compression.into(),
            threads: self.threads,
            memory: self.memory,
            overwrite: self.overwrite,
            resume: self.resume,
        }
    }

    /// Creates the file of the report before the run, which may take long.
    fn open_report(&self) -> Result<Option<File>> {
        let Some(path) = &self.report else {
            return Ok(None);
        };
        let (report, output) = (resolved(path), resolved(&self.output));
        let extension = path.extension().unwrap_or_default();
        let is_named_as_output = extension == "parquet" || extension == "arrow";
        let is_output = report == output || is_named_as_output && report.starts_with(output);
        let inputs = lydite_bulk::input_files(&self.inputs, Some(&self.output))?;
        let mut inputs = inputs.iter().map(|input| resolved(&input.path));
        if is_output || inputs.any(|input| input == report) {
            bail!(
                "{}: expected a file for the report that is not an input or output",
                path.display()
            );
        }
        let file = File::create(path).with_context(|| path.display().to_string())?;
        Ok(Some(file))
    }
}

/// Returns the path without links of a file that need not exist.
fn resolved(path: &Path) -> PathBuf {
    let in_directory = || {
        let name = path.file_name()?;
        let directory = path.parent().filter(|path| !path.as_os_str().is_empty());
        let directory = fs::canonicalize(directory.unwrap_or(Path::new("."))).ok()?;
        Some(directory.join(name))
    };
    let resolved = fs::canonicalize(path).ok().or_else(in_directory);
    resolved.unwrap_or_else(|| path.into())
}

impl Decoding {
    fn columns(&self) -> lydite_arrow::Options {
        let formats = self.uint256.iter().map(|format| (*format).into());
        lydite_arrow::Options {
            uint256: formats.collect(),
            mode: self.mode.into(),
        }
    }
}

/// Events and functions of ABI files.
#[derive(Default)]
struct Abi {
    events: Vec<EventCodec>,
    functions: Vec<CallCodec>,
}

impl Abi {
    fn read(paths: &[PathBuf]) -> Result<Self> {
        let mut all = Self::default();
        for path in paths {
            let at = || path.display().to_string();
            if path.is_dir() {
                all.add_directory(path).with_context(at)?;
                continue;
            }
            let text = fs::read_to_string(path).with_context(at)?;
            if text.trim_start().starts_with(['[', '{']) {
                let json = serde_json::from_str(&text).with_context(at)?;
                all.add_json(json).with_context(at)?;
            } else {
                all.add_lines(&text).with_context(at)?;
            }
        }
        Ok(all)
    }

    /// Reads all files with the ending `.json`, also those in directories. Those of build tools without an ABI are skipped.
    fn add_directory(&mut self, directory: &Path) -> Result<()> {
        let entries = fs::read_dir(directory)?.collect::<Result<Vec<_>, _>>();
        let mut entries = entries?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let at = || path.display().to_string();
            // Links to directories are not followed, since they may form a circle.
            if entry.file_type()?.is_dir() {
                self.add_directory(&path)?;
            } else if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                let text = fs::read_to_string(&path).with_context(at)?;
                let json: Value = serde_json::from_str(&text).with_context(at)?;
                if json.is_array() || json["abi"].is_array() {
                    self.add_json(json).with_context(at)?;
                }
            }
        }
        Ok(())
    }

    fn add_json(&mut self, mut json: Value) -> Result<()> {
        if json.is_object() {
            json = json["abi"].take();
        }
        let abi: JsonAbi = serde_json::from_value(json)?;
        self.events.extend(abi.events);
        self.functions.extend(abi.functions);
        Ok(())
    }

    /// Reads a signature per line. Empty lines and comments, which start with `#` or `//`, are skipped.
    fn add_lines(&mut self, text: &str) -> Result<()> {
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') || line.starts_with("//") {
                continue;
            }
            let at = || format!("line {}", number + 1);
            if line.starts_with("event ") {
                self.events.push(EventCodec::parse(line).with_context(at)?);
            } else if line.starts_with("function ") {
                self.functions
                    .push(CallCodec::parse(line).with_context(at)?);
            } else {
                bail!("{}: expected `event …` or `function …`", at());
            }
        }
        Ok(())
    }
}

/// Describes signatures whose rows are decoded by an earlier one with the same key.
fn left_out<'a, K: Ord>(signatures: impl Iterator<Item = (K, &'a Signature)>) -> BTreeSet<String> {
    let (mut first, mut left_out) = (BTreeMap::new(), BTreeSet::new());
    for (key, signature) in signatures {
        let signature = with_names(signature);
        let earlier = first.entry(key).or_insert_with(|| signature.clone());
        if *earlier != signature {
            left_out.insert(format!("{signature}, whose rows are decoded as {earlier}"));
        }
    }
    left_out
}

fn with_names(signature: &Signature) -> String {
    let list = |parameters: &[Parameter]| {
        let texts = parameters.iter().map(|parameter| {
            let indexed = if parameter.indexed { " indexed" } else { "" };
            let text = format!("{}{indexed} {}", parameter.ty, parameter.name);
            text.trim_end().to_owned()
        });
        texts.collect::<Vec<_>>().join(", ")
    };
    let text = format!("{}({})", signature.name, list(&signature.inputs));
    match &signature.outputs[..] {
        [] => text,
        outputs => format!("{text} returns ({})", list(outputs)),
    }
}

pub fn decode_logs(arguments: &DecodeLogs, output: &Output) -> Result<Answer> {
    let DecodeLogs {
        files,
        decoding,
        events,
    } = arguments;
    let columns = decoding.columns();
    let mut decoders = Vec::new();
    for signature in events {
        decoders.push(EventDecoder::parse(signature, &columns)?);
    }
    let abi = Abi::read(&decoding.abi)?;
    // Logs of anonymous events do not name their event, so one of many cannot be recognised.
    let named = abi.events.into_iter().filter(|event| !event.is_anonymous());
    decoders.extend(named.map(|event| EventDecoder::new(event, &columns)));
    if decoders.is_empty() {
        bail!("no event; give --event SIGNATURE or --abi PATH");
    }
    let left_out = left_out(decoders.iter().map(|decoder| {
        let event = decoder.codec();
        let indexed = event
            .signature()
            .inputs
            .iter()
            .filter(|input| input.indexed);
        let topics = usize::from(!event.is_anonymous()) + indexed.count();
        ((event.topic().0, topics), event.signature())
    }));
    let events = EventSet::new(decoders)?;
    let (report, file) = with_progress(files, |progress| {
        lydite_bulk::decode_logs(
            &files.inputs,
            &files.output,
            &events,
            &files.options(),
            progress,
        )
    })?;
    print(
        &report,
        file,
        "logs of these events",
        &left_out,
        files,
        output,
    )
}

pub fn decode_calls(arguments: &DecodeCalls, output: &Output) -> Result<Answer> {
    let DecodeCalls {
        files,
        decoding,
        functions,
        results,
    } = arguments;
    let columns = decoding.columns();
    let mut decoders = Vec::new();
    for signature in functions {
        decoders.push(CallDecoder::parse(signature, &columns)?);
    }
    let abi = Abi::read(&decoding.abi)?.functions.into_iter();
    decoders.extend(abi.map(|function| CallDecoder::new(function, &columns)));
    if decoders.is_empty() {
        bail!("no function; give --function SIGNATURE or --abi PATH");
    }
    let left_out = left_out(decoders.iter().map(|decoder| {
        let function = decoder.codec();
        (function.selector(), function.signature())
    }));
    let mut functions = CallSet::new(decoders);
    if *results {
        functions = functions.with_results();
    }
    let (report, file) = with_progress(files, |progress| {
        lydite_bulk::decode_calls(
            &files.inputs,
            &files.output,
            &functions,
            &files.options(),
            progress,
        )
    })?;
    print(
        &report,
        file,
        "calls of these functions",
        &left_out,
        files,
        output,
    )
}

pub fn senders(arguments: &Senders, output: &Output) -> Result<Answer> {
    let Senders { files, hash, check } = arguments;
    let options = files.options();
    let what = SendersOptions {
        hash: *hash,
        check: *check,
    };
    let (report, file) = with_progress(files, |progress| {
        lydite_bulk::senders(&files.inputs, &files.output, what, &options, progress)
    })?;
    match print(
        &report,
        file,
        "transactions",
        &BTreeSet::new(),
        files,
        output,
    )? {
        Answer::Yes if *check && !report.failures.is_empty() => Ok(Answer::No),
        answer => Ok(answer),
    }
}

/// Runs with a bar of its progress. Also returns the file for the report.
fn with_progress(
    files: &Files,
    run: impl FnOnce(&dyn Fn(Progress) -> ControlFlow<()>) -> Result<Report, lydite_bulk::Error>,
) -> Result<(Report, Option<File>)> {
    let file = files.open_report()?;
    let bar = if std::io::stderr().is_terminal() {
        let template = "{bar:40} {human_pos} of {human_len} rows, {per_sec}, {eta} left";
        ProgressBar::new(0).with_style(ProgressStyle::with_template(template)?)
    } else {
        ProgressBar::hidden()
    };
    // At once, also while the run waits for its input.
    let shown = bar.clone();
    ctrlc::set_handler(move || {
        shown.finish_and_clear();
        output::report(&anyhow!("cancelled"));
        lydite_bulk::exit(2);
    })?;
    let report = run(&|progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    Ok((report?, file))
}

fn print(
    report: &Report,
    file: Option<File>,
    selected: &'static str,
    left_out: &BTreeSet<String>,
    files: &Files,
    output: &Output,
) -> Result<Answer> {
    // Standard output belongs to the Arrow stream.
    let is_stream = files.output.as_os_str() == "-";
    let failures: u64 = report.failures.values().sum();
    let first = report.first_failures.iter().map(|row| {
        let optional = |name: &str, number: Option<u64>| {
            number.map_or(String::new(), |number| format!(", {name} {number}"))
        };
        format!(
            "{}: row {}{}{}: {}",
            row.file.display(),
            row.row,
            optional("block", row.block_number),
            optional("log", row.log_index),
            row.error
        )
    });
    let times = [
        ("read", report.times.read),
        ("decode", report.times.decode),
        ("encode", report.times.encode),
        ("write", report.times.write),
    ];
    let in_json = || {
        let written = report.written.iter();
        [
            ("rows", report.rows.into()),
            ("selected", report.selected.into()),
            ("other_layout", report.other_layout.into()),
            ("left_out", json!(left_out)),
            ("failures", json!(report.failures)),
            ("overflows", report.overflows.into()),
            ("different", report.different.into()),
            ("first_failures", first.clone().collect()),
            ("skipped", report.skipped.into()),
            ("elapsed", report.elapsed.as_secs_f64().into()),
            (
                "seconds",
                json!(BTreeMap::from(
                    times.map(|(step, time)| (step, time.as_secs_f64()))
                )),
            ),
            (
                "written",
                written
                    .map(|(file, rows)| json!({"file": file.to_string_lossy(), "rows": rows}))
                    .collect(),
            ),
        ]
    };
    if let (Some(mut file), Some(path)) = (file, &files.report) {
        let text = format!("{}\n", output::object(&in_json()));
        file.write_all(text.as_bytes())
            .with_context(|| path.display().to_string())?;
    }
    if is_stream {
        eprintln!("{} rows read, {} {selected}", report.rows, report.selected);
        for signature in left_out {
            eprintln!("left out: {signature}");
        }
    } else if output.json {
        output.fields(&in_json())?;
    } else {
        let mut fields = vec![
            ("rows read", Value::from(report.rows)),
            (selected, report.selected.into()),
        ];
        if report.other_layout > 0 {
            fields.push(("with another number of topics", report.other_layout.into()));
        }
        let signatures = left_out.iter().map(|signature| signature.as_str().into());
        fields.extend(signatures.map(|signature| ("left out", signature)));
        if report.skipped > 0 {
            fields.push(("complete before", report.skipped.into()));
        }
        for (file, rows) in &report.written {
            let text = format!("{} ({rows} rows)", file.display());
            fields.push(("written", text.into()));
        }
        let elapsed = report.elapsed.as_secs_f64();
        let rate = report.rows as f64 / elapsed.max(f64::MIN_POSITIVE);
        let text = format!("{elapsed:.2}, {rate:.0} rows a second");
        fields.push(("seconds", text.into()));
        let total: f64 = times.iter().map(|(_, time)| time.as_secs_f64()).sum();
        let shares = times.map(|(step, time)| {
            let share = 100.0 * time.as_secs_f64() / total.max(f64::MIN_POSITIVE);
            format!("{step} {share:.0} %")
        });
        let text = format!("{total:.1}: {}", shares.join(", "));
        fields.push(("core seconds", text.into()));
        output.fields(&fields)?;
    }
    if (is_stream || !output.json) && failures + report.overflows + report.different > 0 {
        for (reason, count) in &report.failures {
            eprintln!("{count} rows could not be decoded: {reason}");
        }
        if report.overflows > 0 {
            let rows = report.overflows;
            eprintln!("{rows} rows have an integer of more than 38 digits, which is null");
        }
        if report.different > 0 {
            eprintln!("{} senders differ from the column", report.different);
        }
        eprintln!("the first of them:");
        first.for_each(|line| eprintln!("  {line}"));
    }
    Ok(match report.different {
        0 => Answer::Yes,
        _ => Answer::No,
    })
}

pub fn schema(arguments: &Schema, output: &Output) -> Result<Answer> {
    let found = lydite_bulk::inspect(&arguments.file, &arguments.columns.map())?;
    let role = |name: &str| {
        let mut roles = found.roles.iter().filter(|(_, column)| column == name);
        roles.next().map(|(role, _)| role.to_string())
    };
    let commands = [
        (found.logs, "decode-logs"),
        (found.calls, "decode-calls"),
        (found.transactions, "senders"),
    ];
    let commands: Vec<&str> = commands
        .into_iter()
        .filter_map(|(possible, command)| possible.then_some(command))
        .collect();
    let fields = found.schema.fields().iter();
    let frequent = found.frequent.iter();
    if output.json {
        output.fields(&[
            ("rows", found.rows.into()),
            (
                "columns",
                fields
                    .map(|field| {
                        let role = role(field.name());
                        json!({"name": field.name(), "type": field.data_type().to_string(), "role": role})
                    })
                    .collect(),
            ),
            ("commands", json!(commands)),
            (
                "frequent",
                frequent
                    .map(|(key, rows)| json!({"key": hex::encode_prefixed(key), "rows": rows}))
                    .collect(),
            ),
        ])?;
        return Ok(Answer::Yes);
    }
    let width = fields.clone().map(|field| field.name().len()).max();
    let width = width.unwrap_or_default();
    let rows = found.rows.map(|rows| format!("{rows} rows\n\n"));
    let mut text = rows.unwrap_or_default();
    for field in fields {
        let role = role(field.name()).map_or(String::new(), |role| format!("  read as {role}"));
        text += &format!("{:width$}  {}{role}\n", field.name(), field.data_type());
    }
    text += &match commands[..] {
        [] => "\nno logs, calls or signed transactions found; name the columns with --map\n".into(),
        _ => format!("\npossible: {}\n", commands.join(", ")),
    };
    if !found.frequent.is_empty() {
        text += "\nmost frequent in the first rows:\n";
        for (key, rows) in frequent {
            text += &format!("{rows:>9}  {}\n", hex::encode_prefixed(key));
        }
    }
    crate::output::write(&text)?;
    Ok(Answer::Yes)
}
