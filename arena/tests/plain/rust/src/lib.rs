//! Compares the times of an arena contender with a plain loop over the same items.
//!
//! Loop and contender alternate, so that drift of the machine's speed affects both; the fastest turn of each counts.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::Instant;

/// Number of turns of each side.
const TURNS: usize = 15;
/// Duration of a turn in nanoseconds.
const TURN: f64 = 20e6;
/// Maximum relative difference of the times.
const BOUND: f64 = 0.05;
/// How often a contender is started at most, until the times agree.
const STARTS: usize = 4;

/// A row: items in their wire form, and a loop over the same items.
pub struct Row {
    /// Its id.
    pub id: &'static str,
    /// The rule by which its items change.
    pub rule: &'static str,
    /// The items.
    pub items: Vec<Vec<u8>>,
    /// Processes every item once.
    pub pass: Box<dyn FnMut()>,
}

/// A row whose loop calls `call` on each parsed value and passes the result to `black_box`.
pub fn row<T: 'static, R: 'static>(
    id: &'static str,
    rule: &'static str,
    items: Vec<Vec<u8>>,
    values: Vec<T>,
    call: impl Fn(&T) -> R + 'static,
) -> Row {
    let pass = move || {
        for value in &values {
            black_box(call(black_box(value)));
        }
    };
    Row {
        id,
        rule,
        items,
        pass: Box::new(pass),
    }
}

/// Reads an output word by word, as the arena and users do.
pub fn read(output: &[u8]) -> u64 {
    let (words, _) = output.as_chunks::<8>();
    words.iter().fold(0, |mix: u64, word| {
        mix.rotate_left(1) ^ u64::from_le_bytes(*word)
    })
}

/// Reproducible random bytes: xorshift64* (Vigna 2016).
pub struct Random(u64);

impl Random {
    /// The sequence of a seed, which must not be zero.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// `N` random bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| (self.word() >> 56) as u8)
    }

    /// A random secp256k1 secret key, which is always below the group order.
    pub fn key(&mut self) -> [u8; 32] {
        let mut key = self.bytes();
        key[0] &= 0x7f;
        key
    }
}

/// A contender's process.
struct Contender {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Contender {
    fn start(command: &[String]) -> Result<Self, Box<dyn Error>> {
        let (program, arguments) = command
            .split_first()
            .ok_or("expected a contender's program as the first argument, found none")?;
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{program}: {error}"))?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (input, output) = pipes.ok_or("the contender has no pipes")?;
        Ok(Self {
            process,
            input,
            output: BufReader::new(output),
        })
    }

    fn ask(&mut self, line: &str) -> Result<String, Box<dyn Error>> {
        writeln!(self.input, "{line}")?;
        let mut reply = String::new();
        self.output.read_line(&mut reply)?;
        if reply.contains("\"err\"") || reply.is_empty() {
            return Err(format!("{line}: {reply:?}").into());
        }
        Ok(reply)
    }

    /// Runs calls; returns their time in nanoseconds.
    fn run(&mut self, calls: u64, seed: usize) -> Result<f64, Box<dyn Error>> {
        let reply = self.ask(&format!("run {calls} {seed}"))?;
        let (_, rest) = reply.split_once("\"ns\":").ok_or("the reply has no time")?;
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
        Ok(digits.unwrap_or_default().parse()?)
    }
}

/// A file of items, removed on drop.
struct Items(PathBuf);

impl Items {
    fn new(items: &[Vec<u8>]) -> Result<Self, Box<dyn Error>> {
        let path = std::env::temp_dir().join(format!("arena-plain-{}.blobs", std::process::id()));
        let mut file = Vec::new();
        for item in items {
            file.extend((item.len() as u32).to_le_bytes());
            file.extend(item);
        }
        fs::write(&path, file)?;
        Ok(Self(path))
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Time of `count` passes over the items in nanoseconds.
fn passes(row: &mut Row, count: u64) -> f64 {
    let start = Instant::now();
    for _ in 0..count {
        (row.pass)();
    }
    start.elapsed().as_nanos() as f64
}

/// The fastest times for one item: of the loop, the contender, and the contender with changing items.
fn measure(row: &mut Row, contender: &mut Contender) -> Result<[f64; 3], Box<dyn Error>> {
    let items = Items::new(&row.items)?;
    let path = items.0.display();
    let once = passes(row, 1).min(passes(row, 1)).max(1.0);
    let count = (TURN / once).ceil().max(1.0) as u64;
    let calls = count * row.items.len() as u64;
    let mut best = [f64::INFINITY; 3];
    for turn in 0..TURNS {
        contender.ask(&format!("prepare {} {path} none", row.id))?;
        let plain = passes(row, count);
        let fixed = contender.run(calls, turn)?;
        contender.ask(&format!("prepare {} {path} {}", row.id, row.rule))?;
        let changed = contender.run(calls, turn)?;
        for (best, time) in best.iter_mut().zip([plain, fixed, changed]) {
            *best = best.min(time / calls as f64);
        }
    }
    Ok(best)
}

fn compare(rows: Vec<Row>) -> Result<bool, Box<dyn Error>> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    let mut agree = true;
    println!(
        "{:32} {:>10} {:>10} {:>7} {:>10}",
        "row, ns a call", "loop", "arena", "ratio", "changed"
    );
    for mut row in rows {
        let mut best = [f64::INFINITY; 3];
        for _ in 0..STARTS {
            let mut contender = Contender::start(&command)?;
            for (best, time) in best.iter_mut().zip(measure(&mut row, &mut contender)?) {
                *best = best.min(time);
            }
            writeln!(contender.input, "quit")?;
            contender.process.wait()?;
            if (best[1] / best[0] - 1.0).abs() <= BOUND {
                break;
            }
        }
        let [plain, arena, changed] = best;
        let ratio = arena / plain;
        let slow = ratio > 1.0 + BOUND;
        agree &= !slow;
        println!(
            "{:32} {plain:10.1} {arena:10.1} {ratio:7.3} {changed:10.1}{}",
            row.id,
            if slow {
                "  THE ADAPTER SLOWS ITS PEER"
            } else {
                ""
            }
        );
    }
    Ok(agree)
}

/// Compares the contender given by the arguments with the loops; fails if the contender is more than 5 % slower on a row.
pub fn main(rows: Vec<Row>) -> ExitCode {
    match compare(rows) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
