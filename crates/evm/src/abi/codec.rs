//! Values of types known at run time, written and read by a plan that is compiled once. Recursion is bounded by
//! [`MAX_DEPTH`](super::MAX_DEPTH).

use alloc::vec::Vec;

use super::{
    Decoded, Decoder, Error, ErrorKind, Mode, Type, Value, Values,
    plan::{self, Kind, Node},
    read::text,
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
        self.check(data, mode, false)?;
        Values::arguments(&self.nodes, data).tree(mode == Mode::Lenient)
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
        self.check(data, Mode::Strict, true)?;
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
        self.check(data, Mode::Strict, true)?;
        Ok(Values::arguments(&self.nodes, data))
    }

    /// Checks all of the data, text only if asked to.
    fn check(&self, data: &[u8], mode: Mode, text: bool) -> Result<(), Error> {
        let (decoder, _) = Decoder::new(data, mode, self.nodes[0].inner)?;
        let mut checker = Checker {
            nodes: &self.nodes,
            decoder,
            text,
        };
        checker.frame(1, false, self.len(), 0, 0)?;
        checker.decoder.finish()
    }

    /// Number of arguments.
    fn len(&self) -> usize {
        match self.nodes[0].kind {
            Kind::Tuple(len) => len,
            _ => 0,
        }
    }

    /// The length of the encoding. Only what has a tail is looked at.
    fn size(&self, arguments: &[Value]) -> Result<usize, Error> {
        if arguments.len() != self.len() {
            return Err(Error::new(
                ErrorKind::Mismatch,
                arguments.len().min(self.len()),
            ));
        }
        let mut size = self.nodes[0].inner;
        if !self.nodes[0].dynamic {
            return Ok(size);
        }
        let mut at = 1;
        for (i, value) in arguments.iter().enumerate() {
            let node = &self.nodes[at];
            if node.dynamic {
                size +=
                    tail_size(&self.nodes, at, value).ok_or(Error::new(ErrorKind::Mismatch, i))?;
            }
            at = node.next;
        }
        Ok(size)
    }

    /// Writes the arguments into a buffer of their encoding's length.
    fn write(&self, arguments: &[Value], buffer: &mut [u8]) -> Result<(), Error> {
        let mut writer = Writer {
            nodes: &self.nodes,
            failure: ErrorKind::Mismatch,
            argument: 0,
        };
        match writer.frame(1, false, arguments, buffer, self.nodes[0].inner, true) {
            Some(_) => Ok(()),
            None => Err(Error::new(writer.failure, writer.argument)),
        }
    }
}

/// The bytes of the tail of a value of the dynamic node `at`; `None` for a value of another shape.
fn tail_size(nodes: &[Node], at: usize, value: &Value) -> Option<usize> {
    let node = &nodes[at];
    Some(match (node.kind, value) {
        (Kind::Bytes, Value::Bytes(bytes)) => bytes_size(bytes.len()),
        (Kind::String, Value::String(text)) => bytes_size(text.len()),
        (Kind::Array, Value::Array(elements)) => 32 + elements_size(nodes, at + 1, elements)?,
        (Kind::FixedArray(_), Value::FixedArray(elements)) => {
            elements_size(nodes, at + 1, elements)?
        }
        (Kind::Tuple(len), Value::Tuple(values)) if len == values.len() => {
            let mut size = node.inner;
            let mut member = at + 1;
            for value in values {
                if nodes[member].dynamic {
                    size += tail_size(nodes, member, value)?;
                }
                member = nodes[member].next;
            }
            size
        }
        _ => return None,
    })
}

/// Heads and tails of elements of node `at`.
fn elements_size(nodes: &[Node], at: usize, elements: &[Value]) -> Option<usize> {
    let mut size = elements.len() * nodes[at].head;
    if nodes[at].dynamic {
        for element in elements {
            size += tail_size(nodes, at, element)?;
        }
    }
    Some(size)
}

/// Writes values and checks them against their types. All answers are `None` for a value that does not fit.
struct Writer<'c> {
    nodes: &'c [Node],
    failure: ErrorKind,
    /// Index of the argument being written.
    argument: usize,
}

impl Writer<'_> {
    /// Writes values from node `at` on (elements of an array: all of that node) to a frame with a head of `tail` bytes;
    /// answers the length of the frame.
    fn frame(
        &mut self,
        mut at: usize,
        array: bool,
        values: &[Value],
        buffer: &mut [u8],
        mut tail: usize,
        outermost: bool,
    ) -> Option<usize> {
        let mut head = 0;
        for value in values {
            let node = &self.nodes[at];
            let slot = buffer.get_mut(head..)?;
            if node.kind.is_word() {
                if let Err(failure) = node.kind.put(value, slot.first_chunk_mut()?) {
                    self.failure = failure;
                    return None;
                }
            } else if !node.dynamic {
                let (elements, values) = node.list(value)?;
                self.frame(at + 1, elements, values, slot, node.head, false)?;
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
                        32 + self.frame(at + 1, true, elements, space, head, false)?
                    }
                    _ => {
                        let (elements, values) = node.list(value)?;
                        self.frame(at + 1, elements, values, space, node.inner, false)?
                    }
                };
            }
            head += node.head;
            if !array {
                at = node.next;
            }
            if outermost {
                self.argument += 1;
            }
        }
        Some(tail)
    }
}

impl Node {
    /// The members of a tuple (false) or elements of a fixed array (true), if the value is one of this type.
    fn list<'v>(&self, value: &'v Value) -> Option<(bool, &'v [Value])> {
        match (self.kind, value) {
            (Kind::Tuple(len), Value::Tuple(values)) if len == values.len() => {
                Some((false, values))
            }
            (Kind::FixedArray(len), Value::FixedArray(values)) if len == values.len() => {
                Some((true, values))
            }
            _ => None,
        }
    }
}

/// Walks over data and checks it against a plan.
struct Checker<'c, 'a> {
    nodes: &'c [Node],
    decoder: Decoder<'a>,
    /// Strings are to be UTF-8. (Otherwise whoever builds the tree looks, as a `String` is checked when it is made.)
    text: bool,
}

impl Checker<'_, '_> {
    /// Checks values from node `at` on (elements of an array: all of that node), whose heads start at `head` and lie
    /// inside the data. (Plain numbers: a `Head` would pass through memory at each call.)
    fn frame(
        &mut self,
        mut at: usize,
        array: bool,
        len: usize,
        base: usize,
        mut head: usize,
    ) -> Result<(), Error> {
        let nodes = self.nodes;
        for _ in 0..len {
            let node = &nodes[at];
            let decoder = &mut self.decoder;
            if node.free {
                if array {
                    return Ok(());
                }
            } else if node.kind.is_word() {
                if let Err(kind) = node.kind.check(decoder.word_at(head)?)
                    && !decoder.is_lenient()
                {
                    return Err(Error::new(kind, head));
                }
            } else if node.dynamic {
                let target = decoder.target(base, head)?;
                match node.kind {
                    Kind::Bytes => drop(decoder.bytes_at(target)?),
                    Kind::String => {
                        let bytes = decoder.bytes_at(target)?;
                        if self.text {
                            text(bytes, target + 32)?;
                        }
                    }
                    kind => {
                        let (len, base) = match kind {
                            Kind::Array => (decoder.array_at(target, node.inner)?, target + 32),
                            Kind::Tuple(len) | Kind::FixedArray(len) => {
                                decoder.nested_at(target, node.inner)?;
                                (len, target)
                            }
                            _ => (0, target),
                        };
                        self.frame(at + 1, node.is_array(), len, base, base)?;
                    }
                }
            } else if let Kind::Tuple(len) | Kind::FixedArray(len) = node.kind {
                self.frame(at + 1, node.is_array(), len, base, head)?;
            }
            head += node.head;
            if !array {
                at = node.next;
            }
        }
        Ok(())
    }
}
