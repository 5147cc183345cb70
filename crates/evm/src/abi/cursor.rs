//! A cursor over text. What it parses is in `types.rs` and `value.rs`.

use super::{Error, ErrorKind};

pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// The error for text that is not of the grammar.
    invalid: ErrorKind,
    /// The number of types or values still allowed.
    left: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, invalid: ErrorKind, left: usize) -> Self {
        Self {
            text,
            at: 0,
            invalid,
            left,
        }
    }

    /// Counts a type or value, and fails with this kind if there are too many.
    pub(super) fn count(&mut self, too_many: ErrorKind) -> Result<(), Error> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or(Error::new(too_many, self.at))?;
        Ok(())
    }

    pub(super) fn error(&self) -> Error {
        Error::new(self.invalid, self.at)
    }

    /// Returns the next byte that is not white space.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips white space, and the byte if it is next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Like [`eat`](Self::eat), and fails if another byte is next.
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Error> {
        if self.eat(byte) {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    /// Checks that only white space is left.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error()),
        }
    }
}
