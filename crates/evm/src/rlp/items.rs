//! Arbitrary RLP as a flat sequence of events, for display and conversion: no recursion, so no depth limit.
use alloc::vec::Vec;

use super::{Error, ErrorKind, Item, Reader};

/// A step in the traversal of an item of any shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A byte string.
    String(&'a [u8]),
    /// A list begins; its elements follow up to the matching [`Event::End`].
    List,
    /// The innermost open list ends.
    End,
}

/// Traverses an input that consists of exactly one item. Stops after the first error.
///
/// ```
/// use lydite_evm::rlp::{self, Event};
///
/// let events: Result<Vec<_>, _> = rlp::items(b"\xc4\x83dog").collect();
/// assert_eq!(events?, [Event::List, Event::String(b"dog"), Event::End]);
/// # Ok::<(), rlp::Error>(())
/// ```
pub fn items(input: &[u8]) -> Items<'_> {
    Items {
        reader: Reader::new(input),
        ends: Vec::new(),
        state: State::Start,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    Inside,
    Done,
}

/// Iterator returned by [`items`]. Stores the end offset of each open list: at most 8 bytes per byte of input.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    reader: Reader<'a>,
    ends: Vec<usize>,
    state: State,
}

impl<'a> Items<'a> {
    /// Returns the number of open lists.
    pub fn depth(&self) -> usize {
        self.ends.len()
    }

    /// Returns the offset of the next byte to read.
    pub fn offset(&self) -> usize {
        self.reader.offset()
    }

    fn step(&mut self) -> Result<Option<Event<'a>>, Error> {
        let offset = self.reader.offset();
        match self.ends.last() {
            Some(&end) if offset == end => {
                self.ends.pop();
                return Ok(Some(Event::End));
            }
            None if self.state == State::Inside => return self.reader.finish().map(|()| None),
            _ => self.state = State::Inside,
        }
        let mut after = self.reader;
        let Item { list, payload } = after.item()?;
        if self.ends.last().is_some_and(|&end| after.offset() > end) {
            return Err(Error {
                kind: ErrorKind::UnexpectedEnd,
                offset,
            });
        }
        if list {
            self.ends.push(after.offset());
            self.reader.header()?;
            return Ok(Some(Event::List));
        }
        self.reader = after;
        Ok(Some(Event::String(payload)))
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Result<Event<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Done {
            return None;
        }
        let step = self.step().transpose();
        if !matches!(step, Some(Ok(_))) {
            self.state = State::Done;
        }
        step
    }
}
