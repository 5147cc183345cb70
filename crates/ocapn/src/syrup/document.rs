//! The owned form of a message that is only read.
use alloc::vec::Vec;
use core::fmt;

use super::scan::STRICT;
use super::tape::{Node, NodeRef, Tape};
use super::{Error, ErrorKind, Limits, Raw};

/// A message and its tape: two vectors that it owns, however many values there are. Unlike a [`Value`](super::Value), it
/// cannot be changed. Documents are equal if their encodings are.
///
/// ```
/// use lydite_ocapn::syrup::Document;
///
/// let messages: Vec<Document> = ["<4'move1+>", "<4'move2+>"]
///     .into_iter()
///     .map(Document::decode)
///     .collect::<Result<_, _>>()?;
/// let steps = messages.iter().filter_map(|message| message.root().children().nth(1)?.as_u64());
/// assert_eq!(steps.sum::<u64>(), 3);
/// # Ok::<(), lydite_ocapn::syrup::Error>(())
/// ```
#[derive(Clone)]
pub struct Document {
    encoding: Vec<u8>,
    nodes: Vec<Node>,
}

impl Document {
    /// Decodes bytes, which must be exactly one canonical value, within the default limits. A vector is not copied.
    ///
    /// # Errors
    ///
    /// The bytes are not exactly one canonical value, or exceed the limits.
    pub fn decode(encoding: impl Into<Vec<u8>>) -> Result<Self, Error> {
        Self::decode_within(encoding, Limits::DEFAULT)
    }

    /// Like [`decode`](Self::decode), with custom limits.
    ///
    /// # Errors
    ///
    /// Those of [`decode`](Self::decode).
    pub fn decode_within(encoding: impl Into<Vec<u8>>, limits: Limits) -> Result<Self, Error> {
        Self::of::<STRICT>(encoding.into(), limits)
    }

    pub(super) fn of<const MODE: u8>(encoding: Vec<u8>, limits: Limits) -> Result<Self, Error> {
        let mut tape = Tape::for_input(&encoding);
        let end = tape.fill::<MODE>(&encoding, limits, false)?;
        if end != encoding.len() {
            return Err(ErrorKind::TrailingBytes.at(end));
        }
        let nodes = tape.into_nodes();
        Ok(Self { encoding, nodes })
    }

    /// The value.
    #[inline]
    pub fn root(&self) -> NodeRef<'_, '_> {
        NodeRef::first(&self.encoding, &self.nodes)
    }

    /// The encoding.
    #[inline]
    pub const fn as_bytes(&self) -> &[u8] {
        self.encoding.as_slice()
    }

    /// The encoding, without the tape.
    pub fn into_bytes(self) -> Vec<u8> {
        self.encoding
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.encoding == other.encoding
    }
}

impl Eq for Document {}

impl core::hash::Hash for Document {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.encoding.hash(state);
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Raw::new(&self.encoding).fmt(f)
    }
}
