//! Nanoseconds per call by input length, which the arena's single-length rows do not show: hot and aligned to a cache
//! line, hot and unaligned, and cold (each input is read for the first time since it left the caches).
//!
//! `cargo run --release -p lydite-bytes --example lengths`

use std::hint::black_box;
use std::time::Instant;

use lydite_bytes::hex;
use lydite_hash::keccak256;

/// Distance between inputs of the cold column, which are visited in an order that prefetchers do not predict.
const STRIDE: usize = 4096 + 64;
const PLACES: usize = 1 << 14;

/// A prime, so that steps of this size reach all positions: 2^14 has no prime factor other than 2.
const WALK: usize = 6151;

type Call = fn(&[u8], &mut [u8]);

fn main() {
    // Digits, so that all functions can read them.
    let memory: Vec<u8> = (0..PLACES * STRIDE + 1024)
        .map(|i| b"0123456789abcdef"[(i ^ i >> 4 ^ i >> 9) % 16])
        .collect();
    let calls: [(&str, Call); 3] = [
        ("keccak256", |input, out| {
            out[..32].copy_from_slice(&keccak256(input));
        }),
        ("hex encode", |input, out| {
            let _ = hex::encode_to_slice(input, &mut out[..2 * input.len()]);
        }),
        ("hex decode", |input, out| {
            let _ =
                hex::decode_to_slice(&input[..input.len() / 2 * 2], &mut out[..input.len() / 2]);
        }),
    ];
    println!(
        "| bytes of input | {} |",
        calls
            .map(|(name, _)| format!("{name}: hot | unaligned | cold"))
            .join(" | ")
    );
    println!("|--:|{}", "--:|".repeat(9));
    let aligned = memory.as_ptr().align_offset(64);
    for length in (0..=300).step_by(20).chain([135, 136, 137]) {
        print!("| {length} |");
        for (_, call) in calls {
            let mut out = [0; 640];
            for (start, places) in [(aligned, 1), (aligned + 61, 1), (aligned, PLACES)] {
                let mut best = f64::MAX;
                for _ in 0..15 {
                    let (mut place, count) = (0, 4000);
                    let clock = Instant::now();
                    for _ in 0..count {
                        place = (place + WALK) % places;
                        let input = &memory[start + place * STRIDE..][..length];
                        call(black_box(input), black_box(&mut out));
                    }
                    best = best.min(clock.elapsed().as_nanos() as f64 / f64::from(count));
                }
                print!(" {best:.1} |");
            }
        }
        println!();
    }
}
