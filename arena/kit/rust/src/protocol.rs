//! The line protocol between the driver and a contender.

use std::fs;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::time::Instant;

use crate::allocation::{Counts, counted};
use crate::operation::{Case, Op};
use crate::reader::blobs;

/// A failed request: the protocol's kind, and a message.
type Failure = (&'static str, String);

/// Answers the driver until it closes standard input or says `quit`.
pub fn run(name: &str, version: &str, ops: Vec<Op>) {
    let mut current: Option<Box<dyn Case>> = None;
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let (command, arguments) = line.split_once(' ').unwrap_or((&line, ""));
        if command == "quit" {
            return;
        }
        let reply = match answer(name, version, &ops, &mut current, command, arguments) {
            Ok(fields) => format!("{{\"arena\":1,{fields}}}"),
            Err((kind, message)) => format!(
                "{{\"arena\":1,\"err\":\"{kind}\",\"msg\":{}}}",
                quoted(&message)
            ),
        };
        let mut out = io::stdout().lock();
        if writeln!(out, "{reply}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

fn answer(
    name: &str,
    version: &str,
    ops: &[Op],
    current: &mut Option<Box<dyn Case>>,
    command: &str,
    arguments: &str,
) -> Result<String, Failure> {
    match command {
        "describe" => {
            let names: Vec<String> = ops.iter().flat_map(Op::names).map(quoted).collect();
            Ok(format!(
                "\"name\":{},\"version\":{},\"runtime\":{},\"ops\":[{}],\"threads\":1",
                quoted(name),
                quoted(version),
                quoted(&runtime()),
                names.join(",")
            ))
        }
        "prepare" => {
            *current = None;
            let (id, path) = arguments
                .split_once(' ')
                .ok_or_else(|| unsupported("prepare needs an op and a file"))?;
            let op = ops
                .iter()
                .find(|op| op.names().any(|known| known == id))
                .ok_or_else(|| unsupported(id))?;
            let file = fs::read(path).map_err(|error| ("crash", format!("{path}: {error}")))?;
            let items = blobs(file)
                .ok_or_else(|| ("rejected", "the blobs file is cut short".to_owned()))?;
            let case = op
                .prepare(&items)
                .map_err(|message| ("rejected", message))?;
            let count = case.items();
            *current = Some(case);
            Ok(format!("\"ok\":true,\"items\":{count}"))
        }
        "verify" => {
            let outputs = prepared(current)?.outputs();
            let outputs =
                outputs.map_err(|index| ("rejected", format!("item {index} was rejected")))?;
            let mut file = Vec::new();
            for output in outputs {
                file.extend_from_slice(&(output.len() as u32).to_le_bytes());
                file.extend_from_slice(&output);
            }
            fs::write(arguments, file)
                .map_err(|error| ("crash", format!("{arguments}: {error}")))?;
            Ok("\"ok\":true".to_owned())
        }
        "run" => {
            let n = number(arguments)?;
            let case = prepared(current)?;
            let start = Instant::now();
            let sum = case.run(n);
            let elapsed = start.elapsed().as_nanos();
            Ok(format!("\"n\":{n},\"ns\":{elapsed},\"acc\":\"{sum:016x}\""))
        }
        "alloc" => {
            let n = number(arguments)?;
            let case = prepared(current)?;
            let Counts { bytes, calls, peak } = counted(|| {
                black_box(case.run(n));
            });
            Ok(format!(
                "\"n\":{n},\"alloc_bytes\":{bytes},\"allocs\":{calls},\"peak_bytes\":{peak},\"gc\":0"
            ))
        }
        "noop" => {
            let n = number(arguments)?;
            let start = Instant::now();
            for k in 0..n {
                black_box(k);
            }
            Ok(format!("\"n\":{n},\"ns\":{}", start.elapsed().as_nanos()))
        }
        "gc" => Ok("\"ok\":true".to_owned()),
        _ => Err(unsupported(command)),
    }
}

fn unsupported(what: &str) -> Failure {
    ("unsupported", what.to_owned())
}

fn prepared(current: &mut Option<Box<dyn Case>>) -> Result<&mut (dyn Case + 'static), Failure> {
    current
        .as_deref_mut()
        .ok_or_else(|| ("rejected", "nothing is prepared".to_owned()))
}

fn number(word: &str) -> Result<u64, Failure> {
    word.parse()
        .map_err(|_| ("rejected", format!("not a count: {word}")))
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The compiler and the instruction sets the build assumed.
fn runtime() -> String {
    let level = if cfg!(target_feature = "avx512f") {
        "avx512f"
    } else if cfg!(target_feature = "avx2") {
        "avx2"
    } else {
        "baseline"
    };
    format!(
        "{}, {} {level}",
        env!("ARENA_KIT_RUSTC"),
        std::env::consts::ARCH
    )
}

/// The version that `package` is pinned to, read from the text of a `Cargo.lock` (the newest if there are several, "?"
/// if there is none). Saves a contender from stating a version that the lockfile has moved away from.
pub fn locked_version<'a>(lockfile: &'a str, package: &str) -> &'a str {
    let mut found = "?";
    let mut lines = lockfile.lines();
    while let Some(line) = lines.next() {
        if line
            .strip_prefix("name = ")
            .is_some_and(|name| name.trim_matches('"') == package)
        {
            // Cargo sorts packages by name, then by version.
            found = lines
                .next()
                .and_then(|line| line.strip_prefix("version = "))
                .unwrap_or(found)
                .trim_matches('"');
        }
    }
    found
}
