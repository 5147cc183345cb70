//! Reading an input item's bytes, and the blobs file that holds the items.

/// A cursor over one input item. Every method returns `None` when the bytes are not there.
///
/// Slices are `'static`: the kit leaks each blobs file it is given (a few hundred kilobytes for each `prepare`), so
/// that parsed items may borrow from their input and decoders may return borrowed views.
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

    /// Everything that is left.
    pub fn rest(&mut self) -> &'static [u8] {
        std::mem::take(&mut self.rest)
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

    /// A 256-bit integer of 32 little-endian bytes, as four words, the lowest first.
    pub fn limbs(&mut self) -> Option<[u64; 4]> {
        Some([self.u64()?, self.u64()?, self.u64()?, self.u64()?])
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

    /// Values one after another to the end of the item.
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

    /// A u32 count, then so many values.
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
