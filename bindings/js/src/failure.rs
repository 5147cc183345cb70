//! Errors for JavaScript, where they become a `LyditeError`.

use std::fmt::Display;

use lydite::{bytes, curve::secp256k1, evm, hash, ocapn::captp, ocapn::syrup, xmss};

/// The error classes of `LyditeError.code`, in the order of `CODES` in `ts/engine.ts`.
#[derive(Clone, Copy)]
pub enum Code {
    Argument = 1,
    Decode,
    Encode,
    Signature,
    Precompile,
    Unsupported,
    #[cfg(not(target_family = "wasm"))]
    Internal,
    #[cfg(not(target_family = "wasm"))]
    KeyFile,
}

/// Why a call failed, with the core's message.
pub struct Failure {
    pub code: Code,
    /// Offset of the invalid input byte, if known.
    pub offset: Option<usize>,
    pub message: String,
}

impl Failure {
    #[cold]
    pub fn new(code: Code, message: impl Display) -> Self {
        Self {
            code,
            offset: None,
            message: message.to_string(),
        }
    }

    #[cold]
    pub fn argument(message: impl Display) -> Self {
        Self::new(Code::Argument, message)
    }

    #[cold]
    pub fn encode(message: impl Display) -> Self {
        Self::new(Code::Encode, message)
    }

    #[cold]
    pub fn decode(offset: impl Into<Option<usize>>, message: impl Display) -> Self {
        Self {
            offset: offset.into(),
            ..Self::new(Code::Decode, message)
        }
    }
}

impl From<evm::abi::Error> for Failure {
    fn from(error: evm::abi::Error) -> Self {
        Self::decode(error.offset, error)
    }
}

impl From<evm::rlp::Error> for Failure {
    fn from(error: evm::rlp::Error) -> Self {
        Self::decode(error.offset, error)
    }
}

impl From<evm::tx::Error> for Failure {
    fn from(error: evm::tx::Error) -> Self {
        match error {
            evm::tx::Error::Signature(error) => error.into(),
            _ => Self::decode(error.offset(), error),
        }
    }
}

impl From<secp256k1::Error> for Failure {
    fn from(error: secp256k1::Error) -> Self {
        Self::new(Code::Signature, error)
    }
}

impl From<bytes::hex::Error> for Failure {
    fn from(error: bytes::hex::Error) -> Self {
        Self::decode(error.offset(), error)
    }
}

impl From<bytes::address::Error> for Failure {
    fn from(error: bytes::address::Error) -> Self {
        Self::decode(error.offset(), error)
    }
}

impl From<evm::eip712::TypedDataError> for Failure {
    fn from(error: evm::eip712::TypedDataError) -> Self {
        Self::decode(error.offset, error)
    }
}

impl From<hash::keccak::Error> for Failure {
    fn from(error: hash::keccak::Error) -> Self {
        Self::argument(error)
    }
}

impl From<syrup::Error> for Failure {
    fn from(error: syrup::Error) -> Self {
        Self::decode(error.offset, error)
    }
}

impl From<captp::Error> for Failure {
    fn from(error: captp::Error) -> Self {
        Self::decode(error.offset, error)
    }
}

impl From<xmss::DecodeError> for Failure {
    fn from(error: xmss::DecodeError) -> Self {
        Self::decode(error.offset(), error)
    }
}

impl From<xmss::named::VerifyError> for Failure {
    fn from(error: xmss::named::VerifyError) -> Self {
        Self::decode(error.offset(), error)
    }
}

impl From<xmss::SignError> for Failure {
    fn from(error: xmss::SignError) -> Self {
        Self::new(Code::Signature, error)
    }
}

#[cfg(not(target_family = "wasm"))]
impl From<xmss::store::StoreError> for Failure {
    fn from(error: xmss::store::StoreError) -> Self {
        Self::new(Code::KeyFile, error)
    }
}

impl From<xmss::GenerateError> for Failure {
    fn from(error: xmss::GenerateError) -> Self {
        Self::argument(error)
    }
}
