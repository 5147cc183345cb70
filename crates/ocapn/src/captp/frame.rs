//! Splits a byte stream that arrives in pieces into messages.
use alloc::vec::Vec;
use core::mem;

use super::codec::{Codec, Scan as _};
use super::{Error, ErrorKind};
use crate::syrup;

/// How messages are separated in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One value directly after the other, like the test suite of 2026-02.
    None,
    /// `length:message`, as agreed in 2026-04.
    Length,
}

/// Splits a stream into messages. It buffers at most the start of one message, which is never longer than the limit.
///
/// ```
/// use lydite_ocapn::captp::{Error, Frames, Framing, Syrup};
///
/// let mut frames = Frames::<Syrup>::new(Framing::Length, 1 << 20);
/// let mut messages = Vec::new();
/// for piece in ["4:[1+", "]2:7", "+2:8+"] {
///     frames.feed(piece.as_bytes(), |message| {
///         messages.push(message.to_vec());
///         Ok::<(), Error>(())
///     })?;
/// }
/// assert_eq!(messages, [b"[1+]".to_vec(), b"7+".to_vec(), b"8+".to_vec()]);
/// # Ok::<(), Error>(())
/// ```
pub struct Frames<C: Codec> {
    framing: Framing,
    limit: usize,
    /// The start of an incomplete message, including its frame header.
    partial: Vec<u8>,
    scan: C::Scan,
    /// Number of bytes of an incomplete message that the caller has.
    lent: usize,
    /// Number of bytes in the stream before those in `partial`.
    offset: usize,
    failed: Option<Error>,
}

/// Lengths of a frame's header and message, in bytes.
struct Frame {
    header: usize,
    message: usize,
}

impl<C: Codec> Frames<C> {
    /// Creates the state at the start of a stream whose messages may be `limit` bytes long. Limits above 2^63 - 2^20
    /// (2^31 - 2^20 on 32-bit targets) are reduced to that, since no longer message fits into memory.
    pub fn new(framing: Framing, limit: usize) -> Self {
        // A message and its header are shorter than any allocation may be, so sums of lengths cannot overflow.
        const LONGEST: usize = isize::MAX as usize + 1 - (1 << 20);
        Self {
            framing,
            limit: limit.min(LONGEST),
            partial: Vec::new(),
            scan: C::Scan::default(),
            lent: 0,
            offset: 0,
            failed: None,
        }
    }

    /// Number of buffered bytes of an incomplete message.
    pub fn pending(&self) -> usize {
        self.partial.len() + self.lent
    }

    /// Continues with another stream, at the start of a message. No message is incomplete.
    pub(crate) fn restart(&mut self, framing: Framing, offset: usize) {
        debug_assert!(self.partial.is_empty() && self.failed.is_none());
        self.framing = framing;
        self.offset = offset;
    }

    /// Bytes of memory for an incomplete message.
    pub(crate) const fn capacity(&self) -> usize {
        self.partial.capacity()
    }

    /// The least number of bytes that the buffered start of a message still lacks.
    pub(crate) fn missing(&self) -> usize {
        let buffered = self.partial.len();
        let least = match (self.framing, self.lent) {
            (_, 1..) => 0,
            (Framing::None, _) => self.scan.least_length(&self.partial),
            (Framing::Length, _) => match header(&self.partial) {
                Ok(Some(frame)) => frame.header + frame.message,
                _ => 0,
            },
        };
        least.saturating_sub(buffered)
    }

    /// Number of bytes for which the buffer has memory left.
    pub(crate) const fn room(&self) -> usize {
        self.partial.capacity() - self.partial.len()
    }

    /// Moves the buffered bytes to other memory, which is empty.
    pub(crate) fn use_memory(&mut self, mut memory: Vec<u8>) {
        memory.extend_from_slice(&self.partial);
        self.partial = memory;
    }

    /// Gets memory for this many more bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.partial.reserve_exact(bytes);
    }

    /// Passes the buffered bytes to the caller, who appends the next ones of the stream.
    pub(crate) fn lend(&mut self) -> Vec<u8> {
        self.lent = self.partial.len();
        mem::take(&mut self.partial)
    }

    /// Takes back what [`lend`](Self::lend) passed, with more bytes. If they complete the message, calls `each` with
    /// the buffer, which it may take, and the offset of the message in it. Returns the bytes after the message.
    ///
    /// # Errors
    ///
    /// Those of [`feed`](Self::feed).
    pub(crate) fn take_back<E: From<Error>>(
        &mut self,
        mut memory: Vec<u8>,
        each: impl FnOnce(&mut Vec<u8>, usize) -> Result<(), E>,
    ) -> Result<Vec<u8>, E> {
        let lent = mem::take(&mut self.lent);
        let mut rest = Vec::new();
        self.guarded(|frames| {
            if lent == 0 || memory.len() < lent {
                return Err(Stop::Stream(ErrorKind::Stopped.at(frames.offset)));
            }
            if let Some(frame) = frames.whole(&memory).map_err(Stop::Stream)? {
                rest = memory.split_off(frame.header + frame.message);
                frames.complete(&mut memory, &frame, each)?;
            }
            frames.partial = memory;
            Ok(())
        })?;
        Ok(rest)
    }

    /// Number of bytes in the stream before those that are buffered.
    pub(crate) const fn offset(&self) -> usize {
        self.offset
    }

    /// Skips a message that the caller has found at the start of the next bytes. No message is incomplete.
    pub(crate) fn skip(&mut self, length: usize) {
        debug_assert!(self.partial.is_empty());
        self.offset += length;
    }

    /// Consumes the next bytes of the stream and calls `each` with every message that they complete.
    ///
    /// # Errors
    ///
    /// Errors of the stream and of `each`. After either the stream cannot be used any more, since the start of the next
    /// message is unknown.
    #[inline]
    pub fn feed<E: From<Error>>(
        &mut self,
        mut piece: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.guarded(|frames| {
            frames.end_partial(&mut piece, |memory, start| each(&memory[start..]))?;
            frames.messages(piece, &mut each)
        })
    }

    /// Consumes the bytes that belong to an incomplete message. If they complete it, calls `each` with the buffer, which
    /// it may take, and the offset of the message in it.
    ///
    /// # Errors
    ///
    /// Those of [`feed`](Self::feed).
    pub(crate) fn feed_partial<E: From<Error>>(
        &mut self,
        piece: &mut &[u8],
        each: impl FnOnce(&mut Vec<u8>, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        self.guarded(|frames| frames.end_partial(piece, each))
    }

    /// Does something that cannot be repeated after it has failed.
    #[inline]
    fn guarded<E: From<Error>>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<(), Stop<E>>,
    ) -> Result<(), E> {
        if self.lent > 0 {
            self.failed = Some(ErrorKind::Stopped.at(self.offset));
        }
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        self.failed = Some(ErrorKind::Stopped.at(self.offset));
        let result = act(self);
        match &result {
            Ok(()) => self.failed = None,
            Err(Stop::Stream(error)) => self.failed = Some(*error),
            Err(Stop::Caller(_)) => {}
        }
        result.map_err(|stop| match stop {
            Stop::Stream(error) => error.into(),
            Stop::Caller(error) => error,
        })
    }

    #[inline]
    fn end_partial<E>(
        &mut self,
        piece: &mut &[u8],
        each: impl FnOnce(&mut Vec<u8>, usize) -> Result<(), E>,
    ) -> Result<(), Stop<E>> {
        if self.partial.is_empty() || piece.is_empty() {
            return Ok(());
        }
        let mut partial = mem::take(&mut self.partial);
        while !piece.is_empty() {
            // Memory that was made for this message suffices for the rest of it: do not let what follows extend it.
            let free = match partial.capacity() - partial.len() {
                0 => usize::MAX,
                free => free,
            };
            let before = partial.len();
            let (next, rest) = piece.split_at(piece.len().min(free));
            partial.extend_from_slice(next);
            if let Some(frame) = self.whole(&partial).map_err(Stop::Stream)? {
                let end = frame.header + frame.message;
                partial.truncate(end);
                *piece = &piece[end - before..];
                self.complete(&mut partial, &frame, each)?;
                break;
            }
            *piece = rest;
        }
        self.partial = partial;
        Ok(())
    }

    /// Calls `each` with a buffer that consists of a message.
    fn complete<E>(
        &mut self,
        message: &mut Vec<u8>,
        frame: &Frame,
        each: impl FnOnce(&mut Vec<u8>, usize) -> Result<(), E>,
    ) -> Result<(), Stop<E>> {
        self.scan = C::Scan::default();
        self.offset += message.len();
        each(message, frame.header).map_err(Stop::Caller)?;
        message.clear();
        Ok(())
    }

    #[inline]
    fn messages<E>(
        &mut self,
        mut piece: &[u8],
        each: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), Stop<E>> {
        while !piece.is_empty() {
            match self.frame(piece).map_err(Stop::Stream)? {
                Some(frame) if frame.message <= piece.len() - frame.header => {
                    let (whole, rest) = piece.split_at(frame.header + frame.message);
                    piece = rest;
                    self.offset += whole.len();
                    self.scan = C::Scan::default();
                    each(&whole[frame.header..]).map_err(Stop::Caller)?;
                }
                _ => {
                    self.partial.extend_from_slice(piece);
                    piece = &[];
                }
            }
        }
        Ok(())
    }

    /// The frame at the start of `bytes`, if all of it is there.
    fn whole(&mut self, bytes: &[u8]) -> Result<Option<Frame>, Error> {
        let frame = self.frame(bytes)?;
        Ok(frame.filter(|frame| frame.message <= bytes.len() - frame.header))
    }

    /// The frame at the start of `bytes`, if it is known. Without length framing, that requires the complete message.
    #[inline]
    fn frame(&mut self, bytes: &[u8]) -> Result<Option<Frame>, Error> {
        let frame = match self.framing {
            Framing::Length => {
                header(bytes).map_err(|error| error.kind.at(self.offset + error.offset))?
            }
            Framing::None => {
                let bytes = bytes.get(..self.limit).unwrap_or(bytes);
                let end = self
                    .scan
                    .end(bytes)
                    .map_err(|error| ErrorKind::Value(error.kind).at(self.offset + error.offset))?;
                if end.is_none() && self.scan.least_length(bytes) > self.limit {
                    return Err(ErrorKind::MessageTooLong.at(self.offset));
                }
                end.map(|message| Frame { header: 0, message })
            }
        };
        match frame {
            Some(frame) if frame.message > self.limit => {
                Err(ErrorKind::MessageTooLong.at(self.offset))
            }
            frame => Ok(frame),
        }
    }
}

/// Why splitting a stream stopped.
enum Stop<E> {
    Stream(Error),
    Caller(E),
}

/// Parses the header of a length frame, if it is complete.
fn header(bytes: &[u8]) -> Result<Option<Frame>, Error> {
    let mut message = 0usize;
    for (digits, byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' if digits > 0 && bytes[0] == b'0' => {
                return Err(ErrorKind::InvalidFrame.at(0));
            }
            // Too long for an address, and so for any limit.
            b'0'..=b'9' => {
                message = message
                    .checked_mul(10)
                    .and_then(|message| message.checked_add(usize::from(byte - b'0')))
                    .ok_or(ErrorKind::MessageTooLong.at(0))?;
            }
            b':' if digits > 0 => {
                return Ok(Some(Frame {
                    header: digits + 1,
                    message,
                }));
            }
            _ => return Err(ErrorKind::InvalidFrame.at(digits)),
        }
    }
    Ok(None)
}

/// Appends `message` with its frame header.
pub fn put_frame(framing: Framing, message: &[u8], out: &mut Vec<u8>) {
    match framing {
        Framing::None => out.extend_from_slice(message),
        // A frame has the form of a Syrup byte array, whatever the codec of the message.
        Framing::Length => {
            let _: Result<(), syrup::Error> = syrup::encode_append(message, out);
        }
    }
}

/// Inserts the frame header of a message of this length at `start`, where those of its bytes that are in `out` begin.
/// Returns the length of the header.
pub(crate) fn put_header(
    framing: Framing,
    start: usize,
    length: usize,
    out: &mut Vec<u8>,
) -> usize {
    if framing == Framing::None {
        return 0;
    }
    let end = out.len();
    let _: Result<(), syrup::Error> = syrup::encode_append(&(length as u64), out);
    // The length is an integer with another last byte.
    out.pop();
    out.push(b':');
    let header = out.len() - end;
    out[start..].rotate_right(header);
    header
}
