//! A contender's process and its line protocol.
//!
//! Requests are lines of words on the child's stdin, responses are one-line JSON objects with `"arena": 1` on its
//! stdout. Any other line that a runtime prints is a banner, which is skipped and counted. Every request has a
//! deadline; a process that misses it is killed, as is every process still alive when its [`Process`] is dropped.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use crate::change::Change;
use crate::sandbox::{self, Folder, Group, Usage};

/// Maximum length of a response line; a contender that prints more without a newline is treated as crashed.
const LONGEST_LINE: u64 = 1 << 20;
/// Maximum number of unread lines; a contender that prints more is blocked.
const QUEUE: usize = 16;
/// Maximum number of lines per request that are not responses.
const BANNERS: u32 = 10_000;
/// Maximum number of bytes on standard error over the life of a process.
const STDERR: usize = 4 << 20;
/// How often the driver checks the contender's resource usage while it waits.
const WATCH: Duration = Duration::from_millis(250);

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The contender does not offer the operation.
    Unsupported(String),
    /// The contender rejected the request or the input.
    Rejected(String),
    /// The process ended, or could not be started or communicated with.
    Crash(String),
    /// No response before the deadline; the process was killed.
    Timeout(Duration),
    /// The response contradicts the request or the expected output.
    Wrong(String),
    /// Its times are inconsistent. This is evidence but no proof, because runtimes compile code and collect garbage.
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

/// A contender's self-description.
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

/// The response to `prepare`.
#[derive(Clone, Copy, Debug)]
pub struct Prepared {
    /// Number of items read.
    pub items: u64,
    /// Whether the contender applies the change rule.
    pub changes: bool,
    /// CPU time that it used in nanoseconds, if measured.
    pub cpu: Option<u64>,
}

/// The response to `run`.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// Number of calls.
    pub n: u64,
    /// Seed of the changes.
    pub seed: u32,
    /// Time by the contender's clock in nanoseconds.
    pub ns: u64,
    /// Wrapping sum of the output words.
    pub acc: u64,
    /// Time by the driver's clock from request to response in nanoseconds.
    pub wall: u64,
    /// CPU time of all the contender's processes in nanoseconds, if measured.
    pub cpu: Option<u64>,
    /// Time that its threads and the driver's waited for a processor in nanoseconds, if measured.
    pub waited: Option<u64>,
}

/// The response to `alloc`: totals over `n` calls.
#[derive(Clone, Debug)]
pub struct Allocations {
    /// Number of calls.
    pub n: u64,
    /// Bytes allocated.
    pub bytes: Option<u64>,
    /// Number of allocations.
    pub count: Option<u64>,
    /// Peak number of bytes held at a time.
    pub peak: Option<u64>,
    /// Number of garbage collections.
    pub gc: Option<u64>,
    /// Time of each step in nanoseconds.
    pub steps: Vec<(String, u64)>,
}

enum Line {
    Text(String),
    End,
}

/// A running contender.
pub struct Process {
    // Fields are dropped in this order: all members end before their folder is removed.
    group: Group,
    child: Child,
    stdin: ChildStdin,
    /// When a line arrived, how long in nanoseconds its reader thread waited for a processor, and the line.
    lines: Receiver<(Instant, u64, Line)>,
    errors: Arc<Mutex<Errors>>,
    /// Private folder for this process's items, outputs and temporary files.
    folder: Folder,
    /// Number of lines skipped because they were not responses.
    pub banners: u64,
    /// Its self-description.
    pub description: Description,
    /// Whether it applies the change rule of the operation prepared last.
    pub changes: bool,
    /// The shortest empty round trip in nanoseconds, measured on first use.
    round_trip: Option<u64>,
    outputs: u32,
    /// Time in nanoseconds that the driver waited for a processor before it saw a response.
    late: u64,
}

/// Output of a process on standard error.
#[derive(Default)]
struct Errors {
    bytes: usize,
    last: Vec<u8>,
}

/// glibc adapts its thresholds to what a process has freed, so the same 300 kB are reused memory in one process and
/// come from the kernel page by page in another. These settings fix the thresholds for every contender.
const MALLOC: &str = "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=268435456";

/// Starts a program whose file was just written. A process that another thread forks meanwhile holds the file open for
/// writing until it runs its own program, and until then the kernel refuses to run the file.
fn spawn(command: &mut Command) -> io::Result<Child> {
    let start = Instant::now();
    loop {
        match command.spawn() {
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy
                    && start.elapsed() < Duration::from_secs(2) =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            started => return started,
        }
    }
}

impl Process {
    /// Starts `command` in `folder` and requests its description. Creates a private folder for its files in `work`.
    pub fn start(
        command: &[String],
        folder: &Path,
        env: &BTreeMap<String, String>,
        work: &Path,
        deadline: Duration,
    ) -> Result<Self, Failure> {
        let crash = |error: io::Error| Failure::Crash(error.to_string());
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
            // .NET would map its code twice through a file that exceeds every file size limit.
            .env("DOTNET_EnableWriteXorExecute", "0")
            .env("TMPDIR", &temporary)
            .envs(env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        sandbox::confine(&mut command);
        let mut child = spawn(&mut command)
            .map_err(|error| Failure::Crash(format!("{}: {error}", program.display())))?;
        let group = Group::new(child.id());
        let (stdin, stdout, stderr) =
            match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
                (Some(stdin), Some(stdout), Some(stderr)) => (stdin, stdout, stderr),
                _ => return Err(Failure::Crash("no pipes".into())),
            };
        let errors = Arc::new(Mutex::new(Errors::default()));
        let written = Arc::clone(&errors);
        thread::Builder::new()
            .name("contender errors".into())
            .spawn(move || drain(stderr, &written))
            .map_err(crash)?;
        let (sender, lines) = sync_channel(QUEUE);
        thread::Builder::new()
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

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the contender lists the operation.
    pub fn offers(&self, op: &str) -> bool {
        self.description.ops.iter().any(|name| name == op)
    }

    /// A file in the process's private folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Resources that all its processes have used so far.
    pub fn usage(&mut self) -> Option<Usage> {
        self.group.usage()
    }

    /// Loads the items of an operation, which `run` changes by the given rule.
    pub fn prepare(
        &mut self,
        op: &str,
        input: &Path,
        change: Change,
        deadline: Duration,
    ) -> Result<Prepared, Failure> {
        self.changes = false;
        let before = self.usage();
        let (answer, _) = self.ask(&prepare(op, input, change)?, deadline)?;
        let cpu = cpu(before, self.usage());
        let told = answer.get("changes").and_then(Value::as_bool);
        self.changes = !change.is_some() || told == Some(true);
        Ok(Prepared {
            items: field(&answer, "items")?,
            changes: self.changes,
            cpu,
        })
    }

    /// Requests the outputs of all items. Their total size is at most `limit` bytes, including length prefixes.
    pub fn verify(&mut self, limit: u64, deadline: Duration) -> Result<Vec<Vec<u8>>, Failure> {
        // A new name each time, so that no earlier output can be returned.
        self.outputs += 1;
        let output = self.file(&format!("out-{}.blobs", self.outputs));
        self.ask(&format!("verify {}", path(&output)?), deadline)?;
        let got = crate::blobs::read_foreign(&output, limit);
        let _ = std::fs::remove_file(output);
        got.map_err(|error| Failure::Wrong(format!("{error:#}")))
    }

    /// Runs a timed batch of `n` calls. Only checks that the response is plausible (`n` echoed, time possible), not the
    /// checksum.
    pub fn run(&mut self, n: u64, seed: u32, deadline: Duration) -> Result<Batch, Failure> {
        let before = self.usage();
        self.late = 0;
        let (answer, wall) = self.ask(&format!("run {n} {seed}"), deadline)?;
        let after = self.usage();
        let acc = checksum(&answer)
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

    /// Counts the allocations of `n` calls in a separate batch.
    pub fn alloc(&mut self, n: u64, seed: u32, deadline: Duration) -> Result<Allocations, Failure> {
        let (answer, _) = self.ask(&format!("alloc {n} {seed}"), deadline)?;
        let number = |name| answer.get(name).and_then(Value::as_u64);
        Ok(Allocations {
            n: field(&answer, "n")?,
            bytes: number("alloc_bytes"),
            count: number("allocs"),
            peak: number("peak_bytes"),
            gc: number("gc"),
            steps: answer
                .get("steps")
                .and_then(|steps| serde_json::from_value(steps.clone()).ok())
                .unwrap_or_default(),
        })
    }

    /// Runs an empty loop of `n` iterations; returns its time and the driver's time for the round trip, in nanoseconds.
    pub fn noop(&mut self, n: u64, deadline: Duration) -> Result<(u64, u64), Failure> {
        let (answer, wall) = self.ask(&format!("noop {n}"), deadline)?;
        Ok((field(&answer, "ns")?, wall))
    }

    /// The shortest of several empty round trips in nanoseconds: the driver's time minus the contender's. It is capped
    /// at `ROUND_TRIP`, so that a contender gains nothing by responding slowly. A contender may lack `noop`.
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

    /// Requests a garbage collection; a runtime without one may reject the request.
    pub fn collect(&mut self, deadline: Duration) -> Result<(), Failure> {
        match self.ask("gc", deadline) {
            Ok(_) | Err(Failure::Unsupported(_) | Failure::Rejected(_)) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Sends a request and waits for its response. The contender runs only during a request and is stopped before and
    /// after, so that it can neither work ahead nor disturb others.
    fn ask(&mut self, request: &str, deadline: Duration) -> Result<(Value, u64), Failure> {
        self.group.resume();
        let answer = self.answer(request, deadline);
        self.group.pause();
        answer
    }

    fn answer(&mut self, request: &str, deadline: Duration) -> Result<(Value, u64), Failure> {
        // Lines from before the request are not responses to it.
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
        // Nothing is read after this limit, which ends most programs.
        if let Some(flood) = self.flood() {
            self.kill();
            return flood;
        }
        // The pipe is closed: give the process a moment to end, so that its exit status can be reported.
        for _ in 0..50 {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    let text = self.last_words();
                    return Failure::Crash(format!("the process ended ({status}){text}"));
                }
                Ok(None) => thread::sleep(Duration::from_millis(2)),
                Err(error) => return Failure::Crash(error.to_string()),
            }
        }
        self.kill();
        Failure::Crash("the process closed its output or printed a line without end".into())
    }

    /// The last non-empty line on standard error.
    fn last_words(&self) -> String {
        let text = String::from_utf8_lossy(&self.errors().last).into_owned();
        match text.lines().rfind(|line| !line.trim().is_empty()) {
            Some(line) => format!(": {}", line.trim().chars().take(160).collect::<String>()),
            None => String::new(),
        }
    }

    fn kill(&mut self) {
        self.group.kill();
        // An error means that the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Maximum empty round trip that a contender is granted, in nanoseconds.
const ROUND_TRIP: u64 = 200_000;

impl Drop for Process {
    fn drop(&mut self) {
        self.group.resume();
        let _ = self.stdin.write_all(b"quit\n");
        for _ in 0..20 {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        self.kill();
    }
}

fn cpu(before: Option<Usage>, after: Option<Usage>) -> Option<u64> {
    let (before, after) = before.zip(after)?;
    Some(after.cpu.saturating_sub(before.cpu))
}

/// Time in nanoseconds that this thread has waited for a processor.
fn own_wait() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited = text.split(' ').nth(1).and_then(|word| word.parse().ok());
    waited.unwrap_or(0)
}

/// Reads standard error up to its end or the limit, and keeps the last part.
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

/// The checksum in the response to `run`.
pub fn checksum(answer: &Value) -> Option<u64> {
    let digits = answer.get("acc")?.as_str()?;
    u64::from_str_radix(digits, 16).ok()
}

/// Parses a response line; `None` means a banner.
pub fn parse(line: &str) -> Option<Result<Value, Failure>> {
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

/// The request that loads the items of an operation from a file.
pub fn prepare(op: &str, input: &Path, change: Change) -> Result<String, Failure> {
    Ok(format!("prepare {op} {} {change}", path(input)?))
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_program_starts_once_its_file_is_closed() {
        let program = std::env::temp_dir().join(format!("arena-busy-{}", std::process::id()));
        std::fs::copy("/bin/true", &program).unwrap();
        let writer = std::fs::File::options()
            .append(true)
            .open(&program)
            .unwrap();
        let closed = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            drop(writer);
        });
        let child = spawn(&mut Command::new(&program));
        closed.join().unwrap();
        std::fs::remove_file(&program).unwrap();
        assert!(child.unwrap().wait().unwrap().success());
    }
}
