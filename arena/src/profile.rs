//! `bench profile`: where our contender spends its time on one row, sampled by perf.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::blobs;
use crate::family::{self, Selection};
use crate::manifest::Manifest;
use crate::ops::Op;
use crate::protocol;

/// Runs a row for about `time` and returns perf's report by function, of those with at least 1 %. The samples are left
/// in `data`.
pub fn render(manifest: &Manifest, op: &Op, time: Duration, data: &Path) -> Result<String> {
    let (variant, program, args) = manifest.first()?;
    let items = family::of(op).items(op, Selection::Main)?;
    let file = std::env::temp_dir().join(format!("lydite-profile-{}.blobs", std::process::id()));
    blobs::write(&file, &items)?;
    let mut child = Command::new("perf")
        .args(["record", "--quiet", "--output"])
        .arg(data)
        .arg("--")
        .arg(program)
        .args(args)
        .envs(&variant.env)
        .current_dir(&manifest.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("start perf (install the package linux-perf)")?;
    let mut requests = child.stdin.take().context("no pipe")?;
    let mut answers = BufReader::new(child.stdout.take().context("no pipe")?).lines();
    let mut ask = |request: String| -> Result<Value> {
        writeln!(requests, "{request}")?;
        loop {
            let line = answers.next().context("the contender ended")??;
            let Ok(answer) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            if let Some(error) = answer.get("err") {
                let message = answer.get("msg").unwrap_or(error);
                bail!("{}", crate::report::plain(&message.to_string()));
            }
            return Ok(answer);
        }
    };
    ask(protocol::prepare(&op.call, &file, op.change)?)?;
    let (start, mut calls) = (Instant::now(), 1u64);
    while start.elapsed() < time {
        let batch = Instant::now();
        ask(format!("run {calls} 1"))?;
        if batch.elapsed() < Duration::from_millis(100) {
            calls *= 2;
        }
    }
    drop(requests);
    child.wait()?;
    let _ = std::fs::remove_file(&file);
    let report = Command::new("perf")
        .args(["report", "--stdio", "--percent-limit", "1", "--input"])
        .arg(data)
        .stderr(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&report.stdout);
    let lines = text.lines().filter(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let mut out: String = lines.map(|line| format!("{}\n", line.trim_end())).collect();
    out += &format!("by instruction: perf annotate --input {}\n", data.display());
    Ok(out)
}
