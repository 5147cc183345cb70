//! Values of types known at run time, written and read by a plan that is compiled once. Recursion is bounded by
//! [`MAX_DEPTH`](super::MAX_DEPTH).

use alloc::vec::Vec;

use super::{
    Decoded, Error, ErrorKind, Mode, Type, Value, Values,
    plan::{self, Kind, Node},
    walk::{Checked, walk},
    write::{buffer_error, bytes_size, put_bytes, put_length},
};

/// Encoder and decoder of a list of arguments whose types are known at run time only.
///
/// As with Rust types, a tuple is the list of arguments, any other type is one argument.
///
/// Three forms of decoding, equally strict: [`decode`](Self::decode) builds a tree of [`Value`]s;
/// [`decode_flat`](Self::decode_flat) keeps a copy of the data, in one allocation; [`view`](Self::view) leaves the
/// values in the data and allocates nothing.
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

impl Codec {
    /// Compiles a type text ([`Type::parse`], whose errors it passes on).
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::new(&Type::parse(text)?)
    }

    /// Compiles a type.
    ///
    /// Errors, with offset 0: `TooDeep`; `Size` if an array's elements take no bytes (`uint256[0][]`) or the head does not
    /// fit in memory; `Syntax` for a width that Solidity does not know.
    pub fn new(ty: &Type) -> Result<Self, Error> {
        let nodes = plan::compile(ty).map_err(|kind| Error::new(kind, 0))?;
        Ok(Self { nodes })
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
        self.write(arguments, &mut out)?;
        Ok(out)
    }

    /// [`encode`](Self::encode) into the start of the caller's buffer; answers the number of bytes written.
    ///
    /// Errors: as there, and `Buffer` with the length needed.
    pub fn encode_into(&self, arguments: &[Value], buffer: &mut [u8]) -> Result<usize, Error> {
        let size = self.size(arguments)?;
        let buffer = buffer.get_mut(..size).ok_or(buffer_error(size))?;
        self.write(arguments, buffer)?;
        Ok(size)
    }

    /// Decodes the arguments in [`Mode::Strict`] to a tree.
    ///
    /// Errors: what is wrong and at which byte of `data`.
    pub fn decode(&self, data: &[u8]) -> Result<Vec<Value>, Error> {
        self.decode_with(data, Mode::Strict)
    }

    /// [`decode`](Self::decode) in a mode of the caller's choice.
    pub fn decode_with(&self, data: &[u8], mode: Mode) -> Result<Vec<Value>, Error> {
        walk(&self.nodes, data, mode)
    }

    /// Decodes the arguments in [`Mode::Strict`] and keeps them, with all of the data, in one allocation.
    ///
    /// Errors: what is wrong and at which byte of `data`.
    ///
    /// ```
    /// use lydite_evm::abi::{Codec, ValueRef};
    /// let codec = Codec::parse("string[]")?;
    /// let decoded = {
    ///     let data = lydite_evm::abi::encode(&vec!["a", "b"]);
    ///     codec.decode_flat(&data)?
    /// };
    /// let Some(ValueRef::Array(texts)) = decoded.values().get(0) else { unreachable!() };
    /// assert_eq!(texts.get(1), Some(ValueRef::String("b")));
    /// # Ok::<(), lydite_evm::abi::Error>(())
    /// ```
    pub fn decode_flat(&self, data: &[u8]) -> Result<Decoded<'_>, Error> {
        let Checked = walk(&self.nodes, data, Mode::Strict)?;
        Ok(Decoded::new(&self.nodes, data))
    }

    /// Checks the data in [`Mode::Strict`] and gives the arguments where they lie. Nothing is allocated.
    ///
    /// Errors: what is wrong and at which byte of `data`.
    ///
    /// ```
    /// use lydite_evm::abi::{self, Codec, ValueRef};
    /// use lydite_bytes::U256;
    /// let data = abi::encode(&("hi", vec![U256::ONE]));
    /// let codec = Codec::parse("(string,uint256[])")?;
    /// let values = codec.view(&data)?;
    /// assert_eq!(values.get(0), Some(ValueRef::String("hi")));
    /// let Some(ValueRef::Array(numbers)) = values.get(1) else { unreachable!() };
    /// assert!(numbers.iter().eq([ValueRef::Uint(U256::ONE, 256)]));
    /// # Ok::<(), abi::Error>(())
    /// ```
    pub fn view<'a>(&'a self, data: &'a [u8]) -> Result<Values<'a>, Error> {
        let Checked = walk(&self.nodes, data, Mode::Strict)?;
        Ok(Values::arguments(&self.nodes, data))
    }

    /// The length of the encoding. Words are not looked at.
    fn size(&self, arguments: &[Value]) -> Result<usize, Error> {
        let expected = plan::arguments(&self.nodes);
        if arguments.len() != expected {
            return Err(Error::new(
                ErrorKind::Mismatch,
                arguments.len().min(expected),
            ));
        }
        let root = &self.nodes[0];
        let mut size = root.inner;
        // Not if all are words.
        if self.nodes.len() > 1 + arguments.len() || root.dynamic {
            for (i, (node, value)) in self.nodes[1..].iter().zip(arguments).enumerate() {
                if !node.kind.is_word() {
                    size += tail_size(&self.nodes, node, value)
                        .ok_or(Error::new(ErrorKind::Mismatch, i))?;
                }
            }
        }
        Ok(size)
    }

    /// Writes the arguments into a buffer of their encoding's length.
    fn write(&self, arguments: &[Value], buffer: &mut [u8]) -> Result<(), Error> {
        let root = &self.nodes[0];
        let mut writer = Writer {
            nodes: &self.nodes,
            failure: ErrorKind::Mismatch,
            argument: 0,
        };
        match writer.frame(root, arguments, buffer, root.inner, true) {
            Some(_) => Ok(()),
            None => Err(Error::new(writer.failure, writer.argument)),
        }
    }
}

/// The bytes of the tail of a value that is no word; 0 if it is static. All lists are of the right length then, so that there are values for
/// every word that room is made for.
fn tail_size(nodes: &[Node], node: &Node, value: &Value) -> Option<usize> {
    match (node.kind, value) {
        (Kind::Bytes, Value::Bytes(bytes)) => return Some(bytes_size(bytes.len())),
        (Kind::String, Value::String(text)) => return Some(bytes_size(text.len())),
        _ => {}
    }
    let values = node.list(value)?;
    let members = &nodes[node.child..];
    let mut size = 0;
    if !node.is_array() {
        for (member, value) in members.iter().zip(values) {
            if !member.kind.is_word() {
                size += tail_size(nodes, member, value)?;
            }
        }
    } else if !members[0].kind.is_word() {
        for value in values {
            size += tail_size(nodes, &members[0], value)?;
        }
    }
    Some(
        size + match node.kind {
            Kind::Array => 32 + values.len() * node.inner,
            _ if node.dynamic => node.inner,
            _ => 0,
        },
    )
}

/// Writes values and checks them against their types. All answers are `None` for a value that does not fit.
struct Writer<'c> {
    nodes: &'c [Node],
    failure: ErrorKind,
    /// Index of the argument being written.
    argument: usize,
}

impl Writer<'_> {
    /// Writes what `node` holds to a frame with a head of `tail` bytes; answers the length of the frame.
    fn frame(
        &mut self,
        node: &Node,
        values: &[Value],
        buffer: &mut [u8],
        mut tail: usize,
        outermost: bool,
    ) -> Option<usize> {
        let members = &self.nodes[node.child..];
        let step = usize::from(!node.is_array());
        let (mut at, mut head) = (0, 0);
        for value in values {
            let node = &members[at];
            let slot = buffer.get_mut(head..)?;
            if node.kind.is_word() {
                if let Err(failure) = node.kind.put(value, slot.first_chunk_mut()?) {
                    self.failure = failure;
                    return None;
                }
            } else if !node.dynamic {
                self.frame(node, node.list(value)?, slot, node.head, false)?;
            } else {
                put_length(slot.first_chunk_mut()?, tail);
                let space = buffer.get_mut(tail..)?;
                tail += match (node.kind, value) {
                    (Kind::Bytes, Value::Bytes(bytes)) => put_bytes(space, bytes)?,
                    (Kind::String, Value::String(text)) => put_bytes(space, text.as_bytes())?,
                    (Kind::Array, Value::Array(elements)) => {
                        let (length, space) = space.split_first_chunk_mut()?;
                        put_length(length, elements.len());
                        let head = elements.len() * node.inner;
                        32 + self.frame(node, elements, space, head, false)?
                    }
                    _ => self.frame(node, node.list(value)?, space, node.inner, false)?,
                };
            }
            head += node.head;
            at += step;
            self.argument += usize::from(outermost);
        }
        Some(tail)
    }
}
