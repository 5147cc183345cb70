//! Operations: how an item is parsed (untimed) and what one timed call does.

use std::hint::black_box;

use crate::output::{Held, Output, Sum};
use crate::reader::Reader;

/// One operation of a contender; made by [`op`], [`array`], [`reuse`], [`array_reuse`], [`precompile`] or [`negative`].
pub struct Op {
    /// Space-separated ids.
    names: &'static str,
    prepare: Box<Prepare>,
}

/// Parses the items of an operation.
type Prepare = dyn Fn(&[&'static [u8]]) -> Result<Box<dyn Case>, String>;

impl Op {
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split(' ')
    }

    pub(crate) fn prepare(&self, items: &[&'static [u8]]) -> Result<Box<dyn Case>, String> {
        (self.prepare)(items)
    }
}

/// An operation with its parsed items. Dynamic dispatch happens once for each batch: the loop inside is compiled for
/// the operation.
pub(crate) trait Case {
    /// Number of items.
    fn items(&self) -> usize;
    /// Performs `n` calls, call k on item k mod items, and returns the sum of the output words.
    fn run(&mut self, n: u64) -> u64;
    /// The output of each item; `Err` names the first item that was rejected.
    fn outputs(&mut self) -> Result<Vec<Vec<u8>>, usize>;
}

/// A call that returns its result by value (`fresh` rows). `names` are the ids it answers to, separated by spaces;
/// `parse` reads one item and is not timed.
pub fn op<T: 'static, O: Output + 'static>(
    names: &'static str,
    parse: impl Fn(&mut Reader) -> Option<T> + 'static,
    call: impl Fn(&T) -> O + Copy + 'static,
) -> Op {
    build(
        names,
        false,
        parse,
        || (),
        move |item: &T, _: &mut ()| call(item),
    )
}

/// As [`op`], for array operations: an item holds several elements one after another, `parse` reads one of them, and
/// a call runs `call` on each.
pub fn array<T: 'static, O: Output + 'static>(
    names: &'static str,
    parse: impl Fn(&mut Reader) -> Option<T> + 'static,
    call: impl Fn(&T) -> O + Copy + 'static,
) -> Op {
    build(
        names,
        true,
        parse,
        || (),
        move |item: &T, _: &mut ()| call(item),
    )
}

/// A call that writes into a reused buffer (`_into` rows, batches): `buffer` makes it once, its content after the call
/// is the output. `call` returns `()` or a `Result<(), _>`.
pub fn reuse<T: 'static, S: Output + 'static, R: Output + 'static>(
    names: &'static str,
    parse: impl Fn(&mut Reader) -> Option<T> + 'static,
    buffer: impl Fn() -> S + 'static,
    call: impl Fn(&T, &mut S) -> R + Copy + 'static,
) -> Op {
    build(names, false, parse, buffer, call)
}

/// [`reuse`] for array operations.
pub fn array_reuse<T: 'static, S: Output + 'static, R: Output + 'static>(
    names: &'static str,
    parse: impl Fn(&mut Reader) -> Option<T> + 'static,
    buffer: impl Fn() -> S + 'static,
    call: impl Fn(&T, &mut S) -> R + Copy + 'static,
) -> Op {
    build(names, true, parse, buffer, call)
}

/// The operations of the precompiles of Osaka, and their addresses.
pub const PRECOMPILES: [(&str, u64); 18] = [
    ("precompile_01", 0x01),
    ("precompile_02", 0x02),
    ("precompile_03", 0x03),
    ("precompile_04", 0x04),
    ("precompile_05", 0x05),
    ("precompile_06", 0x06),
    ("precompile_07", 0x07),
    ("precompile_08", 0x08),
    ("precompile_09", 0x09),
    ("precompile_0a", 0x0a),
    ("precompile_0b", 0x0b),
    ("precompile_0c", 0x0c),
    ("precompile_0d", 0x0d),
    ("precompile_0e", 0x0e),
    ("precompile_0f", 0x0f),
    ("precompile_10", 0x10),
    ("precompile_11", 0x11),
    ("precompile_100", 0x100),
];

/// A call of a precompile (`precompile_*`): `run` answers the output, or nothing where the call fails.
pub fn precompile<B: AsRef<[u8]> + Default + 'static>(
    name: &'static str,
    run: impl Fn(&'static [u8]) -> Option<B> + Copy + 'static,
) -> Op {
    op(
        name,
        |reader| Some(reader.rest()),
        move |input: &&'static [u8]| {
            let output = run(input);
            let status = [u8::from(output.is_some())];
            (status, Held(output.unwrap_or_default()))
        },
    )
}

/// A decoder's negative row, answering to `neg:<name>`: every item is a malformed input, `accepts` tells whether the
/// decoder took it.
pub fn negative(
    name: &'static str,
    accepts: impl Fn(&'static [u8]) -> bool + Copy + 'static,
) -> Op {
    let names = format!("neg:{name}").leak();
    build(
        names,
        false,
        |reader| Some(reader.rest()),
        || (),
        move |item: &&'static [u8], _: &mut ()| [u8::from(!accepts(item))],
    )
}

fn build<T: 'static, S: Output + 'static, R: Output + 'static>(
    names: &'static str,
    many: bool,
    parse: impl Fn(&mut Reader) -> Option<T> + 'static,
    buffer: impl Fn() -> S + 'static,
    call: impl Fn(&T, &mut S) -> R + Copy + 'static,
) -> Op {
    let prepare = move |items: &[&'static [u8]]| {
        let mut elements = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let mut reader = Reader::new(item);
            let before = elements.len();
            loop {
                elements.push(
                    parse(&mut reader).ok_or_else(|| format!("item {index} does not parse"))?,
                );
                if reader.is_empty() || !many {
                    break;
                }
            }
            if !reader.is_empty() {
                return Err(format!("item {index} has bytes left over"));
            }
            if (elements.len() - before) * (index + 1) != elements.len() {
                return Err(format!(
                    "item {index} has another number of elements than the first"
                ));
            }
        }
        if items.is_empty() {
            return Err("no items".to_owned());
        }
        let per_call = elements.len() / items.len();
        Ok(Box::new(Prepared {
            elements,
            per_call,
            buffer: buffer(),
            call,
        }) as Box<dyn Case>)
    };
    Op {
        names,
        prepare: Box::new(prepare),
    }
}

struct Prepared<T, S, C> {
    /// All elements of all items.
    elements: Vec<T>,
    /// Elements of one item, the same for all.
    per_call: usize,
    buffer: S,
    call: C,
}

impl<T, S, R, C> Case for Prepared<T, S, C>
where
    S: Output,
    R: Output,
    C: Fn(&T, &mut S) -> R,
{
    fn items(&self) -> usize {
        self.elements.len() / self.per_call
    }

    fn run(&mut self, n: u64) -> u64 {
        let mut sum = Sum::default();
        let mut next = 0;
        for _ in 0..n {
            let end = next + self.per_call;
            for element in black_box(&self.elements[next..end]) {
                let result = (self.call)(element, &mut self.buffer);
                result.add(&mut sum);
                // The buffer is memory that others read: what was written must be there. Without a buffer no barrier
                // is laid, so that array operations may be vectorised.
                if size_of::<S>() != 0 {
                    black_box(&mut self.buffer).add(&mut sum);
                }
            }
            next = if end == self.elements.len() { 0 } else { end };
        }
        sum.total()
    }

    fn outputs(&mut self) -> Result<Vec<Vec<u8>>, usize> {
        let mut outputs = Vec::with_capacity(self.items());
        for (index, item) in self.elements.chunks(self.per_call).enumerate() {
            let mut output = Vec::new();
            for element in item {
                let accepted = (self.call)(element, &mut self.buffer).write(&mut output);
                if !accepted || !self.buffer.write(&mut output) {
                    return Err(index);
                }
            }
            outputs.push(output);
        }
        Ok(outputs)
    }
}
