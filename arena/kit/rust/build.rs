//! Tells the kit which compiler builds it.

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("--version").output();
    let version = output
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_default();
    // "rustc 1.95.0 (f2d3ce0bd 2026-03-21)": the first two words.
    let short: Vec<&str> = version.split_whitespace().take(2).collect();
    println!("cargo::rustc-env=ARENA_KIT_RUSTC={}", short.join(" "));
    println!("cargo::rerun-if-changed=build.rs");
}
