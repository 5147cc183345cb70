//! `bench compare A B`: two results side by side.
//!
//! The runs were made at different times: no pairing, so no verdict; a change is shown where the ratios to the same
//! peer moved by more than both intervals, and ours alone by more than the noise floors.

use anyhow::Result;
use comfy_table::{Table, presets};

use crate::report::{three, time};
use crate::result::Report;
use crate::stats::LEAST_MARGIN;

/// The comparison as text.
pub fn render(a: &Report, b: &Report) -> Result<String> {
    let mut text = format!(
        "A: {} {}\nB: {} {}\n",
        a.run.started,
        a.machine.commit.as_deref().unwrap_or(""),
        b.run.started,
        b.machine.commit.as_deref().unwrap_or("")
    );
    if a.machine.cpu != b.machine.cpu {
        text += "different processors: times cannot be compared, ratios only with care\n";
    }
    let floor = |report: &Report| report.run.noise_floor.unwrap_or(1.0);
    let margin = LEAST_MARGIN.max(floor(a)).max(floor(b));
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .force_no_tty();
    table.set_header([
        "operation",
        "contender",
        "A",
        "B",
        "B/A",
        "ratio in A",
        "ratio in B",
        "",
    ]);
    for op in &b.ops {
        for contender in &b.contenders {
            let at = |report: &Report| {
                report
                    .best(&op.id, &contender.name)
                    .and_then(|cell| cell.ns)
            };
            let (Some(before), Some(after)) = (at(a), at(b)) else {
                continue;
            };
            let pair = |report: &Report| {
                report
                    .pairs
                    .iter()
                    .find(|p| p.op == op.id && p.b == contender.name)
                    .cloned()
            };
            let change = after / before;
            let (ratios, note) = match (pair(a), pair(b)) {
                (Some(pa), Some(pb)) => {
                    let note = if pb.lo > pa.hi * (1.0 + margin) {
                        "better"
                    } else if pb.hi * (1.0 + margin) < pa.lo {
                        "worse"
                    } else {
                        ""
                    };
                    let show = |p: &crate::result::Pair| {
                        format!(
                            "{} {}",
                            three(p.ratio),
                            format!("{:?}", p.verdict).to_lowercase()
                        )
                    };
                    ([show(&pa), show(&pb)], note)
                }
                _ if contender.name == b.run.ours && change > 1.0 + margin => {
                    ([String::new(), String::new()], "slower")
                }
                _ if contender.name == b.run.ours && change < 1.0 / (1.0 + margin) => {
                    ([String::new(), String::new()], "faster")
                }
                _ => ([String::new(), String::new()], ""),
            };
            let [first, second] = ratios;
            table.add_row([
                op.id.clone(),
                contender.name.clone(),
                time(before),
                time(after),
                three(change),
                first,
                second,
                note.to_owned(),
            ]);
        }
    }
    text += &format!(
        "{table}\nratio: the peer's time over ours. Noted where a change passes {:.1} %.\n",
        margin * 100.0
    );
    Ok(text)
}
