//! The record of spent epochs.
//!
//! The file holds one number, the lowest unspent epoch, in two places 4096 bytes apart. Each place is 32 bytes:
//! `sequence u64 | lowest unspent epoch u64 | checksum 16`, little-endian; the checksum covers the key's identity too.
//!
//! **Invariant.** Each place on the disk, if its checksum holds, covers every epoch whose signature has left the process.
//! [`Record::spend`] keeps it by writing and syncing one place, then the other, before it returns. It follows that:
//!
//! - Any damage to one place is harmless: a flipped bit, a lost sector, or a write that the disk acknowledged and lost. The
//!   other place holds the same number. Damage to both is an error.
//! - A write torn by a power failure damages one place while the other one is whole and durable. The signature has not left,
//!   so whichever number the whole place holds is right.
//!
//! A killed process may leave a write in the page cache only. [`Record::open`] syncs the file before it uses what it read,
//! so at most one place is ever unsynced.

use std::io;

use alloc::vec::Vec;

use lydite_hash::keccak256;

use super::files::Storage;

/// Bytes of one place.
const SLOT: usize = 32;
/// Distance between the places, larger than the unit in which a disk writes.
pub(super) const STRIDE: usize = 4096;
/// Bytes of a record.
pub(super) const RECORD: usize = STRIDE + SLOT;

/// What a place holds: all epochs below `next` are spent. Both numbers only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    sequence: u64,
    next: u64,
}

/// The two places, `None` for one that is damaged.
struct Slots([Option<State>; 2]);

impl Slots {
    /// The highest numbers, if a place is whole.
    fn newest(&self) -> Option<State> {
        self.0.into_iter().flatten().reduce(|a, b| State {
            sequence: a.sequence.max(b.sequence),
            next: a.next.max(b.next),
        })
    }

    /// Index of the place to overwrite first: the damaged or the older one.
    fn worst(&self) -> usize {
        usize::from(self.0[1] < self.0[0])
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
    /// Which key: a hash of scheme and public key.
    identity: [u8; 32],
    /// What this process has written or tried to write.
    state: State,
    /// What both places held when a write last succeeded; differs from `state` only after a failure.
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

    /// Opens a record; `None` if both places are damaged. Repairs one that is damaged or older.
    pub(super) fn open(file: D, identity: [u8; 32]) -> io::Result<Option<Self>> {
        let mut record = Self {
            file,
            identity,
            state: State::default(),
            durable: State::default(),
        };
        // A killed process may have left its last write in the page cache only.
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

    /// Spends all epochs below `next`, which must not be lower than before. Both places are on the disk when this returns.
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

    /// Writes and syncs the place `first`, then the other one, which is whole until the first is durable.
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
