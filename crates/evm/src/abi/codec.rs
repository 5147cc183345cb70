//! Encoding and decoding of values whose types are known only at run time, using a plan that is compiled once.
//! Recursion is bounded by [`MAX_DEPTH`](super::MAX_DEPTH).

use alloc::vec::Vec;

use super::{
    Decoded, Error, ErrorKind, Mode, Type, Value, Values,
    plan::{self, Kind, Node},
    walk::{Checked, walk},
    write::{buffer_error, bytes_size, put_bytes, put_length},
};

/// Encoder and decoder for a list of arguments whose types are known only at run time.
///
/// As with Rust types, a tuple is the list of arguments; any other type is one argument.
///
/// There are three decoders, equally strict: [`decode`](Self::decode) builds a tree of [`Value`]s;
/// [`decode_flat`](Self::decode_flat) keeps a copy of the data, in one allocation; [`view`](Self::view) borrows the
/// values from the data and does not allocate.
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
    /// The node of the argument tuple, then those of its members.
    nodes: Vec<Node>,
}

impl Codec {
    /// Compiles a type given as text.
    ///
    /// # Errors
    /// Those of [`Type::parse`] and [`new`](Self::new).
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::new(&Type::parse(text)?)
    }

    /// Compiles a type.
    ///
    /// # Errors
    /// With offset 0: `TooDeep`; `Size` if an array's elements take no bytes (`uint256[0][]`) or the head does not fit
    /// in memory; `Syntax` for a width that does not exist in Solidity.
    pub fn new(ty: &Type) -> Result<Self, Error> {
        let nodes = plan::compile(ty).map_err(|kind| Error::new(kind, 0))?;
        Ok(Self { nodes })
    }

    /// Encodes the arguments in one allocation of the exact size.
    ///
    /// # Errors
    /// `Mismatch` if a value does not have the shape of its type, `Range` if it does not fit its type (the widths in
    /// the values are ignored). The offset is the index of the argument.
    // `vec![0; size]` would use the zeroing allocator, which is slower at these sizes.
    #[allow(clippy::slow_vector_initialization)]
    pub fn encode(&self, arguments: &[Value]) -> Result<Vec<u8>, Error> {
        let size = self.size(arguments)?;
        let mut out = Vec::with_capacity(size);
        out.resize(size, 0);
        self.write(arguments, &mut out)?;
        Ok(out)
    }

    /// Like [`encode`](Self::encode), into the start of the caller's buffer. Returns the number of bytes written.
    ///
    /// # Errors
    /// Those of [`encode`](Self::encode), and `Buffer` with the required length.
    pub fn encode_into(&self, arguments: &[Value], buffer: &mut [u8]) -> Result<usize, Error> {
        let size = self.size(arguments)?;
        let buffer = buffer.get_mut(..size).ok_or(buffer_error(size))?;
        self.write(arguments, buffer)?;
        Ok(size)
    }

    /// Decodes the arguments to a tree, in [`Mode::Strict`].
    ///
    /// # Errors
    /// The kind of error and the byte of `data` at which it occurred.
    pub fn decode(&self, data: &[u8]) -> Result<Vec<Value>, Error> {
        self.decode_with(data, Mode::Strict)
    }

    /// Like [`decode`](Self::decode), in the given mode.
    ///
    /// # Errors
    /// The kind of error and the byte of `data` at which it occurred.
    pub fn decode_with(&self, data: &[u8], mode: Mode) -> Result<Vec<Value>, Error> {
        walk(&self.nodes, data, mode)
    }

    /// Decodes the arguments in [`Mode::Strict`] and stores them with all of the data, in one allocation.
    ///
    /// # Errors
    /// The kind of error and the byte of `data` at which it occurred.
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

    /// Checks the data in [`Mode::Strict`] and returns the arguments as views into it. Does not allocate.
    ///
    /// # Errors
    /// The kind of error and the byte of `data` at which it occurred.
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

    /// Checks that the data is what [`encode`](Self::encode) writes, [`Mode::Canonical`]. Does not allocate.
    ///
    /// # Errors
    /// The kind of error and the byte of `data` at which it occurred.
    pub fn check_canonical(&self, data: &[u8]) -> Result<(), Error> {
        let Checked = walk(&self.nodes, data, Mode::Canonical)?;
        Ok(())
    }

    /// Returns the length of the encoding. Values of one word are not checked.
    pub(super) fn size(&self, arguments: &[Value]) -> Result<usize, Error> {
        let expected = plan::arguments(&self.nodes);
        if arguments.len() != expected {
            return Err(Error::new(
                ErrorKind::Mismatch,
                arguments.len().min(expected),
            ));
        }
        let root = &self.nodes[0];
        let mut size = root.inner;
        // The loop is not needed if all values are words.
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

    /// Writes the arguments into a buffer of exactly the required length.
    pub(super) fn write(&self, arguments: &[Value], buffer: &mut [u8]) -> Result<(), Error> {
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

/// Returns the number of tail bytes of a value that is not a word; 0 if it is static. Returns `None` if a list has the
/// wrong length, so that room is only reserved for words that have a value.
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

/// Writes values and checks them against their types. All methods return `None` for a value that does not fit.
struct Writer<'c> {
    nodes: &'c [Node],
    failure: ErrorKind,
    /// Index of the current argument.
    argument: usize,
}

impl Writer<'_> {
    /// Writes the members of `node` to a frame with a head of `tail` bytes. Returns the length of the frame.
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
