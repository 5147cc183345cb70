//! Describes the machine on which a run was made.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::result::Machine;

/// Instruction sets used by some kernel or peer.
const FLAGS: [&str; 18] = [
    "sse2",
    "ssse3",
    "sse4_1",
    "avx",
    "avx2",
    "bmi1",
    "bmi2",
    "adx",
    "sha_ni",
    "aes",
    "avx512f",
    "avx512vl",
    "avx512bw",
    "avx512ifma",
    "avx512_vbmi",
    "avx_ifma",
    "gfni",
    "vaes",
];

fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.lines().next()?.trim().to_owned())
}

/// Total memory in bytes.
pub fn memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

/// Load averages of 1, 5 and 15 minutes.
pub fn load() -> Option<[f64; 3]> {
    let text = line("/proc/loadavg")?;
    let mut numbers = text.split(' ').map_while(|word| word.parse().ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

/// The value of the first line of `/proc/cpuinfo` whose name is `name`.
fn entry<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(key, _)| key.trim() == name)?;
    Some(value.trim())
}

/// The processor's name, with family and model: virtual machines report all generations by one name.
fn cpu(cpuinfo: &str) -> String {
    let Some(name) = entry(cpuinfo, "model name") else {
        return std::env::consts::ARCH.to_owned();
    };
    match (entry(cpuinfo, "cpu family"), entry(cpuinfo, "model")) {
        (Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
        _ => name.to_owned(),
    }
}

/// Describes the machine, except for what is only known after the run.
pub fn machine(arena: &Path) -> Machine {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let have: Vec<&str> = entry(&cpuinfo, "flags")
        .unwrap_or_default()
        .split(' ')
        .collect();
    let distribution = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let distribution = distribution
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .unwrap_or(std::env::consts::OS)
        .trim_matches('"');
    let kernel = line("/proc/sys/kernel/osrelease").unwrap_or_default();
    Machine {
        cpu: cpu(&cpuinfo),
        cores: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        flags: FLAGS
            .iter()
            .filter(|flag| have.contains(flag))
            .map(|&flag| flag.to_owned())
            .collect(),
        virtualized: have.contains(&"hypervisor"),
        memory: memory().unwrap_or(0),
        system: format!("{distribution}, kernel {kernel}"),
        governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        load_before: load(),
        load_after: None,
        toolchains: [("rustc", tool(arena, "rustc", &["--version"]))]
            .into_iter()
            .filter_map(|(name, version)| Some((name.to_owned(), version?)))
            .collect(),
        commit: commit(arena),
    }
}

fn tool(folder: &Path, program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(args)
        .current_dir(folder)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn commit(folder: &Path) -> Option<String> {
    let id = tool(folder, "git", &["rev-parse", "--short=12", "HEAD"])?;
    let clean = tool(folder, "git", &["status", "--porcelain"])?.is_empty();
    Some(if clean { id } else { format!("{id}+") })
}

/// The current time in UTC, as `2026-11-20T22:00:00Z`.
pub fn now() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |t| t.as_secs());
    iso(seconds)
}

/// Formats a time after 1970, by Howard Hinnant's civil-from-days ("chrono-Compatible Low-Level Date Algorithms").
fn iso(seconds: u64) -> String {
    let (days, clock) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!("{year:04}-{month:02}-{of_month:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_of_a_processor_differ() {
        let text =
            "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n";
        assert_eq!(cpu(text), "AMD EPYC (family 25, model 17)");
        assert_eq!(cpu("model name : x\n"), "x");
        assert_eq!(cpu(""), std::env::consts::ARCH);
    }

    #[test]
    fn dates() {
        // Expected values from `date -u -d @N`.
        assert_eq!(iso(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(iso(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(iso(1_795_212_000), "2026-11-20T22:00:00Z");
    }
}
