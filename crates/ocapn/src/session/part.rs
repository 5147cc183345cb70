//! Parts of values: fields, items, and values with a tag.
use alloc::{string::String, vec::Vec};

use super::payload::{PLACEHOLDER, Payload};
use crate::syrup::{self, Reader};

/// Bytes of a value that are read for one of its parts.
pub(super) const SPACING: usize = 1024;

/// A part of a value.
pub(super) enum Part {
    Field(String),
    Item(u64),
    Tagged(String),
}

/// Where parts of a long value are, so that a peer cannot make us read all of it for each of them. For a list: numbers
/// and offsets of items that are [`SPACING`] bytes apart. For a struct: the offsets of each key and its value, in the order
/// of the keys.
pub(super) struct Marks(Vec<(u32, u32)>);

impl Marks {
    pub fn new(value: &Payload) -> Self {
        let mut marks = Vec::new();
        let mut reader = Reader::new(&value.data);
        // Values were checked when they arrived, so that reading them does not fail.
        if reader.begin(syrup::Kind::List).is_ok() {
            let _: Option<()> = mark_items(&mut reader, &mut marks);
        } else if reader.begin(syrup::Kind::Dictionary).is_ok() {
            let _: Option<()> = each_field(&mut reader, |key, at| marks.push((key, at)));
            // Of equal keys, the first is found.
            marks.sort_by_key(|(key, _)| key_at(value, *key));
        }
        marks.shrink_to_fit();
        Self(marks)
    }

    pub fn size(&self) -> usize {
        self.0.len() * size_of::<(u32, u32)>()
    }

    /// The item before `index`, or it itself, and its offset.
    fn before(&self, index: u64) -> Option<(u64, usize)> {
        let after = self
            .0
            .partition_point(|(item, _)| u64::from(*item) <= index);
        let (item, offset) = self.0.get(after.checked_sub(1)?)?;
        Some(((*item).into(), *offset as usize))
    }

    /// The offset of a field's value.
    fn field(&self, value: &Payload, field: &str) -> Option<usize> {
        let before = |(key, _): &(u32, u32)| key_at(value, *key) < Some(field);
        let (key, offset) = self.0.get(self.0.partition_point(before))?;
        (key_at(value, *key) == Some(field)).then_some(*offset as usize)
    }
}

fn mark_items(reader: &mut Reader<'_>, marks: &mut Vec<(u32, u32)>) -> Option<()> {
    let mut next = 0;
    for item in 0.. {
        if reader.try_end(syrup::Kind::List) {
            break;
        }
        if reader.offset() >= next {
            marks.push((item, reader.offset() as u32));
            next = reader.offset() + SPACING;
        }
        reader.raw().ok()?;
    }
    Some(())
}

/// Calls `each` with the offsets of each key that is a string and its value.
fn each_field(reader: &mut Reader<'_>, mut each: impl FnMut(u32, u32)) -> Option<()> {
    while !reader.try_end(syrup::Kind::Dictionary) {
        let key = reader.offset() as u32;
        let is_field = reader.kind() == Ok(syrup::Kind::String);
        reader.raw().ok()?;
        if is_field {
            each(key, reader.offset() as u32);
        }
        reader.raw().ok()?;
    }
    Some(())
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
        Part::Field(field) => {
            let missing = "not a struct";
            reader.begin(syrup::Kind::Dictionary).map_err(|_| missing)?;
            let start = match marks {
                Some(marks) => marks.field(value, field),
                None => {
                    let mut found = None;
                    let _: Option<()> = each_field(&mut reader, |key, at| {
                        if found.is_none() && key_at(value, key) == Some(field) {
                            found = Some(at as usize);
                        }
                    });
                    found
                }
            };
            let range = start.and_then(|start| value.range_after(start, 0));
            (range, "no such field")
        }
        Part::Item(index) => {
            let missing = "not a list";
            reader.begin(syrup::Kind::List).map_err(|_| missing)?;
            let (item, offset) = marks
                .and_then(|marks| marks.before(*index))
                .unwrap_or((0, reader.offset()));
            (
                value.range_after(offset, index - item),
                "index out of range",
            )
        }
        Part::Tagged(tag) => {
            let missing = "not a tagged value";
            reader.begin(syrup::Kind::Record).map_err(|_| missing)?;
            match reader.symbol() {
                Ok("desc:tagged") => {}
                Ok(PLACEHOLDER) | Ok(_) | Err(_) => return Err(missing),
            }
            // Endo writes a symbol, the model calls for a string.
            let found = reader.symbol().or_else(|_| reader.string());
            if found != Ok(tag) {
                return Err("another tag");
            }
            (next(&mut reader), missing)
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
