//! The events of a walk.

use crate::syrup::Error;

/// Receives every value in input order. A tag is the discriminant of a [`Kind`], or `-` for a negative integer.
pub(crate) trait Visitor {
    /// Visits a value that starts at `start`. For bytes and text, `data` is the length and `extra` the length of the
    /// header before them. For all others `extra` is the length of the encoding and `data` is the magnitude, 1 for `t`,
    /// or the bits of a float. For an integer whose magnitude does not fit in 64 bits, `extra` is 0 and `data` is the
    /// number of digits.
    fn atom(&mut self, tag: u8, start: usize, extra: usize, data: u64) -> Result<(), Error>;
    /// Opens a container that starts at `start`. Returns a handle for it, which is passed to [`close`](Self::close).
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
    fn atom(&mut self, _: u8, _: usize, _: usize, _: u64) -> Result<(), Error> {
        Ok(())
    }

    #[inline(always)]
    fn open(&mut self, _: u8, _: usize) -> Result<usize, Error> {
        Ok(0)
    }

    #[inline(always)]
    fn close(&mut self, _: usize, _: u32, _: usize) {}
}
