//! The schedule of a race. Every launch starts new processes from new copies of the programs. Every operation runs in
//! paired rounds of all contenders in random order. A batch that had to wait for a processor or shared its core is run
//! again, and rows with wide confidence intervals get more launches.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use crate::clocks::{self, Verdict};
use crate::correctness::{CorrectnessCheck, Set, Watch};
use crate::manifest::{Manifest, OURS, Variant};
use crate::probe::Probe;
use crate::protocol::{Failure, Process};
use crate::random::Random;
use crate::result::{Batch, Cell, State};
use crate::stats::{interval, median};

/// Number and duration of the measurements.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Launches (new processes) per variant.
    pub launches: u32,
    /// Maximum number of launches per variant on rows with wide intervals, including the first ones.
    pub most_launches: u32,
    /// Relative interval width below which a row gets no more launches.
    pub width: f64,
    /// Time limit for all additional launches, as a multiple of the time of the first ones.
    pub stretch: f64,
    /// Rounds per launch and operation.
    pub rounds: u32,
    /// Target duration of a batch in nanoseconds.
    pub batch_ns: u64,
    /// Time limit for the warm-up of an operation in a launch.
    pub warm_up: Duration,
    /// Time limit of one contender on one operation in a launch. If single calls are slow, further rounds are skipped
    /// once it is used up; the first round always runs.
    pub longest: Duration,
    /// Number of retries of a disturbed batch.
    pub retries: u32,
    /// Number of retries of a batch that shared its core.
    pub crowded_retries: u32,
    /// Time limit of a request.
    pub deadline: Duration,
    /// Seed of the permutations and the bootstrap.
    pub seed: u64,
}

impl Settings {
    /// Settings of a quick run, which takes minutes.
    pub fn quick() -> Self {
        Self {
            launches: 6,
            rounds: 3,
            most_launches: 25,
            width: 0.04,
            stretch: 0.5,
            // The clocks may differ by 2 %, so the overhead of a request must be below that.
            batch_ns: 10_000_000,
            warm_up: Duration::from_millis(300),
            longest: Duration::from_millis(600),
            retries: 6,
            crowded_retries: 2,
            deadline: Duration::from_secs(20),
            seed: 1,
        }
    }

    /// Settings of a full run, which has no time limit.
    pub fn full() -> Self {
        Self {
            launches: 15,
            rounds: 5,
            most_launches: 60,
            width: 0.02,
            stretch: 1.0,
            warm_up: Duration::from_secs(2),
            longest: Duration::from_secs(3),
            retries: 20,
            crowded_retries: 5,
            deadline: Duration::from_secs(60),
            ..Self::quick()
        }
    }
}

/// Batches in a warm-up window.
const WINDOW: usize = 5;
/// Target duration of a warm-up batch in nanoseconds.
const WARM_UP_NS: u64 = 1_000_000;
/// Maximum relative difference of two warm-up windows that agree.
const AGREE: f64 = 0.03;
/// A contender that had to be restarted this often is excluded from the rest of the launch.
const RESTARTS: u32 = 8;

/// The command of one launch, with private copies of its files: the program, if it is one of the contender's files, and
/// the files that the manifest lists as `copies`. The kernel places a program in memory when its file is written, so
/// launches from one file would all share one placement, and identical programs would differ by up to 6 %.
struct Copy {
    run: Vec<String>,
    folder: Option<PathBuf>,
}

impl Copy {
    /// Copies the files into a new folder in `work`. A system program (a bare name), or a link to one, is not copied.
    fn new(variant: &Variant, manifest: &Path, work: &Path) -> std::io::Result<Self> {
        static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let mut run = variant.run.clone();
        let program = variant.run.first().filter(|program| {
            let regular = |path: &Path| fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
            program.contains('/') && regular(&manifest.join(program))
        });
        let files: Vec<&String> = program.into_iter().chain(&variant.copies).collect();
        if files.is_empty() {
            return Ok(Self { run, folder: None });
        }
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = work.join(format!("launch-{number}"));
        fs::create_dir(&folder)?;
        for (index, file) in files.into_iter().enumerate() {
            let from = manifest.join(file);
            // Two files may have the same name.
            let place = folder.join(index.to_string());
            fs::create_dir(&place)?;
            let to = place.join(from.file_name().unwrap_or_default());
            fs::copy(&from, &to)?;
            for word in &mut run {
                *word = word.replace(file.as_str(), &to.to_string_lossy());
            }
        }
        Ok(Self {
            run,
            folder: Some(folder),
        })
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            // If this fails, the folder is removed with the work folder.
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// A variant of a contender in the race.
pub struct Candidate<'a> {
    /// The contender.
    pub manifest: &'a Manifest,
    /// Its variant.
    pub variant: &'a Variant,
    /// Results, one per operation.
    pub cells: Vec<Cell>,
    /// Calls per batch, for each operation that passed the correctness check.
    pub calls: Vec<Option<u64>>,
    /// Time of one iteration of its empty loop in nanoseconds.
    pub loop_ns: Option<f64>,
    /// Number of lines skipped in the output of all its processes.
    pub banners: u64,
    /// The rows it runs on; `None` means all. In a quick run, a variant that is included only because a record lists it
    /// as the fastest on some rows runs on those rows only.
    pub rows: Option<BTreeSet<String>>,
    /// The runtime and version that it reports.
    pub described: Option<(String, String)>,
    process: Option<Process>,
    copy: Option<Copy>,
    starts: u32,
    allowed: u32,
    last: String,
}

impl<'a> Candidate<'a> {
    /// A candidate that has not been started.
    pub fn new(manifest: &'a Manifest, variant: &'a Variant, checks: &[CorrectnessCheck]) -> Self {
        let (name, state) = (&manifest.name, State::Unsupported);
        let cells = checks
            .iter()
            .map(|check| Cell::new(&check.op.id, name, &variant.name, state));
        Self {
            manifest,
            variant,
            cells: cells.collect(),
            calls: vec![None; checks.len()],
            loop_ns: None,
            banners: 0,
            rows: None,
            described: None,
            process: None,
            copy: None,
            starts: 0,
            allowed: RESTARTS,
            last: String::new(),
        }
    }

    /// A second instance of the same program, already checked. Its deviation from the first one is noise.
    pub fn control(&self) -> Self {
        let mut control = Self {
            calls: self.calls.clone(),
            cells: self.cells.clone(),
            ..Self::new(self.manifest, self.variant, &[])
        };
        for cell in &mut control.cells {
            cell.control = true;
        }
        control
    }

    /// For example `alloy/native`.
    fn label(&self) -> String {
        format!("{}/{}", self.manifest.name, self.variant.name)
    }

    fn stop(&mut self) {
        if let Some(process) = self.process.take() {
            self.banners += process.banners;
        }
        self.copy = None;
    }

    /// The running process; starts one if necessary.
    fn running(&mut self, folder: &Path, deadline: Duration) -> Result<&mut Process, Failure> {
        if self.process.is_none() {
            if self.starts >= self.allowed {
                return Err(Failure::Crash(format!(
                    "{} starts used up; last: {}",
                    self.allowed, self.last
                )));
            }
            self.starts += 1;
            let copy = Copy::new(self.variant, &self.manifest.folder, folder)
                .map_err(|error| Failure::Crash(format!("copying the program: {error}")))?;
            let process = Process::start(
                &copy.run,
                &self.manifest.folder,
                &self.variant.env,
                folder,
                deadline,
            )?;
            let about = &process.description;
            self.described = Some((about.runtime.clone(), about.version.clone()));
            self.process = Some(process);
            self.copy = Some(copy);
        }
        self.process
            .as_mut()
            .ok_or_else(|| Failure::Crash("not running".into()))
    }

    /// Records a failure on an operation, and ends the process after a crash or a timeout.
    fn fail(&mut self, op: usize, failure: &Failure) {
        let cell = &mut self.cells[op];
        cell.state = match failure {
            Failure::Unsupported(_) => State::Unsupported,
            // In-tree code is reviewed, so doubtful times only withhold its result. Out-of-tree contenders fail.
            Failure::Times(_) if !self.manifest.foreign => State::Noisy,
            Failure::Rejected(_) | Failure::Wrong(_) | Failure::Times(_) => State::FailedVerify,
            Failure::Crash(_) => State::FailedCrash,
            Failure::Timeout(_) => State::Timeout,
        };
        cell.reason = Some(failure.to_string());
        cell.batches.clear();
        cell.disturbed = 0;
        self.calls[op] = None;
        if matches!(failure, Failure::Crash(_) | Failure::Timeout(_)) {
            self.stop();
            // Do not keep the message that all starts are used up, which quotes the previous one.
            if self.starts < self.allowed || self.last.is_empty() {
                self.last = failure.to_string();
            }
        }
    }
}

/// Checks the correctness of every contender on every operation; sets cell states and batch lengths.
pub fn check(
    candidates: &mut [Candidate<'_>],
    checks: &[CorrectnessCheck],
    settings: &Settings,
    folder: &Path,
) -> Result<()> {
    let bar = bar("checking", candidates.len() * checks.len())?;
    for candidate in candidates {
        bar.set_message(candidate.label());
        if bar.is_hidden() {
            eprintln!("checking {}", candidate.label());
        }
        for (op, check) in checks.iter().enumerate() {
            let runs = candidate
                .rows
                .as_ref()
                .is_none_or(|rows| rows.contains(&check.op.id));
            if !runs {
                candidate.cells[op].reason =
                    Some("left out of quick runs: another variant is faster here".into());
                bar.inc(1);
                continue;
            }
            if let Err(failure) = check_one(candidate, op, check, settings, folder) {
                candidate.fail(op, &failure);
            }
            bar.inc(1);
        }
        candidate.stop();
    }
    bar.finish_and_clear();
    Ok(())
}

fn check_one(
    candidate: &mut Candidate<'_>,
    op: usize,
    check: &CorrectnessCheck,
    settings: &Settings,
    folder: &Path,
) -> Result<(), Failure> {
    let deadline = settings.deadline;
    let mut quick = candidate.manifest.variants(true).into_iter();
    if check.op.full && !quick.any(|variant| variant.name == candidate.variant.name) {
        let reason = "so long a row is for the variants of quick runs";
        return Err(Failure::Unsupported(reason.into()));
    }
    let measure_loop = candidate.loop_ns.is_none();
    let foreign = candidate.manifest.foreign;
    let process = candidate.running(folder, deadline)?;
    let pass = check.pass(process, deadline)?;
    check.main.prepare(process, &check.op.call, deadline)?;
    let hot = calibrate(process, &check.main, settings)?;
    match check.clock(process, hot, deadline) {
        // The runtime may still be compiling; the race checks the clocks again.
        Err(Failure::Times(_)) if !foreign => {}
        other => other?,
    }
    let allocations = check.allocations(process, hot, deadline);
    let empty = match measure_loop {
        // A contender may lack `noop`; the result is informational.
        true => process
            .noop(200_000, deadline)
            .ok()
            .map(|(ns, _)| ns as f64 / 200_000.0),
        false => None,
    };
    let cell = &mut candidate.cells[op];
    cell.state = State::Ok;
    cell.negatives_checked = pass.accepted.is_some();
    if let Some(reason) = check.doubt(&pass, allocations.as_ref(), foreign) {
        cell.state = State::Lax;
        cell.reason = Some(reason);
    }
    if let Some(counts) = allocations {
        let per_op = |n: u64| n as f64 / (counts.n * check.op.ops_per_call as u64) as f64;
        cell.alloc_bytes = counts.bytes.map(per_op);
        cell.allocs = counts.count.map(per_op);
        cell.peak_bytes = counts.peak;
        cell.gc = counts.gc.map(per_op);
        // At least 1, since a contender may report only zeros.
        let whole = counts
            .steps
            .iter()
            .map(|(_, ns)| *ns as f64)
            .sum::<f64>()
            .max(1.0);
        let shares = counts.steps.into_iter();
        cell.steps = shares.map(|(step, ns)| (step, ns as f64 / whole)).collect();
    }
    candidate.calls[op] = Some(calls(
        hot,
        check.main.expected.len() as u64,
        settings.batch_ns,
        check.op.whole_turns,
    ));
    if measure_loop {
        candidate.loop_ns = empty;
    }
    Ok(())
}

/// Number of calls in a batch of about `batch_ns`. Uses whole passes over the items if one pass takes at most 64 ms, so
/// that all contenders do the same work, or if `whole` is set; otherwise at least one call.
fn calls(hot: f64, items: u64, batch_ns: u64, whole: bool) -> u64 {
    let wanted = batch_ns as f64 / hot.max(0.1);
    if whole || hot * items as f64 <= 64e6 {
        let turns = (wanted / items as f64).round().max(1.0);
        turns as u64 * items
    } else {
        wanted.round().max(1.0) as u64
    }
}

/// Measures the warm time of a call in nanoseconds.
fn calibrate(process: &mut Process, set: &Set, settings: &Settings) -> Result<f64, Failure> {
    let mut n = 1u64;
    loop {
        let batch = set.run(process, n, settings.deadline)?;
        if batch.ns * 2 >= settings.batch_ns || n >= 1 << 32 {
            return warm_up(process, set, n, settings);
        }
        let factor = settings.batch_ns as f64 / batch.ns.max(1) as f64;
        n = (n as f64 * factor.clamp(2.0, 16.0)) as u64;
    }
}

/// Runs batches until the medians of two consecutive windows agree or the time is up; returns the time of a call in the
/// last window in nanoseconds.
fn warm_up(process: &mut Process, set: &Set, n: u64, settings: &Settings) -> Result<f64, Failure> {
    let start = Instant::now();
    let mut before = f64::INFINITY;
    let share = WARM_UP_NS as f64 / settings.batch_ns.max(WARM_UP_NS) as f64;
    let n = ((n as f64 * share) as u64).max(1);
    loop {
        let mut window = Vec::with_capacity(WINDOW);
        for _ in 0..WINDOW {
            window.push(set.run(process, n, settings.deadline)?.ns as f64 / n as f64);
            // A single slow call is as informative as many fast ones.
            if window[0] * n as f64 > 10.0 * WARM_UP_NS as f64 {
                break;
            }
        }
        let now = median(&mut window);
        if (now / before - 1.0).abs() < AGREE || start.elapsed() > settings.warm_up {
            return Ok(now);
        }
        before = now;
    }
}

/// Runs all launches and rounds; returns whether the probe of shared cores worked.
pub fn race(
    candidates: &mut [Candidate<'_>],
    checks: &[CorrectnessCheck],
    ours: &str,
    settings: &Settings,
    folder: &Path,
) -> Result<bool> {
    let mut random = Random::new(settings.seed);
    let mut probe = Probe::new();
    let everybody = vec![true; candidates.len()];
    let start = Instant::now();
    let steps = settings.launches as usize * checks.len();
    let first = bar("racing", steps)?;
    for launch in 0..settings.launches {
        if first.is_hidden() {
            eprintln!("launch {} of {}", launch + 1, settings.launches);
        }
        relaunch(candidates);
        let mut referee = Referee::default();
        for (op, check) in checks.iter().enumerate() {
            first.set_message(check.op.id.clone());
            if !check.op.full || launch == 0 {
                let mut rounds = Rounds {
                    who: &everybody,
                    probe: &mut probe,
                    random: &mut random,
                    referee: &mut referee,
                };
                round_robin(candidates, op, check, launch, settings, folder, &mut rounds);
            }
            first.inc(1);
        }
    }
    first.finish_and_clear();

    // Rows that are still open get more launches until the time limit.
    let end = Instant::now() + start.elapsed().mul_f64(settings.stretch);
    for launch in settings.launches..settings.most_launches {
        let rows = checks
            .iter()
            .enumerate()
            .filter(|(_, check)| !check.op.full);
        let open: Vec<(usize, Vec<bool>)> = rows
            .map(|(op, _)| (op, open(candidates, op, ours, settings.width)))
            .filter(|(_, open)| open.contains(&true))
            .collect();
        if open.is_empty() || Instant::now() >= end {
            break;
        }
        let more = bar("narrowing", open.len())?;
        if more.is_hidden() {
            eprintln!("launch {}: {} rows are open", launch + 1, open.len());
        }
        relaunch(candidates);
        let mut referee = Referee::default();
        for (op, who) in open {
            if Instant::now() >= end {
                break;
            }
            let check = &checks[op];
            more.set_message(check.op.id.clone());
            let mut rounds = Rounds {
                who: &who,
                probe: &mut probe,
                random: &mut random,
                referee: &mut referee,
            };
            round_robin(candidates, op, check, launch, settings, folder, &mut rounds);
            more.inc(1);
        }
        more.finish_and_clear();
    }

    for candidate in candidates {
        candidate.stop();
        for cell in &mut candidate.cells {
            if cell.state == State::Ok && cell.disturbed as usize * 2 > cell.batches.len() {
                cell.state = State::Noisy;
                cell.reason = Some(format!(
                    "{} of {} batches had to wait for a processor",
                    cell.disturbed,
                    cell.batches.len()
                ));
            }
        }
    }
    Ok(probe.works())
}

/// Ends all processes, so that the next launch starts new ones.
fn relaunch(candidates: &mut [Candidate<'_>]) {
    for candidate in candidates {
        candidate.stop();
        candidate.allowed = candidate.starts + RESTARTS;
    }
}

/// A ratio this far from 1 does not need a narrow interval.
const FAR: f64 = 1.25;

/// Selects who runs again on a row: our stock build, its control, and every peer whose interval is wider than `width`
/// and not far from 1. The rule does not depend on the verdict, because it would then stop as soon as chance favours
/// one side.
fn open(candidates: &[Candidate<'_>], op: usize, ours: &str, width: f64) -> Vec<bool> {
    let cell = |index: usize| &candidates[index].cells[op];
    let mut open = vec![false; candidates.len()];
    let stock =
        (0..candidates.len()).find(|&i| candidates[i].manifest.name == ours && !cell(i).control);
    let Some(stock) = stock.filter(|&i| cell(i).state == State::Ok) else {
        return open;
    };
    let median_time = |index: usize| {
        median(
            &mut cell(index)
                .batches
                .iter()
                .map(Batch::time)
                .collect::<Vec<_>>(),
        )
    };
    for index in 0..candidates.len() {
        let name = &candidates[index].manifest.name;
        // A contender is judged by its fastest variant.
        let rivals = (0..candidates.len()).filter(|&i| candidates[i].manifest.name == *name);
        let scored = rivals
            .filter(|&i| cell(i).state == State::Ok && !cell(i).batches.is_empty())
            .min_by(|&a, &b| median_time(a).total_cmp(&median_time(b)));
        if name != ours
            && scored == Some(index)
            && let Some(found) = interval(&cell(stock).ratios(cell(index)))
        {
            open[index] = found.width() > width && found.lo < FAR && found.hi > 1.0 / FAR;
        }
    }
    if open.contains(&true) {
        for (index, open) in open.iter_mut().enumerate() {
            *open |= index == stock || cell(index).control;
        }
    }
    open
}

/// The participants in the rounds of a row, and their shared state.
struct Rounds<'a> {
    who: &'a [bool],
    probe: &'a mut Probe,
    random: &'a mut Random,
    referee: &'a mut Referee,
}

fn round_robin(
    candidates: &mut [Candidate<'_>],
    op: usize,
    check: &CorrectnessCheck,
    launch: u32,
    settings: &Settings,
    folder: &Path,
    rounds: &mut Rounds<'_>,
) {
    let Rounds {
        who,
        probe,
        random,
        referee,
    } = rounds;
    // On these rows an attempt takes seconds.
    let few = Settings {
        retries: 1,
        crowded_retries: 0,
        ..settings.clone()
    };
    let settings = if check.op.full { &few } else { settings };
    // The same kind of items was drawn before, so this cannot fail only here.
    let drawn = check.launch().ok().flatten();
    let set = drawn.as_ref().unwrap_or(&check.main);
    let mut watches: BTreeMap<usize, Watch> = BTreeMap::new();
    let mut order: Vec<usize> = (0..candidates.len()).filter(|&index| who[index]).collect();
    random.shuffle(&mut order);
    let mut slowest = 0f64;
    for &index in &order {
        let candidate = &mut candidates[index];
        let Some(n) = candidate.calls[op] else {
            continue;
        };
        let ready = candidate
            .running(folder, settings.deadline)
            .and_then(|process| {
                set.prepare(process, &check.op.call, settings.deadline)?;
                let hot = warm_up(process, set, n, settings)?;
                slowest = slowest.max(hot * n as f64);
                process.collect(settings.deadline)
            });
        if let Err(failure) = ready {
            candidate.fail(op, &failure);
        }
    }
    let affordable = settings.longest.as_nanos() as f64 / slowest.max(1.0);
    for round in 0..settings.rounds.min(affordable.max(1.0) as u32) {
        random.shuffle(&mut order);
        for &index in &order {
            let candidate = &mut candidates[index];
            let Some(n) = candidate.calls[op] else {
                continue;
            };
            let watch = watches.entry(index).or_default();
            let timed = candidate
                .running(folder, settings.deadline)
                .and_then(|process| calm_batch(process, set, n, settings, probe, watch));
            match timed {
                Ok(None) => {}
                Ok(Some(calm)) => {
                    let cell = &mut candidate.cells[op];
                    cell.batches.push(Batch {
                        launch,
                        round,
                        n,
                        ns: clocks::charged(&calm.batch, check.op.threads),
                        wall: Some(calm.batch.wall),
                        cpu: calm.batch.cpu,
                    });
                    cell.disturbed += u32::from(calm.disturbed);
                    cell.crowded += u32::from(calm.crowded);
                }
                Err(failure) => candidate.fail(op, &failure),
            }
        }
    }
    let row = Row {
        op,
        check,
        set,
        settings,
        folder,
    };
    finish(candidates, row, &watches, referee);
}

/// A row in a launch, with that launch's items.
#[derive(Clone, Copy)]
struct Row<'a> {
    op: usize,
    check: &'a CorrectnessCheck,
    set: &'a Set,
    settings: &'a Settings,
    folder: &'a Path,
}

/// A second process of an in-tree contender, which reruns sampled batches of all others. One serves a whole launch.
#[derive(Default)]
struct Referee(Option<(usize, Process)>);

impl Referee {
    /// Loads the items of a row into the referee and returns it. The referee is an in-tree contender that runs the row,
    /// ours if it takes part.
    fn ready(&mut self, candidates: &[Candidate<'_>], row: Row<'_>) -> Option<&mut Process> {
        let deadline = row.settings.deadline;
        let runs = (0..candidates.len()).filter(|&index| {
            let candidate = &candidates[index];
            candidate.calls[row.op].is_some() && !candidate.manifest.foreign
        });
        let wanted = runs.min_by_key(|&index| candidates[index].manifest.name != OURS)?;
        if self.0.as_ref().is_none_or(|(index, _)| *index != wanted) {
            let candidate = &candidates[wanted];
            let (run, env) = (&candidate.variant.run, &candidate.variant.env);
            let from = &candidate.manifest.folder;
            let process = Process::start(run, from, env, row.folder, deadline).ok()?;
            self.0 = Some((wanted, process));
        }
        let (_, process) = self.0.as_mut()?;
        if row
            .set
            .prepare(process, &row.check.op.call, deadline)
            .is_err()
        {
            self.0 = None;
            return None;
        }
        self.0.as_mut().map(|(_, process)| process)
    }
}

/// Final checks of a row in a launch: clocks, threads, and checksums compared with the referee.
fn finish(
    candidates: &mut [Candidate<'_>],
    row: Row<'_>,
    watches: &BTreeMap<usize, Watch>,
    referee: &mut Referee,
) {
    let Row {
        op,
        check,
        set,
        settings,
        folder,
    } = row;
    let mut process = match check.op.change.is_some() {
        true => referee.ready(candidates, row),
        false => None,
    };
    let new = check.newcomers().ok().flatten();
    for (&index, watch) in watches {
        let candidate = &mut candidates[index];
        if candidate.calls[op].is_none() {
            continue;
        }
        let checked = watch
            .finish(&check.op, set, process.as_deref_mut(), settings.deadline)
            .and_then(|()| match watch.hot() {
                Some(hot) if !check.op.change.is_some() => {
                    let process = candidate.running(folder, settings.deadline)?;
                    check.fresh(process, hot, new.as_ref(), settings.deadline)
                }
                _ => Ok(()),
            });
        if let Err(failure) = checked {
            candidate.fail(op, &failure);
        }
    }
}

/// A batch and how it was disturbed.
struct Calm {
    batch: crate::protocol::Batch,
    disturbed: bool,
    crowded: bool,
}

/// Runs a batch until it did not share its core, or returns the last attempt.
fn calm_batch(
    process: &mut Process,
    set: &Set,
    n: u64,
    settings: &Settings,
    probe: &mut Probe,
    watch: &mut Watch,
) -> Result<Option<Calm>, Failure> {
    let mut tries = 0..settings.crowded_retries;
    loop {
        let Some((batch, disturbed)) = quiet_batch(process, set, n, settings, watch)? else {
            return Ok(None);
        };
        let crowded = probe.crowded(process.id());
        if !crowded || tries.next().is_none() {
            return Ok(Some(Calm {
                batch,
                disturbed,
                crowded,
            }));
        }
        // Load from neighbours changes within milliseconds.
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Runs a batch until it did not wait for a processor and its clocks agree, or returns the least disturbed attempt as
/// `(batch, disturbed)`; `None` if the clocks of no attempt agree.
fn quiet_batch(
    process: &mut Process,
    set: &Set,
    n: u64,
    settings: &Settings,
    watch: &mut Watch,
) -> Result<Option<(crate::protocol::Batch, bool)>, Failure> {
    let mut kept: Option<crate::protocol::Batch> = None;
    for _ in 0..=settings.retries {
        let batch = set.run(process, n, settings.deadline)?;
        match watch.judge(process, set, &batch, settings.deadline) {
            Verdict::Agree => return Ok(Some((batch, false))),
            Verdict::Disturbed => {
                let waits = |batch: &crate::protocol::Batch| batch.waited.unwrap_or(0);
                if kept.is_none_or(|kept| waits(&batch) < waits(&kept)) {
                    kept = Some(batch);
                }
            }
            Verdict::Disagree(_) => {}
        }
    }
    Ok(kept.map(|batch| (batch, true)))
}

fn bar(name: &'static str, steps: usize) -> Result<ProgressBar> {
    let style = ProgressStyle::with_template(
        "{prefix} [{bar:30}] {pos}/{len} {elapsed} (about {eta} left) {msg}",
    )?;
    let bar = ProgressBar::new(steps as u64)
        .with_style(style)
        .with_prefix(name);
    bar.enable_steady_tick(Duration::from_millis(200));
    Ok(bar)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_launch_has_files_of_its_own() {
        let folder = std::env::temp_dir().join(format!("arena-copies-{}", std::process::id()));
        let (home, work) = (folder.join("home"), folder.join("work"));
        fs::create_dir_all(home.join("target")).unwrap();
        fs::create_dir_all(&work).unwrap();
        fs::write(home.join("program"), "one").unwrap();
        fs::write(home.join("target/code.go"), "two").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("program", home.join("link")).unwrap();
        let variant = |run: &[&str], copies: &[&str]| Variant {
            needs: Vec::new(),
            name: "only".into(),
            quick: true,
            left_out: false,
            env: Default::default(),
            cwd: None,
            build: Vec::new(),
            run: run.iter().map(|word| (*word).to_owned()).collect(),
            copies: copies.iter().map(|word| (*word).to_owned()).collect(),
        };
        let native = variant(&["./program", "word"], &[]);
        let first = Copy::new(&native, &home, &work).unwrap();
        let second = Copy::new(&native, &home, &work).unwrap();
        assert_ne!(first.run[0], second.run[0]);
        for copy in [&first, &second] {
            assert!(Path::new(&copy.run[0]).starts_with(&work) && copy.run[1] == "word");
            assert_eq!(fs::read_to_string(&copy.run[0]).unwrap(), "one");
        }
        let gone = PathBuf::from(&first.run[0]);
        drop(first);
        assert!(!gone.exists() && Path::new(&second.run[0]).exists());
        // Compiled code that an interpreter loads.
        let guile = variant(
            &["guile", "-c", "(load-compiled \"target/code.go\")"],
            &["target/code.go"],
        );
        let copy = Copy::new(&guile, &home, &work).unwrap();
        assert_eq!(copy.run[0], "guile");
        let path = copy.run[2].split('"').nth(1).unwrap();
        assert!(path.starts_with(&*work.to_string_lossy()));
        assert_eq!(fs::read_to_string(path).unwrap(), "two");
        // A program found through PATH, and a link, which may be the interpreter of a virtual environment, are not
        // copied.
        for run in [["node", "adapter.mjs"], ["./link", "adapter.py"]] {
            let same = Copy::new(&variant(&run, &[]), &home, &work).unwrap();
            assert_eq!(same.run, run);
        }
        assert!(Copy::new(&variant(&["x"], &["nothing"]), &home, &work).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn batches_are_whole_turns_where_that_is_cheap() {
        assert_eq!(calls(100.0, 1, 1_000_000, false), 10_000);
        assert_eq!(calls(100.0, 256, 1_000_000, false), 39 * 256);
        assert_eq!(calls(100_000.0, 256, 1_000_000, false), 256);
        assert_eq!(calls(2_000_000.0, 256, 1_000_000, false), 1);
        assert_eq!(calls(2_000_000.0, 256, 1_000_000, true), 256);
        assert_eq!(calls(400_000.0, 256, 1_000_000, false), 3);
        assert_eq!(calls(0.0, 1, 1_000_000, false), 10_000_000);
    }
}
