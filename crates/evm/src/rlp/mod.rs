//! RLP: the serialisation of Ethereum's execution layer.
//!
//! An item is a byte string or a list of items. Each item has exactly one encoding, and the decoders here accept no
//! other (shortest length form, no leading zero in a length or an integer, no prefix before a single byte below 0x80,
//! no data after the item). So accepted input always re-encodes to the same bytes.
//!
//! | first byte   | item                                                        |
//! |--------------|-------------------------------------------------------------|
//! | `00..=7f`    | that byte as a string of length 1                           |
//! | `80..=b7`    | string of `0..=55` bytes                                    |
//! | `b8..=bf`    | string of 56 bytes or more, then 1 to 8 bytes of its length |
//! | `c0..=f7`    | list with a payload of `0..=55` bytes                       |
//! | `f8..=ff`    | list with a payload of 56 bytes or more, length as above    |
//!
//! Integers are big-endian strings without leading zeros (zero is the empty string); `bool` is 0 or 1.
//!
//! Source: Ethereum Yellow Paper, appendix B. Constant time: no, the data is public.
//!
//! ```
//! use lydite_evm::rlp;
//!
//! let encoded = rlp::encode(&(1024u64, "dog"));
//! assert_eq!(encoded, [0xc7, 0x82, 0x04, 0x00, 0x83, b'd', b'o', b'g']);
//! let (number, animal): (u64, &str) = rlp::decode(&encoded)?;
//! assert_eq!((number, animal), (1024, "dog"));
//! # Ok::<(), rlp::Error>(())
//! ```

mod decode;
mod encode;
mod error;
mod items;
mod list;
mod structs;
#[cfg(test)]
mod tests;

pub use decode::{Decode, Item, Reader, decode};
pub use encode::{Encode, encode, encode_append, encode_into};
pub use error::{Error, ErrorKind};
pub use items::{Event, Items, items};
pub use list::{List, ListIter};
pub use lydite_bytes::Buffer;
pub use structs::Payload;

use encode::integer_len;
pub(crate) use encode::{integer_bytes_len, put_integer_bytes};

#[doc(inline)]
pub use crate::rlp_struct;

/// Longest payload whose length fits in the first byte.
const SHORT: usize = 55;

/// Kind and payload length of an item: the part before its payload.
///
/// ```
/// use lydite_evm::rlp::Header;
///
/// let header = Header { list: true, payload_len: 1024 };
/// let mut out = Vec::new();
/// header.encode(&mut out);
/// assert_eq!(out, [0xf9, 0x04, 0x00]);
/// assert_eq!(header.encoded_len(), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Whether the item is a list (else a string).
    pub list: bool,
    /// Length of the payload that follows, in bytes.
    pub payload_len: usize,
}

impl Header {
    /// Returns the length of the header in bytes, 1 to 9. (A string of one byte below 0x80 has no header: it is its own
    /// encoding.)
    #[inline]
    pub const fn encoded_len(&self) -> usize {
        if self.payload_len <= SHORT {
            1
        } else {
            1 + integer_len(self.payload_len as u64)
        }
    }

    /// Appends the header to `out`.
    #[inline]
    pub fn encode<B: Buffer>(&self, out: &mut B) {
        let base = if self.list { 0xc0 } else { 0x80 };
        if self.payload_len <= SHORT {
            out.put(&[base + self.payload_len as u8], 1);
        } else {
            let length = self.payload_len as u64;
            let size = integer_len(length);
            out.put(&[base + SHORT as u8 + size as u8], 1);
            out.put(&(length << (64 - 8 * size)).to_be_bytes(), size);
        }
    }
}
