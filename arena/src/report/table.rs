//! The table for the terminal.

use std::collections::BTreeMap;

use comfy_table::{
    Attribute, Cell as Field, CellAlignment, Color, ContentArrangement, Table, presets,
};

use super::gas::Section;
use super::{failures, label, plain, three, time, with_texts};
use crate::result::{Pair, Report, State, Verdict};

/// Renders a section of the gas report.
pub fn gas(section: &Section) -> String {
    let clean = |text: &str| plain(text).replace('`', "");
    let mut table = Table::new();
    table.load_style(presets::NOTHING).force_no_tty();
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(section.head.iter().map(|name| clean(name)));
    for row in &section.rows {
        let fields = row.iter().enumerate().map(|(index, field)| {
            let text = clean(&field.lines.join(" "));
            match index {
                0 | 2 => Field::new(text),
                _ => number(text),
            }
        });
        table.add_row(fields);
    }
    format!("{table}\n")
}

/// Renders the rows of a family, one line each, coloured if `color` is set. The other peers are in the files. A star
/// marks the verdict of a row without its fastest peer in the records; those peers are listed below the rows.
pub fn rows(report: &Report, family: &str, color: bool) -> String {
    let report = &with_texts(report, plain);
    let ours = report.run.ours.as_str();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    if color {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.set_header(["operation", ours, "fastest peer", "ratio", "verdict"]);
    let mut absent: BTreeMap<&str, usize> = BTreeMap::new();
    for op in report.ops.iter().filter(|op| op.family == family) {
        let cell = report.best(&op.id, ours);
        let time_of_ours = cell.and_then(|cell| cell.ns).map_or("-".into(), time);
        let pair = report
            .pairs
            .iter()
            .find(|pair| pair.op == op.id && pair.best_peer);
        let mut verdict = pair.map_or_else(
            || {
                let state = cell.map_or(State::Unsupported, |cell| cell.state);
                Field::new(if state == State::Ok {
                    "no peer"
                } else {
                    state.text()
                })
                .fg(Color::DarkGrey)
            },
            verdict,
        );
        if let Some(peer) = &op.without {
            *absent.entry(peer).or_default() += 1;
            verdict = Field::new(format!("{}*", verdict.content()));
        }
        table.add_row([
            Field::new(&op.id),
            number(time_of_ours).add_attribute(Attribute::Bold),
            Field::new(pair.map_or(String::new(), |pair| {
                format!("{}, {}", label(report, &pair.b), pair.b_variant)
            })),
            number(pair.map_or(String::new(), |pair| format!("{}x", three(pair.ratio)))),
            verdict,
        ]);
    }
    let mut text = format!("{table}\n");
    for (peer, rows) in absent {
        text += &format!("* did not run, the fastest peer in the records: {peer} (rows: {rows})\n");
    }
    text
}

/// Renders what follows the rows: the score, failures, and contenders that did not run.
pub fn summary(report: &Report) -> String {
    let report = &with_texts(report, plain);
    let mut text = "Nx: the fastest peer takes N times our time (paired rounds)\n".to_owned();
    for line in super::summary(report) {
        text += &format!("{line}\n");
    }
    for cell in failures(report) {
        let reason = cell.reason.as_deref().unwrap_or("no reason");
        text += &format!(
            "{} {}/{}: {}: {reason}\n",
            cell.op,
            cell.contender,
            cell.variant,
            cell.state.text()
        );
    }
    text + &absent(report)
}

/// The verdict of a pair, with the interval if it is wide.
fn verdict(pair: &Pair) -> Field {
    let (word, color) = match pair.verdict {
        Verdict::Win => ("won", Color::Green),
        Verdict::Loss => ("LOST", Color::Red),
        Verdict::Tie => ("tied", Color::Reset),
        Verdict::Noisy => ("too noisy", Color::DarkGrey),
    };
    let interval = format!(" [{}, {}]", three(pair.lo), three(pair.hi));
    Field::new(format!("{word}{}", if pair.wide { &interval } else { "" })).fg(color)
}

/// One line per contender that did not run.
pub fn absent(report: &Report) -> String {
    let mut text = String::new();
    for contender in report.contenders.iter().filter(|c| c.state != State::Ok) {
        let reason = contender.reason.as_deref().unwrap_or("no reason");
        text += &format!("{}: {}: {reason}", contender.name, contender.state.text());
        if let Some(hint) = &contender.hint {
            text += &format!(" ({hint})");
        }
        text.push('\n');
    }
    text
}

fn number(text: String) -> Field {
    Field::new(text).set_alignment(CellAlignment::Right)
}
