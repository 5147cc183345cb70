//! The interface between messages and their encoding. Syrup is one encoding; others are being discussed.
use alloc::vec::Vec;

use crate::syrup::{
    self, Buffer, ENDO, Encode, Error, ErrorKind, Kind, Limits, Reader, STRICT, Symbol,
};

/// An encoding of values: how to read and write the values that messages consist of.
pub trait Codec {
    /// Reads values from bytes.
    type Reader<'a>: Read<'a>;
    /// Appends values to a buffer.
    type Writer<'b, B: Buffer + 'b>: Write;
    /// The state of scanning a value that is still being received.
    type Scan: Scan;

    /// Creates a reader at the start of `input`.
    fn reader(input: &[u8]) -> Self::Reader<'_>;

    /// Creates a writer that appends to `out`.
    fn writer<'b, B: Buffer + 'b>(out: &'b mut B) -> Self::Writer<'b, B>;
}

/// Reads values one by one. Accepts only canonical encodings.
pub trait Read<'a>: Copy {
    /// Offset of the next value in the input.
    fn offset(&self) -> usize;
    /// Fails unless all input has been read.
    fn finish(&self) -> Result<(), Error>;
    /// The type of the next value.
    fn kind(&self) -> Result<Kind, Error>;
    /// Enters a record and reads its label, a symbol.
    fn begin_record(&mut self) -> Result<&'a str, Error>;
    /// Enters a record if it has this label.
    fn try_begin_record(&mut self, label: &'static str) -> bool {
        try_begin_record(self, label)
    }
    /// Leaves a record.
    fn end_record(&mut self) -> Result<(), Error>;
    /// Enters a list.
    fn begin_list(&mut self) -> Result<(), Error>;
    /// Leaves a list, if it has no more items.
    fn try_end_list(&mut self) -> bool;
    /// Leaves a list.
    fn end_list(&mut self) -> Result<(), Error>;
    /// Reads a boolean.
    fn boolean(&mut self) -> Result<bool, Error>;
    /// Reads `f`, if it comes next.
    fn try_false(&mut self) -> bool {
        let mut after = *self;
        let found = after.boolean() == Ok(false);
        if found {
            *self = after;
        }
        found
    }
    /// Reads a non-negative integer that fits in a `u64`.
    fn integer(&mut self) -> Result<u64, Error>;
    /// Reads a string.
    fn string(&mut self) -> Result<&'a str, Error>;
    /// Reads a symbol.
    fn symbol(&mut self) -> Result<&'a str, Error>;
    /// Reads a byte array.
    fn bytes(&mut self) -> Result<&'a [u8], Error>;
    /// Reads a struct whose values are strings, in the order of the encoding.
    fn strings(&mut self) -> Result<Vec<(&'a str, &'a str)>, Error>;
    /// Reads a value of any type. Validates it and returns its encoding.
    fn raw(&mut self) -> Result<&'a [u8], Error>;
}

/// Appends values one by one.
pub trait Write {
    /// Opens a record with a symbol as its label.
    fn begin_record(&mut self, label: &'static str);
    /// Closes a record.
    fn end_record(&mut self);
    /// Opens a list.
    fn begin_list(&mut self);
    /// Closes a list.
    fn end_list(&mut self);
    /// Appends a boolean.
    fn boolean(&mut self, value: bool);
    /// Appends an integer.
    fn integer(&mut self, value: u64);
    /// Appends a string.
    fn string(&mut self, text: &str);
    /// Appends a symbol.
    fn symbol(&mut self, text: &str);
    /// Appends a byte array.
    fn bytes(&mut self, bytes: &[u8]);
    /// Appends a struct whose values are strings. Entries may be in any order; duplicate keys are an error.
    fn strings(&mut self, entries: &[(&str, &str)]) -> Result<(), Error>;
    /// Appends a value that is already encoded.
    fn raw(&mut self, encoded: &[u8]);
}

/// Finds the end of the first value of a stream without frames.
pub trait Scan: Default {
    /// Returns the end of the value at the start of `input`, or `None` if it is incomplete. Called again with a longer
    /// input until the end is found, and should not rescan earlier bytes.
    fn end(&mut self, input: &[u8]) -> Result<Option<usize>, Error>;
    /// The least length of a value of which `input` is the start, after [`end`](Self::end) did not find its end.
    fn least_length(&self, input: &[u8]) -> usize {
        input.len() + 1
    }
}

/// [`syrup`] as the encoding of messages.
#[derive(Clone, Copy, Debug)]
pub struct Syrup;

/// Syrup with the keys of structs sorted by their text, as written and read by Endo (1.1.1, August 2026): see
/// [`syrup::encode_for_endo`]. It differs from [`Syrup`] only if keys have different lengths.
#[derive(Clone, Copy, Debug)]
pub struct EndoSyrup;

macro_rules! codecs {
    ($($codec:ty: $mode:ident, $reader:path;)*) => {$(
        impl Codec for $codec {
            type Reader<'a> = Reader<'a>;
            type Writer<'b, B: Buffer + 'b> = SyrupWriter<'b, B, $mode>;
            type Scan = SyrupScan<$mode>;

            #[inline(always)]
            fn reader(input: &[u8]) -> Reader<'_> {
                $reader(input)
            }

            #[inline(always)]
            fn writer<'b, B: Buffer + 'b>(out: &'b mut B) -> Self::Writer<'b, B> {
                SyrupWriter(out)
            }
        }
    )*};
}
codecs! {
    Syrup: STRICT, Reader::new;
    EndoSyrup: ENDO, Reader::for_endo;
}

/// Enters a record with this label.
pub(super) fn label<'a, R: Read<'a>>(reader: &mut R, label: &str) -> Result<(), super::Error> {
    let offset = reader.offset();
    if reader.begin_record()? == label {
        Ok(())
    } else {
        Err(super::ErrorKind::UnknownLabel.at(offset))
    }
}

fn try_begin_record<'a, R: Read<'a>>(reader: &mut R, label: &str) -> bool {
    let mut inside = *reader;
    let found = inside.begin_record() == Ok(label);
    if found {
        *reader = inside;
    }
    found
}

/// Length of the longest opening of a record.
const OPENER: usize = 32;

/// The bytes that open a record with this label, and their number: a constant, for a label that is one. `None` if they
/// are too many.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn opener(label: &str) -> Option<([u8; OPENER], usize)> {
    let mut opener = [0; OPENER];
    let (tens, ones) = (label.len() / 10, (label.len() % 10) as u8);
    let start = match tens {
        0 => {
            opener[..3].copy_from_slice(&[b'<', b'0' + ones, b'\'']);
            3
        }
        _ => {
            opener[..4].copy_from_slice(&[b'<', b'0' + tens as u8, b'0' + ones, b'\'']);
            4
        }
    };
    let end = start + label.len();
    opener
        .get_mut(start..end)?
        .copy_from_slice(label.as_bytes());
    Some((opener, end))
}

macro_rules! methods {
    ($($method:ident(&mut $self:ident $(, $argument:ident: $type:ty)*) $(-> $result:ty)? $body:block)*) => {$(
        // WebAssembly modules are downloaded: there the compiler weighs the size of the copies.
        #[cfg_attr(not(target_family = "wasm"), inline(always))]
        fn $method(&mut $self $(, $argument: $type)*) $(-> $result)? $body
    )*};
}

impl<'a> Read<'a> for Reader<'a> {
    #[inline(always)]
    fn offset(&self) -> usize {
        self.offset()
    }

    #[inline(always)]
    fn finish(&self) -> Result<(), Error> {
        self.finish()
    }

    #[inline(always)]
    fn kind(&self) -> Result<Kind, Error> {
        self.kind()
    }

    methods! {
        begin_record(&mut self) -> Result<&'a str, Error> {
            self.begin(Kind::Record)?;
            self.symbol()
        }
        try_begin_record(&mut self, label: &'static str) -> bool {
            match opener(label) {
                Some((opener, length)) => self.descend(&opener[..length]),
                None => try_begin_record(self, label),
            }
        }
        try_false(&mut self) -> bool { self.literal(b"f") }
        end_record(&mut self) -> Result<(), Error> { self.end(Kind::Record) }
        begin_list(&mut self) -> Result<(), Error> { self.begin(Kind::List) }
        try_end_list(&mut self) -> bool { self.try_end(Kind::List) }
        end_list(&mut self) -> Result<(), Error> { self.end(Kind::List) }
        boolean(&mut self) -> Result<bool, Error> { self.bool() }
        integer(&mut self) -> Result<u64, Error> { self.u64() }
        string(&mut self) -> Result<&'a str, Error> { self.string() }
        symbol(&mut self) -> Result<&'a str, Error> { self.symbol() }
        bytes(&mut self) -> Result<&'a [u8], Error> { self.bytes() }
        raw(&mut self) -> Result<&'a [u8], Error> { Ok(self.raw()?.as_bytes()) }
        strings(&mut self) -> Result<Vec<(&'a str, &'a str)>, Error> {
            let (mut entries, mut keys) = (Vec::new(), syrup::Keys::new());
            self.begin(Kind::Dictionary)?;
            while !self.try_end(Kind::Dictionary) {
                entries.push((keys.next(self)?, self.string()?));
            }
            Ok(entries)
        }
    }
}

/// Appends Syrup, with keys in the order of this mode.
#[derive(Debug)]
pub struct SyrupWriter<'b, B, const MODE: u8>(&'b mut B);

impl<B: Buffer, const MODE: u8> SyrupWriter<'_, B, MODE> {
    /// Appends a value of a type whose encoding cannot fail.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn put<T: Encode + ?Sized>(&mut self, value: &T) {
        let _: Result<(), Error> = value.encode(self.0);
    }
}

impl<B: Buffer, const MODE: u8> Write for SyrupWriter<'_, B, MODE> {
    methods! {
        begin_record(&mut self, label: &'static str) {
            match opener(label) {
                Some((opener, length)) => self.0.put(&opener, length),
                None => {
                    self.0.put(b"<", 1);
                    self.symbol(label);
                }
            }
        }
        end_record(&mut self) { self.0.put(b">", 1); }
        begin_list(&mut self) { self.0.put(b"[", 1); }
        end_list(&mut self) { self.0.put(b"]", 1); }
        boolean(&mut self, value: bool) { self.put(&value); }
        integer(&mut self, value: u64) { self.put(&value); }
        string(&mut self, text: &str) { self.put(text); }
        symbol(&mut self, text: &str) { self.put(&Symbol(text)); }
        bytes(&mut self, bytes: &[u8]) { self.put(bytes); }
        raw(&mut self, encoded: &[u8]) { self.0.put_slice(encoded); }
        strings(&mut self, entries: &[(&str, &str)]) -> Result<(), Error> {
            let mut keys = Vec::with_capacity(entries.len());
            for (index, (key, _)) in entries.iter().enumerate() {
                keys.push((syrup::encode(*key)?, index));
            }
            if syrup::sort_keys(&mut keys).is_some() {
                return Err(ErrorKind::Duplicate.at(0));
            }
            if MODE == ENDO {
                keys.sort_unstable_by(|(_, a), (_, b)| syrup::text_order(entries[*a].0, entries[*b].0));
            }
            self.0.put(b"{", 1);
            for (key, index) in keys {
                self.0.put_slice(&key);
                self.put(entries[index].1);
            }
            self.0.put(b"}", 1);
            Ok(())
        }
    }
}

/// The state of scanning a Syrup value that is still incomplete.
#[derive(Clone)]
pub struct SyrupScan<const MODE: u8> {
    stack: syrup::Stack,
    progress: syrup::Progress,
}

impl<const MODE: u8> Default for SyrupScan<MODE> {
    fn default() -> Self {
        Self {
            stack: syrup::Stack::new(),
            progress: syrup::Progress::START,
        }
    }
}

impl<const MODE: u8> Scan for SyrupScan<MODE> {
    fn end(&mut self, input: &[u8]) -> Result<Option<usize>, Error> {
        syrup::resume::<MODE>(input, Limits::DEFAULT, &mut self.stack, &mut self.progress)
    }

    fn least_length(&self, input: &[u8]) -> usize {
        syrup::least_length(input, &self.progress)
    }
}
