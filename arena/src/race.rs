//! A complete run: available contenders, builds, correctness checks, the race and the verdicts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::builder::{self, Job};
use crate::correctness::CorrectnessCheck;
use crate::family;
use crate::fingerprint;
use crate::manifest::{self, Manifest, Variant};
use crate::ops::{Memory, Op};

use crate::records::Known;
use crate::result::{
    Cell, Contender, Control, Count, Machine, Operation, Pair, Report, Run, SCHEMA, Score, State,
};
use crate::sandbox;
use crate::schedule::{self, Candidate, Settings};
use crate::stats::{self, Verdict};

/// Receives a report and the name of a family.
pub type Progress<'a> = &'a dyn Fn(&Report, &str);

/// What to run.
pub struct Plan<'a> {
    /// Folder of the arena.
    pub arena: &'a Path,
    /// The benchmark rows.
    pub ops: &'a [Op],
    /// The selected contenders, including ours.
    pub manifests: &'a [Manifest],
    /// What records show about them.
    pub known: &'a Known,
    /// The contender that the others are compared with.
    pub ours: &'a str,
    /// Quick variants only.
    pub quick: bool,
    /// Number and duration of the measurements.
    pub settings: Settings,
    /// The command that repeats the run.
    pub command: String,
    /// Millions of gas per second that gas prices are compared with.
    pub anchor: Option<f64>,
    /// Check correctness only, without racing.
    pub check_only: bool,
    /// Receives the report and the name of each family whose race has ended.
    pub progress: Option<Progress<'a>>,
}

/// Runs the plan, one family at a time: the contenders of a family are built, checked and raced before those of the
/// next are built, starting with the family that needs the fewest builds.
pub fn run(plan: &Plan<'_>) -> Result<Report> {
    let clock = Instant::now();
    let work = Work::new()?;
    let mut report = blank(plan);
    let mut builds = Builds::default();
    for family in families(plan) {
        let ops: Vec<&Op> = plan.ops.iter().filter(|op| op.family == family).collect();
        build(plan, &family, &mut report.contenders, &mut builds)?;
        let checks: Vec<CorrectnessCheck> = ops
            .iter()
            .map(|op| CorrectnessCheck::new(op))
            .collect::<Result<_>>()?;
        let operations: Vec<Operation> = checks.iter().map(operation).collect::<Result<_>>()?;
        report.ops.extend(operations);
        wave(plan, &checks, &builds, &work.0, &mut report)?;
        if !plan.check_only {
            finish(plan, &mut report)?;
            if let Some(progress) = plan.progress {
                progress(&report, &family);
            }
        }
    }
    let mut absent = |contender: &str, variant: &str, state: State, reason: Option<String>| {
        report.cells.extend(plan.ops.iter().map(|op| Cell {
            reason: reason.clone(),
            ..Cell::new(&op.id, contender, variant, state)
        }));
    };
    for (Job { manifest, variant }, reason) in builds.broken {
        let state = State::SkippedBuild;
        absent(&manifest.name, &variant.name, state, Some(reason));
    }
    for contender in &report.contenders {
        if contender.state == State::SkippedToolchain {
            let reason = contender.reason.clone();
            absent(&contender.name, "", contender.state, reason);
        }
    }
    let place = |id: &str| plan.ops.iter().position(|op| op.id == id);
    report.ops.sort_by_key(|op| place(&op.id));
    report.machine.load_after = fingerprint::load();
    report.run.seconds = clock.elapsed().as_secs_f64();
    if !plan.check_only {
        finish(plan, &mut report)?;
    }
    Ok(report)
}

/// The verdicts so far, with the reasons for losses and the fastest peers that did not run.
fn finish(plan: &Plan<'_>, report: &mut Report) -> Result<()> {
    judge(report);
    explain(report, plan.arena)?;
    for op in &mut report.ops {
        let peer = plan.known.peers.get(&op.id);
        op.without = peer
            .filter(|(contender, variant)| {
                !report.cells.iter().any(|cell| {
                    cell.op == op.id
                        && cell.contender == *contender
                        && cell.variant == *variant
                        && timed(cell)
                })
            })
            .map(|(contender, variant)| format!("{contender}/{variant}"));
    }
    Ok(())
}

/// A report without rows.
fn blank(plan: &Plan<'_>) -> Report {
    let mut machine = fingerprint::machine(plan.arena);
    let contenders = present(plan, &mut machine);
    Report {
        schema: SCHEMA.to_owned(),
        run: Run {
            mode: if plan.quick { "quick" } else { "full" }.to_owned(),
            command: plan.command.clone(),
            ours: plan.ours.to_owned(),
            started: fingerprint::now(),
            seconds: 0.0,
            launches: plan.settings.launches,
            rounds: plan.settings.rounds,
            batch_ns: plan.settings.batch_ns,
            width: Some(plan.settings.width),
            probed: false,
            seed: plan.settings.seed,
            anchor: plan.anchor,
            noise_floor: None,
            noisy: false,
            filtered: sandbox::queue_wait(std::process::id()).is_some(),
        },
        machine,
        contenders,
        ops: Vec::new(),
        cells: Vec::new(),
        pairs: Vec::new(),
        builds: Vec::new(),
        controls: Vec::new(),
        score: Score::default(),
    }
}

/// The families of the plan: those with peers first, and of these the ones that need the fewest builds.
fn families(plan: &Plan<'_>) -> Vec<String> {
    let mut families: Vec<String> = Vec::new();
    for op in plan.ops {
        if !families.contains(&op.family) {
            families.push(op.family.clone());
        }
    }
    families.sort_by_cached_key(|family| {
        let jobs: Vec<Job<'_>> = plan
            .manifests
            .iter()
            .flat_map(|m| jobs(plan, m, family))
            .collect();
        let alone = jobs.iter().all(|job| job.manifest.name == plan.ours);
        let open = jobs
            .iter()
            .filter(|job| !builder::is_built(job, plan.arena));
        (alone, open.count())
    });
    families
}

/// The variants of a contender that a family needs.
fn jobs<'a>(plan: &Plan<'a>, manifest: &'a Manifest, family: &str) -> Vec<Job<'a>> {
    let runs = |variant: &&'a Variant| match rows(plan, manifest, variant) {
        None => true,
        Some(rows) => plan
            .ops
            .iter()
            .any(|op| op.family == family && rows.contains(&op.id)),
    };
    let variants = manifest.variants.iter().filter(runs);
    match manifest.name == plan.ours || manifest.is_in(family) {
        true => variants.map(|variant| Job { manifest, variant }).collect(),
        false => Vec::new(),
    }
}

/// The rows that a variant runs on; `None` means all. Quick runs take the quick variants and, on each row, also the
/// variant known to be the fastest of its contender.
fn rows(plan: &Plan<'_>, manifest: &Manifest, variant: &Variant) -> Option<BTreeSet<String>> {
    if variant.left_out {
        return Some(BTreeSet::new());
    }
    let mode = manifest.variants(plan.quick);
    if mode.iter().any(|v| v.name == variant.name) {
        return None;
    }
    let key = (manifest.name.clone(), variant.name.clone());
    let fastest = plan.known.fastest.get(&key);
    Some(
        fastest
            .filter(|_| manifest.name != plan.ours)
            .cloned()
            .unwrap_or_default(),
    )
}

/// Checks and races the contenders built so far on the rows of one family; adds their results to the report.
fn wave(
    plan: &Plan<'_>,
    checks: &[CorrectnessCheck],
    builds: &Builds<'_>,
    work: &Path,
    report: &mut Report,
) -> Result<()> {
    let family = checks.first().map_or("", |check| check.op.family.as_str());
    let mut candidates: Vec<Candidate<'_>> = builds
        .built
        .iter()
        .filter(|job| job.manifest.name == plan.ours || job.manifest.is_in(family))
        .map(|job| {
            let mut candidate = Candidate::new(job.manifest, job.variant, checks);
            candidate.rows = rows(plan, job.manifest, job.variant);
            candidate
        })
        .collect();
    schedule::check(&mut candidates, checks, &plan.settings, work)?;
    if !plan.check_only {
        let ours = candidates.iter().find(|e| e.manifest.name == plan.ours);
        let control = ours.map(Candidate::control);
        candidates.extend(control);
        report.run.probed |=
            schedule::race(&mut candidates, checks, plan.ours, &plan.settings, work)?;
    }
    for candidate in candidates {
        let contender = report
            .contenders
            .iter_mut()
            .find(|contender| contender.name == candidate.manifest.name);
        if let Some(contender) = contender {
            contender.banners += candidate.banners;
            contender.loop_ns = contender.loop_ns.or(candidate.loop_ns);
            if let Some((runtime, version)) = candidate.described {
                contender.runtime = runtime;
                if contender.version.is_empty() {
                    contender.version = version;
                }
            }
        }
        report.cells.extend(candidate.cells);
    }
    Ok(())
}

/// The contenders and what each one lacks; adds the versions of the available tools to `machine`.
fn present(plan: &Plan<'_>, machine: &mut Machine) -> Vec<Contender> {
    let mut contenders = Vec::new();
    for manifest in plan.manifests {
        let mut contender = contender(manifest);
        if manifest.is_left_out() {
            contenders.push(contender);
            continue;
        }
        if let Some((reason, hint)) = manifest.missing() {
            contender.state = State::SkippedToolchain;
            contender.reason = Some(reason);
            contender.hint = Some(hint).filter(|hint| !hint.is_empty());
        } else {
            for need in &manifest.needs {
                if let Ok(version) = manifest::check(need, &manifest.folder) {
                    let tool = machine.toolchains.entry(need.command[0].clone());
                    tool.or_insert(version);
                }
            }
        }
        contenders.push(contender);
    }
    contenders
}

/// The builds that succeeded, and those that failed with their reasons.
#[derive(Default)]
struct Builds<'a> {
    built: Vec<Job<'a>>,
    broken: Vec<(Job<'a>, String)>,
}

impl Builds<'_> {
    fn tried(&self, contender: &str, variant: &str) -> bool {
        self.built
            .iter()
            .chain(self.broken.iter().map(|(job, _)| job))
            .any(|job| job.manifest.name == contender && job.variant.name == variant)
    }
}

/// Builds the contenders of a family whose tools are available and that no earlier family needed.
fn build<'a>(
    plan: &Plan<'a>,
    family: &str,
    contenders: &mut [Contender],
    builds: &mut Builds<'a>,
) -> Result<()> {
    let able = plan.manifests.iter().zip(&*contenders);
    let able = able.filter(|(_, contender)| contender.state == State::Ok);
    let mut jobs: Vec<Job<'a>> = able
        .flat_map(|(manifest, _)| jobs(plan, manifest, family))
        .filter(|job| !builds.tried(&job.manifest.name, &job.variant.name))
        .collect();
    jobs.retain(|job| match job.manifest.missing_for(job.variant) {
        None => true,
        Some((reason, hint)) => {
            builds.broken.push((*job, format!("{reason} ({hint})")));
            false
        }
    });
    let outcomes = builder::build(&jobs, plan.arena)?;
    for (job, outcome) in jobs.into_iter().zip(outcomes) {
        match outcome {
            None => builds.built.push(job),
            Some(reason) => builds.broken.push((job, reason)),
        }
    }
    for (manifest, contender) in plan.manifests.iter().zip(contenders) {
        let of = |job: &Job<'_>| job.manifest.name == contender.name;
        let own = builds.built.iter().filter(|job| of(job));
        contender.variants = own.map(|job| job.variant.name.clone()).collect();
        let names = manifest.variants.iter().map(|variant| &variant.name);
        let left_out = names.filter(|name| !builds.tried(&contender.name, name));
        contender.left_out = left_out.cloned().collect();
        let failed = builds.broken.iter().find(|(job, _)| of(job));
        if let (State::Ok, true, Some((_, reason))) =
            (contender.state, contender.variants.is_empty(), failed)
        {
            contender.state = State::SkippedBuild;
            contender.reason = Some(reason.clone());
        }
    }
    Ok(())
}

/// Adds the reasons in `losses.toml` to the losses; an existing reason is kept if the file has none.
pub fn explain(report: &mut Report, arena: &Path) -> Result<()> {
    let losses = std::fs::read_to_string(arena.join("losses.toml")).unwrap_or_default();
    // Maps an operation to contenders, and each contender to the reason for the loss.
    let losses: BTreeMap<String, BTreeMap<String, String>> =
        toml::from_str(&losses).context("arena/losses.toml")?;
    for pair in &mut report.pairs {
        let reasons = losses.get(&pair.op);
        let reason = reasons.and_then(|reasons| reasons.get(&pair.b));
        if let (Verdict::Loss, Some(reason)) = (pair.verdict, reason) {
            pair.reason = Some(reason.clone());
        }
    }
    Ok(())
}

/// Whether a cell is correct and has timed batches.
fn timed(cell: &Cell) -> bool {
    matches!(cell.state, State::Ok | State::Noisy) && !cell.batches.is_empty()
}

/// Our adapter compared with itself. A single launch does not show how launches differ, so such a row has no control.
fn controls(report: &Report) -> Vec<Control> {
    let controls = report.cells.iter().filter(|cell| cell.control);
    let found = controls.filter_map(|control| {
        let twin = report.cells.iter().find(|cell| {
            !cell.control
                && cell.op == control.op
                && cell.contender == control.contender
                && cell.variant == control.variant
        });
        let found = stats::interval(&twin?.ratios(control))?;
        (found.launches > 1).then(|| Control {
            op: control.op.clone(),
            ratio: found.ratio,
            lo: found.lo,
            hi: found.hi,
            verdict: stats::judge(&found),
        })
    });
    found.collect()
}

/// Computes a cell's median time, the spread of its launches and the groups they form.
fn summarize(cell: &mut Cell, ops_per_call: f64) {
    let mut launches: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for batch in &cell.batches {
        let times = launches.entry(batch.launch).or_default();
        times.push(batch.time() / ops_per_call);
    }
    let mut all = launches.values().flatten().copied().collect::<Vec<f64>>();
    cell.ns = Some(stats::median(&mut all)).filter(|ns| ns.is_finite());
    let mut medians: Vec<f64> = launches
        .into_values()
        .map(|mut l| stats::median(&mut l))
        .collect();
    cell.modes = stats::groups(&medians);
    medians.iter_mut().for_each(|time| *time = time.ln());
    cell.spread = Some(stats::deviation(&medians)).filter(|spread| spread.is_finite());
}

/// Computes the cells' summaries, the controls, the pairs and the score from the raw batches.
pub fn judge(report: &mut Report) {
    let per_call: BTreeMap<&str, u64> = report
        .ops
        .iter()
        .map(|op| (op.id.as_str(), op.ops_per_call))
        .collect();
    for cell in &mut report.cells {
        summarize(
            cell,
            per_call.get(cell.op.as_str()).copied().unwrap_or(1) as f64,
        );
    }
    report.controls = controls(report);
    let strays: Vec<f64> = report
        .controls
        .iter()
        .map(|control| stats::stray(control.ratio))
        .collect();
    let floor = stats::floor(&strays);
    let false_ones: Vec<String> = report
        .controls
        .iter()
        .filter(|control| matches!(control.verdict, Verdict::Win | Verdict::Loss))
        .map(|control| control.op.clone())
        .collect();
    let many = (strays.len() / 100).max(1);
    report.run.noise_floor = Some(floor).filter(|_| !strays.is_empty());
    report.run.noisy = strays.is_empty() || floor > stats::LOUDEST_FLOOR || false_ones.len() > many;

    let name = report.run.ours.as_str();
    let (mut pairs, mut builds, mut score) = (Vec::new(), Vec::new(), Score::default());
    for op in &report.ops {
        let Some(ours) = report.best(&op.id, name).filter(|cell| timed(cell)) else {
            score.absent += 1;
            continue;
        };
        let peers: Vec<&Cell> = report
            .contenders
            .iter()
            .filter(|contender| contender.name != name)
            .filter_map(|contender| report.best(&op.id, &contender.name))
            .filter(|cell| timed(cell))
            .collect();
        let is_scored = |cell: &Cell| {
            let mut others = report.contenders.iter();
            let found = others.find(|contender| contender.name == cell.contender);
            found.is_some_and(|contender| !contender.floor && !contender.own)
        };
        if !peers.iter().any(|peer| is_scored(peer)) {
            score.alone += 1;
        }
        let time = |cell: &Cell| cell.ns.unwrap_or(f64::INFINITY);
        let fastest = peers
            .iter()
            .copied()
            .filter(|peer| is_scored(peer))
            .min_by(|a, b| time(a).total_cmp(&time(b)));
        // A row on which our adapter differs from itself gives no verdict on others.
        let loud = report.run.noisy || false_ones.contains(&op.id);
        for &peer in &peers {
            let best_peer = fastest.is_some_and(|fastest| std::ptr::eq(fastest, peer));
            let pair = |ours: &Cell| {
                let found = stats::interval(&ours.ratios(peer))?;
                let quiet = !loud && ours.state != State::Noisy && peer.state != State::Noisy;
                Some(Pair {
                    op: op.id.clone(),
                    a: name.to_owned(),
                    b: peer.contender.clone(),
                    a_variant: ours.variant.clone(),
                    b_variant: peer.variant.clone(),
                    ratio: found.ratio,
                    lo: found.lo,
                    hi: found.hi,
                    verdict: if quiet {
                        stats::judge(&found)
                    } else {
                        Verdict::Noisy
                    },
                    wide: found.width() > stats::WIDE - 1.0,
                    launches: found.launches as u32,
                    best_peer,
                    reason: None,
                })
            };
            let Some(stock) = pair(ours) else { continue };
            if !is_scored(peer) {
                pairs.push(stock);
                continue;
            }
            score.pairs.add(stock.verdict);
            if best_peer {
                score.best_peer.add(stock.verdict);
                let others = report.cells.iter().filter(|cell| {
                    cell.op == op.id && cell.contender == name && cell.variant != ours.variant
                });
                builds.extend(others.filter(|cell| timed(cell)).filter_map(pair));
            }
            pairs.push(stock);
        }
    }
    score.missing = report
        .contenders
        .iter()
        .filter(|contender| contender.state != State::Ok)
        .map(|contender| contender.name.clone())
        .collect();
    report.pairs = pairs;
    report.builds = builds;
    report.score = score;
}

/// Counts the verdicts against one contender.
pub fn count(report: &Report, contender: &str) -> Count {
    let mut count = Count::default();
    for pair in report.pairs.iter().filter(|pair| pair.b == contender) {
        count.add(pair.verdict);
    }
    count
}

fn contender(manifest: &Manifest) -> Contender {
    Contender {
        name: manifest.name.clone(),
        language: manifest.language.clone(),
        version: manifest.version.clone(),
        runtime: String::new(),
        license: manifest.license.clone(),
        home: manifest.home.clone(),
        notes: manifest.notes.clone(),
        variants: Vec::new(),
        left_out: Vec::new(),
        foreign: manifest.foreign,
        floor: manifest.floor,
        own: manifest.own,
        state: State::Ok,
        reason: None,
        hint: None,
        loop_ns: None,
        banners: 0,
        published: manifest.published.clone(),
    }
}

fn operation(check: &CorrectnessCheck) -> Result<Operation> {
    let op = &check.op;
    Ok(Operation {
        id: op.id.clone(),
        family: op.family.clone(),
        kernel: op.kernel.to_string(),
        title: op.title.clone(),
        unit: op.unit.clone(),
        spec: op.spec.clone(),
        memory: match op.memory {
            Memory::Fresh => "fresh",
            Memory::Reuse => "reuse",
        }
        .to_owned(),
        items: op.items as u64,
        ops_per_call: op.ops_per_call as u64,
        bytes: op
            .throughput
            .then(|| check.main.bytes as f64 / (op.items * op.ops_per_call) as f64),
        without: None,
        gas: family::of(op).gas(op)?,
        calls: Some(op.calls).filter(|calls| *calls > 0),
        published: op.published.clone(),
    })
}

/// A temporary folder for items and outputs, removed on drop.
struct Work(std::path::PathBuf);

impl Work {
    fn new() -> Result<Self> {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("lydite-arena-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).with_context(|| format!("create {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn floors_and_own_packages_are_compared_and_no_peers() {
        let mut report = example("x");
        judge(&mut report);
        assert_eq!((report.score.alone, report.pairs.len()), (0, 1));
        assert!(report.pairs[0].best_peer);
        for own in [false, true] {
            for contender in &mut report.contenders {
                let is_x2 = contender.name == "x2";
                (contender.floor, contender.own) = (is_x2 && !own, is_x2 && own);
            }
            judge(&mut report);
            assert_eq!((report.score.alone, report.pairs.len()), (1, 1));
            assert!(!report.pairs[0].best_peer && report.pairs[0].b == "x2");
            let counts = [&report.score.pairs, &report.score.best_peer];
            assert!(
                counts
                    .iter()
                    .all(|count| count.won + count.tied + count.lost + count.noisy == 0)
            );
        }
    }
}
