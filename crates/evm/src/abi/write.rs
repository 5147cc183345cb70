//! Writing: words into a head, payload into the tail behind it. Every function returns `None` when the buffer ends,
//! so that a buffer's length is checked once, where the bytes go.

use core::mem;

use super::Error;

/// A frame being written: the words still free in its head, and the free space behind the head, from which dynamic
/// members take their tails. Offsets count from the start of the frame.
pub struct Frame<'b> {
    head: &'b mut [u8],
    tail: &'b mut [u8],
    /// Length of head and tail together when the frame was opened.
    length: usize,
}

impl<'b> Frame<'b> {
    /// Opens a frame over `buffer`, its first `head` bytes being the head.
    #[inline(always)]
    pub fn new(buffer: &'b mut [u8], head: usize) -> Option<Self> {
        let length = buffer.len();
        let (head, tail) = buffer.split_at_mut_checked(head)?;
        Some(Self { head, tail, length })
    }

    /// The next word of the head.
    #[inline(always)]
    pub fn word(&mut self) -> Option<&'b mut [u8; 32]> {
        let (word, rest) = mem::take(&mut self.head).split_first_chunk_mut()?;
        self.head = rest;
        Some(word)
    }

    /// Bytes of the frame written so far, its head counted as full.
    #[inline(always)]
    pub fn written(&self) -> usize {
        self.length - self.tail.len()
    }

    /// Writes the offset of the tail as it stands into the next word of the head.
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

    /// Writes a dynamic member of fixed shape: an offset here, in the tail a frame with a head of `head` bytes.
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

    /// Writes an array: an offset here, in the tail its length and a frame of `len` heads of `head` bytes.
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

    /// Writes `bytes` or `string`: an offset here, in the tail the length and the bytes, padded with zeros.
    #[inline(always)]
    pub fn bytes(&mut self, bytes: &[u8]) -> Option<()> {
        self.offset()?;
        let length = put_bytes(self.tail, bytes)?;
        self.tail = mem::take(&mut self.tail).get_mut(length..)?;
        Some(())
    }
}

/// Writes a length and so many bytes, padded with zeros; answers the number of bytes written.
#[inline(always)]
pub(crate) fn put_bytes(space: &mut [u8], bytes: &[u8]) -> Option<usize> {
    let (length, space) = space.split_first_chunk_mut()?;
    put_length(length, bytes.len());
    let body = space.get_mut(..bytes.len().checked_next_multiple_of(32)?)?;
    // The last word first, as zeros: the copy then leaves the padding alone.
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

/// Bytes that `bytes` or `string` of this length take in the tail. Lengths in memory stay below `isize::MAX`.
#[inline(always)]
pub(crate) const fn bytes_size(len: usize) -> usize {
    32 + len.next_multiple_of(32)
}

/// The error of a buffer that is too short.
#[cold]
pub(crate) fn buffer_error(needed: usize) -> Error {
    Error::new(super::ErrorKind::Buffer, needed)
}
