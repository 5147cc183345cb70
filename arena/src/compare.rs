//! `bench compare A B`: two results side by side.
//!
//! The runs were made at different times and cannot be paired, so there is no verdict. A change is shown if the ratios
//! to the same peer moved by more than both intervals, and ours alone by more than the noise floors.

use anyhow::Result;
use comfy_table::{Table, presets};

use crate::report::{plain, three, time, with_texts};
use crate::result::{Pair, Report};
use crate::stats::MARGIN;

/// The comparison as text.
pub fn render(a: &Report, b: &Report) -> Result<String> {
    let (a, b) = (&with_texts(a, plain), &with_texts(b, plain));
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
    let margin = MARGIN.max(floor(a)).max(floor(b));
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
                let mut pairs = report.pairs.iter();
                pairs
                    .find(|p| p.op == op.id && p.b == contender.name)
                    .cloned()
            };
            let (change, pairs) = (after / before, pair(a).zip(pair(b)));
            let ours = contender.name == b.run.ours;
            let note = match &pairs {
                Some((before, after)) if after.lo > before.hi * (1.0 + margin) => "better",
                Some((before, after)) if after.hi * (1.0 + margin) < before.lo => "worse",
                None if ours && change > 1.0 + margin => "slower",
                None if ours && change < 1.0 / (1.0 + margin) => "faster",
                _ => "",
            };
            let show = |p: Pair| {
                let verdict = format!("{:?}", p.verdict).to_lowercase();
                format!("{} {verdict}", three(p.ratio))
            };
            let [first, second] = pairs.map_or_else(Default::default, |(a, b)| [show(a), show(b)]);
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
