//! The line protocol between the driver and a contender.

use std::fs;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::time::Instant;

use crate::allocation::{Counts, counted};
use crate::change::Rule;
use crate::operation::{Case, Op};
use crate::reader::blobs;
use crate::steps;

/// A failed request: the protocol's error kind and a message.
type Failure = (&'static str, String);

/// Serves the driver's requests until it closes standard input or sends `quit`.
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
                "\"name\":{},\"version\":{},\"runtime\":{},\"ops\":[{}]",
                quoted(name),
                quoted(version),
                quoted(&runtime()),
                names.join(",")
            ))
        }
        "prepare" => {
            *current = None;
            let (id, rest) = arguments.split_once(' ').ok_or_else(incomplete)?;
            // A path may contain spaces, a rule cannot.
            let (path, change) = rest.rsplit_once(' ').ok_or_else(incomplete)?;
            let rule = match change {
                "none" => None,
                _ => Some(Rule::parse(change).ok_or_else(|| {
                    let message = format!("expected `none` or `<kind>@<offset>`, found {change:?}");
                    ("rejected", message)
                })?),
            };
            let op = ops
                .iter()
                .find(|op| op.names().any(|known| known == id))
                .ok_or_else(|| unsupported(id))?;
            let file = fs::read(path).map_err(|error| ("crash", format!("{path}: {error}")))?;
            let items = blobs(file)
                .ok_or_else(|| ("rejected", "the blobs file is cut short".to_owned()))?;
            let case = op
                .prepare(items, rule)
                .map_err(|message| ("rejected", message))?;
            let (count, changes) = (case.items(), case.changes());
            *current = Some(case);
            Ok(format!(
                "\"ok\":true,\"items\":{count},\"changes\":{changes}"
            ))
        }
        "verify" => {
            let case = prepared(current)?;
            // Some libraries panic on malformed items; the process remains usable for the next request.
            let outputs = catch_unwind(AssertUnwindSafe(|| case.outputs()))
                .map_err(|_| ("crash", "panicked".to_owned()))?
                .map_err(|index| ("rejected", format!("item {index} was rejected")))?;
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
            let (n, seed) = batch(arguments)?;
            let case = prepared(current)?;
            let start = Instant::now();
            let sum = case.run(n, seed);
            let elapsed = start.elapsed().as_nanos();
            Ok(format!("\"n\":{n},\"ns\":{elapsed},\"acc\":\"{sum:016x}\""))
        }
        "alloc" => {
            let (n, seed) = batch(arguments)?;
            let case = prepared(current)?;
            steps::take();
            let Counts { bytes, calls, peak } = counted(|| {
                black_box(case.run(n, seed));
            });
            let steps = steps::take().into_iter();
            let steps = steps.map(|(name, ns)| format!("[{},{ns}]", quoted(name)));
            let steps = steps.collect::<Vec<_>>().join(",");
            Ok(format!(
                "\"n\":{n},\"alloc_bytes\":{bytes},\"allocs\":{calls},\"peak_bytes\":{peak},\"gc\":0,\"steps\":[{steps}]"
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

fn incomplete() -> Failure {
    let expected = "expected an operation, a file and a change rule after `prepare`";
    ("rejected", expected.to_owned())
}

fn number<N: FromStr>(word: &str) -> Result<N, Failure> {
    word.parse()
        .map_err(|_| ("rejected", format!("expected a number, found {word:?}")))
}

/// Parses the number of calls and the seed of their changes.
fn batch(arguments: &str) -> Result<(u64, u32), Failure> {
    let (n, seed) = arguments.split_once(' ').ok_or_else(|| {
        let message = format!("expected a number of calls and a seed, found {arguments:?}");
        ("rejected", message)
    })?;
    Ok((number(n)?, number(seed)?))
}

/// Quotes a JSON string.
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

/// The compiler and the instruction set level that the build targets.
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

/// The version to which `package` is pinned in the text of a `Cargo.lock` (the newest if there are several, "?" if
/// there is none). With it, the reported version cannot deviate from the lock file.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{Reader, op};

    /// The responses of a contender that copies eight bytes.
    fn answers(lines: &[&str]) -> Vec<Result<String, Failure>> {
        let ops = [op("echo", Reader::array::<8>).raw().call(|bytes| *bytes)];
        let mut current = None;
        let one = |line: &&str| {
            let (command, arguments) = line.split_once(' ').unwrap_or((line, ""));
            answer("name", "1", &ops, &mut current, command, arguments)
        };
        lines.iter().map(one).collect()
    }

    #[test]
    fn a_batch_is_prepared_run_and_verified() {
        let folder = std::env::temp_dir().join(format!("arena kit {}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (file, out) = (folder.join("in.blobs"), folder.join("out.blobs"));
        let content = b"\x08\0\0\0abcdefgh";
        fs::write(&file, content).unwrap();
        let replies = answers(&[
            &format!("prepare echo {} le@0", file.display()),
            "run 3 1",
            "alloc 3 1",
            &format!("verify {}", out.display()),
            "run 3 1",
            &format!("prepare echo {} none", file.display()),
        ]);
        let written = fs::read(&out).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(written, content);
        assert_eq!(
            replies[0].as_deref(),
            Ok("\"ok\":true,\"items\":1,\"changes\":true")
        );
        // The last four bytes three times, plus the first three words of seed 1.
        let words = 0xd8e8_c2bau64 + 0x4180_6e87 + 0xec83_3178;
        let sum = u64::from(u32::from_le_bytes(*b"efgh")) * 3;
        let sum = format!("\"acc\":\"{:016x}\"", (sum << 32).wrapping_add(words));
        for reply in [&replies[1], &replies[4]] {
            assert!(reply.as_ref().unwrap().ends_with(&sum), "{reply:?} {sum}");
        }
        assert!(replies.iter().all(Result::is_ok), "{replies:?}");
    }

    #[test]
    fn incomplete_requests_are_refused() {
        let replies = answers(&[
            "prepare echo",
            "prepare echo file",
            "prepare echo file le@",
            "prepare echo file le32@0",
            "run 3",
            "run 3 4294967296",
            "run 3 -1",
            "run x 1",
            "run 3 1",
        ]);
        for reply in &replies {
            assert_eq!(
                reply.as_ref().map_err(|e| e.0),
                Err("rejected"),
                "{reply:?}"
            );
        }
    }
}
