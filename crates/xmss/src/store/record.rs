//! The record of spent epochs.
//!
//! The file holds one number, the lowest unspent epoch, in two slots 4096 bytes apart. Each slot is 32 bytes: `sequence
//! u64 | lowest unspent epoch u64 | checksum 16`, little-endian. The checksum also covers the key's identity.
//!
//! **Invariant.** Each slot on the disk, if its checksum is valid, covers every epoch whose signature has been
//! returned. [`Record::spend`] maintains this by writing and syncing one slot, then the other, before it returns. It
//! follows that:
//!
//! - Any damage to one slot is harmless: a flipped bit, a lost sector, or a write that the disk acknowledged and lost.
//!   The other slot holds the same number. Damage to both is an error.
//! - A write torn by a power failure damages one slot while the other one is intact and durable. The signature has not
//!   been returned, so either number in the intact slot is correct.
//!
//! A killed process may leave a write only in the page cache. [`Record::open`] syncs the file before it uses what it
//! read, so at most one slot is ever unsynced.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};

use alloc::vec::Vec;

use lydite_hash::keccak256;

/// Length of a slot in bytes.
const SLOT: usize = 32;
/// Distance between the slots in bytes, larger than a disk's write unit.
pub(super) const STRIDE: usize = 4096;
/// Length of a record in bytes.
pub(super) const RECORD: usize = STRIDE + SLOT;

/// The contents of a slot: all epochs below `next` are spent. Both numbers only increase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    sequence: u64,
    next: u64,
}

/// The two slots, `None` for a damaged one.
struct Slots([Option<State>; 2]);

impl Slots {
    /// The highest numbers, or `None` if both slots are damaged.
    fn newest(&self) -> Option<State> {
        self.0.into_iter().flatten().reduce(|a, b| State {
            sequence: a.sequence.max(b.sequence),
            next: a.next.max(b.next),
        })
    }

    /// Index of the slot to overwrite first: the damaged or the older one.
    fn worst(&self) -> usize {
        usize::from(self.0[1] < self.0[0])
    }
}

/// The file of a record.
pub(super) trait Storage {
    /// Returns the file's bytes, or the first [`RECORD`] + 1 of them.
    fn read(&mut self) -> io::Result<Vec<u8>>;
    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Returns when all writes to the file, by any process, are on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

impl Storage for File {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.rewind()?;
        // The extra byte shows that the file is too long.
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

/// Why an epoch was not spent.
#[derive(Debug)]
pub(super) enum SpendError {
    Io(io::Error),
    /// The file does not hold what this process wrote.
    Changed,
}

impl From<io::Error> for SpendError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The spent epochs: all below [`Self::next`].
pub(super) struct Record<D> {
    pub(super) file: D,
    /// Identifies the key: a hash of scheme and public key.
    identity: [u8; 32],
    /// What this process has written or tried to write.
    state: State,
    /// The contents of both slots when a write last succeeded. Differs from `state` only after a failure.
    durable: State,
}

impl<D: Storage> Record<D> {
    /// Writes a new record to an empty file.
    pub(super) fn create(file: D, identity: [u8; 32], next: u64) -> io::Result<Self> {
        let state = State { sequence: 1, next };
        let mut record = Self {
            file,
            identity,
            state,
            durable: state,
        };
        let slot = record.slot(state);
        let mut bytes = [0; RECORD];
        bytes[..SLOT].copy_from_slice(&slot);
        bytes[STRIDE..].copy_from_slice(&slot);
        record.file.write(0, &bytes)?;
        record.file.sync()?;
        Ok(record)
    }

    /// Opens a record. Returns `None` if both slots are damaged, and repairs one that is damaged or older.
    pub(super) fn open(file: D, identity: [u8; 32]) -> io::Result<Option<Self>> {
        let mut record = Self {
            file,
            identity,
            state: State::default(),
            durable: State::default(),
        };
        // A killed process may have left its last write only in the page cache.
        record.file.sync()?;
        let slots = record.slots()?;
        let Some(state) = slots.newest() else {
            return Ok(None);
        };
        record.state = state;
        if slots.0[0] == slots.0[1] {
            record.durable = state;
        } else {
            record.write_both(slots.worst())?;
        }
        Ok(Some(record))
    }

    /// The lowest unspent epoch.
    pub(super) fn next(&self) -> u64 {
        self.state.next
    }

    /// Spends all epochs below `next`, which must not decrease. Both slots are on the disk when this returns.
    ///
    /// # Errors
    ///
    /// After [`SpendError::Io`] the epochs are spent for this process. After [`SpendError::Changed`] nothing was written.
    pub(super) fn spend(&mut self, next: u64) -> Result<(), SpendError> {
        let slots = self.slots()?;
        let found = slots.newest().ok_or(SpendError::Changed)?;
        // After a failed write the file holds the old numbers, the new ones, or those of a failure in between.
        let (low, high) = (self.durable, self.state);
        if !(low.sequence..=high.sequence).contains(&found.sequence)
            || !(low.next..=high.next).contains(&found.next)
        {
            return Err(SpendError::Changed);
        }
        self.state = State {
            sequence: high.sequence + 1,
            next,
        };
        Ok(self.write_both(slots.worst())?)
    }

    /// Writes and syncs the slot `first`, then the other one, which stays intact until the first is durable.
    fn write_both(&mut self, first: usize) -> io::Result<()> {
        let slot = self.slot(self.state);
        for place in [first, 1 - first] {
            self.file.write((place * STRIDE) as u64, &slot)?;
            self.file.sync()?;
        }
        self.durable = self.state;
        Ok(())
    }

    fn slot(&self, state: State) -> [u8; SLOT] {
        let mut slot = [0; SLOT];
        slot[..8].copy_from_slice(&state.sequence.to_le_bytes());
        slot[8..16].copy_from_slice(&state.next.to_le_bytes());
        let check = keccak256(&[&self.identity[..], &slot[..16]].concat());
        slot[16..].copy_from_slice(&check[..16]);
        slot
    }

    fn slots(&mut self) -> io::Result<Slots> {
        let bytes: Vec<u8> = self.file.read()?;
        let read = |at: usize| {
            if bytes.len() != RECORD {
                return None;
            }
            let slot = &bytes[at..at + SLOT];
            let state = State {
                sequence: u64::from_le_bytes(*slot.first_chunk()?),
                next: u64::from_le_bytes(*slot[8..].first_chunk()?),
            };
            (slot == self.slot(state)).then_some(state)
        };
        Ok(Slots([read(0), read(STRIDE)]))
    }
}
