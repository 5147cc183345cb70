//! Reader methods for the derived implementations, in addition to the public ones.
use super::{Error, ErrorKind, Kind, Reader};

#[doc(hidden)]
impl Reader<'_> {
    /// Consumes the opening bracket of this container and the label or key after it, or fails with `kind`.
    #[inline(always)]
    pub fn open(&mut self, opener: &[u8], container: Kind, kind: ErrorKind) -> Result<(), Error> {
        if self.descend(opener) {
            Ok(())
        } else {
            Err(self.not_opened(container, kind))
        }
    }

    #[cold]
    #[inline(never)]
    fn not_opened(self, container: Kind, kind: ErrorKind) -> Error {
        let mut reader = self;
        match reader.begin(container) {
            Err(error) => error,
            Ok(()) => reader.another(kind),
        }
    }

    /// Consumes this key, or fails with `kind`.
    #[inline(always)]
    pub fn expect(&mut self, key: &[u8], kind: ErrorKind) -> Result<(), Error> {
        if self.literal(key) {
            Ok(())
        } else {
            Err(self.another(kind))
        }
    }

    /// The error if the next value is not a variant of an enum, whose variants are records, symbols or both.
    #[cold]
    #[inline(never)]
    pub fn no_variant(self, records: bool, symbols: bool) -> Error {
        match self.kind() {
            Ok(Kind::Record) if records => self.not_opened(Kind::Record, ErrorKind::WrongLabel),
            Ok(Kind::Symbol) if symbols => self.another(ErrorKind::WrongLabel),
            _ => self.another(ErrorKind::WrongType),
        }
    }
}
