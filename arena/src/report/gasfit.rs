//! The input files of [evm-gasfit](https://github.com/misilva73/evm-gasfit), which fits gas prices to times.
//!
//! `runtime.csv` has the columns `client_name`, `fixture_name` and `test_runtime_ms`, with one line per batch of a
//! contender's fastest variant. `opcounts.json` gives the number of precompile calls of each fixture name, as `opcount`
//! and as `STATICCALL`. A fixture name is that of the row's fixture in ethereum/execution-specs, or one with the row's
//! kernel and id, followed by the number of calls, because batches differ in it.
//!
//! The clock of a batch covers only its calls, so each contender and row also has a line of one call with its median
//! time. Without it, the fixed part of a fit would depend on batches of nearly the same size.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde::Serialize;

use super::gas::{direct, program};
use super::pages::Page;
use super::{plain, raced};
use crate::ops::{Op, catalogue};
use crate::result::{Operation, Report};

/// Counts of a fixture.
#[derive(Serialize)]
struct Counts {
    opcount: u64,
    #[serde(rename = "STATICCALL")]
    static_call: u64,
}

/// The files `runtime.csv` and `opcounts.json`.
pub fn render(report: &Report) -> Result<Vec<Page>> {
    let mut runtimes = "client_name,fixture_name,test_runtime_ms\n".to_owned();
    let mut counts = BTreeMap::new();
    let known: BTreeMap<&str, &Op> = catalogue().iter().map(|op| (op.id.as_str(), op)).collect();
    for op in &report.ops {
        // Of programs, only those with different numbers of calls separate the calls from the other work.
        if !(direct(&op) || op.calls.is_some() && op.gas.is_some()) || program(&op) {
            continue;
        }
        let fixture = known.get(op.id.as_str()).map_or("", |op| &op.fixture);
        for contender in raced(report) {
            let Some(cell) = report.best(&op.id, contender) else {
                continue;
            };
            let Some(median) = cell.ns else { continue };
            let batches = cell.batches.iter();
            let batches = batches.map(|batch| (batch.n, batch.ns as f64));
            for (n, ns) in std::iter::once((1, median)).chain(batches) {
                let calls = n * op.calls.unwrap_or(1);
                let name = name(op, fixture, calls);
                let client = quoted(contender);
                let fixture_name = quoted(&name);
                runtimes += &format!("{client},{fixture_name},{}\n", ns / 1e6);
                let count = Counts {
                    opcount: calls,
                    static_call: calls,
                };
                counts.insert(name, count);
            }
        }
    }
    ensure!(!counts.is_empty(), "no timed calls of precompiles");
    let page = |path: &str, text: String| Page {
        path: path.into(),
        text,
    };
    Ok(vec![
        page("runtime.csv", runtimes),
        page(
            "opcounts.json",
            serde_json::to_string_pretty(&counts)? + "\n",
        ),
    ])
}

/// The fixture name of a batch of `calls` calls.
fn name(op: &Operation, fixture: &str, calls: u64) -> String {
    let open = match fixture.strip_suffix(']') {
        Some(open) => format!("{open}-"),
        None => format!("test_arena.py::test_{}[row_{}-", op.kernel, op.id),
    };
    plain(&format!("{open}calls_{calls}]"))
}

/// A field of a CSV file.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::report::example;

    #[test]
    fn batches_become_lines() {
        let mut report = example("x,y");
        // The third contender has the name of the first.
        report.contenders.pop();
        let files = render(&report).unwrap();
        let lines: Vec<&str> = files[0].text.lines().collect();
        assert_eq!(files[0].path.to_str(), Some("runtime.csv"));
        assert_eq!(lines[0], "client_name,fixture_name,test_runtime_ms");
        assert_eq!(
            lines[1],
            "\"x,y\",\"test_arena.py::test_x,y[row_x,y-calls_1]\",0.0001"
        );
        // 10 calls in 1000 ns.
        assert_eq!(
            lines[2],
            "\"x,y\",\"test_arena.py::test_x,y[row_x,y-calls_10]\",0.001"
        );
        // Two contenders with five batches each.
        assert_eq!(lines.len(), 1 + 2 * 6);
        let counts: serde_json::Value = serde_json::from_str(&files[1].text).unwrap();
        assert_eq!(files[1].path.to_str(), Some("opcounts.json"));
        let count = &counts["test_arena.py::test_x,y[row_x,y-calls_10]"];
        assert_eq!(count["opcount"], 10);
        assert_eq!(count["STATICCALL"], 10);

        // A fixture's name is kept, and programs count their calls.
        report.ops[0].id = "eest_bls12_pairing_3".into();
        report.ops[0].calls = Some(4);
        for cell in &mut report.cells {
            cell.op = "eest_bls12_pairing_3".into();
        }
        let files = render(&report).unwrap();
        let name = "test_bls12_381.py::test_bls12_pairing[num_pairs_3-calls_40]";
        assert!(files[0].text.contains(name), "{}", files[0].text);

        report.ops[0].gas = None;
        assert!(render(&report).is_err());
    }
}
