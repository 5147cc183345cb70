//! Operations: how an item is parsed (untimed), how its values are changed, and what one timed call does.

use std::hint::black_box;
use std::rc::Rc;

use crate::change::{By, Bytewise, Change, Fixed, Raw, Rule, Words};
use crate::output::{Held, Output, Sum};
use crate::reader::{Bytes, Reader};

/// One operation of a contender, created with [`op`], [`array()`], [`precompile`] or [`negative`].
pub struct Op {
    /// Space-separated ids.
    names: &'static str,
    prepare: Box<Prepare>,
}

/// Parses the items of an operation.
type Prepare = dyn Fn(Vec<&'static [u8]>, Option<Rule>) -> Result<Box<dyn Case>, String>;

impl Op {
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split_whitespace()
    }

    pub(crate) fn prepare(
        &self,
        items: Vec<&'static [u8]>,
        rule: Option<Rule>,
    ) -> Result<Box<dyn Case>, String> {
        (self.prepare)(items, rule)
    }
}

/// An operation with its parsed items. Dynamic dispatch happens once per batch: the loop inside is compiled for the
/// operation.
pub(crate) trait Case {
    /// Number of items.
    fn items(&self) -> usize;
    /// Whether items are changed by the requested rule.
    fn changes(&self) -> bool;
    /// Makes `n` calls, call `k` on item `k mod items`, each after changing the item by the next word of the seed's
    /// sequence. Returns the sum of the output words.
    fn run(&mut self, n: u64, seed: u32) -> u64;
    /// The output of each item as it is in the file; `Err` holds the index of the first rejected item.
    fn outputs(&mut self) -> Result<Vec<Vec<u8>>, usize>;
}

/// An operation whose items can be parsed. The next steps define how they change and what a call does.
pub struct Items<P, C = Fixed> {
    names: &'static str,
    /// Whether an item holds several elements.
    many: bool,
    parse: P,
    change: C,
}

/// An operation on one value per item. `names` are its ids, separated by spaces; `parse` reads one item and is not
/// timed.
pub fn op<T, P: Fn(&mut Reader) -> Option<T> + 'static>(names: &'static str, parse: P) -> Items<P> {
    Items {
        names,
        many: false,
        parse,
        change: Fixed,
    }
}

/// Like [`op`], for array operations: an item holds several consecutive elements, `parse` reads one of them, and a call
/// works on each.
pub fn array<T, P: Fn(&mut Reader) -> Option<T> + 'static>(
    names: &'static str,
    parse: P,
) -> Items<P> {
    Items {
        many: true,
        ..op(names, parse)
    }
}

impl<T: 'static, P: Fn(&mut Reader) -> Option<T> + 'static> Items<P> {
    /// Declares that the values are bytes of the item, so that the kit can change them by any rule.
    pub fn raw(self) -> Items<P, Bytewise>
    where
        T: Raw,
    {
        self.with(Bytewise)
    }

    /// Supports one rule: `change` does to a value what the rule does to its bytes.
    pub fn change<F: Fn(&mut T, u32) + Copy + 'static>(
        self,
        rule: &'static str,
        change: F,
    ) -> Items<P, By<F>> {
        self.with(By { rule, change })
    }

    fn with<C>(self, change: C) -> Items<P, C> {
        Items {
            names: self.names,
            many: self.many,
            parse: self.parse,
            change,
        }
    }
}

impl<T: 'static, P: Fn(&mut Reader) -> Option<T> + 'static, C: Change<T>> Items<P, C> {
    /// Sets a call that returns its result by value (`fresh` rows).
    pub fn call<O: Output + 'static>(self, call: impl Fn(&T) -> O + Copy + 'static) -> Op {
        build(self, || (), ByValue(move |item: &T, _: &mut ()| call(item)))
    }

    /// Sets a call whose result borrows from the value. `call` must be a named function, because a closure's type
    /// cannot express this.
    pub fn view<F: for<'a> View<'a, T> + Copy + 'static>(self, call: F) -> Op {
        build(self, || (), Viewed(call))
    }

    /// Sets a call that writes to a reused buffer (`_into` rows, batches). `buffer` creates it once; its content after
    /// the call is the output. `call` returns `()` or a `Result<(), _>`.
    pub fn reuse<S: Output + 'static, R: Output + 'static>(
        self,
        buffer: impl Fn() -> S + 'static,
        call: impl Fn(&T, &mut S) -> R + Copy + 'static,
    ) -> Op {
        build(self, buffer, ByValue(call))
    }
}

/// A function whose result borrows from its argument.
pub trait View<'a, T: 'a> {
    /// The result.
    type Result: Output;
    /// Calls the function.
    fn view(&self, item: &'a T) -> Self::Result;
}

impl<'a, T: 'a, O: Output, F: Fn(&'a T) -> O> View<'a, T> for F {
    type Result = O;

    #[inline(always)]
    fn view(&self, item: &'a T) -> O {
        self(item)
    }
}

/// One call and the use of its result.
trait Call<T, S>: Copy + 'static {
    /// Makes the call and adds its result to the checksum.
    fn add(&self, item: &T, buffer: &mut S, sum: &mut Sum);
    /// Makes the call and appends its result; returns false if the call was rejected.
    fn write(&self, item: &T, buffer: &mut S, out: &mut Vec<u8>) -> bool;
}

#[derive(Clone, Copy)]
struct ByValue<F>(F);

impl<T, S, R: Output, F: Fn(&T, &mut S) -> R + Copy + 'static> Call<T, S> for ByValue<F> {
    #[inline(always)]
    fn add(&self, item: &T, buffer: &mut S, sum: &mut Sum) {
        (self.0)(item, buffer).add(sum);
    }

    fn write(&self, item: &T, buffer: &mut S, out: &mut Vec<u8>) -> bool {
        (self.0)(item, buffer).write(out)
    }
}

#[derive(Clone, Copy)]
struct Viewed<F>(F);

impl<T, F: for<'a> View<'a, T> + Copy + 'static> Call<T, ()> for Viewed<F> {
    #[inline(always)]
    fn add(&self, item: &T, (): &mut (), sum: &mut Sum) {
        self.0.view(item).add(sum);
    }

    fn write(&self, item: &T, (): &mut (), out: &mut Vec<u8>) -> bool {
        self.0.view(item).write(out)
    }
}

/// The operations of the precompiles of Osaka with their addresses.
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

/// A precompile call (`precompile_*`): `run` returns the output, or `None` if the call fails.
pub fn precompile<B: AsRef<[u8]> + Default + 'static>(
    name: &'static str,
    run: impl Fn(&[u8]) -> Option<B> + Copy + 'static,
) -> Op {
    op(name, Reader::whole).raw().call(move |input: &Bytes| {
        let output = run(input);
        let status = [u8::from(output.is_some())];
        (status, Held(output.unwrap_or_default()))
    })
}

/// Reads the lengths of base, exponent and modulus from the input of `precompile_05`, for libraries that leave this to
/// their caller. Returns `None` if one exceeds 1024 bytes (EIP-7823). Bytes beyond the input's end are zero.
pub fn modexp_lengths(input: &[u8]) -> Option<[usize; 3]> {
    let mut words = [0; 96];
    let count = input.len().min(words.len());
    words[..count].copy_from_slice(&input[..count]);
    let mut lengths = [0; 3];
    for (length, word) in lengths.iter_mut().zip(words.chunks_exact(32)) {
        let (high, low) = word.split_at(24);
        let low = u64::from_be_bytes(low.try_into().ok()?);
        *length = usize::try_from(low).ok().filter(|length| *length <= 1024)?;
        if high.iter().any(|byte| *byte != 0) {
            return None;
        }
    }
    Some(lengths)
}

/// The negative row `neg:<name>` of a decoder. Every item is a malformed input; `accepts` returns whether the decoder
/// accepted it.
pub fn negative(
    name: &'static str,
    accepts: impl Fn(&'static [u8]) -> bool + Copy + 'static,
) -> Op {
    op(format!("neg:{name}").leak(), |reader| Some(reader.rest()))
        .call(move |item: &&'static [u8]| [u8::from(!accepts(item))])
}

fn build<T, P, C, S, K>(items: Items<P, C>, buffer: impl Fn() -> S + 'static, call: K) -> Op
where
    T: 'static,
    P: Fn(&mut Reader) -> Option<T> + 'static,
    C: Change<T>,
    S: Output + 'static,
    K: Call<T, S>,
{
    let Items {
        names,
        many,
        parse,
        change,
    } = items;
    let parse = Rc::new(parse);
    let prepare = move |items: Vec<&'static [u8]>, rule: Option<Rule>| {
        let elements = parsed(&items, many, &*parse)?;
        let per_call = elements.len() / items.len();
        Ok(Box::new(Prepared {
            items,
            many,
            parse: Rc::clone(&parse),
            elements,
            per_call,
            rule: rule.filter(|rule| change.follows(*rule)),
            changes: rule.is_none_or(|rule| change.follows(rule)),
            change,
            buffer: buffer(),
            call,
        }) as Box<dyn Case>)
    };
    Op {
        names,
        prepare: Box::new(prepare),
    }
}

/// Parses the elements of all items.
fn parsed<T>(
    items: &[&'static [u8]],
    many: bool,
    parse: impl Fn(&mut Reader) -> Option<T>,
) -> Result<Vec<T>, String> {
    let mut elements = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let mut reader = Reader::new(item);
        let before = elements.len();
        loop {
            elements
                .push(parse(&mut reader).ok_or_else(|| format!("item {index} does not parse"))?);
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
    Ok(elements)
}

struct Prepared<T, P, C, S, K> {
    /// The items as they are in the file.
    items: Vec<&'static [u8]>,
    many: bool,
    parse: Rc<P>,
    /// All elements of all items, as changed by the last batch.
    elements: Vec<T>,
    /// Number of elements per item, the same for all.
    per_call: usize,
    /// The rule by which items change; `None` also if the operation does not support the requested rule.
    rule: Option<Rule>,
    changes: bool,
    change: C,
    buffer: S,
    call: K,
}

impl<T, P, C, S, K> Case for Prepared<T, P, C, S, K>
where
    P: Fn(&mut Reader) -> Option<T>,
    C: Change<T>,
    S: Output,
    K: Call<T, S>,
{
    fn items(&self) -> usize {
        self.items.len()
    }

    fn changes(&self) -> bool {
        self.changes
    }

    fn run(&mut self, n: u64, seed: u32) -> u64 {
        let mut sum = Sum::default();
        let mut words = Words::new(seed);
        let mut next = 0;
        for _ in 0..n {
            let end = next + self.per_call;
            if let Some(rule) = self.rule {
                self.change
                    .apply(rule, &mut self.elements[next..end], words.next());
            }
            for element in black_box(&self.elements[next..end]) {
                self.call.add(element, &mut self.buffer, &mut sum);
                // The barrier forces the compiler to write the buffer. Without a buffer there is no barrier, so that
                // array operations can be vectorised.
                if size_of::<S>() != 0 {
                    black_box(&mut self.buffer).add(&mut sum);
                }
            }
            next = if end == self.elements.len() { 0 } else { end };
        }
        sum.total()
    }

    fn outputs(&mut self) -> Result<Vec<Vec<u8>>, usize> {
        // A batch may have changed the elements.
        self.elements =
            parsed(&self.items, self.many, &*self.parse).map_err(|_| self.items.len())?;
        let mut outputs = Vec::with_capacity(self.items());
        for (index, item) in self.elements.chunks(self.per_call).enumerate() {
            let mut output = Vec::new();
            for element in item {
                let accepted = self.call.write(element, &mut self.buffer, &mut output);
                if !accepted || !self.buffer.write(&mut output) {
                    return Err(index);
                }
            }
            outputs.push(output);
        }
        Ok(outputs)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::change::{digits, set_upper_half, words};

    const SEED: u32 = 7;

    fn prepared(op: &Op, items: &[&'static [u8]], rule: &str) -> Box<dyn Case> {
        op.prepare(items.to_vec(), Rule::parse(rule)).unwrap()
    }

    /// The words of the first calls.
    fn calls(count: usize) -> Vec<u32> {
        let mut sequence = Words::new(SEED);
        (0..count).map(|_| sequence.next()).collect()
    }

    /// The word that eight bytes contribute to the checksum.
    fn summed(bytes: &[u8; 8]) -> u64 {
        u64::from_le_bytes(*bytes)
    }

    const TWO: [&[u8]; 2] = [b"abcdefgh", b"ABCDEFGH"];

    #[test]
    fn a_call_sees_the_changed_item() {
        let echo = op("echo", Reader::array::<8>).raw().call(|bytes| *bytes);
        let mut case = prepared(&echo, &TWO, "le@2");
        assert!(case.changes());
        let mut expected = 0u64;
        for (k, word) in calls(5).into_iter().enumerate() {
            let mut item: [u8; 8] = TWO[k % 2].try_into().unwrap();
            item[2..6].copy_from_slice(&word.to_le_bytes());
            expected = expected.wrapping_add(summed(&item));
        }
        assert_eq!(case.run(5, SEED), expected);
        // The change sets bytes, so earlier batches have no effect.
        assert_eq!(case.run(5, SEED), expected);
        assert_ne!(case.run(5, SEED + 1), expected);
        assert_eq!(case.outputs().unwrap(), TWO);
    }

    #[test]
    fn all_elements_of_an_array_change() {
        let echo = array("echo", Reader::array::<8>).raw().call(|bytes| *bytes);
        let item: &'static [u8] = b"abcdefghABCDEFGH01234567";
        let mut case = prepared(&echo, &[item], "digits@0");
        let expected = words(calls(1)[0]).take(3).map(|w| summed(&digits(w)));
        assert_eq!(case.run(1, SEED), expected.fold(0, u64::wrapping_add));
        assert_eq!(case.outputs().unwrap(), [item]);
    }

    #[test]
    fn parsed_values_change_by_their_own_rule_only() {
        let make = || {
            array("limbs", Reader::limbs)
                .change("le@4", set_upper_half)
                .call(|limbs| *limbs)
        };
        let item: &'static [u8] = &[1; 64];
        let mut case = prepared(&make(), &[item], "le@4");
        assert!(case.changes());
        let one = 0x0101_0101_0101_0101u64;
        let expected = words(calls(1)[0])
            .take(2)
            .map(|w| (one & 0xffff_ffff | u64::from(w) << 32).wrapping_add(one.wrapping_mul(3)));
        assert_eq!(case.run(1, SEED), expected.fold(0, u64::wrapping_add));
        assert_eq!(case.outputs().unwrap(), [item]);

        let mut other = prepared(&make(), &[item], "le@0");
        assert!(!other.changes());
        assert_eq!(other.run(1, SEED), one.wrapping_mul(8));
    }

    #[test]
    fn without_a_rule_nothing_changes() {
        let echo = op("echo", Reader::array::<8>).raw().call(|bytes| *bytes);
        let mut case = prepared(&echo, &TWO, "none");
        assert!(case.changes());
        assert_eq!(
            case.run(1, SEED),
            summed(TWO[0].first_chunk::<8>().unwrap())
        );
        let fixed = op("fixed", Reader::array::<8>).call(|bytes| *bytes);
        assert!(prepared(&fixed, &TWO, "none").changes());
        assert!(!prepared(&fixed, &TWO, "le@0").changes());
    }

    fn first_half(bytes: &Bytes) -> &[u8] {
        &bytes[..bytes.len() / 2]
    }

    #[test]
    fn views_and_buffers_see_the_changed_item() {
        let view = op("view", Reader::whole).raw().view(first_half);
        let item: &'static [u8] = b"abcdefghABCDEFGH";
        let mut case = prepared(&view, &[item], "be@4");
        let mut expected = *b"abcd\0\0\0\0";
        expected[4..].copy_from_slice(&calls(1)[0].to_be_bytes());
        assert_eq!(case.run(1, SEED), summed(&expected));
        assert_eq!(case.outputs().unwrap(), [b"abcdefgh"]);

        let copy = op("copy", Reader::array::<8>)
            .raw()
            .reuse(|| [0; 8], |bytes, out| *out = *bytes);
        let mut case = prepared(&copy, &TWO, "be@4");
        assert_eq!(case.run(1, SEED), summed(&expected));
        assert_eq!(case.outputs().unwrap(), TWO);
    }

    #[test]
    fn a_precompile_is_given_the_changed_input() {
        let identity = precompile("precompile_04", |input| Some(input.to_vec()));
        let mut case = prepared(&identity, &[TWO[0]], "le@0");
        let mut expected = *b"abcdefgh";
        expected[..4].copy_from_slice(&calls(1)[0].to_le_bytes());
        assert_eq!(case.run(1, SEED), summed(&expected).wrapping_add(1));
        assert_eq!(case.outputs().unwrap(), [b"\x01abcdefgh"]);
    }
}
