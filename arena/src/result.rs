//! `result.json`: everything a run found, including raw batches, so that the statistics can be recomputed.
//!
//! Its schema is published as `arena/schema/result.schema.json`, whose descriptions are the doc comments of these
//! types.

use crate::manifest::OURS;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::stats::Verdict;

/// Version of the schema.
pub const SCHEMA: &str = "lydite-arena/1";

/// A run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// `lydite-arena/1`.
    pub schema: String,
    /// Settings and summary of the run.
    pub run: Run,
    /// The machine.
    pub machine: Machine,
    /// The contenders, present or absent.
    pub contenders: Vec<Contender>,
    /// The operations.
    pub ops: Vec<Operation>,
    /// One cell per operation, contender and variant.
    pub cells: Vec<Cell>,
    /// Ours (the first variant of our manifest, the stock build) against each peer (its fastest variant).
    pub pairs: Vec<Pair>,
    /// Our other builds against the fastest peer of each operation; not scored.
    #[serde(default)]
    pub builds: Vec<Pair>,
    /// Our adapter against itself.
    pub controls: Vec<Control>,
    /// Numbers of won, tied and lost rows.
    pub score: Score,
}

/// How a run was made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// `quick` or `full`.
    pub mode: String,
    /// The command that repeats it.
    pub command: String,
    /// The contender that the others are compared with.
    #[serde(default = "ours")]
    pub ours: String,
    /// Start, UTC, ISO 8601.
    pub started: String,
    /// Duration in seconds.
    pub seconds: f64,
    /// Launches of each variant, excluding the additional ones of rows with wide intervals.
    pub launches: u32,
    /// Rounds per launch.
    pub rounds: u32,
    /// Target duration of a batch in nanoseconds.
    pub batch_ns: u64,
    /// Relative interval width below which a row got no more launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// Seed of the permutations.
    pub seed: u64,
    /// The A/A noise floor: 95th percentile of the controls' deviations; absent without a control. For information only:
    /// each pair is judged by its own noise.
    pub noise_floor: Option<f64>,
    /// Rate in millions of gas per second that gas prices are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<f64>,
    /// Whether the noise floor exceeds 20 %, or more than one control in a hundred (and more than one) differs from itself.
    /// Such a run has no verdicts.
    pub noisy: bool,
    /// Whether a probe of the core's other hardware thread ran with each batch.
    #[serde(default)]
    pub probed: bool,
    /// Whether /proc reported run-queue waits, so that disturbed batches could be repeated.
    pub filtered: bool,
}

/// The machine of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Name of the processor; on x86 also its family and model.
    pub cpu: String,
    /// Logical processors.
    pub cores: u32,
    /// Instruction sets that contenders use.
    pub flags: Vec<String>,
    /// Whether the machine is virtual.
    pub virtualized: bool,
    /// Bytes of memory.
    pub memory: u64,
    /// Operating system and kernel.
    pub system: String,
    /// Frequency governor, if known.
    pub governor: Option<String>,
    /// Load average (1, 5, 15 minutes) before the run.
    pub load_before: Option<[f64; 3]>,
    /// Load average after the run.
    pub load_after: Option<[f64; 3]>,
    /// Tool versions, found by the contenders' `needs`.
    pub toolchains: BTreeMap<String, String>,
    /// Commit of this repository, followed by `+` if the work tree differs.
    pub commit: Option<String>,
}

/// A contender, present or absent.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Contender {
    /// Name.
    pub name: String,
    /// Language of its users.
    pub language: String,
    /// Pinned version.
    pub version: String,
    /// The runtime that it reports.
    pub runtime: String,
    /// SPDX expression.
    pub license: String,
    /// Home page.
    pub home: String,
    /// Notes for readers.
    pub notes: String,
    /// Variants that ran.
    pub variants: Vec<String>,
    /// Variants that the run left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Whether it is from outside the tree, so its adapter has not been reviewed.
    #[serde(default)]
    pub foreign: bool,
    /// Whether it does less than the operations, as a floor below them: its pairs are no part of the score.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub floor: bool,
    /// Whether it is another package of this library: its pairs are no part of the score.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// `ok`, `skipped:toolchain` or `skipped:build`.
    pub state: State,
    /// Why it did not run.
    pub reason: Option<String>,
    /// How to make it run.
    pub hint: Option<String>,
    /// Nanoseconds per turn of its timed loop without work; never subtracted.
    pub loop_ns: Option<f64>,
    /// Lines it printed that were not responses.
    pub banners: u64,
    /// Figures published elsewhere, in nanoseconds per operation.
    pub published: BTreeMap<String, f64>,
}

/// An operation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Operation {
    /// Id.
    pub id: String,
    /// Family.
    pub family: String,
    /// The function it computes; rows of one kernel differ only in their inputs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kernel: String,
    /// Description.
    pub title: String,
    /// The result of one operation.
    pub unit: String,
    /// Specification.
    pub spec: String,
    /// `fresh` or `reuse`.
    pub memory: String,
    /// Distinct inputs.
    pub items: u64,
    /// Operations per call.
    pub ops_per_call: u64,
    /// Average bytes that an operation reads or writes, if its rate is also given in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<f64>,
    /// Nominal gas of one call of a precompile, since Osaka.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gas: Option<u64>,
    /// Calls per program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// The fastest peer in the committed records, `contender/variant`, if it takes part in this run but did not run this
    /// row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<String>,
    /// Figures published elsewhere for peers that do not run here, in nanoseconds per operation.
    pub published: BTreeMap<String, f64>,
}

/// The outcome of a contender on an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum State {
    /// Correct and timed.
    #[serde(rename = "ok")]
    Ok,
    /// A required tool is missing.
    #[serde(rename = "skipped:toolchain")]
    SkippedToolchain,
    /// It does not build.
    #[serde(rename = "skipped:build")]
    SkippedBuild,
    /// It does not offer the operation.
    #[serde(rename = "unsupported")]
    Unsupported,
    /// Wrong bytes, a wrong sum, a wrong count, or an impossible time.
    #[serde(rename = "failed:verify")]
    FailedVerify,
    /// Its process ended unexpectedly.
    #[serde(rename = "failed:crash")]
    FailedCrash,
    /// No response in time.
    #[serde(rename = "timeout")]
    Timeout,
    /// Correct, but most batches were disturbed.
    #[serde(rename = "noisy")]
    Noisy,
    /// Correct on valid inputs, but accepts malformed ones; not scored.
    #[serde(rename = "lax")]
    Lax,
}

impl State {
    /// The name used in the file.
    pub fn text(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::SkippedToolchain => "skipped:toolchain",
            Self::SkippedBuild => "skipped:build",
            Self::Unsupported => "unsupported",
            Self::FailedVerify => "failed:verify",
            Self::FailedCrash => "failed:crash",
            Self::Timeout => "timeout",
            Self::Noisy => "noisy",
            Self::Lax => "lax",
        }
    }
}

/// A timed batch: launch, round, calls, nanoseconds by the contender's clock. Records since 22 November 2026 also have
/// nanoseconds by the driver's clock and CPU nanoseconds of all processes of the contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Stored", into = "Stored")]
#[schemars(with = "Stored")]
pub struct Batch {
    /// Number of the launch.
    pub launch: u32,
    /// Number of the round in the launch.
    pub round: u32,
    /// Calls.
    pub n: u64,
    /// Nanoseconds by the contender's clock.
    pub ns: u64,
    /// Nanoseconds by the driver's clock.
    pub wall: Option<u64>,
    /// CPU nanoseconds of all processes of the contender.
    pub cpu: Option<u64>,
}

/// A batch in the file: launch, round, calls, nanoseconds by the contender's clock, by the driver's clock, and of CPU
/// time. Records before 22 November 2026 end after the fourth number.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Stored {
    Long(u32, u32, u64, u64, Option<u64>, Option<u64>),
    Short(u32, u32, u64, u64),
}

impl From<Stored> for Batch {
    fn from(stored: Stored) -> Self {
        let (launch, round, n, ns, wall, cpu) = match stored {
            Stored::Long(launch, round, n, ns, wall, cpu) => (launch, round, n, ns, wall, cpu),
            Stored::Short(launch, round, n, ns) => (launch, round, n, ns, None, None),
        };
        Self {
            launch,
            round,
            n,
            ns,
            wall,
            cpu,
        }
    }
}

impl From<Batch> for Stored {
    fn from(b: Batch) -> Self {
        match (b.wall, b.cpu) {
            (None, None) => Self::Short(b.launch, b.round, b.n, b.ns),
            _ => Self::Long(b.launch, b.round, b.n, b.ns, b.wall, b.cpu),
        }
    }
}

impl Batch {
    /// Time of a call in nanoseconds.
    pub fn time(&self) -> f64 {
        self.ns as f64 / self.n as f64
    }
}

/// One operation of one variant of one contender.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Operation id.
    pub op: String,
    /// Contender.
    pub contender: String,
    /// Variant.
    pub variant: String,
    /// Outcome.
    pub state: State,
    /// Reason, unless the state is `ok`.
    pub reason: Option<String>,
    /// Whether it is the A/A control, the second copy of our adapter.
    pub control: bool,
    /// Median nanoseconds per operation.
    pub ns: Option<f64>,
    /// Bytes allocated per operation.
    pub alloc_bytes: Option<f64>,
    /// Allocations per operation.
    pub allocs: Option<f64>,
    /// Peak of the bytes held during consecutive calls, for results and temporary values.
    #[serde(default)]
    pub peak_bytes: Option<u64>,
    /// Garbage collections per operation.
    pub gc: Option<f64>,
    /// Steps, and the share of the time that each takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<(String, f64)>,
    /// Batches that were kept although the run queue disturbed them, after all retries.
    pub disturbed: u32,
    /// Batches that were kept although the core's other hardware thread was busy, after all retries.
    #[serde(default)]
    pub crowded: u32,
    /// Relative standard deviation of the launches' median times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Nanoseconds per operation of both groups, if the launches form two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<[f64; 2]>,
    /// Whether it was tested with malformed inputs.
    pub negatives_checked: bool,
    /// Raw batches.
    pub batches: Vec<Batch>,
}

impl Cell {
    /// A cell without measurements.
    pub fn new(op: &str, contender: &str, variant: &str, state: State) -> Self {
        Self {
            op: op.to_owned(),
            contender: contender.to_owned(),
            variant: variant.to_owned(),
            state,
            reason: None,
            control: false,
            ns: None,
            alloc_bytes: None,
            allocs: None,
            peak_bytes: None,
            gc: None,
            steps: Vec::new(),
            disturbed: 0,
            crowded: 0,
            spread: None,
            modes: None,
            negatives_checked: false,
            batches: Vec::new(),
        }
    }

    /// Ratios per round (time of `other` / time of this cell), grouped by launch. Only rounds that both finished count.
    pub fn ratios(&self, other: &Self) -> Vec<Vec<f64>> {
        let key = |batch: &Batch| (batch.launch, batch.round);
        let own = self.batches.iter().map(|batch| (key(batch), batch.time()));
        let own: BTreeMap<(u32, u32), f64> = own.collect();
        let mut launches: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for batch in &other.batches {
            if let Some(time) = own.get(&key(batch)) {
                let ratios = launches.entry(batch.launch).or_default();
                ratios.push(batch.time() / time);
            }
        }
        launches.into_values().collect()
    }
}

/// Ours against a peer on an operation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// Operation id.
    pub op: String,
    /// Ours.
    pub a: String,
    /// The peer.
    pub b: String,
    /// Our variant.
    pub a_variant: String,
    /// Its best variant.
    pub b_variant: String,
    /// Time of `b` / time of `a`: geometric mean over launches of the median of paired rounds.
    pub ratio: f64,
    /// Lower end of the 95 % interval.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
    /// Verdict from our side.
    pub verdict: Verdict,
    /// Whether the ends of the interval differ by more than a fifth.
    #[serde(default)]
    pub wide: bool,
    /// Launches that the interval is based on.
    #[serde(default)]
    pub launches: u32,
    /// Whether `b` is the fastest peer here.
    pub best_peer: bool,
    /// Why it is lost, from `arena/losses.toml`.
    pub reason: Option<String>,
}

/// Our adapter against itself on an operation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Control {
    /// Operation id.
    pub op: String,
    /// Geometric mean over launches of the median of paired rounds.
    pub ratio: f64,
    /// Lower end of the 95 % interval.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
    /// Verdict of a pair with this interval. Any verdict except a win or a loss is correct.
    #[serde(default = "unjudged")]
    pub verdict: Verdict,
}

/// Counts of verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Count {
    /// Wins.
    pub won: u32,
    /// Ties.
    pub tied: u32,
    /// Losses.
    pub lost: u32,
    /// Too noisy for a verdict.
    pub noisy: u32,
}

impl Count {
    /// Adds one verdict.
    pub fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Win => self.won += 1,
            Verdict::Tie => self.tied += 1,
            Verdict::Loss => self.lost += 1,
            Verdict::Noisy => self.noisy += 1,
        }
    }
}

/// The score.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Score {
    /// Per operation, against its fastest peer.
    pub best_peer: Count,
    /// Over all pairs.
    pub pairs: Count,
    /// Operations without a peer.
    pub alone: u32,
    /// Operations that our own adapter could not run.
    pub absent: u32,
    /// Contenders that could not run, and are therefore not beaten.
    pub missing: Vec<String>,
}

/// The verdict on a control in a record that has none.
fn unjudged() -> Verdict {
    Verdict::Noisy
}

/// The contender that the others are compared with, unless a record names one.
pub(crate) fn ours() -> String {
    OURS.to_owned()
}

/// The text of the published schema.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Report);
    let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    format!("{text}\n")
}

impl Report {
    /// The scored cell of a contender on an operation: its fastest correct variant, or any if none is correct. For ours
    /// it is the first variant of the manifest, which is the default build.
    pub fn best(&self, op: &str, contender: &str) -> Option<&Cell> {
        let stock = self
            .contenders
            .iter()
            .find(|found| contender == self.run.ours && found.name == contender)
            .and_then(|ours| ours.variants.first());
        let rank = |cell: &&Cell| {
            let scored = cell.state == State::Ok;
            (!scored, cell.ns.map_or(u64::MAX, f64::to_bits))
        };
        self.cells
            .iter()
            .filter(|cell| cell.op == op && cell.contender == contender && !cell.control)
            .filter(|cell| stock.is_none_or(|stock| cell.variant == *stock))
            .min_by_key(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_schema_is_current() {
        // To regenerate: `cargo run -p lydite-arena --example bench -- schema > arena/schema/result.schema.json`.
        assert!(
            schema() == include_str!("../schema/result.schema.json"),
            "the published schema is out of date"
        );
    }

    #[test]
    fn batches_of_old_records_can_be_read() -> serde_json::Result<()> {
        let batch = Batch {
            launch: 3,
            round: 1,
            n: 20,
            ns: 400,
            wall: Some(500),
            cpu: None,
        };
        assert_eq!(serde_json::to_string(&batch)?, "[3,1,20,400,500,null]");
        assert_eq!(
            serde_json::from_str::<Batch>("[3,1,20,400,500,null]")?,
            batch
        );
        let old = Batch {
            wall: None,
            ..batch
        };
        assert_eq!(serde_json::from_str::<Batch>("[3,1,20,400]")?, old);
        assert_eq!(serde_json::to_string(&old)?, "[3,1,20,400]");
        Ok(())
    }
}
