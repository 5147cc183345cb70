//! `bench doctor` and `bench check`: which contenders can run here, and which give correct outputs.

use crate::manifest::{Manifest, check};
use crate::report::{plain, table, time, with_texts};
use crate::result::{Report, State};

/// One line per contender: its required tools and whether they are available.
pub fn render(manifests: &[Manifest]) -> String {
    let mut text = String::new();
    let mut able = 0;
    for manifest in manifests {
        let missing = manifest.missing();
        let mark = if missing.is_none() {
            "ok     "
        } else {
            "missing"
        };
        able += usize::from(missing.is_none());
        text += &format!(
            "{mark} {} {} ({})\n",
            manifest.name,
            plain(&manifest.version),
            plain(&manifest.language)
        );
        let of_variants = manifest.variants.iter().flat_map(|variant| &variant.needs);
        for need in manifest.needs.iter().chain(of_variants) {
            text += &match check(need, &manifest.folder) {
                Ok(version) => format!("          {}\n", plain(&version)),
                Err(error) if need.hint.is_empty() => {
                    format!("        - {}\n", plain(&error.to_string()))
                }
                Err(error) => format!(
                    "        - {}: {}\n",
                    plain(&error.to_string()),
                    plain(&need.hint)
                ),
            };
        }
    }
    text + &format!("{able} of {} contenders can run here\n", manifests.len())
}

/// The results of the correctness check: one line per variant and one per failed operation.
pub fn checked(report: &Report) -> String {
    let report = &with_texts(report, plain);
    let mut text = String::new();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for cell in &report.cells {
        let who = (cell.contender.as_str(), cell.variant.as_str());
        if seen.contains(&who)
            || matches!(cell.state, State::SkippedToolchain | State::SkippedBuild)
        {
            continue;
        }
        seen.push(who);
        let own: Vec<_> = report
            .cells
            .iter()
            .filter(|c| (c.contender.as_str(), c.variant.as_str()) == who)
            .collect();
        let count = |state| own.iter().filter(|c| c.state == state).count();
        let contender = report.contenders.iter().find(|c| c.name == who.0);
        let banners = contender.map_or(0, |c| c.banners);
        let turn = contender.and_then(|c| c.loop_ns);
        text += &format!(
            "{}/{}: {} of {} right, {} not offered, an empty turn takes {}, {banners} banner lines\n",
            who.0,
            who.1,
            count(State::Ok),
            own.len(),
            count(State::Unsupported),
            turn.map_or("an unknown time".into(), time)
        );
        for cell in own
            .iter()
            .filter(|c| !matches!(c.state, State::Ok | State::Unsupported))
        {
            let reason = cell.reason.as_deref().unwrap_or("no reason");
            text += &format!("  {}: {}: {reason}\n", cell.op, cell.state.text());
        }
    }
    text + &table::absent(report)
}
