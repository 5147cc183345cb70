//! A contender for the arena's own tests: honest, or with a selected fault or cheat.
//!
//! `contender [MODE [FOLDER]]`; the modes are the strings compared with `is`. It adds 256-bit numbers and decodes RLP
//! integers.

use std::collections::HashMap;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use lydite_arena::blobs;
use lydite_arena::change::{Change, Words};
use lydite_arena::family;
use lydite_arena::kernel::{Ethereum, Kernel};
use lydite_arena::ops::{Op, catalogue};
use lydite_arena::truth::word_sum;
use lydite_arena::wire::Reader;

/// A fixed amount of extra work, to slow down an operation.
fn work(steps: u32) {
    let mut x = black_box(1u64);
    for _ in 0..steps {
        x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
    black_box(x);
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// The sums of all pairs of an item.
fn add(item: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(item.len() / 2);
    for pair in item.chunks(64) {
        let mut carry = 0u128;
        for i in 0..4 {
            let limb = |at: usize| {
                let mut limb = [0; 8];
                limb.copy_from_slice(&pair[at + 8 * i..at + 8 * i + 8]);
                u128::from(u64::from_le_bytes(limb))
            };
            carry += limb(0) + limb(32);
            out.extend((carry as u64).to_le_bytes());
            carry >>= 64;
        }
    }
    out
}

/// Decodes an integer from its RLP item; accepts only canonical items if `strict`.
fn integer(data: &[u8], strict: bool) -> Option<[u8; 32]> {
    let (first, rest) = match data.split_first() {
        None if !strict => return Some([0; 32]),
        first => first?,
    };
    let digits = match *first {
        byte @ 0..0x80 if rest.is_empty() && (byte != 0 || !strict) => &data[..1],
        head @ 0x80..=0xa0 if rest.len() == usize::from(head - 0x80) => rest,
        _ if !strict => &rest[..rest.len().min(32)],
        _ => return None,
    };
    let short = *first != data.len() as u8 && matches!(digits, [0..0x80]) && !rest.is_empty();
    if strict && (digits.first() == Some(&0) || short) {
        return None;
    }
    let mut out = [0; 32];
    for (out, digit) in out.iter_mut().zip(digits.iter().rev()) {
        *out = *digit;
    }
    Some(out)
}

struct Contender {
    mode: String,
    folder: PathBuf,
    op: String,
    items: Vec<Vec<u8>>,
    change: Change,
    /// The results that a cheat computed in `prepare`.
    sums: Vec<u64>,
    honest: Duration,
    memory: HashMap<Vec<u8>, u64>,
    examined: bool,
    runs: u32,
    /// The number of processes of this contender so far, if its folder is known.
    started: u64,
    twin: Option<Child>,
}

impl Contender {
    fn is(&self, mode: &str) -> bool {
        self.mode == mode
    }

    /// About 6 µs per call; more for the deliberately slow ones.
    fn steps(&self) -> u32 {
        match self.mode.as_str() {
            "half" => 8400,
            "tenth" => 40_000,
            // So much work that a table lookup is negligible.
            mode if mode.starts_with("remembers") && !self.change.is_some() => 40_000,
            _ => 4000,
        }
    }

    /// A row with items in the format of the current ones, and the current change rule.
    fn row(&self) -> Op {
        let kernel = match self.op.starts_with("rlp") {
            true => Ethereum::RlpDecodeU256,
            false => Ethereum::U256Add,
        };
        let mut rows = catalogue().iter();
        let found = rows.find(|op| op.kernel == Kernel::Ethereum(kernel) && op.ops_per_call == 64);
        let mut row = found.cloned().unwrap_or_else(|| unreachable!("{kernel:?}"));
        row.change = self.change;
        row
    }

    fn output(&self, item: &[u8], strict: bool) -> Result<Vec<u8>> {
        if !self.op.starts_with("rlp") {
            return Ok(add(item));
        }
        let (mut reader, mut out) = (Reader(item), Vec::new());
        while !reader.0.is_empty() {
            out.extend(integer(reader.lp()?, strict).context("rejected")?);
        }
        Ok(out)
    }

    fn sum(&self, item: &[u8]) -> u64 {
        work(self.steps());
        word_sum(&self.output(black_box(item), false).unwrap_or_default())
    }

    fn prepare(&mut self, request: &[&str]) -> Result<String> {
        self.op = request[1].to_owned();
        self.items = blobs::read(request[2].as_ref())?;
        let rule: Change = request.get(3).unwrap_or(&"none").parse()?;
        self.change = rule;
        self.sums.clear();
        let ahead = ["compute_half", "compute_tenth", "compute_nothing"];
        if ahead.contains(&self.mode.as_str()) || self.is("honest_if_examined") && !self.examined {
            let start = Instant::now();
            self.sums = self.items.iter().map(|item| self.sum(item)).collect();
            self.honest = start.elapsed() / self.items.len() as u32;
        }
        if let Some(twin) = &mut self.twin {
            ask(twin, &request.join(" "))?;
        }
        let changes = !self.is("unchanging");
        if !changes {
            self.change = Change::None;
        }
        let mut items = self.items.len();
        if self.is("skips") {
            self.items.truncate(items.div_ceil(2));
            items = self.items.len() * 2;
        }
        Ok(format!(
            "\"ok\":true,\"items\":{items},\"changes\":{changes}"
        ))
    }

    fn verify(&mut self, path: &Path) -> Result<String> {
        self.examined = true;
        match self.mode.as_str() {
            "fifo" => {
                Command::new("mkfifo").arg(path).status()?;
                return Ok("\"ok\":true".into());
            }
            #[cfg(unix)]
            "link" => {
                std::os::unix::fs::symlink("/dev/zero", path)?;
                return Ok("\"ok\":true".into());
            }
            "sparse" => {
                std::fs::File::create(path)?.set_len(1 << 29)?;
                return Ok("\"ok\":true".into());
            }
            _ => {}
        }
        let mut outputs = Vec::new();
        if self.op.starts_with("neg:") {
            outputs = vec![vec![1]; self.items.len()];
            let last = outputs.last_mut().context("no items")?;
            match self.mode.as_str() {
                // Accepts the last malformed input.
                "lax" => *last = vec![0],
                "mumbles" => *last = vec![2],
                _ => {}
            }
        } else {
            for (index, item) in self.items.iter().enumerate() {
                match self.output(item, !self.is("no_checks")) {
                    Ok(output) => outputs.push(output),
                    Err(_) => return Ok(format!("\"err\":\"rejected\",\"msg\":\"item {index}\"")),
                }
            }
        }
        if self.is("wrong_byte")
            && let Some(byte) = outputs.last_mut().and_then(|output| output.last_mut())
        {
            *byte ^= 1;
        }
        if self.is("no_output") {
            outputs.clear();
        }
        blobs::write(path, &outputs)?;
        Ok("\"ok\":true".into())
    }

    /// Makes the calls `from..to` of a batch.
    fn calls(&self, from: u64, to: u64, seed: u32) -> Result<u64> {
        let mut words = Words::new(seed).skip(from as usize);
        let mut items = self.items.clone();
        let mut sum = 0u64;
        let row = self.row();
        for k in from..to {
            let at = (k % items.len() as u64) as usize;
            let x = words.next().unwrap_or_default();
            family::change(&row, &mut items[at], x)?;
            sum = sum.wrapping_add(self.sum(&items[at]));
            // A tenth of the calls a second time: 10 % more time on every CPU.
            if self.is("slow") && k % 10 == 9 {
                black_box(self.sum(&items[at]));
            }
        }
        Ok(sum)
    }

    /// Like [`Self::calls`], with a table of results.
    fn remembered(&mut self, n: u64, seed: u32) -> Result<u64> {
        if self.is("remembers_in_batch") {
            self.memory.clear();
        }
        let (mut sum, row) = (0u64, self.row());
        for (k, x) in (0..n).zip(Words::new(seed)) {
            let at = (k % self.items.len() as u64) as usize;
            let mut item = self.items[at].clone();
            family::change(&row, &mut item, x)?;
            let known = self.memory.get(&item).copied();
            let found = known.unwrap_or_else(|| self.sum(&item));
            if self.is("remembers_last") {
                self.memory.clear();
            }
            if self.memory.len() < 100_000 {
                self.memory.insert(item, found);
            }
            sum = sum.wrapping_add(found);
        }
        Ok(sum)
    }

    fn run(&mut self, n: u64, seed: u32) -> Result<String> {
        self.runs += 1;
        let start = Instant::now();
        match self.mode.as_str() {
            "crashes" => std::process::exit(101),
            // Its third process is that of the second launch, after the check and one launch with results.
            "dies_half_way" if self.started > 2 && self.change.is_some() => std::process::abort(),
            "hangs" => std::thread::sleep(Duration::from_secs(3600)),
            "endless_lines" => loop {
                println!("no answer");
            },
            "endless_errors" => loop {
                eprintln!("no answer");
            },
            "closes_output" => {
                println!("{{\"arena\":1,\"n\":");
                std::process::exit(0);
            }
            "answers_early" => println!("{{\"arena\":1,\"n\":{n},\"ns\":1,\"acc\":\"0\"}}"),
            "vandal" => vandalise(&std::env::temp_dir().join("../.."))?,
            "burner" if self.runs == 1 => {
                let script = "echo $$ >> \"$0\"; while :; do :; done";
                let pids = self.folder.join("burners");
                for command in [&["sh"][..], &["setsid", "sh"]] {
                    let mut command = Command::new(command[0])
                        .args(&command[1..])
                        .arg("-c")
                        .arg(script)
                        .arg(&pids)
                        .stdin(Stdio::null())
                        .stdout(Stdio::null())
                        .spawn()?;
                    drop(command.try_wait());
                }
            }
            _ => {}
        }
        let per_item = |sums: &[u64]| {
            (0..n).fold(0u64, |sum, k| {
                sum.wrapping_add(sums[(k % sums.len() as u64) as usize])
            })
        };
        let sum = match self.mode.as_str() {
            "compute_half" | "compute_tenth" | "compute_nothing" | "honest_if_examined"
                if !self.sums.is_empty() =>
            {
                let share = match self.mode.as_str() {
                    "compute_tenth" => 0.1,
                    "compute_nothing" => 0.0,
                    _ => 0.5,
                };
                let sum = per_item(&self.sums);
                spin(
                    self.honest
                        .mul_f64(n as f64 * share)
                        .saturating_sub(start.elapsed()),
                );
                sum
            }
            "remembers" | "remembers_in_batch" | "remembers_last" => self.remembered(n, seed)?,
            "two_threads" => {
                let own = &*self;
                std::thread::scope(|scope| {
                    let second = scope.spawn(move || own.calls(n / 2, n, seed));
                    let first = own.calls(0, n / 2, seed)?;
                    let second = second.join().ok().context("thread")??;
                    anyhow::Ok(first.wrapping_add(second))
                })?
            }
            "two_processes" => {
                let twin = self.twin.as_mut().context("twin")?;
                send(twin, &format!("run {n} {seed}"))?;
                let sum = self.calls(0, n, seed)?;
                receive(self.twin.as_mut().context("twin")?)?;
                sum
            }
            // Does half of the work.
            "skips_work" => self.calls(0, n / 2, seed)?,
            _ => self.calls(0, n, seed)?,
        };
        let mut ns = start.elapsed().as_nanos() as u64;
        match self.mode.as_str() {
            "clock_80" => ns = ns * 80 / 100,
            "clock_72" => ns = ns * 72 / 100,
            "clock_short" if ns < 12_000_000 => ns /= 2,
            "fast_clock" => ns /= 3,
            "slow_clock" => ns = ns * 3 + 1_000_000_000,
            "no_time" => ns = 0,
            _ => {}
        }
        let told = if self.is("other_n") { n / 2 + 1 } else { n };
        Ok(format!("\"n\":{told},\"ns\":{ns},\"acc\":\"{sum:016x}\""))
    }
}

fn send(child: &mut Child, line: &str) -> Result<()> {
    writeln!(child.stdin.as_mut().context("stdin")?, "{line}")?;
    Ok(())
}

fn receive(child: &mut Child) -> Result<String> {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().context("stdout")?).read_line(&mut line)?;
    Ok(line)
}

fn ask(child: &mut Child, line: &str) -> Result<String> {
    send(child, line)?;
    receive(child)
}

/// Overwrites all items of all contenders.
fn vandalise(folder: &Path) -> Result<()> {
    for entry in std::fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            // Some are not accessible or no longer exist.
            let _ = vandalise(&path);
        } else if path.extension().is_some_and(|ending| ending == "blobs") {
            let _ = std::fs::remove_file(&path);
            let _ = std::fs::write(&path, b"no items");
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let folder: PathBuf = arguments.next().unwrap_or_default().into();
    let mut started = 0;
    if mode == "dies_half_way" {
        let mut file = std::fs::File::options()
            .append(true)
            .create(true)
            .open(folder.join("started"))?;
        file.write_all(b"\n")?;
        started = file.metadata()?.len();
    }
    let mut twin = None;
    if mode == "two_processes" {
        let own = std::env::current_exe()?;
        let started = Command::new(own)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        twin = Some(started);
    }
    let mut contender = Contender {
        mode,
        folder,
        op: String::new(),
        items: Vec::new(),
        change: Change::None,
        sums: Vec::new(),
        honest: Duration::ZERO,
        memory: HashMap::new(),
        examined: false,
        runs: 0,
        started,
        twin,
    };
    if contender.is("banners") {
        println!(
            "Welcome to the runtime!\n{{\"json\": \"but no answer\"}}\n\n\u{1b}[31mwarning\u{1b}[0m"
        );
    }
    let program = std::env::current_exe()?.display().to_string();
    let mut stdout = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let request: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| {
            request
                .get(at)
                .and_then(|word| word.parse::<u64>().ok())
                .unwrap_or(0)
        };
        let answer = match request[0] {
            "describe" if contender.is("dies_at_start") => std::process::exit(3),
            "describe" => {
                let negative = if contender.is("no_negatives") {
                    ""
                } else {
                    ",\"neg:rlp_decode_u256\""
                };
                format!(
                    "\"name\":\"fake\",\"version\":\"1\",\"runtime\":{program:?},\"ops\":[\"u256_add\",\"rlp_decode_u256\"{negative}],\"threads\":1"
                )
            }
            "prepare" if contender.is("refuses") => r#""err":"rejected","msg":"no""#.to_owned(),
            "prepare" => contender.prepare(&request)?,
            "verify" => contender.verify(request[1].as_ref())?,
            "run" => contender.run(number(1), number(2) as u32)?,
            "alloc" if contender.is("tells_nothing") => format!("\"n\":{}", number(1)),
            "alloc" => {
                let n = number(1);
                let count = if contender.is("no_allocation") {
                    0
                } else {
                    64 * n
                };
                format!(
                    "\"n\":{n},\"alloc_bytes\":{},\"allocs\":{count}",
                    32 * count
                )
            }
            "noop" => format!("\"n\":{},\"ns\":1000", number(1)),
            "gc" => "\"ok\":true".to_owned(),
            "quit" => return Ok(()),
            _ => r#""err":"unsupported","msg":"no such request""#.to_owned(),
        };
        if contender.is("banners") {
            println!("[debug] about to answer {}", request[0]);
        }
        writeln!(stdout, "{{\"arena\":1,{answer}}}")?;
        stdout.flush()?;
    }
    Ok(())
}
