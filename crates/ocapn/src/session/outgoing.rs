//! Bytes that wait to be sent.
use alloc::vec::Vec;

use super::data::Shared;
use crate::captp::{Framing, put_header};
use crate::syrup::Buffer;

/// Length from which values are not copied. To copy less takes little time.
const LONG: usize = 16 << 10;

/// Bytes to be sent on a connection, in pieces: long values stay in their own memory.
#[derive(Debug, Default)]
pub struct Outgoing {
    /// All other bytes.
    bytes: Vec<u8>,
    /// Long values, and how many of the other bytes precede each.
    values: Vec<(usize, Shared)>,
    /// Bytes in long values.
    in_values: usize,
}

/// A position in [`Outgoing`].
#[derive(Clone, Copy)]
pub(super) struct Mark {
    bytes: usize,
    values: usize,
    length: usize,
}

impl Outgoing {
    /// The number of bytes.
    pub const fn len(&self) -> usize {
        self.bytes.len() + self.in_values
    }

    /// Whether there are no bytes.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes after the first `offset`, in pieces that are not empty.
    pub fn pieces(&self, offset: usize) -> impl Iterator<Item = &[u8]> {
        let (mut from, mut skip) = (0, offset);
        let values = self.values.iter().map(|(at, value)| (*at, &value[..]));
        let values = values.chain([(self.bytes.len(), &[][..])]);
        let pieces = values.flat_map(move |(at, value)| {
            let before = &self.bytes[from..at];
            from = at;
            [before, value]
        });
        let rest = pieces.map(move |piece| {
            let skipped = skip.min(piece.len());
            skip -= skipped;
            &piece[skipped..]
        });
        rest.filter(|piece| !piece.is_empty())
    }

    /// Removes all bytes. Memory is kept, except that of long values.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.values.clear();
        self.in_values = 0;
    }

    /// Moves all bytes to the end of `out`.
    pub(super) fn move_to(&mut self, out: &mut Self) {
        if out.is_empty() {
            core::mem::swap(self, out);
        } else {
            let before = out.bytes.len();
            let values = self.values.drain(..);
            out.values
                .extend(values.map(|(at, value)| (before + at, value)));
            out.bytes.append(&mut self.bytes);
            out.in_values += core::mem::take(&mut self.in_values);
        }
    }

    /// Like [`move_to`](Self::move_to), with copies of long values.
    pub(super) fn copy_to(&mut self, out: &mut Vec<u8>) {
        if !self.values.is_empty() {
            out.reserve(self.len());
            self.pieces(0)
                .for_each(|piece| out.extend_from_slice(piece));
            self.clear();
        } else if out.is_empty() {
            core::mem::swap(out, &mut self.bytes);
        } else {
            out.append(&mut self.bytes);
        }
    }

    /// Gets memory for bytes unless there is some.
    pub(super) fn use_memory(&mut self, memory: impl FnOnce() -> Vec<u8>) {
        if self.bytes.capacity() == 0 {
            self.bytes = memory();
        }
    }

    /// Takes the memory of the bytes, all of which have been moved.
    pub(super) fn take_memory(&mut self) -> Vec<u8> {
        debug_assert!(self.is_empty());
        core::mem::take(&mut self.bytes)
    }

    /// Where the next message starts.
    pub(super) const fn mark(&self) -> Mark {
        Mark {
            bytes: self.bytes.len(),
            values: self.values.len(),
            length: self.len(),
        }
    }

    /// The number of bytes after a position.
    pub(super) const fn length_from(&self, start: Mark) -> usize {
        self.len() - start.length
    }

    /// Where messages are appended.
    pub(super) const fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Like [`buffer`](Self::buffer), for a message that contains these data.
    pub(super) const fn buffer_around<'a>(&'a mut self, data: &'a Shared) -> BufferAround<'a> {
        BufferAround { out: self, data }
    }

    /// Removes what follows a position.
    pub(super) fn truncate(&mut self, mark: Mark) {
        self.bytes.truncate(mark.bytes);
        self.values.truncate(mark.values);
        self.in_values = mark.length - mark.bytes;
    }

    /// Writes the header of the message that starts at a position.
    pub(super) fn put_header(&mut self, framing: Framing, start: Mark) {
        let length = self.length_from(start);
        let header = put_header(framing, start.bytes, length, &mut self.bytes);
        let values = self.values[start.values..].iter_mut();
        values.for_each(|(at, _)| *at += header);
    }
}

/// Appends to [`Outgoing`]. Long parts of data are not copied.
pub(super) struct BufferAround<'a> {
    out: &'a mut Outgoing,
    data: &'a Shared,
}

impl Buffer for BufferAround<'_> {
    fn put<const N: usize>(&mut self, window: &[u8; N], used: usize) {
        self.out.bytes.put(window, used);
    }

    fn put_slice(&mut self, bytes: &[u8]) {
        let is_long = bytes.len() >= LONG;
        match self.data.part_of(bytes).filter(|_| is_long) {
            Some(value) => {
                self.out.values.push((self.out.bytes.len(), value));
                self.out.in_values += bytes.len();
            }
            None => self.out.bytes.put_slice(bytes),
        }
    }
}
