//! The `bench` command.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};

use crate::family::precompiles::search::{self, Space};
use crate::instructions::Counter;
use crate::manifest::{self, Manifest, OURS};
use crate::ops::{self, Op};
use crate::race::{self, Plan};
use crate::records::{self, Known};
use crate::report::{gas, gasfit, html, markdown, pages, plain, site, table};
use crate::result::Report;
use crate::schedule::Settings;
use crate::{aa, builder, compare, doctor, instructions, profile, result, worst};

/// Race Lydite against its peers.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BenchArgs {
    #[command(subcommand)]
    command: Option<BenchCommand>,
    /// Families to run (ethereum, secp256k1, syrup, precompiles, xmss, block, bindings, bulk, captp, all); without one, the published reports' rows
    family: Vec<String>,
    #[command(flatten)]
    rows: Rows,
    #[command(flatten)]
    choice: Choice,
    /// Run quick variants with few launches, which takes minutes (the default)
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Run every variant with many launches
    #[arg(long)]
    full: bool,
    /// Race also the contenders that no record shows as the fastest of one of the reports' rows
    #[arg(long)]
    all: bool,
    /// Run exactly this many launches: two show that everything runs, more give verdicts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    launches: Option<u32>,
    /// Rate that gas prices are compared with, in millions of gas per second
    #[arg(long, value_name = "MGAS")]
    anchor: Option<f64>,
    /// Folder for result.json, report.md and report.html
    #[arg(long, value_name = "DIR", default_value = "bench-out")]
    out: PathBuf,
}

#[derive(Args, Debug)]
struct Rows {
    /// Run only matching operations of all families (`*` and `?`; separated by commas), including those that run on
    /// request only (`eest_*`, `worst_*`)
    #[arg(long, value_name = "GLOB")]
    ops: Option<String>,
}

#[derive(Args, Debug)]
struct Choice {
    /// Run only these contenders, separated by commas; NAME/VARIANT is one build of one. Ours (--ours) always runs
    #[arg(long, value_name = "LIST")]
    contenders: Option<String>,
    /// The contender that the others are compared with
    #[arg(long, value_name = "NAME", default_value = OURS)]
    ours: String,
    /// The contender.toml of a contender outside the tree
    #[arg(long, value_name = "FILE")]
    contender: Vec<PathBuf>,
}

#[derive(Subcommand, Debug)]
enum BenchCommand {
    /// Show which contenders can run here, and what the others lack
    Doctor(Choice),
    /// Compare two result.json files
    Compare {
        /// The older result.json
        a: PathBuf,
        /// The newer one
        b: PathBuf,
    },
    /// Build and check contenders on every operation, without the race
    Check {
        #[command(flatten)]
        rows: Rows,
        #[command(flatten)]
        choice: Choice,
    },
    /// Judge a result.json again from its raw batches by the current rules, and write its reports, with the current
    /// reasons in arena/losses.toml
    Report {
        /// A result.json
        result: PathBuf,
    },
    /// Show what each parameter of the gas schedule would cost at several rates, by the slowest implementation in a
    /// result.json
    Gas {
        /// A result.json with rows of the family precompiles
        result: PathBuf,
        /// Only these contenders, separated by commas
        #[arg(long, value_name = "LIST")]
        contenders: Option<String>,
        /// Write the input files of another tool to a folder; the only format is evm-gasfit (runtime.csv, opcounts.json)
        #[arg(long, num_args = 2, value_names = ["FORMAT", "DIR"])]
        export: Option<Vec<PathBuf>>,
    },
    /// Search for the inputs on which each contender's precompiles do the least gas per second
    ///
    /// The table shows the slowest input of each precompile and contender, followed by the inputs as rows for
    /// arena/ops/worst.toml. Contenders outside the family precompiles are left out.
    Worst {
        /// Precompiles, such as modexp or bls_g1msm (default: all whose outputs the arena can compute)
        precompiles: Vec<String>,
        #[command(flatten)]
        choice: Choice,
        /// Number of inputs to try for each precompile and contender
        #[arg(long, value_name = "N", default_value = "300")]
        tries: NonZeroUsize,
        /// Seed of the inputs
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Race copies of our own contender, to find how often a verdict is false and how often 3 % and 5 % are detected
    Aa {
        /// Families to run, as for a race
        family: Vec<String>,
        #[command(flatten)]
        rows: Rows,
        /// Number of copies; each has a cell in every row
        #[arg(long, default_value_t = 4)]
        copies: usize,
        /// Use the settings of a full run
        #[arg(long)]
        full: bool,
        /// Folder for result.json
        #[arg(long, value_name = "DIR", default_value = "bench-out")]
        out: PathBuf,
    },
    /// Count the instructions of each row of our contender with callgrind (needs valgrind; not a measure of time)
    Instructions {
        #[command(flatten)]
        rows: Rows,
        /// Count also these contenders, separated by commas, in their builds by Cargo that are not for this CPU
        #[arg(long, value_name = "LIST")]
        contenders: Option<String>,
        /// Count on this emulated machine instead (needs QEMU and a cross-compiler; QEMU_CPU selects its CPU)
        #[arg(long, value_name = "MACHINE", value_parser = instructions::MACHINES)]
        emulated: Option<String>,
        /// Compare two outputs of this command instead
        #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["ops", "contenders", "emulated"])]
        compare: Option<Vec<PathBuf>>,
    },
    /// Show in which functions our contender spends its time on a row (needs perf)
    Profile {
        /// The row
        row: String,
        /// Time to sample, in seconds
        #[arg(long, default_value_t = 5)]
        seconds: u64,
        /// Folder for perf.data
        #[arg(long, value_name = "DIR", default_value = "bench-out")]
        out: PathBuf,
    },
    /// Write docs/results and the table of the README from arena/records, and the tables of operations
    Docs,
    /// Write static pages of all records, and of the given results, to a folder
    Site {
        /// The folder, created if necessary; open its index.html
        out: PathBuf,
        /// Further result.json files
        results: Vec<PathBuf>,
    },
    /// Print the JSON schema of result.json
    Schema,
}

/// Runs the command; returns the text to print.
pub fn run(args: &BenchArgs) -> Result<String> {
    match &args.command {
        None => race(args),
        Some(BenchCommand::Check { rows, choice }) => check(rows, choice),
        Some(BenchCommand::Doctor(choice)) => Ok(doctor::render(&contenders(choice)?)),
        Some(BenchCommand::Compare { a, b }) => compare::render(&read(a)?, &read(b)?),
        Some(BenchCommand::Report { result }) => {
            let mut report = read(result)?;
            race::judge(&mut report);
            race::explain(&mut report, &manifest::arena_folder()?)?;
            let folder = result.parent().context("no folder")?;
            std::fs::write(folder.join("report.md"), markdown::render(&report))?;
            std::fs::write(folder.join("report.html"), html::render(&report)?)?;
            Ok(format!("{}\n", folder.join("report.html").display()))
        }
        Some(BenchCommand::Gas {
            result,
            contenders,
            export,
        }) => {
            let mut report = read(result)?;
            if let Some(list) = contenders {
                only(&mut report, list)?;
            }
            let mut text = table::gas(&gas::parameters(&report).context("no rows of precompiles")?);
            if let Some([format, folder]) = export.as_deref() {
                if format.as_os_str() != "evm-gasfit" {
                    bail!("unknown format {}; expected evm-gasfit", format.display());
                }
                let files = gasfit::render(&report)?;
                write(folder, &files)?;
                for file in files {
                    text += &format!("{}\n", folder.join(file.path).display());
                }
            }
            Ok(text)
        }
        Some(BenchCommand::Worst {
            precompiles,
            choice,
            tries,
            seed,
        }) => worst(precompiles, choice, tries.get(), *seed),
        Some(BenchCommand::Aa {
            family,
            rows,
            copies,
            full,
            out,
        }) => {
            let arena = manifest::arena_folder()?;
            let report = race::run(&Plan {
                arena: &arena,
                ops: &chosen(family, rows, false, false)?,
                manifests: &aa::manifests(&ours()?, *copies),
                known: &records::known(&arena, OURS)?,
                ours: OURS,
                quick: !full,
                settings: if *full {
                    Settings::full()
                } else {
                    Settings::quick()
                },
                command: "bench aa".into(),
                anchor: None,
                check_only: false,
                progress: None,
            })?;
            std::fs::create_dir_all(out).with_context(|| format!("create {}", out.display()))?;
            std::fs::write(out.join("result.json"), serde_json::to_string(&report)?)?;
            Ok(aa::summary(&report))
        }
        Some(BenchCommand::Instructions {
            compare: Some(files),
            ..
        }) => instructions::compare(&files[0], &files[1]),
        Some(BenchCommand::Instructions {
            rows,
            contenders,
            emulated,
            ..
        }) => count(rows, contenders.as_deref(), emulated.as_deref()),
        Some(BenchCommand::Profile { row, seconds, out }) => {
            let op = ops::catalogue().iter().find(|op| op.id == *row);
            let op = op.with_context(|| format!("unknown row `{row}`; see arena/ops"))?;
            std::fs::create_dir_all(out).with_context(|| format!("create {}", out.display()))?;
            let data = std::path::absolute(out)?.join("perf.data");
            profile::render(&built_ours()?, op, Duration::from_secs(*seconds), &data)
        }
        Some(BenchCommand::Docs) => {
            let arena = manifest::arena_folder()?;
            let root = arena.parent().context("the arena has no parent folder")?;
            let pages = pages::render(root)?;
            write(root, &pages)?;
            Ok(format!("{} files written\n", pages.len()))
        }
        Some(BenchCommand::Site { out, results }) => {
            write(out, &site::render(&manifest::arena_folder()?, results)?)?;
            Ok(format!("{}\n", out.join("index.html").display()))
        }
        Some(BenchCommand::Schema) => Ok(result::schema()),
    }
}

/// Counts the instructions of our contender and of those named.
fn count(rows: &Rows, contenders: Option<&str>, emulated: Option<&str>) -> Result<String> {
    let ops = chosen(&[], rows, false, false)?;
    let counter = emulated.map_or_else(Counter::callgrind, Counter::emulated)?;
    let arena = manifest::arena_folder()?;
    let choice = Choice {
        contenders: Some(contenders.unwrap_or(OURS).to_owned()),
        ours: OURS.to_owned(),
        contender: Vec::new(),
    };
    let found: Result<Vec<Manifest>> = rivals(&choice, &ops, &Known::default())?
        .into_iter()
        .map(|manifest| counter.builds(manifest))
        .collect();
    let found = found?;
    let jobs: Vec<builder::Job<'_>> = found
        .iter()
        .flat_map(|manifest| {
            let job = |variant| builder::Job { manifest, variant };
            manifest.variants.iter().map(job)
        })
        .collect();
    let mut failures = String::new();
    let mut built = Vec::new();
    for (job, failure) in jobs.iter().zip(builder::build(&jobs, &arena)?) {
        match failure {
            None => built.push(*job),
            Some(reason) if job.manifest.name == OURS => bail!("{reason}"),
            Some(reason) => {
                failures += &format!(
                    "# {}/{}: {}\n",
                    job.manifest.name,
                    job.variant.name,
                    plain(&reason)
                );
            }
        }
    }
    Ok(failures + &instructions::render(&counter, &built, &ops)?)
}

/// Searches the selected contenders one after the other, in their first variant.
fn worst(precompiles: &[String], choice: &Choice, tries: usize, seed: u64) -> Result<String> {
    let mut spaces = search::spaces()?;
    let known: Vec<&str> = spaces.iter().map(Space::name).collect();
    if let Some(unknown) = precompiles
        .iter()
        .find(|name| !known.contains(&name.as_str()))
    {
        bail!(
            "unknown precompile {unknown}; expected one of: {}",
            known.join(", ")
        );
    }
    spaces.retain(|space| {
        precompiles.is_empty() || precompiles.iter().any(|name| name == space.name())
    });
    let rows: Vec<Op> = ops::catalogue()
        .iter()
        .filter(|op| op.family == "precompiles")
        .cloned()
        .collect();
    let arena = manifest::arena_folder()?;
    let rivals = rivals(choice, &rows, &records::known(&arena, &choice.ours)?)?;
    let (mut finds, mut failures) = (Vec::new(), String::new());
    for mut manifest in rivals {
        manifest.variants.truncate(1);
        let Some(variant) = manifest.variants.first() else {
            continue;
        };
        let job = builder::Job {
            manifest: &manifest,
            variant,
        };
        let found = match builder::build(&[job], &arena)?.remove(0) {
            Some(reason) => Err(anyhow::anyhow!(reason)),
            None => worst::search(&manifest, &spaces, tries, seed),
        };
        match found {
            Ok(found) => finds.extend(found),
            Err(error) => failures += &format!("{}: {error:#}\n", manifest.name),
        }
    }
    Ok(worst::render(&mut finds) + &failures)
}

/// Leaves only the named contenders in a result.
fn only(report: &mut Report, list: &str) -> Result<()> {
    let names: Vec<&str> = list.split(',').map(str::trim).collect();
    let known = |name: &&str| report.contenders.iter().any(|found| found.name == *name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        bail!("no contender {unknown:?} in this result");
    }
    let named = |contender: &result::Contender| names.contains(&contender.name.as_str());
    report.contenders.retain(named);
    Ok(())
}

/// Writes pages below a folder.
fn write(root: &Path, pages: &[pages::Page]) -> Result<()> {
    for page in pages {
        let path = root.join(&page.path);
        let folder = path.parent().context("no folder")?;
        std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        std::fs::write(&path, &page.text).with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

/// Our contender's stock build, built if it is not up to date.
fn built_ours() -> Result<Manifest> {
    let ours = aa::manifests(&ours()?, 0).remove(0);
    let jobs = [builder::Job {
        manifest: &ours,
        variant: &ours.variants[0],
    }];
    match builder::build(&jobs, &manifest::arena_folder()?)?.remove(0) {
        Some(reason) => bail!("{reason}"),
        None => Ok(ours),
    }
}

/// Our own contender.
fn ours() -> Result<Manifest> {
    let found = manifest::discover(&manifest::arena_folder()?)?;
    found
        .into_iter()
        .find(|m| m.name == OURS)
        .context("the tree has no contender of ours")
}

fn read(path: &PathBuf) -> Result<Report> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

/// The selected contenders that have rows among `ops`, ours first.
fn rivals(choice: &Choice, ops: &[Op], known: &Known) -> Result<Vec<Manifest>> {
    let mut found = contenders(choice)?;
    // Without a choice, a contender that has none of the rows in any record is not built for them.
    let takes_part = |manifest: &Manifest| {
        let offered: Vec<&Op> = ops.iter().filter(|op| manifest.is_in(&op.family)).collect();
        manifest.name == choice.ours
            || manifest.foreign
            || !offered.is_empty()
                && (choice.contenders.is_some() || !known.lacks(&manifest.name, &offered))
    };
    if choice.contenders.is_some()
        && let Some(idle) = found.iter().find(|manifest| !takes_part(manifest))
    {
        bail!(
            "contender {:?} has none of the selected rows; its families: {}",
            idle.name,
            idle.families.join(", ")
        );
    }
    found.retain(takes_part);
    Ok(found)
}

/// The selected contenders, ours first.
fn contenders(choice: &Choice) -> Result<Vec<Manifest>> {
    let mut found = manifest::discover(&manifest::arena_folder()?)?;
    for file in &choice.contender {
        let mut manifest = Manifest::read(file)?;
        manifest.foreign = true;
        if found.iter().any(|other| other.name == manifest.name) {
            bail!(
                "{}: there is a contender {:?} already",
                file.display(),
                manifest.name
            );
        }
        found.push(manifest);
    }
    if let Some(list) = &choice.contenders {
        // By name, with the variants that are named.
        let mut chosen: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for entry in list.split(',').map(str::trim) {
            let (name, variant) = match entry.split_once('/') {
                Some((name, variant)) => (name, Some(variant)),
                None => (entry, None),
            };
            let Some(manifest) = found.iter().find(|m| m.name == name) else {
                let known: Vec<&str> = found.iter().map(|m| m.name.as_str()).collect();
                bail!(
                    "no contender {name:?}; expected one of: {}",
                    known.join(", ")
                );
            };
            let known: Vec<&str> = manifest.variants.iter().map(|v| v.name.as_str()).collect();
            if let Some(variant) = variant.filter(|variant| !known.contains(variant)) {
                bail!(
                    "no variant {variant:?} of {name}; expected one of: {}",
                    known.join(", ")
                );
            }
            chosen.entry(name).or_default().extend(variant);
        }
        // A contender outside the tree was selected by its file.
        found.retain(|manifest| {
            let name = manifest.name.as_str();
            name == choice.ours || manifest.foreign || chosen.contains_key(name)
        });
        for manifest in &mut found {
            let named = chosen.get(manifest.name.as_str());
            let Some(named) = named.filter(|variants| !variants.is_empty()) else {
                continue;
            };
            manifest
                .variants
                .retain(|variant| named.contains(&variant.name.as_str()));
            for variant in &mut manifest.variants {
                variant.quick = true;
            }
        }
    } else {
        found.retain(|manifest| {
            manifest.name == choice.ours || !manifest.on_request || manifest.foreign
        });
    }
    let Some(at) = found.iter().position(|m| m.name == choice.ours) else {
        bail!("--ours {}: no such contender", choice.ours);
    };
    found[..=at].rotate_right(1);
    Ok(found)
}

/// The selected rows; without a selection those of the reports, or all.
fn chosen(families: &[String], rows: &Rows, all: bool, full: bool) -> Result<Vec<Op>> {
    let globs = rows.ops.as_deref();
    let known = ops::families();
    if let Some(unknown) = families
        .iter()
        .find(|f| *f != "all" && !known.contains(&f.as_str()))
    {
        bail!(
            "no family {unknown:?}; there are: {}, all",
            known.join(", ")
        );
    }
    let rows: Vec<Op> = ops::catalogue()
        .iter()
        .filter(|op| match families {
            [] if globs.is_some() || all => true,
            [] => op.report,
            _ => families
                .iter()
                .any(|family| family == "all" || *family == op.family),
        })
        .filter(|op| full || !op.full)
        .filter(|op| globs.is_some() || !op.on_request)
        .filter(|op| {
            globs.is_none_or(|globs| globs.split(',').any(|glob| ops::glob(glob.trim(), &op.id)))
        })
        .cloned()
        .collect();
    if rows.is_empty() {
        bail!("no operation matches");
    }
    Ok(rows)
}

/// Leaves out every variant that does not lead the rows in the records, if there are records.
fn leave_out(manifests: &mut [Manifest], ours: &str, ops: &[Op], known: &Known) {
    let leaders = known.leaders(ops);
    if leaders.is_empty() {
        return;
    }
    for manifest in manifests
        .iter_mut()
        .filter(|m| m.name != ours && !m.foreign)
    {
        let leader = leaders.get(manifest.name.as_str());
        for variant in &mut manifest.variants {
            variant.left_out = leader != Some(&variant.name.as_str());
        }
    }
}

fn check(rows: &Rows, choice: &Choice) -> Result<String> {
    let arena = manifest::arena_folder()?;
    let ops = chosen(&[], rows, true, false)?;
    let report = race::run(&Plan {
        arena: &arena,
        ops: &ops,
        manifests: &rivals(choice, &ops, &records::known(&arena, &choice.ours)?)?,
        known: &Known::default(),
        ours: &choice.ours,
        quick: true,
        // Slow contenders may take longer, as there are no repetitions.
        settings: Settings {
            deadline: Settings::full().deadline,
            ..Settings::quick()
        },
        command: String::new(),
        anchor: None,
        check_only: true,
        progress: None,
    })?;
    Ok(doctor::checked(&report))
}

fn race(args: &BenchArgs) -> Result<String> {
    if let Some(anchor) = args
        .anchor
        .filter(|anchor| !(*anchor > 0.0 && anchor.is_finite()))
    {
        bail!("--anchor {anchor}: a rate above zero");
    }
    let quick = !args.full;
    let mut settings = if quick {
        Settings::quick()
    } else {
        Settings::full()
    };
    if let Some(launches) = args.launches {
        (settings.launches, settings.most_launches) = (launches, launches);
    }
    let show = |report: &Report, family: &str| {
        let rows = table::rows(report, family, std::io::stdout().is_terminal());
        println!("{family}\n{rows}");
    };
    let arena = manifest::arena_folder()?;
    let ops = chosen(&args.family, &args.rows, false, args.full)?;
    let known = records::known(&arena, &args.choice.ours)?;
    let mut manifests = rivals(&args.choice, &ops, &known)?;
    let of_reports = args.family.is_empty() && args.rows.ops.is_none();
    if of_reports && args.choice.contenders.is_none() && quick && !args.all {
        leave_out(&mut manifests, &args.choice.ours, &ops, &known);
    }
    let report = race::run(&Plan {
        arena: &arena,
        ops: &ops,
        manifests: &manifests,
        known: &known,
        ours: &args.choice.ours,
        quick,
        settings,
        command: command(args),
        anchor: args.anchor,
        check_only: false,
        progress: Some(&show),
    })?;
    std::fs::create_dir_all(&args.out).with_context(|| format!("create {}", args.out.display()))?;
    let path = |name: &str| args.out.join(name);
    std::fs::write(path("result.json"), serde_json::to_string(&report)?)?;
    std::fs::write(path("report.md"), markdown::render(&report))?;
    std::fs::write(path("report.html"), html::render(&report)?)?;
    Ok(format!(
        "{}\n{:.0} s; {}, {}\nreport: {}\n",
        table::summary(&report),
        report.run.seconds,
        path("result.json").display(),
        path("report.md").display(),
        std::path::absolute(path("report.html"))?.display()
    ))
}

/// The command that repeats the run, without local paths.
fn command(args: &BenchArgs) -> String {
    let mut words = vec!["cargo run --release -- bench".to_owned()];
    words.extend(args.family.iter().cloned());
    if args.full {
        words.push("--full".into());
    }
    if args.all {
        words.push("--all".into());
    }
    if let Some(anchor) = args.anchor {
        words.push(format!("--anchor {anchor}"));
    }
    if let Some(globs) = &args.rows.ops {
        words.push(format!("--ops '{globs}'"));
    }
    if let Some(list) = &args.choice.contenders {
        words.push(format!("--contenders {list}"));
    }
    if args.choice.ours != OURS {
        words.push(format!("--ours {}", args.choice.ours));
    }
    for file in &args.choice.contender {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        words.push(format!("--contender …/{name}"));
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_contender_outside_the_tree_can_be_named() {
        let folder = std::env::temp_dir().join(format!("arena-outside-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("contender.toml");
        std::fs::write(
            &file,
            "name = \"outsider\"\n[[variants]]\nname = \"only\"\nrun = [\"./x\"]\n",
        )
        .unwrap();
        let choice = |list: Option<&str>| Choice {
            contenders: list.map(str::to_owned),
            ours: OURS.to_owned(),
            contender: vec![file.clone()],
        };
        let names = |list| -> Vec<(String, bool)> {
            let found = contenders(&choice(list)).unwrap();
            found.into_iter().map(|m| (m.name, m.foreign)).collect()
        };
        let ours = (OURS.to_owned(), false);
        let outsider = ("outsider".to_owned(), true);
        assert_eq!(names(Some("outsider")), [ours.clone(), outsider.clone()]);
        let alloy = ("alloy".to_owned(), false);
        assert_eq!(names(Some("alloy")), [ours, alloy, outsider.clone()]);
        assert!(names(None).contains(&outsider));
        let error = contenders(&choice(Some("outsider,nobody")))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("no contender \"nobody\"") && error.contains("outsider"),
            "{error}"
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_variant_can_be_named() {
        let named = |list: &str| {
            contenders(&Choice {
                contenders: Some(list.to_owned()),
                ours: OURS.to_owned(),
                contender: Vec::new(),
            })
        };
        let variants = |list| -> Vec<String> {
            let mut found = named(list).unwrap();
            let peer = found.remove(1);
            assert!(found[0].variants.len() > 1, "all variants of ours");
            let quick = peer.variants(true).into_iter();
            quick.map(|variant| variant.name.clone()).collect()
        };
        assert_eq!(variants("zig-std/baseline"), ["baseline"]);
        assert_eq!(variants("zig-std/v3, zig-std/baseline").len(), 2);
        let error = named("zig-std/nothing").unwrap_err().to_string();
        assert!(
            error.contains("no variant \"nothing\" of zig-std") && error.contains("baseline"),
            "{error}"
        );
    }

    #[test]
    fn a_result_can_be_limited_to_contenders() {
        let mut report = crate::report::example("x");
        assert!(only(&mut report, "x2,nobody").is_err());
        only(&mut report, "x2").unwrap();
        assert_eq!(report.contenders.len(), 1);
        assert_eq!(report.contenders[0].name, "x2");
    }

    #[test]
    fn only_leading_variants_take_part() {
        let op = ops::catalogue().iter().find(|op| op.id == "keccak256_32b");
        let ops = [op.unwrap().clone()];
        let manifest = |name: &str| {
            let text = format!(
                "name = {name:?}\n[[variants]]\nname = \"a\"\nrun = [\"x\"]\n[[variants]]\nname = \"b\"\nrun = [\"x\"]\n"
            );
            Manifest::parse(&text, PathBuf::new()).unwrap()
        };
        let left_out = |known: &Known| -> Vec<Vec<bool>> {
            let mut found = [OURS, "leader", "other", "outsider"].map(manifest);
            found[3].foreign = true;
            leave_out(&mut found, OURS, &ops, known);
            assert_eq!(found[2].is_left_out(), !known.peers.is_empty());
            let variants = |m: &Manifest| m.variants.iter().map(|v| v.left_out).collect();
            found.iter().map(variants).collect()
        };
        let mut known = Known::default();
        assert_eq!(left_out(&known), [[false; 2]; 4]);
        let peer = ("leader".to_owned(), "b".to_owned());
        known.peers.insert(ops[0].id.clone(), peer);
        let expected = [[false, false], [true, false], [true, true], [false, false]];
        assert_eq!(left_out(&known), expected);
    }
}
