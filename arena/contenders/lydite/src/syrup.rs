//! The `syrup` family.

use std::hint::black_box;

use arena_kit::{Op, Output, Reader, Sum, array, negative, op, set_digits};
use lydite::ocapn::captp::{self, Dialect, Frames, Framing, Import, Operation, Syrup, Target};
use lydite::ocapn::syrup::{
    self, Decode, Document, Encode, Error, Limits, NodeRef, Symbol, Tape, Value,
};

use crate::Filled;

#[derive(Encode, Decode)]
#[syrup(crate = lydite::ocapn)]
struct Arguments {
    n: i64,
    seed: i64,
}

#[derive(Encode, Decode)]
#[syrup(crate = lydite::ocapn)]
struct Server<'a> {
    host: &'a str,
    port: i64,
    enabled: bool,
}

#[derive(Encode, Decode)]
#[syrup(crate = lydite::ocapn)]
struct OwnedServer {
    host: String,
    port: i64,
    enabled: bool,
}

#[derive(Encode, Decode)]
#[syrup(crate = lydite::ocapn, record = "skill:invoke", string_label)]
struct Skill<'a> {
    agent: Symbol<&'a str>,
    tool: Symbol<&'a str>,
    arguments: Arguments,
    last: i64,
}

#[derive(Encode, Decode)]
#[syrup(crate = lydite::ocapn, record = "desc:export")]
struct Export {
    position: u64,
}

/// The report's op:deliver, which is not a valid one; its numbers keep their memory between messages.
#[derive(Default)]
struct ReportDeliver {
    to: u64,
    method: &'static str,
    numbers: Vec<i64>,
}

impl ReportDeliver {
    #[inline(always)]
    fn decode(&mut self, message: &'static [u8]) -> Result<(), Error> {
        let mut reader = syrup::Reader::new(message);
        reader.begin(syrup::Kind::Record)?;
        let offset = reader.offset();
        if !reader.literal(b"10'op:deliver") {
            let kind = syrup::ErrorKind::WrongLabel;
            return Err(Error { kind, offset });
        }
        self.to = reader.read::<Export>()?.position;
        self.method = reader.symbol()?;
        self.numbers.clear();
        reader.begin(syrup::Kind::List)?;
        while !reader.try_end(syrup::Kind::List) {
            self.numbers.push(reader.i64()?);
        }
        reader.end(syrup::Kind::Record)?;
        reader.finish()
    }
}

/// Limits that allow the nesting depth of the catalogue.
const LIMITS: Limits = Limits {
    depth: 1024,
    values: 1 << 24,
};

fn decode(bytes: &[u8]) -> Result<Value, Error> {
    Value::decode_within(bytes, LIMITS)
}

fn tree(reader: &mut Reader) -> Option<Value> {
    decode(reader.bytes()?).ok()
}

/// A decoded tree: the checksum adds its number of direct elements, `verify` gets its encoding.
struct Decoded(Value);

impl Output for Decoded {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        sum.word(match black_box(&self.0) {
            Value::List(values) | Value::Set(values) => values.len() as u64,
            Value::Record(record) => record.fields.len() as u64,
            Value::Dictionary(entries) => entries.len() as u64,
            _ => 1,
        });
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        syrup::encode_append(&self.0, out).is_ok()
    }
}

/// A decoded document, for the same sums and outputs.
struct Owned(Document);

impl Owned {
    #[inline(always)]
    fn decode(bytes: &[u8]) -> Result<Self, Error> {
        Document::decode_within(bytes, LIMITS).map(Self)
    }
}

impl Output for Owned {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        sum.word(head(black_box(&self.0).root()));
    }

    /// Writes the encoding of the decoded tape, not a copy of the input.
    fn write(&self, out: &mut Vec<u8>) -> bool {
        syrup::encode_append(&from_tape(self.0.root()), out).is_ok()
    }
}

/// A tape, with the head of the value decoded to it.
#[derive(Default)]
struct Taped {
    tape: Tape,
    head: u64,
    messages: Vec<&'static [u8]>,
}

impl Taped {
    #[inline(always)]
    fn decode(&mut self, input: &'static [u8]) -> Result<(), Error> {
        let root = black_box(self.tape.decode_within(input, LIMITS)?);
        self.head = head(root);
        self.messages.clear();
        self.messages.push(input);
        Ok(())
    }
}

#[inline(always)]
fn head(node: NodeRef<'_, '_>) -> u64 {
    match node.kind() {
        syrup::Kind::List | syrup::Kind::Set => node.len() as u64,
        syrup::Kind::Record => node.len() as u64 - 1,
        syrup::Kind::Dictionary => node.len() as u64 / 2,
        _ => 1,
    }
}

impl Output for Taped {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        sum.word(self.head);
    }

    /// Writes the encoding of the decoded tape, not a copy of the input.
    fn write(&self, out: &mut Vec<u8>) -> bool {
        let mut tape = Tape::new();
        self.messages.iter().all(|message| {
            let node = tape.decode_within(message, LIMITS);
            node.is_ok_and(|node| syrup::encode_append(&from_tape(node), out).is_ok())
        })
    }
}

fn from_tape(node: NodeRef<'_, '_>) -> Value {
    let mut children = node.children().map(from_tape);
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    match node.kind() {
        syrup::Kind::Boolean => Value::Boolean(node.as_bool() == Some(true)),
        syrup::Kind::Integer => Value::Integer(node.as_integer().unwrap_or(0.into())),
        syrup::Kind::Float64 => Value::Float64(node.as_f64().unwrap_or_default()),
        syrup::Kind::Float32 => Value::Float32(node.as_f32().unwrap_or_default()),
        syrup::Kind::Bytes => Value::bytes(node.as_bytes().unwrap_or_default()),
        syrup::Kind::String => Value::String(text(node.as_str())),
        syrup::Kind::Symbol => Value::Symbol(text(node.as_symbol())),
        syrup::Kind::List => Value::List(children.collect()),
        syrup::Kind::Set => Value::Set(children.collect()),
        syrup::Kind::Record => {
            let label = children.next().unwrap_or(Value::Boolean(false));
            let fields = children.collect();
            Value::Record(syrup::Record { label, fields }.into())
        }
        syrup::Kind::Dictionary => {
            let flat: Vec<Value> = children.collect();
            let (pairs, _) = flat.as_chunks::<2>();
            let entries = pairs
                .iter()
                .map(|[key, value]| (key.clone(), value.clone()));
            Value::Dictionary(entries.collect())
        }
    }
}

/// Sum of one word per atom.
#[inline(always)]
fn walk(tape: &mut Tape, input: &[u8]) -> Result<[u8; 8], Error> {
    let root = tape.decode_within(input, LIMITS)?;
    let mut sum = 0u64;
    for node in root.descendants() {
        sum = sum.wrapping_add(match node.kind() {
            syrup::Kind::Boolean => u64::from(node.as_bool() == Some(true)),
            syrup::Kind::Integer => match node.as_i64() {
                Some(value) => value as u64,
                None => large(node),
            },
            syrup::Kind::Float64 => node.as_f64().map_or(0, f64::to_bits),
            syrup::Kind::Float32 => node.as_f32().map_or(0, |value| u64::from(value.to_bits())),
            syrup::Kind::Bytes => node.as_bytes().map_or(0, |bytes| bytes.len() as u64),
            syrup::Kind::String => node.as_str().map_or(0, |text| text.len() as u64),
            syrup::Kind::Symbol => node.as_symbol().map_or(0, |text| text.len() as u64),
            _ => 0,
        });
    }
    Ok(sum.to_le_bytes())
}

/// An integer modulo 2^64.
#[cold]
fn large(node: NodeRef<'_, '_>) -> u64 {
    let integer = node.as_integer().unwrap_or(0.into());
    let low = integer.magnitude().first().copied().unwrap_or(0);
    if integer.is_negative() {
        low.wrapping_neg()
    } else {
        low
    }
}

/// A separate tape for the rows that return a word.
#[derive(Default)]
struct Walked {
    tape: Tape,
    sum: [u8; 8],
}

impl Output for Walked {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        self.sum.add(sum);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.sum.write(out)
    }
}

/// Several parts, padded separately.
macro_rules! parts {
    ($($type:ty: |$value:ident| $($part:expr),+;)*) => {$(
        impl Output for $type {
            #[inline(always)]
            fn add(&self, sum: &mut Sum) {
                let $value = self;
                $(sum.bytes($part);)+
            }

            fn write(&self, out: &mut Vec<u8>) -> bool {
                let $value = self;
                $(out.extend_from_slice($part);)+
                true
            }
        }
    )*};
}
parts! {
    Skill<'_>: |skill|
        skill.agent.0.as_bytes(),
        skill.tool.0.as_bytes(),
        words([skill.arguments.n, skill.arguments.seed, skill.last]).as_flattened();
    Delivered: |deliver|
        words(deliver.words).as_flattened(),
        deliver.arguments;
}

impl Output for ReportDeliver {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        sum.word(self.to);
        sum.bytes(self.method.as_bytes());
        self.numbers
            .iter()
            .for_each(|number| sum.word(*number as u64));
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(&self.to.to_le_bytes());
        out.extend_from_slice(self.method.as_bytes());
        let numbers = self.numbers.iter();
        numbers.for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
        true
    }
}

#[inline(always)]
fn words<W: Into<i128> + Copy>(words: [W; 3]) -> [[u8; 8]; 3] {
    words.map(|word| (word.into() as u64).to_le_bytes())
}

/// An op:deliver in the output layout of the catalogue.
struct Delivered {
    words: [u64; 3],
    arguments: &'static [u8],
}

fn deliver(bytes: &'static [u8]) -> Result<Option<Delivered>, captp::Error> {
    let message = Operation::decode::<Syrup>(bytes, Dialect::Draft202607)?;
    Ok(match message {
        Operation::Deliver {
            to: Target::Export(to),
            arguments,
            answer,
            resolver: resolver @ (None | Some(Import::Object(_))),
        } => {
            let resolver = resolver.map(|resolver| match resolver {
                Import::Object(position) | Import::Promise(position) => position,
            });
            let words = [to, answer.unwrap_or(u64::MAX), resolver.unwrap_or(u64::MAX)];
            Some(Delivered { words, arguments })
        }
        _ => None,
    })
}

/// The encoding of a struct and the struct decoded from it.
struct RoundTrip {
    buffer: [u8; 256],
    length: usize,
}

impl RoundTrip {
    fn new() -> Self {
        Self {
            buffer: [0; 256],
            length: 0,
        }
    }

    #[inline(always)]
    fn run(&mut self, server: &Server<'_>) -> Result<(), Error> {
        self.length = syrup::encode_into(server, &mut self.buffer)?;
        black_box(&self.buffer);
        Ok(())
    }

    #[inline(always)]
    fn back(&self) -> Result<Server<'_>, Error> {
        syrup::decode(&self.buffer[..self.length])
    }
}

impl Output for RoundTrip {
    /// Decoding is part of the call. The result borrows from the buffer, so the call ends here, still inside the clock.
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        if let Ok(server) = self.back() {
            sum.bytes(black_box(server.host.as_bytes()));
            sum.word(server.port as u64);
            sum.word(u64::from(server.enabled));
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(&self.buffer[..self.length]);
        self.back().is_ok_and(|server| {
            out.extend_from_slice(server.host.as_bytes());
            out.extend_from_slice(&server.port.to_le_bytes());
            out.push(u8::from(server.enabled));
            true
        })
    }
}

impl Output for OwnedServer {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        sum.bytes(black_box(self.host.as_bytes()));
        sum.word(self.port as u64);
        sum.word(u64::from(self.enabled));
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        syrup::encode_append(self, out).is_ok() && {
            out.extend_from_slice(self.host.as_bytes());
            out.extend_from_slice(&self.port.to_le_bytes());
            out.push(u8::from(self.enabled));
            true
        }
    }
}

fn server(reader: &mut Reader) -> Option<Server<'static>> {
    Some(Server {
        host: reader.text()?,
        port: reader.u64()? as i64,
        enabled: reader.take(1)? == [1],
    })
}

/// The unsorted entries of a dictionary.
fn unsorted(reader: &mut Reader) -> Option<Value> {
    let Value::List(flat) = tree(reader)? else {
        return None;
    };
    let (pairs, _) = flat.as_chunks::<2>();
    let entries = pairs
        .iter()
        .map(|[key, value]| (key.clone(), value.clone()));
    Some(Value::Dictionary(entries.collect()))
}

/// A stream decoded to one tape; the frames keep their memory between streams.
struct Stream {
    frames: Frames<Syrup>,
    tape: Tape,
    head: u64,
    /// Kept to write the messages for `verify`.
    pieces: Vec<&'static [u8]>,
}

const MESSAGE_LIMIT: usize = 1 << 20;

impl Stream {
    fn new() -> Self {
        Self {
            frames: Frames::new(Framing::Length, MESSAGE_LIMIT),
            tape: Tape::new(),
            head: 0,
            pieces: Vec::new(),
        }
    }

    #[inline(always)]
    fn run(&mut self, pieces: &[&'static [u8]]) -> Result<(), captp::Error> {
        self.head = 0;
        self.pieces.clear();
        self.pieces.extend_from_slice(pieces);
        for piece in pieces {
            self.frames.feed(piece, |message| {
                let node = black_box(self.tape.decode_within(message, LIMITS)?);
                self.head = self.head.wrapping_add(head(node));
                Ok::<_, captp::Error>(())
            })?;
        }
        Ok(())
    }
}

impl Output for Stream {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        sum.word(self.head);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        let mut frames = Frames::<Syrup>::new(Framing::Length, MESSAGE_LIMIT);
        let mut tape = Tape::new();
        self.pieces.iter().all(|piece| {
            let fed = frames.feed(piece, |message| {
                let node = tape.decode_within(message, LIMITS)?;
                Ok::<_, captp::Error>(syrup::encode_append(&from_tape(node), out)?)
            });
            fed.is_ok()
        })
    }
}

fn encode_into<T: Encode>(value: &T, out: &mut Filled) -> Result<(), Error> {
    out.length = syrup::encode_into(value, &mut out.buffer)?;
    Ok(())
}

/// Applies the rule `digits@5` to a record whose label length has two digits: sets eight characters of the label.
fn set_label(value: &mut Value, word: u32) {
    if let Value::Record(record) = value
        && let Value::String(label) | Value::Symbol(label) = &mut record.label
    {
        set_digits(label, 1, word);
    }
}

/// Applies the rule `le16` to an integer: sets its low 16 bits.
fn set_low_16(value: &mut i64, word: u32) {
    *value = *value >> 16 << 16 | i64::from(word >> 16);
}

pub fn ops() -> Vec<Op> {
    vec![
        array("syrup_encode", tree)
            .change("digits@5", set_label)
            .call(syrup::encode),
        array("syrup_encode_into", tree)
            .change("digits@5", set_label)
            .reuse(Filled::large, encode_into),
        op("syrup_encode_unsorted", unsorted).call(syrup::encode),
        op("syrup_encode_unsorted_into", unsorted).reuse(Filled::large, encode_into),
        array("syrup_decode", Reader::bytes)
            .reuse(Taped::default, |bytes, taped| taped.decode(bytes)),
        negative("syrup_decode", |item| {
            Tape::new().decode_within(item, LIMITS).is_ok()
        }),
        array("syrup_decode_owned", Reader::bytes).call(|bytes| Owned::decode(bytes)),
        negative("syrup_decode_owned", |item| Owned::decode(item).is_ok()),
        array("syrup_walk", Reader::bytes).reuse(Walked::default, |bytes, walked| {
            walked.sum = walk(&mut walked.tape, bytes)?;
            Ok::<_, Error>(())
        }),
        negative("syrup_walk", |item| walk(&mut Tape::new(), item).is_ok()),
        array("syrup_encode_typed_skill", |r| {
            Some(Skill {
                agent: Symbol(r.text()?),
                tool: Symbol(r.text()?),
                arguments: Arguments {
                    n: r.u64()? as i64,
                    seed: r.u64()? as i64,
                },
                last: r.u64()? as i64,
            })
        })
        .change("le16@-16", |skill, word| {
            set_low_16(&mut skill.arguments.seed, word);
        })
        .reuse(Filled::new, encode_into),
        array("syrup_encode_typed_export", |r| {
            Some(Export { position: r.u64()? })
        })
        .change("le16@0", |export, word| {
            export.position = export.position >> 16 << 16 | u64::from(word >> 16);
        })
        .reuse(Filled::new, encode_into),
        array("syrup_decode_typed_skill", Reader::bytes)
            .call(|bytes| syrup::decode::<Skill<'static>>(bytes)),
        negative("syrup_decode_typed_skill", |item| {
            syrup::decode::<Skill<'_>>(item).is_ok()
        }),
        array("syrup_decode_typed_captp", Reader::bytes)
            .reuse(ReportDeliver::default, |bytes, deliver| {
                deliver.decode(bytes)
            }),
        array("syrup_decode_typed_deliver", Reader::bytes)
            .call(|bytes| deliver(bytes).ok().flatten()),
        op("syrup_cid", tree)
            .change("digits@5", set_label)
            .call(syrup::content_id),
        array("syrup_roundtrip_struct", server)
            .change("le16@-9", |server, word| {
                set_low_16(&mut server.port, word);
            })
            .reuse(RoundTrip::new, |server, trip| trip.run(server)),
        array("syrup_roundtrip_struct_owned", |r| {
            let Server {
                host,
                port,
                enabled,
            } = server(r)?;
            let host = host.to_owned();
            Some(OwnedServer {
                host,
                port,
                enabled,
            })
        })
        .change("le16@-9", |server, word| {
            set_low_16(&mut server.port, word);
        })
        .call(|server| {
            let bytes = black_box(syrup::encode(server)?);
            syrup::decode::<OwnedServer>(&bytes)
        }),
        array("syrup_roundtrip_tree", tree).call(|tree| decode(&syrup::encode(tree)?).map(Decoded)),
        array("syrup_decimal", Reader::bytes)
            .call(|text| syrup::decimal(text).map(|(value, _)| value.to_le_bytes())),
        op("syrup_reencode", |r| Some(r.rest())).call(|bytes| syrup::encode(&decode(bytes)?)),
        op("syrup_stream", |r| r.until_empty(Reader::bytes))
            .reuse(Stream::new, |pieces, stream| stream.run(pieces)),
        op("syrup_stream_owned", |r| r.until_empty(Reader::bytes)).call(|pieces| {
            let mut frames = Frames::<Syrup>::new(Framing::Length, MESSAGE_LIMIT);
            let mut messages = Vec::new();
            for piece in pieces {
                frames.feed(piece, |message| {
                    messages.push(Owned::decode(message)?);
                    Ok::<_, captp::Error>(())
                })?;
            }
            Ok::<_, captp::Error>(messages)
        }),
    ]
}
