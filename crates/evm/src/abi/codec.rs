//! A type text compiled once into a flat plan, and values written and read by it.
//!
//! The plan holds the type's nodes in preorder; a node knows its head size, the head size of the frame it opens and
//! where its subtree ends, so that no size is computed twice. Recursion is bounded by [`MAX_DEPTH`].

use alloc::vec::Vec;

use super::{
    Decoder, Error, ErrorKind, Frame, Head, MAX_DEPTH, Mode, Type, Value, word,
    write::{buffer_error, bytes_size},
};
use lydite_bytes::Address;

/// Encoder and decoder of a list of arguments whose types are known at run time only.
///
/// As with Rust types, a tuple is the list of arguments, any other type is one argument.
///
/// ```
/// use lydite_evm::abi::{Codec, Value};
/// use lydite_bytes::U256;
/// let codec = Codec::parse("(string,uint8[])")?;
/// let values = [Value::String("hi".into()), Value::Array(vec![Value::Uint(U256::ONE, 8)])];
/// let data = codec.encode(&values)?;
/// assert_eq!(codec.decode(&data)?, values);
/// # Ok::<(), lydite_evm::abi::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Codec {
    /// The arguments' tuple and what it holds.
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    kind: Kind,
    dynamic: bool,
    /// Bytes in the head of the frame around it.
    head: usize,
    /// Bytes of the head of its own frame (for an array: of one element).
    inner: usize,
    /// Index of the node behind its subtree.
    next: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bool,
    Uint(u16),
    Int(u16),
    Address,
    FixedBytes(u8),
    Function,
    Bytes,
    String,
    Array,
    FixedArray(usize),
    /// with the number of members
    Tuple(usize),
}

impl Codec {
    /// Compiles a type text ([`Type::parse`], whose errors it passes on).
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::new(&Type::parse(text)?)
    }

    /// Compiles a type.
    ///
    /// Errors, with offset 0: `TooDeep`; `Size` if an array's elements take no bytes (`uint256[0][]`) or the head does not
    /// fit in memory; `Syntax` for a width that Solidity lacks.
    pub fn new(ty: &Type) -> Result<Self, Error> {
        let mut nodes = Vec::new();
        let built = match ty {
            Type::Tuple(_) => build(&mut nodes, ty, 0),
            other => build_tuple(&mut nodes, core::slice::from_ref(other), 0),
        };
        match built {
            Ok(()) => Ok(Self { nodes }),
            Err(kind) => Err(Error::new(kind, 0)),
        }
    }

    /// Encodes the arguments: one allocation of the exact size.
    ///
    /// Errors: `Mismatch` for a value of another shape, `Range` for one that does not fit its type (the widths in the
    /// values are not looked at); the offset is the index of the argument.
    // `vec![0; size]` would take the zeroing allocator, which is slower at these sizes.
    #[allow(clippy::slow_vector_initialization)]
    pub fn encode(&self, arguments: &[Value]) -> Result<Vec<u8>, Error> {
        let size = self.size(arguments)?;
        let mut out = Vec::with_capacity(size);
        out.resize(size, 0);
        match self.write(arguments, &mut out) {
            Some(_) => Ok(out),
            None => Err(buffer_error(size)),
        }
    }

    /// [`encode`](Self::encode) into the start of the caller's buffer; answers the number of bytes written.
    ///
    /// Errors: as there, and `Buffer` with the length needed.
    pub fn encode_into(&self, arguments: &[Value], buffer: &mut [u8]) -> Result<usize, Error> {
        let size = self.size(arguments)?;
        self.write(arguments, buffer).ok_or(buffer_error(size))
    }

    /// Decodes the arguments in [`Mode::Strict`].
    ///
    /// Errors: what is wrong and at which byte of `data`.
    pub fn decode(&self, data: &[u8]) -> Result<Vec<Value>, Error> {
        self.decode_with(data, Mode::Strict)
    }

    /// [`decode`](Self::decode) in a mode of the caller's choice.
    pub fn decode_with(&self, data: &[u8], mode: Mode) -> Result<Vec<Value>, Error> {
        let (mut decoder, mut head) = Decoder::new(data, mode, self.nodes[0].inner)?;
        let values = self.read_members(0, self.len(), &mut decoder, &mut head)?;
        decoder.finish()?;
        Ok(values)
    }

    fn write(&self, arguments: &[Value], buffer: &mut [u8]) -> Option<usize> {
        let mut frame = Frame::new(buffer, self.nodes[0].inner)?;
        self.write_members(0, arguments, &mut frame)?;
        Some(frame.written())
    }

    /// Checks the arguments and adds up their encoding.
    fn size(&self, arguments: &[Value]) -> Result<usize, Error> {
        if arguments.len() != self.len() {
            return Err(Error::new(
                ErrorKind::Mismatch,
                arguments.len().min(self.len()),
            ));
        }
        let mut size = self.nodes[0].inner;
        let mut at = 1;
        for (i, value) in arguments.iter().enumerate() {
            size += self
                .tail_size(at, value)
                .map_err(|kind| Error::new(kind, i))?;
            at = self.nodes[at].next;
        }
        Ok(size)
    }

    /// Number of arguments.
    fn len(&self) -> usize {
        match self.nodes[0].kind {
            Kind::Tuple(len) => len,
            _ => 0,
        }
    }

    /// Checks the value against node `at`; the bytes of its tail.
    fn tail_size(&self, at: usize, value: &Value) -> Result<usize, ErrorKind> {
        let node = &self.nodes[at];
        let fits = |fits| if fits { Ok(0) } else { Err(ErrorKind::Range) };
        match (node.kind, value) {
            (Kind::Bool, Value::Bool(_))
            | (Kind::Address, Value::Address(_))
            | (Kind::Function, Value::Function(_)) => Ok(0),
            (Kind::Uint(256), Value::Uint(..)) | (Kind::Int(256), Value::Int(..)) => Ok(0),
            (Kind::Uint(bits), Value::Uint(value, _)) => fits(value.bit_len() <= u32::from(bits)),
            (Kind::Int(bits), Value::Int(value, _)) => {
                fits(lydite_bytes::I256(*value).fits(u32::from(bits)))
            }
            (Kind::FixedBytes(len), Value::FixedBytes(word, _)) => {
                fits(len == 32 || word::is_padded(word, 32 - usize::from(len)))
            }
            (Kind::Bytes, Value::Bytes(bytes)) => Ok(bytes_size(bytes.len())),
            (Kind::String, Value::String(text)) => Ok(bytes_size(text.len())),
            (Kind::Array, Value::Array(elements)) => Ok(32 + self.elements_size(at, elements)?),
            (Kind::FixedArray(len), Value::FixedArray(elements)) if len == elements.len() => {
                let size = self.elements_size(at, elements)?;
                Ok(if node.dynamic { size } else { 0 })
            }
            (Kind::Tuple(len), Value::Tuple(values)) if len == values.len() => {
                let mut size = if node.dynamic { node.inner } else { 0 };
                let mut member = at + 1;
                for value in values {
                    size += self.tail_size(member, value)?;
                    member = self.nodes[member].next;
                }
                Ok(size)
            }
            _ => Err(ErrorKind::Mismatch),
        }
    }

    /// Heads and tails of the elements of the array at node `at`.
    fn elements_size(&self, at: usize, elements: &[Value]) -> Result<usize, ErrorKind> {
        let mut size = elements.len() * self.nodes[at + 1].head;
        for element in elements {
            size += self.tail_size(at + 1, element)?;
        }
        Ok(size)
    }

    /// Writes the members of the tuple at node `at`; `None` if the buffer ends.
    fn write_members(&self, at: usize, values: &[Value], frame: &mut Frame<'_>) -> Option<()> {
        let mut member = at + 1;
        for value in values {
            self.write_value(member, value, frame)?;
            member = self.nodes[member].next;
        }
        Some(())
    }

    fn write_elements(&self, at: usize, elements: &[Value], frame: &mut Frame<'_>) -> Option<()> {
        elements
            .iter()
            .try_for_each(|element| self.write_value(at + 1, element, frame))
    }

    /// Writes a value that `tail_size` has checked.
    fn write_value(&self, at: usize, value: &Value, frame: &mut Frame<'_>) -> Option<()> {
        let node = &self.nodes[at];
        match value {
            Value::Uint(value, _) | Value::Int(value, _) => word::put_u256(frame.word()?, value),
            Value::Bool(value) => *frame.word()? = word::from_u64(u64::from(*value)),
            Value::Address(address) => word::put_right(frame.word()?, &address.0),
            Value::FixedBytes(word, _) => *frame.word()? = *word,
            Value::Function(bytes) => word::put_left(frame.word()?, bytes),
            Value::Bytes(bytes) => frame.bytes(bytes)?,
            Value::String(text) => frame.bytes(text.as_bytes())?,
            Value::Array(elements) => {
                frame.array(elements.len(), node.inner, |inner| {
                    self.write_elements(at, elements, inner)
                })?;
            }
            Value::FixedArray(elements) if node.dynamic => {
                frame.nested(node.inner, |inner| self.write_elements(at, elements, inner))?;
            }
            Value::FixedArray(elements) => self.write_elements(at, elements, frame)?,
            Value::Tuple(values) if node.dynamic => {
                frame.nested(node.inner, |inner| self.write_members(at, values, inner))?;
            }
            Value::Tuple(values) => self.write_members(at, values, frame)?,
        }
        Some(())
    }

    /// Reads the members of the tuple at node `at`.
    fn read_members<'a>(
        &self,
        at: usize,
        len: usize,
        decoder: &mut Decoder<'a>,
        head: &mut Head<'a>,
    ) -> Result<Vec<Value>, Error> {
        let mut values = Vec::with_capacity(len);
        let mut member = at + 1;
        for _ in 0..len {
            values.push(self.read_value(member, decoder, head)?);
            member = self.nodes[member].next;
        }
        Ok(values)
    }

    /// Reads elements whose heads are known to be in the data; each takes at least a word there.
    fn read_elements<'a>(
        &self,
        at: usize,
        len: usize,
        decoder: &mut Decoder<'a>,
        head: &mut Head<'a>,
    ) -> Result<Vec<Value>, Error> {
        let mut elements = Vec::with_capacity(len);
        for _ in 0..len {
            elements.push(self.read_value(at + 1, decoder, head)?);
        }
        Ok(elements)
    }

    fn read_value<'a>(
        &self,
        at: usize,
        decoder: &mut Decoder<'a>,
        head: &mut Head<'a>,
    ) -> Result<Value, Error> {
        let node = &self.nodes[at];
        Ok(match node.kind {
            Kind::Bytes => Value::Bytes(decoder.bytes(head)?.0.to_vec()),
            Kind::String => Value::String(decoder.owned_string(head)?),
            Kind::Array => {
                let (len, mut inner) = decoder.array(head, node.inner)?;
                Value::Array(self.read_elements(at, len, decoder, &mut inner)?)
            }
            Kind::FixedArray(len) if node.dynamic => {
                let mut inner = decoder.nested(head, node.inner)?;
                Value::FixedArray(self.read_elements(at, len, decoder, &mut inner)?)
            }
            Kind::FixedArray(len) => Value::FixedArray(self.read_elements(at, len, decoder, head)?),
            Kind::Tuple(len) if node.dynamic => {
                let mut inner = decoder.nested(head, node.inner)?;
                Value::Tuple(self.read_members(at, len, decoder, &mut inner)?)
            }
            Kind::Tuple(len) => Value::Tuple(self.read_members(at, len, decoder, head)?),
            kind => {
                let position = head.position();
                let word = head.word()?;
                match read_word(kind, word) {
                    Ok(value) => value,
                    Err(_) if decoder.is_lenient() => read_word(kind, &mask(kind, word))
                        .map_err(|kind| Error::new(kind, position))?,
                    Err(kind) => return Err(Error::new(kind, position)),
                }
            }
        })
    }
}

/// Reads a word of a value type.
#[inline(always)]
fn read_word(kind: Kind, word: &[u8; 32]) -> Result<Value, ErrorKind> {
    let check = |fits, kind| if fits { Ok(()) } else { Err(kind) };
    Ok(match kind {
        Kind::Uint(bits) => {
            check(word::fits_uint(word, usize::from(bits)), ErrorKind::Range)?;
            Value::Uint(word::to_u256(word), bits)
        }
        Kind::Int(bits) => {
            check(word::fits_int(word, usize::from(bits)), ErrorKind::Range)?;
            Value::Int(word::to_u256(word), bits)
        }
        Kind::Bool => Value::Bool(word::to_bool(word).ok_or(ErrorKind::Bool)?),
        Kind::Address => Value::Address(Address(word::to_right(word).ok_or(ErrorKind::Padding)?)),
        Kind::Function => Value::Function(word::to_left(word).ok_or(ErrorKind::Padding)?),
        Kind::FixedBytes(len) => {
            check(
                len == 32 || word::is_padded(word, 32 - usize::from(len)),
                ErrorKind::Padding,
            )?;
            Value::FixedBytes(*word, len)
        }
        _ => return Err(ErrorKind::Mismatch),
    })
}

/// The word without the bits that its type has no use for.
fn mask(kind: Kind, word: &[u8; 32]) -> [u8; 32] {
    match kind {
        Kind::Uint(bits) => word::keep_right(word, usize::from(bits) / 8),
        Kind::Int(bits) => word::sign_extend(word, usize::from(bits) / 8),
        Kind::Bool => word::from_u64(1),
        Kind::Address => word::keep_right(word, 20),
        Kind::Function => word::keep_left(word, 24),
        Kind::FixedBytes(len) => word::keep_left(word, usize::from(len)),
        _ => *word,
    }
}

/// Appends the nodes of a type that stands `depth` levels deep.
fn build(nodes: &mut Vec<Node>, ty: &Type, depth: usize) -> Result<(), ErrorKind> {
    // The list of arguments is a level of its own.
    if depth > MAX_DEPTH + 1 {
        return Err(ErrorKind::TooDeep);
    }
    let width = |bits: u16| {
        let known = (8..=256).contains(&bits) && bits.is_multiple_of(8);
        if known {
            Ok(bits)
        } else {
            Err(ErrorKind::Syntax)
        }
    };
    let (kind, dynamic) = match ty {
        Type::Bool => (Kind::Bool, false),
        Type::Uint(bits) => (Kind::Uint(width(*bits)?), false),
        Type::Int(bits) => (Kind::Int(width(*bits)?), false),
        Type::Address => (Kind::Address, false),
        Type::FixedBytes(len) if (1..=32).contains(len) => (Kind::FixedBytes(*len), false),
        Type::FixedBytes(_) => return Err(ErrorKind::Syntax),
        Type::Function => (Kind::Function, false),
        Type::Bytes => (Kind::Bytes, true),
        Type::String => (Kind::String, true),
        Type::Array(element) => return build_array(nodes, element, None, depth),
        Type::FixedArray(element, len) => return build_array(nodes, element, Some(*len), depth),
        Type::Tuple(members) => return build_tuple(nodes, members, depth),
    };
    let next = nodes.len() + 1;
    nodes.push(Node {
        kind,
        dynamic,
        head: 32,
        inner: 0,
        next,
    });
    Ok(())
}

fn build_array(
    nodes: &mut Vec<Node>,
    element: &Type,
    len: Option<usize>,
    depth: usize,
) -> Result<(), ErrorKind> {
    let at = nodes.len();
    nodes.push(Node {
        kind: len.map_or(Kind::Array, Kind::FixedArray),
        dynamic: true,
        head: 32,
        inner: 0,
        next: 0,
    });
    build(nodes, element, depth + 1)?;
    let next = nodes.len();
    let element = &nodes[at + 1];
    let (dynamic, size) = (element.dynamic, element.head);
    // Otherwise a length alone could ask for any amount of memory.
    if size == 0 && len != Some(0) {
        return Err(ErrorKind::Size);
    }
    let node = &mut nodes[at];
    node.next = next;
    node.inner = size;
    if let Some(len) = len {
        node.inner = fitting(size.checked_mul(len))?;
        node.dynamic = dynamic;
        node.head = if dynamic { 32 } else { node.inner };
    }
    Ok(())
}

fn build_tuple(nodes: &mut Vec<Node>, members: &[Type], depth: usize) -> Result<(), ErrorKind> {
    let at = nodes.len();
    nodes.push(Node {
        kind: Kind::Tuple(members.len()),
        dynamic: false,
        head: 0,
        inner: 0,
        next: 0,
    });
    for member in members {
        let start = nodes.len();
        build(nodes, member, depth + 1)?;
        let (dynamic, head) = (nodes[start].dynamic, nodes[start].head);
        let node = &mut nodes[at];
        node.dynamic |= dynamic;
        node.inner = fitting(node.inner.checked_add(head))?;
    }
    let next = nodes.len();
    let node = &mut nodes[at];
    node.next = next;
    node.head = if node.dynamic { 32 } else { node.inner };
    Ok(())
}

/// A head's size, if data of that size can exist.
fn fitting(size: Option<usize>) -> Result<usize, ErrorKind> {
    size.filter(|size| *size <= isize::MAX as usize / 2)
        .ok_or(ErrorKind::Size)
}
