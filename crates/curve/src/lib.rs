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
mod wide;

/// Converts 32 big-endian bytes to four words, least significant first.
#[inline(always)]
fn words_from_be(bytes: &[u8; 32]) -> [u64; 4] {
    let words = bytes.as_chunks::<8>().0;
    core::array::from_fn(|i| u64::from_be_bytes(words[3 - i]))
}

/// Converts four words, least significant first, to 32 big-endian bytes.
#[inline(always)]
fn words_to_be(words: &[u64; 4]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (bytes, word) in bytes
        .as_chunks_mut::<8>()
        .0
        .iter_mut()
        .zip(words.iter().rev())
    {
        *bytes = word.to_be_bytes();
    }
    bytes
}

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
