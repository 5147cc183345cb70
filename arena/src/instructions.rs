//! `bench instructions`: the number of instructions of one call of our contender, counted by callgrind.
//!
//! It compares two builds of the same source without noise. It does not measure time: instructions differ in duration,
//! and valgrind's processor has no AVX-512, so kernels that need it are not counted.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::blobs;
use crate::family::{self, Selection};
use crate::manifest::Manifest;
use crate::ops::Op;
use crate::protocol;

/// Instructions to count at least: two starts of a process differ by some thousand.
const ENOUGH: u64 = 1_000_000;
/// Calls of an operation that takes no time.
const MOST_CALLS: u64 = 1 << 20;

/// Instructions per operation, one line per row: `ID COUNT`.
pub fn render(manifest: &Manifest, ops: &[Op]) -> Result<String> {
    let (variant, program, args) = manifest.first()?;
    let file =
        std::env::temp_dir().join(format!("lydite-instructions-{}.blobs", std::process::id()));
    let mut text = String::from(
        "# instructions an operation by callgrind (no AVX-512; not a measure of time)\n",
    );
    for op in ops.iter().filter(|op| !op.full) {
        let items = family::of(op)?.items(op, Selection::Main)?;
        blobs::write(&file, &items)?;
        let prepare = protocol::prepare(&op.call, &file, op.change)?;
        let count = |calls: u64| {
            let mut command = Command::new("valgrind");
            command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
            command
                .arg(&program)
                .args(args)
                .envs(&variant.env)
                .current_dir(&manifest.folder);
            total(command, &format!("{prepare}\nrun {calls} 1\nquit\n"))
        };
        // Startup and preparation are in both counts and cancel out, except for what differs between two starts.
        let mut calls = items.len() as u64;
        let difference = loop {
            let difference = count(2 * calls).and_then(|two| Ok(two.saturating_sub(count(calls)?)));
            match difference {
                Ok(..ENOUGH) if calls < MOST_CALLS => calls *= 16,
                _ => break difference,
            }
        };
        text += &match difference {
            Ok(count) => format!(
                "{} {:.1}\n",
                op.id,
                count as f64 / (calls * op.ops_per_call as u64) as f64
            ),
            Err(error) => format!("# {}: {error:#}\n", op.id),
        };
    }
    let _ = std::fs::remove_file(&file);
    Ok(text)
}

/// Number of instructions of a whole process that received these requests.
fn total(mut command: Command, requests: &str) -> Result<u64> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("start valgrind (install the package valgrind)")?;
    child
        .stdin
        .take()
        .context("no pipe")?
        .write_all(requests.as_bytes())?;
    let output = child.wait_with_output()?;
    let answers = String::from_utf8_lossy(&output.stdout);
    if let Some(error) = answers.lines().find(|line| line.contains("\"err\"")) {
        bail!("{}", crate::report::plain(error));
    }
    collected(&String::from_utf8_lossy(&output.stderr)).context("callgrind reports no count")
}

/// Parses `==123== Collected : 456`.
fn collected(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// Rows whose counts differ between two outputs of [`render`], sorted by change.
pub fn compare(a: &Path, b: &Path) -> Result<String> {
    let read = |path: &Path| -> Result<Vec<(String, f64)>> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines
            .map(|line| {
                let (op, count) = line
                    .split_once(' ')
                    .with_context(|| format!("expected `ID COUNT`, found {line:?}"))?;
                Ok((
                    crate::report::plain(op),
                    count
                        .trim()
                        .parse()
                        .with_context(|| format!("count of {op:?}"))?,
                ))
            })
            .collect()
    };
    let (before, after) = (read(a)?, read(b)?);
    let mut changes: Vec<(f64, &str, f64, f64)> = after
        .iter()
        .filter_map(|(op, now)| {
            let (_, old) = before.iter().find(|(name, _)| name == op)?;
            Some((now / old, op.as_str(), *old, *now))
        })
        .collect();
    let rows = changes.len();
    changes.retain(|(change, ..)| (change - 1.0).abs() >= 0.001);
    changes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut text = format!(
        "instructions by callgrind, not time: {} of {rows} rows differ by 0.1 % or more\n",
        changes.len()
    );
    for (change, op, old, now) in changes {
        text += &format!(
            "{op}: {old:.1} -> {now:.1} ({:+.1} %)\n",
            100.0 * (change - 1.0)
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn counts_are_read_and_compared() {
        assert_eq!(
            collected("==7== Events : Ir\n==7== Collected : 1234\n==7==\n"),
            Some(1234)
        );
        assert_eq!(collected("valgrind: no such program"), None);
        let folder = std::env::temp_dir();
        let file = |name: &str, text: &str| {
            let path = folder.join(format!("arena-instructions-{name}-{}", std::process::id()));
            std::fs::write(&path, text).unwrap();
            path
        };
        let a = file("a", "# x\nkeccak256_32b 100.0\nu256_add 10.0\ngone 1\n");
        let b = file("b", "keccak256_32b 105.0\nu256_add 10.0\nnew 1\n");
        let text = compare(&a, &b).unwrap();
        assert!(
            text.contains("1 of 2 rows differ")
                && text.contains("keccak256_32b: 100.0 -> 105.0 (+5.0 %)"),
            "{text}"
        );
        let broken = file("c", "keccak256_32b\n");
        assert!(
            compare(&a, &broken)
                .unwrap_err()
                .to_string()
                .contains("expected `ID COUNT`")
        );
        for path in [a, b, broken] {
            std::fs::remove_file(path).unwrap();
        }
    }
}
