//! Tests the record and the files on a simulated machine with power failures and killed processes, and key files on a
//! real disk.
#![allow(clippy::unwrap_used, clippy::panic)]

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::ControlFlow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::AtomicU64;

use super::files::FileSystem;
use super::record::{RECORD, STRIDE, Storage};
use super::*;
use crate::LeanSigTest;

/// Length of a slot of the record.
const SLOT: usize = RECORD - STRIDE;
/// Write unit of a disk, in bytes.
const SECTOR: usize = 512;

/// What happens to an unsynced write when the power fails.
#[derive(Clone, Copy, Debug)]
enum Torn {
    /// This many of its bytes are on the disk.
    Prefix(usize),
    /// Its sectors are zero.
    Zeroed,
}

/// All possible fates of a write to a slot of the record.
fn fates() -> Vec<Torn> {
    let mut fates: Vec<_> = (0..=SLOT).map(Torn::Prefix).collect();
    fates.push(Torn::Zeroed);
    fates
}

/// A few fates, for writes that fail together.
fn some_fates() -> Vec<Torn> {
    let mut fates: Vec<_> = [0, 1, 8, 12, SLOT - 1, SLOT].map(Torn::Prefix).into();
    fates.push(Torn::Zeroed);
    fates
}

/// A file: its contents on the disk, and writes in the page cache, which survive the process but not a power failure.
#[derive(Clone, Default)]
struct Content {
    disk: Vec<u8>,
    pending: Vec<(usize, Vec<u8>)>,
}

impl Content {
    fn cached(&self) -> Vec<u8> {
        self.after_power_loss(&vec![Torn::Prefix(usize::MAX); self.pending.len()])
    }

    fn after_power_loss(&self, fates: &[Torn]) -> Vec<u8> {
        let mut disk = self.disk.clone();
        for ((at, bytes), fate) in self.pending.iter().zip(fates) {
            disk.resize(disk.len().max(at + bytes.len()), 0);
            match fate {
                Torn::Prefix(length) => {
                    let length = bytes.len().min(*length);
                    disk[*at..at + length].copy_from_slice(&bytes[..length]);
                }
                Torn::Zeroed => {
                    let end = (at + bytes.len()).next_multiple_of(SECTOR).min(disk.len());
                    disk[at / SECTOR * SECTOR..end].fill(0);
                }
            }
        }
        disk
    }

    /// The possible disk contents, for every combination of these fates of the pending writes.
    fn all_power_losses(&self, fates: &[Torn]) -> Vec<Vec<u8>> {
        let mut combinations = vec![vec![]];
        for _ in &self.pending {
            combinations = combinations
                .iter()
                .flat_map(|first| fates.iter().map(|&fate| [&first[..], &[fate]].concat()))
                .collect();
        }
        let losses = combinations.iter();
        losses.map(|fates| self.after_power_loss(fates)).collect()
    }
}

/// Number of operations before the process dies. All later ones fail, the first of them halfway.
#[derive(Clone)]
struct Budget(Rc<Cell<usize>>);

impl Budget {
    fn new(operations: usize) -> Self {
        Self(Rc::new(Cell::new(operations)))
    }

    fn use_one(&self) -> io::Result<()> {
        let left = self.0.get().checked_sub(1);
        self.0
            .set(left.ok_or_else(|| io::Error::other("the process is dead"))?);
        Ok(())
    }
}

/// An open file on the simulated machine.
#[derive(Clone)]
struct Fragile {
    content: Rc<RefCell<Content>>,
    budget: Budget,
}

impl Fragile {
    fn new(disk: Vec<u8>) -> Self {
        let content = Content {
            disk,
            pending: Vec::new(),
        };
        Self {
            content: Rc::new(RefCell::new(content)),
            budget: Budget::new(usize::MAX),
        }
    }

    /// The file as opened by another process, which dies after this number of operations.
    fn reopened(&self, operations: usize) -> Self {
        Self {
            content: Rc::clone(&self.content),
            budget: Budget::new(operations),
        }
    }

    fn cached(&self) -> Vec<u8> {
        self.content.borrow().cached()
    }

    fn all_power_losses(&self, fates: &[Torn]) -> Vec<Vec<u8>> {
        self.content.borrow().all_power_losses(fates)
    }
}

impl Storage for Fragile {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        Ok(self.cached())
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        // A process that dies in this call may have written the data.
        let mut content = self.content.borrow_mut();
        content.pending.push((at as usize, bytes.to_vec()));
        self.budget.use_one()
    }

    fn sync(&mut self) -> io::Result<()> {
        self.budget.use_one()?;
        let disk = self.cached();
        let mut content = self.content.borrow_mut();
        content.disk = disk;
        content.pending.clear();
        Ok(())
    }
}

const IDENTITY: [u8; 32] = [7; 32];

/// A record on a simulated disk with all epochs below 5 spent.
fn fragile() -> Fragile {
    let file = Fragile::new(Vec::new());
    Record::create(file.clone(), IDENTITY, 5).unwrap();
    file
}

/// The lowest unspent epoch in a record with these bytes, if it can be opened.
fn next_by(bytes: Vec<u8>) -> Option<u64> {
    let record = Record::open(Fragile::new(bytes), IDENTITY).unwrap();
    record.map(|record| record.next())
}

/// Opens the record in a process that dies after this number of operations, and spends epochs until then. Returns the
/// lowest epoch that was not given out, at least `given_out`.
fn spend_until_death(file: &Fragile, operations: usize, given_out: u64) -> u64 {
    let Ok(record) = Record::open(file.reopened(operations), IDENTITY) else {
        return given_out;
    };
    let mut record = record.unwrap();
    assert!(record.next() >= given_out);
    let mut given_out = given_out;
    for _ in 0..10 {
        let next = record.next() + 3;
        if record.spend(next).is_err() {
            break;
        }
        given_out = next;
    }
    given_out
}

#[test]
fn a_power_loss_at_any_instant() {
    for operations in 0..24 {
        let file = fragile();
        let given_out = spend_until_death(&file, operations, 5);
        for bytes in file.all_power_losses(&fates()) {
            let again = Fragile::new(bytes);
            let mut record = Record::open(again.clone(), IDENTITY).unwrap().unwrap();
            assert!(record.next() >= given_out, "{operations} operations");
            // The record remains usable.
            let next = record.next() + 1;
            record.spend(next).unwrap();
            assert_eq!(next_by(again.cached()), Some(next));
        }
    }
}

#[test]
fn a_kill_at_any_instant_then_a_power_loss_at_any_other() {
    for first in 0..12 {
        for second in 0..12 {
            let file = fragile();
            let given_out = spend_until_death(&file, first, 5);
            // The page cache survives the process.
            let given_out = spend_until_death(&file, second, given_out);
            for bytes in file.all_power_losses(&some_fates()) {
                let next = next_by(bytes);
                assert!(next.unwrap() >= given_out, "{first}, {second}: {next:?}");
            }
        }
    }
}

#[test]
fn damage_to_one_place_spends_no_less() {
    let file = fragile();
    let mut record = Record::open(file.clone(), IDENTITY).unwrap().unwrap();
    for next in [5, 6, 9, 10] {
        if next > 5 {
            record.spend(next).unwrap();
        }
        let bytes = file.cached();
        for bit in 0..8 * RECORD {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let damaged = Fragile::new(bytes);
            assert_eq!(next_by(damaged.cached()), Some(next), "bit {bit}");
            // Opening repairs it, so the other slot may now be damaged as well.
            if bit % 64 == 0 {
                Record::open(damaged.clone(), IDENTITY).unwrap().unwrap();
                let mut bytes = damaged.cached();
                let other = (bit / 8 + STRIDE) % (2 * STRIDE);
                bytes[other.min(RECORD - 1)] ^= 1;
                assert_eq!(next_by(bytes), Some(next), "bit {bit}");
            }
        }
        for sector in (0..RECORD).step_by(SECTOR) {
            let mut bytes = bytes.clone();
            let end = RECORD.min(sector + SECTOR);
            bytes[sector..end].fill(0);
            assert_eq!(next_by(bytes.clone()), Some(next), "sector at {sector}");
            bytes[sector..end].fill(0xff);
            assert_eq!(next_by(bytes), Some(next), "sector at {sector}");
        }
        // A write that the disk acknowledged and lost
        for place in [0, STRIDE] {
            let mut bytes = bytes.clone();
            bytes[place..place + SLOT].copy_from_slice(&fragile().cached()[..SLOT]);
            assert_eq!(next_by(bytes), Some(next), "place at {place}");
        }
    }
}

/// Damage in addition to a crash may make the record unusable, but never unspends an epoch.
#[test]
fn damage_after_a_crash_spends_no_less() {
    for operations in 0..12 {
        let file = fragile();
        let given_out = spend_until_death(&file, operations, 5);
        for bytes in file.all_power_losses(&some_fates()) {
            for at in (0..SLOT).chain(STRIDE..RECORD) {
                let mut bytes = bytes.clone();
                bytes[at] ^= 0x20;
                let next = next_by(bytes);
                assert!(next.is_none_or(|next| next >= given_out), "{next:?}");
            }
        }
    }
}

#[test]
fn a_running_signer_survives_damage_to_one_place() {
    for place in [0, STRIDE] {
        let file = fragile();
        let mut record = Record::open(file.clone(), IDENTITY).unwrap().unwrap();
        record.spend(8).unwrap();
        file.content.borrow_mut().disk[place + 9] ^= 1;
        record.spend(9).unwrap();
        let mut bytes = file.cached();
        bytes[STRIDE - place + 9] ^= 1;
        assert_eq!(next_by(bytes), Some(9));
    }
}

#[test]
fn a_damaged_record_is_refused() {
    let bytes = fragile().cached();
    assert_eq!(next_by(bytes.clone()), Some(5));
    let mut other = bytes.clone();
    other[9] ^= 1;
    other[STRIDE + 9] ^= 1;
    assert_eq!(next_by(other), None);
    for length in [0, 1, RECORD - 1, RECORD + 1] {
        assert_eq!(next_by(vec![0; length]), None);
    }
    let file = Fragile::new(bytes);
    assert!(Record::open(file, [2; 32]).unwrap().is_none());
}

#[test]
fn a_record_that_changed_under_a_signer_is_refused() {
    let file = fragile();
    let mut record = Record::open(file.clone(), IDENTITY).unwrap().unwrap();
    let mut history = vec![file.cached()];
    for next in [6, 7, 9] {
        record.spend(next).unwrap();
        history.push(file.cached());
    }
    let latest = history.pop().unwrap();
    // The record of another process, with the same number of signatures for other epochs
    let other = fragile();
    let mut copy = Record::open(other.clone(), IDENTITY).unwrap().unwrap();
    for next in [6, 7, 8] {
        copy.spend(next).unwrap();
    }
    history.push(other.cached());
    copy.spend(100).unwrap();
    history.push(other.cached());
    history.push(vec![0; RECORD]);
    history.push(Vec::new());
    for bytes in history {
        file.content.borrow_mut().disk = bytes.clone();
        assert!(matches!(record.spend(10), Err(SpendError::Changed)));
        assert_eq!(file.cached(), bytes);
    }
    file.content.borrow_mut().disk = latest;
    record.spend(10).unwrap();
}

/// Occasional disk errors, with the data of a failed sync lost or kept. The signer continues.
#[test]
fn a_failing_disk_spends_no_less() {
    for operations in 1..12 {
        for second in 0..5 {
            for lost in [
                None,
                Some(Torn::Prefix(0)),
                Some(Torn::Prefix(12)),
                Some(Torn::Zeroed),
            ] {
                let file = fragile();
                let mut record = Record::open(file.clone(), IDENTITY).unwrap().unwrap();
                record.file.budget.0.set(operations);
                let mut given_out = 5;
                let mut next = 5;
                let mut spend = |record: &mut Record<Fragile>, times| {
                    for _ in 0..times {
                        next += 1;
                        match record.spend(next) {
                            Ok(()) => given_out = next,
                            Err(SpendError::Io(_)) => return,
                            Err(SpendError::Changed) => panic!("our own record"),
                        }
                    }
                };
                spend(&mut record, 10);
                if let Some(fate) = lost {
                    // After a failed sync, Linux marks the pages as clean: the write is in the cache but not on the
                    // disk.
                    let disk = {
                        let content = file.content.borrow();
                        content.after_power_loss(&vec![fate; content.pending.len()])
                    };
                    file.content.borrow_mut().disk = disk;
                }
                record.file.budget.0.set(second);
                spend(&mut record, 3);
                record.file.budget.0.set(usize::MAX);
                spend(&mut record, 2);
                for bytes in file.all_power_losses(&some_fates()) {
                    assert!(next_by(bytes).unwrap() >= given_out);
                }
            }
        }
    }
}

/// The files by name. Each file tracks the fates of its writes, and a power failure may lose changes of names.
#[derive(Clone, Default)]
struct Names(BTreeMap<PathBuf, Rc<RefCell<Content>>>);

/// A directory on the simulated machine: names on the disk, and unsynced changes to them.
struct Machine {
    disk: RefCell<Names>,
    /// The names after each change, in order. A power failure keeps some number of the first changes.
    pending: RefCell<Vec<Names>>,
    budget: Budget,
}

impl Machine {
    fn new(operations: usize) -> Self {
        Self {
            disk: RefCell::default(),
            pending: RefCell::default(),
            budget: Budget::new(operations),
        }
    }

    fn names(&self) -> Names {
        let last = self.pending.borrow().last().cloned();
        last.unwrap_or_else(|| self.disk.borrow().clone())
    }

    fn change<T>(&self, change: impl FnOnce(&mut Names) -> io::Result<T>) -> io::Result<T> {
        let mut names = self.names();
        let done = change(&mut names)?;
        // A process that dies in this call may have changed the directory.
        self.pending.borrow_mut().push(names);
        self.budget.use_one()?;
        Ok(done)
    }

    /// The possible files after a power failure.
    fn all_power_losses(&self) -> Vec<BTreeMap<PathBuf, Vec<u8>>> {
        let mut folders = vec![self.disk.borrow().clone()];
        folders.extend(self.pending.borrow().iter().cloned());
        let mut losses = Vec::new();
        for names in folders {
            for fate in some_fates() {
                let files = names.0.iter().map(|(path, content)| {
                    let content = content.borrow();
                    let bytes = content.after_power_loss(&vec![fate; content.pending.len()]);
                    (path.clone(), bytes)
                });
                losses.push(files.collect());
            }
        }
        losses
    }
}

impl FileSystem for Machine {
    type File = Fragile;

    fn exists(&self, path: &Path) -> bool {
        self.names().0.contains_key(path)
    }

    fn create(&self, path: &Path) -> io::Result<Fragile> {
        let content = Rc::new(RefCell::new(Content::default()));
        self.change(|names| {
            if names.0.contains_key(path) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            names.0.insert(path.into(), Rc::clone(&content));
            Ok(())
        })?;
        Ok(Fragile {
            content,
            budget: self.budget.clone(),
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(|names| {
            let content = names.0.remove(from).ok_or(io::ErrorKind::NotFound)?;
            names.0.insert(to.into(), content);
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change(|names| {
            names.0.remove(path).ok_or(io::ErrorKind::NotFound)?;
            Ok(())
        })
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        self.budget.use_one()?;
        *self.disk.borrow_mut() = self.names();
        self.pending.borrow_mut().clear();
        Ok(())
    }
}

#[test]
fn a_replaced_file_is_old_or_new_and_new_once_done() {
    let path = Path::new("key");
    let mut completed = 0;
    for operations in 0..12 {
        let machine = Machine::new(usize::MAX);
        replace(&machine, path, b"old").unwrap();
        // Left by a process that was killed
        machine.create(Path::new("key.new")).unwrap();
        machine.sync_folder(path).unwrap();
        machine.budget.0.set(operations);
        let done = replace(&machine, path, b"new");
        completed += usize::from(done.is_ok());
        for files in machine.all_power_losses() {
            let bytes = files.get(path).map(Vec::as_slice);
            assert!(
                bytes == Some(b"new") || done.is_err() && bytes == Some(b"old"),
                "{operations} operations: {bytes:?}"
            );
        }
    }
    assert!((1..12).contains(&completed));
}

#[test]
fn a_new_key_survives_once_created_and_never_lacks_its_record() {
    let (path, record_path) = (Path::new("key"), Path::new("key.epoch"));
    let mut completed = 0;
    for operations in 0..16 {
        let machine = Machine::new(operations);
        let done = create_key(&machine, path, b"secret", IDENTITY, 5);
        completed += usize::from(done.is_ok());
        for files in machine.all_power_losses() {
            match files.get(path) {
                Some(key) => {
                    assert_eq!(key, b"secret");
                    assert_eq!(next_by(files[record_path].clone()), Some(5));
                }
                None => assert!(done.is_err(), "{operations} operations"),
            }
        }
    }
    assert!((1..16).contains(&completed));
}

#[test]
fn an_adopted_key_keeps_its_record() {
    let record_path = Path::new("key.epoch");
    let mut completed = 0;
    for operations in 0..8 {
        let machine = Machine::new(operations);
        let done = create_record(&machine, Path::new("key"), IDENTITY, 9);
        completed += usize::from(done.is_ok());
        for files in machine.all_power_losses() {
            let next = files.get(record_path).cloned().and_then(next_by);
            assert!(next == Some(9) || done.is_err() && next.is_none());
        }
    }
    assert!((1..8).contains(&completed));
}

/// A temporary directory, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(std::format!("lydite-xmss-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_key_file_signs_each_epoch_once() {
    let folder = Folder::new("once");
    let path = folder.0.join("key");
    let key = SecretKey::<LeanSigTest>::from_seed(&[3; 32], 0..256, &()).unwrap();
    KeyFile::create(&path, &key).unwrap();
    assert!(matches!(
        KeyFile::create(&path, &key),
        Err(StoreError::Exists(_))
    ));
    #[cfg(unix)]
    for path in [&path, &record_path(&path)] {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(
            fs::metadata(path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    let old = fs::read(&path).unwrap();
    assert_eq!(old, key.as_bytes());

    let public_key = key.public_key().unwrap();
    let mut file = KeyFile::<LeanSigTest>::open(&path).unwrap();
    assert!(matches!(
        KeyFile::<LeanSigTest>::open(&path),
        Err(StoreError::InUse(_))
    ));
    // The window moves when necessary.
    for epoch in [0, 7, 31, 32, 200] {
        let signature = file.sign(epoch, &[1; 32]).unwrap();
        assert!(public_key.verify(epoch, &[1; 32], &signature));
        for spent in [0, epoch] {
            let error = file.sign(spent, &[2; 32]).unwrap_err();
            assert!(
                matches!(error, StoreError::Spent { next, .. } if next == u64::from(epoch) + 1)
            );
        }
    }
    assert_eq!(file.unspent(), 201..256);
    assert!(matches!(
        file.sign(256, &[1; 32]),
        Err(StoreError::Sign(SignError::NotActive { .. }))
    ));
    drop(file);

    // After an old key file is restored, the record still applies.
    fs::write(&path, &old).unwrap();
    let mut file = KeyFile::<LeanSigTest>::open(&path).unwrap();
    assert!(matches!(
        file.sign(200, &[2; 32]),
        Err(StoreError::Spent { .. })
    ));
    assert!(public_key.verify(201, &[1; 32], &file.sign(201, &[1; 32]).unwrap()));
    drop(file);

    // The record of another key, then none
    let other = folder.0.join("other");
    let key = SecretKey::<LeanSigTest>::from_seed(&[4; 32], 0..256, &()).unwrap();
    KeyFile::create(&other, &key).unwrap();
    fs::copy(record_path(&other), record_path(&path)).unwrap();
    assert!(matches!(
        KeyFile::<LeanSigTest>::open(&path),
        Err(StoreError::BadRecord(_))
    ));
    fs::remove_file(record_path(&path)).unwrap();
    assert!(matches!(
        KeyFile::<LeanSigTest>::open(&path),
        Err(StoreError::NoRecord(_))
    ));
    KeyFile::<LeanSigTest>::adopt(&path, 202).unwrap();
    let mut file = KeyFile::<LeanSigTest>::open(&path).unwrap();
    assert!(matches!(
        file.sign(201, &[2; 32]),
        Err(StoreError::Spent { next: 202, .. })
    ));
    drop(file);

    // Not a valid key
    fs::write(&path, &old[..100]).unwrap();
    assert!(matches!(
        KeyFile::<LeanSigTest>::open(&path),
        Err(StoreError::Decode(_))
    ));
    fs::write(&path, []).unwrap();
    KeyFile::<LeanSigTest>::open(&path).unwrap_err();
}

/// Number of leaves computed while a window moves.
fn moved(file: &mut KeyFile<LeanSigTest>, epoch: u32) -> u64 {
    let made = AtomicU64::new(0);
    let observer = |_, all| {
        made.store(all, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    file.prepare_with(epoch, &observer).unwrap();
    made.into_inner()
}

fn wait_for_the_next_tree(file: &KeyFile<LeanSigTest>) {
    let thread = file.prefetched.as_ref().unwrap().thread.as_ref().unwrap();
    while !thread.is_finished() {
        thread::yield_now();
    }
}

#[test]
fn the_next_tree_is_made_ahead() {
    let folder = Folder::new("ahead");
    let path = folder.0.join("key");
    let key = SecretKey::<LeanSigTest>::from_seed(&[6; 32], 0..256, &()).unwrap();
    KeyFile::create(&path, &key).unwrap();
    let public_key = key.public_key().unwrap();
    let mut file = KeyFile::<LeanSigTest>::open(&path).unwrap();
    assert_eq!(moved(&mut file, 32), 16);

    file.prepare_ahead(Duration::from_micros(100)).unwrap();
    for epoch in (48..240).step_by(16) {
        // Alternate between a finished tree and one that may not have been started.
        if epoch % 48 == 0 {
            wait_for_the_next_tree(&file);
        }
        let made = moved(&mut file, epoch);
        assert!(made == 0 || made == 16 && epoch % 48 != 0, "{epoch} {made}");
        let signature = file.sign(epoch, &[1; 32]).unwrap();
        assert!(public_key.verify(epoch, &[1; 32], &signature));
    }
    drop(file);
    KeyFile::create(&folder.0.join("other"), &key).unwrap();
    let mut file = KeyFile::<LeanSigTest>::open(&folder.0.join("other")).unwrap();
    file.prepare_ahead(Duration::from_micros(100)).unwrap();
    // One tree further, the prefetched tree becomes the left one. Beyond that, it cannot be used.
    wait_for_the_next_tree(&file);
    assert_eq!(moved(&mut file, 48), 16);
    wait_for_the_next_tree(&file);
    assert_eq!(moved(&mut file, 100), 32);
    // If the window cannot be moved, or the epoch is not in the key's range, prefetching resumes with another tree or
    // the same one.
    fs::create_dir_all(folder.0.join("other.new/x")).unwrap();
    assert!(matches!(file.prepare(112), Err(StoreError::Io(..))));
    fs::remove_dir_all(folder.0.join("other.new")).unwrap();
    wait_for_the_next_tree(&file);
    assert!(matches!(
        file.prepare(256),
        Err(StoreError::Sign(SignError::NotActive { .. }))
    ));
    wait_for_the_next_tree(&file);
    let stop = |_, _| ControlFlow::Break(());
    assert!(matches!(
        file.prepare_with(200, &stop),
        Err(StoreError::Sign(SignError::Cancelled))
    ));
    assert_eq!(file.key().prepared(), 80..112);
    wait_for_the_next_tree(&file);
    assert_eq!(moved(&mut file, 112), 0);
    // There is no next tree at the end.
    file.prepare(255).unwrap();
    let signature = file.sign(255, &[1; 32]).unwrap();
    assert!(public_key.verify(255, &[1; 32], &signature));
}

#[test]
fn what_could_not_be_made_is_removed() {
    let folder = Folder::new("removed");
    let path = folder.0.join("key");
    let key = SecretKey::<LeanSigTest>::from_seed(&[6; 32], 0..256, &()).unwrap();
    // A directory blocks the name of the new key file.
    fs::create_dir_all(folder.0.join("key.new/x")).unwrap();
    KeyFile::create(&path, &key).unwrap_err();
    assert!(!record_path(&path).exists());
    fs::remove_dir_all(folder.0.join("key.new")).unwrap();
    KeyFile::create(&path, &key).unwrap();
}

#[cfg(unix)]
#[test]
fn a_record_replaced_under_a_signer_is_refused() {
    let folder = Folder::new("replaced");
    let path = folder.0.join("key");
    let (record, backup) = (record_path(&path), folder.0.join("backup"));
    let key = SecretKey::<LeanSigTest>::from_seed(&[6; 32], 0..256, &()).unwrap();
    KeyFile::create(&path, &key).unwrap();
    let mut file = KeyFile::<LeanSigTest>::open(&path).unwrap();
    file.sign(1, &[1; 32]).unwrap();
    let changed = |file: &mut KeyFile<LeanSigTest>| {
        let result = file.sign(3, &[2; 32]);
        assert!(matches!(result, Err(StoreError::Changed(path)) if path == record));
    };
    // Restored in place
    let old = fs::read(&record).unwrap();
    file.sign(2, &[1; 32]).unwrap();
    let latest = fs::read(&record).unwrap();
    fs::write(&record, old).unwrap();
    changed(&mut file);
    fs::write(&record, &latest).unwrap();
    // Replaced by a copy, which another process could lock, then removed
    fs::copy(&record, &backup).unwrap();
    fs::rename(&record, folder.0.join("original")).unwrap();
    changed(&mut file);
    fs::rename(&backup, &record).unwrap();
    changed(&mut file);
    fs::rename(folder.0.join("original"), &record).unwrap();
    file.sign(3, &[2; 32]).unwrap();
}

#[cfg(unix)]
#[test]
fn files_open_to_others_are_refused() {
    use alloc::string::ToString as _;
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("open");
    let path = folder.0.join("key");
    let record = record_path(&path);
    let key = SecretKey::<LeanSigTest>::from_seed(&[6; 32], 0..256, &()).unwrap();
    KeyFile::create(&path, &key).unwrap();
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    let refused = |result: Result<(), StoreError>, at: &Path, bits| {
        let error = result.unwrap_err();
        assert!(error.to_string().contains("run chmod 600"), "{error}");
        assert!(
            matches!(error, StoreError::Permissions { path, mode } if path == at && mode == bits)
        );
    };
    let open = || KeyFile::<LeanSigTest>::open(&path).map(drop);
    for mode in [0o644, 0o640, 0o604, 0o660, 0o777] {
        set(&path, mode).unwrap();
        refused(open(), &path, mode);
    }
    set(&path, 0o400).unwrap();
    open().unwrap();
    for mode in [0o620, 0o602, 0o666] {
        set(&record, mode).unwrap();
        refused(open(), &record, mode);
    }
    // A record contains no secret.
    set(&record, 0o644).unwrap();
    open().unwrap();
    fs::remove_file(&record).unwrap();
    set(&path, 0o644).unwrap();
    refused(open(), &path, 0o644);
    refused(KeyFile::<LeanSigTest>::adopt(&path, 3), &path, 0o644);
    assert!(!record.exists());
}

#[test]
fn a_wrong_signature_gives_nothing_away_and_costs_no_epoch() {
    let folder = Folder::new("faulty");
    let path = folder.0.join("key");
    let key = SecretKey::<LeanSigTest>::from_seed(&[6; 32], 0..256, &()).unwrap();
    KeyFile::create(&path, &key).unwrap();
    // A leaf that is a valid digest, but the wrong one
    let mut bytes = key.as_bytes().to_vec();
    let good = bytes.clone();
    let path_of_0 = key.sign(0, &[1; 32]).unwrap().to_bytes();
    let leaf_1 = &path_of_0[40..72];
    let at = bytes.windows(32).position(|node| node == leaf_1).unwrap();
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let mut file = KeyFile::<LeanSigTest>::open(&path).unwrap();
    assert!(matches!(
        file.sign(0, &[1; 32]),
        Err(StoreError::Sign(SignError::Faulty))
    ));
    assert_eq!(file.unspent(), 0..256);
    drop(file);
    fs::write(&path, good).unwrap();
    let mut file = KeyFile::<LeanSigTest>::open(&path).unwrap();
    file.sign(0, &[1; 32]).unwrap();
}
