//! Builds contenders, two at a time, with a progress bar and a log file each. Up-to-date builds are skipped.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::manifest::{Manifest, Variant};

/// Time limit of a build, after which it is killed.
const LONGEST_BUILD: Duration = Duration::from_secs(20 * 60);
/// Folders that contain build products or downloads.
const PRODUCTS: [&str; 8] = [
    "target",
    "node_modules",
    ".venv",
    "__pycache__",
    "compiled",
    "zig-out",
    ".zig-cache",
    "zig-cache",
];

/// One variant to build.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The contender.
    pub manifest: &'a Manifest,
    /// Its variant.
    pub variant: &'a Variant,
}

impl Job<'_> {
    fn name(&self) -> String {
        format!("{}-{}", self.manifest.name, self.variant.name)
    }
}

/// Builds all jobs; returns for each, in order, the error if it failed.
pub fn build(jobs: &[Job<'_>], arena: &Path) -> Result<Vec<Option<String>>> {
    let cache = cache(arena);
    fs::create_dir_all(&cache).with_context(|| format!("create {}", cache.display()))?;
    let mut results: Vec<Option<String>> = jobs.iter().map(|_| None).collect();
    let waiting: VecDeque<usize> = (0..jobs.len())
        .filter(|&i| !is_built(&jobs[i], arena))
        .collect();
    if waiting.is_empty() {
        return Ok(results);
    }
    let bars = MultiProgress::new();
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {elapsed} {msg}")?;
    let all = bars.add(ProgressBar::new(waiting.len() as u64).with_style(style));
    all.set_prefix("building");
    all.enable_steady_tick(Duration::from_millis(200));
    if all.is_hidden() {
        eprintln!("building {} variants, two at a time", waiting.len());
    }
    // Variants of one contender share its folder, so they are built in turn. Builds of one language share a target
    // folder's lock or a package cache, so a job in another language goes first.
    let queue = Mutex::new((waiting, Vec::<usize>::new()));
    let found = Mutex::new(&mut results);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Ok(mut guard) = queue.lock() else { return };
                    let (waiting, busy) = &mut *guard;
                    let free = |what: fn(&Manifest) -> &String| {
                        let what = |job: &usize| what(jobs[*job].manifest);
                        let idle = |job: &usize| !busy.iter().any(|other| what(other) == what(job));
                        waiting.iter().position(idle)
                    };
                    let at = free(|manifest| &manifest.language)
                        .or_else(|| free(|manifest| &manifest.name));
                    // The other thread is building a variant of every remaining contender, and will build the rest.
                    let Some(index) = at.and_then(|at| waiting.remove(at)) else {
                        return;
                    };
                    let job = &jobs[index];
                    busy.push(index);
                    drop(guard);
                    let spinner = bars.add(ProgressBar::new_spinner());
                    spinner.set_message(format!("{} ({})", job.name(), job.manifest.language));
                    spinner.enable_steady_tick(Duration::from_millis(120));
                    let start = Instant::now();
                    let outcome = run(job, arena, &cache);
                    spinner.finish_and_clear();
                    if all.is_hidden() {
                        let word = if outcome.is_ok() { "built" } else { "FAILED" };
                        eprintln!("  {word} {} in {:.0?}", job.name(), start.elapsed());
                    }
                    all.inc(1);
                    if let (Err(error), Ok(mut found)) = (outcome, found.lock()) {
                        found[index] = Some(format!("{error:#}"));
                    }
                    if let Ok(mut guard) = queue.lock() {
                        guard.1.retain(|&other| other != index);
                    }
                }
            });
        }
    });
    all.finish_and_clear();
    Ok(results)
}

fn run(job: &Job<'_>, arena: &Path, cache: &Path) -> Result<()> {
    let (manifest, variant) = (job.manifest, job.variant);
    let log_path = cache.join(format!("{}.log", job.name()));
    let folder = match &variant.cwd {
        Some(cwd) => manifest.folder.join(cwd),
        None => manifest.folder.clone(),
    };
    // The stamp describes the sources as they were before the build.
    let stamp = fingerprint(job, arena)?;
    let log = File::create(&log_path)?;
    for command in &variant.build {
        let name = command.join(" ");
        let [program, args @ ..] = command.as_slice() else {
            continue;
        };
        let mut child = Command::new(program)
            .args(args)
            .current_dir(&folder)
            .envs(&variant.env)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log.try_clone()?)
            .spawn()
            .with_context(|| format!("`{name}`"))?;
        let start = Instant::now();
        let status = loop {
            match child.try_wait()? {
                Some(status) => break status,
                None if start.elapsed() > LONGEST_BUILD => {
                    child.kill()?;
                    child.wait()?;
                    bail!(
                        "`{name}` took more than {LONGEST_BUILD:?}; log: {}",
                        log_path.display()
                    );
                }
                None => std::thread::sleep(Duration::from_millis(50)),
            }
        };
        if !status.success() {
            let text = fs::read_to_string(&log_path).unwrap_or_default();
            let last = text.lines().rev().find(|line| line.contains("error"));
            let last = last
                .or_else(|| text.lines().next_back())
                .unwrap_or("no output");
            let last: String = last.trim().chars().take(200).collect();
            bail!("`{name}`: {status}: {last} (log: {})", log_path.display());
        }
    }
    fs::write(cache.join(format!("{}.stamp", job.name())), stamp)?;
    Ok(())
}

/// The folder of build logs and stamps.
fn cache(arena: &Path) -> PathBuf {
    arena.join(".cache")
}

/// Whether the variant was built from its current sources.
pub fn is_built(job: &Job<'_>, arena: &Path) -> bool {
    let program = &job.variant.run[0];
    let there = !program.contains('/') || job.manifest.folder.join(program).is_file();
    let old = fs::read_to_string(cache(arena).join(format!("{}.stamp", job.name())));
    match (old, fingerprint(job, arena)) {
        (Ok(old), Ok(new)) => there && old == new,
        _ => false,
    }
}

/// FNV-1a hash of the names and contents of the contender's sources. Detects outdated builds, not malicious changes.
fn fingerprint(job: &Job<'_>, arena: &Path) -> Result<String> {
    let folder = &job.manifest.folder;
    let mut files = Vec::new();
    walk(folder, &mut files)?;
    walk(&arena.join("kit"), &mut files)?;
    for name in ["Cargo.toml", "Cargo.lock"] {
        files.push(arena.join("contenders").join(name));
    }
    for source in &job.manifest.sources {
        walk(&folder.join(source), &mut files)?;
    }
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut eat = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    eat(format!("{:?}", job.variant).as_bytes());
    for file in files {
        eat(file.as_os_str().as_encoded_bytes());
        eat(&fs::read(&file).unwrap_or_default());
    }
    Ok(format!("{hash:016x}\n"))
}

/// The names and texts of a contender's own files, apart from manifests and lock files.
pub fn sources(manifest: &Manifest) -> Result<Vec<(String, String)>> {
    const DATA: [&str; 8] = ["toml", "lock", "json", "txt", "sum", "mod", "xml", "md"];
    let mut files = Vec::new();
    walk(&manifest.folder, &mut files)?;
    files.sort();
    let mut texts = Vec::new();
    for file in files {
        let data = file
            .extension()
            .is_none_or(|kind| DATA.iter().any(|data| kind == *data));
        if let (false, Ok(text)) = (data, fs::read_to_string(&file)) {
            let name = file.strip_prefix(&manifest.folder)?.display().to_string();
            texts.push((name, text));
        }
    }
    Ok(texts)
}

fn walk(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
    } else if path.is_dir() {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let name = entry.file_name();
            // Symbolic links are not followed, since they may point anywhere.
            let product = PRODUCTS.iter().any(|product| name == **product);
            if !product && !entry.file_type()?.is_symlink() {
                walk(&entry.path(), files)?;
            }
        }
    }
    Ok(())
}
