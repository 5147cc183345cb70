//! Memory that is used again.
use alloc::{boxed::Box, sync::Arc, vec::Vec};

use super::data::Shared;
use super::node::Promise;
use super::payload::{Builder, Payload};
use crate::captp::{Frames, Framing, Syrup};

/// Least length of the missing rest of a message for which to provide: shorter ones are read at once.
pub(super) const LONG_REST: usize = 32 << 10;

/// Empty payloads, promises and buffers whose memory is used again.
#[derive(Default)]
pub(super) struct Spare {
    payloads: Vec<Payload>,
    #[expect(clippy::vec_box, reason = "the boxes are what is used again")]
    promises: Vec<Box<Promise>>,
    /// Of bytes to be sent.
    buffers: Vec<Vec<u8>>,
    #[expect(clippy::vec_box, reason = "the boxes are what is used again")]
    frames: Vec<Box<Frames<Syrup>>>,
    /// Of long messages, possibly still in use.
    long: Vec<Arc<Vec<u8>>>,
}

impl Spare {
    /// Most payloads that are kept, and most promises.
    const KEPT: usize = 256;
    /// Most bytes of data in the memory of one that is kept.
    const SIZE: usize = 512;
    /// Most buffers that are kept, and most splitters of streams; most bytes in all buffers.
    const BUFFER_COUNT: usize = 64;
    const BUFFERS: usize = 8 << 20;
    /// Most bytes of an incomplete message in the memory of one that is kept.
    const PARTIAL: usize = 64 << 10;
    /// Least bytes of memory of a long message that is kept; most such memories, and bytes in all of them.
    const LONG: usize = 128 << 10;
    const LONG_COUNT: usize = 8;
    const LONG_BYTES: usize = 8 << 20;
    /// Bytes that may follow the text or byte array in a long message: those that memory must have room for, and those
    /// that new memory has room for.
    const END: usize = 64;
    const NEW_END: usize = 1024;
    /// Most references in the memory of one that is kept.
    const REFS: usize = 32;

    /// Builds a payload.
    pub fn builder(&mut self) -> Builder {
        Builder::on(self.payloads.pop().unwrap_or_default())
    }

    /// A copy, which does not hold the references.
    pub fn copy(&mut self, payload: &Payload) -> Payload {
        payload.shared().unwrap_or_else(|| {
            let mut copy = self.builder();
            copy.payload(payload);
            copy.finish()
        })
    }

    /// The arguments of a call to a resolver. They do not hold the references.
    pub fn settlement(&mut self, outcome: Result<&Payload, &Payload>) -> Payload {
        let mut arguments = self.builder();
        arguments.begin_list();
        match outcome {
            Ok(value) => arguments.symbol("fulfill").payload(value),
            Err(reason) => arguments.symbol("break").payload(reason),
        };
        arguments.end_list();
        arguments.finish()
    }

    /// Keeps the memory of the payload, within bounds.
    pub fn put(&mut self, payload: Payload) {
        let (data, refs) = payload.capacity();
        if data > 0 && data <= Self::SIZE && refs <= Self::REFS && self.payloads.len() < Self::KEPT
        {
            self.payloads.push(payload);
        }
    }

    /// A promise that is pending.
    pub fn promise(&mut self) -> Box<Promise> {
        self.promises.pop().unwrap_or_default()
    }

    /// An empty buffer.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.buffers.pop().unwrap_or_default()
    }

    /// Keeps the memory of an empty buffer, within bounds.
    pub fn put_buffer(&mut self, buffer: Vec<u8>) {
        let kept: usize = self.buffers.iter().map(Vec::capacity).sum();
        let size = buffer.capacity();
        if size > 0 && kept + size <= Self::BUFFERS && self.buffers.len() < Self::BUFFER_COUNT {
            self.buffers.push(buffer);
        }
    }

    /// What splits a stream from this offset on, the start of a message.
    pub fn frames(&mut self, framing: Framing, limit: usize, offset: usize) -> Box<Frames<Syrup>> {
        let frames = self.frames.pop();
        let mut frames = frames.unwrap_or_else(|| Box::new(Frames::new(framing, limit)));
        frames.restart(framing, offset);
        frames
    }

    /// Keeps the memory of what splits a stream, within bounds. No message is incomplete.
    pub fn put_frames(&mut self, frames: Box<Frames<Syrup>>) {
        if frames.capacity() <= Self::PARTIAL && self.frames.len() < Self::BUFFER_COUNT {
            self.frames.push(frames);
        }
    }

    /// Gets memory for the rest of an incomplete message, if it is long: some that was used before, or in proportion to
    /// what has arrived.
    pub fn make_room(&mut self, frames: &mut Frames<Syrup>) {
        let missing = frames.missing();
        if missing < LONG_REST || frames.room() >= missing.min(LONG_REST) {
            return;
        }
        let arrived = frames.pending();
        if let Some(memory) = self.long(arrived + missing + Self::END) {
            frames.use_memory(memory);
        } else if arrived >= LONG_REST {
            frames.reserve((missing + Self::NEW_END).min(4 * arrived));
        }
    }

    /// An empty buffer for a message of this length, or a little more.
    fn long(&mut self, length: usize) -> Option<Vec<u8>> {
        let mut fits = self.long.iter().map(|memory| {
            let capacity = memory.capacity();
            Arc::strong_count(memory) == 1 && (length..=length + length / 4).contains(&capacity)
        });
        let index = fits.position(|fits| fits)?;
        let mut memory = Arc::into_inner(self.long.swap_remove(index))?;
        memory.clear();
        Some(memory)
    }

    /// Keeps the memory of a long message for when nothing uses it any more, within bounds.
    pub fn keep_long(&mut self, message: &Shared) {
        let memory = message.memory();
        let size = memory.capacity();
        if !(Self::LONG..=Self::LONG_BYTES).contains(&size) {
            return;
        }
        loop {
            let kept: usize = self.long.iter().map(|memory| memory.capacity()).sum();
            if kept + size <= Self::LONG_BYTES && self.long.len() < Self::LONG_COUNT {
                self.long.push(memory.clone());
                return;
            }
            // The oldest give way.
            self.long.remove(0);
        }
    }

    /// Keeps the memory of a promise, which is as new.
    pub fn put_promise(&mut self, promise: Box<Promise>) {
        if self.promises.len() < Self::KEPT {
            self.promises.push(promise);
        }
    }
}
