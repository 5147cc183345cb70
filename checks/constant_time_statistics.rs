//! Statistical test, similar to dudect, of whether the time of an operation depends on its secret; see
//! `docs/constant-time.md`. Run it on demand, on a quiet machine:
//! `cargo run --release -p lydite-checks --bin constant_time_statistics [SAMPLES]`.
//!
//! Each operation is timed many times, with one fixed key or a random one, generated anew for each sample. Welch's
//! t-test compares the two classes, on all samples and without the slowest ones. The test fails if |t| is above 4.5 in
//! three runs in a row, each with twice the samples of the previous one. As a control, a recovery, which is
//! variable-time, must be detected.
//!
//! Source: [DUDECT].

use std::{hint::black_box, process::ExitCode, time::Instant};

use lydite_curve::secp256k1::{
    PublicKey, SecretKey, Signature, public_key_batch, recover, sign_prehash_batch,
};

/// A timed operation on keys that differ only in their class.
type Operation<'a> = dyn Fn(&[SecretKey]) + 'a;

/// Above this |t|, the classes differ.
const LIMIT: f64 = 4.5;
/// Items in a batch.
const BATCH: usize = 8;

/// A keyed byte stream, good enough to generate keys and classes: xorshift64*.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn bytes(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for chunk in bytes.as_chunks_mut::<8>().0 {
            *chunk = self.word().to_le_bytes();
        }
        bytes
    }
}

/// Computes Welch's t of the samples up to a limit.
fn welch(samples: &[(bool, u64)], limit: u64) -> f64 {
    let mut moments = [(0.0, 0.0, 0.0); 2];
    for &(class, time) in samples.iter().filter(|(_, time)| *time <= limit) {
        let (count, mean, squares) = &mut moments[usize::from(class)];
        *count += 1.0;
        let delta = time as f64 - *mean;
        *mean += delta / *count;
        *squares += delta * (time as f64 - *mean);
    }
    let [(n0, mean0, squares0), (n1, mean1, squares1)] = moments;
    let error = squares0 / (n0 - 1.0) / n0 + squares1 / (n1 - 1.0) / n1;
    (mean0 - mean1) / error.sqrt()
}

/// Returns the t with the largest absolute value, with and without the slowest samples, of `operation` on the fixed
/// secret or a random one.
fn largest_t(
    samples: usize,
    fixed: &[u8; 32],
    random: &mut Random,
    operation: &Operation<'_>,
) -> f64 {
    let mut times = Vec::with_capacity(samples);
    while times.len() < samples {
        let class = random.word() >> 63 == 1;
        // Generated for both classes, so that both do the same work before the clock starts.
        let mut keys = Vec::with_capacity(BATCH);
        for _ in 0..BATCH {
            let drawn = random.bytes();
            keys.extend(SecretKey::from_bytes(if class { &drawn } else { fixed }));
        }
        if keys.len() < BATCH {
            continue;
        }
        let start = Instant::now();
        operation(black_box(&keys));
        times.push((class, start.elapsed().as_nanos() as u64));
    }
    let mut sorted: Vec<u64> = times.iter().map(|(_, time)| *time).collect();
    sorted.sort_unstable();
    let limits = [50, 75, 90, 99, 100].map(|percent| sorted[(samples * percent / 100).max(1) - 1]);
    limits
        .map(|limit| welch(&times, limit))
        .into_iter()
        .fold(
            0.0,
            |largest: f64, t| if t.abs() > largest.abs() { t } else { largest },
        )
}

/// Tests up to three times. Returns `true` if there is a difference each time.
fn differs(
    name: &str,
    mut samples: usize,
    fixed: &[u8; 32],
    random: &mut Random,
    operation: &Operation<'_>,
) -> bool {
    for _ in 0..3 {
        let t = largest_t(samples, fixed, random, operation);
        println!("{name:30} {samples:8} samples, t = {t:7.2}");
        if t.abs() <= LIMIT {
            return false;
        }
        samples *= 2;
    }
    true
}

fn main() -> ExitCode {
    let samples = std::env::args()
        .nth(1)
        .and_then(|count| count.parse().ok())
        .unwrap_or(20_000);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let hash = [0x5a; 32];
    let Ok(peer) = SecretKey::from_bytes(&[0x46; 32]).map(|key| key.public_key()) else {
        return ExitCode::FAILURE;
    };
    let mut one = [0; 32];
    one[31] = 1;
    let dense = [0xaa; 32];
    let operations: [(&str, &Operation<'_>); 5] = [
        ("public_key", &|keys| {
            black_box(keys[0].public_key());
        }),
        ("sign_prehash", &|keys| {
            black_box(keys[0].sign_prehash(&hash));
        }),
        ("diffie_hellman", &|keys| {
            black_box(keys[0].diffie_hellman(&peer));
        }),
        ("public_key_batch", &|keys| {
            let mut out = [PublicKey::GENERATOR; BATCH];
            black_box(public_key_batch(keys, &mut out)).ok();
            black_box(out);
        }),
        ("sign_prehash_batch", &|keys| {
            let mut out = [Signature::default(); BATCH];
            black_box(sign_prehash_batch(keys, &[hash; BATCH], &mut out)).ok();
            black_box(out);
        }),
    ];
    let mut good = true;
    for (name, operation) in operations {
        for (fixed_name, fixed) in [("1", &one), ("0xaa..aa", &dense)] {
            let leaks = differs(
                &format!("{name}, {fixed_name}"),
                samples,
                fixed,
                &mut random,
                operation,
            );
            if leaks {
                println!("{name}: the time depends on the secret");
            }
            good &= !leaks;
        }
    }
    // The control: the scalars of a recovery, which are made public first, must be detected.
    let recovery = |keys: &[SecretKey]| {
        let mut r = [0; 32];
        r.copy_from_slice(&keys[0].public_key().to_bytes()[..32]);
        black_box(recover(&hash, &Signature::new(r, dense, 0))).ok();
    };
    if !differs("control: recover", samples, &dense, &mut random, &recovery) {
        println!("the control was not found");
        good = false;
    }
    println!(
        "{}",
        if good {
            "no difference found"
        } else {
            "FAILED"
        }
    );
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
