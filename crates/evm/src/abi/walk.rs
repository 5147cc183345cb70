//! Checks data against a plan, and builds a tree of values at the same time. Recursion is bounded by
//! [`MAX_DEPTH`](super::MAX_DEPTH).

use alloc::{string::String, vec::Vec};

use lydite_bytes::Address;

use super::{
    Decoder, Error, ErrorKind, Mode, Value,
    plan::{self, Kind, Node},
    read::text,
    word,
};

/// Walks over all of the data. The first node must be the tuple of the arguments.
pub(super) fn walk<L: List>(nodes: &[Node], data: &[u8], mode: Mode) -> Result<L, Error> {
    let root = &nodes[0];
    let (decoder, _) = Decoder::new(data, mode, root.inner)?;
    let mut walker = Walker { nodes, decoder };
    let list = walker.frame(root, plan::arguments(nodes), 0, 0)?;
    walker.decoder.finish()?;
    Ok(list)
}

/// A consumer of the checked values of a list.
pub(super) trait List: Sized {
    /// Values are ignored, so those that are always valid need not be visited.
    const CHECKED_ONLY: bool;
    /// Creates a list for `len` values.
    fn with_capacity(len: usize) -> Self;
    /// Appends values of value types.
    fn values(&mut self, values: impl ExactSizeIterator<Item = Value>);
    /// Appends a value of type `bytes`.
    fn bytes(&mut self, bytes: &[u8]);
    /// Appends a value of type `string`, whose bytes start at `position`.
    fn text(&mut self, bytes: &[u8], position: usize, lenient: bool) -> Result<(), Error>;
    /// Appends an array or tuple.
    fn list(&mut self, kind: Kind, list: Self);
}

/// A consumer that only checks the data.
pub(super) struct Checked;

impl List for Checked {
    const CHECKED_ONLY: bool = true;

    #[inline(always)]
    fn with_capacity(_: usize) -> Self {
        Self
    }

    #[inline(always)]
    fn values(&mut self, _: impl ExactSizeIterator<Item = Value>) {}

    #[inline(always)]
    fn bytes(&mut self, _: &[u8]) {}

    #[inline(always)]
    fn text(&mut self, bytes: &[u8], position: usize, _: bool) -> Result<(), Error> {
        text(bytes, position).map(drop)
    }

    #[inline(always)]
    fn list(&mut self, _: Kind, _: Self) {}
}

impl List for Vec<Value> {
    const CHECKED_ONLY: bool = false;

    #[inline(always)]
    fn with_capacity(len: usize) -> Self {
        Vec::with_capacity(len)
    }

    #[inline(always)]
    fn values(&mut self, values: impl ExactSizeIterator<Item = Value>) {
        self.extend(values);
    }

    #[inline(always)]
    fn bytes(&mut self, bytes: &[u8]) {
        self.push(Value::Bytes(bytes.to_vec()));
    }

    #[inline(always)]
    fn text(&mut self, bytes: &[u8], position: usize, lenient: bool) -> Result<(), Error> {
        self.push(Value::String(if lenient {
            String::from_utf8_lossy(bytes).into_owned()
        } else {
            String::from(text(bytes, position)?)
        }));
        Ok(())
    }

    #[inline(always)]
    fn list(&mut self, kind: Kind, list: Self) {
        self.push(match kind {
            Kind::Array => Value::Array(list),
            Kind::FixedArray(_) => Value::FixedArray(list),
            _ => Value::Tuple(list),
        });
    }
}

struct Walker<'c, 'a> {
    nodes: &'c [Node],
    decoder: Decoder<'a>,
}

impl Walker<'_, '_> {
    /// Processes the `len` values of `node`, whose heads start at `head` and are inside the data. Takes plain numbers,
    /// because a `Head` would be passed through memory at each call.
    fn frame<L: List>(
        &mut self,
        node: &Node,
        len: usize,
        base: usize,
        mut head: usize,
    ) -> Result<L, Error> {
        let members = &self.nodes[node.child..];
        let mut list = L::with_capacity(len);
        let step = usize::from(!node.is_array());
        if step == 0 && (members[0].kind.is_word() || L::CHECKED_ONLY && members[0].free) {
            self.words(&mut list, &members[0], head, len)?;
            return Ok(list);
        }
        let mut at = 0;
        for _ in 0..len {
            let member = &members[at];
            if member.kind.is_word() {
                self.words(&mut list, member, head, 1)?;
            } else if member.dynamic {
                let target = self.decoder.target(base, head)?;
                match member.kind {
                    Kind::Bytes => list.bytes(self.decoder.bytes_at(target)?),
                    Kind::String => {
                        let bytes = self.decoder.bytes_at(target)?;
                        list.text(bytes, target + 32, self.decoder.is_lenient())?;
                    }
                    kind => {
                        let (len, base) = match kind {
                            Kind::Tuple(len) | Kind::FixedArray(len) => {
                                self.decoder.nested_at(target, member.inner)?;
                                (len, target)
                            }
                            _ => (self.decoder.array_at(target, member.inner)?, target + 32),
                        };
                        list.list(kind, self.frame(member, len, base, base)?);
                    }
                }
            } else if let Kind::Tuple(len) | Kind::FixedArray(len) = member.kind {
                list.list(member.kind, self.frame(member, len, base, head)?);
            }
            head += member.head;
            at += step;
        }
        Ok(list)
    }

    /// Processes the `count` values of a value type in the words from `head` on.
    #[inline(always)]
    fn words<L: List>(
        &self,
        list: &mut L,
        node: &Node,
        head: usize,
        count: usize,
    ) -> Result<(), Error> {
        if L::CHECKED_ONLY && node.free {
            return Ok(());
        }
        let words = Words {
            words: self.decoder.words_at(head, count)?,
            head,
            mask: self.decoder.is_lenient().then_some(node.kind),
        };
        match node.kind {
            Kind::Uint(bits) => words.read(
                list,
                ErrorKind::Range,
                |word| word::fits_uint(word, usize::from(bits)),
                |word| Value::Uint(word::to_u256(word), bits),
            ),
            Kind::Int(bits) => words.read(
                list,
                ErrorKind::Range,
                |word| word::fits_int(word, usize::from(bits)),
                |word| Value::Int(word::to_u256(word), bits),
            ),
            Kind::Bool => words.read(
                list,
                ErrorKind::Bool,
                |word| word::to_bool(word).is_some(),
                |word| Value::Bool(word[31] != 0),
            ),
            Kind::Address => words.read(
                list,
                ErrorKind::Padding,
                |word| word::fits_uint(word, 160),
                |word| Value::Address(Address(word::get_right(word))),
            ),
            Kind::Function => words.read(
                list,
                ErrorKind::Padding,
                |word| word::is_padded(word, 8),
                |word| Value::Function(word::get_left(word)),
            ),
            Kind::FixedBytes(len) => words.read(
                list,
                ErrorKind::Padding,
                |word| len == 32 || word::is_padded(word, 32 - usize::from(len)),
                |word| Value::FixedBytes(*word, len),
            ),
            _ => Ok(()),
        }
    }
}

/// Words of one value type.
struct Words<'a> {
    words: &'a [[u8; 32]],
    /// Position of the first word.
    head: usize,
    /// In lenient mode, the type whose excess bits are dropped.
    mask: Option<Kind>,
}

impl Words<'_> {
    /// Each kind has a separate copy of this function: if values of all kinds were built in one place, they would go
    /// through memory and wait for their own stores.
    #[inline(never)]
    fn read<L: List>(
        self,
        list: &mut L,
        error: ErrorKind,
        fits: impl Fn(&[u8; 32]) -> bool,
        value: impl Fn(&[u8; 32]) -> Value,
    ) -> Result<(), Error> {
        if let Some(kind) = self.mask {
            list.values(self.words.iter().map(|word| value(&kind.mask(word))));
            return Ok(());
        }
        if let Some(at) = self.words.iter().position(|word| !fits(word)) {
            return Err(Error::new(error, self.head + 32 * at));
        }
        list.values(self.words.iter().map(value));
        Ok(())
    }
}
