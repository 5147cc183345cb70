//! The arena, tested on itself: contenders with every fault we could think of end in the right state.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use lydite_arena::change::Change;
use lydite_arena::manifest::Manifest;
use lydite_arena::ops::{Op, catalogue};
use lydite_arena::race::{Plan, run};
use lydite_arena::result::{Report, State, Verdict};
use lydite_arena::schedule::Settings;

const FAKE: &str = env!("CARGO_BIN_EXE_arena-fake-contender");

/// Timed tests do not run beside each other.
static ALONE: Mutex<()> = Mutex::new(());

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("arena-test-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn fake_ops(ids: &[&str]) -> Vec<Op> {
    let known = |op: &&Op| ids.contains(&op.id.as_str());
    catalogue().iter().filter(known).cloned().collect()
}

/// A run of fakes: `(name, fault)`, ours first.
fn fakes(folder: &Folder, contenders: &[(&str, &str)], ops: &[&str], settings: Settings) -> Report {
    race(folder, contenders, &fake_ops(ops), settings)
}

fn race(folder: &Folder, contenders: &[(&str, &str)], ops: &[Op], settings: Settings) -> Report {
    let manifests: Vec<Manifest> = contenders
        .iter()
        .map(|(name, fault)| {
            let text = format!(
                "name = {name:?}\n[[variants]]\nname = \"only\"\nquick = true\nrun = [{FAKE:?}, {fault:?}]\n"
            );
            Manifest::parse(&text, folder.0.clone()).unwrap()
        })
        .collect();
    run(&Plan {
        arena: &folder.0,
        ops,
        manifests: &manifests,
        ours: lydite_arena::manifest::OURS,
        quick: true,
        settings,
        command: "test".into(),
        anchor: None,
        check_only: false,
    })
    .unwrap()
}

fn short(seed: u64) -> Settings {
    Settings {
        launches: 4,
        rounds: 7,
        batch_ns: 5_000_000,
        warm_up: Duration::from_millis(50),
        longest: Duration::from_secs(1),
        retries: 6,
        deadline: Duration::from_secs(3),
        seed,
        ..Settings::quick()
    }
}

#[test]
fn every_fault_ends_in_its_state() {
    let _alone = ALONE.lock();
    let folder = Folder::new("faults");
    let wanted = [
        ("lydite", "", State::Ok, ""),
        ("banners", "banners", State::Ok, ""),
        (
            "wrong_byte",
            "wrong_byte",
            State::FailedVerify,
            "byte 2047 is",
        ),
        (
            "no_output",
            "no_output",
            State::FailedVerify,
            "0 outputs for",
        ),
        ("refuses", "refuses", State::FailedVerify, "rejected: no"),
        ("skips", "skips", State::FailedVerify, ""),
        ("skips_work", "skips_work", State::FailedVerify, "sum up to"),
        ("other_n", "other_n", State::FailedVerify, "asked for"),
        (
            "fast_clock",
            "fast_clock",
            State::FailedVerify,
            "its clock shows",
        ),
        (
            "slow_clock",
            "slow_clock",
            State::FailedVerify,
            "from outside",
        ),
        ("no_time", "no_time", State::FailedVerify, "reports 0 ns"),
        (
            "crashes",
            "crashes",
            State::FailedCrash,
            "ended (exit status: 101)",
        ),
        (
            "dies_at_start",
            "dies_at_start",
            State::FailedCrash,
            "ended (exit status: 3)",
        ),
        ("closes_output", "closes_output", State::FailedCrash, ""),
        ("hangs", "hangs", State::Timeout, "no answer within"),
    ];
    let names: Vec<(&str, &str)> = wanted.iter().map(|w| (w.0, w.1)).collect();
    let report = fakes(&folder, &names, &["u256_add", "u256_add_varied"], short(1));
    for (name, _, state, reason) in wanted {
        for op in ["u256_add", "u256_add_varied"] {
            let cell = report.best(op, name).unwrap();
            let told = cell.reason.as_deref().unwrap_or("");
            // A loaded machine may call a right one noisy; no wrong one may pass.
            let right = cell.state == state || (state == State::Ok && cell.state == State::Noisy);
            assert!(right, "{name} {op}: {:?} {told}", cell.state);
            assert!(told.contains(reason), "{name} {op}: {told}");
            assert_eq!(cell.ns.is_some(), state == State::Ok, "{name} {op}");
            let scored = report
                .pairs
                .iter()
                .any(|pair| pair.b == name && pair.op == op);
            assert_eq!(scored, name == "banners", "{name} {op}");
        }
    }
    let banners = report
        .contenders
        .iter()
        .find(|c| c.name == "banners")
        .unwrap();
    assert!(banners.banners > 10, "{}", banners.banners);
    let ours = report.best("u256_add", "lydite").unwrap();
    assert_eq!((ours.alloc_bytes, ours.allocs), (Some(32.0), Some(1.0)));
    // The reports of such a run can be written.
    let text = lydite_arena::report::table::render(&report, false);
    assert!(text.contains("failed:crash"), "{text}");
    assert!(lydite_arena::report::markdown::render(&report).contains("its clock shows"));
    assert!(
        lydite_arena::report::html::render(&report)
            .unwrap()
            .contains("no answer within")
    );
}

#[test]
fn the_last_answer_kept_is_found_where_it_helps() {
    let _alone = ALONE.lock();
    let folder = Folder::new("last");
    let contenders = [("lydite", ""), ("remembers_last", "remembers_last")];
    // Only items that stay as they are can be remembered.
    let mut ops = fake_ops(&["u256_add", "u256_add_varied"]);
    for op in &mut ops {
        op.change = Change::None;
    }
    let report = race(&folder, &contenders, &ops, short(3));
    let cell = report.best("u256_add", "remembers_last").unwrap();
    assert_eq!(cell.state, State::FailedVerify, "{:?}", cell.reason);
    assert!(cell.reason.as_deref().unwrap().contains("two in turn"));
    // On distinct items such a memory is of no use, and the row is honest.
    let cell = report.best("u256_add_varied", "remembers_last").unwrap();
    assert!(
        matches!(cell.state, State::Ok | State::Noisy),
        "{:?}",
        cell.reason
    );
}

#[test]
fn a_contender_killed_half_way_has_crashed() {
    let _alone = ALONE.lock();
    let folder = Folder::new("killed");
    let report = fakes(
        &folder,
        &[("lydite", ""), ("mortal", "dies_half_way")],
        &["u256_add", "u256_add_varied"],
        short(2),
    );
    let cell = report.best("u256_add_varied", "mortal").unwrap();
    assert_eq!(cell.state, State::FailedCrash, "{:?}", cell.reason);
    assert!(cell.batches.is_empty());
    assert!(
        report
            .best("u256_add_varied", "lydite")
            .unwrap()
            .ns
            .is_some()
    );
}

#[test]
fn five_percent_is_found() {
    let _alone = ALONE.lock();
    let folder = Folder::new("slow");
    let contenders = [("lydite", ""), ("slowed", "slow")];
    let settings = |seed| Settings {
        launches: 6,
        rounds: 11,
        ..short(seed)
    };
    // A machine loaded by others may make a run noisy, and such a run claims nothing: another is made.
    for seed in 0..6 {
        let report = fakes(&folder, &contenders, &["u256_add_varied"], settings(seed));
        let pair = &report.pairs[0];
        assert_ne!(pair.verdict, Verdict::Loss, "{pair:?}");
        if pair.verdict == Verdict::Win {
            assert!(pair.ratio > 1.03 && pair.ratio < 1.07, "{pair:?}");
            return;
        }
    }
    panic!("six runs did not find it");
}

#[test]
fn twenty_runs_against_itself_claim_nothing() {
    let _alone = ALONE.lock();
    let folder = Folder::new("same");
    for seed in 0..20 {
        let report = fakes(
            &folder,
            &[("lydite", ""), ("twin", "")],
            &["u256_add_varied"],
            short(seed),
        );
        let pair = &report.pairs[0];
        assert!(
            matches!(pair.verdict, Verdict::Tie | Verdict::Noisy),
            "run {seed}: {pair:?} {:?}",
            report.controls
        );
    }
}
