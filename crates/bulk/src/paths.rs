//! Names of input files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{Error, error::ErrorKind};

/// An input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its path from the directory that was given, or its name. If the output is a directory, it is the path of the
    /// output there, apart from the extension.
    pub name: PathBuf,
}

/// Standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether the name of a file is that of an Arrow file.
pub(crate) fn is_arrow(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("arrow" | "arrows" | "feather" | "ipc"))
}

/// Returns the files that are read for these inputs: those given, those that match a pattern, and the Parquet and Arrow
/// files in directories, sorted by name. If the directory `output` is inside of a directory, or of that of a pattern,
/// its files are left out, since they are outputs of earlier runs.
///
/// # Errors
/// [`Error`]: there is no file, or a path cannot be read.
pub fn input_files(paths: &[PathBuf], output: Option<&Path>) -> Result<Vec<InputFile>, Error> {
    let output = output.filter(|output| output.is_dir());
    let output = output.and_then(|output| fs::canonicalize(output).ok());
    let outputs_in = |base: &Path| output.as_deref().filter(|output| !is_in(base, output));
    let mut files = Vec::new();
    for path in paths {
        if is_standard(path) {
            files.push(file(path));
            continue;
        }
        let text = path.to_str().unwrap_or_default();
        if text.contains(['*', '?', '[']) && !path.exists() {
            let at = |text: String| Error::at(path)(std::io::Error::other(text).into());
            let matches = glob::glob(text).map_err(|error| at(error.to_string()))?;
            // The directory that contains all matches.
            let fixed = path.iter().take_while(|part| {
                let part = part.as_encoded_bytes();
                !part.iter().any(|byte| b"*?[".contains(byte))
            });
            let left_out = outputs_in(&Path::new(".").join(fixed.collect::<PathBuf>()));
            for found in matches {
                let found = found.map_err(|error| at(error.to_string()))?;
                if left_out.is_none_or(|left_out| !is_in(&found, left_out)) {
                    add(&found, left_out, &mut files)?;
                }
            }
        } else {
            add(path, outputs_in(path), &mut files)?;
        }
    }
    if files.is_empty() {
        let kind = ErrorKind::NoInput;
        return Err(Error {
            file: paths.first().cloned(),
            kind,
        });
    }
    Ok(files)
}

fn file(path: &Path) -> InputFile {
    InputFile {
        path: path.into(),
        name: path.file_name().map_or(path.into(), PathBuf::from),
    }
}

/// Whether a path is a directory or below it. The directory is in its canonical form.
fn is_in(path: &Path, directory: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|path| path.starts_with(directory))
}

fn add(path: &Path, left_out: Option<&Path>, files: &mut Vec<InputFile>) -> Result<(), Error> {
    let metadata = fs::metadata(path).map_err(|error| Error::at(path)(error.into()))?;
    if metadata.is_dir() {
        collect(path, path, left_out, files)
    } else {
        files.push(file(path));
        Ok(())
    }
}

fn collect(
    root: &Path,
    directory: &Path,
    left_out: Option<&Path>,
    files: &mut Vec<InputFile>,
) -> Result<(), Error> {
    let at = |error: std::io::Error| Error::at(directory)(error.into());
    let entries = fs::read_dir(directory).map_err(at)?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(at)?.path());
    }
    paths.sort();
    for path in paths {
        let hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let known = path
            .extension()
            .is_some_and(|extension| extension == "parquet" || is_arrow(&path));
        if hidden {
            continue;
        }
        // Links to directories are not followed, so that there is no cycle.
        if path.is_dir() && !path.is_symlink() {
            if left_out.is_none_or(|left_out| !is_in(&path, left_out)) {
                collect(root, &path, left_out, files)?;
            }
        } else if known {
            let name = path
                .strip_prefix(root)
                .map_or_else(|_| path.clone(), Path::to_path_buf);
            files.push(InputFile { path, name });
        }
    }
    Ok(())
}
