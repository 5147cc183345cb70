//! Reference implementation for the `syrup` family: the value model, the canonical encoding and a strict decoder,
//! written from the Syrup draft (2023-12) and OCapN's Model and Notation (2026-07). Slow and readable.

pub mod outputs;

use anyhow::{Context as _, Result, bail, ensure};
use num_bigint::{BigInt, BigUint, Sign};

/// A Syrup value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `t` or `f`.
    Boolean(bool),
    /// `5+` or `5-`, of any size.
    Integer(BigInt),
    /// `D` and the bits of a float64.
    Double(u64),
    /// `F` and the bits of a float32.
    Single(u32),
    /// `3:abc`.
    Bytes(Vec<u8>),
    /// `3"abc`.
    Text(String),
    /// `3'abc`.
    Symbol(String),
    /// `[…]`.
    List(Vec<Value>),
    /// `{…}`; entries in any order.
    Dictionary(Vec<(Value, Value)>),
    /// `#…$`; elements in any order.
    Set(Vec<Value>),
    /// `<label …>`.
    Record(Box<Value>, Vec<Value>),
}

use Value::{Boolean, Bytes, Dictionary, Double, Integer, List, Record, Set, Single, Symbol, Text};

/// The canonical encoding of every NaN.
const DOUBLE_NAN: u64 = 0x7ff8_0000_0000_0000;
const SINGLE_NAN: u32 = 0x7fc0_0000;
/// Nesting limit, above that of every valid input.
const DEPTH: usize = 1100;

/// An integer.
pub fn int(number: impl Into<BigInt>) -> Value {
    Integer(number.into())
}

/// A string.
pub fn string(text: &str) -> Value {
    Text(text.to_owned())
}

/// A symbol.
pub fn symbol(text: &str) -> Value {
    Symbol(text.to_owned())
}

/// A record whose label is a symbol, as in CapTP.
pub fn record(label: &str, fields: Vec<Value>) -> Value {
    Record(Box::new(symbol(label)), fields)
}

impl Value {
    /// The canonical encoding.
    pub fn encode(&self) -> Vec<u8> {
        let all = |values: &[Self]| values.iter().flat_map(Self::encode).collect::<Vec<u8>>();
        let sorted = |mut parts: Vec<Vec<u8>>| {
            parts.sort();
            parts.concat()
        };
        match self {
            Boolean(true) => b"t".to_vec(),
            Boolean(false) => b"f".to_vec(),
            Integer(number) => {
                let sign = if number.sign() == Sign::Minus {
                    '-'
                } else {
                    '+'
                };
                format!("{}{sign}", number.magnitude()).into_bytes()
            }
            Double(bits) => [b"D", bits.to_be_bytes().as_slice()].concat(),
            Single(bits) => [b"F", bits.to_be_bytes().as_slice()].concat(),
            Bytes(bytes) => atom(':', bytes),
            Text(text) => atom('"', text.as_bytes()),
            Symbol(text) => atom('\'', text.as_bytes()),
            List(values) => [b"[", all(values).as_slice(), b"]"].concat(),
            Record(label, fields) => [b"<", label.encode().as_slice(), &all(fields), b">"].concat(),
            // No encoding is a prefix of another and the keys of a valid value are distinct, so sorting whole entries
            // sorts by key.
            Dictionary(entries) => {
                let entries = entries
                    .iter()
                    .map(|(k, v)| [k.encode(), v.encode()].concat());
                [b"{", sorted(entries.collect()).as_slice(), b"}"].concat()
            }
            Set(values) => {
                let values = values.iter().map(Self::encode);
                [b"#", sorted(values.collect()).as_slice(), b"$"].concat()
            }
        }
    }

    /// Decodes a single canonical value without trailing bytes.
    pub fn decode(data: &[u8]) -> Result<Self> {
        let mut reader = Decoder { data, at: 0 };
        let value = reader.value(0)?;
        ensure!(reader.at == data.len(), "byte {}: trailing", reader.at);
        Ok(value)
    }

    /// Number of direct elements: of a list or set, entries of a dictionary, fields of a record after its label; 1 for
    /// an atom.
    pub fn head(&self) -> u64 {
        (match self {
            List(values) | Set(values) | Record(_, values) => values.len(),
            Dictionary(entries) => entries.len(),
            _ => 1,
        }) as u64
    }

    /// Sum of one word per atom, so that it depends on the whole value.
    pub fn fold(&self) -> u64 {
        let all = |values: &[Self]| {
            values
                .iter()
                .fold(0, |sum: u64, value| sum.wrapping_add(value.fold()))
        };
        match self {
            Boolean(value) => u64::from(*value),
            Integer(number) => low_word(number),
            Double(bits) => *bits,
            Single(bits) => u64::from(*bits),
            Bytes(bytes) => bytes.len() as u64,
            Text(text) | Symbol(text) => text.len() as u64,
            List(values) | Set(values) => all(values),
            Record(label, fields) => label.fold().wrapping_add(all(fields)),
            Dictionary(entries) => entries.iter().fold(0, |sum, (key, value)| {
                sum.wrapping_add(key.fold()).wrapping_add(value.fold())
            }),
        }
    }
}

fn atom(mark: char, content: &[u8]) -> Vec<u8> {
    [format!("{}{mark}", content.len()).as_bytes(), content].concat()
}

/// The integer modulo 2^64, in two's complement.
fn low_word(number: &BigInt) -> u64 {
    let low = number.magnitude().iter_u64_digits().next().unwrap_or(0);
    if number.sign() == Sign::Minus {
        low.wrapping_neg()
    } else {
        low
    }
}

/// A cursor over an encoding.
struct Decoder<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Decoder<'a> {
    fn peek(&self) -> Result<u8> {
        let byte = self.data.get(self.at).copied();
        byte.with_context(|| format!("byte {}: the end", self.at))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(len).context("a length beyond memory")?;
        let bytes = self.data.get(self.at..end);
        let bytes = bytes.with_context(|| format!("byte {}: cut off", self.at))?;
        self.at = end;
        Ok(bytes)
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        let start = self.at;
        ensure!(depth < DEPTH, "byte {start}: nested too deep");
        let first = self.peek()?;
        if first.is_ascii_digit() {
            return self.number_or_text();
        }
        self.at += 1;
        Ok(match first {
            b't' => Boolean(true),
            b'f' => Boolean(false),
            b'D' => {
                let bits = u64::from_be_bytes(self.take(8)?.try_into()?);
                let nan = f64::from_bits(bits).is_nan();
                ensure!(!nan || bits == DOUBLE_NAN, "byte {start}: another NaN");
                Double(bits)
            }
            b'F' => {
                let bits = u32::from_be_bytes(self.take(4)?.try_into()?);
                let nan = f32::from_bits(bits).is_nan();
                ensure!(!nan || bits == SINGLE_NAN, "byte {start}: another NaN");
                Single(bits)
            }
            b'[' => List(self.until(b']', |d| d.value(depth + 1))?),
            b'<' => {
                let label = Box::new(self.value(depth + 1)?);
                Record(label, self.until(b'>', |d| d.value(depth + 1))?)
            }
            b'#' => {
                let mut last = None;
                Set(self.until(b'$', |d| d.key(depth + 1, &mut last))?)
            }
            b'{' => {
                let mut last = None;
                Dictionary(self.until(b'}', |d| {
                    Ok((d.key(depth + 1, &mut last)?, d.value(depth + 1)?))
                })?)
            }
            _ => bail!("byte {start}: no value begins with {first:02x}"),
        })
    }

    /// Reads elements up to the closing byte.
    fn until<T>(
        &mut self,
        close: u8,
        mut one: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut all = Vec::new();
        while self.peek()? != close {
            all.push(one(self)?);
        }
        self.at += 1;
        Ok(all)
    }

    /// Reads a value whose encoding must be greater than the previous one.
    fn key(&mut self, depth: usize, last: &mut Option<&'a [u8]>) -> Result<Value> {
        let start = self.at;
        let value = self.value(depth)?;
        let bytes = &self.data[start..self.at];
        ensure!(
            last.is_none_or(|last| last < bytes),
            "byte {start}: not in ascending order"
        );
        *last = Some(bytes);
        Ok(value)
    }

    /// Reads a value that starts with digits: an integer, a string, a symbol or bytes.
    fn number_or_text(&mut self) -> Result<Value> {
        let start = self.at;
        while self.peek()?.is_ascii_digit() {
            self.at += 1;
        }
        let digits = &self.data[start..self.at];
        ensure!(
            digits[0] != b'0' || digits.len() == 1,
            "byte {start}: leading zero"
        );
        let number = BigUint::parse_bytes(digits, 10).context("digits")?;
        let mark = self.peek()?;
        self.at += 1;
        let mut content = || -> Result<&'a [u8]> {
            let len = usize::try_from(&number);
            self.take(len.ok().context("a length beyond memory")?)
        };
        let text = |bytes: &[u8]| -> Result<String> {
            let text = std::str::from_utf8(bytes).with_context(|| format!("byte {start}: text"))?;
            Ok(text.to_owned())
        };
        Ok(match mark {
            b'+' => int(number),
            b'-' => {
                ensure!(digits != b"0", "byte {start}: negative zero");
                Integer(-BigInt::from(number))
            }
            b':' => Bytes(content()?.to_vec()),
            b'"' => Text(text(content()?)?),
            b'\'' => Symbol(text(content()?)?),
            _ => bail!(
                "byte {}: expected a type marker after the digits, found another byte",
                self.at - 1
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn writes_what_the_drafts_show() {
        // The zoo example of the Syrup draft.
        let zoo = record(
            "zoo",
            vec![
                Bytes(b"cat".to_vec()),
                Double(f64::to_bits(8.2)),
                int(-3),
                Set(vec![string("b"), string("a")]),
                Dictionary(vec![(symbol("b"), Boolean(true)), (symbol("a"), int(0))]),
            ],
        );
        let want = b"<3'zoo3:catD\x40\x20\x66\x66\x66\x66\x66\x663-#1\"a1\"b${1'a0+1'bt}>";
        assert_eq!(zoo.encode(), want);
        assert_eq!(Value::decode(want).unwrap().encode(), want);
        assert_eq!(zoo.head(), 5);
        // The label, cat, 8.2, -3, two strings, a with 0, b with true.
        let fold = (3 + 3 + 2 + 1 + 1 + 1 - 3) + 8.2f64.to_bits();
        assert_eq!(zoo.fold(), fold);
    }

    #[test]
    fn tells_where_an_encoding_is_wrong() {
        for (data, message) in [
            ("", "byte 0: the end"),
            ("1+2+", "byte 2: trailing"),
            ("[01+]", "byte 1: leading zero"),
            ("0-", "byte 0: negative zero"),
            ("{1\"b1+1\"a2+}", "byte 6: not in ascending order"),
            ("#1+1+$", "byte 3: not in ascending order"),
            ("5\"abc", "byte 2: cut off"),
            ("99999999999999999999:a", "a length beyond memory"),
            ("<>", "byte 1: no value begins with 3e"),
        ] {
            let error = Value::decode(data.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), message, "{data}");
        }
        assert!(Value::decode(&[b'['; 100_000]).is_err());
    }
}
