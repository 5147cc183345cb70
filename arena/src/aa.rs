//! `bench aa` measures the arena's error rate. Copies of our own contender under other names must neither win nor lose,
//! and a copy whose batches are all lengthened by a known share must be detected.

use crate::manifest::Manifest;
use crate::report::three;
use crate::result::{Cell, Report, State};
use crate::stats::{self, Verdict};

/// The first variant of our contender, and copies of it under other names.
pub fn manifests(ours: &Manifest, copies: usize) -> Vec<Manifest> {
    let mut ours = ours.clone();
    ours.variants.truncate(1);
    let copy = |number| Manifest {
        name: format!("{}-copy-{number}", ours.name),
        ..ours.clone()
    };
    let copies: Vec<Manifest> = (1..=copies).map(copy).collect();
    [vec![ours], copies].concat()
}

/// Summarises a run of [`manifests`].
pub fn summary(report: &Report) -> String {
    let scored =
        |cell: &&Cell| matches!(cell.state, State::Ok | State::Noisy) && !cell.batches.is_empty();
    let mut pairs: Vec<(&Cell, &Cell)> = Vec::new();
    for op in &report.ops {
        let ours = report.best(&op.id, &report.run.ours).filter(scored);
        for copy in report
            .contenders
            .iter()
            .filter(|c| c.name != report.run.ours)
        {
            pairs.extend(ours.zip(report.best(&op.id, &copy.name).filter(scored)));
        }
    }
    let intervals = |factor: f64| {
        pairs.iter().filter_map(move |(a, b)| {
            let mut launches = a.ratios(b);
            launches
                .iter_mut()
                .flatten()
                .for_each(|ratio| *ratio *= factor);
            Some((*b, stats::interval(&launches)?))
        })
    };
    let mut widths: Vec<f64> = intervals(1.0).map(|(_, found)| found.width()).collect();
    let cells = widths.len();
    let called = |verdict| intervals(1.0).filter(move |(_, found)| stats::judge(found) == verdict);
    let mut text = format!(
        "{} run, {} rows, {cells} cells of identical programs: {} false wins, {} false losses, {} too noisy\n",
        report.run.mode,
        report.ops.len(),
        called(Verdict::Win).count(),
        called(Verdict::Loss).count(),
        called(Verdict::Noisy).count(),
    );
    for (copy, found) in called(Verdict::Win).chain(called(Verdict::Loss)) {
        let [ratio, lo, hi] = [found.ratio, found.lo, found.hi].map(|v| format!("{v:.3}"));
        text += &format!("  {} {}: {ratio} [{lo}, {hi}]\n", copy.op, copy.contender);
    }
    text += &format!(
        "median width of an interval: {} %\n",
        three(100.0 * stats::median(&mut widths))
    );
    for percent in [3, 5] {
        let found = intervals(1.0 + f64::from(percent) / 100.0);
        let found = found
            .filter(|(_, found)| stats::judge(found) == Verdict::Win)
            .count();
        let share = 100.0 * found as f64 / cells.max(1) as f64;
        text += &format!(
            "a copy with every batch {percent} % longer: found in {found} of {cells} cells ({share:.0} %)\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::result::Batch;

    #[test]
    fn counts_what_is_false_and_what_is_found() {
        let ours = Manifest::parse(
            "name = \"lydite\"\n[[variants]]\nname = \"stock\"\nrun = [\"./x\"]\n[[variants]]\nname = \"v3\"\nrun = [\"./x\"]\n",
            ".".into(),
        );
        let all = manifests(&ours.unwrap(), 2);
        let names: Vec<&str> = all.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["lydite", "lydite-copy-1", "lydite-copy-2"]);
        assert!(all.iter().all(|m| m.variants.len() == 1));

        let mut report = crate::report::example("lydite");
        let contender = report.contenders[0].clone();
        for name in &names[1..] {
            report.contenders.push(crate::result::Contender {
                name: (*name).to_owned(),
                ..contender.clone()
            });
        }
        let template = report.cells[0].clone();
        // Launches vary by 0.5 %; the second copy takes 10 % longer.
        report.cells = names
            .iter()
            .zip([1.0, 1.0, 1.1])
            .map(|(name, factor)| Cell {
                contender: (*name).to_owned(),
                batches: (0..9)
                    .map(|launch| {
                        let stray = if *name == "lydite" {
                            1.0
                        } else {
                            1.0 + 0.005 * f64::from(launch % 3) - 0.005
                        };
                        Batch {
                            launch,
                            round: 0,
                            n: 1,
                            ns: (1e6 * factor * stray) as u64,
                            wall: None,
                            cpu: None,
                        }
                    })
                    .collect(),
                ..template.clone()
            })
            .collect();
        let text = summary(&report);
        assert!(
            text.contains(
                "2 cells of identical programs: 1 false wins, 0 false losses, 0 too noisy"
            ),
            "{text}"
        );
        assert!(text.contains("lydite lydite-copy-2: 1.100"), "{text}");
        assert!(text.contains("5 % longer: found in 2 of 2"), "{text}");
    }
}
