//! Statistics: medians, the cluster bootstrap, the noise floor and the verdict.
//!
//! A round's ratio is r = time of the peer / time of ours, from two batches run next to each other. Rounds of one
//! launch share its memory layout and its neighbours, so they are not independent: the bootstrap resamples launches
//! first, then rounds inside each (Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013, §4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::random::Random;

/// The least margin: differences below 2 % are ties, however narrow the interval.
pub const LEAST_MARGIN: f64 = 0.02;
/// A noise floor above this claims nothing.
pub const LOUDEST_FLOOR: f64 = 0.05;

/// Who is faster, from our side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Ours is faster by more than the margin.
    Win,
    /// The interval does not clear the margin, and is no wider than the margins on both sides.
    Tie,
    /// The peer is faster by more than the margin.
    Loss,
    /// The machine was too loud to tell, or the interval too wide.
    Noisy,
}

/// A median ratio and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Median of the rounds' ratios.
    pub ratio: f64,
    /// 2.5 % point of the bootstrap's medians.
    pub lo: f64,
    /// 97.5 % point.
    pub hi: f64,
}

/// The median; the mean of the middle two for an even count; NaN of nothing.
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

/// The quantile `q` of sorted values, linear between neighbours (Hyndman and Fan's type 7, NumPy's default).
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let at = q * last as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * (at - at.floor())
}

/// Median and 95 % interval of ratios grouped by launch.
pub fn cluster_bootstrap(launches: &[Vec<f64>], samples: usize, seed: u64) -> Option<Interval> {
    let launches: Vec<&Vec<f64>> = launches
        .iter()
        .filter(|rounds| !rounds.is_empty())
        .collect();
    if launches.is_empty() {
        return None;
    }
    let mut all: Vec<f64> = launches.iter().copied().flatten().copied().collect();
    let mut random = Random::new(seed);
    let mut drawn = Vec::with_capacity(all.len());
    let mut medians: Vec<f64> = (0..samples)
        .map(|_| {
            drawn.clear();
            for _ in 0..launches.len() {
                let rounds = launches[random.below(launches.len())];
                drawn.extend((0..rounds.len()).map(|_| rounds[random.below(rounds.len())]));
            }
            median(&mut drawn)
        })
        .collect();
    medians.sort_unstable_by(f64::total_cmp);
    Some(Interval {
        ratio: median(&mut all),
        lo: quantile(&medians, 0.025),
        hi: quantile(&medians, 0.975),
    })
}

/// How far the ratio of a control (our adapter against itself) strays from 1.
pub fn stray(ratio: f64) -> f64 {
    (ratio - 1.0).abs().max((1.0 / ratio - 1.0).abs())
}

/// The noise floor of a run: the stray that 19 of 20 operations' controls stay below.
pub fn floor(strays: &[f64]) -> f64 {
    let mut sorted = strays.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    if sorted.is_empty() {
        0.0
    } else {
        quantile(&sorted, 0.95)
    }
}

/// The verdict on a pair under noise floor `f`: a win only if the whole interval lies above 1 + max(2 %, f), a loss
/// only if it lies below the inverse, a tie only if it is no wider than the margins together: a wider one hides what it
/// could not tell.
pub fn judge(interval: &Interval, f: f64) -> Verdict {
    let bar = 1.0 + LEAST_MARGIN.max(f);
    if f > LOUDEST_FLOOR || f.is_nan() {
        Verdict::Noisy
    } else if interval.lo > bar {
        Verdict::Win
    } else if interval.hi < 1.0 / bar {
        Verdict::Loss
    } else if interval.hi > interval.lo * bar * bar {
        Verdict::Noisy
    } else {
        Verdict::Tie
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

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

    /// Sixty numbers that Rust and Python compute alike.
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
        // One cluster: scipy.stats.bootstrap((x,), numpy.median, n_resamples=200000, method="percentile"), SciPy 1.17.1.
        let flat = vec![sample().concat()];
        let one = cluster_bootstrap(&flat, 20_000, 3).unwrap();
        near(one.ratio, 1.0907, 1e-9);
        near(one.lo, 1.0679, 0.002);
        near(one.hi, 1.10755, 0.002);
        // Clusters: 200000 resamples of launches, then of rounds, and numpy.quantile, NumPy 2.4.6.
        let six = cluster_bootstrap(&sample(), 20_000, 4).unwrap();
        near(six.ratio, 1.0907, 1e-9);
        near(six.lo, 1.0540, 0.002);
        near(six.hi, 1.1246, 0.002);
        assert!(six.hi - six.lo > one.hi - one.lo);
        // Launches of 4, 9 and 6 rounds.
        let mut uneven = sample()[..3].to_vec();
        uneven[0].truncate(4);
        uneven[2].truncate(6);
        uneven.push(Vec::new());
        let three = cluster_bootstrap(&uneven, 20_000, 5).unwrap();
        near(three.ratio, 1.0909, 1e-9);
        near(three.lo, 1.0479, 0.002);
        near(three.hi, 1.14165, 0.002);
        assert_eq!(cluster_bootstrap(&[], 100, 1), None);
    }

    #[test]
    fn verdicts_keep_their_margin() {
        let interval = |lo, hi| Interval {
            ratio: f64::midpoint(lo, hi),
            lo,
            hi,
        };
        assert_eq!(judge(&interval(1.021, 1.05), 0.001), Verdict::Win);
        assert_eq!(judge(&interval(1.019, 1.05), 0.001), Verdict::Tie);
        assert_eq!(judge(&interval(1.021, 1.05), 0.03), Verdict::Tie);
        assert_eq!(judge(&interval(0.9, 0.97), 0.0), Verdict::Loss);
        assert_eq!(judge(&interval(0.95, 0.985), 0.0), Verdict::Tie);
        assert_eq!(judge(&interval(0.9, 0.985), 0.0), Verdict::Noisy);
        assert_eq!(judge(&interval(0.13, 1.03), 0.0), Verdict::Noisy);
        assert_eq!(judge(&interval(9.0, 9.5), 0.051), Verdict::Noisy);
        assert_eq!(judge(&interval(9.0, 9.5), f64::NAN), Verdict::Noisy);
    }

    #[test]
    fn floor_is_the_95th_percentile() {
        let strays: Vec<f64> = (0..=20).map(|i| f64::from(i) / 1000.0).collect();
        near(floor(&strays), 0.019, 1e-12);
        assert_eq!(floor(&[]), 0.0);
        near(stray(0.8), 0.25, 1e-12);
    }
}
