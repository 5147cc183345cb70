//! Values with references.
use lydite_ocapn::session::{Builder, Payload};
use lydite_ocapn::syrup::{self, Decode, Symbol, Value};

use crate::error::Error;
use crate::reference::Reference;
use crate::shared::{Handle, Held};

/// A value that was received or is to be sent: data, references, or both.
#[derive(Clone, Debug)]
pub struct Passable(pub(crate) Held);

/// The arguments of a call: a list.
pub type Arguments = Passable;

impl Passable {
    /// Builds a value.
    pub fn new(value: impl Pass) -> Self {
        let mut builder = PassableBuilder::default();
        value.put(&mut builder);
        builder.finish()
    }

    /// Builds a list. See also [`args!`](crate::args).
    pub fn list(build: impl FnOnce(&mut PassableBuilder)) -> Self {
        let mut builder = PassableBuilder::default();
        builder.builder.begin_list();
        build(&mut builder);
        builder.builder.end_list();
        builder.finish()
    }

    /// The reason with which promises break: `<desc:error "message">` on the wire.
    pub fn error(message: &str) -> Self {
        Self(Held {
            payload: Payload::error(message),
            handles: Vec::new(),
        })
    }

    pub(crate) const fn payload(&self) -> &Payload {
        &self.0.payload
    }

    /// A part that has the references from the one with this number.
    fn part(&self, payload: Payload, first: usize) -> Self {
        let handles = &self.0.handles[first..][..payload.refs().len()];
        Self(Held {
            handles: handles.to_vec(),
            payload,
        })
    }

    /// The encoded data; references are records `<desc:ref n>`.
    pub fn data(&self) -> &[u8] {
        self.payload().data()
    }

    /// The reference, if the value is one.
    pub fn as_reference(&self) -> Option<Reference> {
        self.payload().as_reference()?;
        self.0.handles.first().cloned().map(Reference)
    }

    /// The message, if the value is `<desc:error "message">`.
    pub fn as_error(&self) -> Option<&str> {
        self.payload().as_error()
    }

    /// The symbol, if the value is one.
    pub fn as_symbol(&self) -> Option<&str> {
        self.payload().as_symbol()
    }

    /// The items of a list; empty for other values.
    pub fn items(&self) -> Vec<Self> {
        let items = self.payload().items().unwrap_or_default().into_iter();
        let mut next = 0;
        let parts = items.map(|item| {
            let first = next;
            next += item.refs().len();
            self.part(item, first)
        });
        parts.collect()
    }

    /// An item of a list.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`].
    pub fn item(&self, index: usize) -> Result<Self, Error> {
        let (item, first) = self.payload().item(index).ok_or(Error::Missing(index))?;
        Ok(self.part(item, first))
    }

    /// Decodes data.
    ///
    /// # Errors
    ///
    /// [`Error::Type`].
    pub fn decode<'a, T: Decode<'a>>(&'a self) -> Result<T, Error> {
        Ok(syrup::decode(self.data())?)
    }

    /// Decodes data of any type; references are records `<desc:ref n>`.
    ///
    /// # Errors
    ///
    /// The data exceeds the limits of a [`Value`].
    pub fn value(&self) -> Result<Value, Error> {
        Ok(self.payload().decode()?)
    }
}

/// Appends values to a [`Passable`].
#[derive(Debug, Default)]
pub struct PassableBuilder {
    builder: Builder,
    handles: Vec<Handle>,
}

impl PassableBuilder {
    /// Appends a value.
    pub fn push(&mut self, value: impl Pass) -> &mut Self {
        value.put(self);
        self
    }

    /// Appends data, or nothing if they have no encoding.
    pub(crate) fn encode<T: syrup::Encode>(&mut self, value: &T) -> Result<(), Error> {
        self.builder.value(value)?;
        Ok(())
    }

    pub(crate) fn finish(self) -> Passable {
        Passable(Held {
            payload: self.builder.finish(),
            handles: self.handles,
        })
    }
}

/// What can be passed to an object.
pub trait Pass {
    /// Appends the value.
    fn put(&self, to: &mut PassableBuilder);
}

macro_rules! pass {
    ($($type:ty, $value:ident, $builder:ident => $put:expr;)*) => {$(
        impl Pass for $type {
            fn put(&self, to: &mut PassableBuilder) {
                let ($value, $builder) = (self, &mut to.builder);
                $put;
            }
        }

        impl From<$type> for Passable {
            fn from(value: $type) -> Self {
                Self::new(value)
            }
        }
    )*};
}
pass! {
    &str, text, to => to.string(text);
    String, text, to => to.string(text);
    u64, value, to => to.integer(*value);
    Symbol<&str>, symbol, to => to.symbol(symbol.0);
    bool, value, to => encoded(to, value);
    i64, value, to => encoded(to, value);
    f64, value, to => encoded(to, value);
    &[u8], bytes, to => to.bytes(bytes);
    Vec<u8>, bytes, to => to.bytes(bytes);
}

/// Appends a value whose encoding cannot fail.
fn encoded<T: syrup::Encode>(to: &mut Builder, value: &T) {
    let _: Result<_, syrup::Error> = to.value(value);
}

impl Pass for Value {
    /// A tree too deep to encode is passed as an error value.
    fn put(&self, to: &mut PassableBuilder) {
        if let Err(error) = to.builder.value(self) {
            to.builder.payload(&Payload::error(&error.to_string()));
        }
    }
}

impl Pass for Passable {
    fn put(&self, to: &mut PassableBuilder) {
        to.builder.payload(self.payload());
        to.handles.extend_from_slice(&self.0.handles);
    }
}

impl Pass for Reference {
    fn put(&self, to: &mut PassableBuilder) {
        to.builder.reference(self.0.get());
        to.handles.push(self.0.clone());
    }
}

impl<T: Pass> Pass for [T] {
    fn put(&self, to: &mut PassableBuilder) {
        to.builder.begin_list();
        for item in self {
            item.put(to);
        }
        to.builder.end_list();
    }
}

macro_rules! pass_borrowed {
    ($($type:ty)*) => {$(
        impl Pass for &$type {
            fn put(&self, to: &mut PassableBuilder) {
                (**self).put(to);
            }
        }
    )*};
}
pass_borrowed!(Passable Reference Value String);

impl From<Reference> for Passable {
    fn from(reference: Reference) -> Self {
        Self::new(reference)
    }
}

impl From<Value> for Passable {
    fn from(value: Value) -> Self {
        Self::new(value)
    }
}

impl From<()> for Passable {
    /// The empty list.
    fn from((): ()) -> Self {
        Self::list(|_| {})
    }
}

/// The arguments of a call.
///
/// ```
/// use lydite_ocapn_net::args;
///
/// assert_eq!(args!["cat", 7u64].data(), b"[3\"cat7+]");
/// ```
#[macro_export]
macro_rules! args {
    ($($value:expr),* $(,)?) => {
        $crate::Passable::list(|_list| { $( _list.push($value); )* })
    };
}
