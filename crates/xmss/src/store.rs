//! Key files that never sign an epoch twice.
//!
//! A key is two files: `KEY`, the SSZ encoding of the secret key (what leanSig writes too), which is mapped, not read; and
//! `KEY.epoch`, the record: which epochs are spent. A signature is given out only after the record that it was made has
//! reached the disk.
//!
//! **What holds.** Killed at any instant, or without power at any instant, on a disk that keeps what it said is synced: no
//! epoch is signed twice. The record has two places, written in turn, each with a checksum; one is always whole. A write to
//! the record needs no room on the disk. Two processes cannot use one key: the record is locked. An older `KEY` put back is
//! harmless, since the record is elsewhere; a record of another key, a damaged one, or none is refused.
//!
//! **What cannot be known.** An older `KEY.epoch` put back, alone or with its `KEY`, by a backup, a snapshot of the disk or of
//! the virtual machine, or both used on two machines: nothing on the disk tells that from the truth, and epochs that were
//! signed since can be signed again, which gives the key away. So: never restore a record from a backup, never run one key in
//! two places; make a new key. (An older `KEY` alone is found to be harmless: it only has to be advanced again.)
//!
//! `.ci/xmss` kills the program before each of its system calls, and fills the disk, and then tries to sign again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use lydite_hash::keccak256;
use memmap2::Mmap;

use crate::key::{NextTree, Observer, SecretKey, SignError};
use crate::poseidon::LANES;
use crate::scheme::Scheme;
use crate::signature::{Message, PublicKey, Signature};
use crate::ssz::DecodeError;

/// What went wrong with a key file.
#[non_exhaustive]
#[derive(Debug)]
pub enum StoreError {
    /// The operating system's answer, and the file it is about.
    Io(PathBuf, io::Error),
    /// There is such a file already; nothing was changed.
    Exists(PathBuf),
    /// The key has no record of spent epochs beside it.
    NoRecord(PathBuf),
    /// The record is damaged, or of another key.
    BadRecord(PathBuf),
    /// Another process has the key open.
    InUse(PathBuf),
    /// The key file is not a key of this scheme.
    Decode(DecodeError),
    /// The epoch is spent, or an earlier one than the last that was signed.
    Spent {
        /// The epoch asked for.
        epoch: u32,
        /// The lowest epoch that can still be signed.
        next: u64,
    },
    /// Nothing was signed.
    Sign(SignError),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Exists(path) => write!(f, "{} exists", path.display()),
            Self::NoRecord(path) => write!(
                f,
                "{} is missing: which epochs are spent is not known, so nothing is signed",
                path.display()
            ),
            Self::BadRecord(path) => {
                write!(f, "{} is damaged or belongs to another key", path.display())
            }
            Self::InUse(path) => write!(f, "{}: another process uses this key", path.display()),
            Self::Decode(error) => write!(f, "not a key of this scheme: {error}"),
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

/// A disk's file, as far as the record needs one.
trait Disk {
    fn read(&mut self) -> io::Result<Vec<u8>>;
    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;
    fn sync(&mut self) -> io::Result<()>;
}

impl Disk for File {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.rewind()?;
        // One byte more than a record has is enough to know that it is none.
        self.take(RECORD as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.seek(io::SeekFrom::Start(at))?;
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// Bytes of one place: `sequence u64 | lowest epoch not spent u64 | checksum 16`.
const SLOT: usize = 32;
/// Bytes from one place to the other: more than a disk writes at once.
const STRIDE: usize = 4096;
/// Bytes of a record.
const RECORD: usize = STRIDE + SLOT;

/// The epochs that are spent: all below `next`.
struct Record<D> {
    disk: D,
    /// Which key: a hash of scheme and public key.
    identity: [u8; 32],
    sequence: u64,
    next: u64,
}

impl<D: Disk> Record<D> {
    fn slot(&self, sequence: u64, next: u64) -> [u8; SLOT] {
        let mut slot = [0; SLOT];
        slot[..8].copy_from_slice(&sequence.to_le_bytes());
        slot[8..16].copy_from_slice(&next.to_le_bytes());
        let check = keccak256(&[&self.identity[..], &slot[..16]].concat());
        slot[16..].copy_from_slice(&check[..16]);
        slot
    }

    /// A new record on an empty file.
    fn create(disk: D, identity: [u8; 32], next: u64) -> io::Result<Self> {
        let mut record = Self {
            disk,
            identity,
            sequence: 0,
            next,
        };
        let mut bytes = [0; RECORD];
        bytes[..SLOT].copy_from_slice(&record.slot(0, next));
        bytes[STRIDE..].copy_from_slice(&record.slot(1, next));
        record.sequence = 1;
        record.disk.write(0, &bytes)?;
        record.disk.sync()?;
        Ok(record)
    }

    /// The record on a file; none if no place of it is whole.
    fn open(mut disk: D, identity: [u8; 32]) -> io::Result<Option<Self>> {
        let bytes = disk.read()?;
        let mut record = Self {
            disk,
            identity,
            sequence: 0,
            next: 0,
        };
        if bytes.len() != RECORD {
            return Ok(None);
        }
        let number = |bytes: &[u8]| {
            bytes
                .iter()
                .rev()
                .fold(0, |n, &byte| n << 8 | u64::from(byte))
        };
        let mut found = false;
        for slot in [&bytes[..SLOT], &bytes[STRIDE..]] {
            let (sequence, next) = (number(&slot[..8]), number(&slot[8..16]));
            if slot == record.slot(sequence, next) {
                found = true;
                record.sequence = record.sequence.max(sequence);
                record.next = record.next.max(next);
            }
        }
        Ok(found.then_some(record))
    }

    /// Spends all epochs below `next`, which is not lower than before; on the disk when this returns.
    fn spend(&mut self, next: u64) -> io::Result<()> {
        let sequence = self.sequence + 1;
        let slot = self.slot(sequence, next);
        // Whatever becomes of the write, the epochs are spent for this process.
        self.next = next;
        // An even number goes to the first place, so the newest whole one is never overwritten.
        self.disk.write(
            if sequence.is_multiple_of(2) {
                0
            } else {
                STRIDE as u64
            },
            &slot,
        )?;
        self.disk.sync()?;
        self.sequence = sequence;
        Ok(())
    }
}

/// A thread that makes the tree after a key's right one.
struct Ahead<S: Scheme> {
    /// Ends when the tree is whole, or nobody wants it.
    thread: Option<JoinHandle<NextTree<S>>>,
    /// The tree is needed now, or not any more.
    over: Arc<AtomicBool>,
    pause: Duration,
}

impl<S: Scheme> Ahead<S> {
    fn start(next: Option<NextTree<S>>, pause: Duration) -> io::Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let work = |mut next: NextTree<S>| {
            let make = move || {
                while next.missing() > 0 && !told.load(Ordering::Relaxed) {
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
            over,
            pause,
        })
    }

    /// What there is of the tree.
    fn stop(&mut self) -> Option<NextTree<S>> {
        self.over.store(true, Ordering::Relaxed);
        let thread = self.thread.take()?;
        thread.thread().unpark();
        // A thread that panicked made nothing.
        thread.join().ok()
    }
}

impl<S: Scheme> Drop for Ahead<S> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A key on the disk, with the record of its spent epochs.
pub struct KeyFile<S: Scheme> {
    path: PathBuf,
    key: SecretKey<S, Mmap>,
    record: Record<File>,
    ahead: Option<Ahead<S>>,
}

impl<S: Scheme> fmt::Debug for KeyFile<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyFile")
            .field("path", &self.path)
            .field("key", &self.key)
            .field("next", &self.record.next)
            .finish_non_exhaustive()
    }
}

impl<S: Scheme> KeyFile<S> {
    /// Writes a key that has signed nothing, readable by its owner only, and its record.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] if there is either file already; what the operating system refuses.
    pub fn create(path: &Path, key: &SecretKey<S>) -> Result<(), StoreError> {
        let record_path = record_path(path);
        for path in [path, &record_path] {
            if path.exists() {
                return Err(StoreError::Exists(path.to_path_buf()));
            }
        }
        // The record first: a key without one is never there to be used.
        let identity = identity(&key.public_key()?);
        let made = Record::create(new_file(&record_path)?, identity, key.active().start)
            .map_err(io(&record_path))
            .and_then(|_| replace(path, key.as_bytes()));
        if made.is_err() && !path.exists() {
            // Nothing was ever signed with it; the next attempt finds the place empty.
            let _ = fs::remove_file(&record_path);
        }
        made
    }

    /// Gives a key file that has none a record, by which all epochs below `next` are spent: for a key made elsewhere, by those
    /// who know what it has signed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] if there is a record; [`StoreError::Decode`]; what the operating system refuses.
    pub fn adopt(path: &Path, next: u64) -> Result<(), StoreError> {
        let key = map::<S>(path)?;
        let record_path = record_path(path);
        if record_path.exists() {
            return Err(StoreError::Exists(record_path));
        }
        let file = new_file(&record_path)?;
        Record::create(file, identity(&key.public_key()?), next).map_err(io(&record_path))?;
        sync_folder(path)
    }

    /// Opens a key for signing; no other process can while this one has it.
    ///
    /// # Errors
    ///
    /// Every variant of [`StoreError`] but those of signing.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let record_path = record_path(path);
        let file = match OpenOptions::new().read(true).write(true).open(&record_path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Which of the two is missing?
                map::<S>(path)?;
                return Err(StoreError::NoRecord(record_path));
            }
            other => other.map_err(io(&record_path))?,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(StoreError::InUse(path.to_path_buf())),
            Err(fs::TryLockError::Error(error)) => return Err(StoreError::Io(record_path, error)),
        }
        let key = map::<S>(path)?;
        let record = Record::open(file, identity(&key.public_key()?)).map_err(io(&record_path))?;
        Ok(Self {
            path: path.to_path_buf(),
            key,
            record: record.ok_or(StoreError::BadRecord(record_path))?,
            ahead: None,
        })
    }

    /// The key.
    pub fn key(&self) -> &SecretKey<S, impl AsRef<[u8]> + use<S>> {
        &self.key
    }

    /// The epochs that can still be signed.
    pub fn unspent(&self) -> Range<u64> {
        let active = self.key.active();
        self.record.next.max(active.start)..active.end
    }

    /// Signs a message, moving the window if it has to; that the epoch is spent is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// [`StoreError::Spent`] for the last epoch signed and all before it; [`SignError`]; what the operating system refuses,
    /// in which case the epoch may be spent without a signature.
    pub fn sign(&mut self, epoch: u32, message: &Message) -> Result<Signature<S>, StoreError> {
        self.check(epoch)?;
        self.prepare(epoch)?;
        let signature = self.key.sign(epoch, message)?;
        self.record
            .spend(u64::from(epoch) + 1)
            .map_err(io(&record_path(&self.path)))?;
        Ok(signature)
    }

    fn check(&self, epoch: u32) -> Result<(), StoreError> {
        if u64::from(epoch) < self.record.next {
            return Err(StoreError::Spent {
                epoch,
                next: self.record.next,
            });
        }
        Ok(())
    }

    /// Moves the window to an epoch if it is past it, and writes the key anew: it is replaced whole or not at all.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sign`] for an epoch that is not the key's or before the window; what the operating system refuses.
    pub fn prepare(&mut self, epoch: u32) -> Result<(), StoreError> {
        self.prepare_with(epoch, &())
    }

    /// [`Self::prepare`], telling an observer of the leaves.
    ///
    /// # Errors
    ///
    /// As there; cancelled by the observer.
    pub fn prepare_with<O: Observer + ?Sized>(
        &mut self,
        epoch: u32,
        observer: &O,
    ) -> Result<(), StoreError> {
        let prepared = self.key.prepared();
        if prepared.contains(&u64::from(epoch)) {
            return Ok(());
        }
        let mut next = self.ahead.as_mut().and_then(Ahead::stop);
        let moved = self.move_window(epoch, &mut next, observer);
        if let Some(ahead) = &mut self.ahead {
            // What is left of it is the tree after the window only where that did not move.
            let next = next.filter(|_| moved.is_err());
            let next = next.or_else(|| self.key.next_tree());
            let started = Ahead::start(next, ahead.pause).map(|started| *ahead = started);
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
        replace(&self.path, key.as_bytes())?;
        self.key = map(&self.path)?;
        Ok(())
    }

    /// From now on makes the tree after the window in a thread of its own, [`LANES`] leaves at a time with a pause in between,
    /// so that the window moves without computing: at 100 ms, a tree of the production set takes seven minutes and less than
    /// one percent of a core. A tree that is needed before it is finished is finished at once. It is kept in memory only: what
    /// was made of it is lost with the process.
    ///
    /// # Errors
    ///
    /// [`StoreError::Io`] if there can be no thread.
    pub fn prepare_ahead(&mut self, pause: Duration) -> Result<(), StoreError> {
        self.ahead = None;
        let ahead = Ahead::start(self.key.next_tree(), pause).map_err(io(&self.path))?;
        self.ahead = Some(ahead);
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

fn map<S: Scheme>(path: &Path) -> Result<SecretKey<S, Mmap>, StoreError> {
    let file = File::open(path).map_err(io(path))?;
    // SAFETY: a mapping is sound while nobody writes to the file. We never do: a changed key is a new file under the old
    // name, and this mapping keeps the old one. Others are kept out by the file's permissions; a program of the same user
    // that writes into it could make reads differ from one another, as could a debugger.
    let bytes = unsafe { Mmap::map(&file) }.map_err(io(path))?;
    Ok(SecretKey::from_bytes(bytes)?)
}

/// A new file that only its owner can read.
fn new_file(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            StoreError::Exists(path.to_path_buf())
        } else {
            StoreError::Io(path.to_path_buf(), error)
        }
    })
}

/// Puts a file in place whole or not at all.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut name = path.as_os_str().to_os_string();
    name.push(".new");
    let new = PathBuf::from(name);
    // What a killed process left there was never in use.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(StoreError::Io(new, error));
        }
        _ => {}
    }
    let mut file = new_file(&new)?;
    let put = file
        .write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(io(&new))
        .and_then(|()| fs::rename(&new, path).map_err(io(path)));
    if put.is_err() {
        // Room for others, on a disk that is full
        let _ = fs::remove_file(&new);
    }
    put?;
    sync_folder(path)
}

/// Makes the names in a file's folder durable.
fn sync_folder(path: &Path) -> Result<(), StoreError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    #[cfg(unix)]
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(io(folder))?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

#[cfg(test)]
mod tests;
