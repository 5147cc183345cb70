//! Files that survive a power failure. The file system is behind a small trait, so that tests can simulate power
//! failures.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::record::{Record, Storage};
use super::{StoreError, io as io_error, record_path};

/// The operations on names and directories needed to create and replace a key.
pub(super) trait FileSystem {
    type File: Storage;
    fn exists(&self, path: &Path) -> bool;
    /// Creates a file that only its owner can read. The name must not exist.
    fn create(&self, path: &Path) -> io::Result<Self::File>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in the directory of `path` durable.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// The operating system's files.
pub(super) struct System;

impl FileSystem for System {
    type File = File;

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    #[cfg(unix)]
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        File::open(folder)?.sync_all()
    }

    #[cfg(not(unix))]
    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Creates the files of a new key. Once this returns, both survive a power failure.
pub(super) fn create_key(
    files: &impl FileSystem,
    path: &Path,
    bytes: &[u8],
    identity: [u8; 32],
    next: u64,
) -> Result<(), StoreError> {
    let record_path = record_path(path);
    for path in [path, &record_path] {
        if files.exists(path) {
            return Err(StoreError::Exists(path.to_path_buf()));
        }
    }
    // The record comes first, so a key never exists without one.
    let created = Record::create(new_file(files, &record_path)?, identity, next)
        .map_err(io_error(&record_path))
        .and_then(|_| replace(files, path, bytes));
    if created.is_err() && !files.exists(path) {
        // The key was never usable; removing its record lets the next attempt succeed.
        let _ = files.remove(&record_path);
    }
    created
}

/// Creates the record of an existing key. Once this returns, it survives a power failure.
pub(super) fn create_record(
    files: &impl FileSystem,
    path: &Path,
    identity: [u8; 32],
    next: u64,
) -> Result<(), StoreError> {
    new_record(files, &record_path(path), identity, next)
}

/// Creates a record with this path. Once this returns, it survives a power failure.
pub(super) fn new_record(
    files: &impl FileSystem,
    record_path: &Path,
    identity: [u8; 32],
    next: u64,
) -> Result<(), StoreError> {
    let created = Record::create(new_file(files, record_path)?, identity, next)
        .map_err(io_error(record_path))
        .and_then(|_| {
            files
                .sync_folder(record_path)
                .map_err(io_error(record_path))
        });
    if created.is_err() {
        let _ = files.remove(record_path);
    }
    created
}

/// Replaces or creates a file atomically: after a crash the name refers to the old bytes or the new ones, and once this
/// returns, to the new ones.
pub(super) fn replace(
    files: &impl FileSystem,
    path: &Path,
    bytes: &[u8],
) -> Result<(), StoreError> {
    let mut name = path.as_os_str().to_os_string();
    name.push(".new");
    let new = PathBuf::from(name);
    // A killed process may have left this file. It was never in use.
    match files.remove(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(StoreError::Io(new, error));
        }
        _ => {}
    }
    let mut file = new_file(files, &new)?;
    let put = file
        .write(0, bytes)
        .and_then(|()| file.sync())
        .map_err(io_error(&new))
        .and_then(|()| files.rename(&new, path).map_err(io_error(path)));
    if put.is_err() {
        // Free the space on a full disk.
        let _ = files.remove(&new);
    }
    put?;
    files.sync_folder(path).map_err(io_error(path))
}

fn new_file<F: FileSystem>(files: &F, path: &Path) -> Result<F::File, StoreError> {
    files.create(path).map_err(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            StoreError::Exists(path.to_path_buf())
        } else {
            StoreError::Io(path.to_path_buf(), error)
        }
    })
}
