//! Reads the committed records for the fastest variant of each contender on each row.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use flate2::bufread::GzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::result::State;

/// The part of a result that is needed here.
#[derive(Deserialize)]
struct Record {
    run: Run,
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Run {
    mode: String,
    started: String,
}

#[derive(Deserialize)]
struct Cell {
    op: String,
    contender: String,
    variant: String,
    state: State,
    control: bool,
    ns: Option<f64>,
}

/// Rows on which a variant is the fastest of its contender, by contender and variant.
pub type Fastest = BTreeMap<(String, String), BTreeSet<String>>;

/// Paths of `arena/records/*/result.json.gz`, in the order of their folders' names.
pub fn paths(arena: &Path) -> Result<Vec<PathBuf>> {
    let folder = arena.join("records");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path().join("result.json.gz");
        if path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads a record, or a part of it.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let file = BufReader::new(File::open(path)?);
    serde_json::from_reader(BufReader::new(GzDecoder::new(file)))
        .with_context(|| path.display().to_string())
}

/// Reads all records. Only the newest full run of each row and contender counts, because quick runs lack variants.
pub fn fastest(arena: &Path) -> Result<Fastest> {
    let records: Result<Vec<Record>> = paths(arena)?.iter().map(|path| read(path)).collect();
    Ok(merge(records?))
}

fn merge(mut records: Vec<Record>) -> Fastest {
    records.retain(|record| record.run.mode == "full");
    records.sort_by(|a, b| a.run.started.cmp(&b.run.started));
    // Maps row and contender to the fastest variant of the newest record.
    let mut newest: BTreeMap<(String, String), String> = BTreeMap::new();
    for record in records {
        let mut best: BTreeMap<(String, String), (f64, String)> = BTreeMap::new();
        for cell in record.cells {
            if let (State::Ok, false, Some(ns)) = (cell.state, cell.control, cell.ns) {
                let found = best
                    .entry((cell.op, cell.contender))
                    .or_insert((f64::INFINITY, String::new()));
                if ns < found.0 {
                    *found = (ns, cell.variant);
                }
            }
        }
        newest.extend(best.into_iter().map(|(key, (_, variant))| (key, variant)));
    }
    let mut rows = Fastest::new();
    for ((op, contender), variant) in newest {
        rows.entry((contender, variant)).or_default().insert(op);
    }
    rows
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_newest_full_record_counts() {
        let record = |mode: &str, started: &str, cells: &[(&str, &str, f64)]| Record {
            run: Run {
                mode: mode.into(),
                started: started.into(),
            },
            cells: cells
                .iter()
                .map(|(op, variant, ns)| Cell {
                    op: (*op).into(),
                    contender: "peer".into(),
                    variant: (*variant).into(),
                    state: State::Ok,
                    control: false,
                    ns: Some(*ns),
                })
                .collect(),
        };
        let found = merge(vec![
            record(
                "full",
                "2026-02",
                &[("a", "native", 1.0), ("a", "stock", 2.0)],
            ),
            record(
                "full",
                "2026-01",
                &[
                    ("a", "native", 2.0),
                    ("a", "stock", 1.0),
                    ("b", "stock", 1.0),
                ],
            ),
            record("quick", "2026-03", &[("a", "stock", 1.0)]),
        ]);
        let rows = |variant: &str| found.get(&("peer".to_owned(), variant.to_owned())).cloned();
        assert_eq!(rows("native"), Some(["a".to_owned()].into()));
        assert_eq!(rows("stock"), Some(["b".to_owned()].into()));
    }

    #[test]
    fn the_committed_records_can_be_read() {
        let found = fastest(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let hex = found.iter().filter(|((name, _), rows)| {
            name == "rust-primitives" && rows.contains("hex_decode_32b")
        });
        assert_eq!(hex.count(), 1);
    }
}
