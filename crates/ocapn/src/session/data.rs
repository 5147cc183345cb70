//! The bytes of payloads.
use alloc::{sync::Arc, vec::Vec};
use core::ops::{Deref, Range};

/// Length from which on copies and parts share memory. To copy less takes little time, and the memory is used again.
pub(super) const LONG: usize = 4096;

/// Encoded data, in their own memory or in memory that they share.
#[derive(Clone, Debug)]
pub(super) enum Data {
    Own(Vec<u8>),
    Shared(Shared),
}

/// A range of shared memory. It is at least half of the memory, so that limits on the lengths of data also limit the
/// memory that they keep.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    memory: Arc<Vec<u8>>,
    start: u32,
    end: u32,
}

impl Shared {
    /// Takes the bytes if they are long.
    pub fn take(bytes: &mut Vec<u8>) -> Option<Self> {
        let is_long = bytes.len() >= LONG && bytes.len() >= bytes.capacity() / 2;
        let end = u32::try_from(bytes.len()).ok().filter(|_| is_long)?;
        let memory = Arc::new(core::mem::take(bytes));
        Some(Self {
            memory,
            start: 0,
            end,
        })
    }

    /// The memory.
    pub const fn memory(&self) -> &Arc<Vec<u8>> {
        &self.memory
    }

    /// A range of the bytes, unless it is short or less than half of the memory.
    fn part(&self, range: Range<usize>) -> Option<Self> {
        let is_long = range.len() >= LONG && range.len() >= self.memory.capacity() / 2;
        (is_long && range.end <= self.len()).then(|| Self {
            memory: self.memory.clone(),
            start: self.start + range.start as u32,
            end: self.start + range.end as u32,
        })
    }

    /// Like [`part`](Self::part), for a slice of the bytes.
    pub fn part_of(&self, slice: &[u8]) -> Option<Self> {
        let start = slice.as_ptr().addr().checked_sub(self.as_ptr().addr())?;
        self.part(start..start + slice.len())
    }
}

impl Deref for Shared {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start as usize..self.end as usize]
    }
}

impl Data {
    /// The memory, with the bytes in it unless it is shared.
    pub fn into_own(self) -> Vec<u8> {
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(_) => Vec::new(),
        }
    }

    /// Bytes of memory that nothing else uses.
    pub const fn capacity(&self) -> usize {
        match self {
            Self::Own(bytes) => bytes.capacity(),
            Self::Shared(_) => 0,
        }
    }

    /// The bytes in shared memory, if they are in it.
    pub const fn shared(&self) -> Option<&Shared> {
        match self {
            Self::Own(_) => None,
            Self::Shared(shared) => Some(shared),
        }
    }

    /// A range of the bytes that shares their memory, if that is possible.
    pub fn part(&self, range: Range<usize>) -> Option<Self> {
        self.shared()?.part(range).map(Self::Shared)
    }

    /// Removes all bytes outside a range.
    pub fn reduce(&mut self, range: Range<usize>) {
        match self {
            Self::Own(bytes) => {
                bytes.truncate(range.end);
                bytes.drain(..range.start);
            }
            Self::Shared(shared) => {
                let part = shared.part(range.clone()).map(Self::Shared);
                *self = part.unwrap_or_else(|| Self::Own(shared[range].to_vec()));
            }
        }
    }
}

impl From<Vec<u8>> for Data {
    #[inline]
    fn from(bytes: Vec<u8>) -> Self {
        if bytes.len() < LONG {
            return Self::Own(bytes);
        }
        long(bytes)
    }
}

#[inline(never)]
fn long(mut bytes: Vec<u8>) -> Data {
    Shared::take(&mut bytes).map_or_else(|| Data::Own(bytes), Data::Shared)
}

impl Default for Data {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl Deref for Data {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(shared) => shared,
        }
    }
}
