//! Parts of values: `op:get`, `op:index` and `op:untag`.
use super::node::{Kind, Listener, Part};
use super::payload::{PLACEHOLDER, Payload};
use super::slab::Id;
use super::vat::Vat;
use crate::syrup::{self, Reader};

impl Vat {
    /// A promise for a part of what the promise `id` is fulfilled with. Asks the peer for it if the promise is remote,
    /// so that messages can follow at once.
    pub(super) fn part(&mut self, id: Id, part: Part) -> Id {
        let remote = match self.nodes.get(id).map(|node| &node.kind) {
            Some(Kind::Remote {
                remote,
                promise: Some(_),
            }) => Some(*remote),
            _ => None,
        };
        if let Some(remote) = remote
            && let Some(question) = self.send_part(id, remote, &part)
        {
            return question;
        }
        let into = self.new_promise();
        self.retain(into);
        self.subscribe(
            id,
            Listener::Part {
                of: part.into(),
                into,
            },
        );
        into
    }
}

/// The part of a value.
pub(super) fn part(value: &Payload, part: &Part) -> Result<Payload, &'static str> {
    let mut reader = Reader::new(&value.data);
    let (range, missing) = match part {
        Part::Field(field) => {
            let missing = "not a struct";
            reader.begin(syrup::Kind::Dictionary).map_err(|_| missing)?;
            (find_field(&mut reader, field), "no such field")
        }
        Part::Item(index) => {
            let missing = "not a list";
            reader.begin(syrup::Kind::List).map_err(|_| missing)?;
            (find_item(&mut reader, *index), "index out of range")
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

fn find_field(reader: &mut Reader<'_>, field: &str) -> Option<(usize, usize)> {
    while !reader.try_end(syrup::Kind::Dictionary) {
        let is_it = {
            let mut key = *reader;
            key.string() == Ok(field)
        };
        reader.raw().ok()?;
        let range = next(reader)?;
        if is_it {
            return Some(range);
        }
    }
    None
}

fn find_item(reader: &mut Reader<'_>, index: u64) -> Option<(usize, usize)> {
    for _ in 0..index {
        if reader.try_end(syrup::Kind::List) {
            return None;
        }
        next(reader)?;
    }
    if reader.try_end(syrup::Kind::List) {
        return None;
    }
    next(reader)
}
