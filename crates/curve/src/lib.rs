//! Elliptic curves used by Ethereum: [`secp256k1`] (constant-time signing, verification, recovery), [`bn254`]
//! (addition, multiplication, pairing check), [`secp256r1`] (verification) and, with the feature `bls12-381`, BLS12-381
//! and KZG proof verification. Also modular exponentiation: [`modexp`].
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

#[cfg(target_arch = "x86_64")]
mod adx;
#[cfg(feature = "bls12-381")]
pub mod bls12_381;
pub mod bn254;
mod field;
mod group;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod lehmer;
mod mask;
pub mod modexp;
mod montgomery;
mod safegcd;
pub mod secp256k1;
pub mod secp256r1;
mod tower;
mod words;

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
