//! `report.md`.

use super::{
    count, failures, gas, label, markdown_text, raced, rate, ratio, steps, summary, three, time,
    with_texts,
};
use crate::race;
use crate::result::{Pair, Report, State, Verdict};

/// Renders a report as GitHub-flavoured Markdown.
pub fn render(report: &Report) -> String {
    let report = &with_texts(report, markdown_text);
    let (run, machine) = (&report.run, &report.machine);
    let mut text = format!("# Arena, {} ({})\n\n", run.started, run.mode);
    for line in summary(report) {
        text += &format!("- {line}\n");
    }
    let peers: Vec<&str> = raced(report)
        .into_iter()
        .filter(|&name| name != run.ours)
        .collect();

    text += "\n## Times\n\nTime per operation, and the peer's time over ours (paired rounds; **bold**: a win or a \
             loss outside the margin; wide: the ends of the interval differ by more than a fifth; bimodal: the launches of \
             one side form two groups). Published figures were made elsewhere and are in no ratio.\n\n";
    let mut families: Vec<&str> = report.ops.iter().map(|op| op.family.as_str()).collect();
    families.dedup();
    for family in families {
        text += &times(report, family, &peers);
    }
    text += &steps(report);

    text += "\n## Score\n\n| peer | won | tied | lost | too noisy |\n|---|--:|--:|--:|--:|\n";
    for peer in &peers {
        let count = race::count(report, peer);
        text += &format!(
            "| {peer} | {} | {} | {} | {} |\n",
            count.won, count.tied, count.lost, count.noisy
        );
    }
    text += &format!(
        "\nAgainst the fastest peer of each operation: {}.\n",
        count(&report.score.best_peer)
    );

    text += &builds(report);
    text += "\n## Losses\n\n";
    let lost: Vec<_> = report
        .pairs
        .iter()
        .filter(|pair| pair.verdict == Verdict::Loss)
        .collect();
    if lost.is_empty() {
        text += "None.\n";
    }
    for pair in lost {
        text += &format!(
            "- `{}` to {}/{}: its time is {} of ours [{}, {}]: {}\n",
            pair.op,
            pair.b,
            pair.b_variant,
            three(pair.ratio),
            three(pair.lo),
            three(pair.hi),
            pair.reason.as_deref().unwrap_or("not yet explained")
        );
    }

    let counted: Vec<_> = report
        .cells
        .iter()
        .filter(|cell| {
            !cell.control
                && cell.ns.is_some()
                && (cell.alloc_bytes.is_some() || cell.allocs.is_some())
        })
        .filter(|cell| cell.alloc_bytes.unwrap_or(0.0) > 0.0 || cell.allocs.unwrap_or(0.0) > 0.0)
        .filter(|cell| {
            report
                .best(&cell.op, &cell.contender)
                .is_some_and(|best| best.variant == cell.variant)
        })
        .collect();
    if !counted.is_empty() {
        text += "\n## Allocations per operation\n\n| operation | contender | bytes | allocations | most bytes at a time |\n|---|---|--:|--:|--:|\n";
        for cell in counted {
            let show = |value: Option<f64>| value.map_or("not told".into(), |v| format!("{v:.1}"));
            text += &format!(
                "| `{}` | {} | {} | {} | {} |\n",
                cell.op,
                cell.contender,
                show(cell.alloc_bytes),
                show(cell.allocs),
                cell.peak_bytes
                    .map_or("not told".into(), |bytes| bytes.to_string())
            );
        }
    }

    text += &gas::markdown(report);

    text += "\n## Failed\n\n";
    let failed = failures(report);
    if failed.is_empty() {
        text += "None.\n";
    }
    for cell in failed {
        let reason = cell.reason.as_deref().unwrap_or("no reason");
        text += &format!(
            "- `{}` {}/{}: {}: {reason}\n",
            cell.op,
            cell.contender,
            cell.variant,
            cell.state.text()
        );
    }

    text += "\n## Contenders\n\n| name | version | language | runtime | variants | state | notes |\n|---|---|---|---|---|---|---|\n";
    for c in &report.contenders {
        let mut state = c.state.text().to_owned();
        for more in [&c.reason, &c.hint].into_iter().flatten() {
            state += &format!("; {more}");
        }
        let row = [
            &label(report, &c.name),
            &c.version,
            &c.language,
            &c.runtime,
            &c.variants.join(", "),
            &state,
            &c.notes,
        ];
        text += &format!("| {} |\n", row.map(String::as_str).join(" | "));
    }

    text += &format!(
        "\n## Machine\n\n- {} ({} logical processors{}), {:.1} GiB\n- {}\n- instruction sets: {}\n- governor: {}; load before {:?}, after {:?}\n- commit {}\n",
        machine.cpu,
        machine.cores,
        if machine.virtualized { ", virtual" } else { "" },
        machine.memory as f64 / f64::from(1 << 30),
        machine.system,
        machine.flags.join(" "),
        machine.governor.as_deref().unwrap_or("not told"),
        machine.load_before.unwrap_or_default(),
        machine.load_after.unwrap_or_default(),
        machine.commit.as_deref().unwrap_or("unknown"),
    );
    for (tool, version) in &machine.toolchains {
        text += &format!("- {tool}: {version}\n");
    }
    text += &format!(
        "\n## Again\n\n    {}\n\nMethod, known bias, and how to read a verdict: docs/benchmarking.md. Raw batches: result.json.\n",
        run.command
    );
    text
}

/// The table of a family: its operations and the peers with a cell in it.
fn times(report: &Report, family: &str, peers: &[&str]) -> String {
    let ops: Vec<_> = report.ops.iter().filter(|op| op.family == family).collect();
    let offered = |peer: &str| {
        ops.iter().any(|op| {
            let cell = report.best(&op.id, peer);
            cell.is_some_and(|cell| cell.state != State::Unsupported)
        })
    };
    let peers: Vec<&str> = peers.iter().copied().filter(|peer| offered(peer)).collect();
    let mut text = format!("### {family}\n\n");
    text += &format!("| operation | {} | ops/s |", report.run.ours);
    for peer in &peers {
        text += &format!(" {} |", label(report, peer));
    }
    text += " as published |\n|---|--:|--:|";
    text += &"--:|".repeat(peers.len() + 1);
    text.push('\n');
    for op in ops {
        let ours = report
            .best(&op.id, &report.run.ours)
            .and_then(|cell| cell.ns);
        text += &format!(
            "| `{}` ({}{}) | {} | {} |",
            op.id,
            op.memory,
            op.without
                .as_ref()
                .map_or(String::new(), |peer| format!("; without {peer}")),
            ours.map_or("-".into(), time),
            ours.map_or("-".into(), |ns| rate(ns, op.bytes))
        );
        for peer in &peers {
            let pair = report
                .pairs
                .iter()
                .find(|pair| pair.op == op.id && pair.b == *peer);
            let cell = report.best(&op.id, peer);
            text += &match (cell.and_then(|cell| cell.ns), pair, cell) {
                (Some(ns), Some(pair), _) => {
                    let ratio = ratio(report, pair);
                    match pair.verdict {
                        Verdict::Win => format!(" {} **{ratio}** |", time(ns)),
                        Verdict::Loss => format!(" {} **{ratio} lost** |", time(ns)),
                        Verdict::Tie => format!(" {} {ratio} tie |", time(ns)),
                        Verdict::Noisy => format!(" {} {ratio} noisy |", time(ns)),
                    }
                }
                (Some(ns), None, Some(cell)) => format!(" {} {} |", time(ns), cell.state.text()),
                (None, _, Some(cell)) if cell.state != State::Unsupported => {
                    format!(" {} |", cell.state.text())
                }
                _ => " |".to_owned(),
            };
        }
        text += &format!(" {} |\n", published(report, &op.id));
    }
    text.push('\n');
    text
}

/// Our builds side by side, each compared with the fastest peer.
fn builds(report: &Report) -> String {
    let mut variants: Vec<&str> = Vec::new();
    for pair in &report.builds {
        if !variants.contains(&pair.a_variant.as_str()) {
            variants.push(&pair.a_variant);
        }
    }
    if variants.is_empty() {
        return String::new();
    }
    let mut text = "\n## Our builds\n\nTime of the fastest peer over that of each build of ours, with the 95 % interval. \
                    The first is the one that is scored.\n\n| operation | fastest peer |"
        .to_owned();
    let scored = report.pairs.iter().filter(|pair| pair.best_peer);
    let stock = scored.clone().next().map_or("", |pair| &pair.a_variant);
    for variant in [stock].iter().chain(&variants) {
        text += &format!(" {variant} |");
    }
    text += "\n|---|---|--:|";
    text += &"--:|".repeat(variants.len());
    text.push('\n');
    for pair in scored {
        text += &format!("| `{}` | {} ({}) |", pair.op, pair.b, pair.b_variant);
        let mut show = |pair: Option<&Pair>| {
            text += &pair.map_or(" |".to_owned(), |pair| {
                let [ratio, lo, hi] = [pair.ratio, pair.lo, pair.hi].map(three);
                format!(" {ratio} [{lo}, {hi}] |")
            });
        };
        show(Some(pair));
        for variant in &variants {
            let same = |other: &&Pair| other.op == pair.op && other.a_variant == *variant;
            show(report.builds.iter().find(same));
        }
        text.push('\n');
    }
    text
}

/// Numbers published elsewhere.
fn published(report: &Report, op: &str) -> String {
    let mut figures = Vec::new();
    if let Some(op) = report.ops.iter().find(|o| o.id == op) {
        figures.extend(
            op.published
                .iter()
                .map(|(who, ns)| format!("{who}: {}", time(*ns))),
        );
    }
    for contender in &report.contenders {
        if let Some(ns) = contender.published.get(op) {
            figures.push(format!("{}: {}", contender.name, time(*ns)));
        }
    }
    figures.join(", ")
}
