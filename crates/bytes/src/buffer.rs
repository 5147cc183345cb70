//! Output buffers for encoders.

use alloc::vec::Vec;

/// A destination for encoded bytes: a vector, a slice ([`SliceBuffer`]) or a hash.
pub trait Buffer {
    /// Appends the first `used` bytes of `window`; `used` must be at most N. If there is room, an implementation may
    /// store the whole window at once and count only the `used` bytes.
    fn put<const N: usize>(&mut self, window: &[u8; N], used: usize);

    /// Appends `bytes`.
    fn put_slice(&mut self, bytes: &[u8]);

    /// Returns room for `N` bytes, if available. Bytes stored there count after [`advance`](Self::advance). A buffer
    /// that offers no room, which is the default, is only written to with [`put`](Self::put).
    #[inline(always)]
    fn window<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        None
    }

    /// Appends the first `used` bytes of the last [`window`](Self::window).
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

/// A slice that is written from its start. Bytes beyond its end are counted, so that the required length is known.
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
    /// Creates a buffer to which no bytes have been written.
    #[inline(always)]
    pub fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, written: 0 }
    }

    /// Returns the number of bytes written.
    ///
    /// # Errors
    /// The required number of bytes, if the slice is too short. Its contents are then unspecified.
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

/// Handles the case without room for the whole window: stores as many of the used bytes as fit. (Not a method, because
/// a pointer to the buffer would keep `written` out of registers.)
#[cold]
#[inline(never)]
fn put_tail(out: &mut [u8], written: usize, bytes: &[u8]) {
    if let Some(room) = out.get_mut(written..) {
        let n = room.len().min(bytes.len());
        room[..n].copy_from_slice(&bytes[..n]);
    }
}
