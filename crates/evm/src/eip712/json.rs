//! A pull reader for JSON text that tracks its position.
//!
//! Typed data has needs that general readers do not cover: integers of any size in their original notation, hashing of
//! members while they are read, and errors with a path and a byte offset, all without a second pass over the text.
//!
//! Source: RFC 8259. Depth is bounded by [`MAX_DEPTH`], so callers may recurse.

use alloc::{borrow::Cow, boxed::Box, format, string::String};
use core::fmt;

use super::error::{Reason, TypedDataError};
use crate::escape;

/// Maximum nesting of arrays and objects.
const MAX_DEPTH: usize = 127;

/// The error is boxed because errors are rare and results are passed through many functions.
pub(super) type Result<T> = core::result::Result<T, Box<TypedDataError>>;

/// A cursor. Every method skips leading white space.
#[derive(Clone)]
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
        }
    }

    /// Returns the number of bytes left.
    pub(super) fn left(&self) -> usize {
        self.text.len() - self.at
    }

    /// Creates an error at this position.
    #[cold]
    pub(super) fn fail(&self, reason: Reason) -> Box<TypedDataError> {
        Box::new(TypedDataError {
            path: String::new(),
            reason,
            offset: Some(self.at),
        })
    }

    #[cold]
    fn syntax(&self, message: &str) -> Box<TypedDataError> {
        self.fail(Reason::Json(message.into()))
    }

    /// Creates the error for a value that is not what was `expected`.
    #[cold]
    pub(super) fn unexpected(&mut self, expected: impl fmt::Display) -> Box<TypedDataError> {
        let found = match self.describe() {
            Ok(found) => found,
            Err(error) => return error,
        };
        self.fail(Reason::Json(format!("expected {expected}, found {found}")))
    }

    /// Describes the kind of the value at the cursor. Scalars are skipped, arrays and objects are not.
    fn describe(&mut self) -> Result<String> {
        Ok(match self.peek() {
            Some(b'"') => format!("string {:?}", self.string()?),
            Some(b'{') => {
                self.at += 1;
                "object".into()
            }
            Some(b'[') => {
                self.at += 1;
                "array".into()
            }
            Some(b'-' | b'0'..=b'9') => {
                let number = self.number()?;
                let float = number.contains(['.', 'e', 'E']);
                let kind = if float { "number" } else { "integer" };
                format!("{kind} `{number}`")
            }
            Some(b't' | b'f') => format!("boolean `{}`", self.boolean()?),
            _ => {
                self.null()?;
                "null".into()
            }
        })
    }

    /// Returns the next byte that is not white space.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Checks that no text follows.
    pub(super) fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.syntax("unexpected characters after the document")),
        }
    }

    /// Enters the array or object whose bracket [`peek`](Self::peek) has returned.
    pub(super) fn open(&mut self) -> Result<()> {
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.syntax(&format!("expected at most {MAX_DEPTH} levels of nesting")));
        }
        Ok(())
    }

    /// Whether there is another element; `first` must be set for the first one. If there is none, leaves the array or
    /// object.
    #[inline]
    pub(super) fn more(&mut self, close: u8, first: bool) -> Result<bool> {
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                self.depth -= 1;
                return Ok(false);
            }
            Some(b',') if !first => self.at += 1,
            Some(_) if first => {}
            None => return Err(self.syntax("unexpected end of text")),
            _ => return Err(self.syntax(&format!("expected `,` or `{}`", char::from(close)))),
        }
        Ok(true)
    }

    /// Reads the key of the next member and moves to its value; `None` if there are no more members.
    #[inline]
    pub(super) fn key(&mut self, first: bool) -> Result<Option<Cow<'a, str>>> {
        if !self.more(b'}', first)? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return Err(self.syntax("expected a key in double quotes"));
        }
        let key = self.string()?;
        if self.peek() != Some(b':') {
            return Err(self.syntax("expected `:`"));
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// Reads a string, which is borrowed if it has no escapes.
    #[inline]
    pub(super) fn text(&mut self) -> Result<Cow<'a, str>> {
        match self.peek() {
            Some(b'"') => self.string(),
            _ => Err(self.unexpected("a string")),
        }
    }

    /// Reads the string whose quote [`peek`](Self::peek) has returned.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>> {
        let start = self.at + 1;
        self.at = plain(self.text.as_bytes(), start);
        if self.text.as_bytes().get(self.at) == Some(&b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(&self.text[start..self.at - 1]));
        }
        self.escaped(start).map(Cow::Owned)
    }

    #[cold]
    fn escaped(&mut self, mut start: usize) -> Result<String> {
        let mut out = String::new();
        loop {
            out.push_str(&self.text[start..self.at]);
            match self.text.as_bytes().get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    match escape::character(self.text, &mut self.at) {
                        Some(c) => out.push(c),
                        None => return Err(self.syntax("invalid escape sequence")),
                    }
                }
                Some(_) => return Err(self.syntax("unescaped control character in a string")),
                None => return Err(self.syntax("unexpected end of text in a string")),
            }
            start = self.at;
            self.at = plain(self.text.as_bytes(), start);
        }
    }

    /// Reads the text of a number, whose first byte [`peek`](Self::peek) has returned.
    pub(super) fn number(&mut self) -> Result<&'a str> {
        let start = self.at;
        self.at += usize::from(self.byte() == Some(b'-'));
        if self.byte() == Some(b'0') {
            self.at += 1;
            if self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
                return Err(self.syntax("invalid number"));
            }
        } else if self.digits() == 0 {
            return Err(self.syntax("invalid number"));
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.syntax("invalid number"));
            }
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            if self.digits() == 0 {
                return Err(self.syntax("invalid number"));
            }
        }
        Ok(&self.text[start..self.at])
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips digits and returns their number.
    fn digits(&mut self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    /// Reads `true` or `false`.
    pub(super) fn boolean(&mut self) -> Result<bool> {
        if self.literal("true") {
            Ok(true)
        } else if self.literal("false") {
            Ok(false)
        } else {
            Err(self.syntax("expected a JSON value"))
        }
    }

    /// Reads `null`.
    pub(super) fn null(&mut self) -> Result<()> {
        if self.literal("null") {
            Ok(())
        } else if self.left() == 0 {
            Err(self.syntax("unexpected end of text"))
        } else {
            Err(self.syntax("expected a JSON value"))
        }
    }

    fn literal(&mut self, word: &str) -> bool {
        let found = self.text[self.at..].starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Skips a value and returns a reader for only that value. In an array or object, this only checks strings and
    /// brackets; mismatched brackets are reported by the returned reader.
    pub(super) fn skip(&mut self) -> Result<Reader<'a>> {
        self.peek();
        let start = self.clone();
        self.pass()?;
        Ok(Reader {
            text: &self.text[..self.at],
            ..start
        })
    }

    fn pass(&mut self) -> Result<()> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{' | b'[') => self.pass_nested(),
            Some(b'-' | b'0'..=b'9') => self.number().map(drop),
            Some(b't' | b'f') => self.boolean().map(drop),
            _ => self.null(),
        }
    }

    fn pass_nested(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        let (mut at, mut depth) = (self.at, 0usize);
        while let Some(byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at = at;
                        return Ok(());
                    }
                }
                b'"' => loop {
                    at = plain(bytes, at);
                    match bytes.get(at) {
                        Some(b'"') => break at += 1,
                        // An escaped character, or the first digit of a longer escape, does not end the string.
                        Some(b'\\') => at = bytes.len().min(at + 2),
                        Some(_) => at += 1,
                        None => break,
                    }
                },
                _ => {}
            }
        }
        self.at = at;
        Err(self.syntax("unexpected end of text"))
    }
}

/// Returns the end of the plain part of a string from `start` on: the position of a quote, backslash or control
/// character, or the end of the text.
#[inline(always)]
fn plain(text: &[u8], start: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x80 * ONES;
    let (blocks, rest) = text[start..].as_chunks::<8>();
    for (i, block) in blocks.iter().enumerate() {
        let word = u64::from_le_bytes(*block);
        // Sets the top bit of each zero byte, and maybe of higher bytes; the lowest set bit is always correct.
        let zero = |word: u64| word.wrapping_sub(ONES) & !word;
        let quote = zero(word ^ (u64::from(b'"') * ONES));
        let backslash = zero(word ^ (u64::from(b'\\') * ONES));
        let control = word.wrapping_sub(0x20 * ONES) & !word;
        let found = (quote | backslash | control) & TOPS;
        if found != 0 {
            return start + 8 * i + found.trailing_zeros() as usize / 8;
        }
    }
    let special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    let at = rest.iter().position(special).unwrap_or(rest.len());
    text.len() - rest.len() + at
}
