//! The borrowed form: one flat vector of nodes of 16 bytes, which is reused from message to message.
use alloc::vec::Vec;
use core::str;

use super::integer::Integer;
use super::scan::{self, Atom, Frame, Kind, Visitor};
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
    stack: Vec<Frame>,
}

/// A value. `data` holds the magnitude of a word, the number of digits of a larger integer, the bits of a float, the length
/// of bytes or text, 1 for `t`, or of a container where it ends in the input and, in the upper half, on the tape.
#[derive(Clone, Copy)]
struct Node {
    data: u64,
    start: u32,
    tag: Tag,
    /// Bytes before `data` of them; all bytes of a value of fixed length.
    header: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    Word { negative: bool },
    Big { negative: bool },
    Of(Kind),
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
            stack: Vec::new(),
        }
    }

    /// Decodes the one canonical value that `input` consists of, within the default limits.
    #[inline]
    pub fn decode<'t, 'a>(&'t mut self, input: &'a [u8]) -> Result<NodeRef<'t, 'a>, Error> {
        self.decode_within(input, Limits::default())
    }

    /// As [`decode`](Self::decode), within these limits.
    pub fn decode_within<'t, 'a>(
        &'t mut self,
        input: &'a [u8],
        limits: Limits,
    ) -> Result<NodeRef<'t, 'a>, Error> {
        let (node, end) = self.decode_first(input, limits)?;
        if end != input.len() {
            return Err(ErrorKind::TrailingBytes.at(end));
        }
        Ok(node)
    }

    /// Decodes the canonical value that `input` starts with, and where it ends: a stream without frames.
    pub fn decode_first<'t, 'a>(
        &'t mut self,
        input: &'a [u8],
        limits: Limits,
    ) -> Result<(NodeRef<'t, 'a>, usize), Error> {
        self.nodes.clear();
        if u32::try_from(input.len()).is_err() {
            return Err(ErrorKind::TooLong.at(u32::MAX as usize));
        }
        let mut writer = Writer {
            nodes: &mut self.nodes,
            limit: limits.values,
        };
        let end = scan::walk::<false, _>(input, limits, &mut self.stack, &mut writer)?;
        Ok((
            NodeRef {
                input,
                nodes: &self.nodes,
                index: 0,
            },
            end,
        ))
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
            Atom::Boolean(value) => (Tag::Of(Kind::Boolean), 1, u64::from(value)),
            Atom::Word(negative, value) => (Tag::Word { negative }, end - start, value),
            Atom::Big(negative, digits) => (Tag::Big { negative }, 0, digits as u64),
            Atom::Float64(bits) => (Tag::Of(Kind::Float64), 9, bits),
            Atom::Float32(bits) => (Tag::Of(Kind::Float32), 5, u64::from(bits)),
            Atom::Blob(kind, header, length) => (Tag::Of(kind), header, length as u64),
        };
        // A canonical header has 21 bytes at most.
        self.push(Node {
            data,
            start: start as u32,
            tag,
            header: header as u8,
        })
    }

    #[inline(always)]
    fn open(&mut self, start: usize, kind: Kind) -> Result<u32, Error> {
        let name = self.nodes.len() as u32;
        self.push(Node {
            data: 0,
            start: start as u32,
            tag: Tag::Of(kind),
            header: 0,
        })?;
        Ok(name)
    }

    #[inline(always)]
    fn close(&mut self, name: u32, _: Kind, end: usize) -> Result<(), Error> {
        let next = self.nodes.len() as u64;
        self.nodes[name as usize].data = next << 32 | end as u64;
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
            Tag::Word { .. } | Tag::Big { .. } => Kind::Integer,
            Tag::Of(kind) => kind,
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
        let end = match node.tag {
            Tag::Word { .. } | Tag::Of(Kind::Boolean | Kind::Float64 | Kind::Float32) => {
                start + usize::from(node.header)
            }
            Tag::Big { .. } => start + node.data as usize + 1,
            Tag::Of(Kind::Bytes | Kind::String | Kind::Symbol) => {
                start + usize::from(node.header) + node.data as usize
            }
            Tag::Of(_) => node.data as u32 as usize,
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

    /// Where the next value stands on the tape.
    #[inline]
    fn after(&self) -> usize {
        let node = self.node();
        match node.tag {
            Tag::Of(Kind::List | Kind::Dictionary | Kind::Set | Kind::Record) => {
                (node.data >> 32) as usize
            }
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
        (node.tag == Tag::Word { negative: false }).then_some(node.data)
    }

    /// The integer, if it is one and fits.
    #[inline]
    pub fn as_i64(&self) -> Option<i64> {
        let node = self.node();
        match node.tag {
            Tag::Word { negative: false } => i64::try_from(node.data).ok(),
            Tag::Word { negative: true } => 0i64.checked_sub_unsigned(node.data),
            _ => None,
        }
    }

    /// The integer, if it is one.
    pub fn as_integer(&self) -> Option<Integer> {
        let node = self.node();
        match node.tag {
            Tag::Word { negative } => Some(Integer::from_word(negative, node.data)),
            Tag::Big { negative } => {
                let start = node.start as usize;
                let digits = &self.input[start..start + node.data as usize];
                let digits = str::from_utf8(digits).ok()?;
                Some(Integer::from_decimal(negative, digits))
            }
            Tag::Of(_) => None,
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
    fn payload(&self, kind: Kind) -> Option<&'a [u8]> {
        let node = self.node();
        let start = node.start as usize + usize::from(node.header);
        (node.tag == Tag::Of(kind)).then(|| &self.input[start..start + node.data as usize])
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
            .and_then(|text| str::from_utf8(text).ok())
    }

    /// The symbol, if it is one.
    #[inline]
    pub fn as_symbol(&self) -> Option<&'a str> {
        self.payload(Kind::Symbol)
            .and_then(|text| str::from_utf8(text).ok())
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
