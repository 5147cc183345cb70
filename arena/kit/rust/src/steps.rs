//! Times of the steps of an operation.

use std::cell::RefCell;
use std::time::Duration;

thread_local! {
    static STEPS: RefCell<Vec<(&'static str, u64)>> = const { RefCell::new(Vec::new()) };
}

/// Adds to the time of one step of the operation that is running, such as `reading`. Reports show the share of each. The
/// operation itself measures the time, so it must measure it in timed batches too.
pub fn step(name: &'static str, time: Duration) {
    let ns = time.as_nanos() as u64;
    STEPS.with_borrow_mut(|steps| match steps.iter_mut().find(|step| step.0 == name) {
        Some((_, total)) => *total += ns,
        None => steps.push((name, ns)),
    });
}

/// Takes the times of all steps since the last call, in nanoseconds.
pub(crate) fn take() -> Vec<(&'static str, u64)> {
    STEPS.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_step_are_added() {
        take();
        for (name, ns) in [("reading", 1), ("writing", 2), ("reading", 3)] {
            step(name, Duration::from_nanos(ns));
        }
        assert_eq!(take(), [("reading", 4), ("writing", 2)]);
        assert_eq!(take(), []);
    }
}
