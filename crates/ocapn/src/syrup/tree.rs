//! Decoding to the owned tree, canonical or lenient.
use alloc::{boxed::Box, string::String, vec::Vec};

use super::encode::sort_keys;
use super::scan::{self, ENDO, LENIENT, STRICT};
use super::tape::{Node, Tape};
use super::{Error, ErrorKind, Limits, MAX_TREE_DEPTH, Record, Value};

impl Value {
    /// Decodes `input`, which must be exactly one canonical value, within the default limits.
    ///
    /// # Errors
    ///
    /// The bytes are not exactly one canonical value, or exceed the limits.
    ///
    /// ```
    /// use lydite_ocapn::syrup::Value;
    ///
    /// let value = Value::decode(b"[3'cat7+]")?;
    /// assert_eq!(value, Value::List(vec![Value::symbol("cat"), 7.into()]));
    /// let error = Value::decode(b"[3'cat07+]").unwrap_err();
    /// assert_eq!(error.to_string(), "byte 6: leading zero");
    /// # Ok::<(), lydite_ocapn::syrup::Error>(())
    /// ```
    pub fn decode(input: &[u8]) -> Result<Self, Error> {
        Self::decode_within(input, Limits::default())
    }

    /// Like [`decode`](Self::decode), with custom limits. The depth is at most [`MAX_TREE_DEPTH`], since a tree is
    /// built and dropped recursively.
    ///
    /// # Errors
    ///
    /// Those of [`decode`](Self::decode).
    pub fn decode_within(input: &[u8], limits: Limits) -> Result<Self, Error> {
        decode::<STRICT>(input, limits)
    }

    /// Like [`decode`](Self::decode), but also accepts what some peers write: leading zeros in numbers and lengths (up
    /// to 65 535 digits for values that fit in 64 bits), `0-`, NaNs with a payload, dictionaries and sets in any order,
    /// white space between values, and the brackets of bencode (`l` or `(` for `[`, `d` for `{`, and `e` or `)` as
    /// their closers). Duplicate keys, text that is not UTF-8 and records without a label have no agreed meaning and
    /// are rejected here too, and so are containers as keys of containers that are keys, and so on, beyond 16 levels.
    ///
    /// ```
    /// use lydite_ocapn::syrup::{self, Value};
    ///
    /// let value = Value::decode_lenient(b"d 1\"b 007+ 1\"a 0- e")?;
    /// assert_eq!(syrup::encode(&value)?, b"{1\"a0+1\"b7+}");
    /// # Ok::<(), syrup::Error>(())
    /// ```
    pub fn decode_lenient(input: &[u8]) -> Result<Self, Error> {
        decode::<LENIENT>(input, Limits::default())
    }

    /// Like [`decode`](Self::decode), but accepts only the output of [`encode_for_endo`](super::encode_for_endo).
    ///
    /// ```
    /// use lydite_ocapn::syrup::Value;
    ///
    /// assert!(Value::decode_from_endo(b"{2\"aa1+1\"b2+}").is_ok());
    /// let error = Value::decode_from_endo(b"{1\"b2+2\"aa1+}").unwrap_err();
    /// assert_eq!(error.to_string(), "byte 6: key or set member out of order");
    /// ```
    pub fn decode_from_endo(input: &[u8]) -> Result<Self, Error> {
        decode::<ENDO>(input, Limits::default())
    }
}

fn decode<const MODE: u8>(input: &[u8], mut limits: Limits) -> Result<Value, Error> {
    limits.depth = limits.depth.min(MAX_TREE_DEPTH);
    let mut tape = Tape::for_input(input);
    let tree = build::<MODE>(input, limits, &mut tape);
    if tree.is_err() {
        // There may be invalid UTF-8 before the error found. Decode again with text checks to report the first error.
        tape.fill::<MODE>(input, limits, false)?;
    }
    tree
}

/// Text is validated as it is copied.
#[inline(always)]
fn build<const MODE: u8>(input: &[u8], limits: Limits, tape: &mut Tape) -> Result<Value, Error> {
    let mut end = tape.fill::<MODE>(input, limits, true)?;
    while MODE == LENIENT && input.get(end).is_some_and(u8::is_ascii_whitespace) {
        end += 1;
    }
    if end != input.len() {
        return Err(ErrorKind::TrailingBytes.at(end));
    }
    let (nodes, mut root) = (tape.nodes(), VACANT);
    Builder::<MODE> { input, nodes }.put(0, &mut root)?;
    Ok(root)
}

/// Maximum number of keys nested in each other in lenient mode, which encodes a key at each level that it is nested in.
const MAX_KEY_NESTING: usize = 16;

/// A placeholder. Values are created in place, since moving one that has just been written waits for the write.
const VACANT: Value = Value::Boolean(false);

/// Builds the tree from the nodes of a tape, which hold the number of values in each container.
struct Builder<'a, const MODE: u8> {
    input: &'a [u8],
    nodes: &'a [Node],
}

impl<const MODE: u8> Builder<'_, MODE> {
    /// Stores the value of the node at `index` in `place`. Returns the index after it.
    #[inline(always)]
    fn put(&self, index: usize, place: &mut Value) -> Result<usize, Error> {
        let node = &self.nodes[index];
        // Each arm stores its value itself, part by part.
        match node.tag() {
            b't' => set(place, Value::Boolean(node.data == 1)),
            b'+' | b'-' => match node.word() {
                Some(word) => set(place, Value::Integer(word.into())),
                None => self.integer(node, place),
            },
            b'D' => set(place, Value::Float64(f64::from_bits(node.data))),
            b'F' => set(place, Value::Float32(f32::from_bits(node.data as u32))),
            b':' => set(place, Value::Bytes(node.payload(self.input).to_vec())),
            b'"' => set(place, Value::String(self.text(node)?)),
            b'\'' => set(place, Value::Symbol(self.text(node)?)),
            _ => return self.container(index, place),
        }
        Ok(index + 1)
    }

    #[cold]
    #[inline(never)]
    fn integer(&self, node: &Node, place: &mut Value) {
        *place = Value::Integer(node.integer(self.input));
    }

    #[inline(always)]
    fn text(&self, node: &Node) -> Result<String, Error> {
        match scan::utf8(node.payload(self.input)) {
            Ok(text) => Ok(String::from(text)),
            Err(valid) => {
                Err(ErrorKind::InvalidUtf8.at(node.start() + node.extra() as usize + valid))
            }
        }
    }

    /// Recurses at most as deep as a tree may be.
    fn container(&self, index: usize, place: &mut Value) -> Result<usize, Error> {
        let node = &self.nodes[index];
        let (mut next, end, values) = (index + 1, node.next(), node.values() as usize);
        match node.tag() {
            b'{' => {
                let mut entries = Vec::with_capacity(values / 2);
                while next < end {
                    entries.push((VACANT, VACANT));
                    if let Some((key, value)) = entries.last_mut() {
                        for place in [key, value] {
                            next = self.put(next, place)?;
                        }
                    }
                }
                self.unique(index, 2, entries.iter().map(|(key, _)| key))?;
                set(place, Value::Dictionary(entries));
            }
            b'<' => {
                let mut label = VACANT;
                next = self.put(next, &mut label)?;
                let fields = self.values(next, end, values - 1)?;
                set(place, Value::Record(Box::new(Record { label, fields })));
            }
            tag => {
                let values = self.values(next, end, values)?;
                if tag == b'#' {
                    self.unique(index, 1, values.iter())?;
                    set(place, Value::Set(values));
                } else {
                    set(place, Value::List(values));
                }
            }
        }
        Ok(end)
    }

    #[inline(always)]
    fn values(&self, mut next: usize, end: usize, count: usize) -> Result<Vec<Value>, Error> {
        let mut values = Vec::with_capacity(count);
        while next < end {
            values.push(VACANT);
            if let Some(place) = values.last_mut() {
                next = self.put(next, place)?;
            }
        }
        Ok(values)
    }

    /// In lenient mode, where order is not checked, fails if the container at `index` has equal keys. `step` is the
    /// number of nodes per entry.
    #[inline(always)]
    fn unique<'v>(
        &self,
        index: usize,
        step: usize,
        keys: impl Iterator<Item = &'v Value>,
    ) -> Result<(), Error> {
        if MODE != LENIENT || self.nodes[index].values() as usize <= step {
            return Ok(());
        }
        let (mut sorted, mut next) = (Vec::new(), index + 1);
        for key in keys {
            let start = self.nodes[next].start();
            if key.is_container() && key.key_nesting() > MAX_KEY_NESTING {
                return Err(ErrorKind::TooDeep.at(start));
            }
            sorted.push((
                super::encode(key).map_err(|error| error.kind.at(start))?,
                start,
            ));
            for _ in 0..step {
                next = self.nodes[next].after(next);
            }
        }
        match sort_keys(&mut sorted) {
            None => Ok(()),
            Some(start) => Err(ErrorKind::Duplicate.at(start)),
        }
    }
}

/// Overwrites a placeholder, which has nothing to drop.
#[inline(always)]
fn set(place: &mut Value, value: Value) {
    core::mem::forget(core::mem::replace(place, value));
}
