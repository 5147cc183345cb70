//! What an encoder writes to.
use alloc::vec::Vec;

use lydite_hash::{Sha256, sha256};

/// Where the bytes of an encoding go: a vector, the caller's bytes or a hash.
pub trait Buffer {
    /// Appends the first `used` bytes of `window`, `used <= N`. An implementation may store the whole window at once where
    /// it has the room, and count only the `used` bytes.
    fn put<const N: usize>(&mut self, window: &[u8; N], used: usize);

    /// Appends `bytes`.
    fn put_slice(&mut self, bytes: &[u8]);
}

impl Buffer for Vec<u8> {
    #[inline(always)]
    fn put<const N: usize>(&mut self, window: &[u8; N], used: usize) {
        self.extend_from_slice(window);
        self.truncate(self.len() - N + used);
    }

    #[inline(always)]
    fn put_slice(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// The caller's bytes. `written` counts on past the end, so that the length needed is known.
pub(super) struct SliceBuffer<'a> {
    pub bytes: &'a mut [u8],
    pub written: usize,
}

impl Buffer for SliceBuffer<'_> {
    #[inline(always)]
    fn put<const N: usize>(&mut self, window: &[u8; N], used: usize) {
        let room = self.bytes.get_mut(self.written..);
        match room.and_then(|room| room.first_chunk_mut::<N>()) {
            Some(room) => *room = *window,
            None => put_tail(self.bytes, self.written, &window[..used]),
        }
        self.written = self.written.saturating_add(used);
    }

    #[inline(always)]
    fn put_slice(&mut self, bytes: &[u8]) {
        let room = self.bytes.get_mut(self.written..);
        match room.and_then(|room| room.get_mut(..bytes.len())) {
            Some(room) => room.copy_from_slice(bytes),
            None => put_tail(self.bytes, self.written, bytes),
        }
        self.written = self.written.saturating_add(bytes.len());
    }
}

/// Without room for the whole window: the used bytes only, as many as fit.
#[cold]
#[inline(never)]
fn put_tail(out: &mut [u8], written: usize, bytes: &[u8]) {
    if let Some(room) = out.get_mut(written..) {
        let n = room.len().min(bytes.len());
        room[..n].copy_from_slice(&bytes[..n]);
    }
}

/// SHA-256 of what is written. Messages that fit the block are hashed in one go; longer ones pass through it.
pub(super) struct HashBuffer {
    block: [u8; BLOCK],
    used: usize,
    hasher: Option<Sha256>,
}

/// A few compressions at once; small enough to be cleared for nothing.
const BLOCK: usize = 256;

impl HashBuffer {
    #[inline]
    pub fn new() -> Self {
        Self {
            block: [0; BLOCK],
            used: 0,
            hasher: None,
        }
    }

    #[inline]
    pub fn finish(self) -> [u8; 32] {
        let last = &self.block[..self.used];
        match self.hasher {
            None => sha256(last),
            Some(mut hasher) => {
                hasher.update(last);
                hasher.finalize()
            }
        }
    }

    /// Hashes what the block holds, then `bytes`.
    #[cold]
    #[inline(never)]
    fn flush(&mut self, bytes: &[u8]) {
        let hasher = self.hasher.get_or_insert_with(Sha256::new);
        hasher.update(&self.block[..self.used]);
        hasher.update(bytes);
        self.used = 0;
    }
}

impl Buffer for HashBuffer {
    #[inline(always)]
    fn put<const N: usize>(&mut self, window: &[u8; N], used: usize) {
        match self.block[self.used..].first_chunk_mut::<N>() {
            Some(room) => {
                *room = *window;
                self.used += used;
            }
            None => self.flush(&window[..used]),
        }
    }

    #[inline(always)]
    fn put_slice(&mut self, bytes: &[u8]) {
        match self.block[self.used..].get_mut(..bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.used += bytes.len();
            }
            None => self.flush(bytes),
        }
    }
}
