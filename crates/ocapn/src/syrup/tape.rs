//! The borrowed form: one flat vector of 16-byte nodes, which is reused from message to message.
use alloc::{vec, vec::Vec};

use super::integer::Integer;
use super::scan::{self, Atom, Fixed, Kind, STRICT, Stack, Visitor};
use super::{Error, ErrorKind, Limits, Raw};

/// A decoder that reuses its memory.
///
/// ```
/// use lydite_ocapn::syrup::{Kind, Tape};
///
/// let mut tape = Tape::new();
/// let deliver = tape.decode(b"<10'op:deliver<11'desc:export42+>[3\"cat]>")?;
/// assert_eq!(deliver.kind(), Kind::Record);
/// let [label, export, arguments] = deliver.children().collect::<Vec<_>>()[..] else { panic!() };
/// assert_eq!(label.as_symbol(), Some("op:deliver"));
/// assert_eq!(export.children().nth(1).and_then(|node| node.as_u64()), Some(42));
/// assert_eq!(arguments.raw().as_bytes(), b"[3\"cat]");
/// # Ok::<(), lydite_ocapn::syrup::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Tape {
    /// Nodes of the last message, followed by spare ones.
    nodes: Vec<Node>,
    used: usize,
    stack: Stack,
}

/// A value. `data` is the magnitude of an integer that fits in 64 bits, the number of digits of a larger one, the bits
/// of a float, the length of bytes or text, or 1 for `t`. For a container its lower half is the end offset in the input
/// and its upper half the end index on the tape.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub data: u64,
    /// From the lowest bit: 32 bits of start offset, 24 bits of `extra`, 8 bits of tag. The tag is the discriminant of
    /// a [`Kind`], or `-` for a negative integer. `extra` is the header length of bytes or text; the encoded length of
    /// a value of fixed length or of an integer that fits in 64 bits (0 for a larger one); or the number of direct
    /// children of a container, at most [`MANY`].
    head: u64,
}

/// Minimum and maximum initial capacity.
const FEW: usize = 16;
const MUCH: usize = 1024;

/// Child count that means this many or more.
const MANY: u32 = (1 << 24) - 1;

const MAX: u64 = i64::MAX as u64;

impl Node {
    const UNUSED: Self = Self { data: 0, head: 0 };

    /// `extra` must be at most [`MANY`].
    #[inline(always)]
    const fn new(tag: u8, start: usize, extra: u64, data: u64) -> Self {
        Self {
            data,
            head: start as u32 as u64 | extra << 32 | (tag as u64) << 56,
        }
    }

    #[inline(always)]
    pub const fn tag(&self) -> u8 {
        (self.head >> 56) as u8
    }

    #[inline(always)]
    pub const fn start(&self) -> usize {
        self.head as u32 as usize
    }

    #[inline(always)]
    pub const fn extra(&self) -> u32 {
        (self.head >> 32) as u32 & MANY
    }

    #[inline(always)]
    const fn is_container(&self) -> bool {
        matches!(self.tag(), b'[' | b'{' | b'#' | b'<')
    }

    /// The payload of bytes or text.
    #[inline(always)]
    pub fn payload<'a>(&self, input: &'a [u8]) -> &'a [u8] {
        &input[self.start() + self.extra() as usize..][..self.data as usize]
    }

    /// The value of an integer, if its magnitude fits in an `i64`.
    #[inline(always)]
    pub const fn word(&self) -> Option<i64> {
        match (self.tag(), self.data) {
            (b'+', 0..=MAX) if self.extra() > 0 => Some(self.data as i64),
            (b'-', 0..=MAX) if self.extra() > 0 => Some(-(self.data as i64)),
            _ => None,
        }
    }

    /// The value of an integer of any size.
    #[inline(never)]
    pub fn integer(&self, input: &[u8]) -> Integer {
        let negative = self.tag() == b'-';
        match self.extra() {
            0 => {
                let digits = &input[self.start()..][..self.data as usize];
                Integer::from_decimal(negative, scan::utf8(digits).unwrap_or_default())
            }
            _ => Integer::from_word(negative, self.data),
        }
    }

    /// Number of direct children of a container, at most [`MANY`].
    #[inline(always)]
    pub const fn values(&self) -> u32 {
        self.extra()
    }

    /// Tape index after a container.
    #[inline(always)]
    pub const fn next(&self) -> usize {
        (self.data >> 32) as usize
    }

    /// Tape index after this node, which is at `index`, and all it contains.
    #[inline(always)]
    pub const fn after(&self, index: usize) -> usize {
        if self.is_container() {
            self.next()
        } else {
            index + 1
        }
    }
}

/// One value of a decoded message, including everything inside it.
#[derive(Clone, Copy)]
pub struct NodeRef<'t, 'a> {
    input: &'a [u8],
    nodes: &'t [Node],
    index: usize,
}

/// The direct children of a container, in input order: keys and values of a dictionary alternate, and the label of a
/// record comes first.
#[derive(Clone)]
pub struct Children<'t, 'a> {
    next: NodeRef<'t, 'a>,
    end: usize,
}

impl Tape {
    /// Creates an empty tape.
    pub const fn new() -> Self {
        Self {
            nodes: Vec::new(),
            used: 0,
            stack: Stack::new(),
        }
    }

    /// Creates a tape for one input. A value takes about four bytes of it.
    #[inline(always)]
    pub(super) fn for_input(input: &[u8]) -> Self {
        let nodes = (input.len() / 4).clamp(FEW, MUCH);
        Self {
            nodes: vec![Node::UNUSED; nodes],
            ..Self::new()
        }
    }

    /// The nodes of the last message. Their memory is at most twice what they need, plus that of 16 nodes.
    #[inline]
    pub(super) fn into_nodes(self) -> Vec<Node> {
        let mut nodes = self.nodes;
        nodes.truncate(self.used);
        if nodes.capacity() > 2 * nodes.len() + FEW {
            nodes.shrink_to_fit();
        }
        nodes
    }

    /// Decodes `input`, which must be exactly one canonical value, within the default limits.
    ///
    /// # Errors
    ///
    /// The bytes are not exactly one canonical value, or exceed the limits.
    #[inline]
    pub fn decode<'t, 'a>(&'t mut self, input: &'a [u8]) -> Result<NodeRef<'t, 'a>, Error> {
        self.decode_within(input, Limits::default())
    }

    /// Like [`decode`](Self::decode), with custom limits.
    ///
    /// # Errors
    ///
    /// Those of [`decode`](Self::decode).
    #[inline]
    pub fn decode_within<'t, 'a>(
        &'t mut self,
        input: &'a [u8],
        limits: Limits,
    ) -> Result<NodeRef<'t, 'a>, Error> {
        let end = self.fill::<STRICT>(input, limits, false)?;
        if end != input.len() {
            return Err(ErrorKind::TrailingBytes.at(end));
        }
        Ok(self.root(input))
    }

    /// Decodes the canonical value at the start of `input` and returns it with its end offset, for streams without
    /// frames.
    ///
    /// # Errors
    ///
    /// The input does not start with a canonical value, or exceeds the limits.
    #[inline]
    pub fn decode_first<'t, 'a>(
        &'t mut self,
        input: &'a [u8],
        limits: Limits,
    ) -> Result<(NodeRef<'t, 'a>, usize), Error> {
        let end = self.fill::<STRICT>(input, limits, false)?;
        Ok((self.root(input), end))
    }

    #[inline(always)]
    fn root<'t, 'a>(&'t self, input: &'a [u8]) -> NodeRef<'t, 'a> {
        NodeRef::first(input, self.nodes())
    }

    /// Stores the nodes of the value at the start of `input` and returns its end offset, a result that fits in
    /// registers. If `checked_later`, text is not checked for UTF-8 and the caller must do so.
    #[inline(never)]
    pub(super) fn fill<const MODE: u8>(
        &mut self,
        input: &[u8],
        limits: Limits,
        checked_later: bool,
    ) -> Result<usize, Error> {
        self.used = 0;
        if u32::try_from(input.len()).is_err() {
            return Err(ErrorKind::TooLong.at(u32::MAX as usize));
        }
        let mut writer = Writer {
            nodes: &mut self.nodes,
            used: 0,
            limit: limits.values,
            checked_later,
        };
        writer.nodes.truncate(limits.values);
        let end = scan::walk::<MODE, _>(input, limits, &mut self.stack, &mut writer);
        self.used = writer.used;
        end
    }

    #[inline(always)]
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes[..self.used]
    }
}

struct Writer<'a> {
    nodes: &'a mut Vec<Node>,
    used: usize,
    limit: usize,
    checked_later: bool,
}

impl Writer<'_> {
    #[inline(always)]
    fn push(&mut self, node: Node) -> Result<(), Error> {
        if let Some(place) = self.nodes.get_mut(self.used) {
            *place = node;
        } else {
            grow(self.nodes, node, self.limit)?;
        }
        self.used += 1;
        Ok(())
    }
}

/// Stores `next` and doubles the number of nodes, up to `limit`. Fails if that is already reached.
#[cold]
#[inline(never)]
fn grow(nodes: &mut Vec<Node>, next: Node, limit: usize) -> Result<(), Error> {
    let used = nodes.len();
    let more = used.max(FEW).min(limit - used);
    nodes.resize(used + more, Node::UNUSED);
    let place = nodes.get_mut(used);
    *place.ok_or(ErrorKind::TooManyValues.at(next.start()))? = next;
    Ok(())
}

impl Visitor for Writer<'_> {
    #[inline(always)]
    fn atom(&mut self, start: usize, atom: Atom) -> Result<(), Error> {
        let (tag, extra, data) = match atom {
            Atom::Integer {
                marker,
                length,
                magnitude,
            } => (marker, length, magnitude),
            Atom::LongInteger { marker, digits } => (marker, 0, digits as u64),
            Atom::Payload {
                marker,
                header,
                length,
            } => (marker, header, length as u64),
            Atom::Fixed { value, length } => {
                let (kind, data) = match value {
                    Fixed::Boolean(value) => (Kind::Boolean, u64::from(value)),
                    Fixed::Float64(bits) => (Kind::Float64, bits),
                    Fixed::Float32(bits) => (Kind::Float32, u64::from(bits)),
                };
                (kind as u8, length, data)
            }
        };
        self.push(Node::new(tag, start, extra as u64, data))
    }

    #[inline(always)]
    fn open(&mut self, tag: u8, start: usize) -> Result<usize, Error> {
        let name = self.used;
        self.push(Node::new(tag, start, 0, 0))?;
        Ok(name)
    }

    #[inline(always)]
    fn close(&mut self, name: usize, values: u32, end: usize) {
        let next = self.used as u64;
        if let Some(node) = self.nodes.get_mut(name) {
            node.data = next << 32 | end as u64;
            node.head |= u64::from(values.min(MANY)) << 32;
        }
    }

    #[inline(always)]
    fn checks_text(&self) -> bool {
        self.checked_later
    }
}

impl<'t, 'a> NodeRef<'t, 'a> {
    /// The value of an input with these nodes.
    #[inline(always)]
    pub(super) const fn first(input: &'a [u8], nodes: &'t [Node]) -> Self {
        Self {
            input,
            nodes,
            index: 0,
        }
    }

    #[inline]
    fn node(&self) -> Node {
        self.nodes[self.index]
    }

    /// The type of the value.
    #[inline]
    pub fn kind(&self) -> Kind {
        match self.node().tag() {
            b't' => Kind::Boolean,
            b'+' | b'-' => Kind::Integer,
            b'D' => Kind::Float64,
            b'F' => Kind::Float32,
            b':' => Kind::Bytes,
            b'"' => Kind::String,
            b'\'' => Kind::Symbol,
            b'[' => Kind::List,
            b'{' => Kind::Dictionary,
            b'#' => Kind::Set,
            _ => Kind::Record,
        }
    }

    /// Offset of the value's first byte in the input.
    #[inline]
    pub fn offset(&self) -> usize {
        self.node().start()
    }

    /// The bytes of the value in the input. They are its canonical encoding, which is what signatures cover.
    #[inline]
    pub fn raw(&self) -> Raw<'a> {
        let node = self.node();
        let (start, extra) = (node.start(), node.extra() as usize);
        let end = match node.tag() {
            b'[' | b'{' | b'#' | b'<' => node.data as u32 as usize,
            b':' | b'"' | b'\'' => start + extra + node.data as usize,
            b'+' | b'-' if extra == 0 => start + node.data as usize + 1,
            _ => start + extra,
        };
        Raw::new(&self.input[start..end])
    }

    /// The direct children; empty if the value is not a container.
    #[inline]
    pub fn children(&self) -> Children<'t, 'a> {
        let next = Self {
            index: self.index + 1,
            ..*self
        };
        Children {
            next,
            end: self.after(),
        }
    }

    /// Number of direct children, counting both keys and values of a dictionary, and the label of a record.
    #[inline]
    pub fn len(&self) -> usize {
        let node = self.node();
        match node.values() {
            _ if !node.is_container() => 0,
            MANY => self.children().count(),
            values => values as usize,
        }
    }

    /// Whether there are no children.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// This value and everything inside it at any depth, in input order.
    #[inline]
    pub fn descendants(&self) -> impl Iterator<Item = NodeRef<'t, 'a>> + use<'t, 'a> {
        let node = *self;
        (self.index..self.after()).map(move |index| Self { index, ..node })
    }

    /// Tape index of the next value.
    #[inline]
    fn after(&self) -> usize {
        self.node().after(self.index)
    }

    /// The boolean, if it is one.
    #[inline]
    pub fn as_bool(&self) -> Option<bool> {
        (self.kind() == Kind::Boolean).then(|| self.node().data == 1)
    }

    /// The integer, if it is one and fits in a `u64`.
    #[inline]
    pub fn as_u64(&self) -> Option<u64> {
        let node = self.node();
        (node.tag() == b'+' && node.extra() > 0).then_some(node.data)
    }

    /// The integer, if it is one and fits in an `i64`.
    #[inline]
    pub fn as_i64(&self) -> Option<i64> {
        let node = self.node();
        match node.tag() {
            b'+' if node.extra() > 0 => i64::try_from(node.data).ok(),
            b'-' if node.extra() > 0 => 0i64.checked_sub_unsigned(node.data),
            _ => None,
        }
    }

    /// The integer, if it is one, of any size.
    pub fn as_integer(&self) -> Option<Integer> {
        (self.kind() == Kind::Integer).then(|| self.node().integer(self.input))
    }

    /// The 64-bit float, if it is one.
    #[inline]
    pub fn as_f64(&self) -> Option<f64> {
        (self.kind() == Kind::Float64).then(|| f64::from_bits(self.node().data))
    }

    /// The 32-bit float, if it is one.
    #[inline]
    pub fn as_f32(&self) -> Option<f32> {
        (self.kind() == Kind::Float32).then(|| f32::from_bits(self.node().data as u32))
    }

    #[inline]
    fn payload(&self, kind: Kind) -> Option<&'a [u8]> {
        let node = self.node();
        (node.tag() == kind as u8).then(|| node.payload(self.input))
    }

    /// The byte array, if it is one.
    #[inline]
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        self.payload(Kind::Bytes)
    }

    /// The string, if it is one.
    #[inline]
    pub fn as_str(&self) -> Option<&'a str> {
        self.payload(Kind::String)
            .and_then(|text| scan::utf8(text).ok())
    }

    /// The symbol, if it is one.
    #[inline]
    pub fn as_symbol(&self) -> Option<&'a str> {
        self.payload(Kind::Symbol)
            .and_then(|text| scan::utf8(text).ok())
    }
}

impl<'t, 'a> Iterator for Children<'t, 'a> {
    type Item = NodeRef<'t, 'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let node = self.next;
        if node.index >= self.end {
            return None;
        }
        self.next.index = node.after();
        Some(node)
    }
}
