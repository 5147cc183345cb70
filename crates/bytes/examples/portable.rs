//! Nanoseconds a call of hexadecimal in portable Rust, ours beside the crates that have such code, all into memory at hand.
//!
//! `RUSTFLAGS='--cfg lydite_backend="portable"' cargo run --release -p lydite-bytes --example portable`; without the flag the
//! line of ours is the kernels of this CPU.

use std::hint::black_box;
use std::time::Instant;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};

const LENGTHS: [usize; 4] = [20, 32, 1 << 10, 1 << 20];

/// Input, its digits, room for the result.
type Call = fn(&[u8], &[u8], &mut [u8]);

fn main() {
    let calls: [(&str, Call, Call); 4] = [
        (
            "lydite",
            |bytes, _, out| {
                let _ = lydite_bytes::hex::encode_to_slice(bytes, out);
            },
            |_, text, out| {
                let _ = lydite_bytes::hex::decode_to_slice(text, out);
            },
        ),
        (
            "hex 0.4",
            |bytes, _, out| {
                let _ = hex::encode_to_slice(bytes, out);
            },
            |_, text, out| {
                let _ = hex::decode_to_slice(text, out);
            },
        ),
        (
            "const-hex 1.19, force-generic",
            |bytes, _, out| {
                let _ = const_hex::encode_to_slice(bytes, out);
            },
            |_, text, out| {
                let _ = const_hex::decode_to_slice(text, out);
            },
        ),
        (
            "data-encoding 2",
            |bytes, _, out| HEXLOWER.encode_mut(bytes, out),
            |_, text, out| {
                let _ = HEXLOWER_PERMISSIVE.decode_mut(text, out);
            },
        ),
    ];
    let bytes: Vec<u8> = (0..1usize << 20).map(|i| ((i * 181) >> 3) as u8).collect();
    let text = lydite_bytes::hex::encode(&bytes);
    let header = LENGTHS.map(|length| format!("encode {length} B | decode"));
    println!(
        "| | {} |\n|---{}|",
        header.join(" | "),
        "|--:|--:".repeat(LENGTHS.len())
    );
    for (name, encode, decode) in calls {
        print!("| {name} |");
        for length in LENGTHS {
            let (bytes, text) = (&bytes[..length], &text.as_bytes()[..2 * length]);
            for (call, size) in [(encode, 2 * length), (decode, length)] {
                let mut out = vec![0; size];
                let time = nanoseconds(length, || {
                    call(black_box(bytes), black_box(text), black_box(&mut out));
                });
                print!(" {time:.1} |");
            }
        }
        println!();
    }
}

/// The best of 40 batches of about 40 KB of input.
fn nanoseconds(length: usize, mut call: impl FnMut()) -> f64 {
    let count = (40_000 / length).max(1);
    (0..40).fold(f64::MAX, |best, _| {
        let clock = Instant::now();
        for _ in 0..count {
            call();
        }
        best.min(clock.elapsed().as_nanos() as f64 / count as f64)
    })
}
