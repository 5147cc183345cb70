//! ABI codecs and events, created from type strings.

use lydite::{
    bytes::{B256, U256, hex},
    evm::abi::{self, Codec, EventCodec, Mode, Type, Value},
};

use crate::{
    failure::{Code, Failure},
    hash::address,
    scratch::{Form, State},
    tape::{Reader, Writer, twos_complement},
};

fn mode(lenient: usize) -> Mode {
    if lenient == 0 {
        Mode::Strict
    } else {
        Mode::Lenient
    }
}

/// An encoding error; its offset is the index of the argument.
fn encoding(error: abi::Error) -> Failure {
    Failure::encode(format_args!("arguments[{}]: {}", error.offset, error.kind))
}

/// Writes a type as nested JSON arrays, from which JavaScript builds its readers and writers.
fn describe(ty: &Type, out: &mut String) {
    use std::fmt::Write;
    // Writing to a String cannot fail.
    let _ = match ty {
        Type::Bool => write!(out, "[\"bool\"]"),
        Type::Uint(_) => write!(out, "[\"uint\"]"),
        Type::Int(_) => write!(out, "[\"int\"]"),
        Type::Address => write!(out, "[\"address\"]"),
        Type::FixedBytes(length) => write!(out, "[\"fixed\",{length}]"),
        Type::Function => write!(out, "[\"fixed\",24]"),
        Type::Bytes => write!(out, "[\"bytes\"]"),
        Type::String => write!(out, "[\"string\"]"),
        Type::Array(element) => {
            out.push_str("[\"array\",");
            describe(element, out);
            write!(out, "]")
        }
        Type::FixedArray(element, length) => {
            out.push_str("[\"list\",");
            describe(element, out);
            write!(out, ",{length}]")
        }
        Type::Tuple(members) => {
            out.push_str("[\"tuple\"");
            for member in members {
                out.push(',');
                describe(member, out);
            }
            write!(out, "]")
        }
    };
}

/// Type string → the codec's number, then the description of its arguments.
pub fn codec_new(
    state: &mut State,
    length: usize,
    form: usize,
    _: usize,
) -> Result<usize, Failure> {
    let ty = Type::parse(text(state.input(length)?)?)?;
    let codec = Codec::new(&ty)?;
    let types = match ty {
        Type::Tuple(members) => members,
        other => vec![other],
    };
    let whole = Type::Tuple(types);
    let mut description = String::new();
    describe(&whole, &mut description);
    let Type::Tuple(types) = whole else {
        return Err(Failure::argument("expected arguments, found none"));
    };
    let number = state.codecs.add((codec, types, Form { hex: form == 1 }));
    state.put_owned(format!("[{number},{description}]").into_bytes())
}

pub fn text(bytes: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(bytes).map_err(|error| Failure::new(Code::Argument, error))
}

pub fn codec_free(state: &mut State, number: usize, _: usize, _: usize) -> Result<usize, Failure> {
    state.codecs.free(number)
}

/// Tape of the arguments → their encoding.
pub fn codec_encode(
    state: &mut State,
    length: usize,
    number: usize,
    _: usize,
) -> Result<usize, Failure> {
    let input = state.scratch.input(length)?;
    let (codec, types, _) = state.codecs.get(number)?;
    let mut reader = Reader::new(input);
    let values = types
        .iter()
        .enumerate()
        .map(|(i, ty)| {
            value(
                ty,
                &mut reader,
                &Path {
                    parent: None,
                    index: i,
                },
            )
        })
        .collect::<Result<Vec<Value>, _>>()?;
    let encoded = codec.encode(&values).map_err(encoding)?;
    state.put_owned(encoded)
}

/// Path of a value within the arguments; formatted only for errors.
struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    index: usize,
}

impl std::fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.parent {
            Some(parent) => parent.fmt(f)?,
            None => f.write_str("arguments")?,
        }
        write!(f, "[{}]", self.index)
    }
}

/// Bytes, or hexadecimal text if marked as such.
fn bytes_or_hex(reader: &mut Reader<'_>, path: &Path<'_>) -> Result<Vec<u8>, Failure> {
    let (length, is_text) = reader.word()?;
    let bytes = reader.padded(length)?;
    if is_text == 0 {
        return Ok(bytes.to_vec());
    }
    hex::decode(bytes).map_err(|error| Failure::encode(format_args!("{path}: {error}")))
}

/// Whether a word in two's complement is in the range of a signed type.
fn fits_int(word: U256, bits: u16) -> bool {
    let magnitude = if word.bit(255) { !word } else { word };
    magnitude.bit_len() < bits.into()
}

fn value(ty: &Type, reader: &mut Reader<'_>, path: &Path<'_>) -> Result<Value, Failure> {
    let out_of_range = || Failure::encode(format_args!("{path}: out of range for {ty}"));
    let wrong_length = |needed: usize, found: usize| {
        Failure::encode(format_args!(
            "{path}: expected {needed} bytes, found {found}"
        ))
    };
    Ok(match ty {
        Type::Bool => Value::Bool(reader.word()?.0 != 0),
        Type::Uint(bits) => match reader.magnitude()? {
            Some((negative, value))
                if (!negative || value.is_zero()) && value.bit_len() <= u32::from(*bits) =>
            {
                Value::Uint(value, *bits)
            }
            _ => return Err(out_of_range()),
        },
        Type::Int(bits) => {
            let value = reader
                .magnitude()?
                .and_then(|(negative, value)| twos_complement(negative, value))
                .filter(|value| fits_int(*value, *bits));
            Value::Int(value.ok_or_else(out_of_range)?, *bits)
        }
        Type::Address => {
            let (length, is_text) = reader.word()?;
            let bytes = reader.padded(length)?;
            Value::Address(match (is_text, bytes.try_into()) {
                (0, Ok(bytes)) => lydite::bytes::Address(bytes),
                (0, Err(_)) => return Err(wrong_length(20, length)),
                _ => address(bytes).map_err(|failure| {
                    Failure::encode(format_args!("{path}: {}", failure.message))
                })?,
            })
        }
        Type::FixedBytes(length) => {
            let bytes = bytes_or_hex(reader, path)?;
            if bytes.len() != usize::from(*length) {
                return Err(wrong_length((*length).into(), bytes.len()));
            }
            let mut word = [0; 32];
            word[..bytes.len()].copy_from_slice(&bytes);
            Value::FixedBytes(word, *length)
        }
        Type::Function => {
            let bytes = bytes_or_hex(reader, path)?;
            let found = bytes.len();
            Value::Function(bytes.try_into().map_err(|_| wrong_length(24, found))?)
        }
        Type::Bytes => Value::Bytes(bytes_or_hex(reader, path)?),
        Type::String => Value::String(reader.text()?.to_owned()),
        Type::Array(element) => Value::Array(values(|_| Some(element), reader, path)?),
        Type::FixedArray(element, _) => Value::FixedArray(values(|_| Some(element), reader, path)?),
        Type::Tuple(members) => Value::Tuple(values(|i| members.get(i), reader, path)?),
    })
}

/// Reads the number of values that the tape states. JavaScript has checked that it matches the type.
fn values<'a>(
    ty: impl Fn(usize) -> Option<&'a Type>,
    reader: &mut Reader<'_>,
    path: &Path<'_>,
) -> Result<Vec<Value>, Failure> {
    let (count, _) = reader.word()?;
    let mut values = Vec::new();
    for index in 0..count {
        let path = Path {
            parent: Some(path),
            index,
        };
        let ty =
            ty(index).ok_or_else(|| Failure::argument("expected at most one value per type"))?;
        values.push(value(ty, reader, &path)?);
    }
    Ok(values)
}

fn write(value: &Value, form: Form, out: &mut Writer) {
    let list = |values: &[Value], out: &mut Writer| {
        for value in values {
            write(value, form, out);
        }
    };
    let fixed = |bytes: &[u8], out: &mut Writer| {
        if form.hex {
            out.hex(bytes);
        } else {
            out.fixed_bytes(bytes);
        }
    };
    match value {
        Value::Bool(value) => out.word(usize::from(*value), 0),
        Value::Uint(value, _) => out.unsigned(value),
        Value::Int(value, _) => out.signed(value),
        Value::Address(address) => out.address(address),
        Value::FixedBytes(word, length) => fixed(&word[..usize::from(*length).min(32)], out),
        Value::Function(bytes) => fixed(bytes, out),
        Value::Bytes(bytes) => {
            out.word(bytes.len(), 0);
            fixed(bytes, out);
        }
        Value::String(text) => out.text(text),
        Value::Array(values) => {
            out.word(values.len(), 0);
            list(values, out);
        }
        Value::FixedArray(values) | Value::Tuple(values) => list(values, out),
    }
}

/// Data → tape of the arguments.
pub fn codec_decode(
    state: &mut State,
    length: usize,
    number: usize,
    lenient: usize,
) -> Result<usize, Failure> {
    let input = state.scratch.input(length)?;
    let (codec, _, form) = state.codecs.get(number)?;
    let mut out = Writer::new();
    for value in &codec.decode_with(input, mode(lenient))? {
        write(value, *form, &mut out);
    }
    state.put_owned(out.finish())
}

/// Signature → number, name, topic, and parameters in JSON.
pub fn event_new(
    state: &mut State,
    length: usize,
    form: usize,
    _: usize,
) -> Result<usize, Failure> {
    let codec = EventCodec::parse(text(state.input(length)?)?)?;
    let signature = codec.signature();
    let mut inputs = String::new();
    for (i, input) in signature.inputs.iter().enumerate() {
        // For types longer than one word, a topic holds only the hash.
        let hashed = input.indexed && !input.ty.is_value();
        let ty = if hashed {
            &Type::FixedBytes(32)
        } else {
            &input.ty
        };
        if i > 0 {
            inputs.push(',');
        }
        // Names are identifiers, so nothing needs escaping.
        inputs.push_str(&format!("[\"{}\",", input.name));
        describe(ty, &mut inputs);
        inputs.push(']');
    }
    let description = format!(
        "[{}],\"{}\",\"{}\"",
        inputs,
        signature.name,
        hex::encode(codec.topic().as_slice()),
    );
    let number = state.events.add((codec, Form { hex: form == 1 }));
    state.put_owned(format!("[{number},{description}]").into_bytes())
}

pub fn event_free(state: &mut State, number: usize, _: usize, _: usize) -> Result<usize, Failure> {
    state.events.free(number)
}

fn log<'a>(reader: &mut Reader<'a>) -> Result<(Vec<B256>, &'a [u8]), Failure> {
    let (count, length) = reader.word()?;
    let mut topics = Vec::new();
    for _ in 0..count {
        let topic = reader.padded(32)?;
        topics.push(B256::from(<[u8; 32]>::try_from(topic).unwrap_or_default()));
    }
    Ok((topics, reader.padded(length)?))
}

/// One log → tape of its parameters.
pub fn event_decode(
    state: &mut State,
    length: usize,
    number: usize,
    lenient: usize,
) -> Result<usize, Failure> {
    let input = state.scratch.input(length)?;
    let (codec, form) = state.events.get(number)?;
    let (topics, data) = log(&mut Reader::new(input))?;
    let mut out = Writer::new();
    for value in &codec.decode_with(&topics, data, mode(lenient))? {
        write(value, *form, &mut out);
    }
    state.put_owned(out.finish())
}

/// Logs → tape: for each log, 1 and its parameters, or 0 if `event_decode` rejects it.
pub fn event_decode_batch(
    state: &mut State,
    length: usize,
    number: usize,
    lenient: usize,
) -> Result<usize, Failure> {
    let input = state.scratch.input(length)?;
    let (codec, form) = state.events.get(number)?;
    let mut reader = Reader::new(input);
    let mut out = Writer::new();
    while !reader.is_empty() {
        let (topics, data) = log(&mut reader)?;
        match codec.decode_with(&topics, data, mode(lenient)) {
            Ok(values) => {
                out.word(1, 0);
                for value in &values {
                    write(value, *form, &mut out);
                }
            }
            Err(_) => out.word(0, 0),
        }
    }
    state.put_owned(out.finish())
}

pub fn selector(state: &mut State, length: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let selector = abi::selector(text(state.input(length)?)?)?;
    state.put(&selector)
}

pub fn event_topic(state: &mut State, length: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let topic = abi::event_topic(text(state.input(length)?)?)?;
    state.put(&topic.0)
}
