//! Key files that never sign an epoch twice.
//!
//! A key is two files: `KEY`, the SSZ encoding of the secret key in leanSig's format, memory-mapped on Unix; and
//! `KEY.epoch`, the record of spent epochs. [`KeyFile::sign`] returns a signature only after the record that spends its
//! epoch is on the disk.
//!
//! **Guarantees.** No epoch is signed twice:
//!
//! - after a kill or a power failure at any instant, or several in a row, on a disk that keeps what it reported as
//!   synced;
//! - after damage to one of the record's two slots, such as a flipped bit or a zeroed sector: both are written and
//!   synced before a signature is returned, and a damaged slot is rewritten from the other. A record that is missing,
//!   belongs to another key, or has both slots damaged is an error;
//! - by two processes: the record is locked while a key is open;
//! - after `fork`: the child shares its parent's lock, so a [`KeyFile`] signs only in the process that opened it
//!   ([`StoreError::Forked`]). To sign in a child, open the key there after the parent has closed it;
//! - if the record is restored or replaced while a signer is running: the record is read again before each signature,
//!   and must be the same file with the numbers that this process wrote ([`StoreError::Changed`]). Whether it is the
//!   same file is checked on Unix only.
//!
//! A write to the record needs no disk space. Restoring an older `KEY` is harmless, since the record is separate. Each
//! signature is verified before its epoch is spent, so a damaged key or a fault in the computation reveals nothing and
//! costs no epoch. A key file that its group or others can read, and a record that they can write, are rejected
//! ([`StoreError::Permissions`], Unix only).
//!
//! **Limits.** A backup, or a snapshot of the disk or virtual machine, may restore an older `KEY.epoch` while no
//! process has the key open, and a copy of both files may be in use on another machine. Neither can be detected from
//! the files on the disk, and epochs signed since can be signed again, which reveals the key. Never restore a record
//! from a backup, and never use one key in two places: make a new key instead. There is also no protection from anyone
//! who can write the record, or stop and modify the process.
//!
//! With the feature `keystore`, `KeyFile::open_keystore` signs from an EIP-8310 keystore instead: `KEY` is then JSON
//! with the encrypted seed, and the trees are computed again when it is opened. The record and all guarantees are the same.
//!
//! The tests simulate a disk and cut the power or kill the process at each step. `.ci/xmss` kills the program before
//! each of its system calls, and fills the disk.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{self, Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use core::fmt;
use core::ops::Range;

use lydite_hash::keccak256;

use crate::key::{NextTree, Observer, SecretKey, SignError};
use crate::poseidon::LANES;
use crate::scheme::Scheme;
use crate::signature::{Message, PublicKey, Signature};
use crate::ssz::DecodeError;

mod files;
#[cfg(feature = "keystore")]
pub mod keystore;
mod record;

use files::{System, create_key, create_record, replace};
use record::{Record, SpendError};

/// An error with a key file.
#[non_exhaustive]
#[derive(Debug)]
pub enum StoreError {
    /// An error from the operating system, and the file it concerns.
    Io(PathBuf, io::Error),
    /// The file already exists; nothing was changed.
    Exists(PathBuf),
    /// The key has no record of spent epochs.
    NoRecord(PathBuf),
    /// Both slots of the record are damaged, or it belongs to another key.
    BadRecord(PathBuf),
    /// Another process, or another [`KeyFile`] in this one, has the key open.
    InUse(PathBuf),
    /// This process was forked from the one that opened the key.
    Forked {
        /// The process that opened the key.
        opened_by: u32,
    },
    /// The record was restored, replaced, removed or damaged while the key was open.
    Changed(PathBuf),
    /// Users other than the owner can read the key or write the record.
    Permissions {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The key file is not a key of this scheme.
    Decode(DecodeError),
    /// The file is not a keystore that this scheme can sign from.
    #[cfg(feature = "keystore")]
    Keystore(PathBuf, keystore::KeystoreError),
    /// The record of spent epochs is older than the keystore's snapshot, so a backup of it was restored.
    #[cfg(feature = "keystore")]
    Regressed {
        /// The lowest epoch that can still be signed, by the record.
        next: u64,
        /// The highest spent epoch, by the snapshot.
        high_water: u64,
    },
    /// The epoch is spent: it is not after the last one that was signed.
    Spent {
        /// The requested epoch.
        epoch: u32,
        /// The lowest epoch that can still be signed.
        next: u64,
    },
    /// The key could not sign.
    Sign(SignError),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Exists(path) => write!(f, "{}: already exists", path.display()),
            Self::NoRecord(path) => write!(
                f,
                "{} is missing, so the spent epochs are unknown; `adopt` creates it for a key made elsewhere",
                path.display()
            ),
            Self::BadRecord(path) => write!(
                f,
                "{} is damaged or belongs to another key; if you know the spent epochs, remove it and `adopt` the key",
                path.display()
            ),
            Self::InUse(path) => write!(
                f,
                "{}: another process has this key open, or was forked while it was open",
                path.display()
            ),
            Self::Forked { opened_by } => write!(
                f,
                "the key was opened by process {opened_by} and this is process {}, forked from it; \
                 open the key in the process that signs",
                process::id()
            ),
            Self::Changed(path) => write!(
                f,
                "{} was restored, replaced or damaged while the key was open, so the spent epochs are unknown",
                path.display()
            ),
            Self::Permissions { path, mode } => write!(
                f,
                "{}: accessible to other users (mode {mode:03o}); run chmod 600",
                path.display()
            ),
            Self::Decode(error) => write!(f, "not a key of this scheme: {error}"),
            #[cfg(feature = "keystore")]
            Self::Keystore(path, error) => write!(f, "{}: {error}", path.display()),
            #[cfg(feature = "keystore")]
            Self::Regressed { next, high_water } => write!(
                f,
                "expected epoch {high_water} to be spent, as the keystore says, but the record allows epochs from {next} on; \
                 an older record was restored"
            ),
            Self::Spent { epoch, next } => write!(
                f,
                "epoch {epoch} is spent: the lowest that can still be signed is {next}"
            ),
            Self::Sign(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for StoreError {}

impl From<DecodeError> for StoreError {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl From<SignError> for StoreError {
    fn from(error: SignError) -> Self {
        Self::Sign(error)
    }
}

/// The process that opened a key. A child that it forks has a copy of the key, and must not use it.
#[derive(Clone, Copy, Debug)]
pub struct Owner(u32);

impl Owner {
    /// The current process.
    pub fn current() -> Self {
        Self(process::id())
    }

    /// Checks that the current process is the owner. [`KeyFile`] calls this before it signs or moves its window. A
    /// caller that keeps a key in a mutex should call it before locking, since a fork may have copied a locked mutex.
    ///
    /// # Errors
    ///
    /// [`StoreError::Forked`].
    pub fn check(self) -> Result<(), StoreError> {
        if self.0 == process::id() {
            Ok(())
        } else {
            Err(StoreError::Forked { opened_by: self.0 })
        }
    }
}

/// A thread that computes the tree after a key's right one.
struct Prefetched<S: Scheme> {
    /// Ends when the tree is complete or `stop` is set.
    thread: Option<JoinHandle<NextTree<S>>>,
    stop: Arc<AtomicBool>,
    pause: Duration,
    owner: Owner,
}

impl<S: Scheme> Prefetched<S> {
    fn start(next: Option<NextTree<S>>, pause: Duration) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let work = |mut next: NextTree<S>| {
            let make = move || {
                while next.missing() > 0 && !stopped.load(Ordering::Relaxed) {
                    next.work(LANES);
                    thread::park_timeout(pause);
                }
                next
            };
            thread::Builder::new()
                .name("xmss prepare".into())
                .spawn(make)
        };
        Ok(Self {
            thread: next.map(work).transpose()?,
            stop,
            pause,
            owner: Owner::current(),
        })
    }

    /// Stops the thread and returns the tree, which may be incomplete.
    fn stop(&mut self) -> Option<NextTree<S>> {
        let thread = self.thread.take()?;
        if self.owner.check().is_err() {
            // A forked child does not have this thread, and joining it would panic.
            core::mem::forget(thread);
            return None;
        }
        self.stop.store(true, Ordering::Relaxed);
        thread.thread().unpark();
        // If the thread panicked, there is no tree.
        thread.join().ok()
    }
}

impl<S: Scheme> Drop for Prefetched<S> {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(unix)]
type FileBytes = memmap2::Mmap;
// Read into memory, since Windows cannot rename onto a mapped file.
#[cfg(not(unix))]
type FileBytes = zeroize::Zeroizing<alloc::vec::Vec<u8>>;

/// The bytes of an open key.
enum KeyBytes {
    /// A key file.
    File(FileBytes),
    /// A key that was computed from a keystore's seed.
    #[cfg(feature = "keystore")]
    Owned(zeroize::Zeroizing<alloc::vec::Vec<u8>>),
}

impl AsRef<[u8]> for KeyBytes {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::File(bytes) => bytes,
            #[cfg(feature = "keystore")]
            Self::Owned(bytes) => bytes,
        }
    }
}

/// A key on the disk, with its record of spent epochs.
///
/// It belongs to the process that opened it. In a child made by `fork`, [`Self::sign`], [`Self::prepare`] and
/// [`Self::prepare_ahead`] return [`StoreError::Forked`]; dropping it there does not release the parent's lock.
pub struct KeyFile<S: Scheme> {
    /// Absolute, so that a change of the working directory does not move the key.
    path: PathBuf,
    key: SecretKey<S, KeyBytes>,
    record: Record<File>,
    record_path: PathBuf,
    /// The epochs that this signer may sign: those of the key, or of a reserved range of a keystore.
    allowed: Range<u64>,
    prefetched: Option<Prefetched<S>>,
    owner: Owner,
}

impl<S: Scheme> Drop for KeyFile<S> {
    fn drop(&mut self) {
        // Closing the file is not enough, since a forked child may still hold it. The child must not release its
        // parent's lock.
        if self.owner.check().is_ok() {
            let _ = self.record.file.unlock();
        }
    }
}

impl<S: Scheme> fmt::Debug for KeyFile<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyFile")
            .field("path", &self.path)
            .field("key", &self.key)
            .field("next", &self.record.next())
            .finish_non_exhaustive()
    }
}

impl<S: Scheme> KeyFile<S> {
    /// Writes a key that has signed nothing, readable only by its owner, and its record.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] if either file exists; [`StoreError::Io`].
    pub fn create(path: &Path, key: &SecretKey<S>) -> Result<(), StoreError> {
        let identity = identity(&key.public_key()?);
        create_key(&System, path, key.as_bytes(), identity, key.active().start)
    }

    /// Creates the record for a key file that has none, with all epochs below `next` spent. This is for a key made
    /// elsewhere; the caller must know which epochs it has signed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] if there is a record; [`StoreError::Permissions`]; [`StoreError::Decode`];
    /// [`StoreError::Io`].
    pub fn adopt(path: &Path, next: u64) -> Result<(), StoreError> {
        let key = open_key::<S>(path)?;
        let record_path = record_path(path);
        if record_path.exists() {
            return Err(StoreError::Exists(record_path));
        }
        create_record(&System, path, identity(&key.public_key()?), next)
    }

    /// Opens a key for signing, and locks it against other processes.
    ///
    /// # Errors
    ///
    /// Every variant of [`StoreError`] except those of signing.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let path = path::absolute(path).map_err(io(path))?;
        let record_path = record_path(&path);
        let Some(file) = lock_record(&record_path, &path)? else {
            // Find out which of the two files is missing.
            open_key::<S>(&path)?;
            return Err(StoreError::NoRecord(record_path));
        };
        let key = open_key::<S>(&path)?;
        let allowed = key.active();
        Self::with_record(path, key, file, record_path, allowed)
    }

    fn with_record(
        path: PathBuf,
        key: SecretKey<S, KeyBytes>,
        file: File,
        record_path: PathBuf,
        allowed: Range<u64>,
    ) -> Result<Self, StoreError> {
        let record = Record::open(file, identity(&key.public_key()?)).map_err(io(&record_path))?;
        Ok(Self {
            path,
            key,
            record: record.ok_or_else(|| StoreError::BadRecord(record_path.clone()))?,
            record_path,
            allowed,
            prefetched: None,
            owner: Owner::current(),
        })
    }

    /// The key.
    pub fn key(&self) -> &SecretKey<S, impl AsRef<[u8]> + use<S>> {
        &self.key
    }

    /// The epochs that can still be signed.
    pub fn unspent(&self) -> Range<u64> {
        let Range { start, end } = self.allowed;
        self.record.next().clamp(start, end)..end
    }

    /// Signs a message for an epoch, moving the window if necessary. When this returns, the record that spends the
    /// epoch is on the disk.
    ///
    /// The signature is verified before its epoch is spent.
    ///
    /// # Errors
    ///
    /// [`StoreError::Spent`] for the last epoch signed and all before it; [`StoreError::Forked`];
    /// [`StoreError::Changed`]; [`SignError`]; [`StoreError::Io`], after which the epoch may be spent without a
    /// signature.
    pub fn sign(&mut self, epoch: u32, message: &Message) -> Result<Signature<S>, StoreError> {
        self.owner.check()?;
        self.check(epoch)?;
        self.prepare(epoch)?;
        let signature = self.key.sign_verified(epoch, message)?;
        if !names_file(&self.record_path, &self.record.file) {
            return Err(StoreError::Changed(self.record_path.clone()));
        }
        match self.record.spend(u64::from(epoch) + 1) {
            Ok(()) => Ok(signature),
            Err(SpendError::Changed) => Err(StoreError::Changed(self.record_path.clone())),
            Err(SpendError::Io(error)) => Err(StoreError::Io(self.record_path.clone(), error)),
        }
    }

    fn check(&self, epoch: u32) -> Result<(), StoreError> {
        let next = self.record.next();
        if u64::from(epoch) < next {
            return Err(StoreError::Spent { epoch, next });
        }
        if !self.allowed.contains(&u64::from(epoch)) {
            let active = self.allowed.clone();
            return Err(SignError::NotActive { epoch, active }.into());
        }
        Ok(())
    }

    /// Moves the window to an epoch after it, and replaces the key file atomically.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sign`] for an epoch outside the key's or before the window; [`StoreError::Forked`];
    /// [`StoreError::Io`].
    pub fn prepare(&mut self, epoch: u32) -> Result<(), StoreError> {
        self.prepare_with(epoch, &())
    }

    /// Like [`Self::prepare`], with an observer that is notified of leaves.
    ///
    /// # Errors
    ///
    /// Those of [`Self::prepare`], and [`SignError::Cancelled`] if the observer cancels.
    pub fn prepare_with<O: Observer + ?Sized>(
        &mut self,
        epoch: u32,
        observer: &O,
    ) -> Result<(), StoreError> {
        self.owner.check()?;
        let prepared = self.key.prepared();
        if prepared.contains(&u64::from(epoch)) {
            return Ok(());
        }
        let mut next = self.prefetched.as_mut().and_then(Prefetched::stop);
        let moved = self.move_window(epoch, &mut next, observer);
        if let Some(prefetched) = &mut self.prefetched {
            // If the window did not move, an unfinished tree is still the next one.
            let next = next.filter(|_| moved.is_err());
            let next = next.or_else(|| self.key.next_tree());
            let started = Prefetched::start(next, prefetched.pause);
            let started = started.map(|started| *prefetched = started);
            return moved.and(started.map_err(io(&self.path)));
        }
        moved
    }

    fn move_window<O: Observer + ?Sized>(
        &mut self,
        epoch: u32,
        next: &mut Option<NextTree<S>>,
        observer: &O,
    ) -> Result<(), StoreError> {
        let mut key = self.key.to_owned();
        key.prepare_from(epoch, next, observer)?;
        self.key = match self.key.bytes() {
            KeyBytes::File(_) => {
                replace(&System, &self.path, key.as_bytes())?;
                open_key(&self.path)?
            }
            #[cfg(feature = "keystore")]
            KeyBytes::Owned(_) => key.map_bytes(KeyBytes::Owned),
        };
        Ok(())
    }

    /// Starts computing the tree after the window in a separate thread, [`LANES`] leaves at a time with a pause in
    /// between, so that the window moves without computing. With a pause of 100 ms, a tree of the production set takes
    /// seven minutes and less than one percent of a core. A tree that is needed before it is finished is finished at
    /// once. It is kept in memory only: an unfinished tree is lost with the process.
    ///
    /// # Errors
    ///
    /// [`StoreError::Io`] if the thread cannot be started; [`StoreError::Forked`].
    pub fn prepare_ahead(&mut self, pause: Duration) -> Result<(), StoreError> {
        self.owner.check()?;
        self.prefetched = None;
        let started = Prefetched::start(self.key.next_tree(), pause);
        self.prefetched = Some(started.map_err(io(&self.path))?);
        Ok(())
    }
}

/// `KEY.epoch`
fn record_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".epoch");
    name.into()
}

fn identity<S: Scheme>(key: &PublicKey<S>) -> [u8; 32] {
    keccak256(&[S::NAME.as_bytes(), b"\0", &key.to_bytes()].concat())
}

fn io(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_path_buf();
    move |error| StoreError::Io(path, error)
}

/// Opens and locks the record of the key at `path`; `None` if there is none.
fn lock_record(record_path: &Path, path: &Path) -> Result<Option<File>, StoreError> {
    let file = match OpenOptions::new().read(true).write(true).open(record_path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(io(record_path))?,
    };
    check_mode(&file, record_path, 0o022)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Err(StoreError::InUse(path.to_path_buf())),
        Err(fs::TryLockError::Error(error)) => {
            Err(StoreError::Io(record_path.to_path_buf(), error))
        }
    }
}

fn open_key<S: Scheme>(path: &Path) -> Result<SecretKey<S, KeyBytes>, StoreError> {
    let file = File::open(path).map_err(io(path))?;
    check_mode(&file, path, 0o077)?;
    let bytes = file_bytes(file).map_err(io(path))?;
    Ok(SecretKey::from_bytes(KeyBytes::File(bytes))?)
}

#[cfg(unix)]
fn file_bytes(file: File) -> io::Result<FileBytes> {
    // SAFETY: a mapping is sound while nobody writes to the file. This crate never does: a changed key is a new file
    // under the old name, and this mapping keeps the old one. The file's permissions exclude other users. A program of
    // the same user that writes to the file could make reads inconsistent with one another, as could a debugger.
    unsafe { FileBytes::map(&file) }
}

#[cfg(not(unix))]
fn file_bytes(mut file: File) -> io::Result<FileBytes> {
    let mut bytes = FileBytes::default();
    // A vector that grows while it is read would leave unwiped copies of the key. One byte more shows the end.
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(length.saturating_add(1))?;
    io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(bytes)
}

/// Checks that a file has none of these permission bits.
#[cfg(unix)]
fn check_mode(file: &File, path: &Path, refused: u32) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = file.metadata().map_err(io(path))?.permissions().mode() & 0o777;
    if mode & refused != 0 {
        let path = path.to_path_buf();
        return Err(StoreError::Permissions { path, mode });
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_mode(_: &File, _: &Path, _: u32) -> Result<(), StoreError> {
    Ok(())
}

/// Whether a path still names an open file.
#[cfg(unix)]
fn names_file(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (fs::metadata(path), file.metadata()) {
        (Ok(named), Ok(open)) => (named.dev(), named.ino()) == (open.dev(), open.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn names_file(_: &Path, _: &File) -> bool {
    true
}

#[cfg(test)]
mod tests;
