//! EIP-712 typed structured data: hashing and signing of typed structs.
//!
//! There are two interfaces, with equal results:
//!
//! - **Rust types** ([`typed_struct!`](crate::typed_struct)): `encodeType` and the type hash are computed at compile
//!   time, including dependencies, so a message only costs its own hashes. With a stored domain separator,
//!   [`signing_hash`] of a small message takes two Keccak permutations; [`Domain::signing_hash`] also computes the
//!   separator. [`Domain::to_json`] writes the document with which a wallet is asked for the signature.
//! - **JSON** ([`TypedData`], [`TypedSchema`]; feature `json`): the documents of `eth_signTypedData_v4`, checked
//!   strictly.
//!
//! `hash to sign = keccak256(0x19 0x01 || domainSeparator || hashStruct(message))`. The JSON interface omits the
//! last part if the primary type is `EIP712Domain`: `keccak256(0x19 0x01 || domainSeparator)`. The specification does
//! not say so, but MetaMask, viem and alloy do; ethers hashes the domain again, as the message.
//!
//! Source: [EIP-712](https://eips.ethereum.org/EIPS/eip-712). Messages are public: not constant time.

mod describe;
mod domain;
mod typed_struct;
mod value;
mod write;

#[cfg(all(feature = "json", feature = "serde"))]
mod deserialize;
#[cfg(feature = "json")]
mod error;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "json")]
mod message;
#[cfg(feature = "json")]
mod schema;
#[cfg(feature = "json")]
mod typed_data;

#[cfg(all(test, feature = "json"))]
mod json_tests;
#[cfg(test)]
mod tests;

pub use describe::{Member, MemberType, StructType};
pub use domain::Domain;
#[cfg(feature = "json")]
pub use error::{Reason, TypedDataError};
#[cfg(feature = "json")]
pub use schema::TypedSchema;
#[cfg(feature = "json")]
pub use typed_data::TypedData;
pub use typed_struct::{TypedStruct, signing_hashes};
pub use value::TypedValue;

use lydite_bytes::B256;
use lydite_hash::{keccak256, keccak256_batch};

/// Computes the hash to sign for `message` in the domain with this separator (see [`Domain::separator`]).
///
/// This is the shortest path: one hash of the message's words, and one of 66 bytes.
#[must_use]
pub fn signing_hash<T: TypedStruct>(domain_separator: &B256, message: &T) -> B256 {
    signing_hash_of(domain_separator, &message.hash_struct())
}

/// Computes the hash to sign from the message's `hashStruct`: `keccak256(0x19 0x01 || domainSeparator || hashStruct)`.
#[must_use]
pub fn signing_hash_of(domain_separator: &B256, struct_hash: &B256) -> B256 {
    B256::from(keccak256(&signing_preimage(
        domain_separator,
        &struct_hash.0,
    )))
}

fn signing_preimage(domain_separator: &B256, struct_hash: &[u8; 32]) -> [u8; 66] {
    let mut preimage = [0; 66];
    preimage[0] = 0x19;
    preimage[1] = 0x01;
    preimage[2..34].copy_from_slice(&domain_separator.0);
    preimage[34..].copy_from_slice(struct_hash);
    preimage
}

/// Hashes independent inputs, in parallel if the CPU has vector kernels.
fn hash_independent(inputs: &[&[u8]], out: &mut [[u8; 32]]) {
    // This only fails if the lengths differ, and every caller passes equal lengths.
    let done = keccak256_batch(inputs, out);
    debug_assert!(done.is_ok());
}

/// Items that the expansion of [`typed_struct!`](crate::typed_struct) uses; not part of the API.
#[doc(hidden)]
pub mod private {
    pub use alloc::string::String;

    pub use lydite_bytes::{B256, FixedBytes};
    pub use lydite_hash::keccak256_const;

    pub use super::typed_struct::array_of_structs;
    pub use super::write::Object;
}
