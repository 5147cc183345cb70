//! Generalized XMSS, the hash-based signature scheme of lean Ethereum, compatible bit for bit with leanVM's XMSS on BLAKE2s
//! ([`LeanVm`], which lean-consensus devnets run), with leanSig c08a3ba and with the older hash-sig.
//!
//! A key signs one message per epoch. With [`LeanVm`] a public key has 32 bytes and a signature 1208; with leanSig's
//! production set, 52 and 2536.
//!
//! ```
//! use lydite_xmss::{LeanSigTest, PublicKey, SecretKey, Signature};
//!
//! let key = SecretKey::<LeanSigTest>::from_seed(&[7; 32], 0..256, &())?;
//! let signature = key.sign(3, &[1; 32])?;
//! assert!(key.public_key()?.verify(3, &[1; 32], &signature));
//! assert!(!key.public_key()?.verify(4, &[1; 32], &signature));
//! assert_eq!(Signature::from_bytes(&signature.to_bytes())?, signature);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - Schemes are types ([`Scheme`]), or values chosen by name ([`named`]).
//! - Guarantees are types too, each with one `sign`: a [`SecretKey`] signs the epochs of its window and keeps no record, a
//!   [`Signer`] also moves the window, and a key file (`store::KeyFile`) never signs an epoch twice.
//! - Decoding is strict. Functions that also accept what leanSig accepts are named `…leansig_compatible`.
//! - Features: `rayon` uses all cores; `std` adds key files that never sign an epoch twice; `keystore` adds EIP-8310
//!   keystores as another form of them.
//!
//! Source: \[LEANSIG\], \[DKKW25\], \[HHKTW26\]. Keys in brackets are those of `docs/papers.md`.
#![no_std]
extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

mod blake2s;
mod encoding;
mod hash;
mod key;
mod koalabear;
mod layout;
pub mod named;
mod parallel;
pub mod poseidon;
mod prf;
mod scheme;
mod signature;
mod ssz;
#[cfg(feature = "std")]
pub mod store;
#[cfg(test)]
mod tests;
mod tree;
mod walk;
mod wipe;

pub use chacha20::ChaCha12Rng;
pub use key::{GenerateError, NextTree, Observer, SecretKey, SignError, Signer};
pub use rand_core;
pub use scheme::{
    HashSig2025, LeanSig46x8, LeanSig46x10, LeanSig46x18, LeanSigLegacyW4, LeanSigProd,
    LeanSigTest, LeanVm, Scheme,
};
pub use signature::{Claim, Message, PublicKey, Signature, verify_batch};
pub use ssz::DecodeError;

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
