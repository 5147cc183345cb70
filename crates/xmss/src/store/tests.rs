//! The record on a disk that loses what was not synced, and key files on a real one.
#![allow(clippy::unwrap_used, clippy::panic)]

use alloc::vec;
use core::ops::ControlFlow;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;

use super::*;
use crate::LeanSigTest;

/// A disk that dies after some operations. Synced writes are kept; of the others any prefix may be.
#[derive(Clone, Default)]
struct Fragile(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    kept: Vec<u8>,
    pending: Vec<(usize, Vec<u8>)>,
    left: usize,
}

impl Fragile {
    fn use_one(&self) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        state.left = state
            .left
            .checked_sub(1)
            .ok_or_else(|| io::Error::other("dead"))?;
        Ok(())
    }

    /// The disk after power is back, where `torn` bytes of each write that was not synced had reached it.
    fn revive(&self, torn: usize) -> Self {
        let state = self.0.borrow();
        let mut kept = state.kept.clone();
        for (at, bytes) in &state.pending {
            let bytes = &bytes[..torn.min(bytes.len())];
            kept.resize(kept.len().max(at + bytes.len()), 0);
            kept[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        Self(Rc::new(RefCell::new(State {
            kept,
            pending: Vec::new(),
            left: usize::MAX,
        })))
    }
}

impl Disk for Fragile {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        Ok(self.revive(usize::MAX).0.borrow().kept.clone())
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        // The write may reach the disk even where the process dies in it.
        self.0
            .borrow_mut()
            .pending
            .push((at as usize, bytes.to_vec()));
        self.use_one()
    }

    fn sync(&mut self) -> io::Result<()> {
        self.use_one()?;
        let kept = self.revive(usize::MAX).0.borrow().kept.clone();
        let mut state = self.0.borrow_mut();
        state.kept = kept;
        state.pending.clear();
        Ok(())
    }
}

#[test]
fn no_epoch_is_given_out_twice_wherever_the_machine_dies() {
    let identity = [7; 32];
    for operations in 0..24 {
        for torn in 0..=SLOT {
            let disk = Fragile::default();
            disk.0.borrow_mut().left = usize::MAX;
            let mut record = Record::create(disk.clone(), identity, 5).unwrap();
            disk.0.borrow_mut().left = operations;
            let mut given_out = 5;
            for next in (6..).step_by(3).take(10) {
                if record.spend(next).is_err() {
                    break;
                }
                given_out = next;
            }
            let again = Record::open(disk.revive(torn), identity).unwrap().unwrap();
            assert!(
                again.next >= given_out,
                "{operations} operations, {torn} bytes"
            );
            // and the record goes on working
            let mut again = again;
            let next = again.next + 1;
            again.spend(next).unwrap();
            let disk = again.disk.clone();
            assert_eq!(Record::open(disk, identity).unwrap().unwrap().next, next);
        }
    }
}

#[test]
fn damaged_records_are_refused() {
    let disk = Fragile::default();
    disk.0.borrow_mut().left = usize::MAX;
    Record::create(disk.clone(), [1; 32], 9).unwrap();
    assert!(Record::open(disk.clone(), [2; 32]).unwrap().is_none());
    // One place alone is enough, whatever bit of the other is wrong; none is not.
    for bit in 0..8 * RECORD {
        disk.0.borrow_mut().kept[bit / 8] ^= 1 << (bit % 8);
        let record = Record::open(disk.clone(), [1; 32]).unwrap().unwrap();
        assert_eq!(record.next, 9, "bit {bit}");
        disk.0.borrow_mut().kept[bit / 8] ^= 1 << (bit % 8);
    }
    disk.0.borrow_mut().kept[9] ^= 1;
    disk.0.borrow_mut().kept[STRIDE + 9] ^= 1;
    assert!(Record::open(disk.clone(), [1; 32]).unwrap().is_none());
    for length in [0, 1, RECORD - 1, RECORD + 1] {
        disk.0.borrow_mut().kept = vec![0; length];
        assert!(Record::open(disk.clone(), [1; 32]).unwrap().is_none());
    }
}

/// A folder of its own that goes away.
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
    // The window moves when it has to.
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

    // An old key put back knows no more than the record.
    fs::write(&path, &old).unwrap();
    let mut file = KeyFile::<LeanSigTest>::open(&path).unwrap();
    assert!(matches!(
        file.sign(200, &[2; 32]),
        Err(StoreError::Spent { .. })
    ));
    assert!(public_key.verify(201, &[1; 32], &file.sign(201, &[1; 32]).unwrap()));
    drop(file);

    // Another key's record, and none
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

    // No key
    fs::write(&path, &old[..100]).unwrap();
    assert!(matches!(
        KeyFile::<LeanSigTest>::open(&path),
        Err(StoreError::Decode(_))
    ));
    fs::write(&path, []).unwrap();
    KeyFile::<LeanSigTest>::open(&path).unwrap_err();
}

/// Leaves made while a window moves.
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
    let thread = file.ahead.as_ref().unwrap().thread.as_ref().unwrap();
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
        // Whole, and perhaps not begun
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
    // A tree further on, the one that was made is the left one; further, it is of no use.
    wait_for_the_next_tree(&file);
    assert_eq!(moved(&mut file, 48), 16);
    wait_for_the_next_tree(&file);
    assert_eq!(moved(&mut file, 100), 32);
    // A window that could not be moved, and an epoch that is not the key's: another tree is made ahead, or the same one.
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
    // At the end there is no next tree.
    file.prepare(255).unwrap();
    let signature = file.sign(255, &[1; 32]).unwrap();
    assert!(public_key.verify(255, &[1; 32], &signature));
}

#[test]
fn what_could_not_be_made_is_removed() {
    let folder = Folder::new("removed");
    let path = folder.0.join("key");
    let key = SecretKey::<LeanSigTest>::from_seed(&[6; 32], 0..256, &()).unwrap();
    // The new key has a folder in its way.
    fs::create_dir_all(folder.0.join("key.new/x")).unwrap();
    KeyFile::create(&path, &key).unwrap_err();
    assert!(!record_path(&path).exists());
    fs::remove_dir_all(folder.0.join("key.new")).unwrap();
    KeyFile::create(&path, &key).unwrap();
}
