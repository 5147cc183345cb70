//! OCapN: the [`syrup`] codec and the [`captp`] messages on it.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;
// As derived code calls it.
#[cfg(test)]
extern crate self as lydite_ocapn;

#[cfg(feature = "captp")]
pub mod captp;
pub mod syrup;
