//! Tests of the arena: contenders with every fault we could think of end in the expected state.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use lydite_arena::builder::Job;
use lydite_arena::change::Change;
use lydite_arena::instructions::{self, Counter};
use lydite_arena::manifest::Manifest;
use lydite_arena::ops::{Op, catalogue};
use lydite_arena::race::{Plan, run};
use lydite_arena::records::Known;
use lydite_arena::result::{Report, State, Verdict};
use lydite_arena::schedule::Settings;
use lydite_arena::stats::MARGIN;

const FAKE: &str = env!("CARGO_BIN_EXE_arena-fake-contender");

/// Faults that only show in times.
const DOUBTFUL: [&str; 2] = ["fast_clock", "remembers_last"];

/// Timed tests must not run concurrently.
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

/// Races fake contenders, given as `(name, fault)` with ours first.
fn fakes(folder: &Folder, contenders: &[(&str, &str)], ops: &[&str], settings: Settings) -> Report {
    race(folder, contenders, &fake_ops(ops), settings)
}

fn race(folder: &Folder, contenders: &[(&str, &str)], ops: &[Op], settings: Settings) -> Report {
    let manifests: Vec<Manifest> = contenders
        .iter()
        .map(|(name, fault)| {
            let text = format!(
                "name = {name:?}\n[[variants]]\nname = \"only\"\nquick = true\nrun = [{FAKE:?}, {fault:?}, {:?}]\n",
                folder.0
            );
            let mut manifest = Manifest::parse(&text, folder.0.clone()).unwrap();
            // Doubtful times only fail a contender that has not been reviewed.
            manifest.foreign = DOUBTFUL.contains(fault);
            manifest
        })
        .collect();
    run(&Plan {
        arena: &folder.0,
        ops,
        manifests: &manifests,
        known: &Known::default(),
        ours: lydite_arena::manifest::OURS,
        quick: true,
        settings,
        command: "test".into(),
        anchor: None,
        check_only: false,
        progress: None,
    })
    .unwrap()
}

fn short(seed: u64) -> Settings {
    Settings {
        launches: 4,
        most_launches: 4,
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
            // On a loaded machine a correct contender may become noisy, but a wrong one must never pass.
            let right = cell.state == state || (state == State::Ok && cell.state == State::Noisy);
            assert!(right, "{name} {op}: {:?} {told}", cell.state);
            assert!(told.contains(reason), "{name} {op}: {told}");
            // A correct contender may have no time there either.
            assert!(cell.ns.is_none() || state == State::Ok, "{name} {op}");
            let scored = report
                .pairs
                .iter()
                .any(|pair| pair.b == name && pair.op == op);
            // A disturbed pair may have no score.
            assert!(!scored || name == "banners", "{name} {op}");
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
    let text = lydite_arena::report::table::summary(&report);
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
    // Only the results of items that do not change can be cached.
    let mut ops = fake_ops(&["u256_add", "u256_add_varied"]);
    for op in &mut ops {
        op.change = Change::None;
    }
    let report = race(&folder, &contenders, &ops, short(3));
    let cell = report.best("u256_add", "remembers_last").unwrap();
    assert_eq!(cell.state, State::FailedVerify, "{:?}", cell.reason);
    assert!(cell.reason.as_deref().unwrap().contains("two in turn"));
    // On distinct items such a cache is useless, and the row is correct.
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
        &["u256_add_varied"],
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
fn rows_with_wide_intervals_get_more_launches() {
    let _alone = ALONE.lock();
    let folder = Folder::new("wide");
    let settings = Settings {
        launches: 5,
        most_launches: 8,
        rounds: 3,
        width: 1e-4,
        stretch: 100.0,
        ..short(9)
    };
    let contenders = [
        ("lydite", ""),
        ("twin", ""),
        ("far", "tenth"),
        ("fails", "wrong_byte"),
    ];
    let launches = |report: &Report, name: &str, control: bool| {
        let cells = report.cells.iter();
        let mut own = cells.filter(|cell| cell.contender == name && cell.control == control);
        let batches = &own.next().unwrap().batches;
        let mut launches: Vec<u32> = batches.iter().map(|batch| batch.launch).collect();
        launches.dedup();
        launches.len()
    };
    let all = |report: &Report| {
        [("lydite", false), ("lydite", true), ("twin", false)]
            .map(|(name, control)| launches(report, name, control))
    };
    // Other load on the machine may disturb all batches of a launch.
    let report = (0..3)
        .map(|_| fakes(&folder, &contenders, &["u256_add_varied"], settings.clone()))
        .find(|report| all(report) == [8; 3])
        .expect("three runs had fewer launches");
    assert_eq!(
        report
            .pairs
            .iter()
            .find(|pair| pair.b == "twin")
            .unwrap()
            .launches,
        8
    );
    // A contender that takes ten times our time needs no narrow interval, and a failed one none at all.
    assert!(launches(&report, "far", false) < 8);
    assert_eq!(launches(&report, "fails", false), 0);
    // Each process ran from a copy.
    let twin = report.contenders.iter().find(|c| c.name == "twin").unwrap();
    assert!(
        twin.runtime.contains("lydite-arena-") && twin.runtime != FAKE,
        "{}",
        twin.runtime
    );
    // Without a time budget nobody runs again.
    let settings = Settings {
        stretch: 0.0,
        ..settings
    };
    let report = fakes(
        &folder,
        &[("lydite", ""), ("twin", "")],
        &["u256_add_varied"],
        settings,
    );
    assert_eq!(report.pairs[0].launches, 5);
}

#[test]
fn a_result_is_judged_again_from_its_batches() {
    let _alone = ALONE.lock();
    let folder = Folder::new("again");
    let report = fakes(
        &folder,
        &[("lydite", ""), ("far", "half")],
        &["u256_add_varied"],
        short(8),
    );
    let mut forged = report.clone();
    forged.pairs[0].verdict = Verdict::Loss;
    forged.pairs[0].ratio = 0.1;
    forged.score.pairs.lost = 7;
    forged.run.noisy = !report.run.noisy;
    forged.cells[0].ns = Some(1.0);
    lydite_arena::race::judge(&mut forged);
    let text = |report: &Report| serde_json::to_string(report).unwrap();
    assert_eq!(text(&forged), text(&report));
}

/// Whether the interval shows the difference, with the true ratio or one within 2 % of it. The verdict may be missing:
/// a machine with other load, such as a CI runner, can make every run noisy. Such a run may even have no pair.
fn found(report: &Report, truth: f64) -> bool {
    let Some(pair) = report.pairs.first() else {
        return false;
    };
    eprintln!("{pair:?}");
    assert_ne!(pair.verdict, Verdict::Loss, "{pair:?}");
    pair.lo > 1.0 + MARGIN && pair.lo < 1.02 * truth && pair.hi > truth / 1.02
}

#[test]
fn ten_percent_are_found() {
    let _alone = ALONE.lock();
    let folder = Folder::new("slow");
    let contenders = [("lydite", ""), ("slowed", "slow")];
    let settings = |seed| Settings {
        launches: 9,
        rounds: 9,
        most_launches: 18,
        ..short(seed)
    };
    // Other load on the machine may hide the difference.
    for seed in 0..6 {
        let report = fakes(&folder, &contenders, &["u256_add_varied"], settings(seed));
        if found(&report, 1.1) {
            return;
        }
    }
    panic!("six runs did not find it");
}

#[test]
fn a_true_slowdown_is_found() {
    let _alone = ALONE.lock();
    let folder = Folder::new("shim");
    let slowed = env!("CARGO_BIN_EXE_arena-slowed");
    let manifest = |name: &str, run: &str| {
        let text = format!("name = {name:?}\n[[variants]]\nname = \"only\"\nquick = true\n{run}\n");
        Manifest::parse(&text, folder.0.clone()).unwrap()
    };
    let manifests = [
        manifest("lydite", &format!("run = [{FAKE:?}]")),
        manifest(
            "slowed",
            &format!("run = [{slowed:?}, \"20\", {FAKE:?}]\ncopies = [{FAKE:?}]"),
        ),
    ];
    // Other load on the machine may hide the difference.
    for seed in 0..6 {
        let report = run(&Plan {
            arena: &folder.0,
            ops: &fake_ops(&["u256_add_varied"]),
            manifests: &manifests,
            known: &Known::default(),
            ours: lydite_arena::manifest::OURS,
            quick: true,
            settings: Settings {
                launches: 9,
                ..short(seed)
            },
            command: "test".into(),
            anchor: None,
            check_only: false,
            progress: None,
        })
        .unwrap();
        if found(&report, 1.2) {
            return;
        }
    }
    panic!("six runs did not find it");
}

#[test]
fn instructions_are_counted_without_noise() {
    if which::which("valgrind").is_err() {
        eprintln!("valgrind is not installed: nothing is counted");
        return;
    }
    let folder = Folder::new("instructions");
    let faults = ["", "", "slow", "answers_early", "crashes"];
    let manifests = faults.map(|fault| {
        let text = format!(
            "name = \"fake\"\n[[variants]]\nname = \"only\"\nrun = [{FAKE:?}, {fault:?}]\n"
        );
        Manifest::parse(&text, folder.0.clone()).unwrap()
    });
    let jobs = manifests.each_ref().map(|manifest| Job {
        manifest,
        variant: &manifest.variants[0],
    });
    let counter = Counter::callgrind().unwrap();
    let text = instructions::render(&counter, &jobs, &fake_ops(&["u256_add_varied"])).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("u256_add_varied "));
    let words: Vec<&str> = line
        .unwrap_or_else(|| panic!("{text}"))
        .split(' ')
        .collect();
    let [once, again, slow] = [0, 1, 2].map(|at| words[at].parse::<f64>().unwrap());
    // Printing a time takes a number of instructions that depends on its digits.
    assert!((once / again - 1.0).abs() < 1e-3, "{once} {again}");
    assert!(slow / once > 1.04 && slow / once < 1.12, "{once} {slow}");
    assert_eq!(words[3..], ["-", "-", "1.00"], "{text}");
    assert!(text.contains("its checksum differs"), "{text}");
    assert!(text.contains("no count: exit status: 101"), "{text}");
}

#[test]
fn ten_runs_against_itself_claim_nothing() {
    let _alone = ALONE.lock();
    let folder = Folder::new("same");
    for seed in 0..10 {
        let report = fakes(
            &folder,
            &[("lydite", ""), ("twin", "")],
            &["u256_add_varied"],
            short(seed),
        );
        let verdicts: Vec<Verdict> = report.pairs.iter().map(|pair| pair.verdict).collect();
        assert!(
            matches!(verdicts[..], [] | [Verdict::Tie | Verdict::Noisy]),
            "run {seed}: {:?} {:?}",
            report.pairs,
            report.controls
        );
    }
}
