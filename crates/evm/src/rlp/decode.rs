//! Decoding. A [`Reader`] stores the rest of a payload and the offset of its end, so that the offset of any byte is
//! known without counting.
use alloc::{string::String, vec::Vec};
use core::str;

use lydite_bytes::{Address, Bytes, FixedBytes, U256, utf8};

use super::{Error, ErrorKind, Header, SHORT};

/// A value that can be decoded from RLP, possibly borrowing from the input.
pub trait Decode<'a>: Sized {
    /// Decodes the next item of `reader`.
    fn decode(reader: &mut Reader<'a>) -> Result<Self, Error>;
}

/// Decodes an input that consists of exactly one item.
///
/// ```
/// use lydite_evm::rlp::{self, Error, ErrorKind};
///
/// assert_eq!(rlp::decode::<&str>(b"\x83dog"), Ok("dog"));
/// let error = rlp::decode::<u64>(&[0x82, 0x00, 0x01]).unwrap_err();
/// assert_eq!(error, Error { kind: ErrorKind::LeadingZero, offset: 1 });
/// assert_eq!(error.to_string(), "byte 1: leading zero");
/// ```
#[inline]
pub fn decode<'a, T: Decode<'a>>(input: &'a [u8]) -> Result<T, Error> {
    let mut reader = Reader::new(input);
    let value = T::decode(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

/// An item whose payload has not been decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Whether the item is a list (else a string).
    pub list: bool,
    /// The bytes of the string, or the encodings of the list's elements.
    pub payload: &'a [u8],
}

/// A cursor over consecutive items. Its hot methods are always inlined, so that a decoder keeps it in registers;
/// functions that are not inlined take it by value.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    end: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of `input`.
    #[inline]
    pub const fn new(input: &'a [u8]) -> Self {
        Self {
            rest: input,
            end: input.len(),
        }
    }

    /// Returns the offset of the next item from the start of the input of the first reader.
    #[inline]
    pub const fn offset(&self) -> usize {
        self.end - self.rest.len()
    }

    /// Returns the bytes not read yet.
    #[inline]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether all bytes have been read.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Fails if bytes are left.
    #[inline]
    pub fn finish(&self) -> Result<(), Error> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(self.error(ErrorKind::TrailingBytes))
        }
    }

    /// Decodes the next item as a `T`.
    #[inline(always)]
    pub fn read<T: Decode<'a>>(&mut self) -> Result<T, Error> {
        T::decode(self)
    }

    /// Reads the header of the next item and checks that its whole payload follows. (A single byte below 0x80 has no
    /// header: nothing is consumed.)
    #[inline(always)]
    pub fn header(&mut self) -> Result<Header, Error> {
        let Some((&first, tail)) = self.rest.split_first() else {
            return Err(self.error(ErrorKind::UnexpectedEnd));
        };
        if first < 0x80 {
            return Ok(Header {
                list: false,
                payload_len: 1,
            });
        }
        let list = first >= 0xc0;
        let short = usize::from(first & 0x3f);
        let (payload_len, tail) = if short <= SHORT {
            (short, tail)
        } else {
            self.long_length(tail, short - SHORT)?
        };
        if tail.len() < payload_len {
            return Err(self.error(ErrorKind::UnexpectedEnd));
        }
        if !list && payload_len == 1 && tail[0] < 0x80 {
            return Err(self.error(ErrorKind::SinglePrefixed));
        }
        self.rest = tail;
        Ok(Header { list, payload_len })
    }

    /// Reads a length of `size` bytes (1 to 8) at the start of `tail`. Returns it and the rest.
    fn long_length(self, tail: &'a [u8], size: usize) -> Result<(usize, &'a [u8]), Error> {
        let Some((bytes, tail)) = tail.split_at_checked(size) else {
            return Err(self.error(ErrorKind::UnexpectedEnd));
        };
        if bytes[0] == 0 {
            return Err(Error {
                kind: ErrorKind::LeadingZero,
                offset: self.offset() + 1,
            });
        }
        let length = bytes
            .iter()
            .fold(0, |length, &byte| length << 8 | u64::from(byte));
        if length <= SHORT as u64 {
            return Err(self.error(ErrorKind::LengthNotMinimal));
        }
        match usize::try_from(length) {
            Ok(length) => Ok((length, tail)),
            Err(_) => Err(self.error(ErrorKind::UnexpectedEnd)),
        }
    }

    /// Reads the next item.
    #[inline(always)]
    pub fn item(&mut self) -> Result<Item<'a>, Error> {
        let header = self.header()?;
        // `header` has checked the length.
        let (payload, rest) = self.rest.split_at(header.payload_len);
        self.rest = rest;
        Ok(Item {
            list: header.list,
            payload,
        })
    }

    /// Reads the next item, which must be a string.
    #[inline(always)]
    pub fn string(&mut self) -> Result<&'a [u8], Error> {
        let start = *self;
        match self.item()? {
            Item {
                list: false,
                payload,
            } => Ok(payload),
            Item { list: true, .. } => Err(start.error(ErrorKind::ExpectedString)),
        }
    }

    /// Reads the next item, which must be a list, and returns a reader for its elements.
    #[inline(always)]
    pub fn list(&mut self) -> Result<Reader<'a>, Error> {
        let start = *self;
        match self.item()? {
            Item {
                list: true,
                payload,
            } => Ok(Reader {
                rest: payload,
                end: self.offset(),
            }),
            Item { list: false, .. } => Err(start.error(ErrorKind::ExpectedList)),
        }
    }

    /// Returns the number of remaining items, without checking their contents.
    pub fn count(&self) -> Result<usize, Error> {
        let mut reader = *self;
        let mut count = 0;
        while !reader.is_empty() {
            reader.item()?;
            count += 1;
        }
        Ok(count)
    }

    /// Reads the next item, which must be a string of exactly `N` bytes.
    #[inline(always)]
    pub fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], Error> {
        // The only valid form of a string of 2 to 55 bytes.
        if N > 1
            && N <= SHORT
            && let [first, tail @ ..] = self.rest
            && usize::from(*first) == 0x80 + N
            && let Some((array, rest)) = tail.split_first_chunk::<N>()
        {
            self.rest = rest;
            return Ok(array);
        }
        let start = *self;
        self.string()?
            .try_into()
            .map_err(|_| start.error(ErrorKind::WrongLength))
    }

    /// Reads the next item, an integer of at most `L` limbs, and returns the limbs, least significant first. Errors
    /// report `bits` as the limit.
    #[inline(always)]
    fn limbs<const L: usize>(&mut self, bits: u32) -> Result<[u64; L], Error> {
        let mut limbs = [0; L];
        let Some((&first, tail)) = self.rest.split_first() else {
            return Err(self.error(ErrorKind::UnexpectedEnd));
        };
        if first < 0x80 {
            if first == 0 {
                return Err(self.error(ErrorKind::LeadingZero));
            }
            limbs[0] = u64::from(first);
            self.rest = tail;
            return Ok(limbs);
        }
        let size = usize::from(first) - 0x80;
        if size > 8 * L {
            let list = first >= 0xc0;
            return Err(self.error(if list {
                ErrorKind::ExpectedString
            } else {
                ErrorKind::IntegerTooLarge { bits: bits as u16 }
            }));
        }
        let Some((payload, rest)) = tail.split_at_checked(size) else {
            return Err(self.error(ErrorKind::UnexpectedEnd));
        };
        if size <= 8 {
            limbs[0] = match tail.first_chunk() {
                // The shift drops the bytes after the integer.
                Some(window) => u64::from_be_bytes(*window)
                    .checked_shr(64 - 8 * size as u32)
                    .unwrap_or(0),
                None => short_integer(payload),
            };
            if limbs[0] < LEAST[size] {
                let zero = payload[0] == 0;
                let kind = if zero {
                    ErrorKind::LeadingZero
                } else {
                    ErrorKind::SinglePrefixed
                };
                return Err(Error {
                    kind,
                    offset: self.offset() + usize::from(zero),
                });
            }
        } else {
            if payload[0] == 0 {
                return Err(Error {
                    kind: ErrorKind::LeadingZero,
                    offset: self.offset() + 1,
                });
            }
            for (i, limb) in limbs.iter_mut().enumerate() {
                let end = size.saturating_sub(8 * i);
                *limb = match (payload[..end].last_chunk(), payload.first_chunk()) {
                    (Some(bytes), _) => u64::from_be_bytes(*bytes),
                    (None, Some(top)) if end > 0 => u64::from_be_bytes(*top) >> (64 - 8 * end),
                    _ => break,
                };
            }
        }
        self.rest = rest;
        Ok(limbs)
    }

    /// Returns an error of this kind at the next item.
    #[inline(always)]
    fn error(&self, kind: ErrorKind) -> Error {
        Error {
            kind,
            offset: self.offset(),
        }
    }
}

/// The smallest integer whose canonical encoding has a prefix and this number of bytes.
const LEAST: [u64; 9] = [
    0,
    0x80,
    1 << 8,
    1 << 16,
    1 << 24,
    1 << 32,
    1 << 40,
    1 << 48,
    1 << 56,
];

/// Decodes a big-endian integer of at most 8 bytes with two loads that may overlap.
#[inline]
fn short_integer(bytes: &[u8]) -> u64 {
    let size = bytes.len();
    if let (Some(high), Some(low)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u32::from_be_bytes(*high)) << (8 * (size - 4))
            | u64::from(u32::from_be_bytes(*low))
    } else if let (Some(high), Some(low)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u16::from_be_bytes(*high)) << (8 * (size - 2))
            | u64::from(u16::from_be_bytes(*low))
    } else {
        bytes.first().map_or(0, |&byte| u64::from(byte))
    }
}

macro_rules! words {
    ($($integer:ty)*) => {$(
        impl Decode<'_> for $integer {
            #[inline(always)]
            fn decode(reader: &mut Reader<'_>) -> Result<Self, Error> {
                let offset = reader.offset();
                let [value] = reader.limbs(Self::BITS)?;
                Self::try_from(value).map_err(|_| Error {
                    kind: ErrorKind::IntegerTooLarge { bits: Self::BITS as u16 },
                    offset,
                })
            }
        }
    )*};
}
words!(u8 u16 u32);

impl Decode<'_> for u64 {
    #[inline(always)]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let [value] = reader.limbs(Self::BITS)?;
        Ok(value)
    }
}

impl Decode<'_> for u128 {
    #[inline(always)]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let [low, high] = reader.limbs(Self::BITS)?;
        Ok(u128::from(high) << 64 | u128::from(low))
    }
}

impl Decode<'_> for U256 {
    #[inline(always)]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(Self::from_limbs(reader.limbs(256)?))
    }
}

impl Decode<'_> for bool {
    #[inline(always)]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let offset = reader.offset();
        match reader.limbs(1)? {
            [0] => Ok(false),
            [1] => Ok(true),
            [_] => Err(Error {
                kind: ErrorKind::InvalidBool,
                offset,
            }),
        }
    }
}

impl<'a> Decode<'a> for &'a [u8] {
    #[inline(always)]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, Error> {
        reader.string()
    }
}

impl<'a, const N: usize> Decode<'a> for &'a [u8; N] {
    #[inline(always)]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, Error> {
        reader.array()
    }
}

impl<const N: usize> Decode<'_> for [u8; N] {
    #[inline(always)]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Error> {
        reader.array().copied()
    }
}

impl<const N: usize> Decode<'_> for FixedBytes<N> {
    #[inline(always)]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Error> {
        reader.read().map(Self)
    }
}

impl Decode<'_> for Address {
    #[inline(always)]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Error> {
        reader.read().map(Self)
    }
}

/// The empty string is decoded as `None`.
impl Decode<'_> for Option<Address> {
    #[inline(always)]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Error> {
        if let [0x80, rest @ ..] = reader.rest {
            reader.rest = rest;
            return Ok(None);
        }
        reader.read().map(Some)
    }
}

impl Decode<'_> for Bytes {
    #[inline(always)]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Error> {
        reader.string().map(Self::from)
    }
}

impl<'a> Decode<'a> for &'a str {
    #[inline(always)]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let bytes = reader.string()?;
        let start = reader.offset() - bytes.len();
        utf8(bytes).map_err(|error| Error {
            kind: ErrorKind::InvalidUtf8,
            offset: start + error.valid_up_to(),
        })
    }
}

impl Decode<'_> for String {
    #[inline(always)]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Error> {
        reader.read::<&str>().map(Self::from)
    }
}

/// Allocates once: the number of elements times the size of `T`. An element may take one byte of input, so
/// `Vec<Vec<_>>` and `Vec<&[u8]>` take up to 24 and 16 times the input, `Vec<U256>` up to 32 times.
/// [`List`](super::List) does not allocate.
impl<'a, T: Decode<'a>> Decode<'a> for Vec<T> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let mut elements = reader.list()?;
        let mut list = Vec::with_capacity(elements.count()?);
        while !elements.is_empty() {
            list.push(elements.read()?);
        }
        Ok(list)
    }
}
