//! EIP-712 typed structured data: hashing and signing of typed structs.
//!
//! Two forms, with equal results:
//!
//! - **Rust types** ([`typed_struct!`](crate::typed_struct)): `encodeType` and the type hash are computed at compile time, dependencies sorted, so a
//!   message costs its own hashes only. With the domain's separator kept, [`signing_hash`] of a small message is two permutations
//!   of Keccak; [`Domain::signing_hash`] computes everything anew.
//! - **JSON** ([`TypedData`], [`TypedSchema`]; feature `json`): the documents of `eth_signTypedData_v4`, strictly checked.
//!
//! `hash to sign = keccak256(0x19 0x01 || domainSeparator || hashStruct(message))`.
//!
//! Source: [EIP-712](https://eips.ethereum.org/EIPS/eip-712). Messages are public: not constant time.

mod describe;
mod domain;
mod typed_struct;
mod value;

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

/// The hash to sign for `message` in the domain with this separator (see [`Domain::separator`]).
///
/// Shortest path: one hash of the message's words, one of 66 bytes.
#[must_use]
pub fn signing_hash<T: TypedStruct>(domain_separator: &B256, message: &T) -> B256 {
    signing_hash_of(domain_separator, &message.hash_struct())
}

/// The hash to sign, given the message's `hashStruct`: `keccak256(0x19 0x01 || domainSeparator || hashStruct)`.
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

/// Hashes inputs that do not depend on each other, side by side where the machine has lanes.
fn hash_independent(inputs: &[&[u8]], out: &mut [[u8; 32]]) {
    // The lengths agree by construction in every caller, which is the only way this can fail.
    let done = keccak256_batch(inputs, out);
    debug_assert!(done.is_ok());
}

/// What the expansion of [`typed_struct!`](crate::typed_struct) needs; not part of the API.
#[doc(hidden)]
pub mod private {
    pub use lydite_bytes::{B256, FixedBytes};
    pub use lydite_hash::keccak256_const;

    pub use super::typed_struct::array_of_structs;
}
