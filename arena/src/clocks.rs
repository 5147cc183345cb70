//! Compares the three clocks of a batch: the contender's, the driver's, and the CPU time of all the contender's
//! processes.

use crate::protocol::Batch;

/// Maximum relative difference between the clocks of a batch.
pub const BOUND: f64 = 0.02;
/// Additional absolute difference in nanoseconds, on top of the empty round trip: two context switches.
const SLACK: f64 = 50_000.0;
/// CPU time per thread above this multiple of a batch's time is charged as time, so that a second core gains nothing.
const CHARGED: f64 = 1.1;
/// Above this multiple the contender uses more threads than the row allows; compilers and garbage collectors stay
/// below.
const THREADS: f64 = 1.5;
/// Largest share of a batch for which a contender may sleep outside its own clock readings: a virtual machine may be
/// slow to wake it.
const ASLEEP: f64 = 0.25;
/// A batch whose threads waited for a processor for more than this share of its time is run again.
pub const WAIT: f64 = 0.02;

/// Result of comparing a batch's clocks.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The batch can be used.
    Agree,
    /// The batch had to wait for a processor and must be run again.
    Disturbed,
    /// The clocks differ by more than the bound, with the reason. This can happen to single batches, but not to all.
    Disagree(String),
}

/// Compares the clocks of a batch. `round_trip` is the time of an empty round trip in nanoseconds. If the
/// row `waits`, its CPU time may be lower than its time, and each thread that is woken waits for a processor.
pub fn judge(batch: &Batch, round_trip: u64, waits: bool) -> Verdict {
    let (ns, wall) = (batch.ns as f64, batch.wall as f64);
    let waited = batch.waited.unwrap_or(0) as f64;
    let bound = |whole: f64| BOUND * whole + SLACK;
    let disturbed = waited > WAIT * wall && !waits;
    // The contender may have waited outside its own clock readings.
    let excused = if disturbed { waited } else { 0.0 };
    // Work outside them would have used CPU time.
    let slept =
        |cpu: u64| wall - ns <= ASLEEP * wall && cpu as f64 - ns <= bound(ns) + round_trip as f64;
    let excusable = !waits && batch.cpu.is_some_and(slept);
    if wall - ns > bound(wall) + round_trip as f64 + excused && !excusable {
        return Verdict::Disagree(format!(
            "its clock shows {:.3} ms of {:.3} ms that passed outside",
            ns / 1e6,
            wall / 1e6
        ));
    }
    if let (Some(cpu), false) = (batch.cpu, waits) {
        let cpu = cpu as f64;
        if ns - cpu > bound(ns) + waited {
            return Verdict::Disagree(format!(
                "its clock shows {:.3} ms, its processes used {:.3} ms of CPU time: the work is done elsewhere",
                ns / 1e6,
                cpu / 1e6
            ));
        }
    }
    if disturbed {
        Verdict::Disturbed
    } else {
        Verdict::Agree
    }
}

/// The time a batch is charged in nanoseconds: the contender's own, or its CPU time per thread if that is clearly
/// higher.
pub fn charged(batch: &Batch, threads: u32) -> u64 {
    let cpu = batch.cpu.unwrap_or(0) / u64::from(threads.max(1));
    if cpu as f64 > CHARGED * batch.ns as f64 {
        cpu
    } else {
        batch.ns
    }
}

/// Total CPU time and time of several batches, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Threads {
    cpu: f64,
    ns: f64,
}

impl Threads {
    /// Adds a batch; `round_trip` covers the cost of reading the request and writing the response.
    pub fn add(&mut self, batch: &Batch, round_trip: u64) {
        if let Some(cpu) = batch.cpu {
            self.cpu += cpu as f64;
            self.ns += batch.ns as f64 + round_trip as f64 + SLACK;
        }
    }

    /// A message if these batches used more than `allowed` threads.
    pub fn excess(&self, allowed: u32) -> Option<String> {
        let used = self.cpu / self.ns.max(1.0);
        (used > THREADS * f64::from(allowed)).then(|| {
            format!(
                "uses {:.1} threads where {allowed} is allowed: {:.3} ms of CPU time in {:.3} ms",
                used,
                self.cpu / 1e6,
                self.ns / 1e6
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(ns: u64, wall: u64, cpu: u64, waited: u64) -> Batch {
        Batch {
            n: 1,
            seed: 1,
            ns,
            acc: 0,
            wall,
            cpu: Some(cpu),
            waited: Some(waited),
        }
    }

    #[test]
    fn clocks_agree_within_two_percent_and_the_round_trip() {
        const MS: u64 = 1_000_000;
        assert_eq!(
            judge(&batch(20 * MS, 20 * MS + 80_000, 20 * MS, 0), 50_000, false),
            Verdict::Agree
        );
        // A clock that runs at 97 %, and one at 72 %.
        for ns in [194 * MS / 10, 144 * MS / 10] {
            let told = judge(&batch(ns, 20 * MS, 20 * MS, 0), 50_000, false);
            assert!(
                matches!(told, Verdict::Disagree(text) if text.contains("its clock shows")),
                "{ns}"
            );
        }
        let told = judge(&batch(20 * MS, 20 * MS, 10 * MS, 0), 50_000, false);
        assert!(matches!(told, Verdict::Disagree(text) if text.contains("elsewhere")));
        // Unless the row waits, which does not excuse a wrong clock.
        assert_eq!(
            judge(&batch(20 * MS, 20 * MS, 10 * MS, 0), 50_000, true),
            Verdict::Agree
        );
        assert_eq!(
            judge(&batch(20 * MS, 20 * MS, 10 * MS, 2 * MS), 50_000, true),
            Verdict::Agree
        );
        assert!(matches!(
            judge(&batch(10 * MS, 20 * MS, 10 * MS, 10 * MS), 50_000, true),
            Verdict::Disagree(_)
        ));
        assert_eq!(
            judge(&batch(20 * MS, 20 * MS, 10 * MS, 10 * MS), 0, false),
            Verdict::Disturbed
        );
        assert_eq!(
            judge(&batch(10 * MS, 20 * MS, 10 * MS, 10 * MS), 0, false),
            Verdict::Disturbed
        );
        // Woken late, in a batch without work outside its clock, and in one with that.
        assert_eq!(
            judge(&batch(85 * MS / 10, 10 * MS, 85 * MS / 10, 0), 0, false),
            Verdict::Agree
        );
        assert!(matches!(
            judge(&batch(85 * MS / 10, 10 * MS, 9 * MS, 0), 0, false),
            Verdict::Disagree(_)
        ));
        // Waiting for a processor does not excuse a wrong clock.
        assert!(matches!(
            judge(&batch(5 * MS, 20 * MS, 5 * MS, MS), 0, false),
            Verdict::Disagree(_)
        ));
    }

    #[test]
    fn threads_are_counted() {
        let mut threads = Threads::default();
        for _ in 0..5 {
            threads.add(&batch(10_000_000, 10_100_000, 10_200_000, 0), 50_000);
        }
        assert_eq!(threads.excess(1), None);
        for _ in 0..15 {
            threads.add(&batch(10_000_000, 10_100_000, 20_000_000, 0), 50_000);
        }
        assert!(
            threads
                .excess(1)
                .is_some_and(|text| text.contains("uses 1.7 threads"))
        );
        assert_eq!(threads.excess(2), None);
    }

    #[test]
    fn a_second_core_gains_nothing() {
        assert_eq!(
            charged(&batch(10_000_000, 10_100_000, 10_900_000, 0), 1),
            10_000_000
        );
        assert_eq!(
            charged(&batch(10_000_000, 10_100_000, 19_000_000, 0), 1),
            19_000_000
        );
        assert_eq!(
            charged(&batch(10_000_000, 10_100_000, 19_000_000, 0), 2),
            10_000_000
        );
    }
}
