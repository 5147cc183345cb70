//! Arguments and results: encoded data with references.
use alloc::{boxed::Box, string::String, vec, vec::Vec};
use core::{ops::Range, slice};

use super::data::Data;
use super::slab::Id;
use crate::captp::{Codec as _, Syrup, Write as _};
use crate::syrup::{self, Encode, Error, ErrorKind, Kind, Reader, Value};

/// The label of the record that stands for a reference in [`Payload::data`].
pub(super) const PLACEHOLDER: &str = "desc:ref";
const PREFIX: &[u8] = b"<8'desc:ref";
/// Bytes of memory that a list starts with. With less, a few arguments would be moved as they grow.
const SHORT: usize = 64;
/// Capacity for the length prefix of a byte array or a string and for the end of its list. Without it, appending the end
/// could reallocate a long list.
const AROUND: usize = 12;

/// A handle to an object or promise. A copy is the same handle: [`Vat::clone_ref`](super::Vat::clone_ref) makes
/// another one, and each is released by [`Vat::drop_ref`](super::Vat::drop_ref). A stale handle refers to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref(pub(super) Id);

impl Ref {
    /// The number of its slot, to find it in a table: live references to different objects and promises have different
    /// slots, the numbers are dense, and those of freed references are used again.
    pub const fn slot(self) -> usize {
        self.0.index as usize
    }
}

/// A value with references. Arguments are a payload that is a list.
///
/// In the encoded data, `<8'desc:ref n+>` stands for the reference `refs()[n]`; the numbers ascend from 0 in the order
/// of the data. Peers cannot send that record: it ends their session.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    pub(super) data: Data,
    links: Links,
}

/// References, and the offset of the placeholder of each. Most payloads have none or one.
#[derive(Clone, Debug, Default)]
enum Links {
    #[default]
    None,
    One(Ref, u32),
    Many(Box<(Vec<Ref>, Vec<u32>)>),
}

impl Links {
    fn refs(&self) -> &[Ref] {
        match self {
            Self::None => &[],
            Self::One(reference, _) => slice::from_ref(reference),
            Self::Many(links) => &links.0,
        }
    }

    fn at(&self) -> &[u32] {
        match self {
            Self::None => &[],
            Self::One(_, at) => slice::from_ref(at),
            Self::Many(links) => &links.1,
        }
    }

    fn at_mut(&mut self) -> &mut [u32] {
        match self {
            Self::None => &mut [],
            Self::One(_, at) => slice::from_mut(at),
            Self::Many(links) => &mut links.1,
        }
    }

    fn push(&mut self, reference: Ref, at: u32) {
        match self {
            Self::None => *self = Self::One(reference, at),
            Self::One(first, first_at) => {
                let links = (vec![*first, reference], vec![*first_at, at]);
                *self = Self::Many(Box::new(links));
            }
            Self::Many(links) => {
                links.0.push(reference);
                links.1.push(at);
            }
        }
    }

    /// Copies the links of another payload, whose data follow `moved` other bytes, to one without links.
    fn copy_from(&mut self, links: &Self, moved: u32) {
        match (&mut *self, links) {
            (_, Self::None) => {}
            (_, Self::One(reference, at)) => self.push(*reference, at + moved),
            (Self::Many(to), Self::Many(from)) => {
                to.0.extend_from_slice(&from.0);
                to.1.extend(from.1.iter().map(|at| at + moved));
            }
            (_, Self::Many(from)) => {
                let at = from.1.iter().map(|at| at + moved).collect();
                *self = Self::Many(Box::new((from.0.clone(), at)));
            }
        }
    }

    /// Removes all, and keeps the memory.
    fn clear(&mut self) {
        match self {
            Self::None => {}
            Self::One(..) => *self = Self::None,
            Self::Many(links) => {
                links.0.clear();
                links.1.clear();
            }
        }
    }

    /// The number of references that fit into allocated memory.
    fn capacity(&self) -> usize {
        match self {
            Self::Many(links) => links.0.capacity(),
            _ => 0,
        }
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        *self.data == *other.data && self.refs() == other.refs() && self.at() == other.at()
    }
}

impl Eq for Payload {}

impl Payload {
    /// Builds a list.
    ///
    /// ```
    /// use lydite_ocapn::session::Payload;
    ///
    /// let arguments = Payload::list(|list| {
    ///     list.symbol("greet").string("Ann");
    /// });
    /// assert_eq!(arguments.data(), b"[5'greet3\"Ann]");
    /// ```
    pub fn list(build: impl FnOnce(&mut Builder)) -> Self {
        let mut builder = Builder::default();
        builder.list(build);
        builder.finish()
    }

    /// Builds a list in place of the payload, in the same memory: whoever sends many messages need not allocate for
    /// each.
    pub fn rebuild_list(&mut self, build: impl FnOnce(&mut Builder)) {
        let mut builder = Builder::on(core::mem::take(self));
        builder.list(build);
        // Not shared, so that the next message finds it.
        let (data, links) = (Data::Own(builder.data), builder.links);
        *self = Self { data, links };
    }

    /// A single reference.
    pub fn reference(reference: Ref) -> Self {
        let mut builder = Builder::default();
        builder.reference(reference);
        builder.finish()
    }

    /// A value without references.
    ///
    /// # Errors
    ///
    /// The value has no encoding.
    pub fn value<T: Encode + ?Sized>(value: &T) -> Result<Self, Error> {
        let data = syrup::encode(value)?.into();
        Ok(Self::without_references(data))
    }

    /// The reason for which a promise breaks: `<desc:error "message">`.
    pub fn error(message: &str) -> Self {
        let mut builder = Builder::default();
        let mut writer = Syrup::writer(&mut builder.data);
        writer.begin_record("desc:error");
        writer.string(message);
        writer.end_record();
        builder.finish()
    }

    /// A tree in which each record `<desc:ref n>` stands for `refs[n]`, like in [`decode`](Self::decode). The handles
    /// stay with the caller.
    ///
    /// # Errors
    ///
    /// The tree has no encoding or is nested deeper than peers read, a reference is unknown, or a key, a label or a
    /// member of a set is a container.
    pub fn from_tree(tree: &Value, refs: &[Ref]) -> Result<Self, Error> {
        let encoded = syrup::encode(tree)?;
        let (mut builder, mut copied) = (Builder::default(), 0);
        walk(&mut Reader::new(&encoded), &mut |reader| {
            let start = reader.offset();
            let Some(index) = read_placeholder(reader)? else {
                return Ok::<_, Error>(false);
            };
            let index = usize::try_from(index).ok();
            let reference = index.and_then(|index| refs.get(index));
            builder.raw(&encoded[copied..start]);
            builder.reference(*reference.ok_or(ErrorKind::WrongType.at(start))?);
            copied = reader.offset();
            Ok(true)
        })?;
        builder.raw(&encoded[copied..]);
        Ok(builder.finish())
    }

    /// The encoding, with placeholders for references.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The references, in the order of their placeholders.
    pub fn refs(&self) -> &[Ref] {
        self.links.refs()
    }

    /// The memory of the data and of the references.
    pub(super) fn size(&self) -> usize {
        self.data.len() + self.refs().len() * size_of::<(Ref, u32)>()
    }

    fn at(&self) -> &[u32] {
        self.links.at()
    }

    /// The number of references before an offset in the data.
    fn refs_before(&self, offset: usize) -> usize {
        self.at().partition_point(|at| (*at as usize) < offset)
    }

    /// The reference, if the payload is nothing else.
    pub fn as_reference(&self) -> Option<Ref> {
        let &[reference] = self.refs() else {
            return None;
        };
        // Any other value with a reference is longer.
        (self.data.len() == placeholder_length(0)).then_some(reference)
    }

    /// Decodes the data. References are records with the label `desc:ref` and an index into [`refs`](Self::refs).
    ///
    /// # Errors
    ///
    /// The data exceeds the limits of a [`Value`].
    pub fn decode(&self) -> Result<Value, Error> {
        Value::decode(&self.data)
    }

    /// The items of a list, each with its references; `None` if the payload is not a list.
    pub fn items(&self) -> Option<Vec<Self>> {
        self.items_within(usize::MAX)
    }

    /// An item of a list, and the number of the payload's references before it. `None` if the list has fewer items, and
    /// for other values.
    pub fn item(&self, index: usize) -> Option<(Self, usize)> {
        let mut reader = Reader::new(&self.data);
        reader.begin(Kind::List).ok()?;
        let (start, end) = self.range_after(reader.offset(), index as u64)?;
        Some((self.part(start, end), self.refs_before(start)))
    }

    /// The range of a value in a list or struct, which `others` values after an offset precede.
    pub(super) fn range_after(&self, offset: usize, others: u64) -> Option<(usize, usize)> {
        let mut reader = Reader::new(self.data.get(offset..)?);
        for _ in 0..others {
            // At the end of the list, this fails.
            reader.raw().ok()?;
        }
        let start = offset + reader.offset();
        reader.raw().ok()?;
        Some((start, offset + reader.offset()))
    }

    /// The items of a list that has at most so many.
    pub(super) fn items_within(&self, most: usize) -> Option<Vec<Self>> {
        let mut reader = Reader::new(&self.data);
        reader.begin(Kind::List).ok()?;
        let mut items = Vec::new();
        while !reader.try_end(Kind::List) {
            if items.len() == most {
                return None;
            }
            let start = reader.offset();
            let length = reader.raw().ok()?.as_bytes().len();
            items.push(self.part(start, start + length));
        }
        Some(items)
    }

    /// The symbol, if the payload is one.
    pub fn as_symbol(&self) -> Option<&str> {
        Reader::new(&self.data).symbol().ok()
    }

    /// The message of an error made by [`error`](Self::error), or `None` for other data.
    pub fn as_error(&self) -> Option<&str> {
        let mut reader = Reader::new(&self.data);
        reader.begin(Kind::Record).ok()?;
        (reader.symbol().ok()? == "desc:error").then_some(())?;
        reader.string().ok()
    }

    /// Capacity for bytes of data and for references.
    pub(super) fn capacity(&self) -> (usize, usize) {
        (self.data.capacity(), self.links.capacity())
    }

    /// A copy that shares the memory of the data, if that is possible.
    pub(super) fn shared(&self) -> Option<Self> {
        let data = self.data.part(0..self.data.len())?;
        let links = self.links.clone();
        Some(Self { data, links })
    }

    /// Reduces the payload to a range of its data that contains all references.
    pub(super) fn reduce(&mut self, range: Range<usize>) {
        let at = self.links.at_mut().iter_mut();
        at.for_each(|at| *at -= range.start as u32);
        self.data.reduce(range);
    }

    /// The value encoded in this range of the data, with the references in it.
    pub(super) fn part(&self, start: usize, end: usize) -> Self {
        if self.refs_before(start) == self.refs_before(end)
            && let Some(data) = self.data.part(start..end)
        {
            return Self::without_references(data);
        }
        let mut builder = Builder::default();
        builder.append(self, start, end);
        builder.finish()
    }

    pub(super) fn without_references(data: Data) -> Self {
        Self {
            data,
            ..Self::default()
        }
    }
}

fn placeholder_length(index: usize) -> usize {
    let digits = if index == 0 {
        1
    } else {
        index.ilog10() as usize + 1
    };
    PREFIX.len() + digits + 2
}

/// Reads a placeholder; leaves other records.
fn read_placeholder(reader: &mut Reader<'_>) -> Result<Option<u64>, Error> {
    let mut inside = *reader;
    inside.begin(Kind::Record)?;
    if inside.kind()? != Kind::Symbol || inside.symbol()? != PLACEHOLDER {
        return Ok(None);
    }
    let index = inside.u64()?;
    inside.end(Kind::Record)?;
    *reader = inside;
    Ok(Some(index))
}

/// Appends values to a [`Payload`].
#[derive(Debug, Default)]
pub struct Builder {
    pub(super) data: Vec<u8>,
    links: Links,
}

impl Builder {
    /// Builds in the memory of a payload.
    pub(super) fn on(payload: Payload) -> Self {
        let (mut data, mut links) = (payload.data.into_own(), payload.links);
        data.clear();
        links.clear();
        Self { data, links }
    }

    fn list(&mut self, build: impl FnOnce(&mut Self)) {
        self.begin_list();
        build(self);
        self.end_list();
    }

    /// Opens a list.
    pub fn begin_list(&mut self) -> &mut Self {
        if self.data.capacity() == 0 {
            self.data.reserve(SHORT);
        }
        self.data.push(b'[');
        self
    }

    /// Closes a list.
    pub fn end_list(&mut self) -> &mut Self {
        self.data.push(b']');
        self
    }

    /// Appends a symbol.
    pub fn symbol(&mut self, text: &str) -> &mut Self {
        Syrup::writer(&mut self.data).symbol(text);
        self
    }

    /// Appends a string.
    pub fn string(&mut self, text: &str) -> &mut Self {
        self.data.reserve(text.len() + AROUND);
        Syrup::writer(&mut self.data).string(text);
        self
    }

    /// Appends a byte array.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.data.reserve(bytes.len() + AROUND);
        Syrup::writer(&mut self.data).bytes(bytes);
        self
    }

    /// Appends an integer.
    pub fn integer(&mut self, value: u64) -> &mut Self {
        Syrup::writer(&mut self.data).integer(value);
        self
    }

    /// Appends a value without references.
    ///
    /// # Errors
    ///
    /// The value has no encoding. Nothing is appended.
    pub fn value<T: Encode + ?Sized>(&mut self, value: &T) -> Result<&mut Self, Error> {
        let length = self.data.len();
        match syrup::encode_append(value, &mut self.data) {
            Ok(()) => Ok(self),
            Err(error) => {
                self.data.truncate(length);
                Err(error)
            }
        }
    }

    /// Appends a reference.
    pub fn reference(&mut self, reference: Ref) -> &mut Self {
        let (index, at) = (self.links.refs().len(), self.data.len());
        self.data.reserve(placeholder_length(index));
        self.data.extend_from_slice(PREFIX);
        let mut writer = Syrup::writer(&mut self.data);
        writer.integer(index as u64);
        writer.end_record();
        self.links.push(reference, at as u32);
        self
    }

    /// Appends another payload as one value.
    pub fn payload(&mut self, payload: &Payload) -> &mut Self {
        if self.links.refs().is_empty() {
            // The references keep their numbers.
            self.links.copy_from(&payload.links, self.data.len() as u32);
            // Also for the end of a list.
            self.data.reserve(payload.data.len() + 1);
            self.data.extend_from_slice(&payload.data);
        } else {
            self.append(payload, 0, payload.data.len());
        }
        self
    }

    /// The payload so far.
    pub fn finish(self) -> Payload {
        let (data, links) = (self.data.into(), self.links);
        Payload { data, links }
    }

    /// Appends a range of another payload.
    fn append(&mut self, payload: &Payload, start: usize, end: usize) {
        let mut from = start;
        let first = payload.refs_before(start);
        for (index, &at) in payload.at().iter().enumerate().skip(first) {
            let at = at as usize;
            if at >= end {
                break;
            }
            self.raw(&payload.data[from..at]);
            self.reference(payload.refs()[index]);
            from = at + placeholder_length(index);
        }
        self.raw(&payload.data[from..end]);
    }

    /// Appends encoded bytes.
    pub(super) fn raw(&mut self, encoded: &[u8]) {
        self.data.extend_from_slice(encoded);
    }
}

impl Payload {
    /// Writes the payload with `put` in place of each placeholder.
    pub(super) fn write<E>(
        &self,
        out: &mut Vec<u8>,
        mut put: impl FnMut(Ref, &mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut from = 0;
        for (index, &at) in self.at().iter().enumerate() {
            let at = at as usize;
            out.extend_from_slice(&self.data[from..at]);
            put(self.refs()[index], out)?;
            from = at + placeholder_length(index);
        }
        out.extend_from_slice(&self.data[from..]);
        Ok(())
    }
}

impl From<&str> for Payload {
    /// A string.
    fn from(text: &str) -> Self {
        let mut builder = Builder::default();
        builder.string(text);
        builder.finish()
    }
}

impl From<String> for Payload {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

/// Walks a value and calls `record` with each record that may be a reference. That returns whether it has read the
/// record; if not, the walk goes on inside. A reference as a key, a member of a set or a label would have no canonical
/// place, so that these must not be containers.
pub(super) fn walk<'a, E: From<syrup::Error>>(
    reader: &mut Reader<'a>,
    record: &mut impl FnMut(&mut Reader<'a>) -> Result<bool, E>,
) -> Result<(), E> {
    let kind = reader.kind()?;
    match kind {
        syrup::Kind::List | syrup::Kind::Dictionary | syrup::Kind::Set => reader.begin(kind)?,
        syrup::Kind::Record if record(reader)? => return Ok(()),
        syrup::Kind::Record => {
            reader.begin(kind)?;
            read_plain(reader)?;
        }
        _ => {
            reader.raw()?;
            return Ok(());
        }
    }
    while !reader.try_end(kind) {
        match kind {
            syrup::Kind::Set => read_plain(reader)?,
            syrup::Kind::Dictionary => {
                read_plain(reader)?;
                walk(reader, record)?;
            }
            _ => walk(reader, record)?,
        }
    }
    Ok(())
}

/// Reads a value that is not a container.
fn read_plain(reader: &mut Reader<'_>) -> Result<(), syrup::Error> {
    match reader.kind()? {
        syrup::Kind::List | syrup::Kind::Dictionary | syrup::Kind::Set | syrup::Kind::Record => {
            Err(syrup::ErrorKind::WrongType.at(reader.offset()))
        }
        _ => reader.raw().map(|_| ()),
    }
}
