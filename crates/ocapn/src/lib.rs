//! OCapN: the [`syrup`] codec and the [`captp`] messages on it.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;

#[cfg(feature = "captp")]
pub mod captp;
pub mod syrup;
