//! What can be an argument or a result of a typed method.
use std::borrow::Cow;

use lydite_ocapn::syrup::{self, Decode, Encode};

use crate::error::Error;
use crate::passable::{Passable, PassableBuilder};
use crate::reference::Reference;

/// A value that can be an argument or a result of a typed method: data that implement [`Encode`] and [`Decode`], typed
/// and untyped references, and [`Passable`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument or a result of an object's method",
    note = "derive `Encode` and `Decode` of `lydite_ocapn::syrup`, or use `Ref<…>`, `Reference` or `Passable`"
)]
pub trait Transfer: Sized {
    /// Appends the value.
    ///
    /// # Errors
    ///
    /// The value has no encoding.
    fn put(&self, to: &mut PassableBuilder) -> Result<(), Error>;

    /// Reads the value.
    ///
    /// # Errors
    ///
    /// The value is of another type.
    fn take(value: Cow<'_, Passable>) -> Result<Self, Error>;
}

impl<T: Encode + for<'a> Decode<'a>> Transfer for T {
    fn put(&self, to: &mut PassableBuilder) -> Result<(), Error> {
        to.encode(self)
    }

    fn take(value: Cow<'_, Passable>) -> Result<Self, Error> {
        Ok(syrup::decode(value.data())?)
    }
}

impl Transfer for Passable {
    fn put(&self, to: &mut PassableBuilder) -> Result<(), Error> {
        to.push(self);
        Ok(())
    }

    fn take(value: Cow<'_, Passable>) -> Result<Self, Error> {
        Ok(value.into_owned())
    }
}

impl Transfer for Reference {
    fn put(&self, to: &mut PassableBuilder) -> Result<(), Error> {
        to.push(self);
        Ok(())
    }

    fn take(value: Cow<'_, Passable>) -> Result<Self, Error> {
        value.as_reference().ok_or(Error::NotReference)
    }
}
