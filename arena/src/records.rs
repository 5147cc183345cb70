//! Reads the committed records for the fastest variant of each contender on each row.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use flate2::bufread::GzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::ops::{Op, catalogue};
use crate::result::State;

/// The part of a result that is needed here.
#[derive(Deserialize)]
struct Record {
    run: Run,
    contenders: Vec<Contender>,
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Contender {
    name: String,
    #[serde(default)]
    floor: bool,
    #[serde(default)]
    own: bool,
}

#[derive(Deserialize)]
struct Run {
    mode: String,
    #[serde(default = "crate::result::ours")]
    ours: String,
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

/// The fastest variant of each contender on each row, and the fastest peer of each row, as far as records show them.
#[derive(Default)]
pub struct Known {
    /// Only the newest full run of each row and contender counts, because quick runs lack variants.
    pub fastest: Fastest,
    /// The contender and the variant, by row: of the newest full run, or of the newest run if none is full.
    pub peers: BTreeMap<String, (String, String)>,
    /// The rows on which a contender has been timed, by contender.
    pub timed: BTreeMap<String, BTreeSet<String>>,
}

impl Known {
    /// Whether the records show that a contender has none of these rows, although it has others of their family. Rows
    /// without a record do not show this.
    pub fn lacks(&self, contender: &str, ops: &[&Op]) -> bool {
        let family = |id: &str| {
            catalogue()
                .iter()
                .find(|op| op.id == id)
                .map(|op| &op.family)
        };
        let Some(timed) = self.timed.get(contender) else {
            return false;
        };
        ops.iter().all(|op| {
            self.timed.values().any(|rows| rows.contains(&op.id))
                && !timed.contains(&op.id)
                && timed.iter().any(|id| family(id) == Some(&op.family))
        })
    }

    /// The contenders that are the fastest peer of one of these rows, each with the variant that is so most often.
    pub fn leaders(&self, ops: &[Op]) -> BTreeMap<&str, &str> {
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (contender, variant) in ops.iter().filter_map(|op| self.peers.get(&op.id)) {
            *counts.entry((contender, variant)).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, rows)| *rows);
        counts.into_iter().map(|(name, _)| name).collect()
    }
}

/// Reads all records of races in which `ours` was compared with its peers.
pub fn known(arena: &Path, ours: &str) -> Result<Known> {
    let records: Result<Vec<Record>> = paths(arena)?.iter().map(|path| read(path)).collect();
    let mut records = records?;
    let renamed: Vec<&Op> = catalogue().iter().filter(|op| !op.was.is_empty()).collect();
    for cell in records.iter_mut().flat_map(|record| &mut record.cells) {
        if let Some(op) = renamed.iter().find(|op| op.was == cell.op) {
            cell.op.clone_from(&op.id);
        }
    }
    records.sort_by(|a, b| a.run.started.cmp(&b.run.started));
    let mut timed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for cell in records.iter().flat_map(|record| &record.cells) {
        if cell.ns.is_some() {
            let rows = timed.entry(cell.contender.clone()).or_default();
            rows.insert(cell.op.clone());
        }
    }
    Ok(Known {
        timed,
        peers: peers(&records, ours),
        fastest: merge(records),
    })
}

/// The fastest peer of each row; `records` are in the order of their time.
fn peers(records: &[Record], ours: &str) -> BTreeMap<String, (String, String)> {
    let full = |record: &&Record| record.run.mode == "full";
    let (full, quick): (Vec<&Record>, Vec<&Record>) = records
        .iter()
        .filter(|record| record.run.ours == ours)
        .partition(full);
    let mut newest = BTreeMap::new();
    for record in quick.into_iter().chain(full) {
        let mut best: BTreeMap<&str, &Cell> = BTreeMap::new();
        let others = record.contenders.iter();
        let others = others.filter(|contender| contender.floor || contender.own);
        let no_peers: Vec<&str> = others
            .map(|other| other.name.as_str())
            .chain([ours])
            .collect();
        let timed =
            |cell: &&Cell| cell.state == State::Ok && !no_peers.contains(&cell.contender.as_str());
        for cell in record.cells.iter().filter(timed) {
            let time = |cell: &Cell| cell.ns.unwrap_or(f64::INFINITY);
            let found = best.entry(&cell.op).or_insert(cell);
            if time(cell) < time(found) {
                *found = cell;
            }
        }
        newest.extend(best.into_iter().map(|(op, cell)| {
            let peer = (cell.contender.clone(), cell.variant.clone());
            (op.to_owned(), peer)
        }));
    }
    newest
}

fn merge(mut records: Vec<Record>) -> Fastest {
    records.retain(|record| record.run.mode == "full");
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
        let cell = |op: &str, contender: &str, variant: &str, ns: f64| Cell {
            op: op.into(),
            contender: contender.into(),
            variant: variant.into(),
            state: State::Ok,
            control: false,
            ns: Some(ns),
        };
        let record = |mode: &str, started: &str, cells: &[(&str, &str, f64)]| Record {
            run: Run {
                mode: mode.into(),
                ours: "lydite".into(),
                started: started.into(),
            },
            contenders: [("floor", true), ("own", false)]
                .map(|(name, floor)| Contender {
                    name: name.into(),
                    floor,
                    own: !floor,
                })
                .into(),
            // These two are faster than each peer, and not counted as one.
            cells: cells
                .iter()
                .flat_map(|(op, variant, ns)| {
                    [
                        cell(op, "peer", variant, *ns),
                        cell(op, "floor", "only", ns / 2.0),
                        cell(op, "own", "only", ns / 2.0),
                    ]
                })
                .collect(),
        };
        let records = || {
            vec![
                record(
                    "full",
                    "2026-01",
                    &[
                        ("a", "native", 2.0),
                        ("a", "stock", 1.0),
                        ("b", "stock", 1.0),
                    ],
                ),
                record(
                    "full",
                    "2026-02",
                    &[("a", "native", 1.0), ("a", "stock", 2.0)],
                ),
                record("quick", "2026-03", &[("a", "stock", 1.0), ("c", "v3", 1.0)]),
            ]
        };
        let found = merge(records());
        let peers = peers(&records(), "lydite");
        for (op, variant) in [("a", "native"), ("b", "stock"), ("c", "v3")] {
            assert_eq!(peers[op], ("peer".to_owned(), variant.to_owned()));
        }
        let rows = |variant: &str| found.get(&("peer".to_owned(), variant.to_owned())).cloned();
        assert_eq!(rows("native"), Some(["a".to_owned()].into()));
        assert_eq!(rows("stock"), Some(["b".to_owned()].into()));
    }

    #[test]
    fn the_committed_records_can_be_read() {
        let found = known(Path::new(env!("CARGO_MANIFEST_DIR")), "lydite").unwrap();
        assert_eq!(found.peers["secp256k1_recover_varied"].0, "libsecp256k1");
        // Older records name this row u256_mulDiv_zig_input.
        assert_eq!(found.peers["u256_mulDiv_zig"].0, "rust-primitives");
        let op = |id: &str| catalogue().iter().find(|op| op.id == id).unwrap();
        assert!(found.lacks("plonky3", &[op("xmss_report_keygen_2t")]));
        assert!(!found.lacks("plonky3", &[op("poseidon1_16_lanes_varied")]));
        assert!(!found.lacks("nobody", &[op("poseidon1_16_lanes_varied")]));
        let leaders = found.leaders(&[op("keccak256_32b"), op("syrup_cid_skill")].map(Op::clone));
        assert_eq!(leaders.keys().collect::<Vec<_>>(), [&"alloy", &"syrup-zig"]);
        let hex = found.fastest.iter().filter(|((name, _), rows)| {
            name == "rust-primitives" && rows.contains("hex_decode_32b")
        });
        assert_eq!(hex.count(), 1);
    }
}
