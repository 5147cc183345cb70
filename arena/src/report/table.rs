//! The table for the terminal.

use comfy_table::{
    Attribute, Cell as Field, CellAlignment, Color, ContentArrangement, Table, presets,
};

use super::{failures, label, plain, raced, ratio, summary, time, with_texts};
use crate::result::{Report, State, Verdict};

/// Renders the report as text, coloured if `color` is set.
pub fn render(report: &Report, color: bool) -> String {
    let report = &with_texts(report, plain);
    let (names, ours) = (raced(report), report.run.ours.as_str());
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_content_arrangement(ContentArrangement::Disabled);
    if color {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    let mut head = vec![Field::new("operation"), Field::new(ours)];
    let peers: Vec<&str> = names.into_iter().filter(|&name| name != ours).collect();
    head.extend(peers.iter().map(|peer| Field::new(label(report, peer))));
    table.set_header(head);
    for op in &report.ops {
        let mut row = vec![Field::new(&op.id)];
        let time_of_ours = report.best(&op.id, ours).and_then(|cell| cell.ns);
        row.push(number(time_of_ours.map_or("-".into(), time)).add_attribute(Attribute::Bold));
        for peer in &peers {
            let Some(cell) = report.best(&op.id, peer) else {
                row.push(number(String::new()));
                continue;
            };
            let pair = report
                .pairs
                .iter()
                .find(|pair| pair.op == op.id && pair.b == *peer);
            row.push(match (cell.ns, pair) {
                (Some(ns), Some(pair)) => {
                    let text = format!("{}  {}", time(ns), ratio(report, pair));
                    match pair.verdict {
                        Verdict::Win => number(text).fg(Color::Green),
                        Verdict::Loss => number(text).fg(Color::Red),
                        Verdict::Tie => number(text),
                        Verdict::Noisy => number(format!("{text} ?")).fg(Color::DarkGrey),
                    }
                }
                (Some(ns), None) => {
                    number(format!("{} {}", time(ns), cell.state.text())).fg(Color::DarkGrey)
                }
                (None, _) if cell.state == State::Unsupported => number("·".into()),
                (None, _) => number(cell.state.text().into()).fg(Color::Red),
            });
        }
        table.add_row(row);
    }
    let mut text = format!("{table}\n\nNx: the peer takes N times our time (paired rounds)\n");
    for line in summary(report) {
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
