//! Reads the fields of an input item and the blobs file that contains the items.

use std::ops::Deref;

use crate::change::Raw;

/// An owned copy of bytes of an item, which the kit may change.
#[derive(Clone, Debug, Default)]
pub struct Bytes(Box<[u8]>);

impl Deref for Bytes {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Bytes {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<B: Into<Box<[u8]>>> From<B> for Bytes {
    fn from(bytes: B) -> Self {
        Self(bytes.into())
    }
}

impl Raw for Bytes {
    #[inline(always)]
    fn raw(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// Bytes to decode, with a value that the decoder needs.
impl<A> Raw for (A, Bytes) {
    #[inline(always)]
    fn raw(&mut self) -> &mut [u8] {
        self.1.raw()
    }
}

/// A cursor over one input item. Every method returns `None` if there are not enough bytes.
///
/// Slices are `'static`: the kit leaks each blobs file it receives (a few hundred kilobytes per `prepare`), so that
/// parsed items may borrow from their input. Rules only change copies: [`Bytes`], or the adapter's own value.
pub struct Reader {
    rest: &'static [u8],
}

impl Reader {
    /// A cursor at the start of `item`.
    pub fn new(item: &'static [u8]) -> Self {
        Self { rest: item }
    }

    /// True when all bytes have been read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `length` bytes.
    pub fn take(&mut self, length: usize) -> Option<&'static [u8]> {
        let (head, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(head)
    }

    /// All remaining bytes.
    pub fn rest(&mut self) -> &'static [u8] {
        std::mem::take(&mut self.rest)
    }

    /// All remaining bytes, as a copy that the kit may change.
    pub fn whole(&mut self) -> Option<Bytes> {
        Some(self.rest().into())
    }

    /// A length-prefixed byte string, as a copy that the kit may change.
    pub fn owned(&mut self) -> Option<Bytes> {
        self.bytes().map(Bytes::from)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    /// A u32, little-endian.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A u64, little-endian.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A u128, little-endian.
    pub fn u128(&mut self) -> Option<u128> {
        self.array().map(u128::from_le_bytes)
    }

    /// A 256-bit integer of 32 little-endian bytes, as four limbs, lowest first.
    pub fn limbs(&mut self) -> Option<[u64; 4]> {
        Some([self.u64()?, self.u64()?, self.u64()?, self.u64()?])
    }

    /// A 256-bit integer of 32 big-endian bytes, as four limbs, lowest first.
    pub fn be_limbs(&mut self) -> Option<[u64; 4]> {
        let words = self.array::<32>()?;
        let limb = |at: usize| Some(u64::from_be_bytes(*words.get(at..)?.first_chunk()?));
        Some([limb(24)?, limb(16)?, limb(8)?, limb(0)?])
    }

    /// A length-prefixed byte string (`lp` in the wire formats).
    pub fn bytes(&mut self) -> Option<&'static [u8]> {
        let length = self.u32()?;
        self.take(length as usize)
    }

    /// A length-prefixed UTF-8 string.
    pub fn text(&mut self) -> Option<&'static str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// Consecutive values up to the end of the item.
    pub fn until_empty<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut values = Vec::new();
        while !self.is_empty() {
            values.push(one(self)?);
        }
        Some(values)
    }

    /// A u32 count followed by that number of values.
    pub fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.u32()?).map(|_| one(self)).collect()
    }
}

/// Splits the contents of a blobs file into its items.
pub(crate) fn blobs(file: Vec<u8>) -> Option<Vec<&'static [u8]>> {
    let mut reader = Reader::new(file.leak());
    let mut items = Vec::new();
    while !reader.is_empty() {
        items.push(reader.bytes()?);
    }
    Some(items)
}
