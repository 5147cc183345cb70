//! `bench site`: static pages of all records and further results. One page draws itself from two data files, so that it
//! works from a folder, without a server or a network.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::pages::Page;
use super::{plain, with_texts};
use crate::builder;
use crate::result::{Machine, Report};
use crate::{manifest, race, records};

const PAGE: &str = include_str!("site.html");
/// Lines of an adapter shown before and after the line that names an operation.
const BEFORE: usize = 2;
const AFTER: usize = 12;

/// Generates the site from the committed records and the result files given.
pub fn render(arena: &Path, results: &[PathBuf]) -> Result<Vec<Page>> {
    let mut reports = Vec::new();
    for path in records::paths(arena)? {
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        reports.push((folder.to_string_lossy().into_owned(), records::read(&path)?));
    }
    for path in results {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        let report = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        // Results are called by their folder, as records are.
        let folder = std::path::absolute(path)?;
        let folder = folder
            .parent()
            .and_then(Path::file_name)
            .unwrap_or_default();
        reports.push((folder.to_string_lossy().into_owned(), report));
    }
    let mut runs = Vec::new();
    let mut asked = BTreeSet::new();
    for (name, mut report) in reports {
        race::judge(&mut report);
        race::explain(&mut report, arena)?;
        let report = with_texts(&report, plain);
        for op in &report.ops {
            let raced = report.cells.iter().filter(|cell| cell.op == op.id);
            asked.extend(raced.map(|cell| (cell.contender.clone(), op.id.clone())));
        }
        runs.push(run(&name, &report));
    }
    let page = |name: &str, text: String| Page {
        path: name.into(),
        text,
    };
    let mut sources: Sources = BTreeMap::new();
    for manifest in manifest::discover(arena)? {
        sources.insert(manifest.name.clone(), builder::sources(&manifest)?);
    }
    let code = script(&code(&sources, &asked))?;
    let mut pages = vec![
        page("index.html", PAGE.to_owned()),
        page(
            "data.js",
            format!("const RUNS = {}\n", script(&json!(runs))?),
        ),
        page("code.js", format!("const CODE = {code}\n")),
    ];
    pages.extend(sources.iter().map(|(name, files)| {
        let files = files
            .iter()
            .map(|(file, text)| format!("==== {file}\n\n{text}\n"));
        page(&format!("adapters/{name}.txt"), files.collect())
    }));
    Ok(pages)
}

/// The files of each contender's adapter: names and texts.
type Sources = BTreeMap<String, Vec<(String, String)>>;

/// JSON that cannot end a script.
fn script(value: &Value) -> Result<String> {
    Ok(serde_json::to_string(value)?.replace('<', "\\u003c"))
}

/// The widest instruction sets of a machine.
fn tier(machine: &Machine) -> &'static str {
    let has = |flag: &str| machine.flags.iter().any(|f| f == flag);
    match () {
        () if has("avx512ifma") => "AVX-512",
        () if has("avx2") => "AVX2",
        () => "portable",
    }
}

/// The part of a result that the page shows.
fn run(name: &str, report: &Report) -> Value {
    let ours = report.run.ours.as_str();
    let rows: Vec<Value> = report
        .ops
        .iter()
        .map(|op| {
            let pairs = report.pairs.iter().filter(|pair| pair.op == op.id);
            let pairs: Vec<Value> = pairs
                .map(|pair| {
                    let cell = report.best(&op.id, &pair.b);
                    json!({"peer": pair.b, "variant": pair.b_variant, "ns": cell.and_then(|cell| cell.ns),
                        "ratio": pair.ratio, "lo": pair.lo, "hi": pair.hi, "verdict": pair.verdict,
                        "best": pair.best_peer, "reason": pair.reason})
                })
                .collect();
            let cell = report.best(&op.id, ours);
            json!({"id": op.id, "family": op.family, "title": op.title, "unit": op.unit, "spec": op.spec,
                "memory": op.memory, "items": op.items, "ns": cell.and_then(|cell| cell.ns),
                "state": cell.map(|cell| cell.state.text()), "without": op.without, "pairs": pairs})
        })
        .collect();
    let contenders: BTreeMap<&str, Value> = report
        .contenders
        .iter()
        .map(|c| {
            let about = json!({"version": c.version, "language": c.language, "foreign": c.foreign});
            (c.name.as_str(), about)
        })
        .collect();
    json!({"name": name, "ours": ours, "machine": report.machine.cpu, "tier": tier(&report.machine),
        "mode": report.run.mode, "started": report.run.started, "commit": report.machine.commit,
        "command": report.run.command, "floor": report.run.noise_floor, "noisy": report.run.noisy,
        "contenders": contenders, "rows": rows})
}

/// Excerpts of the adapters in the tree, by contender: the places that name an operation. Excerpts are numbered, since
/// many rows share one.
fn code(sources: &Sources, asked: &BTreeSet<(String, String)>) -> Value {
    let mut texts: Vec<String> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let catalogue: BTreeMap<&str, &crate::ops::Op> = crate::ops::catalogue()
        .iter()
        .map(|op| (op.id.as_str(), op))
        .collect();
    for (contender, id) in asked {
        let (Some(files), Some(op)) = (sources.get(contender), catalogue.get(id.as_str())) else {
            continue;
        };
        // The name as a string or a key comes first: a library's function may have the same name.
        let call = &op.call;
        let names = [
            &format!("\"{call}\""),
            &format!("{call}:"),
            call,
            op.kernel.name(),
        ];
        let Some(text) = names.iter().find_map(|name| excerpt(files, name)) else {
            continue;
        };
        let at = texts.iter().position(|known| *known == text);
        let at = at.unwrap_or_else(|| {
            texts.push(text);
            texts.len() - 1
        });
        places.insert(format!("{contender} {id}"), at);
    }
    let adapters: Vec<&String> = sources.keys().collect();
    json!({"texts": texts, "places": places, "adapters": adapters})
}

/// The lines around the first one that contains `name` as a word, with the file's name.
fn excerpt(files: &[(String, String)], name: &str) -> Option<String> {
    let word = |line: &str| {
        line.match_indices(name).any(|(at, _)| {
            let part = |c: char| c.is_alphanumeric() || c == '_';
            !line[..at].ends_with(part) && !line[at + name.len()..].starts_with(part)
        })
    };
    files.iter().find_map(|(file, text)| {
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|line| word(line))?;
        let shown = &lines[at.saturating_sub(BEFORE)..(at + AFTER).min(lines.len())];
        Some(format!("{file}, line {}\n\n{}", at + 1, shown.join("\n")))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn excerpts_are_found_by_whole_words() {
        let files = [(
            "src/main.rs".to_owned(),
            "keccak256_32b_more\nfn a() {\n  op(\"keccak256_32b\")\n}".to_owned(),
        )];
        let found = excerpt(&files, "keccak256_32b").unwrap();
        assert!(found.starts_with("src/main.rs, line 3\n"), "{found}");
        assert_eq!(excerpt(&files, "keccak256"), None);
    }

    #[test]
    fn the_site_contains_all_records_and_ends_no_script() {
        let arena = Path::new(env!("CARGO_MANIFEST_DIR"));
        let pages = render(arena, &[]).unwrap();
        let text = |name: &str| {
            let page = pages.iter().find(|page| page.path == Path::new(name));
            page.unwrap().text.as_str()
        };
        for path in records::paths(arena).unwrap() {
            let folder = path
                .parent()
                .unwrap()
                .file_name()
                .unwrap()
                .to_string_lossy();
            assert!(text("data.js").contains(&*folder), "{folder}");
        }
        assert!(!text("data.js").contains('<') && !text("code.js").contains('<'));
        assert!(text("code.js").contains("\"lydite keccak256_32b\":"));
        assert!(text("adapters/lydite.txt").contains("==== src/main.rs"));
        assert!(!text("index.html").contains("http"), "no network");
    }
}
