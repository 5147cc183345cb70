//! The borrowed form: one flat vector of nodes of 16 bytes, which is reused from message to message.
use alloc::vec::Vec;

use super::integer::Integer;
use super::scan::{self, Atom, Container, Kind, Stack, Visitor};
use super::{Error, ErrorKind, Limits, Raw};

/// A decoder that keeps its memory.
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
    nodes: Vec<Node>,
    stack: Stack,
}

/// A value. `data` holds the magnitude of a word, the number of digits of a larger integer, the bits of a float, the length
/// of bytes or text, 1 for `t`, or of a container where it ends in the input and, in the upper half, on the tape.
#[derive(Clone, Copy)]
struct Node {
    data: u64,
    start: u32,
    tag: Tag,
    /// Bytes before `data` of them, all bytes of a value of fixed length, or values right inside a container, at most
    /// [`MANY`].
    extra: [u8; 3],
}

/// So many values or more.
const MANY: u32 = (1 << 24) - 1;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    Positive,
    Negative,
    BigPositive,
    BigNegative,
    Boolean,
    Float64,
    Float32,
    Bytes,
    String,
    Symbol,
    List,
    Dictionary,
    Set,
    Record,
}

impl Node {
    #[inline(always)]
    fn new(tag: Tag, start: usize, extra: u32, data: u64) -> Self {
        let [a, b, c, _] = extra.to_le_bytes();
        Self {
            data,
            start: start as u32,
            tag,
            extra: [a, b, c],
        }
    }

    #[inline(always)]
    fn extra(&self) -> u32 {
        let [a, b, c] = self.extra;
        u32::from_le_bytes([a, b, c, 0])
    }
}

/// One value of a decoded message, and with it all that it contains.
#[derive(Clone, Copy)]
pub struct NodeRef<'t, 'a> {
    input: &'a [u8],
    nodes: &'t [Node],
    index: usize,
}

/// The values right inside a container, in order: keys and values of a dictionary alternate, the label of a record is first.
#[derive(Clone)]
pub struct Children<'t, 'a> {
    next: NodeRef<'t, 'a>,
    end: usize,
}

impl Tape {
    /// An empty tape.
    pub const fn new() -> Self {
        Self {
            nodes: Vec::new(),
            stack: Stack::new(),
        }
    }

    /// Decodes the one canonical value that `input` consists of, within the default limits.
    #[inline]
    pub fn decode<'t, 'a>(&'t mut self, input: &'a [u8]) -> Result<NodeRef<'t, 'a>, Error> {
        self.decode_within(input, Limits::default())
    }

    /// As [`decode`](Self::decode), within these limits.
    #[inline]
    pub fn decode_within<'t, 'a>(
        &'t mut self,
        input: &'a [u8],
        limits: Limits,
    ) -> Result<NodeRef<'t, 'a>, Error> {
        let end = self.fill(input, limits)?;
        if end != input.len() {
            return Err(ErrorKind::TrailingBytes.at(end));
        }
        Ok(self.root(input))
    }

    /// Decodes the canonical value that `input` starts with, and where it ends: a stream without frames.
    #[inline]
    pub fn decode_first<'t, 'a>(
        &'t mut self,
        input: &'a [u8],
        limits: Limits,
    ) -> Result<(NodeRef<'t, 'a>, usize), Error> {
        let end = self.fill(input, limits)?;
        Ok((self.root(input), end))
    }

    #[inline(always)]
    fn root<'t, 'a>(&'t self, input: &'a [u8]) -> NodeRef<'t, 'a> {
        NodeRef {
            input,
            nodes: &self.nodes,
            index: 0,
        }
    }

    /// Takes the nodes of the value that `input` starts with and returns where it ends: a result that fits registers.
    fn fill(&mut self, input: &[u8], limits: Limits) -> Result<usize, Error> {
        self.nodes.clear();
        if u32::try_from(input.len()).is_err() {
            return Err(ErrorKind::TooLong.at(u32::MAX as usize));
        }
        let mut writer = Writer {
            nodes: &mut self.nodes,
            limit: limits.values,
        };
        scan::walk::<{ scan::STRICT }, _>(input, limits, &mut self.stack, &mut writer)
    }
}

struct Writer<'t> {
    nodes: &'t mut Vec<Node>,
    limit: usize,
}

impl Writer<'_> {
    #[inline(always)]
    fn push(&mut self, node: Node) -> Result<(), Error> {
        if self.nodes.len() >= self.limit {
            return Err(ErrorKind::TooManyValues.at(node.start as usize));
        }
        self.nodes.push(node);
        Ok(())
    }
}

impl Visitor for Writer<'_> {
    #[inline(always)]
    fn atom(&mut self, start: usize, end: usize, atom: Atom) -> Result<(), Error> {
        let (tag, header, data) = match atom {
            Atom::Boolean(value) => (Tag::Boolean, 1, u64::from(value)),
            Atom::Word(false, value) => (Tag::Positive, end - start, value),
            Atom::Word(true, value) => (Tag::Negative, end - start, value),
            Atom::Big(false, digits) => (Tag::BigPositive, 0, digits as u64),
            Atom::Big(true, digits) => (Tag::BigNegative, 0, digits as u64),
            Atom::Float64(bits) => (Tag::Float64, 9, bits),
            Atom::Float32(bits) => (Tag::Float32, 5, u64::from(bits)),
            Atom::Blob(Kind::String, header, length) => (Tag::String, header, length as u64),
            Atom::Blob(Kind::Symbol, header, length) => (Tag::Symbol, header, length as u64),
            Atom::Blob(_, header, length) => (Tag::Bytes, header, length as u64),
        };
        // A canonical header has 21 bytes at most.
        self.push(Node::new(tag, start, header as u32, data))
    }

    #[inline(always)]
    fn open(&mut self, start: usize, kind: Kind) -> Result<usize, Error> {
        let name = self.nodes.len();
        let tag = match kind {
            Kind::List => Tag::List,
            Kind::Dictionary => Tag::Dictionary,
            Kind::Set => Tag::Set,
            _ => Tag::Record,
        };
        self.push(Node::new(tag, start, 0, 0))?;
        Ok(name)
    }

    #[inline(always)]
    fn close(&mut self, container: Container, values: u32, end: usize) -> Result<(), Error> {
        let next = self.nodes.len() as u64;
        let node = &mut self.nodes[container.name];
        let data = next << 32 | end as u64;
        *node = Node::new(node.tag, node.start as usize, values.min(MANY), data);
        Ok(())
    }
}

impl<'t, 'a> NodeRef<'t, 'a> {
    #[inline]
    fn node(&self) -> Node {
        self.nodes[self.index]
    }

    /// The type.
    #[inline]
    pub fn kind(&self) -> Kind {
        match self.node().tag {
            Tag::Positive | Tag::Negative | Tag::BigPositive | Tag::BigNegative => Kind::Integer,
            Tag::Boolean => Kind::Boolean,
            Tag::Float64 => Kind::Float64,
            Tag::Float32 => Kind::Float32,
            Tag::Bytes => Kind::Bytes,
            Tag::String => Kind::String,
            Tag::Symbol => Kind::Symbol,
            Tag::List => Kind::List,
            Tag::Dictionary => Kind::Dictionary,
            Tag::Set => Kind::Set,
            Tag::Record => Kind::Record,
        }
    }

    /// Offset of the first byte in the input.
    #[inline]
    pub fn offset(&self) -> usize {
        self.node().start as usize
    }

    /// The bytes of the value as they stand in the input, which are its canonical encoding: what signatures are over.
    #[inline]
    pub fn raw(&self) -> Raw<'a> {
        let node = self.node();
        let start = node.start as usize;
        let header = node.extra() as usize;
        let end = match node.tag {
            Tag::Positive | Tag::Negative | Tag::Boolean | Tag::Float64 | Tag::Float32 => {
                start + header
            }
            Tag::BigPositive | Tag::BigNegative => start + node.data as usize + 1,
            Tag::Bytes | Tag::String | Tag::Symbol => start + header + node.data as usize,
            Tag::List | Tag::Dictionary | Tag::Set | Tag::Record => node.data as u32 as usize,
        };
        Raw::new(&self.input[start..end])
    }

    /// What stands inside; nothing for a value that is no container.
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

    /// How many values stand right inside: keys and values of a dictionary and the label of a record count too.
    #[inline]
    pub fn len(&self) -> usize {
        let node = self.node();
        match node.tag {
            Tag::List | Tag::Dictionary | Tag::Set | Tag::Record => match node.extra() {
                MANY => self.children().count(),
                values => values as usize,
            },
            _ => 0,
        }
    }

    /// Whether nothing stands inside.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// This value, then all that stands inside it at any depth, in the order of the input.
    #[inline]
    pub fn descendants(&self) -> impl Iterator<Item = NodeRef<'t, 'a>> + use<'t, 'a> {
        let node = *self;
        (self.index..self.after()).map(move |index| Self { index, ..node })
    }

    /// Where the next value stands on the tape.
    #[inline]
    fn after(&self) -> usize {
        let node = self.node();
        match node.tag {
            Tag::List | Tag::Dictionary | Tag::Set | Tag::Record => (node.data >> 32) as usize,
            _ => self.index + 1,
        }
    }

    /// The boolean, if it is one.
    #[inline]
    pub fn as_bool(&self) -> Option<bool> {
        (self.kind() == Kind::Boolean).then(|| self.node().data == 1)
    }

    /// The integer, if it is one and fits.
    #[inline]
    pub fn as_u64(&self) -> Option<u64> {
        let node = self.node();
        (node.tag == Tag::Positive).then_some(node.data)
    }

    /// The integer, if it is one and fits.
    #[inline]
    pub fn as_i64(&self) -> Option<i64> {
        let node = self.node();
        match node.tag {
            Tag::Positive => i64::try_from(node.data).ok(),
            Tag::Negative => 0i64.checked_sub_unsigned(node.data),
            _ => None,
        }
    }

    /// The integer, if it is one.
    pub fn as_integer(&self) -> Option<Integer> {
        let node = self.node();
        let negative = matches!(node.tag, Tag::Negative | Tag::BigNegative);
        match node.tag {
            Tag::Positive | Tag::Negative => Some(Integer::from_word(negative, node.data)),
            Tag::BigPositive | Tag::BigNegative => {
                let start = node.start as usize;
                let digits = scan::utf8(&self.input[start..start + node.data as usize]);
                Some(Integer::from_decimal(negative, digits.ok()?))
            }
            _ => None,
        }
    }

    /// The float of 64 bits, if it is one.
    #[inline]
    pub fn as_f64(&self) -> Option<f64> {
        (self.kind() == Kind::Float64).then(|| f64::from_bits(self.node().data))
    }

    /// The float of 32 bits, if it is one.
    #[inline]
    pub fn as_f32(&self) -> Option<f32> {
        (self.kind() == Kind::Float32).then(|| f32::from_bits(self.node().data as u32))
    }

    #[inline]
    fn payload(&self, tag: Tag) -> Option<&'a [u8]> {
        let node = self.node();
        let start = node.start as usize + node.extra() as usize;
        (node.tag == tag).then(|| &self.input[start..start + node.data as usize])
    }

    /// The byte array, if it is one.
    #[inline]
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        self.payload(Tag::Bytes)
    }

    /// The string, if it is one.
    #[inline]
    pub fn as_str(&self) -> Option<&'a str> {
        self.payload(Tag::String)
            .and_then(|text| scan::utf8(text).ok())
    }

    /// The symbol, if it is one.
    #[inline]
    pub fn as_symbol(&self) -> Option<&'a str> {
        self.payload(Tag::Symbol)
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
