//! Why a call has no result.
use std::fmt;

use lydite_ocapn::session::Cause;
use lydite_ocapn::syrup;

use crate::passable::Passable;
use crate::shared::HeldReason;

/// Why a call has no result.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum Error {
    /// The promise broke, for a reason that the object called or its node gave. It may be an error of any kind there:
    /// that node may have lost its own session with a third one.
    Broken(Passable),
    /// The session with the peer ended, or could not be opened, for this reason. A message that was on its
    /// way may have arrived.
    Disconnected(String),
    /// A limit of this node was reached ([`Limits`](lydite_ocapn::session::Limits)). The message was not sent.
    Limit(String),
    /// A value is not of the expected type.
    Type(syrup::Error),
    /// There is no argument at this index.
    Missing(usize),
    /// A value is not a reference.
    NotReference,
    /// The promise did not settle before its deadline.
    Deadline,
}

impl Error {
    /// An application's reason: `<desc:error "message">` on the wire.
    pub fn new(message: &str) -> Self {
        Self::Broken(Passable::error(message))
    }

    /// The reason with which a promise breaks.
    pub(crate) fn reason(&self) -> Passable {
        match self {
            Self::Broken(reason) => reason.clone(),
            other => Passable::error(&other.to_string()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(reason) => match reason.as_error() {
                Some(message) => f.write_str(message),
                None => write!(f, "{}", reason.data().escape_ascii()),
            },
            Self::Disconnected(reason) | Self::Limit(reason) => f.write_str(reason),
            Self::Type(error) => write!(f, "unexpected value: {error}"),
            Self::Missing(index) => write!(f, "expected an argument at index {index}, found none"),
            Self::NotReference => f.write_str("expected a reference, found data"),
            Self::Deadline => f.write_str("no result before the deadline"),
        }
    }
}

impl std::error::Error for Error {}

impl From<syrup::Error> for Error {
    fn from(error: syrup::Error) -> Self {
        Self::Type(error)
    }
}

impl From<HeldReason> for Error {
    fn from(reason: HeldReason) -> Self {
        let value = Passable(reason.value);
        let message = || value.as_error().unwrap_or_default().to_owned();
        match reason.cause {
            Cause::Disconnected => Self::Disconnected(message()),
            Cause::Limit => Self::Limit(message()),
            _ => Self::Broken(value),
        }
    }
}
