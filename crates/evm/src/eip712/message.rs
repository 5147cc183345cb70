//! Computes `hashStruct` of JSON objects while reading them, without building a tree.
//!
//! Reading and hashing alternate. Every input to hash (string, byte string, array, struct) becomes a [`Job`], which
//! stores the position of its input and the word that receives its hash. A job is one level above the highest level on
//! which it depends. When an open array or struct has collected [`WINDOW`] bytes of inputs, and at the end, the jobs of
//! each level are hashed in parallel. A long array is absorbed window by window.
//!
//! So memory is bounded by the words of the open structs, plus one window for each of the at most 127 open levels. (A
//! valid document contains every member of every struct that it opens, so these words are bounded by the document's
//! length.)

use alloc::{borrow::Cow, format, vec::Vec};
use core::fmt;

use lydite_bytes::{Address, I256, U256, hex, uint};
use lydite_hash::{Keccak256, keccak256};

use super::error::{Reason, Step, TypedDataError};
use super::hash_independent;
use super::json::{Reader, Result};
use super::schema::{Base, Type, TypedSchema};

/// Minimum length of a member in bytes: `"a":1`.
const LEAST_MEMBER: usize = 5;

/// Bytes of inputs that an array or struct collects before they are hashed. A longer string is hashed when it is read.
const WINDOW: usize = 1 << 14;

/// Bytes of type strings that are collected to be hashed in parallel; the rest are hashed one by one.
const TYPE_WINDOW: usize = 1 << 12;

/// Reads values of a schema's types and hashes them.
pub(super) struct Hasher<'s> {
    schema: &'s TypedSchema,
    /// Inputs made of words: a struct's type hash and members, an array's elements.
    words: Vec<[u8; 32]>,
    /// Inputs made of bytes.
    bytes: Vec<u8>,
    jobs: Vec<Job>,
    /// The structs whose types are hashed here because the schema does not have their hash. Their hashes are the first
    /// words.
    types: Vec<usize>,
    /// The number of leading jobs that hash types, until they have run.
    type_jobs: usize,
    /// Words that will receive a struct's type hash, until the types are hashed: the word and the struct.
    heads: Vec<(u32, u32)>,
    /// For each open struct: which members have been read.
    seen: Vec<bool>,
    /// Number of members of open structs that are still to be read.
    awaited: usize,
    /// Elements of open arrays of structs or arrays.
    elements: Vec<Element>,
}

/// The words that were hashed.
pub(super) struct Hashes {
    pub(super) words: Vec<[u8; 32]>,
    /// The structs whose type hashes are in the words with the same index.
    pub(super) types: Vec<usize>,
}

/// An input to hash.
#[derive(Clone, Copy)]
struct Job {
    level: u32,
    /// Whether `start` and `end` refer to `bytes` or to `words`.
    input: Input,
    start: u32,
    end: u32,
    /// The word that receives the hash.
    target: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    Bytes,
    Words,
}

/// The result of reading a value: a word of `encodeData`, or the job that computes it.
enum Read {
    Word([u8; 32]),
    Job(u32),
}

/// An element of an array: the position of its word, or the job that computes it.
#[derive(Clone, Copy)]
enum Element {
    Word(u32),
    Job(u32),
}

/// The lengths of the collections at a point in time.
#[derive(Clone, Copy)]
struct Mark {
    words: usize,
    bytes: usize,
    jobs: usize,
    elements: usize,
}

impl<'s> Hasher<'s> {
    /// Creates a hasher for objects of these struct types. Types that the schema has not hashed are hashed here.
    pub(super) fn new(schema: &'s TypedSchema, roots: &[usize]) -> Result<Self> {
        let mut hasher = Self {
            schema,
            words: Vec::with_capacity(32),
            bytes: Vec::with_capacity(256),
            jobs: Vec::with_capacity(16),
            types: Vec::new(),
            type_jobs: 0,
            heads: Vec::new(),
            seen: Vec::with_capacity(16),
            awaited: 0,
            elements: Vec::new(),
        };
        if roots
            .iter()
            .any(|&root| schema.struct_type_hash(root).is_none())
        {
            hasher.types.reserve(schema.len() + roots.len());
            hasher.types.extend_from_slice(roots);
            schema.add_dependencies(&mut hasher.types);
            hasher.add_types()?;
        }
        Ok(hasher)
    }

    fn add_types(&mut self) -> Result<()> {
        let schema = self.schema;
        self.words.resize(schema.len(), [0; 32]);
        let mut parts = Vec::with_capacity(schema.len());
        let mut total = 0;
        for i in 0..self.types.len() {
            let index = self.types[i];
            if let Some(hash) = schema.standard_type_hash(index) {
                self.words[index] = hash;
                continue;
            }
            schema.type_parts(index, &mut parts);
            let length: usize = parts.iter().map(|&part| schema.own_type(part).len()).sum();
            total += length;
            if total > TypedSchema::MAX_TYPE_TEXT {
                return Err(
                    TypedDataError::at(schema.struct_name(index), Reason::TypesTooLong)
                        .inside(Step::Key("types")),
                );
            }
            let start = self.bytes.len();
            if start + length > TYPE_WINDOW {
                self.words[index] = schema.hash_parts(&parts);
                continue;
            }
            for &part in &parts {
                self.bytes
                    .extend_from_slice(schema.own_type(part).as_bytes());
            }
            let job = self.job(0, Input::Bytes, start, self.bytes.len());
            self.jobs[job as usize].target = index as u32;
        }
        self.type_jobs = self.jobs.len();
        Ok(())
    }

    /// Reads an object of a struct type. Returns the index of the word that will hold its hash.
    pub(super) fn root(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<usize> {
        if reader.left() > u32::MAX as usize {
            return Err(reader.fail(Reason::TooLong));
        }
        if reader.peek() != Some(b'{') {
            return Err(reader.unexpected(Expected(self.schema, Type::of_struct(index))));
        }
        let read = self.object(index, reader)?;
        self.words.push([0; 32]);
        self.put(read, self.words.len() - 1);
        Ok(self.words.len() - 1)
    }

    /// Runs all remaining jobs.
    pub(super) fn finish(mut self) -> Hashes {
        let jobs = core::mem::take(&mut self.jobs);
        self.run(jobs);
        Hashes {
            words: self.words,
            types: self.types,
        }
    }

    /// Runs the jobs level by level. Types that are not hashed yet are among the jobs of the lowest level.
    fn run(&mut self, mut jobs: Vec<Job>) {
        jobs.sort_by_key(|job| job.level);
        let mut hashes = Vec::new();
        for level in jobs.chunk_by(|a, b| a.level == b.level) {
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
            // Types are on the lowest level; structs are above it.
            for (word, index) in self.heads.drain(..) {
                self.words[word as usize] = self.words[index as usize];
            }
        }
    }

    fn mark(&self) -> Mark {
        Mark {
            words: self.words.len(),
            bytes: self.bytes.len(),
            jobs: self.jobs.len(),
            elements: self.elements.len(),
        }
    }

    /// Whether more than a window has been collected since `mark`.
    #[inline(always)]
    fn is_full(&self, mark: &Mark) -> bool {
        let words = size_of::<[u8; 32]>() * (self.words.len() - mark.words);
        let jobs = size_of::<Job>() * (self.jobs.len() - mark.jobs);
        let elements = size_of::<Element>() * (self.elements.len() - mark.elements);
        words + jobs + elements + (self.bytes.len() - mark.bytes) > WINDOW
    }

    /// Runs the jobs collected since `mark`, all of which must have a target.
    #[cold]
    fn settle(&mut self, mark: &Mark) {
        if self.type_jobs > 0 {
            let types = self.jobs[..self.type_jobs].to_vec();
            self.type_jobs = 0;
            self.run(types);
        }
        let jobs = self.jobs.split_off(mark.jobs);
        self.run(jobs);
    }

    /// Discards what has been collected since `mark`.
    fn truncate(&mut self, mark: &Mark) {
        self.words.truncate(mark.words);
        self.bytes.truncate(mark.bytes);
        self.elements.truncate(mark.elements);
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

    /// Stores the result of a read in a word. Returns the level of the job that uses that word.
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

    /// Hashes a string: a short one together with other jobs, a long one immediately.
    fn string(&mut self, text: &[u8]) -> Read {
        if text.len() > WINDOW {
            return Read::Word(keccak256(text));
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text);
        Read::Job(self.job(0, Input::Bytes, start, self.bytes.len()))
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
            // A missing struct, which ends recursive types.
            (Base::Struct(_), Some(b'n')) => {
                reader.null()?;
                [0; 32]
            }
            (Base::String | Base::Bytes | Base::Address | Base::FixedBytes(_), Some(b'"')) => {
                let text = reader.string()?;
                let word = match ty.base {
                    Base::Address => address_word(&text),
                    Base::FixedBytes(length) => fixed_bytes_word(&text, usize::from(length)),
                    Base::Bytes => {
                        let bytes = prefixed(&text)
                            .and_then(|text| hex::decode(text).map_err(Reason::Hex))
                            .map_err(|reason| reader.fail(reason))?;
                        return Ok(self.string(&bytes));
                    }
                    _ => return Ok(self.string(text.as_bytes())),
                };
                word.map_err(|reason| reader.fail(reason))?
            }
            _ => return Err(reader.unexpected(Expected(self.schema, ty))),
        };
        Ok(Read::Word(word))
    }

    fn array(&mut self, ty: Type, reader: &mut Reader<'_>) -> Result<Read> {
        let (expected, ty) = self.schema.array(ty);
        // Words of other arrays and structs come in between, so the elements are recorded first and placed when all
        // have been read.
        let nested = ty.is_array() || matches!(ty.base, Base::Struct(_));
        let mark = self.mark();
        // The windows hashed so far.
        let mut absorbed: Option<Keccak256> = None;
        let (mut count, mut level) = (0, 0);
        reader.open()?;
        while reader.more(b']', count == 0)? {
            let read = self
                .value(ty, reader)
                .map_err(|error| error.inside(Step::Index(count)))?;
            if nested {
                let element = match read {
                    Read::Word(word) => {
                        self.words.push(word);
                        Element::Word(self.words.len() as u32 - 1)
                    }
                    Read::Job(job) => Element::Job(job),
                };
                self.elements.push(element);
            } else {
                self.words.push([0; 32]);
                level = level.max(self.put(read, self.words.len() - 1));
            }
            count += 1;
            if expected != 0 && count > expected {
                break;
            }
            if self.is_full(&mark) {
                self.absorb(&mark, nested, absorbed.get_or_insert_default());
                level = 0;
            }
        }
        if expected != 0 && count != expected {
            return Err(reader.fail(Reason::ArrayLength {
                expected,
                actual: count,
            }));
        }
        if let Some(mut absorbed) = absorbed {
            self.absorb(&mark, nested, &mut absorbed);
            return Ok(Read::Word(absorbed.finalize()));
        }
        let mut start = mark.words;
        if nested {
            (start, level) = self.place_elements(&mark);
        }
        let job = self.job(level, Input::Words, start, self.words.len());
        Ok(Read::Job(job))
    }

    /// Moves the elements recorded since `mark` into words. Returns the index of the first word, and the level of the
    /// job that uses them.
    fn place_elements(&mut self, mark: &Mark) -> (usize, u32) {
        let (start, mut level) = (self.words.len(), 0);
        for at in mark.elements..self.elements.len() {
            let read = match self.elements[at] {
                Element::Word(word) => Read::Word(self.words[word as usize]),
                Element::Job(job) => Read::Job(job),
            };
            self.words.push([0; 32]);
            level = level.max(self.put(read, self.words.len() - 1));
        }
        self.elements.truncate(mark.elements);
        (start, level)
    }

    /// Hashes the elements read since `mark` into the hash of their array, and discards them.
    fn absorb(&mut self, mark: &Mark, nested: bool, array: &mut Keccak256) {
        let start = if nested {
            self.place_elements(mark).0
        } else {
            mark.words
        };
        self.settle(mark);
        array.update(self.words[start..].as_flattened());
        self.truncate(mark);
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
        let end = start + 1 + count;
        self.words.resize(end, [0; 32]);
        let mut level = 0;
        if let Some(hash) = schema.struct_type_hash(index) {
            self.words[start] = *hash;
        } else if self.type_jobs == 0 {
            self.words[start] = self.words[index];
        } else {
            self.heads.push((start as u32, index as u32));
            level = 1;
        }
        self.seen.resize(seen + count, false);

        let mark = self.mark();
        let mut guess = 0;
        let mut first = true;
        while let Some(key) = reader.key(first)? {
            first = false;
            let Some(position) = schema.find_member(index, &key, guess) else {
                return Err(reader.fail(Reason::Unknown).inside(Step::Key(&key)));
            };
            let (name, ty) = schema.member(index, position);
            if core::mem::replace(&mut self.seen[seen + position], true) {
                return Err(reader.fail(Reason::Duplicate).inside(Step::Key(name)));
            }
            self.awaited -= 1;
            let read = self
                .value(ty, reader)
                .map_err(|error| error.inside(Step::Key(name)))?;
            level = level.max(self.put(read, start + 1 + position));
            guess = position + 1;
            if self.is_full(&mark) {
                self.settle(&mark);
                self.truncate(&mark);
                level = 0;
            }
        }
        if let Some(position) = self.seen[seen..].iter().position(|seen| !seen) {
            let (name, _) = schema.member(index, position);
            return Err(reader.fail(Reason::Missing).inside(Step::Key(name)));
        }
        self.seen.truncate(seen);
        Ok(Read::Job(self.job(level, Input::Words, start, end)))
    }
}

/// Displays the JSON form that a type requires.
struct Expected<'s>(&'s TypedSchema, Type);

impl fmt::Display for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(schema, ty) = self;
        if ty.is_array() {
            return f.write_str("an array");
        }
        match ty.base {
            Base::Bool => f.write_str("bool (true or false)"),
            Base::Address => f.write_str("address (a string of 0x and 40 hexadecimal digits)"),
            Base::FixedBytes(length) => write!(
                f,
                "bytes{length} (a string of 0x and {} hexadecimal digits)",
                2 * length
            ),
            Base::Bytes => f.write_str("bytes (a string of 0x and hexadecimal digits)"),
            Base::String => f.write_str("string"),
            Base::Uint(bits) => write!(f, "uint{bits}"),
            Base::Int(bits) => write!(f, "int{bits}"),
            Base::Struct(index) => write!(f, "{} (an object)", schema.struct_name(index)),
        }
    }
}

/// Reads an integer as its word. It is read as text, because a JSON number may be larger than any machine integer.
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

/// Parses an integer in two's complement.
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

/// Bytes in JSON must have the prefix `0x`: text without it may be meant as text.
fn prefixed(text: &str) -> core::result::Result<&str, Reason> {
    if text.starts_with("0x") {
        Ok(text)
    } else {
        Err(Reason::Prefix)
    }
}

/// The checksum is not checked, because EIP-712 does not require it.
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
