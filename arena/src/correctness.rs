//! The correctness check. A contender is timed only after its outputs are correct on inputs it could not predict, and a
//! timed batch counts only if its checksum and its clocks are correct.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::blobs;
use crate::change::Words;
use crate::clocks::{self, Threads, Verdict};
use crate::family::{self, Selection};
use crate::kernel::{Ethereum, Kernel};
use crate::ops::{Input, Memory, Op};
use crate::protocol::{Allocations, Batch, Failure, Process};
use crate::sandbox::queue_wait;
use crate::truth::{Expected, hex, predict};

/// Time limit for checking one batch with the slow reference.
const TRUTH: Duration = Duration::from_millis(50);

/// Returns an unpredictable seed from the operating system.
pub fn seed() -> u32 {
    // No race can run without system randomness.
    getrandom::u32().unwrap_or_else(|error| unreachable!("random numbers of the system: {error}"))
}

/// A 64-bit [`seed`].
fn round() -> u64 {
    u64::from(seed()) << 32 | u64::from(seed())
}

/// Items and their expected outputs.
pub struct Set {
    op: Op,
    /// Name of the items file.
    name: String,
    /// The items in blobs format.
    blob: Vec<u8>,
    /// Total size of the items in bytes.
    pub bytes: usize,
    /// Expected outputs, in item order.
    pub expected: Vec<Expected>,
    /// Number of calls on changed items that the reference can check within [`TRUTH`]; zero without a reference.
    checkable: OnceLock<u64>,
}

impl Set {
    fn new(name: &str, op: &Op, selection: Selection) -> Result<Self> {
        let (items, expected) = family::of(op).cases(op, selection)?;
        Self::of(name, op, &items, expected)
    }

    fn of(name: &str, op: &Op, items: &[Vec<u8>], expected: Vec<Expected>) -> Result<Self> {
        Ok(Self {
            op: op.clone(),
            name: format!("{}.{name}.blobs", op.id),
            blob: blobs::join(items)?,
            bytes: items.iter().map(Vec::len).sum(),
            expected,
            checkable: OnceLock::new(),
        })
    }

    /// Writes the items to a new file in the contender's folder and loads them into it.
    pub fn prepare(
        &self,
        process: &mut Process,
        call: &str,
        deadline: Duration,
    ) -> Result<(), Failure> {
        self.load(process, call, deadline).map(drop)
    }

    /// Like [`Set::prepare`], but returns the CPU time that it took.
    fn load(
        &self,
        process: &mut Process,
        call: &str,
        deadline: Duration,
    ) -> Result<Option<u64>, Failure> {
        let disk = |error: std::io::Error| Failure::Crash(format!("the driver's files: {error}"));
        let path = process.file(&self.name);
        for _ in 0..3 {
            let _ = std::fs::remove_file(&path);
            std::fs::write(&path, &self.blob).map_err(disk)?;
            let mut rights = std::fs::metadata(&path).map_err(disk)?.permissions();
            rights.set_readonly(true);
            std::fs::set_permissions(&path, rights).map_err(disk)?;
            let prepared = process.prepare(call, &path, self.op.change, deadline);
            // All contenders run as the same user, so another contender may have modified this file.
            let same = std::fs::read(&path).is_ok_and(|found| found == self.blob);
            let _ = std::fs::remove_file(&path);
            if !same {
                continue;
            }
            let prepared = prepared?;
            if prepared.items != self.expected.len() as u64 {
                return Err(Failure::Wrong(format!(
                    "{} items of {}",
                    prepared.items,
                    self.expected.len()
                )));
            }
            return Ok(prepared.cpu);
        }
        Err(Failure::Crash(
            "its file of items was changed by another program".into(),
        ))
    }

    /// Whether this contender changes the items in its batches.
    fn changes(&self, process: &Process) -> bool {
        self.op.change.is_some() && process.changes
    }

    /// Runs a batch with a new seed. If items do not change, its checksum is verified here; if they do, `checked_batch`
    /// or [`Watch::finish`] verifies it.
    pub fn run(&self, process: &mut Process, n: u64, deadline: Duration) -> Result<Batch, Failure> {
        let batch = process.run(n, seed(), deadline)?;
        if !self.changes(process) {
            self.compare(&batch, predict(&self.expected, n))?;
        }
        Ok(batch)
    }

    /// Runs a batch of at most `n` calls and, if a reference exists, verifies its checksum.
    fn checked_batch(
        &self,
        process: &mut Process,
        n: u64,
        deadline: Duration,
    ) -> Result<Batch, Failure> {
        let n = match self.changes(process) {
            true => n.min(self.checkable().max(1)),
            false => n,
        };
        let batch = self.run(process, n, deadline)?;
        if self.changes(process)
            && let Some(right) = self.truth(&batch)
        {
            self.compare(&batch, right)?;
        }
        Ok(batch)
    }

    fn compare(&self, batch: &Batch, right: u64) -> Result<(), Failure> {
        if batch.acc == right {
            return Ok(());
        }
        Err(Failure::Wrong(format!(
            "{} calls sum up to {:016x}, not to {right:016x}",
            batch.n, batch.acc
        )))
    }

    /// Number of calls on changed items that the slow reference can check within [`TRUTH`].
    fn checkable(&self) -> u64 {
        *self.checkable.get_or_init(|| {
            let start = Instant::now();
            let mut calls = 0;
            let _ = self.changed_sum(u64::MAX, 1, &mut |_| {
                calls += 1;
                start.elapsed() < TRUTH
            });
            calls
        })
    }

    /// The expected checksum of a batch on changed items, or `None` if computing it takes too long or there is no
    /// reference.
    fn truth(&self, batch: &Batch) -> Option<u64> {
        if batch.n > self.checkable() {
            return None;
        }
        self.changed_sum(batch.n, batch.seed, &mut |_| true).ok()?
    }

    /// The checksum of `n` calls on changed items. Calls `go_on` after each one; returns `None` if it returned `false`
    /// or if there is no reference.
    fn changed_sum(
        &self,
        n: u64,
        seed: u32,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<u64>> {
        let op = &self.op;
        let family = family::of(op);
        let mut items = blobs::parse(&self.blob)?;
        let mut words = Words::new(seed);
        let mut sum = 0u64;
        for k in 0..n {
            let at = (k % items.len() as u64) as usize;
            let x = words.next().unwrap_or_default();
            family::change(op, &mut items[at], x)?;
            let Some(output) = family.expected(op, &items[at])? else {
                return Ok(None);
            };
            sum = sum.wrapping_add(output.sum);
            if !go_on(k) {
                return Ok(None);
            }
        }
        Ok(Some(sum))
    }

    /// Maximum size of all outputs in bytes, including their length prefixes. The limit exceeds the expected size so
    /// that overlong wrong outputs can be reported as wrong.
    fn limit(&self) -> u64 {
        let bytes: usize = self.expected.iter().map(|e| e.bytes.len() + 4).sum();
        2 * bytes as u64 + 65_536
    }

    fn verify(&self, process: &mut Process, deadline: Duration) -> Result<(), Failure> {
        let got = process.verify(self.limit(), deadline)?;
        if got.len() != self.expected.len() {
            return Err(Failure::Wrong(format!(
                "{} outputs for {} items",
                got.len(),
                self.expected.len()
            )));
        }
        for (index, (got, want)) in got.iter().zip(&self.expected).enumerate() {
            if *got != want.bytes {
                let at = got.iter().zip(&want.bytes).position(|(a, b)| a != b);
                let at = at.unwrap_or(got.len().min(want.bytes.len()));
                return Err(Failure::Wrong(format!(
                    "item {index}: byte {at} is {}, not {} ({} bytes, not {})",
                    got.get(at).map_or("missing".into(), |b| format!("{b:02x}")),
                    want.bytes
                        .get(at)
                        .map_or("the end".into(), |b| format!("{b:02x}")),
                    got.len(),
                    want.bytes.len()
                )));
            }
        }
        Ok(())
    }
}

/// A batch's time minus the time its threads waited for a processor: an upper bound on the time spent working.
fn busy_ns(set: &Set, process: &mut Process, n: u64, deadline: Duration) -> Result<f64, Failure> {
    let before = queue_wait(process.id());
    let ns = set.run(process, n, deadline)?.ns as f64;
    let waited = match (before, queue_wait(process.id())) {
        (Some(before), Some(after)) => after.saturating_sub(before) as f64,
        _ => 0.0,
    };
    Ok(ns - waited)
}

/// The batches of one contender on one row in one launch.
#[derive(Default)]
pub struct Watch {
    agreed: u32,
    disagreed: Option<String>,
    threads: Threads,
    /// Whether the contender changes its items.
    changes: bool,
    batches: Vec<Batch>,
}

impl Watch {
    /// Compares the clocks of a batch. A batch whose clocks disagree must not be counted.
    pub fn judge(
        &mut self,
        process: &mut Process,
        set: &Set,
        batch: &Batch,
        deadline: Duration,
    ) -> Verdict {
        self.changes = set.changes(process);
        let round_trip = process.round_trip(deadline);
        let verdict = clocks::judge(batch, round_trip, set.op.waits);
        match &verdict {
            Verdict::Agree => {
                self.agreed += 1;
                self.threads.add(batch, round_trip);
                self.batches.push(*batch);
            }
            Verdict::Disturbed => self.batches.push(*batch),
            Verdict::Disagree(reason) => self.disagreed = Some(reason.clone()),
        }
        verdict
    }

    /// Mean time of a call in nanoseconds; `None` without a batch.
    pub fn hot(&self) -> Option<f64> {
        let sum = |of: fn(&Batch) -> u64| self.batches.iter().map(of).sum::<u64>() as f64;
        (!self.batches.is_empty()).then(|| sum(|batch| batch.ns) / sum(|batch| batch.n))
    }

    /// Final check of a row in a launch: at least one batch had clocks that agree, the thread count is within the row's
    /// limit, and the checksums of sampled batches match the reference or `referee`, a process that has the same items.
    /// At least one batch, and on average a quarter of them, are compared; the sample is drawn only now.
    pub fn finish(
        &self,
        op: &Op,
        set: &Set,
        referee: Option<&mut Process>,
        deadline: Duration,
    ) -> Result<(), Failure> {
        if let (0, Some(reason)) = (self.agreed, &self.disagreed) {
            return Err(Failure::Times(reason.clone()));
        }
        if let Some(excess) = self.threads.excess(op.threads) {
            return Err(Failure::Times(excess));
        }
        if !self.changes || self.batches.is_empty() {
            return Ok(());
        }
        let sure = seed() as usize % self.batches.len();
        let sampled = self.batches.iter().enumerate();
        let sampled = sampled.filter(|(index, _)| *index == sure || seed().is_multiple_of(4));
        let mut referee = referee;
        for (_, batch) in sampled {
            let right = match (set.truth(batch), &mut referee) {
                (Some(right), _) => right,
                (None, Some(referee)) => {
                    // A failure of the referee is no evidence against the contender.
                    let Ok(again) = referee.run(batch.n, batch.seed, deadline) else {
                        continue;
                    };
                    again.acc
                }
                (None, None) => continue,
            };
            set.compare(batch, right)?;
        }
        Ok(())
    }
}

/// Everything needed to check and time one operation.
pub struct CorrectnessCheck {
    /// The benchmark row.
    pub op: Op,
    /// The row's own items.
    pub main: Set,
    probes: Vec<Set>,
    alternating: Option<Set>,
    negative: Option<(String, Vec<Vec<u8>>)>,
}

/// Maximum total size of a probe's items, in bytes.
const PROBE_BYTES: usize = 4 << 20;
/// Number of probe sets used in the correctness check.
const SHOWN: usize = 2;
/// A contender this many times faster on known items than on new ones is considered to be returning cached results.
/// The bound leaves room for mispredicted branches, which make encoders of varied documents slower on new ones.
const MEMORY: f64 = 4.0;
/// Maximum ratio of the CPU time of `prepare` to that of the same number of calls.
const PREPARE: f64 = 0.7;
/// CPU time that `prepare` may take in any case, in nanoseconds.
const PREPARE_FREE: f64 = 4e6;
/// Number of items for that measurement, and the time limit for drawing them.
const MANY: usize = 4096;
const DRAWING: Duration = Duration::from_millis(200);
/// Number of malformed inputs tried with the row's own call.
const SPOT_CHECKS: usize = 6;
/// This many calls in less than 10 ms cannot have been computed.
const MOST_CALLS: u64 = 1 << 32;

/// Properties of a contender that passed the correctness check.
#[derive(Clone, Debug)]
pub struct Pass {
    /// Malformed inputs that it accepts; `None` if this was not checked.
    pub accepted: Option<Vec<String>>,
    /// Whether it applies the row's change rule.
    pub changes: bool,
}

impl CorrectnessCheck {
    /// Draws the items of an operation.
    pub fn new(op: &Op) -> Result<Self> {
        let main = Set::new("main", op, Selection::Main)?;
        let count = (1024 / op.ops_per_call).min(PROBE_BYTES / op.size.max(1));
        let count = count.clamp(2, op.probes);
        // A row that takes seconds a call is checked on its own item only.
        let rounds = if op.full { 0 } else { SHOWN };
        let probes = (0..rounds)
            .map(|index| {
                let round = round();
                Set::new(
                    &format!("probe{index}"),
                    op,
                    Selection::Probe { round, count },
                )
            })
            .collect::<Result<_>>()?;
        let alternating = match op.input {
            Input::Report | Input::Fixture if !op.change.is_some() => {
                Some(Set::new("alternating", op, Selection::Alternating)?)
            }
            _ => None,
        };
        let negative = match &op.negative {
            None => None,
            Some(name) => Some((name.clone(), family::of(op).malformed(name)?)),
        };
        Ok(Self {
            op: op.clone(),
            main,
            probes,
            alternating,
            negative,
        })
    }

    /// The items of one launch: newly drawn ones if nothing changes them inside the clock and they can be drawn,
    /// otherwise `None`, which means the row's own items.
    pub fn launch(&self) -> Result<Option<Set>> {
        let op = &self.op;
        if op.change.is_some() || op.full || op.input != Input::Varied {
            return Ok(None);
        }
        let selection = Selection::Probe {
            round: round(),
            count: op.items,
        };
        Set::new("launch", op, selection).map(Some)
    }

    /// Runs the correctness check on a contender.
    pub fn pass(&self, process: &mut Process, deadline: Duration) -> Result<Pass, Failure> {
        let call = &self.op.call;
        if !process.offers(call) {
            return Err(Failure::Unsupported("not among its operations".into()));
        }
        let accepted = self.negatives(process, deadline)?;
        let items = self.main.expected.len() as u64;
        // An adapter may decline a negative row after describing it, but not the main row.
        self.main.prepare(process, call, deadline)?;
        let changes = process.changes;
        self.main.verify(process, deadline)?;
        if self.op.full {
            return Ok(Pass { accepted, changes });
        }
        // One more than two passes over the items, so that the count is not a multiple of the number of items.
        let slow = self.main.checked_batch(process, 1, deadline)?.ns > 1_000_000;
        self.main
            .checked_batch(process, if slow { 2 } else { 2 * items + 1 }, deadline)?;
        // Batches that change items must leave the original items intact.
        self.main.verify(process, deadline)?;
        for probe in &self.probes[..if slow { 1 } else { SHOWN }] {
            probe.prepare(process, call, deadline)?;
            probe.verify(process, deadline)?;
            let all = probe.expected.len() as u64;
            probe.checked_batch(process, if slow { 2.min(all) } else { all + 1 }, deadline)?;
        }
        Ok(Pass { accepted, changes })
    }

    /// The malformed inputs that the contender accepts, through its `neg:` operation or the row's own call; `None` if
    /// it does not offer the `neg:` operation.
    fn negatives(
        &self,
        process: &mut Process,
        deadline: Duration,
    ) -> Result<Option<Vec<String>>, Failure> {
        let Some((name, items)) = &self.negative else {
            return Ok(None);
        };
        if !process.offers(name) {
            return Ok(None);
        }
        let none = vec![
            Expected {
                bytes: vec![1],
                sum: 1
            };
            items.len()
        ];
        let crash = |error: anyhow::Error| Failure::Crash(format!("{error:#}"));
        let mut bad = Set::of("neg", &self.op, items, none).map_err(crash)?;
        bad.op.change = crate::change::Change::None;
        bad.prepare(process, name, deadline)?;
        let got = process.verify(bad.limit(), deadline)?;
        if got.len() != items.len() || got.iter().any(|g| !matches!(g.as_slice(), [0 | 1])) {
            return Err(Failure::Wrong(format!("{name}: not one 0 or 1 an item")));
        }
        let taken = got
            .iter()
            .zip(items)
            .filter(|(verdict, _)| **verdict == [0]);
        let mut accepted: Vec<String> = taken.map(|(_, item)| hex(item)).collect();
        let family = family::of(&self.op);
        // The row's own call must also reject them: one at a time, among valid items.
        let good = blobs::parse(&self.main.blob).map_err(crash)?;
        for _ in 0..SPOT_CHECKS {
            let bad = &items[seed() as usize % items.len()];
            let Some(item) = family.spoilt(&self.op, &good[0], bad) else {
                continue;
            };
            let mixed = [good[0].clone(), item, good[good.len() - 1].clone()];
            let any = vec![self.main.expected[0].clone(); mixed.len()];
            let set = Set::of("spoilt", &self.op, &mixed, any).map_err(crash)?;
            let refused = set
                .prepare(process, &self.op.call, deadline)
                .and_then(|()| process.verify(u64::from(u32::MAX), deadline).map(drop));
            match refused {
                Err(Failure::Rejected(_)) => {}
                // A crash does not count as a rejection; a process that has ended fails on its next request.
                Ok(()) | Err(Failure::Wrong(_) | Failure::Crash(_)) => {
                    if !accepted.contains(&hex(bad)) {
                        accepted.push(hex(bad));
                    }
                }
                Err(other) => return Err(other),
            }
        }
        Ok(Some(accepted))
    }

    /// New items for [`CorrectnessCheck::fresh`], as many as can be drawn within `DRAWING`; `None` if the check does
    /// not apply.
    pub fn newcomers(&self) -> Result<Option<Set>> {
        if self.op.full || self.op.change.is_some() || self.op.input != Input::Varied {
            return Ok(None);
        }
        let most = PROBE_BYTES
            / self
                .op
                .size
                .max(self.main.bytes / self.main.expected.len())
                .max(1);
        self.drawn(MANY.min(most).max(2)).map(Some)
    }

    /// Checks that the contender does not return cached results and does not compute its results in `prepare`. Only
    /// applies to rows whose items do not change inside the clock. It fails if the contender is much slower on items it
    /// sees for the first time than on known ones, or, on a row of one item, much slower on two alternating items; or
    /// if preparing items takes longer than computing on them. `hot` is its time per call on known items in
    /// nanoseconds, `new` comes from [`CorrectnessCheck::newcomers`].
    pub fn fresh(
        &self,
        process: &mut Process,
        hot: f64,
        new: Option<&Set>,
        deadline: Duration,
    ) -> Result<(), Failure> {
        let affordable = ((20e6 / hot.max(1.0)) as u64).max(2);
        if let Some(two) = &self.alternating {
            two.prepare(process, &self.op.call, deadline)?;
            let n = affordable.min(2000);
            let mut best = f64::INFINITY;
            for _ in 0..5 {
                best = best.min(busy_ns(two, process, n, deadline)? / n as f64);
                if best <= MEMORY * hot {
                    break;
                }
            }
            if best > MEMORY * hot {
                return Err(Failure::Times(format!(
                    "{hot:.0} ns a call on one item, {best:.0} ns on two in turn: it answers from memory"
                )));
            }
        }
        let Some(new) = new else {
            return Ok(());
        };
        let call = &self.op.call;
        let crash = |error: anyhow::Error| Failure::Crash(format!("{error:#}"));
        let one = self.drawn(1).map_err(crash)?;
        // An honest contender takes as long for new items as for known ones.
        let items = new.expected.len() as u64;
        let n = items.min(affordable);
        let mut told = String::new();
        for attempt in 0..3 {
            // Each further attempt needs items that the contender has not seen yet.
            let again = match attempt {
                0 => None,
                _ => Some(self.drawn(items as usize).map_err(crash)?),
            };
            let set = again.as_ref().unwrap_or(new);
            let few = one.load(process, call, deadline)?;
            let many = set.load(process, call, deadline)?;
            let calls = set.expected.len() as f64;
            let extra = many
                .zip(few)
                .map_or(0, |(many, few)| many.saturating_sub(few)) as f64;
            // Otherwise the first call would pay for garbage that `prepare` left: copying the items out of the young
            // generation.
            process.collect(deadline)?;
            let batch = process.run(n.min(set.expected.len() as u64), seed(), deadline)?;
            let first = batch.ns.saturating_sub(batch.waited.unwrap_or(0)) as f64;
            // The 100 µs allow for timer readings and a cold cache.
            told = if first > MEMORY * hot * batch.n as f64 + 100_000.0 {
                format!(
                    "{} calls on new items take {first:.0} ns, {hot:.0} ns a call on known ones: it answers from memory",
                    batch.n
                )
            } else if extra > PREPARE * calls * hot + PREPARE_FREE && !self.op.builds_inputs {
                format!(
                    "preparing {calls} new items takes {:.3} ms of CPU time, as many calls {:.3} ms: it computes in `prepare`",
                    extra / 1e6,
                    calls * hot / 1e6
                )
            } else {
                return Ok(());
            };
        }
        Err(Failure::Times(told))
    }

    /// Draws at most `count` new items whose expected outputs are not needed.
    fn drawn(&self, count: usize) -> Result<Set> {
        let (start, round) = (Instant::now(), round());
        let mut items = Vec::new();
        while items.len() < count && (items.is_empty() || start.elapsed() < DRAWING) {
            let selection = Selection::Probe {
                round: round.wrapping_add(items.len() as u64),
                count: (count - items.len()).min(8),
            };
            items.extend(family::of(&self.op).items(&self.op, selection)?);
        }
        let any = vec![self.main.expected[0].clone(); items.len()];
        Set::of("new", &self.op, &items, any)
    }

    /// Checks that the contender's clock agrees with the driver's and that it uses no more threads than the row allows.
    /// Batches are 20 ms long by the *driver's* clock. Every batch of the race is checked in the same way.
    pub fn clock(
        &self,
        process: &mut Process,
        hot: f64,
        deadline: Duration,
    ) -> Result<(), Failure> {
        let mut n = (20e6 / hot.max(0.01)).ceil().max(1.0) as u64;
        let mut watch = Watch::default();
        for _ in 0..12 {
            let batch = self.main.run(process, n, deadline)?;
            if batch.wall < 10_000_000 {
                if n >= MOST_CALLS {
                    return Err(Failure::Wrong(format!(
                        "{n} calls take {} ns: nothing is computed that fast",
                        batch.wall
                    )));
                }
                n *= 2 + 20_000_000 / batch.wall.max(1_000_000);
                continue;
            }
            watch.judge(process, &self.main, &batch, deadline);
            if watch.agreed >= 3 {
                break;
            }
        }
        watch.finish(&self.op, &self.main, None, deadline)
    }

    /// Whether the outputs of a timed batch are known in advance: changing an item does not change its output, or all
    /// items have the same output.
    fn is_constant(&self) -> Result<bool> {
        let op = &self.op;
        if op.change.is_some() {
            let items = blobs::parse(&self.main.blob)?.into_iter();
            for ((mut item, x), unchanged) in items.zip(Words::new(1)).zip(&self.main.expected) {
                family::change(op, &mut item, x)?;
                let known = family::of(op).expected(op, &item)?;
                if known.is_none_or(|output| output.bytes != unchanged.bytes) {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        let sets = [&self.main].into_iter().chain(&self.probes);
        let mut outputs = sets
            .chain(&self.alternating)
            .flat_map(|set| &set.expected)
            .map(|expected| &expected.bytes);
        let first = outputs.next();
        let mut others = outputs.peekable();
        Ok(others.peek().is_some() && others.all(|output| Some(output) == first))
    }

    /// A reason why the result of a correct contender cannot be trusted, in which case it is not scored.
    pub fn doubt(
        &self,
        pass: &Pass,
        counts: Option<&Allocations>,
        foreign: bool,
    ) -> Option<String> {
        if !pass.changes {
            return Some("does not change its items inside the clock".into());
        }
        match &pass.accepted {
            Some(accepted) => {
                if let [first, more @ ..] = accepted.as_slice() {
                    let first: String = first.chars().take(160).collect();
                    return Some(format!(
                        "accepts malformed input {first:?} and {} more",
                        more.len()
                    ));
                }
            }
            None if self.negative.is_some() => {
                return Some("a decoder that was not tried on malformed inputs: it offers no `neg:` operation".into());
            }
            None => {}
        }
        if foreign && self.is_constant().unwrap_or(true) {
            return Some("the outputs of a batch of this row are known in advance, and the contender is not reviewed".into());
        }
        if foreign && self.op.partial_checksum {
            return Some("the checksums of this row cover part of the work only, and the contender is not reviewed".into());
        }
        if self.op.memory != Memory::Fresh {
            return None;
        }
        let told = counts.and_then(|counts| Some((counts.count.or(counts.bytes)?, counts.n)));
        let Some((allocated, n)) = told else {
            // Some runtimes cannot report allocations; an in-tree adapter has been reviewed instead.
            return foreign.then(|| "does not report allocations, and is not reviewed".into());
        };
        // Empty results need no allocation, nor does a precompile that returns one of two constants.
        let outputs: Vec<&[u8]> = self
            .main
            .expected
            .iter()
            .map(|e| e.bytes.as_slice())
            .collect();
        let distinct: BTreeSet<&[u8]> = outputs.iter().copied().collect();
        if self.op.family == "precompiles" && distinct.len() < 3 {
            return None;
        }
        let calls = outputs.iter().cycle().take(n as usize);
        let results = calls.filter(|output| output.len() > 1).count() * self.op.results_per_call();
        // A transaction without call data and access list allocates nothing.
        let least = match self.op.kernel {
            Kernel::Ethereum(Ethereum::TxDecode) => results / 2,
            _ => results,
        } as u64;
        (allocated < least).then(|| {
            format!("{n} calls make {allocated} allocations, not the {least} of new results")
        })
    }

    /// Allocation counts, if the contender reports them.
    pub fn allocations(
        &self,
        process: &mut Process,
        hot: f64,
        deadline: Duration,
    ) -> Option<Allocations> {
        let n = ((2e6 / hot.max(1.0)) as u64).clamp(1, 256);
        match process.alloc(n, seed(), deadline) {
            Ok(allocations) if allocations.n == n => Some(allocations),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::ops::catalogue;

    fn check(id: &str) -> CorrectnessCheck {
        let op = catalogue().iter().find(|op| op.id == id).unwrap();
        CorrectnessCheck::new(op).unwrap()
    }

    /// The doubt about a contender whose outputs are right and newly allocated.
    fn doubt(check: &CorrectnessCheck, foreign: bool) -> Option<String> {
        let pass = Pass {
            accepted: Some(vec![]),
            changes: true,
        };
        let counts = Allocations {
            n: 1,
            bytes: None,
            count: Some(u64::MAX),
            peak: None,
            gc: None,
            steps: vec![],
        };
        check.doubt(&pass, Some(&counts), foreign)
    }

    #[test]
    fn rows_with_outputs_known_in_advance_are_recognised() {
        for (id, constant) in [
            ("evm_bn254_add_fail_curve_varied", true),
            ("evm_ecrecover_fail_v_varied", true),
            ("evm_bn254_pairing_1_varied", true),
            ("secp256k1_sign_recover", true),
            ("evm_bn254_pairing_2_varied", false),
            ("evm_bn254_add_varied", false),
            ("secp256k1_verify_varied", false),
            ("secp256k1_sign", false),
            ("rlp_decode_u256", false),
        ] {
            let check = check(id);
            assert_eq!(check.is_constant().unwrap(), constant, "{id}");
            assert_eq!(doubt(&check, true).is_some(), constant, "{id}");
            assert_eq!(doubt(&check, false), None, "{id}");
        }
    }

    #[test]
    fn rows_with_partial_checksums_score_reviewed_contenders_only() {
        for (id, partial) in [
            ("syrup_decode_owned_captp_varied", true),
            ("syrup_roundtrip_tree_varied", true),
            ("abi_decode_dynamic_heads_varied", true),
            ("evm_calls_sha256_128_x4_varied", true),
            ("syrup_walk_captp_varied", false),
            ("syrup_decode_typed_captp_varied", false),
            ("abi_decode_dynamic_varied", false),
        ] {
            let check = check(id);
            assert_eq!(check.op.partial_checksum, partial, "{id}");
            assert_eq!(doubt(&check, true).is_some(), partial, "{id}");
            assert_eq!(doubt(&check, false), None, "{id}");
        }
    }
}
