//! `bench worst`: a bounded, seeded search for the inputs on which a contender's precompiles earn the least gas per
//! second.
//!
//! Each contender has its own search, since what is slow in one implementation is fast in another. Half of the inputs are
//! new, the others are variations of the slowest so far. Short batches select candidates, longer ones rank them, and the
//! output of the slowest is checked. The order of the inputs follows from the seed and from the times, which vary: two
//! searches need not end at the same input.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use crate::blobs;
use crate::family::precompiles::search::{self, Space, Values};
use crate::manifest::Manifest;
use crate::ops::Op;
use crate::protocol::{Failure, Process};
use crate::random::Random;
use crate::report::{plain, three, time};
use crate::sandbox::Folder;
use crate::truth::Expected;

/// Time limit of a request.
const DEADLINE: Duration = Duration::from_secs(20);
/// Target duration of a batch in nanoseconds.
const BATCH_NS: u64 = 1_000_000;
/// Batches of an input: the fastest counts, because other work can only lengthen one.
const BATCHES: u32 = 3;
/// Batches of the inputs that are ranked at the end.
const FINAL_BATCHES: u32 = 25;
/// Gas limit of a transaction (EIP-7825).
const MOST_GAS: u64 = 1 << 24;
/// Number of inputs that are kept for variations and for the end.
const KEPT: usize = 6;

/// The slowest input that a search has found.
pub struct Find {
    /// The contender.
    pub contender: String,
    /// The precompile with this input.
    pub row: Op,
    /// Gas of a call.
    pub gas: u64,
    /// Nanoseconds a call, or why the contender failed on this input.
    pub ns: Result<f64, Failure>,
}

/// Searches all precompiles that the contender offers. Tries `tries` inputs of each.
pub fn search(manifest: &Manifest, spaces: &[Space], tries: usize, seed: u64) -> Result<Vec<Find>> {
    let work = Folder::new(&std::env::temp_dir())?;
    let mut process = start(manifest, work.path())?;
    let mut finds = Vec::new();
    for space in spaces {
        let mut random = Random::new(seed);
        let call = space.row(&space.draw(&mut random)).call;
        if !process.offers(&call) {
            continue;
        }
        let found = slowest(&mut process, space, tries, &mut random)?;
        if matches!(&found.ns, Err(Failure::Crash(_) | Failure::Timeout(_))) {
            process = start(manifest, work.path())?;
        }
        finds.push(Find {
            contender: manifest.name.clone(),
            ..found
        });
    }
    Ok(finds)
}

fn start(manifest: &Manifest, work: &Path) -> Result<Process> {
    let (variant, ..) = manifest.first()?;
    Process::start(&variant.run, &manifest.folder, &variant.env, work, DEADLINE)
        .with_context(|| manifest.name.clone())
}

/// The input with the least gas per second, or the first on which the contender fails.
fn slowest(
    process: &mut Process,
    space: &Space,
    tries: usize,
    random: &mut Random,
) -> Result<Find> {
    let mut seen = BTreeSet::new();
    // Rates, slowest first.
    let mut kept: Vec<(f64, Values)> = Vec::new();
    for _ in 0..tries {
        let values = match kept.len() {
            KEPT if random.below(2) == 0 => space.vary(&kept[random.below(KEPT)].1, random),
            _ => space.draw(random),
        };
        let row = space.row(&values);
        if !seen.insert((row.case.clone(), row.size)) {
            continue;
        }
        let (item, gas) = search::input(&row)?;
        // A call that costs nothing has no rate.
        if gas == 0 || gas > MOST_GAS {
            continue;
        }
        let find = measure(process, row, &item, gas, BATCHES)?;
        let Ok(ns) = find.ns else { return Ok(find) };
        let rate = find.gas as f64 / ns;
        let at = kept.partition_point(|(other, _)| *other < rate);
        kept.insert(at, (rate, values));
        kept.truncate(KEPT);
    }
    let mut slowest: Option<(f64, Find)> = None;
    for (_, values) in kept {
        let row = space.row(&values);
        let (item, gas) = search::input(&row)?;
        let find = measure(process, row, &item, gas, FINAL_BATCHES)?;
        let Ok(ns) = find.ns else { return Ok(find) };
        let rate = find.gas as f64 / ns;
        if slowest.as_ref().is_none_or(|(other, _)| rate < *other) {
            slowest = Some((rate, find));
        }
    }
    let (_, find) = slowest.with_context(|| {
        format!(
            "{}: none of {tries} inputs costs 1 to {MOST_GAS} gas; try more",
            space.name()
        )
    })?;
    verified(process, find)
}

/// The time of a call.
fn measure(process: &mut Process, row: Op, item: &[u8], gas: u64, batches: u32) -> Result<Find> {
    let file = process.file("search.blobs");
    blobs::write(&file, &[item])?;
    let mut run = || {
        process.prepare(&row.call, &file, row.change, DEADLINE)?;
        let first = process.run(1, 1, DEADLINE)?;
        let calls = (BATCH_NS / first.ns.max(1)).clamp(1, 100_000);
        let mut fastest = f64::INFINITY;
        for seed in 0..batches {
            let batch = process.run(calls, seed, DEADLINE)?;
            fastest = fastest.min(batch.ns as f64 / calls as f64);
        }
        Ok(fastest)
    };
    let ns = run();
    Ok(Find {
        contender: String::new(),
        row,
        gas,
        ns,
    })
}

/// Checks the contender's output for the input, which must be prepared again.
fn verified(process: &mut Process, mut find: Find) -> Result<Find> {
    let case = search::case(&find.row)?;
    let file = process.file("search.blobs");
    blobs::write(&file, &[&case.item])?;
    let expected = Expected::of(&case.parts);
    let outputs = process
        .prepare(&find.row.call, &file, find.row.change, DEADLINE)
        .and_then(|_| process.verify(1 << 20, DEADLINE));
    match outputs {
        Ok(outputs) if outputs.len() == 1 && outputs[0] == expected.bytes => {}
        Ok(_) => find.ns = Err(Failure::Wrong("another output than expected".into())),
        Err(failure) => find.ns = Err(failure),
    }
    Ok(find)
}

/// Renders the finds as a table, slowest first within each precompile, and as rows for `arena/ops/worst.toml`.
pub fn render(finds: &mut [Find]) -> String {
    let rate = |find: &Find| {
        find.ns
            .as_ref()
            .map_or(0.0, |ns| 1e3 * find.gas as f64 / ns)
    };
    finds.sort_by(|a, b| {
        (a.row.kernel.name(), rate(a))
            .partial_cmp(&(b.row.kernel.name(), rate(b)))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut table = Table::new();
    table.load_style(presets::NOTHING).force_no_tty();
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["precompile", "contender", "MGas/s", "gas", "time"]);
    let number = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    for find in &*finds {
        let (rate, time) = match &find.ns {
            Ok(ns) => (three(rate(find)), time(*ns)),
            Err(failure) => ("-".into(), plain(&failure.to_string())),
        };
        table.add_row([
            Cell::new(find.row.kernel),
            Cell::new(&find.contender),
            number(rate),
            number(find.gas.to_string()),
            number(time),
        ]);
    }
    let mut text = format!("{table}\n\nas rows:\n");
    let mut rows = BTreeSet::new();
    for find in &*finds {
        let size = match find.row.size {
            0 => String::new(),
            size => format!(", size = {size}"),
        };
        let row = format!("input = \"fixture\", case = \"{}\"{size}", find.row.case);
        if rows.insert((find.row.kernel.name(), row.clone())) {
            let precompile = find.row.kernel.name().replace("evm_", "worst_");
            let contender = find.contender.replace('-', "_");
            text += &format!("{{ id = \"{precompile}_{contender}\", {row} }},\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::ops;

    #[test]
    fn the_slowest_is_first_and_each_input_is_listed_once() {
        let row = ops::catalogue().iter().find(|op| op.id == "eest_blake2f");
        let row = row.unwrap().clone();
        let find = |contender: &str, ns| Find {
            contender: contender.to_owned(),
            row: row.clone(),
            gas: 100,
            ns,
        };
        let mut finds = [
            find("fast", Ok(1e3)),
            find("slow", Ok(1e6)),
            find("wrong", Err(Failure::Wrong("another output".into()))),
        ];
        let text = render(&mut finds);
        let at = |word| text.find(word).unwrap();
        assert!(
            at("wrong") < at("slow") && at("slow") < at("fast"),
            "{text}"
        );
        assert!(
            text.contains("100") && text.contains("wrong: another output"),
            "{text}"
        );
        assert_eq!(text.matches("case =").count(), 1, "{text}");
    }
}
