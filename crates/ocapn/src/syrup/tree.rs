//! Decoding to the owned tree, canonical or lenient.
use alloc::{boxed::Box, string::String, vec::Vec};

use super::scan::{self, Atom, Container, ENDO, Kind, LENIENT, STRICT, Visitor};
use super::{Error, ErrorKind, Integer, Limits, MAX_TREE_DEPTH, Record, Value};

impl Value {
    /// Decodes the one canonical value that `input` consists of, within the default limits.
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

    /// As [`decode`](Self::decode), within these limits; the depth is at most [`MAX_TREE_DEPTH`], since a tree is dropped
    /// by recursion.
    pub fn decode_within(input: &[u8], limits: Limits) -> Result<Self, Error> {
        decode::<STRICT>(input, limits)
    }

    /// As [`decode`](Self::decode), and takes what some peers write: needless zeros in numbers and lengths, `0-`, NaNs with
    /// a payload, dictionaries and sets in any order, white space between values, and the brackets of bencode (`l` or `(`
    /// for `[`, `d` for `{`, `e` or `)` for what closes them). Keys that are there twice, text that is not UTF-8 and
    /// records without a label have no agreed meaning and are refused here too.
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

    /// As [`decode`](Self::decode), of what [`encode_for_endo`](super::encode_for_endo) writes and nothing else.
    ///
    /// ```
    /// use lydite_ocapn::syrup::Value;
    ///
    /// assert!(Value::decode_from_endo(b"{2\"aa1+1\"b2+}").is_ok());
    /// let error = Value::decode_from_endo(b"{1\"b2+2\"aa1+}").unwrap_err();
    /// assert_eq!(error.to_string(), "byte 6: key or member out of order");
    /// ```
    pub fn decode_from_endo(input: &[u8]) -> Result<Self, Error> {
        decode::<ENDO>(input, Limits::default())
    }
}

fn decode<const MODE: u8>(input: &[u8], mut limits: Limits) -> Result<Value, Error> {
    limits.depth = limits.depth.min(MAX_TREE_DEPTH);
    let mut builder = Builder::<MODE> {
        input,
        left: limits.values,
        items: Vec::with_capacity((input.len() / 4).clamp(FEW, MANY)),
        starts: Vec::new(),
    };
    let mut end = scan::walk::<MODE, _>(input, limits, &mut Vec::new(), &mut builder)?;
    while MODE == LENIENT && input.get(end).is_some_and(u8::is_ascii_whitespace) {
        end += 1;
    }
    match builder.items.pop() {
        Some(value) if end == input.len() => Ok(value),
        _ => Err(ErrorKind::TrailingBytes.at(end)),
    }
}

/// How many items there is room for from the start, and how many at most; one takes about four bytes.
const FEW: usize = 16;
const MANY: usize = 1024;

/// Puts the tree together: `items` are the complete values of all open containers, each of which is named by its first.
struct Builder<'a, const MODE: u8> {
    input: &'a [u8],
    left: usize,
    items: Vec<Value>,
    /// Where each item starts in the input, if keys may be there twice.
    starts: Vec<usize>,
}

impl<const MODE: u8> Builder<'_, MODE> {
    #[inline(always)]
    fn count(&mut self, start: usize) -> Result<(), Error> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or(ErrorKind::TooManyValues.at(start))?;
        Ok(())
    }

    #[inline(always)]
    fn push(&mut self, start: usize, value: Value) {
        if MODE == LENIENT {
            self.starts.push(start);
        }
        self.items.push(value);
    }

    fn text(&self, start: usize, end: usize) -> Result<String, Error> {
        match scan::utf8(&self.input[start..end]) {
            Ok(text) => Ok(String::from(text)),
            Err(valid) => Err(ErrorKind::InvalidUtf8.at(start + valid)),
        }
    }

    /// Fails if two of the keys from the item `first` on, every `step`th, mean the same.
    fn unique(&self, first: usize, step: usize) -> Result<(), Error> {
        let mut keys = Vec::new();
        let items = self.items[first..].iter().zip(&self.starts[first..]);
        for (key, start) in items.step_by(step) {
            keys.push((
                super::encode(key).map_err(|error| error.kind.at(*start))?,
                *start,
            ));
        }
        keys.sort_unstable();
        for pair in keys.windows(2) {
            if pair[0].0 == pair[1].0 {
                return Err(ErrorKind::Duplicate.at(pair[1].1));
            }
        }
        Ok(())
    }
}

impl<const MODE: u8> Visitor for Builder<'_, MODE> {
    #[inline(always)]
    fn atom(&mut self, start: usize, end: usize, atom: Atom) -> Result<(), Error> {
        self.count(start)?;
        let value = match atom {
            Atom::Boolean(value) => Value::Boolean(value),
            Atom::Word(negative, value) => Value::Integer(Integer::from_word(negative, value)),
            Atom::Big(negative, digits) => {
                let digits = self.text(start, start + digits)?;
                Value::Integer(Integer::from_decimal(negative, &digits))
            }
            Atom::Float64(bits) => Value::Float64(f64::from_bits(bits)),
            Atom::Float32(bits) => Value::Float32(f32::from_bits(bits)),
            Atom::Blob(kind, header, _) => match kind {
                Kind::String => Value::String(self.text(start + header, end)?),
                Kind::Symbol => Value::Symbol(self.text(start + header, end)?),
                _ => Value::Bytes(self.input[start + header..end].to_vec()),
            },
        };
        self.push(start, value);
        Ok(())
    }

    #[inline(always)]
    fn open(&mut self, start: usize, _: Kind) -> Result<usize, Error> {
        self.count(start)?;
        Ok(self.items.len())
    }

    #[inline(always)]
    fn close(&mut self, container: Container, _: u32, _: usize) -> Result<(), Error> {
        let first = container.name;
        if MODE == LENIENT {
            match container.kind {
                Kind::Dictionary => self.unique(first, 2)?,
                Kind::Set => self.unique(first, 1)?,
                _ => {}
            }
            self.starts.truncate(first);
        }
        let value = match container.kind {
            Kind::Dictionary => {
                let mut inside = self.items.drain(first..);
                let mut entries = Vec::with_capacity(inside.len() / 2);
                while let (Some(key), Some(value)) = (inside.next(), inside.next()) {
                    entries.push((key, value));
                }
                Value::Dictionary(entries)
            }
            Kind::Set => Value::Set(self.items.split_off(first)),
            Kind::Record => {
                let fields = self.items.split_off(first + 1);
                match self.items.pop() {
                    Some(label) => Value::Record(Box::new(Record { label, fields })),
                    None => Value::List(fields),
                }
            }
            _ => Value::List(self.items.split_off(first)),
        };
        self.push(container.start, value);
        Ok(())
    }
}
