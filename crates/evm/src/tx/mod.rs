//! Transactions: decoding, encoding, hashing, signing, and sender recovery.
//!
//! | type | struct          | source                                  |
//! |------|-----------------|-----------------------------------------|
//! | none | [`TxLegacy`]    | Yellow Paper §4.2, replay safe: EIP-155 |
//! | 1    | [`TxEip2930`]   | EIP-2930, access list                   |
//! | 2    | [`TxEip1559`]   | EIP-1559, base fee and priority fee     |
//! | 3    | [`TxEip4844`]   | EIP-4844, blobs                         |
//! | 4    | [`TxEip7702`]   | EIP-7702, code for external accounts    |
//!
//! A signed transaction is encoded as its EIP-2718 envelope: the type byte (none for legacy) and the RLP list of its
//! fields. [`TransactionRef`] decodes without copying and hashes the bytes in place. [`Transaction`] owns its fields.
//! [`TransactionRequest`] is a transaction to be signed whose type is known only at run time. Decoding is strict:
//! accepted input re-encodes to the same bytes.
//!
//! With the feature `serde`, [`Transaction`] and [`TransactionRequest`] are read and written as JSON-RPC's objects.
//! Without `type`, a transaction is legacy, and the type of a request is that of the fees and lists given. A request
//! must have `nonce`, `gas` (or `gasLimit`), and `type` or a fee; other missing members are empty or 0. A legacy
//! request without `chainId` is valid on every chain, and so must have `gasPrice`. Members that are not part of a
//! transaction, such as `blockHash` and `from`, are ignored. If there is a `hash`, it must be correct; alloy does not
//! check it. Errors name the member.
//!
//! # Limits
//! Fees have at most 128 bits; gas limit, nonce and chain id have at most 64 bits. Larger integers are rejected,
//! although the Yellow Paper allows fees up to 2^256 - 1: no account can pay such a fee, and alloy has the same limit.
//!
//! Rules that depend on a chain's state or fork (intrinsic gas, a nonce of 2^64 - 1, the count and version of blob
//! hashes, an empty authorization list) are left to the caller.
//!
//! Constant time: signing, to the extent that [`SecretKey::sign_prehash`] is; everything else handles public data.
//!
//! ```
//! use lydite_bytes::{Address, Bytes, U256};
//! use lydite_curve::secp256k1::SecretKey;
//! use lydite_evm::tx::{Signable, Transaction, TransactionRef, TxEip1559};
//!
//! let key = SecretKey::from_bytes(&[0x46; 32])?;
//! let transfer = TxEip1559 {
//!     chain_id: 1,
//!     nonce: 42,
//!     max_priority_fee_per_gas: 2_000_000_000,
//!     max_fee_per_gas: 100_000_000_000,
//!     gas_limit: 21_000,
//!     to: Some(Address([0x11; 20])),
//!     value: U256::from(1_000_000_000_000_000_000u64),
//!     data: Bytes::new(),
//!     access_list: Vec::new(),
//! };
//! let signed = Transaction::from(transfer.sign(&key));
//! let raw = signed.encode();
//!
//! let view = TransactionRef::decode(&raw)?;
//! assert_eq!(view.hash(), signed.hash());
//! assert_eq!(view.sender()?, key.public_key().to_address());
//! assert_eq!(Transaction::from(view), signed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`SecretKey::sign_prehash`]: lydite_curve::secp256k1::SecretKey::sign_prehash

mod batch;
mod decode;
mod error;
mod kind;
mod lists;
#[cfg(feature = "serde")]
mod quantity;
mod request;
#[cfg(feature = "serde")]
mod serialize;
mod signing;
#[cfg(test)]
mod tests;
mod transaction;
mod view;

pub use batch::{hashes, senders};
pub use decode::BlobSidecar;
pub use error::Error;
pub use kind::TransactionType;
pub use lists::{AccessListItem, AccessListItemRef, Authorization};
pub use request::{Field, TransactionRequest};
pub use signing::{Signable, Signed};
pub use transaction::{Transaction, TxEip1559, TxEip2930, TxEip4844, TxEip7702, TxLegacy};
pub use view::TransactionRef;
