//! A run from beginning to end: who can take part, builds, the gate, the race, the verdicts.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::builder::{self, Job};
use crate::fingerprint;
use crate::gate::Exam;
use crate::manifest::{self, Manifest, Variant};
use crate::ops::{Memory, Op};
use crate::precompile;
use crate::result::{
    Batch, Cell, Contender, Control, Count, Operation, Pair, Report, Run, SCHEMA, Score, State,
};
use crate::schedule::{self, Entrant, Settings};
use crate::stats::{self, Verdict};

/// What to run.
pub struct Plan<'a> {
    /// Folder of the arena.
    pub arena: &'a Path,
    /// Rows.
    pub ops: &'a [Op],
    /// All contenders asked for, ours among them.
    pub manifests: &'a [Manifest],
    /// The contender that the others are held against.
    pub ours: &'a str,
    /// Quick variants only.
    pub quick: bool,
    /// How long and how often.
    pub settings: Settings,
    /// The command that repeats the run.
    pub command: String,
    /// Millions of gas in a second that gas prices are held against.
    pub anchor: Option<f64>,
    /// The gate only.
    pub check_only: bool,
}

/// Samples of the bootstrap.
const SAMPLES: usize = 2000;

/// Runs the plan.
pub fn run(plan: &Plan<'_>) -> Result<Report> {
    let (clock, started) = (Instant::now(), fingerprint::now());
    let mut machine = fingerprint::machine(plan.arena);
    let work = Work::new()?;

    // Who is there?
    let mut contenders: Vec<Contender> = plan.manifests.iter().map(contender).collect();
    for (contender, manifest) in contenders.iter_mut().zip(plan.manifests) {
        if let Some((reason, hint)) = manifest.missing() {
            contender.state = State::SkippedToolchain;
            contender.reason = Some(reason);
            contender.hint = Some(hint).filter(|hint| !hint.is_empty());
            continue;
        }
        for need in &manifest.needs {
            if let Ok(version) = manifest::check(need, &manifest.folder) {
                machine
                    .toolchains
                    .entry(need.command[0].clone())
                    .or_insert(version);
            }
        }
    }

    // Build them.
    let mut jobs = Vec::new();
    for (index, manifest) in plan.manifests.iter().enumerate() {
        if contenders[index].state == State::Ok {
            jobs.extend(
                manifest
                    .variants(plan.quick)
                    .into_iter()
                    .map(|variant| (index, variant)),
            );
        }
    }
    let tasks: Vec<Job<'_>> = jobs
        .iter()
        .map(|&(index, variant)| Job {
            manifest: &plan.manifests[index],
            variant,
        })
        .collect();
    let outcomes = builder::build(&tasks, plan.arena)?;
    let mut variants: Vec<(usize, &Variant)> = Vec::new();
    let mut broken: Vec<(usize, &Variant, String)> = Vec::new();
    for (&(index, variant), outcome) in jobs.iter().zip(outcomes) {
        match outcome {
            None => variants.push((index, variant)),
            Some(reason) => broken.push((index, variant, reason)),
        }
    }
    for (index, contender) in contenders.iter_mut().enumerate() {
        contender.variants = variants
            .iter()
            .filter(|(i, _)| *i == index)
            .map(|(_, v)| v.name.clone())
            .collect();
        let reason = broken.iter().find(|(i, _, _)| *i == index);
        if contender.state == State::Ok && contender.variants.is_empty() {
            contender.state = State::SkippedBuild;
            contender.reason = Some(
                reason.map_or("its manifest names no variant".into(), |(_, _, reason)| {
                    reason.clone()
                }),
            );
        }
    }

    // Examine and race them.
    let exams: Vec<Exam> = plan
        .ops
        .iter()
        .map(|op| Exam::new(op, &work.0))
        .collect::<Result<_>>()?;
    let mut entrants: Vec<Entrant<'_>> = Vec::new();
    for &(index, variant) in &variants {
        entrants.push(Entrant::new(&plan.manifests[index], variant, false, &exams));
    }
    let ours = variants
        .iter()
        .find(|(index, _)| plan.manifests[*index].name == plan.ours);
    if let (Some(&(index, variant)), false) = (ours, plan.check_only) {
        entrants.push(Entrant::new(&plan.manifests[index], variant, true, &exams));
    }
    schedule::examine(&mut entrants, &exams, &plan.settings, &work.0)?;
    if !plan.check_only {
        schedule::race(&mut entrants, &exams, &plan.settings, &work.0)?;
    }

    // Gather.
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
    let mut cells: Vec<Cell> = Vec::new();
    for entrant in entrants {
        cells.extend(entrant.cells);
    }
    let mut absent = |name: &str, variant: &str, state: State, reason: Option<String>| {
        cells.extend(plan.ops.iter().map(|op| Cell {
            op: op.id.clone(),
            contender: name.to_owned(),
            variant: variant.to_owned(),
            state,
            reason: reason.clone(),
            control: false,
            ns: None,
            alloc_bytes: None,
            allocs: None,
            peak_bytes: None,
            gc: None,
            disturbed: 0,
            negatives_checked: false,
            batches: Vec::new(),
        }));
    };
    for (index, variant, reason) in broken {
        absent(
            &plan.manifests[index].name,
            &variant.name,
            State::SkippedBuild,
            Some(reason),
        );
    }
    for contender in contenders
        .iter()
        .filter(|c| c.state == State::SkippedToolchain)
    {
        absent(
            &contender.name,
            "",
            contender.state,
            contender.reason.clone(),
        );
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

/// Joins the reasons of `losses.toml` to the losses; a reason that stands already stays where the file has none.
pub fn explain(report: &mut Report, arena: &Path) -> Result<()> {
    let losses = std::fs::read_to_string(arena.join("losses.toml")).unwrap_or_default();
    // Operation, contender, why it is lost.
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

/// Ratios round by round: time of `b` / time of `a`, grouped by launch. Only rounds that both finished count.
fn ratios(a: &Cell, b: &Cell) -> Vec<Vec<f64>> {
    let time = |batch: &Batch| batch.3 as f64 / batch.2 as f64;
    let ours: BTreeMap<(u32, u32), f64> = a.batches.iter().map(|x| ((x.0, x.1), time(x))).collect();
    let mut launches: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for batch in &b.batches {
        if let Some(ours) = ours.get(&(batch.0, batch.1)) {
            launches
                .entry(batch.0)
                .or_default()
                .push(time(batch) / ours);
        }
    }
    launches.into_values().collect()
}

/// Fills in controls, pairs and score from the cells.
pub fn judge(report: &mut Report) {
    let (seed, name) = (report.run.seed, report.run.ours.as_str());
    let interval = |a: &Cell, b: &Cell| stats::cluster_bootstrap(&ratios(a, b), SAMPLES, seed);
    let mut strays = BTreeMap::new();
    report.controls.clear();
    for control in report
        .cells
        .iter()
        .filter(|cell| cell.control && !cell.batches.is_empty())
    {
        let twin = report.cells.iter().find(|cell| {
            !cell.control
                && cell.op == control.op
                && cell.contender == control.contender
                && cell.variant == control.variant
        });
        // One launch does not tell how launches differ: such a row has no noise of its own, and so no verdict.
        let twin = twin.filter(|twin| ratios(twin, control).len() > 1);
        if let Some(found) = twin.and_then(|twin| interval(twin, control)) {
            strays.insert(control.op.clone(), stats::stray(&found));
            report.controls.push(Control {
                op: control.op.clone(),
                ratio: found.ratio,
                lo: found.lo,
                hi: found.hi,
            });
        }
    }
    let all: Vec<f64> = strays.values().copied().collect();
    let floor = stats::floor(&all);
    report.run.noise_floor = Some(floor).filter(|_| !all.is_empty());
    report.run.noisy = all.is_empty() || floor > stats::LOUDEST_FLOOR;

    let (mut pairs, mut builds, mut score) = (Vec::new(), Vec::new(), Score::default());
    for op in &report.ops {
        let peers: Vec<&str> = report
            .contenders
            .iter()
            .map(|contender| contender.name.as_str())
            .filter(|&peer| peer != name)
            .collect();
        let ours = report.best(&op.id, name);
        let Some(ours) = ours.filter(|cell| {
            matches!(cell.state, State::Ok | State::Noisy) && !cell.batches.is_empty()
        }) else {
            score.absent += 1;
            continue;
        };
        let raced: Vec<&Cell> = peers
            .iter()
            .filter_map(|name| report.best(&op.id, name))
            .filter(|cell| {
                matches!(cell.state, State::Ok | State::Noisy) && !cell.batches.is_empty()
            })
            .collect();
        let best = raced
            .iter()
            .filter_map(|cell| cell.ns)
            .fold(f64::INFINITY, f64::min);
        if raced.is_empty() {
            score.alone += 1;
        }
        let f = floor.max(strays.get(&op.id).copied().unwrap_or(f64::NAN));
        let mut best_taken = false;
        for peer in raced {
            let Some(found) = interval(ours, peer) else {
                continue;
            };
            let judged = |ours: &Cell, found: &stats::Interval| {
                let noisy = report.run.noisy
                    || !strays.contains_key(&op.id)
                    || ours.state == State::Noisy
                    || peer.state == State::Noisy;
                if noisy {
                    Verdict::Noisy
                } else {
                    stats::judge(found, f)
                }
            };
            let pair = |ours: &Cell, found: &stats::Interval, best_peer: bool| Pair {
                op: op.id.clone(),
                a: name.to_owned(),
                b: peer.contender.clone(),
                a_variant: ours.variant.clone(),
                b_variant: peer.variant.clone(),
                ratio: found.ratio,
                lo: found.lo,
                hi: found.hi,
                verdict: judged(ours, found),
                best_peer,
                reason: None,
            };
            let best_peer = !best_taken && peer.ns == Some(best);
            best_taken |= best_peer;
            let pair_of_stock = pair(ours, &found, best_peer);
            let verdict = pair_of_stock.verdict;
            score.pairs.add(verdict);
            if best_peer {
                score.best_peer.add(verdict);
                let others = report.cells.iter().filter(|cell| {
                    cell.op == op.id
                        && cell.contender == name
                        && cell.variant != ours.variant
                        && matches!(cell.state, State::Ok | State::Noisy)
                });
                builds.extend(
                    others.filter_map(|cell| Some(pair(cell, &interval(cell, peer)?, true))),
                );
            }
            pairs.push(pair_of_stock);
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

/// Won, tied, lost against one contender.
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

/// A folder of our own for items and outputs, removed at the end.
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
