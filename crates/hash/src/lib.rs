//! Keccak-256 and SHA-256 for Ethereum: one-shot, streaming, at compile time and in batches.
//!
//! ```
//! use lydite_hash::{keccak256, keccak256_const};
//!
//! const TRANSFER: [u8; 32] = keccak256_const(b"transfer(address,uint256)");
//! assert_eq!(TRANSFER[..4], [0xa9, 0x05, 0x9c, 0xbb]);
//! assert_eq!(TRANSFER, keccak256(b"transfer(address,uint256)"));
//! ```
#![no_std]
#[cfg(test)]
extern crate std;

pub mod keccak;
mod sha256;

pub use keccak::{Keccak256, keccak256, keccak256_batch, keccak256_const, keccak256_into};
pub use sha256::{Sha256, sha256};
