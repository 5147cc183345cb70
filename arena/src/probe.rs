//! Detects whether the core's other hardware thread is busy.
//!
//! Two hardware threads of a core share its execution units. A loop that saturates them takes up to twice as long while
//! the other thread works, be it for this system or for another virtual machine, which no clock or counter of the guest
//! shows. The probe is such a loop of a few microseconds. It runs on the processor that ran the batch, right after it,
//! and is compared with its fastest time on that processor.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

/// Ratio to the probe's best time above which the core counts as shared.
const CROWDED: f64 = 1.15;
/// Iterations of the loop.
const TURNS: u64 = 4000;
/// Repetitions of the loop. The fastest counts, because interrupts lengthen single ones.
const REPEATS: u32 = 3;

/// The probe and its best times.
pub struct Probe {
    /// Fastest loop time by processor, in nanoseconds.
    best: BTreeMap<usize, u64>,
    works: bool,
}

impl Default for Probe {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs six independent dependency chains of different instructions, so that they cannot be vectorised. That is more
/// than the four arithmetic instructions a core can start in a cycle.
fn turns() -> u64 {
    let start = Instant::now();
    let [mut a, mut b, mut c, mut d, mut e, mut f] = black_box([1u64, 2, 3, 4, 5, 6]);
    for turn in 0..black_box(TURNS) {
        a = a.rotate_left(5).wrapping_add(turn) ^ 0x55;
        b = (b ^ (b << 13)).wrapping_add(turn);
        c = c.wrapping_sub(turn).rotate_right(11) ^ 3;
        d = d.wrapping_add(d >> 7) ^ turn;
        e = (!e).wrapping_add(turn).rotate_left(3);
        f = f.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ turn;
    }
    black_box([a, b, c, d, e, f]);
    start.elapsed().as_nanos() as u64
}

impl Probe {
    /// Calibrates the probe on every processor that this thread may use.
    pub fn new() -> Self {
        let mut probe = Self {
            best: BTreeMap::new(),
            works: true,
        };
        for cpu in system::allowed() {
            for _ in 0..50 {
                probe.works &= probe.on(cpu).is_some();
            }
        }
        probe.works &= !probe.best.is_empty();
        probe
    }

    /// Whether this system lets a thread choose its processor.
    pub fn works(&self) -> bool {
        self.works
    }

    /// Whether the core on which the process last ran is shared with other work.
    pub fn crowded(&mut self, pid: u32) -> bool {
        let slowdown = system::last_cpu(pid)
            .filter(|_| self.works)
            .and_then(|cpu| self.on(cpu));
        slowdown.is_some_and(|slowdown| slowdown > CROWDED)
    }

    /// The time of the loop on a processor divided by its best time.
    fn on(&mut self, cpu: usize) -> Option<f64> {
        let now = system::on(cpu, || (0..REPEATS).map(|_| turns()).min())??;
        let best = self.best.entry(cpu).or_insert(now);
        *best = now.min(*best);
        Some(now as f64 / *best as f64)
    }
}

#[cfg(target_os = "linux")]
mod system {
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;

    /// The calling thread.
    const SELF: Pid = Pid::from_raw(0);

    /// Processors that this thread may use.
    pub fn allowed() -> Vec<usize> {
        let set = sched_getaffinity(SELF).unwrap_or_default();
        (0..CpuSet::count())
            .filter(|&cpu| set.is_set(cpu).unwrap_or(false))
            .collect()
    }

    /// Runs `work` on one processor.
    pub fn on<T>(cpu: usize, work: impl FnOnce() -> T) -> Option<T> {
        let before = sched_getaffinity(SELF).ok()?;
        let mut one = CpuSet::new();
        one.set(cpu).ok()?;
        sched_setaffinity(SELF, &one).ok()?;
        let done = work();
        sched_setaffinity(SELF, &before).ok()?;
        Some(done)
    }

    /// The processor that the main thread of a process used last (`man 5 proc_pid_stat`, field 39).
    pub fn last_cpu(pid: u32) -> Option<usize> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field is a name in parentheses and may contain any character.
        text.rsplit_once(')')?
            .1
            .split_ascii_whitespace()
            .nth(36)?
            .parse()
            .ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub fn allowed() -> Vec<usize> {
        Vec::new()
    }

    pub fn on<T>(_: usize, _: impl FnOnce() -> T) -> Option<T> {
        None
    }

    pub fn last_cpu(_: u32) -> Option<usize> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_loop_slower_than_its_best_is_a_neighbour() {
        let mut probe = Probe::new();
        assert!(probe.works());
        let own = std::process::id();
        let set = |probe: &mut Probe, best| probe.best.values_mut().for_each(|old| *old = best);
        set(&mut probe, 1);
        assert!(probe.crowded(own));
        set(&mut probe, u64::MAX);
        assert!(!probe.crowded(own));
        // A process that has ended has no processor.
        set(&mut probe, 1);
        assert!(!probe.crowded(u32::MAX));
        // The thread's affinity has been restored.
        assert_eq!(system::allowed().len(), probe.best.len());
    }
}
