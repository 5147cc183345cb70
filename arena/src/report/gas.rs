//! The gas part of a report: tables in the layout of the published precompile benchmark, the marginal cost of a call,
//! the comparison of clients, and conclusions derived from these numbers.

use std::collections::BTreeMap;

use super::{html_text, raced, three, time};
use crate::result::{Operation, Report};

/// A section with a heading, a note, and a table or a list.
pub struct Section {
    /// Heading.
    pub title: String,
    /// A paragraph below the heading.
    pub note: String,
    /// Column names; the first column holds names, the others numbers.
    pub head: Vec<String>,
    /// Rows of the table.
    pub rows: Vec<Vec<Field>>,
    /// Lines of a list.
    pub lines: Vec<String>,
}

/// A table cell.
pub struct Field {
    /// Its lines.
    pub lines: Vec<String>,
    /// Whether the number was published elsewhere.
    pub grey: bool,
}

impl Field {
    fn new(text: impl Into<String>) -> Self {
        Self {
            lines: vec![text.into()],
            grey: false,
        }
    }
}

/// Formats `1234567.8` as `1,234,567.8` with the given number of decimals.
fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

/// Time of a contender on a row in nanoseconds.
fn ns(report: &Report, op: &str, contender: &str) -> Option<f64> {
    report.best(op, contender)?.ns
}

/// Whether a row makes single precompile calls, in one of the report's two modes.
pub fn direct(op: &&Operation) -> bool {
    op.gas.is_some() && op.calls.is_none() && !program(op)
}

/// Whether a row is a program of one CALL that includes the engine's set-up.
pub fn program(op: &&Operation) -> bool {
    op.kernel == "evm_report"
}

/// Whether the call fails or finds nothing to recover. Its gas is then the gas it was given, or that of a valid call.
fn fails(op: &&Operation) -> bool {
    ["fail", "fuzzcorp", "as_published"]
        .iter()
        .any(|part| op.id.contains(part))
}

/// Parameters of the gas schedule since Osaka that depend on the length of the input: kernel, name and gas of the fixed
/// part, name and gas of a unit.
const LINEAR: [(&str, &str, u64, &str, u64); 6] = [
    ("evm_sha256", "SHA256_BASE", 60, "SHA256_PER_WORD", 12),
    (
        "evm_ripemd160",
        "RIPEMD160_BASE",
        600,
        "RIPEMD160_PER_WORD",
        120,
    ),
    ("evm_identity", "IDENTITY_BASE", 15, "IDENTITY_PER_WORD", 3),
    (
        "evm_bn254_pairing",
        "ECPAIRING_BASE",
        45_000,
        "ECPAIRING_PER_PAIR",
        34_000,
    ),
    ("evm_blake2f", "BLAKE2F_BASE", 0, "BLAKE2F_PER_ROUND", 1),
    (
        "evm_bls_pairing",
        "BLS_PAIRING_BASE",
        37_700,
        "BLS_PAIRING_PER_PAIR",
        32_600,
    ),
];

/// Parameters of the gas schedule that do not: kernel, name, gas.
const CONSTANT: [(&str, &str, u64); 11] = [
    ("evm_ecrecover", "ECRECOVER", 3000),
    ("evm_bn254_add", "ECADD", 150),
    ("evm_bn254_mul", "ECMUL", 6000),
    ("evm_kzg", "POINT_EVALUATION", 50_000),
    ("evm_bls_g1add", "BLS_G1ADD", 375),
    ("evm_bls_g1msm", "BLS_G1MUL", 12_000),
    ("evm_bls_g2add", "BLS_G2ADD", 600),
    ("evm_bls_g2msm", "BLS_G2MUL", 22_500),
    ("evm_bls_map", "BLS_G1MAP", 5500),
    ("evm_bls_map", "BLS_G2MAP", 23_800),
    ("evm_p256verify", "P256VERIFY", 6900),
];

/// Rates in the table of parameters, in millions of gas per second.
const RATES: [f64; 3] = [60.0, 100.0, 300.0];

/// Fixed time and time per unit, both at least zero, with the least squares of relative errors.
fn affine(points: &[(f64, f64)]) -> Option<[f64; 2]> {
    let (mut s, mut sx, mut sy, mut sxx, mut sxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (x, y) in points {
        let weight = 1.0 / (y * y);
        s += weight;
        sx += weight * x;
        sy += weight * y;
        sxx += weight * x * x;
        sxy += weight * x * y;
    }
    let determinant = s * sxx - sx * sx;
    if determinant <= 1e-9 * s * sxx || !determinant.is_finite() {
        return None;
    }
    let unit = (s * sxy - sx * sy) / determinant;
    let base = (sy - unit * sx) / s;
    Some(match (base < 0.0, unit < 0.0) {
        (true, _) => [0.0, sxy / sxx],
        (_, true) => [sy / s, 0.0],
        _ => [base, unit],
    })
}

/// The time of a parameter of the gas schedule.
struct Price<'a> {
    parameter: &'static str,
    gas: u64,
    contender: &'a str,
    ns: f64,
}

/// The parameters of the gas schedule that a contender has rows for.
fn prices<'a>(report: &Report, contender: &'a str) -> Vec<Price<'a>> {
    let price = |parameter: &'static str, gas: u64, ns: f64| Price {
        parameter,
        gas,
        contender,
        ns,
    };
    let points = |kernel: &str| -> Vec<(u64, f64)> {
        report
            .ops
            .iter()
            .filter(|op| direct(op) && !fails(op) && op.kernel == kernel && op.memory == "fresh")
            .filter_map(|op| Some((op.gas?, ns(report, &op.id, contender)?)))
            .collect()
    };
    let mut out = Vec::new();
    for (kernel, base, base_gas, unit, unit_gas) in LINEAR {
        let units = |gas: u64| gas.saturating_sub(base_gas) as f64 / unit_gas as f64;
        let points: Vec<(f64, f64)> = points(kernel)
            .into_iter()
            .map(|(gas, ns)| (units(gas), ns))
            .collect();
        if let Some([fixed, slope]) = affine(&points) {
            out.extend([price(base, base_gas, fixed), price(unit, unit_gas, slope)]);
        }
    }
    for (kernel, name, gas) in CONSTANT {
        let slowest = points(kernel)
            .into_iter()
            .filter(|(nominal, _)| *nominal == gas)
            .map(|(_, ns)| ns)
            .max_by(f64::total_cmp);
        out.extend(slowest.map(|ns| price(name, gas, ns)));
    }
    out
}

/// What each parameter of the gas schedule would cost at several rates; its slowest implementation decides.
pub fn parameters(report: &Report) -> Option<Section> {
    let mut names = clients(report);
    if names.is_empty() {
        names = raced(report);
    }
    let all: Vec<Price> = names
        .into_iter()
        .flat_map(|name| prices(report, name))
        .collect();
    let linear = LINEAR.iter().flat_map(|(_, base, _, unit, _)| [base, unit]);
    let parameters = linear.chain(CONSTANT.iter().map(|(_, name, _)| name));
    let rows = parameters.filter_map(|parameter| {
        let found = all.iter().filter(|price| price.parameter == *parameter);
        let slowest = found.max_by(|a, b| a.ns.total_cmp(&b.ns))?;
        let mut row = vec![
            format!("`{parameter}`"),
            grouped(slowest.gas as f64, 0),
            slowest.contender.to_owned(),
            short(slowest.ns),
        ];
        row.extend(RATES.map(|rate| short(slowest.ns * rate / 1e3)));
        Some(row.into_iter().map(Field::new).collect())
    });
    let rows: Vec<Vec<Field>> = rows.collect();
    let mut head: Vec<String> = ["parameter", "gas", "slowest", "ns"]
        .map(str::to_owned)
        .into();
    head.extend(RATES.map(|rate| format!("gas at {rate} MGas/s")));
    (!rows.is_empty()).then(|| Section {
        title: "Gas by parameter".into(),
        note: "Direct execution of successful calls; the slowest implementation of each parameter decides. Parts per \
               word, round and pair are fitted over the rows of a precompile (least squares of relative errors, no \
               part below zero); other parameters are those of the slowest row. MODEXP is priced by a formula and is \
               not in the table."
            .into(),
        head,
        rows,
        lines: Vec::new(),
    })
}

/// A time or an amount of gas with at least three digits.
fn short(value: f64) -> String {
    grouped(
        value,
        match value {
            v if v < 10.0 => 2,
            v if v < 100.0 => 1,
            _ => 0,
        },
    )
}

/// Slope and intercept by least squares.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    let (mx, my) = points
        .iter()
        .fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (mut xy, mut xx) = (0.0, 0.0);
    for (x, y) in points {
        xy += (x - mx) * (y - my);
        xx += (x - mx) * (x - mx);
    }
    (xx > 0.0).then(|| (xy / xx, my - mx * xy / xx))
}

/// Marginal time of a call and fixed time of a program in nanoseconds, by kernel.
fn slopes(report: &Report, contender: &str) -> BTreeMap<String, (f64, f64)> {
    let mut points: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for op in &report.ops {
        if let (Some(calls), Some(ns)) = (op.calls, ns(report, &op.id, contender)) {
            points
                .entry(op.kernel.clone())
                .or_default()
                .push((calls as f64, ns));
        }
    }
    let found = points.into_iter().filter(|(_, points)| points.len() > 1);
    found
        .filter_map(|(kernel, points)| Some((kernel, line(&points)?)))
        .collect()
}

/// Millions of gas per second.
fn rate(gas: u64, ns: f64) -> f64 {
    gas as f64 / ns * 1e3
}

/// All sections; empty if no row has gas.
pub fn sections(report: &Report) -> Vec<Section> {
    let mut out = Vec::new();
    if !report.ops.iter().any(|op| op.gas.is_some()) {
        return out;
    }
    let anchor = report.run.anchor.unwrap_or(ANCHOR);
    for contender in raced(report) {
        for (mode, keep, unit) in [
            (
                "direct execution",
                direct as fn(&&Operation) -> bool,
                "evm_ecrecover",
            ),
            (
                "bytecode execution as in the report",
                program,
                "evm_report_ecrecover",
            ),
        ] {
            out.extend(single(report, contender, mode, keep, unit, anchor));
        }
        out.extend(marginal(report, contender));
    }
    out.extend(comparison(report));
    out.extend(worst(report));
    out.extend(parameters(report));
    out.extend(Some(conclusions(report, anchor)).filter(|section| !section.lines.is_empty()));
    out
}

/// Default rate that gas prices are compared with, in millions of gas per second.
pub const ANCHOR: f64 = 100.0;

/// The report's table for one client and mode.
fn single(
    report: &Report,
    contender: &str,
    mode: &str,
    keep: fn(&&Operation) -> bool,
    unit: &str,
    anchor: f64,
) -> Option<Section> {
    let recover = ns(report, unit, contender);
    let mut rows = Vec::new();
    for op in report.ops.iter().filter(keep) {
        let (Some(cell), Some(gas)) = (report.best(&op.id, contender), op.gas) else {
            continue;
        };
        let Some(ns) = cell.ns else { continue };
        let count = |value: Option<f64>| {
            value.map_or("-".into(), |v| {
                grouped(v, usize::from(v < 10.0 && v % 1.0 > 0.0))
            })
        };
        let texts = [
            format!("`{}`", op.id),
            grouped(ns, usize::from(ns < 1000.0)),
            op.bytes
                .map_or("-".into(), |bytes| format!("{:.3}", ns / bytes)),
            grouped(gas as f64, 0),
            three(rate(gas, ns)),
            grouped(ns * anchor / 1e3, 0),
            recover.map_or("-".into(), |recover| grouped(ns * 3000.0 / recover, 2)),
            count(cell.alloc_bytes),
            count(cell.allocs),
            cell.gc.map_or("-".into(), |gc| {
                if gc > 0.0 {
                    format!("1 in {:.0}", 1.0 / gc)
                } else {
                    "0".into()
                }
            }),
        ];
        rows.push(texts.map(Field::new).into());
    }
    let head = [
        "test",
        "time (ns)",
        "ns a byte",
        "nominal gas",
        "MGas/s",
        &format!("gas at {anchor} MGas/s"),
        "calculated gas",
        "bytes allocated",
        "allocations",
        "collector runs",
    ];
    (!rows.is_empty()).then(|| Section {
        title: format!("{contender}: {mode}"),
        note: "Calculated gas: time over that of ECRECOVER in the same mode, times 3000. Rows whose name has fail, \
               fuzzcorp or as_published measure calls that fail."
            .into(),
        head: head.map(str::to_owned).into(),
        rows,
        lines: Vec::new(),
    })
}

fn marginal(report: &Report, contender: &str) -> Option<Section> {
    let slopes = slopes(report, contender);
    let engine = slopes.get("evm_calls_nobody").copied();
    let mut rows = Vec::new();
    for (kernel, (slope, fixed)) in &slopes {
        let gas = report
            .ops
            .iter()
            .find(|op| op.kernel == *kernel)
            .and_then(|op| op.gas);
        let texts = [
            format!("`{kernel}`"),
            grouped(*slope, 0),
            engine.map_or("-".into(), |(engine, _)| grouped(engine, 0)),
            engine.map_or("-".into(), |(engine, _)| grouped(slope - engine, 0)),
            grouped(*fixed, 0),
            gas.map_or("-".into(), |gas| grouped(gas as f64, 0)),
            gas.map_or("-".into(), |gas| three(rate(gas, *slope))),
        ];
        rows.push(texts.map(Field::new).into());
    }
    let head = [
        "program",
        "ns a call",
        "of it the engine",
        "of it the precompile",
        "ns fixed",
        "nominal gas",
        "MGas/s",
    ];
    (!rows.is_empty()).then(|| Section {
        title: format!("{contender}: marginal cost of a call"),
        note: "Slope of time over the number of STATICCALLs in a program, by least squares; each call has its own input \
               from the call data and a constant amount of gas, and every status word is checked. The engine's part is \
               the slope of the same program calling an address without code."
            .into(),
        head: head.map(str::to_owned).into(),
        rows,
        lines: Vec::new(),
    })
}

/// The report's comparison of clients: bytecode, time and gas relative to each client's ECRECOVER.
fn comparison(report: &Report) -> Option<Section> {
    let programs: Vec<&Operation> = report.ops.iter().filter(program).collect();
    let recover = programs.iter().find(|op| op.id == "evm_report_ecrecover")?;
    let published: Vec<&String> = ["Geth 2023", "Nethermind 2023", "Erigon 2023", "Besu 2023"]
        .iter()
        .filter_map(|name| recover.published.get_key_value(*name).map(|(key, _)| key))
        .collect();
    let clients: Vec<&str> = raced(report)
        .into_iter()
        .filter(|name| ns(report, &recover.id, name).is_some())
        .collect();
    let field = |ns: Option<f64>, unit: Option<f64>, grey| Field {
        lines: match (ns, unit) {
            (Some(ns), Some(unit)) => vec![
                format!("{} ns", grouped(ns, 0)),
                format!("{} gas", grouped(ns * 3000.0 / unit, 2)),
            ],
            _ => vec!["-".into()],
        },
        grey,
    };
    let rows = programs.iter().map(|op| {
        let mut row = vec![
            Field::new(format!("`{}`", op.id)),
            Field::new(op.gas.map_or("-".into(), |gas| grouped(gas as f64, 0))),
        ];
        for client in &clients {
            let unit = ns(report, &recover.id, client);
            row.push(field(ns(report, &op.id, client), unit, false));
        }
        for name in &published {
            let unit = recover.published.get(*name).copied();
            row.push(field(op.published.get(*name).copied(), unit, true));
        }
        row
    });
    let mut head = vec!["test".to_owned(), "nominal gas".to_owned()];
    head.extend(clients.iter().map(|name| (*name).to_owned()));
    head.extend(published.iter().map(|name| (*name).clone()));
    Some(Section {
        title: "Client comparison".into(),
        note: "Bytecode as in the report: one CALL, state and engine made inside the clock; gas is relative to each \
               client's ECRECOVER. Columns of 2023 are the report's own figures, from another machine and in no ratio; \
               its table has Besu's rows of SHA-256 and RIPEMD-160 exchanged, which is put right here. Its program \
               ripemd160_128 hashes 8 bytes; ripemd160_128_whole hashes all."
            .into(),
        head,
        rows: rows.collect(),
        lines: Vec::new(),
    })
}

/// Contenders with an ECRECOVER row, which gas is priced by; libraries of one or two precompiles lack it.
fn clients(report: &Report) -> Vec<&str> {
    let mut names = raced(report);
    names.retain(|name| ns(report, "evm_ecrecover", name).is_some());
    names
}

/// The slowest and the fastest, each as millions of gas per second and a name.
fn ends<'a>(rates: impl Iterator<Item = (f64, &'a str)>) -> Option<[(f64, &'a str); 2]> {
    rates.fold(None, |ends, rate| {
        let [slow, fast] = ends.unwrap_or([rate, rate]);
        Some([
            if rate.0 < slow.0 { rate } else { slow },
            if rate.0 > fast.0 { rate } else { fast },
        ])
    })
}

/// The worst cases: a precompile's price is determined by the slowest client on its worst input.
fn worst(report: &Report) -> Option<Section> {
    let names = clients(report);
    let mut rows = Vec::new();
    for op in report.ops.iter().filter(direct) {
        let Some(gas) = op.gas else { continue };
        let rates = names
            .iter()
            .filter_map(|name| Some((rate(gas, ns(report, &op.id, name)?), *name)));
        if let Some([slow, fast]) = ends(rates) {
            let texts = [
                format!("`{}`", op.id),
                grouped(gas as f64, 0),
                slow.1.to_owned(),
                three(slow.0),
                fast.1.to_owned(),
                three(fast.0),
            ];
            rows.push(texts.map(Field::new).into());
        }
    }
    let head = [
        "test",
        "nominal gas",
        "worst client",
        "MGas/s",
        "best client",
        "MGas/s",
    ];
    (names.len() > 1 && !rows.is_empty()).then(|| Section {
        title: "Worst client of each row".into(),
        note: "Direct execution; the gas of a failing call is what a good one costs. Libraries that are no client \
               are not in it."
            .into(),
        head: head.map(str::to_owned).into(),
        rows,
        lines: Vec::new(),
    })
}

fn conclusions(report: &Report, anchor: f64) -> Section {
    let mut lines = Vec::new();
    let names = clients(report);
    for name in &names {
        let mut rates: Vec<(f64, &str)> = report
            .ops
            .iter()
            .filter(direct)
            .filter(|op| !fails(op))
            .filter_map(|op| Some((rate(op.gas?, ns(report, &op.id, name)?), op.id.as_str())))
            .collect();
        rates.sort_by(|a, b| a.0.total_cmp(&b.0));
        let below: Vec<String> = rates
            .iter()
            .filter(|(rate, _)| *rate < anchor)
            .map(|(rate, id)| format!("{id} ({})", three(*rate)))
            .collect();
        lines.push(match below.len() {
            0 => format!(
                "{name}: all {} rows of successful calls reach {anchor} MGas/s; the slowest is {} with {}.",
                rates.len(), rates[0].1, three(rates[0].0)
            ),
            count => format!(
                "{name}: {count} of {} rows of successful calls are underpriced at {anchor} MGas/s: {}.",
                rates.len(), below.join(", ")
            ),
        });
    }
    for op in report.ops.iter().filter(direct).filter(fails) {
        for name in &names {
            if let (Some(gas), Some(ns)) = (op.gas, ns(report, &op.id, name))
                && rate(gas, ns) < anchor
            {
                lines.push(format!(
                    "Failing calls of {} take {} on {name}, {} MGas/s of the gas a good call costs.",
                    op.id,
                    time(ns),
                    three(rate(gas, ns))
                ));
            }
        }
    }
    Section {
        title: "Conclusions on gas".into(),
        note: format!(
            "Drawn from the figures above, at {anchor} million gas a second on one core."
        ),
        head: Vec::new(),
        rows: Vec::new(),
        lines,
    }
}

/// Renders the sections as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut text = String::new();
    for section in sections(report) {
        text += &format!("\n## {}\n\n{}\n\n", section.title, section.note);
        if !section.head.is_empty() {
            text += &format!(
                "| {} |\n|---|{}\n",
                section.head.join(" | "),
                "--:|".repeat(section.head.len() - 1)
            );
        }
        for row in &section.rows {
            let fields = row.iter().map(|field| {
                let joined = field.lines.join("<br/>");
                if field.grey {
                    format!("*{joined}*")
                } else {
                    joined
                }
            });
            text += &format!("| {} |\n", fields.collect::<Vec<_>>().join(" | "));
        }
        for line in &section.lines {
            text += &format!("- {line}\n");
        }
    }
    text
}

/// Renders the sections as HTML with the page's classes.
pub fn html(report: &Report) -> String {
    let escape = |text: &str| html_text(text).replace('`', "");
    let mut text = String::new();
    for section in sections(report) {
        text += &format!(
            "<h2>{}</h2>\n<p class=\"note\">{}</p>\n",
            escape(&section.title),
            escape(&section.note)
        );
        if !section.head.is_empty() {
            text += "<div class=\"scroll\"><table><thead><tr>";
            for name in &section.head {
                text += &format!("<th scope=\"col\">{}</th>", escape(name));
            }
            text += "</tr></thead><tbody>\n";
            for row in &section.rows {
                text += "<tr>";
                for (index, field) in row.iter().enumerate() {
                    let (tag, class) = match (index, field.grey) {
                        (0, _) => ("th", ""),
                        (_, true) => ("td", " class=\"pub\""),
                        (_, false) => ("td", ""),
                    };
                    let lines: Vec<String> = field.lines.iter().map(|line| escape(line)).collect();
                    text += &format!("<{tag}{class}>{}</{tag}>", lines.join("<br>"));
                }
                text += "</tr>\n";
            }
            text += "</tbody></table></div>\n";
        }
        if !section.lines.is_empty() {
            text += "<ul>\n";
            for line in &section.lines {
                text += &format!("<li>{}</li>\n", escape(line));
            }
            text += "</ul>\n";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn numbers_and_lines() {
        assert_eq!(grouped(1_234_567.0, 0), "1,234,567");
        assert_eq!(grouped(1091.994, 2), "1,091.99");
        assert_eq!(grouped(12.0, 0), "12");
        // y = 3 x + 7
        assert_eq!(
            line(&[(1.0, 10.0), (4.0, 19.0), (16.0, 55.0)]),
            Some((3.0, 7.0))
        );
        assert_eq!(line(&[(1.0, 10.0)]), None);
        assert_eq!(rate(3000, 30_000.0), 100.0);
        let rates = [(30.0, "b"), (80.0, "a"), (20.0, "c")];
        assert_eq!(ends(rates.into_iter()), Some([(20.0, "c"), (80.0, "a")]));
        assert_eq!(ends([].into_iter()), None);
        // y = 2 x + 6; a slope or a fixed part below zero is left out.
        let close = |points: &[(f64, f64)], [base, unit]: [f64; 2]| {
            let [a, b] = affine(points).unwrap();
            assert!(
                (a - base).abs() < 1e-6 && (b - unit).abs() < 1e-6,
                "{a} {b}"
            );
        };
        close(&[(1.0, 8.0), (4.0, 14.0), (16.0, 38.0)], [6.0, 2.0]);
        close(&[(1.0, 1.0), (2.0, 4.0)], [0.0, 1.2]);
        close(&[(1.0, 5.0), (2.0, 5.0)], [5.0, 0.0]);
        assert_eq!(affine(&[(1.0, 5.0), (1.0, 6.0)]), None);
        assert_eq!(short(1234.5), "1,234");
        assert_eq!(short(0.456), "0.46");
    }

    #[test]
    fn the_slowest_implementation_decides() {
        let mut report = crate::report::example("x");
        report.ops[0].kernel = "evm_ecrecover".into();
        report.ops[0].memory = "fresh".into();
        let section = parameters(&report).unwrap();
        let texts: Vec<&str> = section.rows[0]
            .iter()
            .map(|f| f.lines[0].as_str())
            .collect();
        assert_eq!(
            texts,
            ["`ECRECOVER`", "3,000", "x", "100", "6.00", "10.0", "30.0"]
        );
        assert_eq!(section.rows.len(), 1);
        // The gas of this row is not that of the parameter.
        report.ops[0].kernel = "evm_kzg".into();
        assert!(parameters(&report).is_none());
    }
}
