//! OCapN: the [`syrup`] codec, [`captp`] messages based on it, and the state machine of CapTP [`session`]s.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;
// The path used by derived code.
#[cfg(test)]
extern crate self as lydite_ocapn;

#[cfg(feature = "captp")]
pub mod captp;
#[cfg(feature = "captp")]
pub mod session;
pub mod syrup;

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
