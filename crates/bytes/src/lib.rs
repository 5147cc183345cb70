//! Hex, U256, fixed bytes and Ethereum addresses.
#![no_std]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;
