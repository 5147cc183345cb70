//! Hash functions used by Ethereum: Keccak-256 (one-shot, streaming, at compile time and in batches), SHA-256,
//! RIPEMD-160, BLAKE2s-256 (one-shot and in batches), the compression function of BLAKE2b, and SHAKE128 in batches.
//!
//! ```
//! use lydite_hash::{keccak256, keccak256_const};
//!
//! const TRANSFER: [u8; 32] = keccak256_const(b"transfer(address,uint256)");
//! assert_eq!(TRANSFER[..4], [0xa9, 0x05, 0x9c, 0xbb]);
//! assert_eq!(TRANSFER, keccak256(b"transfer(address,uint256)"));
//! ```
//!
//! The streaming hashers implement the traits of the crate `digest` 0.11, and with the feature `std`,
//! `std::io::Write`.
#![no_std]
#[cfg(any(test, feature = "std"))]
extern crate std;

mod blake2b;
pub mod blake2s;
pub mod cpu;
mod digest;
pub mod keccak;
#[cfg(lydite_constant_time_check)]
pub mod memcheck;
mod ripemd160;
mod sha256;
#[cfg(feature = "std")]
mod write;

pub use blake2b::blake2b_compress;
pub use blake2s::{blake2s256, blake2s256_batch};
pub use keccak::{
    Keccak256, keccak256, keccak256_batch, keccak256_const, keccak256_into, sha3_256,
    shake128_batch,
};
pub use ripemd160::ripemd160;
pub use sha256::{SHA256_INITIAL, Sha256, sha256, sha256_in_place};

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
