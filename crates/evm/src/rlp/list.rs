//! A list left in the input: checked when it is decoded, with elements decoded on access.
use alloc::vec::Vec;
use core::{fmt, marker::PhantomData};

use super::{Buffer, Decode, Encode, Error, Header, Reader};

/// A borrowed list whose elements have been checked to decode as `T`.
///
/// ```
/// use lydite_evm::rlp::{self, List};
///
/// let list: List<'_, u64> = rlp::decode(&[0xc3, 0x01, 0x02, 0x03])?;
/// assert_eq!(list.iter().sum::<u64>(), 6);
/// # Ok::<(), rlp::Error>(())
/// ```
pub struct List<'a, T> {
    payload: &'a [u8],
    elements: PhantomData<fn() -> T>,
}

impl<'a, T: Decode<'a>> List<'a, T> {
    /// Returns the elements in order.
    #[inline]
    pub fn iter(&self) -> ListIter<'a, T> {
        ListIter {
            reader: Reader::new(self.payload),
            elements: PhantomData,
        }
    }

    /// Returns the number of elements. Counts them on each call.
    pub fn len(&self) -> usize {
        Reader::new(self.payload).count().unwrap_or(0)
    }

    /// Whether the list has no elements.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.payload.is_empty()
    }

    /// Returns the encodings of the elements, one after another.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Converts the elements, in one allocation.
    pub fn to_vec<U: From<T>>(&self) -> Vec<U> {
        let mut list = Vec::with_capacity(self.len());
        list.extend(self.iter().map(U::from));
        list
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for List<'a, T> {
    #[inline(always)]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let elements = reader.list()?;
        if !elements.is_empty() {
            check::<T>(elements)?;
        }
        Ok(Self {
            payload: elements.rest(),
            elements: PhantomData,
        })
    }
}

/// Decodes every element.
fn check<'a, T: Decode<'a>>(mut elements: Reader<'a>) -> Result<(), Error> {
    while !elements.is_empty() {
        elements.read::<T>()?;
    }
    Ok(())
}

impl<T> Encode for List<'_, T> {
    #[inline]
    fn encoded_len(&self) -> usize {
        Header {
            list: true,
            payload_len: self.payload.len(),
        }
        .encoded_len()
            + self.payload.len()
    }

    #[inline(always)]
    fn encode<B: Buffer>(&self, out: &mut B) {
        Header {
            list: true,
            payload_len: self.payload.len(),
        }
        .encode(out);
        out.put_slice(self.payload);
    }
}

impl<T> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<'_, T> {}

impl<T> Default for List<'_, T> {
    fn default() -> Self {
        Self {
            payload: &[],
            elements: PhantomData,
        }
    }
}

/// Two lists are equal if their encodings are equal, because each element has exactly one encoding.
impl<T> PartialEq for List<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.payload == other.payload
    }
}

impl<T> Eq for List<'_, T> {}

impl<'a, T: Decode<'a> + fmt::Debug> fmt::Debug for List<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T: Decode<'a>> IntoIterator for &List<'a, T> {
    type Item = T;
    type IntoIter = ListIter<'a, T>;

    fn into_iter(self) -> ListIter<'a, T> {
        self.iter()
    }
}

/// Elements of a [`List`].
#[derive(Clone, Debug)]
pub struct ListIter<'a, T> {
    reader: Reader<'a>,
    elements: PhantomData<fn() -> T>,
}

impl<'a, T: Decode<'a>> Iterator for ListIter<'a, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        // The elements were checked when the list was decoded, so this never fails.
        self.reader.read().ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.reader.rest().len()))
    }
}
