//! A contender for the arena's own tests: it adds 256-bit numbers, rightly or with one fault of choice.
//!
//! `fake_contender FAULT`, where FAULT is one of the names in `main`.

use std::hint::black_box;
use std::io::{BufRead as _, Write as _};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use lydite_arena::blobs;

type Word = [u64; 4];

fn add(a: &Word, b: &Word) -> Word {
    let mut carry = 0u128;
    std::array::from_fn(|i| {
        carry += u128::from(a[i]) + u128::from(b[i]);
        let low = carry as u64;
        carry >>= 64;
        low
    })
}

fn words(bytes: &[u8]) -> Vec<Word> {
    let limb = |at: usize| {
        let mut limb = [0; 8];
        limb.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(limb)
    };
    (0..bytes.len() / 32)
        .map(|i| std::array::from_fn(|j| limb(32 * i + 8 * j)))
        .collect()
}

/// All sums of an item, with some fixed extra work to make a slow operation of it.
fn call(item: &[Word], work: u32) -> Vec<Word> {
    let mut x = black_box(1u64);
    for _ in 0..work {
        x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
    black_box(x);
    item.chunks(2)
        .map(|pair| add(black_box(&pair[0]), black_box(&pair[1])))
        .collect()
}

fn main() -> anyhow::Result<()> {
    let fault = std::env::args().nth(1).unwrap_or_default();
    let is = |name: &str| fault == name;
    // About 3 µs a call; a twentieth more for the one that is slow on purpose.
    let work = if is("slow") { 2105 } else { 2000 };
    let mut items: Vec<Vec<Word>> = Vec::new();
    let (mut runs, mut negative) = (0u32, false);
    let mut memory: Vec<(Vec<Word>, Vec<Word>)> = Vec::new();
    let mut stdout = std::io::stdout();
    if is("banners") {
        println!(
            "Welcome to the runtime!\n{{\"json\": \"but no answer\"}}\n\n\u{1b}[31mwarning\u{1b}[0m"
        );
    }
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let request: Vec<&str> = line.split(' ').collect();
        let number = || {
            request
                .get(1)
                .and_then(|word| word.parse::<u64>().ok())
                .unwrap_or(0)
        };
        let answer = match request[0] {
            "describe" if is("dies_at_start") => std::process::exit(3),
            "describe" => r#""name":"fake","version":"1","runtime":"test","ops":["u256_add","u256_add_varied","neg:rlp_decode_u256"],"threads":1"#.to_owned(),
            "prepare" if is("refuses") => r#""err":"rejected","msg":"no""#.to_owned(),
            "prepare" => {
                negative = request[1].starts_with("neg:");
                items = blobs::read(request[2].as_ref())?.iter().map(|item| words(item)).collect();
                if is("skips") {
                    items.truncate(items.len().div_ceil(2));
                    format!("\"ok\":true,\"items\":{}", items.len() * 2)
                } else {
                    format!("\"ok\":true,\"items\":{}", items.len())
                }
            }
            "verify" => {
                // Malformed items are not to be added up.
                let sums = if negative { &[][..] } else { &items[..] };
                let mut outputs: Vec<Vec<u8>> = sums
                    .iter()
                    .map(|item| call(item, 0).as_flattened().iter().flat_map(|limb| limb.to_le_bytes()).collect())
                    .collect();
                if is("wrong_byte")
                    && let Some(byte) = outputs.last_mut().and_then(|output| output.last_mut())
                {
                    *byte ^= 1;
                }
                if is("no_output") {
                    outputs.clear();
                }
                if negative {
                    outputs = vec![vec![1]; items.len()];
                    match fault.as_str() {
                        // The last one passes for good.
                        "lax" => *outputs.last_mut().context("no items")? = vec![0],
                        "mumbles" => *outputs.last_mut().context("no items")? = vec![2],
                        _ => {}
                    }
                }
                blobs::write(request[1].as_ref(), &outputs)?;
                "\"ok\":true".to_owned()
            }
            "run" => {
                runs += 1;
                match fault.as_str() {
                    "crashes" => std::process::exit(101),
                    "dies_half_way" if runs > 40 => std::process::abort(),
                    "hangs" => std::thread::sleep(Duration::from_secs(3600)),
                    "closes_output" => {
                        println!("{{\"arena\":1,\"n\":");
                        return Ok(());
                    }
                    _ => {}
                }
                let n = number();
                let start = Instant::now();
                let mut sum = 0u64;
                let mut last: Option<Vec<Word>> = None;
                for k in 0..n {
                    let item = &items[(k % items.len() as u64) as usize];
                    let out = match &last {
                        // The first answer for everything.
                        Some(out) if is("repeats_itself") => out.clone(),
                        // Half the work.
                        _ if is("skips_work") && k % 2 == 1 => Vec::new(),
                        // The last question's answer, if it is asked again.
                        _ if is("remembers_last") => match memory.last() {
                            Some((seen, out)) if seen == item => out.clone(),
                            _ => {
                                let out = call(item, 100_000);
                                memory = vec![(item.clone(), out.clone())];
                                out
                            }
                        },
                        // A table of all it has ever seen.
                        _ if is("remembers") => match memory.iter().find(|(seen, _)| seen == item) {
                            Some((_, out)) => out.clone(),
                            None => {
                                let out = call(item, 100_000);
                                memory.push((item.clone(), out.clone()));
                                out
                            }
                        },
                        _ => call(item, work),
                    };
                    sum = out.as_flattened().iter().fold(sum, |sum, limb| sum.wrapping_add(*limb));
                    last = Some(out);
                }
                let mut ns = start.elapsed().as_nanos() as u64;
                match fault.as_str() {
                    "fast_clock" => ns /= 3,
                    "slow_clock" => ns = ns * 3 + 1_000_000_000,
                    "no_time" => ns = 0,
                    _ => {}
                }
                let told = if is("other_n") { n / 2 + 1 } else { n };
                format!("\"n\":{told},\"ns\":{ns},\"acc\":\"{sum:016x}\"")
            }
            "alloc" => format!("\"n\":{},\"alloc_bytes\":{},\"allocs\":{}", number(), number() * 2048, number()),
            "noop" => format!("\"n\":{},\"ns\":1000", number()),
            "gc" => "\"ok\":true".to_owned(),
            "quit" => return Ok(()),
            _ => r#""err":"unsupported","msg":"no such request""#.to_owned(),
        };
        if is("banners") {
            println!("[debug] about to answer {}", request[0]);
        }
        writeln!(stdout, "{{\"arena\":1,{answer}}}")?;
        stdout.flush()?;
    }
    Ok(())
}
