//! The C binding for Lydite; `include/lydite.h` is generated from it.
//!
//! Every function checks its pointers as far as possible, catches panics, and stores error messages in a thread-local
//! buffer. This crate only converts arguments and results; it contains no other logic.
#![allow(non_camel_case_types)]
// The contract for all pointers is stated once, at the top of the header, and is not repeated for each function.
#![allow(clippy::missing_safety_doc)]

mod abi;
mod ethereum;
mod hash;
mod memory;
mod precompile;
mod secp256k1;
mod status;
mod syrup;
mod xmss;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod tests;
