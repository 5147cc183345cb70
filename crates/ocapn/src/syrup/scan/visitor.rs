//! The events of a walk.

use super::Fixed;
use crate::syrup::Error;

/// A value without children.
#[derive(Clone, Copy)]
pub(crate) enum Atom {
    /// An integer whose magnitude fits in 64 bits. The marker is `+` or `-`, and the length includes it.
    Integer {
        marker: u8,
        length: usize,
        magnitude: u64,
    },
    /// An integer whose magnitude does not fit.
    LongInteger { marker: u8, digits: usize },
    /// Bytes or text: the marker, the length of the digits and the marker, and that of the payload after them.
    Payload {
        marker: u8,
        header: usize,
        length: usize,
    },
    /// A boolean or a float, with its length.
    Fixed { value: Fixed, length: usize },
}

/// Receives every value in input order.
pub(crate) trait Visitor {
    /// Visits a value that starts at `start`.
    fn atom(&mut self, start: usize, atom: Atom) -> Result<(), Error>;
    /// Opens a container that starts at `start`. The tag is the discriminant of its [`Kind`](super::Kind). Returns a
    /// handle for it, which is passed to [`close`](Self::close).
    fn open(&mut self, tag: u8, start: usize) -> Result<usize, Error>;
    /// Closes the container with this handle, which has `values` direct children and ends before `end`.
    fn close(&mut self, name: usize, values: u32, end: usize);
    /// Whether the visitor itself ensures that text is UTF-8.
    #[inline(always)]
    fn checks_text(&self) -> bool {
        false
    }
}

/// A visitor that ignores every value, for validation only.
pub(crate) struct NoVisitor;

impl Visitor for NoVisitor {
    #[inline(always)]
    fn atom(&mut self, _: usize, _: Atom) -> Result<(), Error> {
        Ok(())
    }

    #[inline(always)]
    fn open(&mut self, _: u8, _: usize) -> Result<usize, Error> {
        Ok(0)
    }

    #[inline(always)]
    fn close(&mut self, _: usize, _: u32, _: usize) {}
}
