//! Statistics: medians, the interval of a ratio, groups of launches, the noise floor and the verdict.
//!
//! A round's ratio is r = time of the peer / time of ours, from two batches of the same round. Rounds of one launch
//! share its memory layout and its neighbours, so they are not independent. Launches are, because each runs from fresh
//! copies of the programs. The median of a launch's log ratios is therefore one observation, and the interval is
//! Student's t over the launches (Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013, §4). Its
//! coverage is as claimed with five launches (see the coverage test). It includes the launch-to-launch spread of both
//! contenders, so a pair is judged by its own noise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// Differences below 2 % are ties, however narrow the interval is.
pub const MARGIN: f64 = 0.02;
/// A run with a noise floor above this gives no verdicts.
pub const LOUDEST_FLOOR: f64 = 0.20;
/// With fewer launches than this, their spread is unknown and there is no verdict.
pub const FEWEST_LAUNCHES: usize = 4;
/// An interval whose ends differ by more than this factor is reported as wide.
pub const WIDE: f64 = 1.2;
/// Confidence level of the reported interval.
const CONFIDENCE: f64 = 0.95;
/// Confidence level at which a win or loss must exclude 1. With hundreds of comparisons in a run, 95 % would call one
/// of twenty identical programs different whenever the noise exceeds the margin.
const DIFFERENT: f64 = 0.999;

/// Which side is faster, seen from ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Ours is faster by more than the margin.
    Win,
    /// The interval reaches into the margins and is no wider than both together.
    Tie,
    /// The peer is faster by more than the margin.
    Loss,
    /// The measurements do not decide, or the machine was too noisy.
    Noisy,
}

/// A ratio and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Geometric mean over launches of the median ratio of each.
    pub ratio: f64,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
    /// Number of launches.
    pub launches: usize,
    /// Whether the 99.9 % interval excludes 1.
    pub different: bool,
}

impl Interval {
    /// Relative width.
    pub fn width(&self) -> f64 {
        self.hi / self.lo - 1.0
    }
}

/// The median; the mean of the two middle values for an even count; NaN for an empty slice.
pub fn median(values: &mut [f64]) -> f64 {
    let count = values.len();
    if count == 0 {
        return f64::NAN;
    }
    let (low, &mut middle, _) = values.select_nth_unstable_by(count / 2, f64::total_cmp);
    if count % 2 == 1 {
        return middle;
    }
    let below = low.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f64::midpoint(below, middle)
}

/// The quantile `q` of sorted values, with linear interpolation (Hyndman and Fan's type 7, NumPy's default).
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let at = q * last as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * (at - at.floor())
}

/// The ratio and its 95 % interval, from the rounds' ratios grouped by launch.
///
/// For a single launch the spread between launches is unknown, so its rounds are used instead, and [`judge`] gives no
/// verdict.
pub fn interval(launches: &[Vec<f64>]) -> Option<Interval> {
    let ln = |rounds: &Vec<f64>| rounds.iter().map(|ratio| ratio.ln()).collect();
    let launches: Vec<Vec<f64>> = launches.iter().filter(|l| !l.is_empty()).map(ln).collect();
    let count = launches.len();
    let values: Vec<f64> = match launches.as_slice() {
        [] => return None,
        [rounds] => rounds.clone(),
        _ => launches
            .into_iter()
            .map(|mut rounds| median(&mut rounds))
            .collect(),
    };
    let n = values.len() as f64;
    let (mean, error) = (mean(&values), deviation(&values) / n.sqrt());
    let half = |confidence: f64| match StudentsT::new(0.0, 1.0, n - 1.0) {
        Ok(t) => error * t.inverse_cdf(0.5 + confidence / 2.0),
        // A single round has no interval.
        Err(_) => 0.0,
    };
    let usual = half(CONFIDENCE);
    Some(Interval {
        ratio: mean.exp(),
        lo: (mean - usual).exp(),
        hi: (mean + usual).exp(),
        launches: count,
        different: mean.abs() > half(DIFFERENT),
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample standard deviation.
pub fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

/// The medians of the two groups that the values form, if any: in sorted order, the widest gap has at least two values
/// on each side, is at least three times the range of either group, and exceeds 5 %.
pub fn groups(values: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let inner = 2..sorted.len().saturating_sub(1);
    let at = inner.max_by(|&a, &b| {
        let gap = |i: usize| sorted[i] / sorted[i - 1];
        gap(a).total_cmp(&gap(b))
    })?;
    let gap = (sorted[at] / sorted[at - 1]).ln();
    let (low, high) = sorted.split_at_mut(at);
    let range = |group: &[f64]| (group[group.len() - 1] / group[0]).ln();
    let apart = gap > 0.05 && gap > 3.0 * range(low).max(range(high));
    apart.then(|| [median(low), median(high)])
}

/// How far the ratio of a control (our adapter compared with itself) deviates from 1.
pub fn stray(ratio: f64) -> f64 {
    (ratio - 1.0).abs().max((1.0 / ratio - 1.0).abs())
}

/// The noise floor of a run: the 95th percentile of the controls' deviations.
pub fn floor(strays: &[f64]) -> f64 {
    let mut sorted = strays.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    if sorted.is_empty() {
        0.0
    } else {
        quantile(&sorted, 0.95)
    }
}

/// The verdict on a pair. A win requires a 95 % interval above 1 + 2 % and a 99.9 % interval above 1, a loss intervals
/// below the inverses. A tie requires an interval that reaches into the margins and is no wider than both together; any other is
/// inconclusive.
pub fn judge(interval: &Interval) -> Verdict {
    let bar = 1.0 + MARGIN;
    if interval.launches < FEWEST_LAUNCHES {
        Verdict::Noisy
    } else if interval.lo > bar && interval.different {
        Verdict::Win
    } else if interval.hi < 1.0 / bar && interval.different {
        Verdict::Loss
    } else if interval.lo > bar || interval.hi < 1.0 / bar || interval.hi > interval.lo * bar * bar
    {
        Verdict::Noisy
    } else {
        Verdict::Tie
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::random::Random;

    fn near(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance, "{got} is not {want}");
    }

    #[test]
    fn median_and_quantiles_are_numpys() {
        // numpy.median and numpy.quantile (2.x), default method.
        let mut odd = [3.5, -1.0, 2.25, 9.0, 2.0];
        assert_eq!(median(&mut odd), 2.25);
        let mut even = [3.5, -1.0, 2.25, 9.0, 2.0, 4.0];
        assert_eq!(median(&mut even), 2.875);
        even.sort_by(f64::total_cmp);
        near(quantile(&even, 0.025), -0.625, 1e-12);
        near(quantile(&even, 0.975), 8.375, 1e-12);
        near(quantile(&even, 0.25), 2.0625, 1e-12);
        assert!(median(&mut []).is_nan());
    }

    /// Sixty numbers computed identically in Rust and Python.
    fn sample() -> Vec<Vec<f64>> {
        (0..6u32)
            .map(|i| {
                (0..9u32)
                    .map(|j| {
                        1.0 + 0.01 * f64::from((7 * i * i + 3 * j) % 11)
                            + 0.03 * f64::from((i * 5) % 4)
                            + 0.0001 * f64::from((i * 9 + j) * 37 % 53)
                            + if (i, j) == (2, 3) { 0.2 } else { 0.0 }
                    })
                    .collect()
            })
            .collect()
    }

    #[test]
    fn intervals_are_scipys() {
        // x = numpy.log(numpy.median(sample, axis=1)); scipy.stats.t.interval(0.95, 5, x.mean(), scipy.stats.sem(x)).
        let six = interval(&sample()).unwrap();
        near(six.ratio, 1.090_627_831_425, 1e-9);
        near(six.lo, 1.044_029_555_170, 1e-9);
        near(six.hi, 1.139_305_933_237, 1e-9);
        assert_eq!((six.launches, six.different), (6, false));
        // A launch without rounds is ignored.
        let mut more = sample();
        more.push(Vec::new());
        assert_eq!(interval(&more), Some(six));
        // With one launch the rounds are the sample, and there is no verdict.
        let one = interval(&sample()[..1]).unwrap();
        near(one.lo, 1.021_779_250_223, 1e-9);
        near(one.hi, 1.076_064_284_060, 1e-9);
        assert_eq!(judge(&one), Verdict::Noisy);
        assert_eq!(interval(&[]), None);
        let single = interval(&[vec![2.0]]).unwrap();
        assert_eq!((single.lo, single.hi), (single.ratio, single.ratio));
        assert_eq!(judge(&single), Verdict::Noisy);
    }

    /// A standard normal number (Box-Muller).
    fn normal(random: &mut Random) -> f64 {
        let mut uniform = || (random.below(1 << 53) as f64 + 0.5) / (1u64 << 53) as f64;
        (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
    }

    /// Ratios of two programs of equal speed. Each launch has a random placement, and each round has noise, with one
    /// outlier in seven.
    fn equal(random: &mut Random, launches: usize, rounds: usize, shape: &str) -> Vec<Vec<f64>> {
        let launch = |random: &mut Random| {
            let placed = 0.02
                * match shape {
                    "skewed" => normal(random).powi(2) / 2f64.sqrt() - 0.5f64.sqrt(),
                    "two groups" => {
                        if random.below(10) < 3 {
                            1.4
                        } else {
                            -0.6
                        }
                    }
                    "outliers" if random.below(12) == 0 => 6.0 * normal(random),
                    _ => normal(random),
                };
            let round = |random: &mut Random| {
                let stray = if random.below(7) == 0 { 5.0 } else { 1.0 };
                (placed + 0.04 * stray * normal(random)).exp()
            };
            (0..rounds).map(|_| round(random)).collect()
        };
        (0..launches).map(|_| launch(random)).collect()
    }

    /// The table of docs/benchmarking.md: `cargo test -p lydite-arena coverage -- --nocapture`.
    #[test]
    fn coverage_is_what_is_claimed_and_one_in_a_thousand_is_false() {
        const RUNS: usize = 4000;
        let mut random = Random::new(11);
        println!("launches x rounds, placement: covered, median width, false verdicts in {RUNS}");
        for (launches, rounds) in [(5, 7), (9, 3), (9, 7), (9, 11), (15, 5)] {
            for shape in ["normal", "skewed", "two groups", "outliers"] {
                let (mut covered, mut wrong, mut widths) = (0, 0, Vec::new());
                for _ in 0..RUNS {
                    let found = interval(&equal(&mut random, launches, rounds, shape)).unwrap();
                    covered += usize::from(found.lo <= 1.0 && 1.0 <= found.hi);
                    wrong += usize::from(matches!(judge(&found), Verdict::Win | Verdict::Loss));
                    widths.push(found.width());
                }
                let share = covered as f64 / RUNS as f64;
                let width = median(&mut widths);
                println!("{launches} x {rounds}, {shape}: {share:.3}, {width:.3}, {wrong}");
                assert!(share > 0.93, "{launches} x {rounds}, {shape}: {share}");
                assert!(
                    wrong <= RUNS / 500,
                    "{launches} x {rounds}, {shape}: {wrong}"
                );
            }
        }
    }

    #[test]
    fn groups_are_found_where_they_are() {
        // hex_decode_32b_into of native-faster-hex: two of nine launches take 9 ns.
        let two = [1.2, 1.21, 9.0, 1.19, 1.2, 1.22, 8.9, 1.2, 1.2];
        assert_eq!(groups(&two), Some([1.2, 8.95]));
        assert_eq!(groups(&[1.0, 1.0, 1.2, 1.2]), Some([1.0, 1.2]));
        // A single launch is not a group, 4 % is not a difference, and evenly spaced values have no gap.
        assert_eq!(groups(&[1.0, 1.0, 1.0, 1.2]), None);
        assert_eq!(groups(&[1.0, 1.0, 1.04, 1.04]), None);
        assert_eq!(groups(&[1.0, 1.1, 1.2, 1.3, 1.4]), None);
        assert_eq!(groups(&[1.0, 2.0, 2.0]), None);
        assert_eq!(groups(&[]), None);
        // Random launches rarely look like two groups.
        let mut random = Random::new(5);
        for launches in [5, 9] {
            let mut draw = || -> Vec<f64> {
                (0..launches)
                    .map(|_| (0.05 * normal(&mut random)).exp())
                    .collect()
            };
            let found = (0..4000).filter(|_| groups(&draw()).is_some()).count();
            assert!(
                found < 4000 / 20,
                "{found} of 4000 with {launches} launches"
            );
        }
    }

    #[test]
    fn verdicts_keep_their_margin() {
        let interval = |lo, hi| Interval {
            ratio: f64::midpoint(lo, hi),
            lo,
            hi,
            launches: 9,
            different: true,
        };
        assert_eq!(judge(&interval(1.021, 1.05)), Verdict::Win);
        assert_eq!(judge(&interval(1.019, 1.05)), Verdict::Tie);
        assert_eq!(judge(&interval(0.9, 0.97)), Verdict::Loss);
        assert_eq!(judge(&interval(0.95, 0.985)), Verdict::Tie);
        assert_eq!(judge(&interval(0.9, 0.985)), Verdict::Noisy);
        assert_eq!(judge(&interval(0.13, 1.03)), Verdict::Noisy);
        let unsure = Interval {
            different: false,
            ..interval(1.03, 1.2)
        };
        assert_eq!(judge(&unsure), Verdict::Noisy);
        // Beyond the margin, but not significant.
        let unsure = Interval {
            different: false,
            ..interval(1.025, 1.06)
        };
        assert_eq!(judge(&unsure), Verdict::Noisy);
        let few = Interval {
            launches: 3,
            ..interval(1.5, 1.6)
        };
        assert_eq!(judge(&few), Verdict::Noisy);
    }

    #[test]
    fn floor_is_the_95th_percentile() {
        let strays: Vec<f64> = (0..=20).map(|i| f64::from(i) / 1000.0).collect();
        near(floor(&strays), 0.019, 1e-12);
        assert_eq!(floor(&[]), 0.0);
        near(stray(0.8), 0.25, 1e-12);
    }
}
