//! A complete run: available contenders, builds, correctness checks, the race and the verdicts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::builder::{self, Job};
use crate::fingerprint;
use crate::gate::Exam;
use crate::manifest::{self, Manifest, Variant};
use crate::ops::{Memory, Op};
use crate::precompile;
use crate::records::{self, Fastest};
use crate::result::{
    Batch, Cell, Contender, Control, Count, Machine, Operation, Pair, Report, Run, SCHEMA, Score,
    State,
};
use crate::schedule::{self, Entrant, Settings};
use crate::stats::{self, Verdict};

/// What to run.
pub struct Plan<'a> {
    /// Folder of the arena.
    pub arena: &'a Path,
    /// The benchmark rows.
    pub ops: &'a [Op],
    /// The selected contenders, including ours.
    pub manifests: &'a [Manifest],
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
}

/// Runs the plan.
pub fn run(plan: &Plan<'_>) -> Result<Report> {
    let (clock, started) = (Instant::now(), fingerprint::now());
    let mut machine = fingerprint::machine(plan.arena);
    let work = Work::new()?;
    let mut contenders = present(plan, &mut machine);
    // A quick run takes the quick variants and, on each row, also the variant known to be the fastest.
    let fastest = match plan.quick && !plan.check_only {
        true => records::fastest(plan.arena)?,
        false => Fastest::new(),
    };
    let rows_of = |manifest: &Manifest, variant: &Variant| -> BTreeSet<String> {
        let key = (manifest.name.clone(), variant.name.clone());
        let known = fastest.get(&key).filter(|_| manifest.name != plan.ours);
        let rows = plan
            .ops
            .iter()
            .filter(|op| known.is_some_and(|known| known.contains(&op.id)));
        rows.map(|op| op.id.clone()).collect()
    };
    let (built, broken) = build(plan, &mut contenders, rows_of)?;

    let exams: Vec<Exam> = plan.ops.iter().map(Exam::new).collect::<Result<_>>()?;
    let mut entrants: Vec<Entrant<'_>> = built
        .iter()
        .map(|job| {
            let mut entrant = Entrant::new(job.manifest, job.variant, &exams);
            if plan.quick
                && !job
                    .manifest
                    .variants(true)
                    .iter()
                    .any(|v| v.name == job.variant.name)
            {
                entrant.rows = Some(rows_of(job.manifest, job.variant));
            }
            entrant
        })
        .collect();
    schedule::examine(&mut entrants, &exams, &plan.settings, &work.0)?;
    let mut probed = false;
    if !plan.check_only {
        let ours = entrants.iter().find(|e| e.manifest.name == plan.ours);
        let control = ours.map(Entrant::control);
        entrants.extend(control);
        probed = schedule::race(&mut entrants, &exams, plan.ours, &plan.settings, &work.0)?;
    }

    for contender in &mut contenders {
        for entrant in entrants
            .iter()
            .filter(|e| e.manifest.name == contender.name)
        {
            contender.banners += entrant.banners;
            contender.loop_ns = contender.loop_ns.or(entrant.loop_ns);
            if let Some((runtime, version)) = &entrant.described {
                contender.runtime.clone_from(runtime);
                if contender.version.is_empty() {
                    contender.version.clone_from(version);
                }
            }
        }
    }
    let mut cells: Vec<Cell> = entrants.into_iter().flat_map(|e| e.cells).collect();
    let mut absent = |contender: &str, variant: &str, state: State, reason: Option<String>| {
        cells.extend(plan.ops.iter().map(|op| Cell {
            reason: reason.clone(),
            ..Cell::new(&op.id, contender, variant, state)
        }));
    };
    for (Job { manifest, variant }, reason) in broken {
        let state = State::SkippedBuild;
        absent(&manifest.name, &variant.name, state, Some(reason));
    }
    for contender in &contenders {
        if contender.state == State::SkippedToolchain {
            let reason = contender.reason.clone();
            absent(&contender.name, "", contender.state, reason);
        }
    }
    machine.load_after = fingerprint::load();
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        run: Run {
            mode: if plan.quick { "quick" } else { "full" }.to_owned(),
            command: plan.command.clone(),
            ours: plan.ours.to_owned(),
            started,
            seconds: clock.elapsed().as_secs_f64(),
            launches: plan.settings.launches,
            rounds: plan.settings.rounds,
            batch_ns: plan.settings.batch_ns,
            width: Some(plan.settings.width),
            probed,
            seed: plan.settings.seed,
            anchor: plan.anchor,
            noise_floor: None,
            noisy: false,
            filtered: schedule::queue_wait(std::process::id()).is_some(),
        },
        machine,
        contenders,
        ops: exams.iter().map(operation).collect::<Result<_>>()?,
        cells,
        pairs: Vec::new(),
        builds: Vec::new(),
        controls: Vec::new(),
        score: Score::default(),
    };
    if !plan.check_only {
        judge(&mut report);
        explain(&mut report, plan.arena)?;
    }
    Ok(report)
}

/// The contenders and what each one lacks; adds the versions of the available tools to `machine`.
fn present(plan: &Plan<'_>, machine: &mut Machine) -> Vec<Contender> {
    let mut contenders = Vec::new();
    for manifest in plan.manifests {
        let mut contender = contender(manifest);
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
type Builds<'a> = (Vec<Job<'a>>, Vec<(Job<'a>, String)>);

/// Builds the contenders whose tools are available.
fn build<'a>(
    plan: &Plan<'a>,
    contenders: &mut [Contender],
    rows_of: impl Fn(&Manifest, &Variant) -> BTreeSet<String>,
) -> Result<Builds<'a>> {
    let able = plan.manifests.iter().zip(&*contenders);
    let able = able.filter(|(_, contender)| contender.state == State::Ok);
    let jobs: Vec<Job<'a>> = able
        .flat_map(|(manifest, _)| {
            let mode = manifest.variants(plan.quick);
            let runs = |variant: &&Variant| {
                mode.iter().any(|v| v.name == variant.name)
                    || !rows_of(manifest, variant).is_empty()
            };
            let variants: Vec<&Variant> = manifest.variants.iter().filter(runs).collect();
            variants
                .into_iter()
                .map(move |variant| Job { manifest, variant })
        })
        .collect();
    let outcomes = builder::build(&jobs, plan.arena)?;
    let (mut built, mut broken) = (Vec::new(), Vec::new());
    for (job, outcome) in jobs.into_iter().zip(outcomes) {
        match outcome {
            None => built.push(job),
            Some(reason) => broken.push((job, reason)),
        }
    }
    for contender in contenders {
        let of = |job: &Job<'_>| job.manifest.name == contender.name;
        let own = built.iter().filter(|job| of(job));
        contender.variants = own.map(|job| job.variant.name.clone()).collect();
        let all = plan
            .manifests
            .iter()
            .find(|manifest| manifest.name == contender.name);
        let tried = |name: &str| {
            built
                .iter()
                .chain(broken.iter().map(|(job, _)| job))
                .any(|job| of(job) && job.variant.name == name)
        };
        let left_out = all
            .into_iter()
            .flat_map(|manifest| &manifest.variants)
            .filter(|v| !tried(&v.name));
        contender.left_out = left_out.map(|variant| variant.name.clone()).collect();
        if contender.state == State::Ok && contender.variants.is_empty() {
            let reason = broken.iter().find(|(job, _)| of(job));
            let reason = reason.map_or("its manifest names no variant", |(_, reason)| reason);
            contender.state = State::SkippedBuild;
            contender.reason = Some(reason.to_owned());
        }
    }
    Ok((built, broken))
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

/// Ratios per round (time of `b` / time of `a`), grouped by launch. Only rounds that both finished count.
pub fn ratios(a: &Cell, b: &Cell) -> Vec<Vec<f64>> {
    let key = |batch: &Batch| (batch.launch, batch.round);
    let ours: BTreeMap<(u32, u32), f64> = a.batches.iter().map(|x| (key(x), x.time())).collect();
    let mut launches: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for batch in &b.batches {
        if let Some(ours) = ours.get(&key(batch)) {
            launches
                .entry(batch.launch)
                .or_default()
                .push(batch.time() / ours);
        }
    }
    launches.into_values().collect()
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
        let found = stats::interval(&ratios(twin?, control))?;
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
        if peers.is_empty() {
            score.alone += 1;
        }
        let time = |cell: &Cell| cell.ns.unwrap_or(f64::INFINITY);
        let fastest = peers
            .iter()
            .copied()
            .min_by(|a, b| time(a).total_cmp(&time(b)));
        // A row on which our adapter differs from itself gives no verdict on others.
        let loud = report.run.noisy || false_ones.contains(&op.id);
        for &peer in &peers {
            let best_peer = fastest.is_some_and(|fastest| std::ptr::eq(fastest, peer));
            let pair = |ours: &Cell| {
                let found = stats::interval(&ratios(ours, peer))?;
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
        state: State::Ok,
        reason: None,
        hint: None,
        loop_ns: None,
        banners: 0,
        published: manifest.published.clone(),
    }
}

fn operation(exam: &Exam) -> Result<Operation> {
    let op = &exam.op;
    Ok(Operation {
        id: op.id.clone(),
        family: op.family.clone(),
        kernel: op.kernel.clone(),
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
            .then(|| exam.main.bytes as f64 / (op.items * op.ops_per_call) as f64),
        gas: if precompile::is_row(op) {
            precompile::nominal(op)?
        } else {
            None
        },
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
