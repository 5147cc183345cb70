//! Temporary files: outputs before they are complete.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process,
    sync::{Arc, Mutex},
};

use tempfile::TempPath;

use crate::{
    lock,
    resume::{TEMPORARY, prefix_of_run},
};

/// The temporary files of this process.
static FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Ends the process, and removes the temporary files of its runs. For handlers of signals, since a run that waits for
/// an input cannot be cancelled.
pub fn exit(code: i32) -> ! {
    // Locked to the end, so that meanwhile no file is created or gets its name.
    let files = lock(&FILES);
    for file in &*files {
        let _ = fs::remove_file(file);
    }
    process::exit(code)
}

/// A file under a temporary name, removed if it does not get its own. It need not be open between row groups.
pub(crate) struct Temporary {
    path: TempPath,
    file: Option<File>,
    listed: Listed,
}

/// One of [`FILES`].
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        lock(&FILES).remove(&self.0);
    }
}

impl Temporary {
    /// Creates a file, locked so that `resume::remove_temporary` of another run leaves it.
    pub(crate) fn create(directory: &Path, prefix: &str) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).suffix(TEMPORARY.1);
        // Like other new files: readable by all, as far as the process allows. The default is the owner only.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut files = lock(&FILES);
        let (file, path) = builder.tempfile_in(directory)?.into_parts();
        let listed = Listed(path.to_path_buf());
        files.insert(listed.0.clone());
        drop(files);
        // Not every file system has locks.
        let _ = file.try_lock();
        let file = Some(file);
        Ok(Self { path, file, listed })
    }

    pub(crate) fn file(&mut self) -> io::Result<&mut File> {
        match &mut self.file {
            Some(file) => Ok(file),
            closed => {
                let file = File::options().append(true).open(&self.path)?;
                Ok(closed.insert(file))
            }
        }
    }

    /// Closes the file until more is written.
    pub(crate) fn close(&mut self) {
        self.file = None;
    }

    /// Gives the file its name.
    pub(crate) fn persist(self, path: &Path, overwrite: bool) -> io::Result<()> {
        let _listed = self.listed;
        let _files = lock(&FILES);
        let result = if overwrite {
            self.path.persist(path)
        } else {
            self.path.persist_noclobber(path)
        };
        result.map_err(|error| error.error)
    }
}

/// A temporary file that a run holds open and locked from its first output to the end, for those that it closes.
#[derive(Clone, Default)]
pub(crate) struct RunLock(Arc<Mutex<Option<Temporary>>>);

impl RunLock {
    /// Returns how the names of the run's temporary files start.
    pub(crate) fn prefix(&self, directory: &Path) -> io::Result<String> {
        let mut run = lock(&self.0);
        let file = match &mut *run {
            Some(file) => file,
            none => none.insert(Temporary::create(directory, TEMPORARY.0)?),
        };
        Ok(prefix_of_run(&file.path))
    }
}
