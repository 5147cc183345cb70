//! Keccak-256 and SHA-256 for Ethereum.
#![no_std]
#[cfg(feature = "std")]
extern crate std;
