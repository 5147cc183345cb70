//! OCapN: the [`syrup`] codec, and [`captp`] messages based on it.
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
pub mod syrup;

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
