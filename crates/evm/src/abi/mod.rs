//! The Solidity ABI: types, values, encoding and decoding.
//!
//! Source: Solidity ABI specification (docs.soliditylang.org, "Contract ABI Specification").

mod error;
mod types;

pub use error::{Error, ErrorKind};
pub use types::{MAX_DEPTH, Parameter, Signature, Type};
