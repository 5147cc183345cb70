//! A contender's process and the line protocol spoken with it.
//!
//! Requests are lines of words on the child's stdin, answers one-line JSON objects with `"arena": 1` on its stdout.
//! Anything else a runtime prints is a banner: skipped and counted. Every request has a deadline; a process that
//! misses it is killed, as is every process still alive when its [`Process`] is dropped.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use crate::change::Change;
use crate::sandbox::{self, Folder, Group, Usage};

/// The longest answer line; a contender that prints more without a newline has crashed for us.
const LONGEST_LINE: u64 = 1 << 20;
/// Lines that wait to be read; a contender that prints more has to wait, too.
const QUEUE: usize = 16;
/// Lines that are no answers, for each request.
const BANNERS: u32 = 10_000;
/// Bytes on standard error in a process's life.
const STDERR: usize = 4 << 20;
/// How often a waiting driver checks what its contender uses.
const WATCH: Duration = Duration::from_millis(250);

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
    /// Its times contradict one another: evidence, but no proof, since runtimes compile and collect garbage.
    Times(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(text) => write!(f, "unsupported: {text}"),
            Self::Rejected(text) => write!(f, "rejected: {text}"),
            Self::Crash(text) => write!(f, "crashed: {text}"),
            Self::Timeout(limit) => write!(f, "no answer within {limit:.1?}"),
            Self::Wrong(text) | Self::Times(text) => write!(f, "wrong: {text}"),
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

/// The answer to `prepare`.
#[derive(Clone, Copy, Debug)]
pub struct Prepared {
    /// Items read.
    pub items: u64,
    /// Whether the contender applies the change rule.
    pub changes: bool,
    /// Nanoseconds of CPU time that it used, where measured.
    pub cpu: Option<u64>,
}

/// The answer to `run`.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// Calls made.
    pub n: u64,
    /// Seed of the changes.
    pub seed: u32,
    /// Nanoseconds by the contender's clock.
    pub ns: u64,
    /// Wrapping sum of the output words.
    pub acc: u64,
    /// Nanoseconds by the driver's clock, from request to answer.
    pub wall: u64,
    /// Nanoseconds of CPU time of the contender's whole process group, where measured.
    pub cpu: Option<u64>,
    /// Nanoseconds that its threads, and the driver's, waited for a processor, where measured.
    pub waited: Option<u64>,
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
    // Dropped in this order: all members end before their folder goes.
    group: Group,
    child: Child,
    stdin: ChildStdin,
    /// When a line came, how long the thread that read it waited for a processor, and the line.
    lines: Receiver<(Instant, u64, Line)>,
    errors: Arc<Mutex<Errors>>,
    /// For items, outputs and temporary files of this process alone.
    folder: Folder,
    /// Lines skipped because they were not answers.
    pub banners: u64,
    /// What it said about itself.
    pub description: Description,
    /// Whether it applies the change rule of the operation prepared last.
    pub changes: bool,
    /// The shortest empty round trip, nanoseconds; measured at the first need.
    round_trip: Option<u64>,
    outputs: u32,
    /// Nanoseconds that the driver waited for a processor before it saw an answer.
    late: u64,
}

/// What a process wrote on standard error.
#[derive(Default)]
struct Errors {
    bytes: usize,
    last: Vec<u8>,
}

/// glibc moves its thresholds by what a process freed before: the same 300 kB come from memory at hand in one process
/// and from the kernel, page by page, in the next one. They stand still here, for every contender.
const MALLOC: &str = "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=268435456";

impl Process {
    /// Starts `command` in `folder` and asks it to describe itself. A private folder for its files is made in `work`.
    pub fn start(
        command: &[String],
        folder: &Path,
        env: &BTreeMap<String, String>,
        work: &Path,
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
        let private = Folder::new(work).map_err(crash)?;
        let temporary = private.path().join("tmp");
        std::fs::create_dir(&temporary).map_err(crash)?;
        let mut command = Command::new(&program);
        command
            .args(args)
            .current_dir(folder)
            .env("GLIBC_TUNABLES", MALLOC)
            // .NET maps its code twice, by a file larger than any limit of files.
            .env("DOTNET_EnableWriteXorExecute", "0")
            .env("TMPDIR", &temporary)
            .envs(env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        sandbox::confine(&mut command);
        let mut child = command
            .spawn()
            .map_err(|error| Failure::Crash(format!("{}: {error}", program.display())))?;
        let group = Group::new(child.id());
        let (stdin, stdout, stderr) =
            match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
                (Some(stdin), Some(stdout), Some(stderr)) => (stdin, stdout, stderr),
                _ => return Err(Failure::Crash("no pipes".into())),
            };
        let errors = Arc::new(Mutex::new(Errors::default()));
        let written = Arc::clone(&errors);
        std::thread::Builder::new()
            .name("contender errors".into())
            .spawn(move || drain(stderr, &written))
            .map_err(crash)?;
        let (sender, lines) = sync_channel(QUEUE);
        std::thread::Builder::new()
            .name("contender output".into())
            .spawn(move || {
                let mut reader = BufReader::new(stdout);
                let mut waited = own_wait();
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
                    let before = std::mem::replace(&mut waited, own_wait());
                    let late = waited.saturating_sub(before);
                    if sender.send((at, late, line)).is_err() || end {
                        return;
                    }
                }
            })
            .map_err(crash)?;
        let mut process = Self {
            group,
            child,
            stdin,
            lines,
            errors,
            folder: private,
            banners: 0,
            description: Description {
                name: String::new(),
                version: String::new(),
                runtime: String::new(),
                ops: Vec::new(),
            },
            changes: true,
            round_trip: None,
            outputs: 0,
            late: 0,
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

    /// A file in the process's private folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What all its processes have used so far.
    pub fn usage(&mut self) -> Option<Usage> {
        self.group.usage()
    }

    /// Loads the items of an operation, to be changed by a rule.
    pub fn prepare(
        &mut self,
        op: &str,
        input: &Path,
        change: Change,
        deadline: Duration,
    ) -> Result<Prepared, Failure> {
        self.changes = false;
        let before = self.usage();
        let (answer, _) = self.ask(&format!("prepare {op} {} {change}", path(input)?), deadline)?;
        let cpu = cpu(before, self.usage());
        let told = answer.get("changes").and_then(Value::as_bool);
        self.changes = !change.is_some() || told == Some(true);
        Ok(Prepared {
            items: field(&answer, "items")?,
            changes: self.changes,
            cpu,
        })
    }

    /// Asks for the outputs of all items; they may have at most `limit` bytes, lengths included.
    pub fn verify(&mut self, limit: u64, deadline: Duration) -> Result<Vec<Vec<u8>>, Failure> {
        // A new name each time, so that no answer can be an older one.
        self.outputs += 1;
        let output = self.file(&format!("out-{}.blobs", self.outputs));
        self.ask(&format!("verify {}", path(&output)?), deadline)?;
        let got = crate::blobs::read_foreign(&output, limit);
        let _ = std::fs::remove_file(output);
        got.map_err(|error| Failure::Wrong(format!("{error:#}")))
    }

    /// A timed batch of `n` calls. The answer is checked for sense (`n` echoed, time possible), not yet for truth.
    pub fn run(&mut self, n: u64, seed: u32, deadline: Duration) -> Result<Batch, Failure> {
        let before = self.usage();
        self.late = 0;
        let (answer, wall) = self.ask(&format!("run {n} {seed}"), deadline)?;
        let after = self.usage();
        let acc = answer
            .get("acc")
            .and_then(Value::as_str)
            .and_then(|hex| u64::from_str_radix(hex, 16).ok())
            .ok_or_else(|| Failure::Wrong("run: no `acc` of hexadecimal digits".into()))?;
        let batch = Batch {
            n: field(&answer, "n")?,
            seed,
            ns: field(&answer, "ns")?,
            acc,
            wall,
            cpu: cpu(before, after),
            waited: before
                .zip(after)
                .map(|(before, after)| after.waited.saturating_sub(before.waited) + self.late),
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
        if let Some(excess) = self.group.excess() {
            self.kill();
            return Err(Failure::Crash(excess));
        }
        Ok(batch)
    }

    /// Allocation counts of `n` calls, in a batch of its own.
    pub fn alloc(&mut self, n: u64, seed: u32, deadline: Duration) -> Result<Allocations, Failure> {
        let (answer, _) = self.ask(&format!("alloc {n} {seed}"), deadline)?;
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

    /// The shortest of some empty round trips, nanoseconds by the driver's clock less the contender's; at most
    /// `ROUND_TRIP`, so that a contender that is slow on purpose gains nothing. Some may not know `noop`.
    pub fn round_trip(&mut self, deadline: Duration) -> u64 {
        if self.round_trip.is_none() {
            let trips = (0..9).filter_map(|_| {
                let (ns, wall) = self.noop(1, deadline).ok()?;
                Some(wall.saturating_sub(ns))
            });
            let shortest = trips.min();
            self.round_trip = Some(shortest.unwrap_or(ROUND_TRIP).min(ROUND_TRIP));
        }
        self.round_trip.unwrap_or(ROUND_TRIP)
    }

    /// Asks the runtime to collect its garbage; a runtime without any may refuse.
    pub fn collect(&mut self, deadline: Duration) -> Result<(), Failure> {
        match self.ask("gc", deadline) {
            Ok(_) | Err(Failure::Unsupported(_) | Failure::Rejected(_)) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Sends a request and waits for its answer. Only meanwhile does the contender run: it is stopped before and after, so
    /// that it can neither work ahead nor disturb others.
    fn ask(&mut self, request: &str, deadline: Duration) -> Result<(Value, u64), Failure> {
        self.group.resume();
        let answer = self.answer(request, deadline);
        self.group.pause();
        answer
    }

    fn answer(&mut self, request: &str, deadline: Duration) -> Result<(Value, u64), Failure> {
        // Lines of before the request are no answers to it.
        for (_, _, line) in self.lines.try_iter() {
            match line {
                Line::Text(line) if parse(&line).is_none() => self.banners += 1,
                Line::Text(_) => {
                    return Err(Failure::Wrong("answers without being asked".into()));
                }
                Line::End => return Err(self.crash()),
            }
        }
        let start = Instant::now();
        if self
            .stdin
            .write_all(format!("{request}\n").as_bytes())
            .is_err()
        {
            return Err(self.crash());
        }
        let mut banners = 0;
        loop {
            let left = deadline.saturating_sub(start.elapsed());
            if left.is_zero() {
                self.kill();
                return Err(Failure::Timeout(deadline));
            }
            match self.lines.recv_timeout(left.min(WATCH)) {
                Ok((at, late, Line::Text(line))) => {
                    self.late += late;
                    let Some(answer) = parse(&line) else {
                        self.banners += 1;
                        banners += 1;
                        if banners > BANNERS {
                            self.kill();
                            return Err(Failure::Crash(format!(
                                "prints more than {BANNERS} lines that are no answers"
                            )));
                        }
                        continue;
                    };
                    let wall = at.saturating_duration_since(start).as_nanos() as u64;
                    return answer.map(|value| (value, wall));
                }
                Ok((_, _, Line::End)) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.crash());
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(excess) = self.group.excess() {
                        self.kill();
                        return Err(Failure::Crash(excess));
                    }
                }
            }
            if let Some(flood) = self.flood() {
                self.kill();
                return Err(flood);
            }
        }
    }

    fn errors(&self) -> std::sync::MutexGuard<'_, Errors> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn flood(&self) -> Option<Failure> {
        (self.errors().bytes > STDERR).then(|| {
            Failure::Crash(format!(
                "writes more than {} MiB to standard error",
                STDERR >> 20
            ))
        })
    }

    fn crash(&mut self) -> Failure {
        // Nobody reads any further: most programs end then.
        if let Some(flood) = self.flood() {
            self.kill();
            return flood;
        }
        // The pipe is closed: give the process a moment to be gone, so that its status can be told.
        for _ in 0..50 {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    let text = self.last_words();
                    return Failure::Crash(format!("the process ended ({status}){text}"));
                }
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                Err(error) => return Failure::Crash(error.to_string()),
            }
        }
        self.kill();
        Failure::Crash("the process closed its output or printed a line without end".into())
    }

    /// The last line on standard error.
    fn last_words(&self) -> String {
        let text = String::from_utf8_lossy(&self.errors().last).into_owned();
        match text.lines().rfind(|line| !line.trim().is_empty()) {
            Some(line) => format!(": {}", line.trim().chars().take(160).collect::<String>()),
            None => String::new(),
        }
    }

    fn kill(&mut self) {
        self.group.kill();
        // Errors mean that it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The longest empty round trip that a contender is granted.
const ROUND_TRIP: u64 = 200_000;

impl Drop for Process {
    fn drop(&mut self) {
        self.group.resume();
        let _ = self.stdin.write_all(b"quit\n");
        for _ in 0..20 {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.kill();
    }
}

fn cpu(before: Option<Usage>, after: Option<Usage>) -> Option<u64> {
    let (before, after) = before.zip(after)?;
    Some(after.cpu.saturating_sub(before.cpu))
}

/// Nanoseconds that this thread has waited for a processor.
fn own_wait() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited = text.split(' ').nth(1).and_then(|word| word.parse().ok());
    waited.unwrap_or(0)
}

/// Reads standard error to its end or to the limit, and keeps the last part of it.
fn drain(mut stderr: ChildStderr, errors: &Mutex<Errors>) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stderr.read(&mut buffer) {
        let mut errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.bytes += read;
        errors.last.extend(&buffer[..read]);
        let old = errors.last.len().saturating_sub(buffer.len());
        errors.last.drain(..old);
        if errors.bytes > STDERR {
            return;
        }
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
