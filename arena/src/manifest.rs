//! Contender manifests: `arena/contenders/<peer>/contender.toml`, or any file given with `--contender`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

/// A required tool and how to check for it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// A command that prints the tool's version.
    pub command: Vec<String>,
    /// A regular expression that its output must match.
    pub pattern: String,
    /// A hint for the user if it does not.
    #[serde(default)]
    pub hint: String,
}

/// One way to build and run a contender.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// `stock`, `v3`, `native`, …
    pub name: String,
    /// Whether quick mode runs it.
    #[serde(default)]
    pub quick: bool,
    /// Whether this run leaves it out.
    #[serde(skip)]
    pub left_out: bool,
    /// Tools that only this variant requires.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Environment of the build and of the run.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Folder of the build commands, relative to the manifest.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// Build commands, run one after another.
    #[serde(default)]
    pub build: Vec<Vec<String>>,
    /// The command of the process. A program with a slash is relative to the manifest, and each launch runs a copy of
    /// it.
    pub run: Vec<String>,
    /// Further files, relative to the manifest, that each launch gets a copy of: compiled code that `run` names. Every
    /// occurrence in `run` is replaced by the path of the copy.
    #[serde(default)]
    pub copies: Vec<String>,
}

/// A contender.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Row label, unique.
    pub name: String,
    /// Language of its users.
    #[serde(default)]
    pub language: String,
    /// Version of the library, as pinned in its lock file.
    #[serde(default)]
    pub version: String,
    /// SPDX expression.
    #[serde(default)]
    pub license: String,
    /// Home page of the library.
    #[serde(default)]
    pub home: String,
    /// Notes needed to judge its results.
    #[serde(default)]
    pub notes: String,
    /// Families in which it has rows; none means all. It is only built for these.
    #[serde(default)]
    pub families: Vec<String>,
    /// Whether it only takes part if `--contenders` or `--ours` names it.
    #[serde(default)]
    pub on_request: bool,
    /// Whether it does less than the operations and shows a floor for them. It is compared with ours, but not scored.
    #[serde(default)]
    pub floor: bool,
    /// Whether it is another package of this library. It is compared with ours, but not scored.
    #[serde(default)]
    pub own: bool,
    /// Further files and folders, relative to the manifest, that require a new build when they change.
    #[serde(default)]
    pub sources: Vec<PathBuf>,
    /// Required tools.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Variants; at least one unless the contender only publishes numbers.
    #[serde(default)]
    pub variants: Vec<Variant>,
    /// Numbers published elsewhere, in nanoseconds per operation.
    #[serde(default)]
    pub published: BTreeMap<String, f64>,
    /// The manifest's folder.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Whether it comes from outside the tree (`--contender`), so that its adapter has not been reviewed.
    #[serde(skip)]
    pub foreign: bool,
}

/// The name of our own adapter, the `a` side of every pair.
pub const OURS: &str = "lydite";

impl Manifest {
    /// Reads and checks one manifest.
    pub fn read(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        let folder = std::path::absolute(path)?
            .parent()
            .map(Path::to_path_buf)
            .context("the manifest has no folder")?;
        Self::parse(&text, folder).with_context(|| path.display().to_string())
    }

    /// The first variant, its program and its arguments.
    pub fn first(&self) -> Result<(&Variant, PathBuf, &[String])> {
        let variant = self.variants.first();
        let variant = variant.context("the manifest has no variant")?;
        let [program, args @ ..] = variant.run.as_slice() else {
            bail!("the manifest's `run` is empty");
        };
        Ok((variant, self.folder.join(program), args))
    }

    /// Parses the text of a manifest in `folder`.
    pub fn parse(text: &str, folder: PathBuf) -> Result<Self> {
        let mut manifest: Self = toml::from_str(text)?;
        manifest.folder = folder;
        let plain = |name: &str| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"-_.+".contains(&b))
        };
        if !plain(&manifest.name) {
            bail!("name {:?}: letters, digits and -_.+ only", manifest.name);
        }
        for (index, variant) in manifest.variants.iter().enumerate() {
            if !plain(&variant.name) {
                bail!("variant {:?}: letters, digits and -_.+ only", variant.name);
            }
            if manifest.variants[..index]
                .iter()
                .any(|v| v.name == variant.name)
            {
                bail!("variant {:?} is there twice", variant.name);
            }
            if variant.run.is_empty() {
                bail!("variant {:?}: `run` is empty", variant.name);
            }
        }
        let of_variants = manifest.variants.iter().flat_map(|variant| &variant.needs);
        for need in manifest.needs.iter().chain(of_variants) {
            regex_lite::Regex::new(&need.pattern)
                .with_context(|| format!("needs: pattern {:?}", need.pattern))?;
            if need.command.is_empty() {
                bail!("needs: `command` is empty");
            }
        }
        Ok(manifest)
    }

    /// The first missing tool of the contender: `(what, hint)`.
    pub fn missing(&self) -> Option<(String, String)> {
        missing(&self.needs, &self.folder)
    }

    /// The first missing tool that only this variant requires.
    pub fn missing_for(&self, variant: &Variant) -> Option<(String, String)> {
        missing(&variant.needs, &self.folder)
    }

    /// Whether it may have rows in a family.
    pub fn is_in(&self, family: &str) -> bool {
        self.families.is_empty() || self.families.iter().any(|name| name == family)
    }

    /// Whether the run leaves out all its variants.
    pub fn is_left_out(&self) -> bool {
        !self.variants.is_empty() && self.variants.iter().all(|variant| variant.left_out)
    }

    /// The variants of a mode: in quick mode those marked quick, or the first if none is; otherwise all.
    pub fn variants(&self, quick: bool) -> Vec<&Variant> {
        if !quick || !self.variants.iter().any(|v| v.quick) {
            let count = if quick { 1 } else { self.variants.len() };
            return self.variants.iter().take(count).collect();
        }
        self.variants.iter().filter(|v| v.quick).collect()
    }
}

/// The first missing tool: `(what, hint)`.
pub fn missing(needs: &[Need], folder: &Path) -> Option<(String, String)> {
    needs.iter().find_map(|need| {
        let reason = check(need, folder).err()?;
        Some((reason.to_string(), need.hint.clone()))
    })
}

/// Runs the command of a need and matches its output; returns the matching line, which gives the tool's version.
pub fn check(need: &Need, folder: &Path) -> Result<String> {
    let pattern = regex_lite::Regex::new(&need.pattern)?;
    let name = need.command.join(" ");
    let program = &need.command[0];
    let program = if program.contains('/') {
        folder.join(program)
    } else {
        which::which(program).map_err(|_| anyhow::anyhow!("`{program}` is not installed"))?
    };
    let mut child = Command::new(program)
        .args(&need.command[1..])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{name}`"))?;
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed() > Duration::from_secs(30) {
            child.kill()?;
            child.wait()?;
            bail!("`{name}` does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output()?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    match text.lines().find(|line| pattern.is_match(line)) {
        Some(line) => Ok(line.trim().to_owned()),
        None => bail!(
            "`{name}` says {:?}, wanted {}",
            text.lines().next().unwrap_or("nothing").trim(),
            need.pattern
        ),
    }
}

/// The arena's folder: that of the clone around the current directory, or of the clone this program was built from.
pub fn arena_folder() -> Result<PathBuf> {
    let here = std::env::current_dir()?;
    here.ancestors()
        .map(|folder| folder.join("arena"))
        .chain([PathBuf::from(env!("CARGO_MANIFEST_DIR"))])
        .find(|arena| arena.join("ops").is_dir())
        .context("run `lydite bench` inside a clone of the repository: the contenders live there")
}

/// All manifests in the tree, ours first, then by name.
pub fn discover(arena: &Path) -> Result<Vec<Manifest>> {
    let mut found = Vec::new();
    let folder = arena.join("contenders");
    if folder.is_dir() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path().join("contender.toml");
            if path.is_file() {
                found.push(Manifest::read(&path)?);
            }
        }
    }
    found.sort_by(|a, b| (a.name != OURS, &a.name).cmp(&(b.name != OURS, &b.name)));
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TEXT: &str = r#"
        name = "alloy"
        language = "rust"
        version = "1.7.3"
        [[needs]]
        command = ["cargo", "--version"]
        pattern = 'cargo 1\.(8[9]|9\d|\d{3})'
        hint = "install Rust with rustup"
        [[variants]]
        name = "stock"
        quick = true
        env = { RUSTFLAGS = "" }
        build = [["cargo", "build"]]
        run = ["../target/stock/release/arena-alloy"]
        [[variants]]
        name = "native"
        run = ["../target/native/release/arena-alloy"]
        [published]
        "keccak256_32b" = 337
    "#;

    #[test]
    fn parses_the_documented_shape() {
        let manifest = Manifest::parse(TEXT, PathBuf::from(".")).unwrap();
        assert_eq!(manifest.published["keccak256_32b"], 337.0);
        assert_eq!(manifest.variants(true).len(), 1);
        assert_eq!(manifest.variants(false).len(), 2);
        assert_eq!(manifest.missing(), None);
    }

    #[test]
    fn tells_what_is_missing() {
        let text = TEXT.replace("\"cargo\", \"--version\"", "\"no-such-tool\"");
        let manifest = Manifest::parse(&text, PathBuf::from(".")).unwrap();
        let (reason, hint) = manifest.missing().unwrap();
        assert_eq!(reason, "`no-such-tool` is not installed");
        assert_eq!(hint, "install Rust with rustup");
        let text = TEXT.replace("cargo 1", "cargo 7");
        let manifest = Manifest::parse(&text, PathBuf::from(".")).unwrap();
        assert!(manifest.missing().unwrap().0.contains("wanted cargo 7"));
    }

    #[test]
    fn refuses_bad_manifests() {
        for (from, to, message) in [
            ("name = \"alloy\"", "name = \"a b\"", "letters, digits"),
            ("name = \"native\"", "name = \"stock\"", "is there twice"),
            ("language", "langage", "unknown field"),
            ("1\\.(", "1\\.((", "pattern"),
        ] {
            let text = TEXT.replacen(from, to, 1);
            let error = Manifest::parse(&text, PathBuf::from(".")).unwrap_err();
            assert!(format!("{error:#}").contains(message), "{error:#}");
        }
    }
}
