//! The correctness gate: nothing is timed before its outputs are right on items it could not foresee.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

use crate::blobs;
use crate::generate::{self, Draw};
use crate::ops::{Input, Op};
use crate::protocol::{Allocations, Batch, Failure, Process};
use crate::schedule::queue_wait;
use crate::truth::{Expected, hex, predict};

/// Items on disk and their right outputs.
pub struct Set {
    path: PathBuf,
    /// Bytes of all of them.
    pub bytes: usize,
    /// Right outputs, in order.
    pub expected: Vec<Expected>,
}

impl Set {
    fn new(folder: &Path, name: &str, op: &Op, draw: Draw) -> Result<Self> {
        let path = folder.join(format!("{}.{name}.blobs", op.id));
        let (items, expected) = generate::with_truth(op, draw)?;
        blobs::write(&path, &items)?;
        let bytes = items.iter().map(Vec::len).sum();
        Ok(Self {
            path,
            bytes,
            expected,
        })
    }

    /// Loads the items into a contender.
    pub fn prepare(
        &self,
        process: &mut Process,
        call: &str,
        deadline: Duration,
    ) -> Result<(), Failure> {
        let items = process.prepare(call, &self.path, deadline)?;
        if items != self.expected.len() as u64 {
            return Err(Failure::Wrong(format!(
                "{items} items of {}",
                self.expected.len()
            )));
        }
        Ok(())
    }

    /// A batch whose sum is right.
    pub fn run(&self, process: &mut Process, n: u64, deadline: Duration) -> Result<Batch, Failure> {
        let batch = process.run(n, deadline)?;
        let right = predict(&self.expected, n);
        if batch.acc != right {
            return Err(Failure::Wrong(format!(
                "{n} calls sum up to {:016x}, not to {right:016x}",
                batch.acc
            )));
        }
        Ok(batch)
    }

    fn verify(
        &self,
        process: &mut Process,
        output: &Path,
        deadline: Duration,
    ) -> Result<(), Failure> {
        process.verify(output, deadline)?;
        let got = blobs::read(output).map_err(|error| Failure::Wrong(format!("{error:#}")))?;
        // Gone, so that the next answer cannot be this one.
        let _ = std::fs::remove_file(output);
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

/// A batch's time less all waiting of its threads for a processor: at most what the work took.
fn busy_ns(set: &Set, process: &mut Process, n: u64, deadline: Duration) -> Result<f64, Failure> {
    let before = queue_wait(process.id());
    let ns = set.run(process, n, deadline)?.ns as f64;
    let waited = match (before, queue_wait(process.id())) {
        (Some(before), Some(after)) => after.saturating_sub(before) as f64,
        _ => 0.0,
    };
    Ok(ns - waited)
}

/// Everything the gate and the clock need for one operation.
pub struct Exam {
    /// The row.
    pub op: Op,
    /// Its items.
    pub main: Set,
    probes: Vec<Set>,
    alternating: Option<Set>,
    negative: Option<(String, PathBuf, Vec<Vec<u8>>)>,
    output: PathBuf,
}

/// Items of a probe have at most so many bytes.
const PROBE_BYTES: usize = 4 << 20;
/// Probe sets used for correctness; the others stay unseen until [`Exam::fresh`].
const SHOWN: usize = 2;
/// A contender this many times faster on known items than on new ones answers from memory.
const MEMORY: f64 = 5.0;

/// What a contender that passed is like.
#[derive(Clone, Debug)]
pub struct Pass {
    /// Malformed inputs it accepts; `None`: not asked.
    pub accepted: Option<Vec<String>>,
}

impl Exam {
    /// Writes the item files of an operation into `folder`.
    pub fn new(op: &Op, folder: &Path) -> Result<Self> {
        let main = Set::new(folder, "main", op, Draw::Main)?;
        let count = (1024 / op.ops_per_call).min(PROBE_BYTES / op.size.max(1));
        let count = count.clamp(2, op.probes);
        // A row of seconds a call is checked on its own item only.
        let rounds = if op.full { 0 } else { 5u64 };
        let probes = (0..rounds)
            .map(|round| {
                let name = format!("probe{round}");
                Set::new(folder, &name, op, Draw::Probe { round, count })
            })
            .collect::<Result<_>>()?;
        let alternating = match op.input {
            Input::Report => Some(Set::new(folder, "alternating", op, Draw::Alternating)?),
            Input::Varied | Input::Blocks | Input::Vectors => None,
        };
        let negative = match &op.negative {
            None => None,
            Some(name) => {
                let items = generate::negative(name)?;
                let path = folder.join(format!("{}.neg.blobs", op.id));
                blobs::write(&path, &items)?;
                Some((name.clone(), path, items))
            }
        };
        Ok(Self {
            op: op.clone(),
            main,
            probes,
            alternating,
            negative,
            output: folder.join("out.blobs"),
        })
    }

    /// Puts a contender through the gate.
    pub fn pass(&self, process: &mut Process, deadline: Duration) -> Result<Pass, Failure> {
        let call = &self.op.call;
        if !process.offers(call) {
            return Err(Failure::Unsupported("not among its operations".into()));
        }
        let accepted = match &self.negative {
            Some((name, path, items)) if process.offers(name) => {
                process.prepare(name, path, deadline)?;
                process.verify(&self.output, deadline)?;
                let got =
                    blobs::read(&self.output).map_err(|e| Failure::Wrong(format!("{e:#}")))?;
                let _ = std::fs::remove_file(&self.output);
                if got.len() != items.len() || got.iter().any(|g| !matches!(g.as_slice(), [0 | 1]))
                {
                    return Err(Failure::Wrong(format!("{name}: not one 0 or 1 an item")));
                }
                let accepted = got
                    .iter()
                    .zip(items)
                    .filter(|(verdict, _)| **verdict == [0]);
                Some(accepted.map(|(_, item)| hex(item)).collect())
            }
            _ => None,
        };
        let items = self.main.expected.len() as u64;
        // An adapter may refuse a negative row after describing it; the main row may not be refused.
        self.main.prepare(process, call, deadline)?;
        self.main.verify(process, &self.output, deadline)?;
        if self.op.full {
            return Ok(Pass { accepted });
        }
        // Not a multiple of the items, and more than one turn.
        let slow = self.main.run(process, 1, deadline)?.ns > 1_000_000;
        self.main
            .run(process, if slow { 2 } else { 2 * items + 1 }, deadline)?;
        for probe in &self.probes[..if slow { 1 } else { SHOWN }] {
            probe.prepare(process, call, deadline)?;
            probe.verify(process, &self.output, deadline)?;
            let all = probe.expected.len() as u64;
            probe.run(process, if slow { 2.min(all) } else { all + 1 }, deadline)?;
        }
        Ok(Pass { accepted })
    }

    /// Does the contender answer from memory? Then it is much slower on items it sees for the first time than on the
    /// same items again, or, on a row of one item, on two items in turn. Unpredictable data alone do not accuse it.
    /// `hot` is its time per call on the main items.
    pub fn fresh(
        &self,
        process: &mut Process,
        hot: f64,
        deadline: Duration,
    ) -> Result<(), Failure> {
        if self.op.full {
            return Ok(());
        }
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
                return Err(Failure::Wrong(format!(
                    "{hot:.0} ns a call on one item, {best:.0} ns on two in turn: it answers from memory"
                )));
            }
        }
        let mut told = String::new();
        for probe in &self.probes[SHOWN..] {
            let n = (probe.expected.len() as u64).min(affordable);
            probe.prepare(process, &self.op.call, deadline)?;
            // Else the first call pays for what `prepare` left behind: copying the items out of the young generation.
            process.collect(deadline)?;
            let first = busy_ns(probe, process, n, deadline)?;
            // As the clock shows it: waiting taken off, which may be of before the batch, would accuse a short one.
            let again = probe.run(process, n, deadline)?.ns as f64;
            // Timer readings and a cold cache are not memory.
            if first <= MEMORY * again + 20_000.0 {
                return Ok(());
            }
            told = format!(
                "{n} calls on new items take {first:.0} ns, the same again {again:.0} ns: it answers from memory"
            );
        }
        Err(Failure::Wrong(told))
    }

    /// Is the contender's clock honest? A longer batch must take the driver about as long as it says.
    pub fn clock(
        &self,
        process: &mut Process,
        hot: f64,
        deadline: Duration,
    ) -> Result<(), Failure> {
        let n = (20e6 / hot.max(0.1)).ceil().max(1.0) as u64;
        let mut share = 0f64;
        // Preemption outside the contender's own readings can only lower the share: the best of a few counts.
        for _ in 0..8 {
            let batch = self.main.run(process, n, deadline)?;
            share = share.max(batch.ns as f64 / batch.wall.saturating_sub(2_000_000).max(1) as f64);
            if share >= 0.75 {
                return Ok(());
            }
        }
        Err(Failure::Wrong(format!(
            "its clock shows {:.0} % of the time that passed outside",
            share * 100.0
        )))
    }

    /// Allocation counts, where the contender tells.
    pub fn allocations(
        &self,
        process: &mut Process,
        hot: f64,
        deadline: Duration,
    ) -> Option<Allocations> {
        let n = ((2e6 / hot.max(1.0)) as u64).clamp(1, 256);
        match process.alloc(n, deadline) {
            Ok(allocations) if allocations.n == n => Some(allocations),
            _ => None,
        }
    }
}
