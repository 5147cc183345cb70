//! The `bench` command: arguments in, reports out.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};

use crate::manifest::{self, Manifest, OURS};
use crate::ops::{self, Op};
use crate::race::{self, Plan};
use crate::report::{html, markdown, table};
use crate::result::Report;
use crate::schedule::Settings;
use crate::{compare, doctor, result};

/// Race Lydite against its peers.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BenchArgs {
    #[command(subcommand)]
    command: Option<BenchCommand>,
    /// Families to run (ethereum, secp256k1, syrup, precompiles, xmss, alloy, bindings, all); without one, the published reports' rows
    family: Vec<String>,
    #[command(flatten)]
    rows: Rows,
    #[command(flatten)]
    choice: Choice,
    /// Minutes: quick variants, few launches (the default)
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Every variant, many launches
    #[arg(long)]
    full: bool,
    /// Rate that gas prices are held against, in millions of gas a second
    #[arg(long, value_name = "MGAS")]
    anchor: Option<f64>,
    /// Where result.json, report.md and report.html go
    #[arg(long, value_name = "DIR", default_value = "bench-out")]
    out: PathBuf,
}

#[derive(Args, Debug)]
struct Rows {
    /// Only operations that match, of all families (`*` and `?`; several by comma)
    #[arg(long, value_name = "GLOB")]
    ops: Option<String>,
}

#[derive(Args, Debug)]
struct Choice {
    /// Only these contenders, by comma; ours (--ours) always runs
    #[arg(long, value_name = "LIST")]
    contenders: Option<String>,
    /// The contender that the others are held against
    #[arg(long, value_name = "NAME", default_value = OURS)]
    ours: String,
    /// A contender outside the tree: its contender.toml
    #[arg(long, value_name = "FILE")]
    contender: Vec<PathBuf>,
}

#[derive(Subcommand, Debug)]
enum BenchCommand {
    /// Which contenders can run here, and what the others miss
    Doctor(Choice),
    /// What changed from one result.json to another
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
    /// Write the reports of a result.json again, with the reasons that arena/losses.toml gives by now
    Report {
        /// A result.json
        result: PathBuf,
    },
    /// Print the JSON schema of result.json
    Schema,
}

/// Runs the command: what it has to say.
pub fn run(args: &BenchArgs) -> Result<String> {
    match &args.command {
        None => race(args),
        Some(BenchCommand::Check { rows, choice }) => check(rows, choice),
        Some(BenchCommand::Doctor(choice)) => Ok(doctor::render(&contenders(choice)?)),
        Some(BenchCommand::Compare { a, b }) => compare::render(&read(a)?, &read(b)?),
        Some(BenchCommand::Report { result }) => {
            let mut report = read(result)?;
            race::explain(&mut report, &manifest::arena_folder()?)?;
            let folder = result.parent().context("no folder")?;
            std::fs::write(folder.join("report.md"), markdown::render(&report))?;
            std::fs::write(folder.join("report.html"), html::render(&report)?)?;
            Ok(format!("{}\n", folder.join("report.html").display()))
        }
        Some(BenchCommand::Schema) => Ok(result::schema()),
    }
}

fn read(path: &PathBuf) -> Result<Report> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

/// The contenders asked for; ours first.
fn contenders(choice: &Choice) -> Result<Vec<Manifest>> {
    let mut found = manifest::discover(&manifest::arena_folder()?)?;
    if let Some(list) = &choice.contenders {
        let names: Vec<&str> = list.split(',').map(str::trim).collect();
        if let Some(unknown) = names
            .iter()
            .find(|name| !found.iter().any(|m| m.name == **name))
        {
            let known: Vec<&str> = found.iter().map(|m| m.name.as_str()).collect();
            bail!("no contender {unknown:?}; there are: {}", known.join(", "));
        }
        found.retain(|manifest| {
            manifest.name == choice.ours || names.contains(&manifest.name.as_str())
        });
    } else {
        found.retain(|manifest| manifest.name == choice.ours || !manifest.on_request);
    }
    for file in &choice.contender {
        let manifest = Manifest::read(file)?;
        if found.iter().any(|other| other.name == manifest.name) {
            bail!(
                "{}: there is a contender {:?} already",
                file.display(),
                manifest.name
            );
        }
        found.push(manifest);
    }
    let Some(at) = found.iter().position(|m| m.name == choice.ours) else {
        bail!("--ours {}: no such contender", choice.ours);
    };
    found[..=at].rotate_right(1);
    Ok(found)
}

/// The rows asked for; without a wish those of the reports, or all.
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

fn check(rows: &Rows, choice: &Choice) -> Result<String> {
    let report = race::run(&Plan {
        arena: &manifest::arena_folder()?,
        ops: &chosen(&[], rows, true, false)?,
        manifests: &contenders(choice)?,
        ours: &choice.ours,
        quick: true,
        settings: Settings::quick(),
        command: String::new(),
        anchor: None,
        check_only: true,
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
    let report = race::run(&Plan {
        arena: &manifest::arena_folder()?,
        ops: &chosen(&args.family, &args.rows, false, args.full)?,
        manifests: &contenders(&args.choice)?,
        ours: &args.choice.ours,
        quick,
        settings: if quick {
            Settings::quick()
        } else {
            Settings::full()
        },
        command: command(args),
        anchor: args.anchor,
        check_only: false,
    })?;
    std::fs::create_dir_all(&args.out).with_context(|| format!("create {}", args.out.display()))?;
    let path = |name: &str| args.out.join(name);
    std::fs::write(path("result.json"), serde_json::to_string(&report)?)?;
    std::fs::write(path("report.md"), markdown::render(&report))?;
    std::fs::write(path("report.html"), html::render(&report)?)?;
    Ok(format!(
        "{}\n{:.0} s; {}, {}\nreport: {}\n",
        table::render(&report, std::io::stdout().is_terminal()),
        report.run.seconds,
        path("result.json").display(),
        path("report.md").display(),
        std::path::absolute(path("report.html"))?.display()
    ))
}

/// The command that repeats the run, without paths of this machine.
fn command(args: &BenchArgs) -> String {
    let mut words = vec!["cargo run --release -- bench".to_owned()];
    words.extend(args.family.iter().cloned());
    if args.full {
        words.push("--full".into());
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
