//! The exceptions. All are subclasses of `ValueError`, so that callers who do not know Lydite can catch them.

use std::fmt::{Debug, Display};

use lydite::{
    bytes,
    curve::secp256k1,
    evm, hash,
    ocapn::{captp, syrup},
    xmss,
};
use pyo3::{
    create_exception,
    exceptions::{PyFileExistsError, PyKeyboardInterrupt, PyOSError, PyValueError},
    prelude::*,
};

create_exception!(
    lydite,
    LyditeError,
    PyValueError,
    "The base class of all errors of Lydite."
);
create_exception!(
    lydite,
    DecodeError,
    LyditeError,
    "Invalid input bytes or text, with the `offset` of the invalid byte and the `kind` of error if they are known."
);
create_exception!(
    lydite,
    EncodeError,
    LyditeError,
    "A value that does not fit its type."
);
create_exception!(
    lydite,
    SignatureError,
    LyditeError,
    "An invalid signature, key or hash."
);

create_exception!(
    lydite,
    KeyFileError,
    LyditeError,
    "A key file that cannot sign: the epoch is spent or not one of the key's, the process was forked from the one \
     that opened it, or one of its files is damaged, replaced or accessible to other users."
);
create_exception!(
    lydite,
    PrecompileError,
    LyditeError,
    "A call of a precompiled contract that failed. It uses all of its gas."
);

/// Converts a Rust error to a Python exception with the same message.
pub trait IntoPython {
    fn into_python(self) -> PyErr;
}

/// A `DecodeError` with its offset, if known. Setting an attribute of a new exception only fails if there is no memory,
/// and the message still contains the offset then.
pub fn located(error: &impl Display, offset: impl Into<Option<usize>>) -> PyErr {
    let python = DecodeError::new_err(error.to_string());
    if let Some(offset) = offset.into() {
        Python::attach(|py| {
            let _ = python.value(py).setattr("offset", offset);
        });
    }
    python
}

/// A `DecodeError` with its offset and kind.
fn classified(error: &impl Display, offset: usize, kind: impl Debug) -> PyErr {
    let python = located(error, offset);
    Python::attach(|py| {
        let _ = python.value(py).setattr("kind", format!("{kind:?}"));
    });
    python
}

impl IntoPython for evm::abi::Error {
    fn into_python(self) -> PyErr {
        classified(&self, self.offset, self.kind)
    }
}

/// An encoding error; its offset is the index of the argument.
pub fn encoding(error: evm::abi::Error) -> PyErr {
    EncodeError::new_err(format!("arguments[{}]: {}", error.offset, error.kind))
}

impl IntoPython for evm::rlp::Error {
    fn into_python(self) -> PyErr {
        classified(&self, self.offset, self.kind)
    }
}

impl IntoPython for evm::tx::Error {
    fn into_python(self) -> PyErr {
        match self {
            evm::tx::Error::Signature(error) => error.into_python(),
            other => located(&other, other.offset()),
        }
    }
}

impl IntoPython for secp256k1::Error {
    fn into_python(self) -> PyErr {
        SignatureError::new_err(self.to_string())
    }
}

impl IntoPython for bytes::address::Error {
    fn into_python(self) -> PyErr {
        located(&self, self.offset())
    }
}

impl IntoPython for bytes::hex::Error {
    fn into_python(self) -> PyErr {
        located(&self, self.offset())
    }
}

impl IntoPython for evm::eip712::TypedDataError {
    fn into_python(self) -> PyErr {
        located(&self, self.offset)
    }
}

impl IntoPython for syrup::Error {
    fn into_python(self) -> PyErr {
        classified(&self, self.offset, self.kind)
    }
}

impl IntoPython for captp::Error {
    fn into_python(self) -> PyErr {
        match self.kind {
            captp::ErrorKind::InvalidKey | captp::ErrorKind::InvalidSignature => {
                SignatureError::new_err(self.kind.to_string())
            }
            _ => classified(&self, self.offset, self.kind),
        }
    }
}

impl IntoPython for xmss::DecodeError {
    fn into_python(self) -> PyErr {
        located(&self, self.offset())
    }
}

impl IntoPython for xmss::named::VerifyError {
    fn into_python(self) -> PyErr {
        located(&self, self.offset())
    }
}

impl IntoPython for xmss::store::StoreError {
    fn into_python(self) -> PyErr {
        match &self {
            Self::Io(_, error) => PyOSError::new_err((error.raw_os_error(), self.to_string())),
            Self::Exists(_) => PyFileExistsError::new_err(self.to_string()),
            _ => KeyFileError::new_err(self.to_string()),
        }
    }
}

impl IntoPython for evm::precompile::Error {
    fn into_python(self) -> PyErr {
        PrecompileError::new_err(self.to_string())
    }
}

impl IntoPython for hash::keccak::Error {
    fn into_python(self) -> PyErr {
        LyditeError::new_err(self.to_string())
    }
}

impl IntoPython for lydite_arrow::Error {
    fn into_python(self) -> PyErr {
        match &self {
            Self::Signature(_, error) => located(&self, error.offset),
            _ => LyditeError::new_err(self.to_string()),
        }
    }
}

impl IntoPython for lydite_bulk::Error {
    fn into_python(self) -> PyErr {
        match &self.kind {
            lydite_bulk::ErrorKind::Io(error) => {
                PyOSError::new_err((error.raw_os_error(), self.to_string()))
            }
            lydite_bulk::ErrorKind::Cancelled => PyKeyboardInterrupt::new_err(()),
            lydite_bulk::ErrorKind::Exists => PyFileExistsError::new_err(self.to_string()),
            _ => LyditeError::new_err(self.to_string()),
        }
    }
}
