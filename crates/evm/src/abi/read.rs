//! Reading: frames over borrowed data, with the checks and the budget that hostile data needs.
//!
//! Invariant: `consumed` is the sum of the sizes of all regions read so far. In a canonical encoding every region
//! starts exactly where the sum of those before it ends, so one comparison tells canonical data from the rest, and
//! only the rest can exceed the budget.

use alloc::string::String;

use super::{Error, ErrorKind, word};

/// How much of Solidity's tolerance a decoder shows. Bounds, offsets, lengths and the budget are checked in all modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Only what `encode` writes: offsets in order without gaps or reuse, nothing behind the last item.
    Canonical,
    /// Every value in the range of its type, padding zero, strings UTF-8. Offsets may lie in any order and data may
    /// follow, as in Solidity's own decoder.
    #[default]
    Strict,
    /// Excess bits are dropped, every non-zero boolean is true, the last padding may be missing, and an owned `String`
    /// gets U+FFFD where bytes are not UTF-8 (a borrowed `&str` is still an error).
    Lenient,
}

/// Regions read may add up to this many times the data (offsets may be shared, but not to blow memory up).
const BUDGET: usize = 4;

/// The data, and how much of it has been read.
pub struct Decoder<'a> {
    data: &'a [u8],
    consumed: usize,
    mode: Mode,
}

/// A frame being read: the words left in its head, and where it lies in the data.
pub struct Head<'a> {
    words: &'a [u8],
    base: usize,
    end: usize,
}

impl<'a> Head<'a> {
    /// Position in the data of the next word.
    #[inline(always)]
    pub fn position(&self) -> usize {
        self.end - self.words.len()
    }

    /// The next word.
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
    /// Starts reading: the decoder, and the outermost frame with a head of `head` bytes.
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

    /// True in [`Mode::Lenient`].
    #[inline(always)]
    pub fn is_lenient(&self) -> bool {
        self.mode == Mode::Lenient
    }

    /// Ends reading: in canonical mode nothing may be left.
    #[inline(always)]
    pub fn finish(&self) -> Result<(), Error> {
        if self.mode == Mode::Canonical && self.consumed != self.data.len() {
            return Err(Error::new(ErrorKind::NotCanonical, self.consumed));
        }
        Ok(())
    }

    /// Length of the whole data.
    pub(crate) fn data_len(&self) -> usize {
        self.data.len()
    }

    /// Accounts for the region `position .. position + size`, which the caller has checked to be inside the data.
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

    /// Where the next word of `head` points to.
    #[inline(always)]
    fn follow(&self, head: &mut Head<'a>) -> Result<usize, Error> {
        let at = head.position();
        let offset = small(head.word()?);
        match offset {
            Some(offset) if offset <= self.data.len() - head.base => Ok(head.base + offset),
            _ => Err(Error::new(ErrorKind::Offset, at)),
        }
    }

    /// Follows an offset to a length: the length, and the position behind it.
    #[inline(always)]
    fn length(&self, head: &mut Head<'a>) -> Result<(usize, usize), Error> {
        let position = self.follow(head)?;
        let Some(word) = self.data[position..].first_chunk() else {
            return Err(Error::new(ErrorKind::Truncated, self.data.len()));
        };
        let start = position + 32;
        match small(word) {
            Some(length) if length <= self.data.len() - start => Ok((length, start)),
            _ => Err(Error::new(ErrorKind::Length, position)),
        }
    }

    /// Reads a dynamic member of fixed shape: follows its offset to a frame with a head of `head` bytes.
    #[inline(always)]
    pub fn nested(&mut self, head: &mut Head<'a>, size: usize) -> Result<Head<'a>, Error> {
        let base = self.follow(head)?;
        self.frame(base, size)
    }

    /// Reads the start of an array whose elements have heads of `size` bytes (more than 0): its length and frame.
    #[inline(always)]
    pub fn array(&mut self, head: &mut Head<'a>, size: usize) -> Result<(usize, Head<'a>), Error> {
        let (length, start) = self.length(head)?;
        let words = match length.checked_mul(size) {
            Some(bytes) => self.data[start..].get(..bytes),
            None => None,
        };
        let Some(words) = words else {
            return Err(Error::new(ErrorKind::Length, start - 32));
        };
        self.claim(start - 32, 32 + words.len())?;
        let end = start + words.len();
        Ok((
            length,
            Head {
                words,
                base: start,
                end,
            },
        ))
    }

    /// Reads `bytes` or `string`: the bytes, and their position.
    #[inline(always)]
    pub fn bytes(&mut self, head: &mut Head<'a>) -> Result<(&'a [u8], usize), Error> {
        let (length, start) = self.length(head)?;
        let rest = &self.data[start..];
        let bytes = &rest[..length];
        let padded = length.next_multiple_of(32);
        let padding = padded - length;
        if padding > 0 {
            let clean = match rest.get(..padded).and_then(|body| body.last_chunk()) {
                Some(last) => word::is_padded(last, padding),
                None => false,
            };
            if !clean && !self.is_lenient() {
                return Err(match rest.get(length..padded) {
                    Some(padding) => {
                        let clean = padding.iter().take_while(|b| **b == 0).count();
                        Error::new(ErrorKind::Padding, start + length + clean)
                    }
                    None => Error::new(ErrorKind::Truncated, self.data.len()),
                });
            }
        }
        self.claim(start - 32, 32 + padded)?;
        Ok((bytes, start))
    }

    /// Reads a `string`, which must be UTF-8.
    #[inline(always)]
    pub fn string(&mut self, head: &mut Head<'a>) -> Result<&'a str, Error> {
        let (bytes, start) = self.bytes(head)?;
        core::str::from_utf8(bytes)
            .map_err(|e| Error::new(ErrorKind::Utf8, start + e.valid_up_to()))
    }

    /// Reads a `string` to be owned: as [`string`](Self::string), but lenient mode replaces what is not UTF-8.
    #[inline(always)]
    pub fn owned_string(&mut self, head: &mut Head<'a>) -> Result<String, Error> {
        if self.is_lenient() {
            let (bytes, _) = self.bytes(head)?;
            return Ok(String::from_utf8_lossy(bytes).into_owned());
        }
        self.string(head).map(String::from)
    }
}

/// The word as a length: `None` if it does not fit.
#[inline(always)]
fn small(word: &[u8; 32]) -> Option<usize> {
    let (words, _) = word.as_chunks::<8>();
    let high =
        u64::from_ne_bytes(words[0]) | u64::from_ne_bytes(words[1]) | u64::from_ne_bytes(words[2]);
    if high != 0 {
        return None;
    }
    usize::try_from(u64::from_be_bytes(words[3])).ok()
}
