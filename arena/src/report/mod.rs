//! Reports: for the terminal, as Markdown, and as one self-contained page.

pub mod gas;
pub mod html;
pub mod markdown;
pub mod table;

use crate::result::{Cell, Count, Report, State};

/// `12.3 ns`, `4.56 µs`: three digits.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three(value))
}

/// Operations a second: `3.21 M`; with bytes of an operation also `1.20 k (1200 MB/s)`.
pub fn rate(ns: f64, bytes: Option<f64>) -> String {
    let (value, unit) = match 1e9 / ns {
        ops if ops < 1e3 => (ops, ""),
        ops if ops < 1e6 => (ops / 1e3, " k"),
        ops if ops < 1e9 => (ops / 1e6, " M"),
        ops => (ops / 1e9, " G"),
    };
    let bytes = bytes.map(|bytes| format!(" ({} MB/s)", three(bytes / ns * 1e3)));
    format!("{}{unit}{}", three(value), bytes.unwrap_or_default())
}

/// Three digits, no exponent.
pub fn three(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

/// `won 20, tied 3, lost 4`
pub fn count(count: &Count) -> String {
    let mut text = format!(
        "won {}, tied {}, lost {}",
        count.won, count.tied, count.lost
    );
    if count.noisy > 0 {
        text += &format!(", too noisy to tell {}", count.noisy);
    }
    text
}

/// The lines that sum up a run.
pub fn summary(report: &Report) -> Vec<String> {
    let score = &report.score;
    let mut lines = vec![format!(
        "against the fastest peer of each operation: {}; over all pairs: {}",
        count(&score.best_peer),
        count(&score.pairs)
    )];
    if score.alone + score.absent > 0 {
        lines.push(format!(
            "operations without a peer: {}; operations our adapter could not run: {}",
            score.alone, score.absent
        ));
    }
    lines.push(match report.run.noise_floor {
        Some(floor) if report.run.noisy => format!(
            "noise floor {:.1} %: THIS RUN IS NOISY AND CLAIMS NOTHING",
            floor * 100.0
        ),
        Some(floor) => format!(
            "noise floor {:.1} % (our adapter against itself): verdicts need a difference of {:.1} %",
            floor * 100.0,
            floor.max(crate::stats::LEAST_MARGIN) * 100.0
        ),
        None => "no control ran: nothing is claimed".to_owned(),
    });
    if !report.run.filtered {
        lines.push(
            "this system does not tell run-queue waits: disturbed batches were kept".to_owned(),
        );
    }
    lines
}

/// Names of contenders that have a timed cell, ours first.
pub fn raced(report: &Report) -> Vec<&str> {
    let timed = |name: &str| {
        report
            .cells
            .iter()
            .any(|cell| cell.contender == name && cell.ns.is_some())
    };
    report
        .contenders
        .iter()
        .map(|contender| contender.name.as_str())
        .filter(|name| timed(name))
        .collect()
}

/// Cells that failed: neither timed nor simply not offered.
pub fn failures(report: &Report) -> Vec<&Cell> {
    let quiet = [
        State::Ok,
        State::Unsupported,
        State::SkippedToolchain,
        State::SkippedBuild,
    ];
    report
        .cells
        .iter()
        .filter(|cell| !quiet.contains(&cell.state) && !cell.control)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(time(1.234), "1.23 ns");
        assert_eq!(time(9.996), "10.0 ns");
        assert_eq!(time(99.96), "100 ns");
        assert_eq!(time(196.4), "196 ns");
        assert_eq!(time(24_987.0), "25.0 µs");
        assert_eq!(time(2_710_000.0), "2.71 ms");
        assert_eq!(rate(196.4, None), "5.09 M");
        assert_eq!(rate(2_710_000.0, None), "369");
        assert_eq!(rate(500_000.0, Some(1e6)), "2.00 k (2000 MB/s)");
    }
}
