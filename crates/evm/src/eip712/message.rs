//! `hashStruct` of JSON objects, as they are read: no tree is built.
//!
//! Nothing is hashed while reading. What is to be hashed (strings, byte strings, arrays, structs) becomes a [`Job`] that
//! knows where its input lies and into which word its hash goes; a job is one level above the highest it needs. At the
//! end, all jobs of a level are hashed side by side.
//!
//! A document that is valid holds every member of every struct that it opens, so the words are bounded by the document's
//! length. Depth is bounded by the JSON reader (127 levels).

use alloc::{borrow::Cow, format, vec::Vec};
use core::fmt;

use lydite_bytes::{Address, I256, U256, hex, uint};

use super::error::{Reason, Step};
use super::hash_independent;
use super::json::{Reader, Result};
use super::schema::{Base, Type, TypedSchema};

/// Bytes that a member takes at least: `"a":1`.
const LEAST_MEMBER: usize = 5;

/// Reads values of a schema's types and hashes them.
pub(super) struct Hasher<'s> {
    schema: &'s TypedSchema,
    /// The inputs made of words: a struct's type hash and members, an array's elements.
    words: Vec<[u8; 32]>,
    /// The inputs made of bytes.
    bytes: Vec<u8>,
    jobs: Vec<Job>,
    /// Structs' words that are to hold their type's hash, where the types are not hashed yet.
    heads: Vec<(u32, u32)>,
    /// Whether they are.
    types_hashed: bool,
    /// For each struct that is open: which members have been read.
    seen: Vec<bool>,
    /// Members of open structs that are still to come.
    awaited: usize,
    /// Elements of open arrays of structs or arrays: their jobs.
    elements: Vec<Option<u32>>,
}

/// Something to hash.
#[derive(Clone, Copy)]
struct Job {
    level: u32,
    /// In `bytes` or in `words`.
    input: Input,
    start: u32,
    end: u32,
    /// The word that gets the hash.
    target: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    Bytes,
    Words,
}

/// What was read: a word of `encodeData`, or the job that makes it.
enum Read {
    Word([u8; 32]),
    Job(u32),
}

impl<'s> Hasher<'s> {
    /// For a schema whose types are hashed.
    pub(super) fn new(schema: &'s TypedSchema) -> Self {
        Self {
            schema,
            words: Vec::with_capacity(32),
            bytes: Vec::with_capacity(256),
            jobs: Vec::with_capacity(16),
            heads: Vec::new(),
            types_hashed: true,
            seen: Vec::with_capacity(16),
            awaited: 0,
            elements: Vec::new(),
        }
    }

    /// For a schema whose types are not: their hashes are the first words.
    pub(super) fn with_types(schema: &'s TypedSchema) -> Self {
        let mut hasher = Self::new(schema);
        hasher.types_hashed = false;
        hasher.words.resize(schema.len(), [0; 32]);
        for index in 0..schema.len() {
            let start = hasher.bytes.len();
            match schema.push_type(index, &mut hasher.bytes) {
                Some(hash) => hasher.words[index] = hash,
                None => {
                    let job = hasher.job(0, Input::Bytes, start, hasher.bytes.len());
                    hasher.jobs[job as usize].target = index as u32;
                }
            }
        }
        hasher
    }

    /// Reads an object of a struct's type; the index of the word that will be its hash.
    pub(super) fn root(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<usize> {
        if reader.left() > u32::MAX as usize {
            return Err(reader.fail(Reason::TooManyTypes));
        }
        if reader.peek() != Some(b'{') {
            return Err(reader.unexpected(Expected(self.schema, Type::of_struct(index))));
        }
        let read = self.object(index, reader)?;
        self.words.push([0; 32]);
        self.put(read, self.words.len() - 1);
        Ok(self.words.len() - 1)
    }

    /// Hashes all, level by level; the words.
    pub(super) fn finish(mut self) -> Vec<[u8; 32]> {
        self.jobs.sort_by_key(|job| job.level);
        let mut hashes = Vec::new();
        for level in self.jobs.chunk_by(|a, b| a.level == b.level) {
            let inputs: Vec<&[u8]> = level
                .iter()
                .map(|job| {
                    let range = job.start as usize..job.end as usize;
                    match job.input {
                        Input::Bytes => &self.bytes[range],
                        Input::Words => self.words[range].as_flattened(),
                    }
                })
                .collect();
            hashes.resize(inputs.len(), [0; 32]);
            hash_independent(&inputs, &mut hashes);
            for (job, hash) in level.iter().zip(&hashes) {
                self.words[job.target as usize] = *hash;
            }
            // Types are on the lowest level, structs above it.
            for (word, index) in self.heads.drain(..) {
                self.words[word as usize] = self.words[index as usize];
            }
        }
        self.words
    }

    fn job(&mut self, level: u32, input: Input, start: usize, end: usize) -> u32 {
        self.jobs.push(Job {
            level,
            input,
            start: start as u32,
            end: end as u32,
            target: 0,
        });
        self.jobs.len() as u32 - 1
    }

    /// Puts what was read into a word; the level of what needs that word.
    fn put(&mut self, read: Read, at: usize) -> u32 {
        match read {
            Read::Word(word) => {
                self.words[at] = word;
                0
            }
            Read::Job(job) => {
                let job = &mut self.jobs[job as usize];
                job.target = at as u32;
                job.level + 1
            }
        }
    }

    fn value(&mut self, ty: Type, reader: &mut Reader<'_>) -> Result<Read> {
        let first = reader.peek();
        if ty.is_array() {
            return match first {
                Some(b'[') => self.array(ty, reader),
                _ => Err(reader.unexpected(Expected(self.schema, ty))),
            };
        }
        let word = match (ty.base, first) {
            (Base::Uint(bits), _) => integer(reader, bits, false)?,
            (Base::Int(bits), _) => integer(reader, bits, true)?,
            (Base::Bool, Some(b't' | b'f')) => {
                let mut word = [0; 32];
                word[31] = u8::from(reader.boolean()?);
                word
            }
            (Base::Struct(index), Some(b'{')) => return self.object(index, reader),
            // A struct that is not there: recursive types end so.
            (Base::Struct(_), Some(b'n')) => {
                reader.null()?;
                [0; 32]
            }
            (Base::String | Base::Bytes | Base::Address | Base::FixedBytes(_), Some(b'"')) => {
                let text = reader.string()?;
                let start = self.bytes.len();
                let word = match ty.base {
                    Base::Address => address_word(&text),
                    Base::FixedBytes(length) => fixed_bytes_word(&text, usize::from(length)),
                    Base::Bytes => prefixed(&text).and_then(|text| {
                        let bytes = hex::decode(text).map_err(Reason::Hex)?;
                        self.bytes.extend_from_slice(&bytes);
                        Ok([0; 32])
                    }),
                    _ => {
                        self.bytes.extend_from_slice(text.as_bytes());
                        Ok([0; 32])
                    }
                };
                let word = word.map_err(|reason| reader.fail(reason))?;
                if let Base::Bytes | Base::String = ty.base {
                    let job = self.job(0, Input::Bytes, start, self.bytes.len());
                    return Ok(Read::Job(job));
                }
                word
            }
            _ => return Err(reader.unexpected(Expected(self.schema, ty))),
        };
        Ok(Read::Word(word))
    }

    fn array(&mut self, ty: Type, reader: &mut Reader<'_>) -> Result<Read> {
        let (expected, ty) = self.schema.array(ty);
        // Words of other arrays and structs come in between: then the elements are noted, and placed when all are read.
        let nested = ty.is_array() || matches!(ty.base, Base::Struct(_));
        let (mut start, noted) = (self.words.len(), self.elements.len());
        let (mut count, mut level) = (0, 0);
        reader.open()?;
        while reader.more(b']', count == 0)? {
            let read = self
                .value(ty, reader)
                .map_err(|error| error.inside(Step::Index(count)))?;
            if nested {
                self.elements.push(match read {
                    Read::Word(_) => None,
                    Read::Job(job) => Some(job),
                });
            } else {
                self.words.push([0; 32]);
                level = level.max(self.put(read, self.words.len() - 1));
            }
            count += 1;
            if expected != 0 && count > expected {
                break;
            }
        }
        if expected != 0 && count != expected {
            return Err(reader.fail(Reason::ArrayLength {
                expected,
                actual: count,
            }));
        }
        if nested {
            start = self.words.len();
            for at in noted..self.elements.len() {
                self.words.push([0; 32]);
                if let Some(job) = self.elements[at] {
                    level = level.max(self.put(Read::Job(job), self.words.len() - 1));
                }
            }
            self.elements.truncate(noted);
        }
        Ok(Read::Job(self.job(
            level,
            Input::Words,
            start,
            self.words.len(),
        )))
    }

    fn object(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<Read> {
        let schema = self.schema;
        let (start, seen) = (self.words.len(), self.seen.len());
        let count = schema.member_count(index);
        reader.open()?;
        self.awaited += count;
        if self.awaited * LEAST_MEMBER > reader.left() {
            return Err(reader.fail(Reason::TooShort));
        }
        self.words.resize(start + 1 + count, [0; 32]);
        let mut level = 0;
        if self.types_hashed {
            self.words[start] = *schema.struct_type_hash(index);
        } else {
            self.heads.push((start as u32, index as u32));
            level = 1;
        }
        self.seen.resize(seen + count, false);

        let mut guess = 0;
        let mut first = true;
        while let Some(key) = reader.key(first)? {
            first = false;
            let Some(position) = schema.find_member(index, &key, guess) else {
                return Err(reader.fail(Reason::Unknown).inside(Step::Key(&key)));
            };
            let (name, ty) = schema.member(index, position);
            self.awaited -= 1;
            let read = if core::mem::replace(&mut self.seen[seen + position], true) {
                Err(reader.fail(Reason::Duplicate))
            } else {
                self.value(ty, reader)
            };
            let read = read.map_err(|error| error.inside(Step::Key(name)))?;
            level = level.max(self.put(read, start + 1 + position));
            guess = position + 1;
        }
        if let Some(position) = self.seen[seen..].iter().position(|seen| !seen) {
            let (name, _) = schema.member(index, position);
            return Err(reader.fail(Reason::Missing).inside(Step::Key(name)));
        }
        self.seen.truncate(seen);
        let end = start + 1 + count;
        Ok(Read::Job(self.job(level, Input::Words, start, end)))
    }
}

/// What a type asks for.
struct Expected<'s>(&'s TypedSchema, Type);

impl fmt::Display for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(schema, ty) = self;
        if ty.is_array() {
            return f.write_str("an array");
        }
        match ty.base {
            Base::Bool => f.write_str("bool (true or false)"),
            Base::Address => f.write_str("address (a string of 0x and 40 digits)"),
            Base::FixedBytes(length) => write!(
                f,
                "bytes{length} (a string of 0x and {} digits)",
                2 * length
            ),
            Base::Bytes => f.write_str("bytes (a string of 0x and digits)"),
            Base::String => f.write_str("string"),
            Base::Uint(bits) => write!(f, "uint{bits}"),
            Base::Int(bits) => write!(f, "int{bits}"),
            Base::Struct(index) => write!(f, "{} (an object)", schema.struct_name(index)),
        }
    }
}

/// An integer as its word. It is read as text: a JSON number may be larger than any machine number.
fn integer(reader: &mut Reader<'_>, bits: u16, signed: bool) -> Result<[u8; 32]> {
    let text = match reader.peek() {
        Some(b'"') => reader.string()?,
        Some(b'-' | b'0'..=b'9') => Cow::Borrowed(reader.number()?),
        _ => {
            let sign = if signed { "" } else { "u" };
            return Err(reader.fail(Reason::Json(format!(
                "expected {sign}int{bits} (a number, or a string of decimal or 0x hexadecimal digits)"
            ))));
        }
    };
    match parse_integer(&text, bits, signed) {
        Ok(value) => Ok(value.to_be_bytes()),
        Err(uint::Error::Overflow) => Err(reader.fail(Reason::Range { signed, bits })),
        Err(error) => Err(reader.fail(Reason::Integer(error))),
    }
}

/// An integer in two's complement.
fn parse_integer(text: &str, bits: u16, signed: bool) -> core::result::Result<U256, uint::Error> {
    if text.starts_with("-0x") {
        return Err(uint::Error::InvalidDigit {
            offset: 2,
            byte: b'x',
        });
    }
    if signed || text.starts_with('-') {
        let value: I256 = text.parse()?;
        let fits = if signed {
            value.fits(u32::from(bits))
        } else {
            value == I256::default()
        };
        return if fits {
            Ok(value.0)
        } else {
            Err(uint::Error::Overflow)
        };
    }
    let value: U256 = text.parse()?;
    if value.bit_len() <= u32::from(bits) {
        Ok(value)
    } else {
        Err(uint::Error::Overflow)
    }
}

/// Bytes in JSON always carry `0x`: text without it may be meant as text.
fn prefixed(text: &str) -> core::result::Result<&str, Reason> {
    if text.starts_with("0x") {
        Ok(text)
    } else {
        Err(Reason::Prefix)
    }
}

/// The checksum is not looked at, as nothing in EIP-712 asks for it.
fn address_word(text: &str) -> core::result::Result<[u8; 32], Reason> {
    let address = Address::from_hex(prefixed(text)?).map_err(Reason::Address)?;
    Ok(address.into_word().0)
}

fn fixed_bytes_word(text: &str, length: usize) -> core::result::Result<[u8; 32], Reason> {
    let mut word = [0; 32];
    match hex::decode_to_slice(prefixed(text)?, &mut word[..length]) {
        Ok(()) => Ok(word),
        Err(hex::Error::Length { actual, .. }) if actual % 2 == 0 => Err(Reason::BytesLength {
            expected: length,
            actual: actual / 2,
        }),
        Err(error) => Err(Reason::Hex(error)),
    }
}
