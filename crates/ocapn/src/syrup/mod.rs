//! Syrup: the serialisation of OCapN.
//!
//! Every value has exactly one encoding, and unless asked to be lenient the decoders accept nothing else, so that whatever
//! they accept encodes to the same bytes again. That is what makes signatures over values and content ids possible.
//!
//! | type | encoding | rule |
//! |---|---|---|
//! | boolean | `t`, `f` | |
//! | integer | `0+`, `42+`, `1-` | of any size; no leading zero, no `0-` |
//! | float of 64 bits | `D` and 8 bytes | big-endian; every NaN is `7ff8000000000000` |
//! | float of 32 bits | `F` and 4 bytes | in Syrup, not in OCapN; every NaN is `7fc00000` |
//! | byte array, string, symbol | `3:cat`, `3"cat`, `3'cat` | length in bytes; the last two are UTF-8 |
//! | list | `[` values `]` | |
//! | dictionary | `{` key value … `}` | keys sorted by their encodings, each once; strings in OCapN |
//! | set | `#` values `$` | sorted like keys; in Syrup, not in OCapN |
//! | record | `<` label fields `>` | |
//!
//! Four ways to read: [`decode`] to a type of one's own, a [`Tape`] that borrows, an owned [`Value`], and the cursor
//! [`Reader`]. All stop at [`Limits`], and none recurses but for trees, [`MAX_TREE_DEPTH`] deep at most. [`encode`],
//! [`encode_into`] and [`content_id`] write. [`encode_for_endo`] and [`Value::decode_from_endo`] are for peers that order
//! keys otherwise.
//!
//! Sources: the Syrup draft (2023-12) and OCapN's `Notation.md` and `Model.md` (2026-07). Where they leave something open
//! (NaNs with a payload) the tests say what holds here. Constant time: no.
//!
//! ```
//! use lydite_ocapn::syrup::{self, Tape, Value};
//!
//! let value = Value::Dictionary(vec![("port".into(), 8080.into()), ("host".into(), "localhost".into())]);
//! let encoded = syrup::encode(&value)?;
//! assert_eq!(encoded, b"{4\"host9\"localhost4\"port8080+}");
//!
//! let mut tape = Tape::new();
//! let texts: Vec<_> = tape.decode(&encoded)?.children().filter_map(|node| node.as_str()).collect();
//! assert_eq!(texts, ["host", "localhost", "port"]);
//!
//! let error = tape.decode(b"{4\"port8080+4\"host9\"localhost}").map(|_| ()).unwrap_err();
//! assert_eq!(error.to_string(), "byte 12: key or member out of order");
//! # Ok::<(), syrup::Error>(())
//! ```
//!
//! # Types of one's own
//!
//! `#[derive(Encode, Decode)]` (feature `derive`, on by default) makes the fastest form: what is always the same, keys and
//! labels with their brackets, is encoded and sorted when the program is compiled.
//!
//! | type | Syrup |
//! |---|---|
//! | struct with named fields | dictionary: all keys, strings, must be there and no others |
//! | struct with one field without a name | that value alone |
//! | struct with several, or `#[syrup(list)]` | list |
//! | struct with `#[syrup(record = "label")]` | record: a symbol as label, then the fields in the order that they are declared in |
//! | enum | one record a variant, labelled with its name or with what `#[syrup(record = "label")]` on it says |
//! | `#[syrup(symbol = "text")]` on a variant without fields | that symbol alone |
//! | `string_label` beside `record` | the label is a string |
//! | `#[syrup(key = "text")]` on a field of a dictionary | another key than the field's name |
//! | `#[syrup(optional)]` on such a field, an `Option` | `None` is no entry |
//! | `#[syrup(or_false)]` on any field, an `Option` of what is never `false` itself | `None` is `f`, as in CapTP |
//! | `#[syrup(crate = lydite::ocapn)]` on the type | where this crate is, if it is known by another name |
//!
#![cfg_attr(
    feature = "derive",
    doc = r#"
```
use lydite_ocapn::syrup::{self, Decode, Encode};

#[derive(Debug, PartialEq, Encode, Decode)]
enum Message<'a> {
    #[syrup(record = "op:deliver")]
    Deliver {
        to: Export,
        arguments: Vec<&'a str>,
        #[syrup(or_false)]
        answer: Option<u64>,
    },
    #[syrup(record = "op:configure")]
    Configure(Config<'a>),
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[syrup(record = "desc:export")]
struct Export {
    position: u64,
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Config<'a> {
    host: &'a str,
    port: u16,
    #[syrup(key = "on?")]
    enabled: bool,
    #[syrup(optional)]
    note: Option<&'a str>,
}

let deliver = Message::Deliver { to: Export { position: 42 }, arguments: vec!["cat"], answer: None };
let encoded = syrup::encode(&deliver)?;
assert_eq!(encoded, b"<10'op:deliver<11'desc:export42+>[3\"cat]f>");
assert_eq!(syrup::decode::<Message>(&encoded)?, deliver);

let configure = Message::Configure(Config { host: "localhost", port: 80, enabled: true, note: None });
let encoded = syrup::encode(&configure)?;
assert_eq!(encoded, b"<12'op:configure{3\"on?t4\"host9\"localhost4\"port80+}>");
assert_eq!(syrup::decode::<Message>(&encoded)?, configure);

let error = syrup::decode::<Message>(b"<8'op:other>").unwrap_err();
assert_eq!(error.to_string(), "byte 1: another label");
# Ok::<(), syrup::Error>(())
```
"#
)]
//!
//! Types that have serde's traits are read and written by module `serde` (feature `serde`), at some cost in speed.

mod buffer;
mod derive;
mod encode;
mod error;
mod integer;
mod read;
mod scan;
#[cfg(feature = "serde")]
pub mod serde;
mod tape;
#[cfg(test)]
pub(crate) mod tests;
mod tree;
mod value;

pub use encode::{Encode, content_id, encode, encode_append, encode_for_endo, encode_into};
pub use error::{Error, ErrorKind};
pub use integer::{Integer, IntegerOutOfRange, ParseIntegerError};
pub use lydite_bytes::Buffer;
pub use read::{Decode, Items, Keys, Reader, decode};
#[cfg(feature = "captp")]
pub(crate) use scan::{ENDO, Progress, STRICT, Stack, resume, text_order};
pub use scan::{Kind, decimal};
pub use tape::{Children, NodeRef, Tape};
pub use value::{Record, Value};

#[cfg(feature = "derive")]
pub use lydite_ocapn_derive::{Decode, Encode};

/// The largest message that a decoder accepts, in containers and values. These bound its memory.
///
/// A value may be one byte of input (`t`). A [`Tape`] takes 16 bytes a value, 48 while it grows by doubling; a [`Value`] takes 32 bytes and
/// the text it holds, 64 while it is decoded. So memory is at most 48 and 64 times the input, and with [`Limits::DEFAULT`] at most
/// 768 MiB and 1 GiB plus the input, however long that is. For messages of unknown peers, set a lower limit or decode to a type that
/// derives [`Decode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most containers inside each other.
    pub depth: usize,
    /// The most values, each container counted too.
    pub values: usize,
}

impl Limits {
    /// 128 containers inside each other, 2^24 values.
    pub const DEFAULT: Self = Self {
        depth: 128,
        values: 1 << 24,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Containers inside each other that a [`Value`] may have to be decoded or encoded, since a tree is built, written and
/// dropped by recursion.
pub const MAX_TREE_DEPTH: usize = 1024;

/// Text that is a symbol on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol<T>(pub T);

/// A value in its canonical encoding, borrowed from the message that it stands in.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Raw<'a>(&'a [u8]);

impl<'a> Raw<'a> {
    pub(crate) const fn new(encoded: &'a [u8]) -> Self {
        Self(encoded)
    }

    /// The encoding.
    #[inline]
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Decodes it.
    #[inline]
    pub fn decode<T: Decode<'a>>(&self) -> Result<T, Error> {
        decode(self.0)
    }

    /// Its content id: SHA-256 of the encoding.
    #[inline]
    pub fn content_id(&self) -> [u8; 32] {
        lydite_hash::sha256(self.0)
    }
}

impl core::fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}
