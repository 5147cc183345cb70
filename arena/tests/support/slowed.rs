//! A real slowdown for the arena's own tests: runs another contender, and after each batch keeps working for a share of
//! its time before it forwards the response.
//!
//! `arena-slowed PERCENT PROGRAM ARGS...`

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::Value;

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(percent), Some(program)) = (args.next(), args.next()) else {
        bail!("expected PERCENT PROGRAM ARGS...");
    };
    let share = percent.parse::<f64>().context("PERCENT")? / 100.0;
    let mut child = Command::new(&program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| program.clone())?;
    let mut requests = child.stdin.take().context("no pipe")?;
    let mut answers = BufReader::new(child.stdout.take().context("no pipe")?).lines();
    for request in std::io::stdin().lock().lines() {
        let request = request?;
        writeln!(requests, "{request}")?;
        if request == "quit" {
            break;
        }
        for line in &mut answers {
            let received = Instant::now();
            let mut line = line?;
            let answer = serde_json::from_str::<Value>(&line).ok();
            let answer = answer.filter(|answer| answer.get("arena").is_some());
            if let Some(mut answer) = answer.clone().filter(|_| request.starts_with("run "))
                && let Some(ns) = answer.get("ns").and_then(Value::as_u64)
            {
                let more = Duration::from_nanos((ns as f64 * share) as u64);
                while received.elapsed() < more {
                    std::hint::spin_loop();
                }
                answer["ns"] = Value::from(ns + more.as_nanos() as u64);
                line = answer.to_string();
            }
            println!("{line}");
            if answer.is_some() {
                break;
            }
        }
    }
    child.wait()?;
    Ok(())
}
