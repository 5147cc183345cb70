//! Parts of values: fields, items, and values with a tag.
use alloc::{string::String, vec::Vec};

use super::payload::Payload;
use crate::syrup::{self, Reader};

/// Bytes of a value that are read for one of its parts.
pub(super) const SPACING: usize = 1024;

/// A part of a value.
pub(super) enum Part {
    Field(String),
    Item(u64),
    Tagged(String),
}

/// Where parts of a long value start and end, so that a peer cannot make us read all of it for each of them.
pub(super) enum Marks {
    /// Of a list: the numbers and offsets of items that are at least [`SPACING`] bytes apart, and those of its end. So the
    /// item after one that is longer has a mark. Of a tagged value: its content is item 0.
    Items(Vec<(u32, u32)>),
    /// Of a struct, in the order of the keys.
    Fields(Vec<Field>),
}

/// The offsets of a key, of its value and of the end of that.
pub(super) struct Field {
    key: u32,
    start: u32,
    end: u32,
}

impl Field {
    const fn range(&self) -> (usize, usize) {
        (self.start as usize, self.end as usize)
    }
}

impl Marks {
    pub fn new(value: &Payload) -> Self {
        let mut reader = Reader::new(&value.data);
        // Values were checked when they arrived, so that reading them does not fail.
        if reader.begin(syrup::Kind::Dictionary).is_ok() {
            let mut fields = Vec::new();
            let _: Option<()> = each_field(&mut reader, |field| fields.push(field));
            // Of equal keys, the first is found.
            fields.sort_by_key(|field| key_at(value, field.key));
            fields.shrink_to_fit();
            return Self::Fields(fields);
        }
        let mut items = Vec::new();
        if reader.begin(syrup::Kind::List).is_ok() {
            let _: Option<()> = mark_items(&mut reader, &mut items);
        } else if begin_tagged(&mut reader).is_some()
            && let Some((start, end)) = next(&mut reader)
        {
            items = [(0, start as u32), (1, end as u32)].into();
        }
        items.shrink_to_fit();
        Self::Items(items)
    }

    pub fn size(&self) -> usize {
        match self {
            Self::Items(items) => size_of_val(items.as_slice()),
            Self::Fields(fields) => size_of_val(fields.as_slice()),
        }
    }

    /// The range of an item.
    fn item(&self, value: &Payload, index: u64) -> Option<(usize, usize)> {
        let Self::Items(items) = self else {
            return None;
        };
        let after = items.partition_point(|(item, _)| u64::from(*item) <= index);
        let (item, offset) = items.get(after.checked_sub(1)?)?;
        let (mut item, offset) = (u64::from(*item), *offset as usize);
        let mut reader = Reader::new(value.data.get(offset..)?);
        while item < index {
            // At the end of the list, this fails.
            reader.raw().ok()?;
            item += 1;
        }
        let start = offset + reader.offset();
        match items.get(after) {
            Some((item, end)) if u64::from(*item) == index + 1 => Some((start, *end as usize)),
            _ => {
                reader.raw().ok()?;
                Some((start, offset + reader.offset()))
            }
        }
    }

    /// The range of a field's value.
    fn field(&self, value: &Payload, name: &str) -> Option<(usize, usize)> {
        let Self::Fields(fields) = self else {
            return None;
        };
        let at = fields.partition_point(|field| key_at(value, field.key) < Some(name));
        let field = fields.get(at)?;
        (key_at(value, field.key) == Some(name)).then(|| field.range())
    }
}

fn mark_items(reader: &mut Reader<'_>, marks: &mut Vec<(u32, u32)>) -> Option<()> {
    let mut next = 0;
    for item in 0.. {
        let offset = reader.offset();
        if reader.try_end(syrup::Kind::List) {
            marks.push((item, offset as u32));
            break;
        }
        if offset >= next {
            marks.push((item, offset as u32));
            next = offset + SPACING;
        }
        reader.raw().ok()?;
    }
    Some(())
}

/// Calls `each` with each field whose key is a string.
fn each_field(reader: &mut Reader<'_>, mut each: impl FnMut(Field)) -> Option<()> {
    while !reader.try_end(syrup::Kind::Dictionary) {
        let key = reader.offset() as u32;
        let is_field = reader.kind() == Ok(syrup::Kind::String);
        reader.raw().ok()?;
        let start = reader.offset() as u32;
        reader.raw().ok()?;
        if is_field {
            let end = reader.offset() as u32;
            each(Field { key, start, end });
        }
    }
    Some(())
}

/// Reads up to the content of a tagged value. Returns the tag.
fn begin_tagged<'a>(reader: &mut Reader<'a>) -> Option<&'a str> {
    reader.begin(syrup::Kind::Record).ok()?;
    if reader.symbol() != Ok("desc:tagged") {
        return None;
    }
    // Endo writes a symbol, the model calls for a string.
    reader.symbol().or_else(|_| reader.string()).ok()
}

fn key_at(value: &Payload, offset: u32) -> Option<&str> {
    Reader::new(value.data.get(offset as usize..)?)
        .string()
        .ok()
}

/// The part of a value, which long values have marks for.
pub(super) fn part(
    value: &Payload,
    marks: Option<&Marks>,
    part: &Part,
) -> Result<Payload, &'static str> {
    let mut reader = Reader::new(&value.data);
    let (range, missing) = match part {
        Part::Field(name) => {
            let missing = "not a struct";
            reader.begin(syrup::Kind::Dictionary).map_err(|_| missing)?;
            let range = match marks {
                Some(marks) => marks.field(value, name),
                None => {
                    let mut found = None;
                    let _: Option<()> = each_field(&mut reader, |field| {
                        if found.is_none() && key_at(value, field.key) == Some(name) {
                            found = Some(field.range());
                        }
                    });
                    found
                }
            };
            (range, "no such field")
        }
        Part::Item(index) => {
            let missing = "not a list";
            reader.begin(syrup::Kind::List).map_err(|_| missing)?;
            let range = match marks {
                Some(marks) => marks.item(value, *index),
                None => value.range_after(reader.offset(), *index),
            };
            (range, "index out of range")
        }
        Part::Tagged(tag) => {
            let missing = "not a tagged value";
            if begin_tagged(&mut reader).ok_or(missing)? != tag {
                return Err("another tag");
            }
            let range = match marks {
                Some(marks) => marks.item(value, 0),
                None => next(&mut reader),
            };
            (range, missing)
        }
    };
    range
        .map(|(start, end)| value.part(start, end))
        .ok_or(missing)
}

/// The range of the next value.
fn next(reader: &mut Reader<'_>) -> Option<(usize, usize)> {
    let start = reader.offset();
    reader.raw().ok()?;
    Some((start, reader.offset()))
}
