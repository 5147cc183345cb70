//! Nanoseconds per Keccak-256 for each backend of this CPU, for one message and (per message) for batches of eight,
//! compared with two crates in portable Rust.
//!
//! `cargo run --release -p lydite-hash --example backends`

use std::hint::black_box;
use std::time::Instant;

use lydite_hash::keccak::Backend;
use sha3::Digest;
use tiny_keccak::Hasher;

const LENGTHS: [usize; 9] = [0, 1, 20, 32, 64, 135, 136, 300, 4096];

fn main() {
    let message: Vec<u8> = (0..4096u32).map(|i| (i * 37) as u8).collect();
    println!("| | {} |", LENGTHS.map(|l| format!("{l} B")).join(" | "));
    println!("|---|{}", "--:|".repeat(LENGTHS.len()));
    let line = |name: &str, hash: &dyn Fn(&[u8]), messages: usize| {
        let cells = LENGTHS.map(|length| nanoseconds(|| hash(black_box(&message[..length]))));
        let cells = cells.map(|time| format!("{:.0}", time / messages as f64));
        println!("| {name} | {} |", cells.join(" | "));
    };
    for backend in Backend::available() {
        let name = format!("{backend:?}");
        let name = name.split('(').next().unwrap_or_default();
        let alone = |data: &[u8]| {
            black_box(backend.keccak256(data));
        };
        line(name, &alone, 1);
        let batch = |data: &[u8]| {
            let mut out = [[0; 32]; 8];
            let _ = backend.keccak256_batch(&[data; 8], &mut out);
            black_box(out);
        };
        line(&format!("{name}, batch of 8"), &batch, 8);
    }
    let sha3 = |data: &[u8]| {
        black_box(sha3::Keccak256::digest(data));
    };
    line("sha3", &sha3, 1);
    let tiny = |data: &[u8]| {
        let mut hasher = tiny_keccak::Keccak::v256();
        let mut out = [0; 32];
        hasher.update(data);
        hasher.finalize(&mut out);
        black_box(out);
    };
    line("tiny-keccak", &tiny, 1);
}

/// The best of 40 batches.
fn nanoseconds(call: impl Fn()) -> f64 {
    let count = 1000;
    (0..40).fold(f64::MAX, |best, _| {
        let clock = Instant::now();
        for _ in 0..count {
            call();
        }
        best.min(clock.elapsed().as_nanos() as f64 / f64::from(count))
    })
}
