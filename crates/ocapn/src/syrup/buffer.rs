//! Output buffers of the encoders, in addition to the caller's slice.
use alloc::vec::Vec;

use lydite_bytes::Buffer;
use lydite_hash::{Sha256, sha256_in_place};

/// A vector whose length exceeds what has been written, so that there is room for windows.
pub(super) struct VecBuffer<'a> {
    pub bytes: &'a mut Vec<u8>,
    pub written: usize,
}

impl<'a> VecBuffer<'a> {
    /// Appends after the contents of `bytes`.
    #[inline(always)]
    pub fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self {
            written: bytes.len(),
            bytes,
        }
    }

    /// Makes room for `more` bytes.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) {
        let least = self.written + more;
        self.bytes.reserve(least - self.bytes.len().min(least));
        self.bytes.resize(self.bytes.capacity(), 0);
    }
}

impl Buffer for VecBuffer<'_> {
    #[inline(always)]
    fn put<const N: usize>(&mut self, window: &[u8; N], used: usize) {
        if let Some(room) = self.window() {
            *room = *window;
        }
        self.written += used;
    }

    #[inline(always)]
    fn put_slice(&mut self, bytes: &[u8]) {
        if self.bytes.len() - self.written < bytes.len() {
            self.grow(bytes.len());
        }
        self.bytes[self.written..][..bytes.len()].copy_from_slice(bytes);
        self.written += bytes.len();
    }

    #[inline(always)]
    fn window<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        if self.bytes.len() - self.written < N {
            self.grow(N);
        }
        self.bytes[self.written..].first_chunk_mut()
    }

    #[inline(always)]
    fn advance(&mut self, used: usize) {
        self.written += used;
    }
}

/// Computes SHA-256 of what is written. Messages that fit in the block are hashed there; longer ones pass through it.
pub(super) struct HashBuffer {
    block: [u8; BLOCK],
    used: usize,
    hasher: Option<Sha256>,
}

/// Enough for a few compressions at once, and small enough to be cleared inline with a few stores. `memset` uses
/// 64-byte stores; if these straddle cache lines, which depends on the address of the stack, a content id takes 8 to 21
/// ns longer.
const BLOCK: usize = 192;

impl HashBuffer {
    #[inline(always)]
    pub fn new() -> Self {
        Self {
            block: [0; BLOCK],
            used: 0,
            hasher: None,
        }
    }

    #[inline(always)]
    pub fn finish(&mut self) -> [u8; 32] {
        match &mut self.hasher {
            None => sha256_in_place(&mut self.block, self.used),
            Some(hasher) => {
                hasher.update(&self.block[..self.used]);
                core::mem::take(hasher).finalize()
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
        match self.window::<N>() {
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

    #[inline(always)]
    fn window<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        self.block.get_mut(self.used..)?.first_chunk_mut()
    }

    #[inline(always)]
    fn advance(&mut self, used: usize) {
        self.used += used;
    }
}
