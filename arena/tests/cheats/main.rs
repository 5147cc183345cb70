//! Contenders that cheat, each detected with its message. The cheats are in `contender.rs`.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lydite_arena::change::Change;
use lydite_arena::manifest::{Manifest, OURS};
use lydite_arena::ops::{Memory, Op, catalogue};
use lydite_arena::race::{Plan, run};
use lydite_arena::records::Known;
use lydite_arena::result::{Report, State};
use lydite_arena::schedule::Settings;

const CONTENDER: &str = env!("CARGO_BIN_EXE_arena-fake-contender");

/// Timed tests must not run concurrently.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("arena-cheats-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The row that the contenders implement, with a change rule.
fn row() -> Op {
    let op = catalogue().iter().find(|op| op.id == "u256_add_varied");
    let mut op = op.unwrap().clone();
    op.change = "le@4".parse().unwrap();
    op
}

/// Races an honest contender, ours, against cheats.
fn race(folder: &Folder, op: Op, modes: &[&str]) -> Report {
    let manifest = |name: &str, mode: &str| {
        let folder_text = folder.0.to_str().unwrap();
        let text = format!(
            "name = {name:?}\n[[variants]]\nname = \"only\"\nquick = true\nrun = [{CONTENDER:?}, {mode:?}, {folder_text:?}]\n"
        );
        let mut manifest = Manifest::parse(&text, folder.0.clone()).unwrap();
        manifest.foreign = name != OURS;
        manifest
    };
    let mut manifests = vec![manifest(OURS, "")];
    manifests.extend(modes.iter().map(|mode| manifest(mode, mode)));
    run(&Plan {
        arena: &folder.0,
        ops: &[op],
        manifests: &manifests,
        known: &Known::default(),
        ours: OURS,
        quick: true,
        settings: Settings {
            launches: 2,
            rounds: 3,
            batch_ns: 10_000_000,
            warm_up: Duration::from_millis(30),
            longest: Duration::from_secs(1),
            retries: 6,
            deadline: Duration::from_secs(5),
            ..Settings::quick()
        },
        command: "test".into(),
        anchor: None,
        check_only: false,
        progress: None,
    })
    .unwrap()
}

/// Checks that every contender ends in its expected state with a reason that contains the text, and that only ours is
/// scored.
fn check(name: &str, op: Op, wanted: &[(&str, State, &str)]) {
    let _alone = alone();
    let folder = Folder::new(name);
    let mut open = wanted.to_vec();
    // A contender that had to wait for a processor in most batches is not judged, or is rejected for its clocks first;
    // it runs again.
    for _ in 0..6 {
        let modes: Vec<&str> = open.iter().map(|(mode, ..)| *mode).collect();
        let report = race(&folder, op.clone(), &modes);
        let honest = report.best(&op.id, OURS).unwrap();
        assert!(
            matches!(honest.state, State::Ok | State::Noisy),
            "honest: {:?} {:?}",
            honest.state,
            honest.reason
        );
        open.retain(|(mode, state, reason)| {
            let cell = report.best(&op.id, mode).unwrap();
            let told = cell.reason.as_deref().unwrap_or("");
            let pair = report.pairs.iter().find(|pair| pair.b == *mode);
            // A second thread that shares a processor saves no time, and its CPU time is charged.
            let slower = *reason == CPU_TIME && pair.is_none_or(|pair| pair.ratio > 0.75);
            let waited = told.contains("the work is done elsewhere") && !told.contains(reason);
            let undecided =
                waited || cell.state == State::Noisy || cell.state == State::Ok && slower;
            assert!(
                undecided || cell.state == *state,
                "{mode}: {:?} {told}",
                cell.state
            );
            assert!(undecided || pair.is_none(), "{mode} is scored");
            let found = !undecided && told.contains(reason);
            if !found {
                eprintln!("{mode}: {told}, not {reason:?}");
            }
            !found
        });
        if open.is_empty() {
            return;
        }
    }
    // Where two processors are never free at the same time, a second one is of no use.
    open.retain(|(.., reason)| *reason != CPU_TIME);
    assert!(open.is_empty(), "always disturbed: {open:?}");
}

const WRONG: State = State::FailedVerify;
/// The reason for contenders that need a second processor.
const CPU_TIME: &str = "CPU time";

#[test]
fn what_was_computed_before_is_of_no_use_where_items_change() {
    let sum = "sum up to";
    check(
        "before",
        row(),
        &[
            ("compute_half", WRONG, sum),
            ("compute_tenth", WRONG, sum),
            ("compute_nothing", WRONG, sum),
            ("honest_if_examined", WRONG, sum),
            ("skips_work", WRONG, sum),
            ("unchanging", State::Lax, "does not change its items"),
        ],
    );
}

/// Checks that the time of a contender, if there is one, is no better than the honest one.
fn gains_nothing(name: &str, modes: &[&str]) {
    let _alone = alone();
    let folder = Folder::new(name);
    // On a busy machine a few batches may be wrong once, and the honest time may be missing.
    let mut open = modes.to_vec();
    for _ in 0..5 {
        let report = race(&folder, row(), &open);
        let time = |name: &str| report.best("u256_add_varied", name).unwrap().ns;
        let Some(ours) = time(OURS) else { continue };
        open.retain(|mode| {
            let theirs = time(mode).unwrap_or(f64::INFINITY);
            eprintln!("{mode}: {theirs} against {ours}");
            theirs <= 0.9 * ours
        });
        if open.is_empty() {
            return;
        }
    }
    panic!("{open:?} gain, or the honest time was always missing");
}

#[test]
fn a_memory_of_results_gains_nothing_where_items_change() {
    gains_nothing("memory", &["remembers", "remembers_in_batch"]);
}

#[test]
fn a_clock_that_lies_in_short_batches_gains_nothing() {
    gains_nothing("short", &["clock_short"]);
}

#[test]
fn what_was_computed_before_is_found_where_items_do_not_change() {
    let fixed = Op {
        change: Change::None,
        ..row()
    };
    let prepares = "it computes in `prepare`";
    let memory = "it answers from memory";
    check(
        "fixed",
        fixed,
        &[
            ("compute_half", WRONG, prepares),
            ("compute_tenth", WRONG, prepares),
            ("compute_nothing", WRONG, ""),
            ("honest_if_examined", WRONG, prepares),
            ("remembers", WRONG, memory),
            ("remembers_in_batch", WRONG, memory),
        ],
    );
}

#[test]
fn clocks_and_threads_are_measured() {
    let clock = "its clock shows";
    check(
        "clocks",
        row(),
        &[
            ("clock_80", WRONG, clock),
            ("clock_72", WRONG, clock),
            ("fast_clock", WRONG, clock),
            ("slow_clock", WRONG, "from outside"),
            ("two_threads", WRONG, CPU_TIME),
            ("two_processes", WRONG, CPU_TIME),
        ],
    );
}

#[test]
fn new_results_need_new_memory() {
    check(
        "fresh",
        Op {
            memory: Memory::Fresh,
            ..row()
        },
        &[
            ("no_allocation", State::Lax, "make 0 allocations"),
            ("tells_nothing", State::Lax, "does not report allocations"),
        ],
    );
}

#[test]
fn decoders_check_by_the_call_that_is_timed() {
    let op = catalogue()
        .iter()
        .find(|op| op.id == "rlp_decode_u256_varied");
    check(
        "decoders",
        op.unwrap().clone(),
        &[
            ("no_checks", State::Lax, "accepts malformed input"),
            ("lax", State::Lax, "accepts malformed input"),
            ("no_negatives", State::Lax, "offers no `neg:`"),
            ("mumbles", WRONG, "not one 0 or 1"),
        ],
    );
}

#[test]
fn the_driver_survives_any_output() {
    check(
        "output",
        row(),
        &[
            ("fifo", WRONG, "expected a regular file"),
            ("link", WRONG, "read out-"),
            ("sparse", WRONG, "expected at most"),
            (
                "endless_lines",
                State::FailedCrash,
                "lines that are no answers",
            ),
            ("endless_errors", State::FailedCrash, "to standard error"),
            ("answers_early", WRONG, ""),
            ("hangs", State::Timeout, "no answer within"),
            ("closes_output", State::FailedCrash, ""),
        ],
    );
}

#[test]
fn nobody_harms_others() {
    let _alone = alone();
    let folder = Folder::new("others");
    let harmless = || {
        let report = race(&folder, row(), &["vandal", "burner"]);
        [OURS, "vandal", "burner"].iter().all(|name| {
            let cell = report.best("u256_add_varied", name).unwrap();
            eprintln!("{name}: {:?} {:?}", cell.state, cell.reason);
            match *name {
                // Its children take its CPU time, or count as its threads.
                "burner" => cell.state != State::Ok,
                _ => matches!(cell.state, State::Ok | State::Noisy),
            }
        })
    };
    // Other load on the machine may harm them once.
    assert!((0..3).any(|_| harmless()));
    // Its children have ended with it, including those that left its session.
    let burners = std::fs::read_to_string(folder.0.join("burners")).unwrap();
    for pid in burners.lines() {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    }
}
