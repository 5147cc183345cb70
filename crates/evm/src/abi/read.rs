//! Decoding of borrowed data into frames, with the checks and the budget that hostile data requires.
//!
//! Invariant: `consumed` is the sum of the sizes of all regions read so far. In a canonical encoding, every region
//! starts exactly at the sum of those before it, so one comparison identifies canonical data. Only other data can
//! exceed the budget.

use alloc::string::String;

use lydite_bytes::utf8;

use super::{Error, ErrorKind, word};

/// How strictly a decoder validates. Bounds, offsets, lengths and the budget are checked in all modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Only the output of `encode`: offsets in order without gaps or reuse, no data after the last item.
    Canonical,
    /// Every value is in the range of its type, padding is zero, strings are UTF-8. Offsets may be in any order and
    /// extra data may follow, as in Solidity's decoder.
    #[default]
    Strict,
    /// Excess bits are dropped, every non-zero boolean is true, the final padding may be missing, and in an owned
    /// `String` invalid UTF-8 is replaced by U+FFFD (for a borrowed `&str` it is an error).
    Lenient,
}

/// The regions read may add up to this many times the data. Offsets may be shared, but not so often that memory use
/// explodes.
const BUDGET: usize = 4;

/// The data, and the amount read so far.
pub struct Decoder<'a> {
    data: &'a [u8],
    consumed: usize,
    mode: Mode,
}

/// A frame being read: the remaining words of its head, and its position in the data.
pub struct Head<'a> {
    words: &'a [u8],
    base: usize,
    end: usize,
}

impl<'a> Head<'a> {
    /// Returns the position of the next word in the data.
    #[inline(always)]
    pub fn position(&self) -> usize {
        self.end - self.words.len()
    }

    /// Reads the next word.
    #[inline(always)]
    pub fn word(&mut self) -> Result<&'a [u8; 32], Error> {
        match self.words.split_first_chunk() {
            Some((word, rest)) => {
                self.words = rest;
                Ok(word)
            }
            None => Err(Error::new(ErrorKind::Truncated, self.end)),
        }
    }
}

impl<'a> Decoder<'a> {
    /// Starts decoding. Returns the decoder, and the outermost frame with a head of `head` bytes.
    #[inline(always)]
    pub fn new(data: &'a [u8], mode: Mode, head: usize) -> Result<(Self, Head<'a>), Error> {
        let mut decoder = Self {
            data,
            consumed: 0,
            mode,
        };
        let head = decoder.frame(0, head)?;
        Ok((decoder, head))
    }

    /// Whether the mode is [`Mode::Lenient`].
    #[inline(always)]
    pub fn is_lenient(&self) -> bool {
        self.mode == Mode::Lenient
    }

    /// Ends decoding. In canonical mode no data may be left.
    #[inline(always)]
    pub fn finish(&self) -> Result<(), Error> {
        if self.mode == Mode::Canonical && self.consumed != self.data.len() {
            return Err(Error::new(ErrorKind::NotCanonical, self.consumed));
        }
        Ok(())
    }

    /// Returns the length of the whole data.
    pub(crate) fn data_len(&self) -> usize {
        self.data.len()
    }

    /// Counts the region `position .. position + size`, which must be inside the data.
    #[inline(always)]
    fn claim(&mut self, position: usize, size: usize) -> Result<(), Error> {
        let in_order = position == self.consumed;
        self.consumed += size;
        if in_order {
            Ok(())
        } else {
            self.claim_out_of_order(position)
        }
    }

    #[cold]
    fn claim_out_of_order(&self, position: usize) -> Result<(), Error> {
        if self.mode == Mode::Canonical {
            return Err(Error::new(ErrorKind::NotCanonical, position));
        }
        if self.consumed / BUDGET > self.data.len() {
            return Err(Error::new(ErrorKind::Budget, position));
        }
        Ok(())
    }

    #[inline(always)]
    fn frame(&mut self, base: usize, size: usize) -> Result<Head<'a>, Error> {
        let Some(words) = self.data.get(base..).and_then(|rest| rest.get(..size)) else {
            return Err(Error::new(ErrorKind::Truncated, self.data.len()));
        };
        self.claim(base, size)?;
        Ok(Head {
            words,
            base,
            end: base + size,
        })
    }

    /// Returns the word at `position`.
    #[inline(always)]
    fn word_at(&self, position: usize) -> Result<&'a [u8; 32], Error> {
        let rest = self.data.get(position..);
        rest.and_then(|rest| rest.first_chunk())
            .ok_or(Error::new(ErrorKind::Truncated, self.data.len()))
    }

    /// Returns the `count` words from `position` on.
    #[inline(always)]
    pub(super) fn words_at(&self, position: usize, count: usize) -> Result<&'a [[u8; 32]], Error> {
        let rest = self.data.get(position..);
        rest.and_then(|rest| rest.as_chunks().0.get(..count))
            .ok_or(Error::new(ErrorKind::Truncated, self.data.len()))
    }

    /// Returns the target of the offset in the head at `position`, in the frame that starts at `base`.
    #[inline(always)]
    pub(super) fn target(&self, base: usize, position: usize) -> Result<usize, Error> {
        match small(self.word_at(position)?) {
            Some(offset) if offset <= self.data.len() - base => Ok(base + offset),
            _ => Err(Error::new(ErrorKind::Offset, position)),
        }
    }

    /// Returns the target of the next word of `head`.
    #[inline(always)]
    fn follow(&self, head: &mut Head<'a>) -> Result<usize, Error> {
        let at = head.position();
        match small(head.word()?) {
            Some(offset) if offset <= self.data.len() - head.base => Ok(head.base + offset),
            _ => Err(Error::new(ErrorKind::Offset, at)),
        }
    }

    /// Returns the length at `position`, which must be inside the data. The data after it is at least that long.
    #[inline(always)]
    fn length(&self, position: usize) -> Result<usize, Error> {
        let Some((word, rest)) = self.data[position..].split_first_chunk() else {
            return Err(Error::new(ErrorKind::Truncated, self.data.len()));
        };
        match small(word) {
            Some(length) if length <= rest.len() => Ok(length),
            _ => Err(Error::new(ErrorKind::Length, position)),
        }
    }

    /// Reads a dynamic member of fixed shape: follows its offset to a frame with a head of `size` bytes.
    #[inline(always)]
    pub fn nested(&mut self, head: &mut Head<'a>, size: usize) -> Result<Head<'a>, Error> {
        let base = self.follow(head)?;
        self.frame(base, size)
    }

    /// Reads a frame with a head of `size` bytes at `base`, which must be inside the data.
    #[inline(always)]
    pub(super) fn nested_at(&mut self, base: usize, size: usize) -> Result<(), Error> {
        self.frame(base, size).map(drop)
    }

    /// Reads the start of an array whose elements have heads of `size` bytes (more than 0). Returns its length and
    /// frame.
    #[inline(always)]
    pub fn array(&mut self, head: &mut Head<'a>, size: usize) -> Result<(usize, Head<'a>), Error> {
        let position = self.follow(head)?;
        let length = self.array_at(position, size)?;
        let base = position + 32;
        let end = base + length * size;
        Ok((
            length,
            Head {
                words: &self.data[base..end],
                base,
                end,
            },
        ))
    }

    /// Like [`array`](Self::array), at `position`, which must be inside the data. Returns the length.
    #[inline(always)]
    pub(super) fn array_at(&mut self, position: usize, size: usize) -> Result<usize, Error> {
        let length = self.length(position)?;
        match length.checked_mul(size) {
            Some(bytes) if bytes <= self.data.len() - position - 32 => {
                self.claim(position, 32 + bytes)?;
                Ok(length)
            }
            _ => Err(Error::new(ErrorKind::Length, position)),
        }
    }

    /// Reads `bytes` or `string`. Returns the bytes and their position.
    #[inline(always)]
    pub fn bytes(&mut self, head: &mut Head<'a>) -> Result<(&'a [u8], usize), Error> {
        let position = self.follow(head)?;
        Ok((self.bytes_at(position)?, position + 32))
    }

    /// Like [`bytes`](Self::bytes), at `position`, which must be inside the data.
    #[inline(always)]
    pub(super) fn bytes_at(&mut self, position: usize) -> Result<&'a [u8], Error> {
        let length = self.length(position)?;
        let rest = &self.data[position + 32..];
        let bytes = &rest[..length];
        let padded = length.next_multiple_of(32);
        let padding = padded - length;
        if padding > 0 {
            let clean = match rest.get(..padded).and_then(|body| body.last_chunk()) {
                Some(last) => word::is_padded(last, padding),
                None => false,
            };
            if !clean && !self.is_lenient() {
                return Err(self.padding_error(position + 32 + length, padding));
            }
        }
        self.claim(position, 32 + padded)?;
        Ok(bytes)
    }

    /// Returns the error for `padding` bytes at `position` of which one is missing or not zero.
    #[cold]
    fn padding_error(&self, position: usize, padding: usize) -> Error {
        match self.data[position..].get(..padding) {
            Some(padding) => {
                let clean = padding.iter().take_while(|b| **b == 0).count();
                Error::new(ErrorKind::Padding, position + clean)
            }
            None => Error::new(ErrorKind::Truncated, self.data.len()),
        }
    }

    /// Reads a `string`, which must be UTF-8.
    #[inline(always)]
    pub fn string(&mut self, head: &mut Head<'a>) -> Result<&'a str, Error> {
        let (bytes, start) = self.bytes(head)?;
        text(bytes, start)
    }

    /// Reads an owned `string`: like [`string`](Self::string), but lenient mode replaces invalid UTF-8.
    #[inline(always)]
    pub fn owned_string(&mut self, head: &mut Head<'a>) -> Result<String, Error> {
        if self.is_lenient() {
            let (bytes, _) = self.bytes(head)?;
            return Ok(String::from_utf8_lossy(bytes).into_owned());
        }
        self.string(head).map(String::from)
    }
}

/// Checks that these bytes, which start at `position`, are UTF-8.
#[inline(always)]
pub(super) fn text(bytes: &[u8], position: usize) -> Result<&str, Error> {
    utf8(bytes).map_err(|error| Error::new(ErrorKind::Utf8, position + error.valid_up_to()))
}

/// Converts a word to a length; `None` if it does not fit.
#[inline(always)]
pub(super) fn small(word: &[u8; 32]) -> Option<usize> {
    let (words, _) = word.as_chunks::<8>();
    let high =
        u64::from_ne_bytes(words[0]) | u64::from_ne_bytes(words[1]) | u64::from_ne_bytes(words[2]);
    if high != 0 {
        return None;
    }
    usize::try_from(u64::from_be_bytes(words[3])).ok()
}
