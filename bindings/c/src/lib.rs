//! The C interface of Lydite; `include/lydite.h` is made from it.
//!
//! Every function checks its pointers as far as that can be done, catches panics, and leaves the text of an error in a
//! buffer of the thread. No logic stands here.
#![allow(non_camel_case_types)]
// The contract of every pointer is that of the header's first lines; it is not said again at each function.
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
