//! What encoders write to.

use alloc::vec::Vec;

/// Where the bytes of an encoding go: a vector, the caller's bytes ([`SliceBuffer`]) or a hash.
pub trait Buffer {
    /// Appends the first `used` bytes of `window`, `used <= N`. An implementation may store the whole window at once where
    /// it has the room, and count only the `used` bytes.
    fn put<const N: usize>(&mut self, window: &[u8; N], used: usize);

    /// Appends `bytes`.
    fn put_slice(&mut self, bytes: &[u8]);

    /// Room for `N` bytes, if there is. What is stored there counts with [`advance`](Self::advance); a buffer that gives no
    /// room, as by default, is written to by [`put`](Self::put) alone.
    #[inline(always)]
    fn window<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        None
    }

    /// Appends the first `used` bytes of the [`window`](Self::window) asked for last.
    #[inline(always)]
    fn advance(&mut self, used: usize) {
        let _ = used;
    }
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

/// The caller's bytes, written from their start. What goes past their end is counted, so that the length needed is known.
///
/// ```
/// use lydite_bytes::{Buffer, SliceBuffer};
/// let mut bytes = [0; 4];
/// let mut buffer = SliceBuffer::new(&mut bytes);
/// buffer.put_slice(b"abc");
/// assert_eq!(buffer.finish(), Ok(3));
/// let mut buffer = SliceBuffer::new(&mut bytes);
/// buffer.put_slice(b"abcdef");
/// assert_eq!(buffer.finish(), Err(6));
/// ```
#[derive(Debug)]
pub struct SliceBuffer<'a> {
    bytes: &'a mut [u8],
    written: usize,
}

impl<'a> SliceBuffer<'a> {
    /// Nothing written yet.
    #[inline(always)]
    pub fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, written: 0 }
    }

    /// The number of bytes written.
    ///
    /// Errors: the number of bytes that there should have been; their contents are then unspecified.
    #[inline(always)]
    pub fn finish(self) -> Result<usize, usize> {
        if self.written <= self.bytes.len() {
            Ok(self.written)
        } else {
            Err(self.written)
        }
    }
}

impl Buffer for SliceBuffer<'_> {
    #[inline(always)]
    fn put<const N: usize>(&mut self, window: &[u8; N], used: usize) {
        match self.window::<N>() {
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

    #[inline(always)]
    fn window<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        self.bytes.get_mut(self.written..)?.first_chunk_mut()
    }

    #[inline(always)]
    fn advance(&mut self, used: usize) {
        self.written += used;
    }
}

/// Without room for the whole window: the used bytes only, as many as fit. (Not a method: a pointer to the buffer would
/// keep `written` out of the registers.)
#[cold]
#[inline(never)]
fn put_tail(out: &mut [u8], written: usize, bytes: &[u8]) {
    if let Some(room) = out.get_mut(written..) {
        let n = room.len().min(bytes.len());
        room[..n].copy_from_slice(&bytes[..n]);
    }
}
