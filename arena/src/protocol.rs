//! A contender's process and the line protocol spoken with it.
//!
//! Requests are lines of words on the child's stdin, answers one-line JSON objects with `"arena": 1` on its stdout.
//! Anything else a runtime prints is a banner: skipped and counted. Every request has a deadline; a process that
//! misses it is killed, as is every process still alive when its [`Process`] is dropped.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

/// The longest answer line; a contender that prints more without a newline has crashed for us.
const LONGEST_LINE: u64 = 1 << 20;

/// Why a request got no good answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The contender does not offer the operation.
    Unsupported(String),
    /// The contender refused the request or the input.
    Rejected(String),
    /// The process ended, or could not be started or spoken to.
    Crash(String),
    /// No answer before the deadline; the process was killed.
    Timeout(Duration),
    /// The answer contradicts the request or the truth.
    Wrong(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(text) => write!(f, "unsupported: {text}"),
            Self::Rejected(text) => write!(f, "rejected: {text}"),
            Self::Crash(text) => write!(f, "crashed: {text}"),
            Self::Timeout(limit) => write!(f, "no answer within {limit:.1?}"),
            Self::Wrong(text) => write!(f, "wrong: {text}"),
        }
    }
}

impl std::error::Error for Failure {}

/// What a contender says about itself.
#[derive(Clone, Debug, Deserialize)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Version of the library under test.
    #[serde(default)]
    pub version: String,
    /// Language runtime or compiler.
    #[serde(default)]
    pub runtime: String,
    /// Operation ids it offers.
    pub ops: Vec<String>,
}

/// The answer to `run`.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// Calls made.
    pub n: u64,
    /// Nanoseconds by the contender's clock.
    pub ns: u64,
    /// Wrapping sum of the output words.
    pub acc: u64,
    /// Nanoseconds by the driver's clock, from request to answer.
    pub wall: u64,
}

/// The answer to `alloc`: totals over `n` calls.
#[derive(Clone, Copy, Debug)]
pub struct Allocations {
    /// Calls made.
    pub n: u64,
    /// Bytes allocated.
    pub bytes: Option<u64>,
    /// Number of allocations.
    pub count: Option<u64>,
    /// Most bytes held at a time.
    pub peak: Option<u64>,
    /// Garbage collections.
    pub gc: Option<u64>,
}

enum Line {
    Text(String),
    End,
}

/// A running contender.
pub struct Process {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<(Instant, Line)>,
    /// Lines skipped because they were not answers.
    pub banners: u64,
    /// What it said about itself.
    pub description: Description,
}

/// glibc moves its thresholds by what a process freed before: the same 300 kB come from memory at hand in one process
/// and from the kernel, page by page, in the next one. They stand still here, for every contender.
const MALLOC: &str = "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=268435456";

impl Process {
    /// Starts `command` in `folder` and asks it to describe itself. Its stderr goes to `log`.
    pub fn start(
        command: &[String],
        folder: &Path,
        env: &BTreeMap<String, String>,
        log: File,
        deadline: Duration,
    ) -> Result<Self, Failure> {
        let crash = |error: std::io::Error| Failure::Crash(error.to_string());
        let [program, args @ ..] = command else {
            return Err(Failure::Crash("the manifest's `run` is empty".into()));
        };
        // A path is relative to the manifest; a bare name is looked up in PATH.
        let program = if program.contains('/') {
            folder.join(program)
        } else {
            program.into()
        };
        let mut child = Command::new(&program)
            .args(args)
            .current_dir(folder)
            .env("GLIBC_TUNABLES", MALLOC)
            .envs(env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|error| Failure::Crash(format!("{}: {error}", program.display())))?;
        let (stdin, stdout) = match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => (stdin, stdout),
            _ => return Err(Failure::Crash("no pipes".into())),
        };
        let (sender, lines) = channel();
        std::thread::Builder::new()
            .name("contender output".into())
            .spawn(move || {
                let mut reader = BufReader::new(stdout);
                loop {
                    let mut bytes = Vec::new();
                    let read = (&mut reader)
                        .take(LONGEST_LINE)
                        .read_until(b'\n', &mut bytes);
                    let at = Instant::now();
                    let line = match read {
                        Ok(1..) if bytes.ends_with(b"\n") => {
                            Line::Text(String::from_utf8_lossy(&bytes).trim().to_owned())
                        }
                        _ => Line::End,
                    };
                    let end = matches!(line, Line::End);
                    if sender.send((at, line)).is_err() || end {
                        return;
                    }
                }
            })
            .map_err(crash)?;
        let mut process = Self {
            child,
            stdin,
            lines,
            banners: 0,
            description: Description {
                name: String::new(),
                version: String::new(),
                runtime: String::new(),
                ops: Vec::new(),
            },
        };
        let (answer, _) = process.ask("describe", deadline)?;
        process.description = serde_json::from_value(answer)
            .map_err(|error| Failure::Wrong(format!("describe: {error}")))?;
        Ok(process)
    }

    /// The operating system's number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the contender says it has the operation.
    pub fn offers(&self, op: &str) -> bool {
        self.description.ops.iter().any(|name| name == op)
    }

    /// Loads the items of an operation; answers how many there are.
    pub fn prepare(&mut self, op: &str, input: &Path, deadline: Duration) -> Result<u64, Failure> {
        let (answer, _) = self.ask(&format!("prepare {op} {}", path(input)?), deadline)?;
        field(&answer, "items")
    }

    /// Asks for the outputs of all items as a blobs file.
    pub fn verify(&mut self, output: &Path, deadline: Duration) -> Result<(), Failure> {
        self.ask(&format!("verify {}", path(output)?), deadline)?;
        Ok(())
    }

    /// A timed batch of `n` calls. The answer is checked for sense (`n` echoed, time possible), not yet for truth.
    pub fn run(&mut self, n: u64, deadline: Duration) -> Result<Batch, Failure> {
        let (answer, wall) = self.ask(&format!("run {n}"), deadline)?;
        let acc = answer
            .get("acc")
            .and_then(Value::as_str)
            .and_then(|hex| u64::from_str_radix(hex, 16).ok())
            .ok_or_else(|| Failure::Wrong("run: no `acc` of hexadecimal digits".into()))?;
        let batch = Batch {
            n: field(&answer, "n")?,
            ns: field(&answer, "ns")?,
            acc,
            wall,
        };
        if batch.n != n {
            return Err(Failure::Wrong(format!(
                "asked for {n} calls, answered for {}",
                batch.n
            )));
        }
        if batch.ns == 0 || batch.ns > wall {
            return Err(Failure::Wrong(format!(
                "reports {} ns for a batch that took {wall} ns from outside",
                batch.ns
            )));
        }
        Ok(batch)
    }

    /// Allocation counts of `n` calls, in a batch of its own.
    pub fn alloc(&mut self, n: u64, deadline: Duration) -> Result<Allocations, Failure> {
        let (answer, _) = self.ask(&format!("alloc {n}"), deadline)?;
        let number = |name| answer.get(name).and_then(Value::as_u64);
        Ok(Allocations {
            n: field(&answer, "n")?,
            bytes: number("alloc_bytes"),
            count: number("allocs"),
            peak: number("peak_bytes"),
            gc: number("gc"),
        })
    }

    /// An empty loop of `n` turns: its time in nanoseconds, and the driver's for the round trip.
    pub fn noop(&mut self, n: u64, deadline: Duration) -> Result<(u64, u64), Failure> {
        let (answer, wall) = self.ask(&format!("noop {n}"), deadline)?;
        Ok((field(&answer, "ns")?, wall))
    }

    /// Asks the runtime to collect its garbage; a runtime without any may refuse.
    pub fn collect(&mut self, deadline: Duration) -> Result<(), Failure> {
        match self.ask("gc", deadline) {
            Ok(_) | Err(Failure::Unsupported(_) | Failure::Rejected(_)) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    fn ask(&mut self, request: &str, deadline: Duration) -> Result<(Value, u64), Failure> {
        let start = Instant::now();
        if self
            .stdin
            .write_all(format!("{request}\n").as_bytes())
            .is_err()
        {
            return Err(self.crash());
        }
        loop {
            let left = deadline.saturating_sub(start.elapsed());
            match self.lines.recv_timeout(left) {
                Ok((at, Line::Text(line))) => {
                    let Some(answer) = parse(&line) else {
                        self.banners += 1;
                        continue;
                    };
                    let wall = at.saturating_duration_since(start).as_nanos() as u64;
                    return answer.map(|value| (value, wall));
                }
                Ok((_, Line::End)) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.crash());
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.kill();
                    return Err(Failure::Timeout(deadline));
                }
            }
        }
    }

    fn crash(&mut self) -> Failure {
        // The pipe is closed: give the process a moment to be gone, so that its status can be told.
        for _ in 0..50 {
            match self.child.try_wait() {
                Ok(Some(status)) => return Failure::Crash(format!("the process ended ({status})")),
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                Err(error) => return Failure::Crash(error.to_string()),
            }
        }
        self.kill();
        Failure::Crash("the process closed its output or printed a line without end".into())
    }

    fn kill(&mut self) {
        // Errors mean that it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.stdin.write_all(b"quit\n");
        for _ in 0..20 {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.kill();
    }
}

/// `None`: a banner.
fn parse(line: &str) -> Option<Result<Value, Failure>> {
    let answer: Value = serde_json::from_str(line).ok()?;
    if answer.get("arena").and_then(Value::as_u64) != Some(1) {
        return None;
    }
    let Some(kind) = answer.get("err").and_then(Value::as_str) else {
        return Some(Ok(answer));
    };
    let text = answer
        .get("msg")
        .and_then(Value::as_str)
        .unwrap_or("no reason given")
        .chars()
        .take(300)
        .collect();
    Some(Err(match kind {
        "unsupported" => Failure::Unsupported(text),
        "crash" => Failure::Crash(text),
        _ => Failure::Rejected(text),
    }))
}

fn field(answer: &Value, name: &str) -> Result<u64, Failure> {
    answer
        .get(name)
        .and_then(Value::as_u64)
        .ok_or_else(|| Failure::Wrong(format!("the answer has no number `{name}`")))
}

fn path(path: &Path) -> Result<&str, Failure> {
    match path.to_str() {
        Some(text) if !text.contains(char::is_whitespace) => Ok(text),
        _ => Err(Failure::Crash(format!(
            "the protocol cannot name {} (white space)",
            path.display()
        ))),
    }
}
