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
/// files in directories, sorted by name.
///
/// # Errors
/// [`Error`]: there is no file, or a path cannot be read.
pub fn input_files(paths: &[PathBuf]) -> Result<Vec<InputFile>, Error> {
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
            for found in matches {
                let found = found.map_err(|error| at(error.to_string()))?;
                add(&found, &mut files)?;
            }
        } else {
            add(path, &mut files)?;
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

fn add(path: &Path, files: &mut Vec<InputFile>) -> Result<(), Error> {
    let metadata = fs::metadata(path).map_err(|error| Error::at(path)(error.into()))?;
    if metadata.is_dir() {
        collect(path, path, files)
    } else {
        files.push(file(path));
        Ok(())
    }
}

fn collect(root: &Path, directory: &Path, files: &mut Vec<InputFile>) -> Result<(), Error> {
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
            collect(root, &path, files)?;
        } else if known {
            let name = path
                .strip_prefix(root)
                .map_or_else(|_| path.clone(), Path::to_path_buf);
            files.push(InputFile { path, name });
        }
    }
    Ok(())
}
