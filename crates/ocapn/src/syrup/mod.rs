//! Syrup, the serialisation format of OCapN.
//!
//! Every value has exactly one encoding. Except in lenient mode, the decoders accept nothing else, so an accepted value
//! encodes to the same bytes again. Signatures over values and content ids depend on this.
//!
//! | type | encoding | rule |
//! |---|---|---|
//! | boolean | `t`, `f` | |
//! | integer | `0+`, `42+`, `1-` | of any size; no leading zero, no `0-` |
//! | float of 64 bits | `D` and 8 bytes | big-endian; every NaN is `7ff8000000000000` |
//! | float of 32 bits | `F` and 4 bytes | in Syrup, not in OCapN; every NaN is `7fc00000` |
//! | byte array, string, symbol | `3:cat`, `3"cat`, `3'cat` | length in bytes; strings and symbols are UTF-8 |
//! | list | `[` values `]` | |
//! | dictionary | `{` key value … `}` | keys sorted by their encodings, each once; strings in OCapN |
//! | set | `#` values `$` | sorted like keys; in Syrup, not in OCapN |
//! | record | `<` label fields `>` | |
//!
//! There are five ways to read: [`decode`] to a user-defined type, a borrowing [`Tape`], a [`Document`] that owns its
//! bytes, a [`Value`] that can be changed, and the cursor [`Reader`]. All enforce [`Limits`]. Only trees use recursion, at most [`MAX_TREE_DEPTH`] deep. [`encode`],
//! [`encode_into`] and [`content_id`] write. [`encode_for_endo`] and [`Value::decode_from_endo`] are for peers that
//! order keys differently.
//!
//! Sources: the Syrup draft (2023-12) and OCapN's `Notation.md` and `Model.md` (2026-07). Where they leave something
//! open (NaNs with a payload), the tests define the behaviour. Not constant time.
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
//! assert_eq!(error.to_string(), "byte 12: key or set member out of order");
//! # Ok::<(), syrup::Error>(())
//! ```
//!
//! # User-defined types
//!
//! `#[derive(Encode, Decode)]` (feature `derive`, on by default) generates the fastest code: everything constant (keys
//! and labels with their brackets) is encoded and sorted at compile time.
//!
//! | type | Syrup |
//! |---|---|
//! | struct with named fields | dictionary with string keys: all keys are required, others are rejected |
//! | struct with one unnamed field | that value alone |
//! | struct with several unnamed fields, or `#[syrup(list)]` | list |
//! | struct with `#[syrup(record = "label")]` | record: a symbol as label, then the fields in declaration order |
//! | enum | one record per variant, labelled with the variant's name or its `#[syrup(record = "label")]` |
//! | `#[syrup(symbol = "text")]` on a variant without fields | that symbol alone |
//! | `string_label` in addition to `record` | the label is a string |
//! | `#[syrup(key = "text")]` on a field of a dictionary | a key other than the field's name |
//! | `#[syrup(optional)]` on such a field, an `Option` | `None` omits the entry |
//! | `#[syrup(or_false)]` on any field, an `Option` of a type that is never `false` itself | `None` is `f`, as in CapTP |
//! | `#[syrup(crate = lydite::ocapn)]` on the type | path of this crate, if it has another name |
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
assert_eq!(error.to_string(), "byte 1: unexpected label or symbol");
# Ok::<(), syrup::Error>(())
```
"#
)]
//!
//! The module `serde` (feature `serde`) reads and writes types that implement serde's traits, at some cost in speed.

mod buffer;
mod derive;
mod document;
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

pub use document::Document;
#[cfg(feature = "captp")]
pub(crate) use encode::sort_keys;
pub use encode::{Encode, content_id, encode, encode_append, encode_for_endo, encode_into};
pub use error::{Error, ErrorKind};
pub use integer::{Integer, IntegerOutOfRange, ParseIntegerError};
pub use lydite_bytes::Buffer;
pub use read::{Decode, Items, Keys, Reader, decode};
#[cfg(feature = "captp")]
pub(crate) use scan::{ENDO, Progress, STRICT, Stack, least_length, resume, text_order};
pub use scan::{Kind, decimal};
pub use tape::{Children, NodeRef, Tape};
pub use value::{Record, Value};

#[cfg(feature = "derive")]
pub use lydite_ocapn_derive::{Decode, Encode};

/// The largest message that a decoder accepts, in nesting depth and number of values. These bound its memory.
///
/// A value can be as short as one byte of input (`t`). A [`Tape`] takes 16 bytes per value, 48 while it grows by
/// doubling, and a [`Document`] takes the same and its encoding. A [`Value`] takes 32 bytes (a record 24 more) and the text it holds, 64 while it is decoded. So memory is at
/// most 48 or 64 times the input, and with [`Limits::DEFAULT`] at most 768 MiB or 1 GiB plus the input, however long that
/// is. For messages from untrusted peers, set a lower limit or decode to a type that derives [`Decode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum nesting depth of containers.
    pub depth: usize,
    /// Maximum number of values, containers included.
    pub values: usize,
}

impl Limits {
    /// 128 nested containers, 2^24 values.
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

/// Maximum nesting depth of a [`Value`] that is decoded or encoded, since a tree is built, written and dropped
/// recursively.
pub const MAX_TREE_DEPTH: usize = 1024;

/// Text that is a symbol on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol<T>(pub T);

/// A value in its canonical encoding, borrowed from its message.
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
