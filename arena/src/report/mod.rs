//! Reports: for the terminal, as Markdown, and as one self-contained page.

pub mod gas;
pub mod gasfit;
pub mod html;
pub mod markdown;
mod operations;
pub mod pages;
pub mod site;
pub mod table;

use std::collections::BTreeMap;

use crate::result::{Cell, Count, Pair, Report, State};

/// External text as a single line, without control characters and bidirectional formatting characters.
pub fn plain(text: &str) -> String {
    let unseen =
        |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.replace(unseen, " ")
}

/// Escapes external text for a Markdown table, list or code span: no markup, links or images.
fn markdown_text(text: &str) -> String {
    plain(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('`', "'")
        .replace('|', "\\|")
        .replace("](", "] (")
}

/// Escapes external text for HTML, including attributes. `@` is escaped because it marks the page's placeholders.
fn html_text(text: &str) -> String {
    plain(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('@', "&#64;")
}

/// Applies `change` to every text in the report, most of which comes from contenders and their files.
pub fn with_texts(report: &Report, change: fn(&str) -> String) -> Report {
    let mut report = report.clone();
    fn keys<T>(map: &mut BTreeMap<String, T>, change: fn(&str) -> String) {
        *map = std::mem::take(map)
            .into_iter()
            .map(|(key, value)| (change(&key), value))
            .collect();
    }
    let mut texts: Vec<&mut String> = vec![&mut report.schema];
    let (run, machine) = (&mut report.run, &mut report.machine);
    texts.extend([
        &mut run.mode,
        &mut run.command,
        &mut run.ours,
        &mut run.started,
    ]);
    texts.extend([&mut machine.cpu, &mut machine.system]);
    texts.extend(
        machine
            .flags
            .iter_mut()
            .chain(&mut machine.governor)
            .chain(&mut machine.commit),
    );
    keys(&mut machine.toolchains, change);
    texts.extend(machine.toolchains.values_mut());
    for c in &mut report.contenders {
        keys(&mut c.published, change);
        texts.extend([
            &mut c.name,
            &mut c.language,
            &mut c.version,
            &mut c.runtime,
            &mut c.license,
            &mut c.home,
            &mut c.notes,
        ]);
        texts.extend(
            c.variants
                .iter_mut()
                .chain(&mut c.left_out)
                .chain(&mut c.reason)
                .chain(&mut c.hint),
        );
    }
    for op in &mut report.ops {
        keys(&mut op.published, change);
        texts.extend([
            &mut op.id,
            &mut op.family,
            &mut op.kernel,
            &mut op.title,
            &mut op.unit,
            &mut op.spec,
            &mut op.memory,
        ]);
        texts.extend(&mut op.without);
    }
    for cell in &mut report.cells {
        texts.extend([&mut cell.op, &mut cell.contender, &mut cell.variant]);
        texts.extend(&mut cell.reason);
        texts.extend(cell.steps.iter_mut().map(|(step, _)| step));
    }
    for pair in report.pairs.iter_mut().chain(&mut report.builds) {
        texts.extend([
            &mut pair.op,
            &mut pair.a,
            &mut pair.b,
            &mut pair.a_variant,
            &mut pair.b_variant,
        ]);
        texts.extend(&mut pair.reason);
    }
    texts.extend(report.controls.iter_mut().map(|control| &mut control.op));
    texts.extend(&mut report.score.missing);
    for text in texts {
        *text = change(text);
    }
    report
}

/// A contender's name, marked if its adapter has not been reviewed.
pub fn label(report: &Report, name: &str) -> String {
    let foreign = report
        .contenders
        .iter()
        .any(|c| c.name == name && c.foreign);
    format!("{name}{}", if foreign { " (not reviewed)" } else { "" })
}

/// A table of the steps of operations whose contenders measure them.
fn steps(report: &Report) -> String {
    let cells = report.cells.iter();
    let rows = cells.filter(|cell| !cell.control && !cell.steps.is_empty());
    let rows = rows.map(|cell| {
        let steps = cell.steps.iter();
        let steps = steps.map(|(step, share)| format!("{step} {:.0} %", 100.0 * share));
        let steps = steps.collect::<Vec<_>>().join(", ");
        let Cell {
            op,
            contender,
            variant,
            ..
        } = cell;
        format!("| `{op}` | {contender} ({variant}) | {steps} |\n")
    });
    let rows: String = rows.collect();
    if rows.is_empty() {
        return rows;
    }
    format!("## Shares of the steps\n\n| operation | contender | shares |\n|---|---|---|\n{rows}\n")
}

/// `1.24x`, with the interval if it is wide, and a note if the launches of one side form two groups.
fn ratio(report: &Report, pair: &Pair) -> String {
    let mut text = format!("{}x", three(pair.ratio));
    if pair.wide {
        text += &format!(" [{}, {}] wide", three(pair.lo), three(pair.hi));
    }
    let bimodal = |contender: &str, variant: &str| {
        report.cells.iter().any(|cell| {
            cell.op == pair.op
                && cell.contender == contender
                && cell.variant == variant
                && !cell.control
                && cell.modes.is_some()
        })
    };
    if bimodal(&pair.a, &pair.a_variant) || bimodal(&pair.b, &pair.b_variant) {
        text += " bimodal";
    }
    text
}

/// Formats a time with three digits: `12.3 ns`, `4.56 µs`.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three(value))
}

/// Formats operations per second: `3.21 M`; with the bytes of an operation also `1.20 k (1200 MB/s)`.
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

/// Formats a number with three digits and no exponent.
pub fn three(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

/// Formats counts: `won 20, tied 3, lost 4`.
pub fn count(count: &Count) -> String {
    let mut text = format!(
        "won {}, tied {}, lost {}",
        count.won, count.tied, count.lost
    );
    if count.noisy > 0 {
        text += &format!(", too noisy {}", count.noisy);
    }
    text
}

/// Summary lines of a run.
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
            "noise floor {:.1} % (our adapter against itself, 19 of 20 rows); a verdict needs an interval beyond {:.0} %",
            floor * 100.0,
            crate::stats::MARGIN * 100.0
        ),
        None => "no control ran: nothing is claimed".to_owned(),
    });
    let mut left_out: Vec<String> = Vec::new();
    for c in &report.contenders {
        if c.variants.is_empty() && c.state == State::Ok && !c.left_out.is_empty() {
            left_out.push(c.name.clone());
        } else {
            left_out.extend(c.left_out.iter().map(|v| format!("{}/{v}", c.name)));
        }
    }
    if !left_out.is_empty() {
        lines.push(format!(
            "left out of this run (--all adds contenders, --full adds variants): {}",
            left_out.join(", ")
        ));
    }
    let broken: BTreeMap<(&str, &str), &str> = report
        .cells
        .iter()
        .filter(|cell| cell.state == State::SkippedBuild && !cell.variant.is_empty())
        .map(|cell| {
            let reason = cell.reason.as_deref().unwrap_or("no reason");
            ((&*cell.contender, &*cell.variant), reason)
        })
        .collect();
    for ((contender, variant), reason) in broken {
        lines.push(format!(
            "{contender}/{variant} did not build, so rows may lack their fastest peer: {reason}"
        ));
    }
    let scored = |cell: &&Cell| {
        report
            .best(&cell.op, &cell.contender)
            .is_some_and(|best| std::ptr::eq(best, *cell))
    };
    let two: Vec<String> = report
        .cells
        .iter()
        .filter(|cell| cell.modes.is_some())
        .filter(scored)
        .filter_map(|cell| {
            let [low, high] = cell.modes?;
            Some(format!(
                "{} {}/{} ({} and {})",
                cell.op,
                cell.contender,
                cell.variant,
                time(low),
                time(high)
            ))
        })
        .collect();
    if let Some(more) = two.get(5..) {
        let more = if more.is_empty() {
            String::new()
        } else {
            format!(", and {} more", more.len())
        };
        lines.push(format!(
            "bimodal, launches in two groups: {}{more}",
            two[..5].join(", ")
        ));
    } else if !two.is_empty() {
        lines.push(format!(
            "bimodal, launches in two groups: {}",
            two.join(", ")
        ));
    }
    let batches: usize = report.cells.iter().map(|cell| cell.batches.len()).sum();
    let crowded: u32 = report.cells.iter().map(|cell| cell.crowded).sum();
    if report.run.probed && crowded > 0 {
        lines.push(format!(
            "other work shared the core during {:.0} % of the batches, in spite of retries",
            100.0 * f64::from(crowded) / batches.max(1) as f64
        ));
    }
    if !report.run.filtered {
        lines.push(
            "this system does not tell run-queue waits: disturbed batches were kept".to_owned(),
        );
    }
    lines
}

/// Names of contenders with a timed cell, ours first.
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

/// Cells that failed, as opposed to timed or unsupported ones.
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

/// A small result in which every text is `text`.
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) fn example(text: &str) -> Report {
    use serde_json::{Value, json};
    let peer = format!("{text}2");
    let contender = |name: &str, variants: Value, state: &str| {
        json!({"name": name, "language": text, "version": text, "runtime": text, "license": text, "home": text,
            "notes": text, "variants": variants, "left_out": [text], "foreign": true, "state": state,
            "reason": text, "hint": text, "loop_ns": 1.0, "banners": 1, "published": {text: 2.0}})
    };
    let batches: Vec<Value> = (0..5u32)
        .map(|launch| json!([launch, 0, 10, 1000]))
        .collect();
    let cell = |name: &str, state: &str, ns: Option<f64>, control: bool| {
        json!({"op": text, "contender": name, "variant": text, "state": state, "reason": text, "control": control,
            "ns": ns, "alloc_bytes": 1.0, "allocs": 1.0, "gc": null, "steps": [[text, 1.0]], "disturbed": 0, "negatives_checked": false,
            "batches": batches, "modes": [1.0, 2.0]})
    };
    let pair = json!({"op": text, "a": text, "b": peer, "a_variant": text, "b_variant": text, "ratio": 0.5, "lo": 0.3,
        "hi": 0.8, "verdict": "loss", "wide": true, "best_peer": true, "reason": text});
    serde_json::from_value(json!({
        "schema": text,
        "run": {"mode": text, "command": text, "ours": text, "started": text, "seconds": 1.0, "launches": 5, "rounds": 1,
            "batch_ns": 1, "seed": 1, "noise_floor": 0.01, "noisy": false, "filtered": true},
        "machine": {"cpu": text, "cores": 1, "flags": [text], "virtualized": true, "memory": 1, "system": text,
            "governor": text, "load_before": null, "load_after": null, "toolchains": {text: text}, "commit": text},
        "contenders": [contender(text, json!([text]), "ok"), contender(&peer, json!([text]), "ok"), contender(text, json!([]), "skipped:build")],
        "ops": [{"id": text, "family": text, "kernel": text, "title": text, "unit": text, "spec": text, "memory": text,
            "items": 1, "ops_per_call": 1, "gas": 3000, "published": {text: 1.0}}],
        "cells": [cell(text, "ok", Some(100.0), false), cell(&peer, "ok", Some(50.0), false), cell(text, "ok", Some(100.0), true), cell(&peer, "failed:verify", None, false)],
        "pairs": [pair], "builds": [pair],
        "controls": [{"op": text, "ratio": 1.0, "lo": 1.0, "hi": 1.0}],
        "score": {"best_peer": Count::default(), "pairs": Count::default(), "alone": 0, "absent": 0, "missing": [text]},
    }))
    .unwrap()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::result::Verdict;

    #[test]
    fn foreign_text_stays_text_in_every_format() {
        let evil = "a|<b>\n# h\n\u{1b}[31m`x`![i](http://h/)\u{202e}\"@DATA@</script></title>";
        let report = example(evil);
        let unseen = |text: &str| {
            let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!text.contains(bad), "{text}");
        };
        let text = markdown::render(&report);
        unseen(&text);
        for bad in ["<b>", "\n# h", "`x`", "](http", "</script>"] {
            assert!(!text.contains(bad), "{bad}: {text}");
        }
        // Tables keep their columns: each row has as many unescaped bars as the header.
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        let mut head = 0;
        for line in text.lines() {
            let count = bars(line);
            assert!(count == 0 || head == 0 || count == head, "{line}");
            head = count;
        }
        let text = table::rows(&report, &report.ops[0].family, false) + &table::summary(&report);
        unseen(&text);
        assert!(!text.contains("\n# h"), "{text}");
        unseen(&crate::compare::render(&report, &report).unwrap());
        unseen(&crate::doctor::checked(&report));
        let text = html::render(&report).unwrap();
        assert_eq!(
            text.matches("<b>").count(),
            html::render(&example("x")).unwrap().matches("<b>").count()
        );
        assert_eq!(text.matches("</script>").count(), 1);
        assert_eq!(text.matches("</title>").count(), 1);
        // The data occurs once.
        assert_eq!(text.matches("\"noise_floor\":").count(), 1);
    }

    #[test]
    fn wide_and_bimodal_cells_look_like_it() {
        let mut report = example("x");
        report.pairs[0].verdict = Verdict::Win;
        report.ops[0].without = Some("y/native".into());
        let page = markdown::render(&report);
        let lines = table::rows(&report, "x", false) + &table::summary(&report);
        assert!(page.contains("0.50x [0.30, 0.80] wide bimodal"), "{page}");
        assert!(
            lines.contains("won [0.30, 0.80]*")
                && lines
                    .contains("* did not run, the fastest peer in the records: y/native (rows: 1)"),
            "{lines}"
        );
        assert!(page.contains("without y/native"), "{page}");
        for text in [page, lines] {
            assert!(text.contains("x2/x (1.00 ns and 2.00 ns)"), "{text}");
            assert!(text.contains("(not reviewed)"), "{text}");
            assert!(text.contains("left out of this run"), "{text}");
        }
        report.pairs[0].wide = false;
        for cell in &mut report.cells {
            cell.modes = None;
        }
        let text = markdown::render(&report);
        assert!(text.contains("**0.50x** |"), "{text}");
    }

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
