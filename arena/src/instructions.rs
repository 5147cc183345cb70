//! `bench instructions`: the number of instructions of one call, counted by callgrind or, for another architecture, by
//! an emulator.
//!
//! It compares two builds of the same source, or contenders, without noise. It does not measure time: instructions
//! differ in duration. Valgrind's processor has no AVX-512, so kernels that need it are not counted.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::blobs;
use crate::builder::Job;
use crate::family::{self, Selection};
use crate::manifest::{Manifest, Need, OURS, Variant, missing};
use crate::ops::Op;
use crate::protocol::{self, Failure};
use crate::report::plain;

/// Instructions to count at least: two starts of a process differ by some thousand.
const ENOUGH: u64 = 1_000_000;
/// Calls of an operation that takes no time.
const MOST_CALLS: u64 = 1 << 20;
/// The emulator's plugin.
const PLUGIN: &str = include_str!("count.c");

/// Architectures that [`Counter::emulated`] supports: names of QEMU, of GNU's tools and of Rust's targets.
pub const MACHINES: [&str; 1] = ["aarch64"];

/// A program that runs a contender and reports the number of its instructions on standard error.
pub struct Counter {
    /// What counts, for the head of the output.
    name: String,
    /// The command before that of the contender.
    command: Vec<String>,
    /// The emulated architecture.
    machine: Option<&'static str>,
    /// The compiled plugin.
    plugin: Option<PathBuf>,
}

impl Drop for Counter {
    fn drop(&mut self) {
        if let Some(plugin) = &self.plugin {
            let _ = fs::remove_file(plugin);
        }
    }
}

impl Counter {
    /// Counts on this machine.
    pub fn callgrind() -> Result<Self> {
        require(&[need("valgrind", "install the package valgrind")])?;
        let command = [
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
        ];
        Ok(Self {
            name: "callgrind (without AVX-512)".into(),
            command: command.map(str::to_owned).to_vec(),
            machine: None,
            plugin: None,
        })
    }

    /// Counts on an emulated machine, one of [`MACHINES`]. The variable `QEMU_CPU` selects its CPU.
    pub fn emulated(machine: &str) -> Result<Self> {
        let machine = MACHINES.into_iter().find(|known| *known == machine);
        let machine =
            machine.with_context(|| format!("expected one of {}", MACHINES.join(", ")))?;
        let (qemu, compiler) = (format!("qemu-{machine}"), linker(machine));
        require(&[
            need(&qemu, "install the package qemu-user"),
            need(
                &compiler,
                &format!("install the package gcc-{machine}-linux-gnu and those it recommends"),
            ),
            need("cc", "install a C compiler"),
        ])?;
        let plugin = temporary("so");
        let source = plugin.with_extension("c");
        fs::write(&source, PLUGIN).with_context(|| format!("write {}", source.display()))?;
        let compiled = Command::new("cc")
            .args(["-std=c11", "-O2", "-shared", "-fPIC", "-o"])
            .args([&plugin, &source])
            .output()?;
        let _ = fs::remove_file(&source);
        if !compiled.status.success() {
            let errors = String::from_utf8_lossy(&compiled.stderr);
            bail!("the plugin cannot be compiled: {}", plain(&errors));
        }
        let cpu = std::env::var("QEMU_CPU").unwrap_or_else(|_| "max".into());
        Ok(Self {
            name: format!("{qemu} (CPU {})", plain(&cpu)),
            command: vec![
                qemu,
                "-L".into(),
                format!("/usr/{machine}-linux-gnu"),
                "-plugin".into(),
                plugin.display().to_string(),
            ],
            machine: Some(machine),
            plugin: Some(plugin),
        })
    }

    /// The builds of a contender that can be counted: by Cargo, and not for the CPU of this machine. Of ours, the stock
    /// build.
    pub fn builds(&self, mut manifest: Manifest) -> Result<Manifest> {
        let cargo = |variant: &Variant| {
            let by_cargo =
                |command: &Vec<String>| command.starts_with(&["cargo".into(), "build".into()]);
            !variant.build.is_empty() && variant.build.iter().all(by_cargo)
        };
        let baseline = |variant: &Variant| {
            let flags = variant.env.get("RUSTFLAGS");
            let needs = if self.machine.is_some() {
                // They are about this machine.
                variant.needs.is_empty()
            } else {
                manifest.missing_for(variant).is_none()
            };
            needs && !flags.is_some_and(|flags| flags.contains("target-cpu"))
        };
        let mut variants = manifest.variants.clone();
        variants.retain(|variant| cargo(variant) && baseline(variant));
        if manifest.name == OURS {
            variants.truncate(1);
        }
        if variants.is_empty() {
            bail!(
                "contender {:?} has no build by Cargo for the baseline of an architecture",
                manifest.name
            );
        }
        manifest.variants = variants;
        for variant in &mut manifest.variants {
            if let Some(machine) = self.machine {
                cross(variant, machine);
            }
        }
        Ok(manifest)
    }

    /// The number of instructions of a whole process that makes `calls` calls, and their checksum.
    fn count(&self, job: Job<'_>, prepare: &str, calls: u64) -> Result<(u64, u64)> {
        let Job { manifest, variant } = job;
        let mut child = Command::new(&self.command[0])
            .args(&self.command[1..])
            .arg(manifest.folder.join(&variant.run[0]))
            .args(&variant.run[1..])
            .envs(&variant.env)
            .current_dir(&manifest.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("start {}", self.command[0]))?;
        child
            .stdin
            .take()
            .context("no pipe")?
            .write_all(format!("{prepare}\nrun {calls} 1\nquit\n").as_bytes())?;
        let output = child.wait_with_output()?;
        let mut checksum = None;
        for answer in String::from_utf8_lossy(&output.stdout).lines() {
            if let Some(answer) = protocol::parse(answer).transpose()? {
                checksum = checksum.or_else(|| protocol::checksum(&answer));
            }
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        match (collected(&errors), checksum) {
            (Some(count), Some(checksum)) => Ok((count, checksum)),
            _ => bail!(
                "no count: {}, {}",
                output.status,
                plain(errors.lines().next_back().unwrap_or("no message"))
            ),
        }
    }

    /// The number of instructions of one call, and the checksum of one pass over the items.
    fn per_call(&self, job: Job<'_>, prepare: &str, items: u64) -> Result<(f64, u64)> {
        let mut calls = items;
        let (mut once, checksum) = self.count(job, prepare, calls)?;
        loop {
            // Startup and preparation are in both counts and cancel out, except for what differs between two starts.
            let (twice, _) = self.count(job, prepare, 2 * calls)?;
            let difference = twice.saturating_sub(once);
            if difference >= ENOUGH || calls >= MOST_CALLS {
                return Ok((difference as f64 / calls as f64, checksum));
            }
            calls *= 16;
            (once, _) = self.count(job, prepare, calls)?;
        }
    }
}

/// Makes a variant one for another architecture.
fn cross(variant: &mut Variant, machine: &str) {
    let target = format!("{machine}-unknown-linux-gnu");
    let key = target.to_uppercase().replace('-', "_");
    variant.env.extend([
        (format!("CARGO_TARGET_{key}_LINKER"), linker(machine)),
        ("CARGO_BUILD_TARGET".into(), target.clone()),
    ]);
    variant.run[0] = variant.run[0].replace("/release/", &format!("/{target}/release/"));
}

/// The compiler and linker of an architecture; C code of crates is compiled by it too.
fn linker(machine: &str) -> String {
    format!("{machine}-linux-gnu-gcc")
}

fn need(program: &str, hint: &str) -> Need {
    Need {
        command: vec![program.into(), "--version".into()],
        pattern: ".".into(),
        hint: hint.into(),
    }
}

fn require(needs: &[Need]) -> Result<()> {
    match missing(needs, Path::new(".")) {
        Some((reason, hint)) => bail!("{reason}: {hint}"),
        None => Ok(()),
    }
}

/// A name for a temporary file of this process.
fn temporary(extension: &str) -> PathBuf {
    let name = format!("lydite-instructions-{}.{extension}", std::process::id());
    std::env::temp_dir().join(name)
}

/// Instructions per operation, one line per row: `ID COUNT`, followed by the counts of the peers and the fewest of them
/// divided by ours. The first job is ours.
pub fn render(counter: &Counter, jobs: &[Job<'_>], ops: &[Op]) -> Result<String> {
    let file = temporary("blobs");
    let names: Vec<String> = jobs
        .iter()
        .map(|job| format!("{}/{}", job.manifest.name, job.variant.name))
        .collect();
    let mut text = format!(
        "# instructions per operation by {}: counts, not times\n",
        counter.name
    );
    let has_peers = names.len() > 1;
    if has_peers {
        text += &format!("# row {} fewest/{OURS}\n", names.join(" "));
    }
    for op in ops.iter().filter(|op| !op.full) {
        let items = family::of(op).items(op, Selection::Main)?;
        blobs::write(&file, &items)?;
        let prepare = protocol::prepare(&op.call, &file, op.change)?;
        let mut expected = None;
        let mut counts = Vec::new();
        for (job, name) in jobs.iter().zip(&names) {
            if !job.manifest.is_in(&op.family) {
                counts.push(None);
                continue;
            }
            let counted = counter
                .per_call(*job, &prepare, items.len() as u64)
                .and_then(|(count, checksum)| {
                    if *expected.get_or_insert(checksum) == checksum {
                        return Ok(count / op.ops_per_call as f64);
                    }
                    bail!("its checksum differs from that of {}", names[0]);
                });
            let unsupported = |error: &anyhow::Error| {
                matches!(error.downcast_ref(), Some(Failure::Unsupported(_)))
            };
            match &counted {
                Err(error) if counts.is_empty() => {
                    text += &format!("# {}: {error:#}\n", op.id);
                    break;
                }
                Err(error) if !unsupported(error) => {
                    text += &format!("# {}: {name}: {error:#}\n", op.id);
                }
                _ => {}
            }
            counts.push(counted.ok());
        }
        text += &line(&op.id, &counts);
    }
    let _ = fs::remove_file(&file);
    Ok(text)
}

/// The line of a row, without one if ours has no count.
fn line(row: &str, counts: &[Option<f64>]) -> String {
    let [Some(ours), peers @ ..] = counts else {
        return String::new();
    };
    let mut text = format!("{row} {ours:.1}");
    for peer in peers {
        text += &peer.map_or_else(|| " -".into(), |count| format!(" {count:.1}"));
    }
    if let Some(fewest) = peers.iter().flatten().copied().reduce(f64::min) {
        text += &format!(" {:.2}", fewest / ours);
    } else if !peers.is_empty() {
        text += " -";
    }
    text + "\n"
}

/// Parses `Collected : 456`, with or without the number of a process before it.
fn collected(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// Rows whose counts of ours differ between two outputs of [`render`], sorted by change.
pub fn compare(a: &Path, b: &Path) -> Result<String> {
    let read = |path: &Path| -> Result<Vec<(String, f64)>> {
        let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines
            .map(|line| {
                let mut words = line.split_whitespace();
                let (op, count) = words
                    .next()
                    .zip(words.next())
                    .with_context(|| format!("expected `ID COUNT`, found {line:?}"))?;
                let count = count.parse().with_context(|| format!("count of {op:?}"))?;
                Ok((plain(op), count))
            })
            .collect()
    };
    let (before, after) = (read(a)?, read(b)?);
    let mut changes: Vec<(f64, &str, f64, f64)> = after
        .iter()
        .filter_map(|(op, now)| {
            let (_, old) = before.iter().find(|(name, _)| name == op)?;
            Some((now / old, op.as_str(), *old, *now))
        })
        .collect();
    let rows = changes.len();
    changes.retain(|(change, ..)| (change - 1.0).abs() >= 0.001);
    changes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut text = format!(
        "instructions, not time: {} of {rows} rows differ by 0.1 % or more\n",
        changes.len()
    );
    for (change, op, old, now) in changes {
        text += &format!(
            "{op}: {old:.1} -> {now:.1} ({:+.1} %)\n",
            100.0 * (change - 1.0)
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_baseline_builds_are_counted() {
        let manifest = |name: &str| {
            let text = format!(
                r#"
                name = "{name}"
                [[variants]]
                name = "native"
                env = {{ RUSTFLAGS = "-C target-cpu=native" }}
                build = [["cargo", "build", "--release"]]
                run = ["../target/native/release/x"]
                [[variants]]
                name = "stock"
                env = {{ RUSTFLAGS = "" }}
                build = [["cargo", "build", "--release"]]
                run = ["../target/release/x", "first/release/y"]
                [[variants]]
                name = "here"
                build = [["cargo", "build", "--release"]]
                run = ["../target/release/x"]
                needs = [{{ command = ["cargo", "--version"], pattern = "cargo" }}]
                [[variants]]
                name = "script"
                build = [["npm", "ci"]]
                run = ["node", "x.js"]
                "#
            );
            Manifest::parse(&text, PathBuf::from(".")).unwrap()
        };
        let counter = |machine| Counter {
            name: String::new(),
            command: Vec::new(),
            machine,
            plugin: None,
        };
        let names = |manifest: &Manifest| -> Vec<String> {
            let names = manifest.variants.iter().map(|variant| variant.name.clone());
            names.collect()
        };
        let emulated = counter(Some("aarch64")).builds(manifest("peer")).unwrap();
        assert_eq!(names(&emulated), ["stock"]);
        let stock = &emulated.variants[0];
        let target = "aarch64-unknown-linux-gnu";
        assert_eq!(stock.env["CARGO_BUILD_TARGET"], target);
        assert_eq!(
            stock.env["CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER"],
            "aarch64-linux-gnu-gcc"
        );
        let program = format!("../target/{target}/release/x");
        assert_eq!(stock.run, [program.as_str(), "first/release/y"]);
        let here = counter(None);
        assert_eq!(
            names(&here.builds(manifest("peer")).unwrap()),
            ["stock", "here"]
        );
        assert_eq!(names(&here.builds(manifest(OURS)).unwrap()), ["stock"]);
        let mut scripts = manifest("peer");
        scripts.variants.drain(..3);
        let error = here.builds(scripts).unwrap_err().to_string();
        assert!(error.contains("\"peer\" has no build by Cargo"), "{error}");
    }

    #[test]
    fn peers_are_compared_with_ours() {
        assert_eq!(line("x", &[Some(100.0)]), "x 100.0\n");
        let counts = [Some(100.0), None, Some(170.0), Some(150.0)];
        assert_eq!(line("x", &counts), "x 100.0 - 170.0 150.0 1.50\n");
        assert_eq!(line("x", &[Some(100.0), None]), "x 100.0 - -\n");
        assert_eq!(line("x", &[None, Some(1.0)]), "");
        assert_eq!(line("x", &[]), "");
    }

    #[test]
    fn counts_are_read_and_compared() {
        assert_eq!(
            collected("==7== Events : Ir\n==7== Collected : 1234\n==7==\n"),
            Some(1234)
        );
        assert_eq!(collected("warning\nCollected : 99\n"), Some(99));
        assert_eq!(collected("valgrind: no such program"), None);
        let folder = std::env::temp_dir();
        let file = |name: &str, text: &str| {
            let path = folder.join(format!("arena-instructions-{name}-{}", std::process::id()));
            fs::write(&path, text).unwrap();
            path
        };
        let a = file("a", "# x\nkeccak256_32b 100.0\nu256_add 10.0\ngone 1\n");
        let b = file(
            "b",
            "keccak256_32b 105.0 210.0 2.00\nu256_add 10.0 - -\nnew 1\n",
        );
        let text = compare(&a, &b).unwrap();
        assert!(
            text.contains("1 of 2 rows differ")
                && text.contains("keccak256_32b: 100.0 -> 105.0 (+5.0 %)"),
            "{text}"
        );
        let broken = file("c", "keccak256_32b\n");
        assert!(
            compare(&a, &broken)
                .unwrap_err()
                .to_string()
                .contains("expected `ID COUNT`")
        );
        for path in [a, b, broken] {
            fs::remove_file(path).unwrap();
        }
    }
}
