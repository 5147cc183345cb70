//! secp256k1 for Ethereum.
#![no_std]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;
