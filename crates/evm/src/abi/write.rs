//! Encoding: words go into a head, dynamic contents into the tail after it. Every function returns `None` if the buffer
//! is too short, so the length of the buffer is checked only when bytes are written.

use core::mem;

use super::Error;

/// A frame being written: the free words of its head, and the free space after the head, in which the tails of dynamic
/// members are allocated. Offsets are measured from the start of the frame.
pub struct Frame<'b> {
    head: &'b mut [u8],
    tail: &'b mut [u8],
    /// Length of head and tail together when the frame was opened.
    length: usize,
}

impl<'b> Frame<'b> {
    /// Opens a frame over `buffer`, whose first `head` bytes are the head.
    #[inline(always)]
    pub fn new(buffer: &'b mut [u8], head: usize) -> Option<Self> {
        let length = buffer.len();
        let (head, tail) = buffer.split_at_mut_checked(head)?;
        Some(Self { head, tail, length })
    }

    /// Takes the next word of the head.
    #[inline(always)]
    pub fn word(&mut self) -> Option<&'b mut [u8; 32]> {
        let (word, rest) = mem::take(&mut self.head).split_first_chunk_mut()?;
        self.head = rest;
        Some(word)
    }

    /// Returns the number of bytes written so far, counting the head as full.
    #[inline(always)]
    pub fn written(&self) -> usize {
        self.length - self.tail.len()
    }

    /// Writes the current offset of the tail into the next word of the head.
    #[inline(always)]
    fn offset(&mut self) -> Option<()> {
        let offset = self.written();
        put_length(self.word()?, offset);
        Some(())
    }

    /// Takes the next word of the tail.
    #[inline(always)]
    fn tail_word(&mut self) -> Option<&'b mut [u8; 32]> {
        let (word, rest) = mem::take(&mut self.tail).split_first_chunk_mut()?;
        self.tail = rest;
        Some(word)
    }

    /// Writes a dynamic member of fixed shape: an offset here and, in the tail, a frame with a head of `head` bytes.
    #[inline(always)]
    pub fn nested(
        &mut self,
        head: usize,
        write: impl FnOnce(&mut Frame<'b>) -> Option<()>,
    ) -> Option<()> {
        self.offset()?;
        let mut inner = Frame::new(mem::take(&mut self.tail), head)?;
        write(&mut inner)?;
        self.tail = inner.tail;
        Some(())
    }

    /// Writes an array: an offset here and, in the tail, its length and a frame of `len` heads of `head` bytes each.
    #[inline(always)]
    pub fn array(
        &mut self,
        len: usize,
        head: usize,
        write: impl FnOnce(&mut Frame<'b>) -> Option<()>,
    ) -> Option<()> {
        self.offset()?;
        put_length(self.tail_word()?, len);
        let mut inner = Frame::new(mem::take(&mut self.tail), len.checked_mul(head)?)?;
        write(&mut inner)?;
        self.tail = inner.tail;
        Some(())
    }

    /// Writes `bytes` or `string`: an offset here and, in the tail, the length and the bytes, padded with zeros.
    #[inline(always)]
    pub fn bytes(&mut self, bytes: &[u8]) -> Option<()> {
        self.offset()?;
        let length = put_bytes(self.tail, bytes)?;
        self.tail = mem::take(&mut self.tail).get_mut(length..)?;
        Some(())
    }
}

/// Writes a length and the bytes, padded with zeros. Returns the number of bytes written.
#[inline(always)]
pub(crate) fn put_bytes(space: &mut [u8], bytes: &[u8]) -> Option<usize> {
    let (length, space) = space.split_first_chunk_mut()?;
    put_length(length, bytes.len());
    let body = space.get_mut(..bytes.len().checked_next_multiple_of(32)?)?;
    // Zero the last word first, so that copying the bytes leaves the padding in place.
    if let Some(last) = body.last_chunk_mut::<32>() {
        *last = [0; 32];
    }
    body.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(32 + body.len())
}

/// Writes a length or an offset.
#[inline(always)]
pub(crate) fn put_length(word: &mut [u8; 32], value: usize) {
    *word = [0; 32];
    word[24..].copy_from_slice(&(value as u64).to_be_bytes());
}

/// Returns the number of bytes that `bytes` or `string` of this length takes in the tail. Lengths in memory are below
/// `isize::MAX`.
#[inline(always)]
pub(crate) const fn bytes_size(len: usize) -> usize {
    32 + len.next_multiple_of(32)
}

/// Returns the error for a buffer that is too short.
#[cold]
pub(crate) fn buffer_error(needed: usize) -> Error {
    Error::new(super::ErrorKind::Buffer, needed)
}
