//! docs/unsafe.md lists the arguments of all `unsafe` code. Write it with
//! `UPDATE=1 cargo test -p lydite-examples --test unsafe_page`.

#![allow(clippy::unwrap_used)]
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const INTRODUCTION: &str = "# Where `unsafe` is used

Each `unsafe` block has a `// SAFETY:` comment that argues why it is sound. This page is generated from these comments
(`examples/tests/unsafe_page.rs`); tests are left out, and an argument that a file repeats is listed once. Packages
without a section have no `unsafe` code.
";

#[test]
fn page_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["crates", "bindings", "arena"] {
        sources(&root.join(folder), &mut files);
    }
    files.sort();
    // By package, then by file.
    let mut packages = BTreeMap::<PathBuf, Vec<String>>::new();
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        let arguments = arguments(&source);
        if arguments.is_empty() {
            continue;
        }
        let package = file.ancestors().find(|p| p.join("Cargo.toml").exists());
        let package = package.unwrap();
        let lines = packages
            .entry(package.strip_prefix(&root).unwrap().into())
            .or_default();
        let path = file.strip_prefix(package).unwrap().display();
        lines.push(format!("- `{path}`"));
        lines.extend(arguments.iter().map(|argument| wrap(argument)));
    }
    assert!(packages.len() > 5, "{packages:?}");
    let mut page = INTRODUCTION.to_owned();
    for (package, lines) in packages {
        page += &format!("\n## {}\n\n{}\n", package.display(), lines.join("\n"));
    }
    let path = root.join("docs/unsafe.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert!(
        fs::read_to_string(path).unwrap() == page,
        "docs/unsafe.md is not current: UPDATE=1 cargo test -p lydite-examples --test unsafe_page"
    );
}

/// Collects Rust files, except tests, examples and products of builds.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !["tests", "examples", "target", "node_modules"].contains(&name)
                && !name.starts_with('.')
            {
                sources(&path, files);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" {
            files.push(path);
        }
    }
}

/// The distinct arguments of a file, in order, each on one line.
fn arguments(source: &str) -> Vec<String> {
    let code = source.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
    let mut found = Vec::<String>::new();
    let mut lines = code.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let Some(first) = line.strip_prefix("// SAFETY: ") else {
            continue;
        };
        let mut argument = first.to_owned();
        while let Some(next) = lines.next_if(|line| line.starts_with("// ")) {
            argument = format!("{argument} {}", &next[3..]);
        }
        if argument != "as above." && !found.contains(&argument) {
            found.push(argument);
        }
    }
    found
}

/// A nested item of a list, in lines of at most 120 columns.
fn wrap(argument: &str) -> String {
    let (mut lines, mut line) = (Vec::new(), "  -".to_owned());
    for word in argument.split(' ') {
        if line.len() + word.len() >= 120 {
            lines.push(std::mem::replace(&mut line, "   ".to_owned()));
        }
        line = format!("{line} {word}");
    }
    lines.push(line);
    lines.join("\n")
}
