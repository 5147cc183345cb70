//! The EVM's precompiled contracts, one file per address, with their gas in every fork.
//!
//! ```
//! use lydite_evm::precompile::{Fork, Precompile};
//!
//! let mut out = Vec::new();
//! let sha256 = Precompile::at(2, Fork::Osaka).expect("it is there since Frontier");
//! let gas = sha256.run(b"abc", 100, Fork::Osaka, &mut out)?;
//! assert_eq!((gas, &out[..4]), (72, &[0xba, 0x78, 0x16, 0xbf][..]));
//! # Ok::<(), lydite_evm::precompile::Error>(())
//! ```
//!
//! Each function takes the input of a call, its gas limit, the fork and a buffer. It returns the gas used and stores
//! the output, which may be empty, in the buffer. On an [`Error`] the call fails and all its gas is burnt; the buffer
//! is then empty. Gas is charged before anything is computed or allocated. The buffer is cleared first. If the output
//! has a fixed length (all except identity and modexp), a buffer with a capacity of 256 is never reallocated.
//!
//! Everything is variable-time: the inputs of a precompile are public.

pub mod blake2f;
#[cfg(feature = "bls12-381")]
pub mod bls12_g1add;
#[cfg(feature = "bls12-381")]
pub mod bls12_g1msm;
#[cfg(feature = "bls12-381")]
pub mod bls12_g2add;
#[cfg(feature = "bls12-381")]
pub mod bls12_g2msm;
#[cfg(feature = "bls12-381")]
pub mod bls12_map_fp2_to_g2;
#[cfg(feature = "bls12-381")]
pub mod bls12_map_fp_to_g1;
#[cfg(feature = "bls12-381")]
pub mod bls12_pairing;
#[cfg(feature = "bls12-381")]
mod bls12_points;
pub mod bn254_add;
pub mod bn254_mul;
pub mod bn254_pairing;
pub mod ecrecover;
mod fork;
pub mod identity;
pub mod modexp;
pub mod p256_verify;
#[cfg(feature = "bls12-381")]
pub mod point_evaluation;
pub mod ripemd160;
pub mod sha256;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::fmt;

use lydite_bytes::Address;
#[cfg(feature = "bls12-381")]
use lydite_curve::bls12_381;
use lydite_curve::bn254;

pub use fork::{Fork, UnknownFork};

/// Gas used by a call.
pub type GasUsed = u64;

/// The reason why a call fails. All its gas is burnt.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The gas limit of the call is too low.
    OutOfGas,
    /// The fork does not have this precompile.
    NotActive,
    /// The length of the input is not allowed.
    InputLength,
    /// BLAKE2 F: the flag of the last block is not 0 or 1.
    Blake2Flag,
    /// Modexp: a length exceeds 1024 (EIP-7823).
    ModexpLength,
    /// KZG: the versioned hash does not match the commitment.
    VersionedHash,
    /// BLS12-381: the first 16 bytes of a field element are not zero.
    Padding,
    /// A bn254 input is invalid.
    Bn254(bn254::Error),
    /// A BLS12-381 input or a KZG proof is invalid.
    #[cfg(feature = "bls12-381")]
    Bls12_381(bls12_381::Error),
    /// The fork has this precompile, but this build does not: feature `bls12-381` is off.
    NotBuilt,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfGas => "out of gas",
            Self::NotActive => "the fork has no precompiled contract at this address",
            Self::InputLength => "input length is not valid for this precompiled contract",
            Self::Blake2Flag => "blake2f: expected 0 or 1 in the last byte",
            Self::ModexpLength => "modexp: expected lengths of at most 1024 bytes",
            Self::VersionedHash => "kzg: versioned hash does not match the commitment",
            Self::Padding => "bls12-381: expected 16 zero bytes at the start of a field element",
            Self::Bn254(error) => return error.fmt(f),
            #[cfg(feature = "bls12-381")]
            Self::Bls12_381(error) => return error.fmt(f),
            Self::NotBuilt => "bls12-381: not included in this build",
        })
    }
}

impl core::error::Error for Error {}

impl From<bn254::Error> for Error {
    fn from(error: bn254::Error) -> Self {
        Self::Bn254(error)
    }
}

#[cfg(feature = "bls12-381")]
impl From<bls12_381::Error> for Error {
    fn from(error: bls12_381::Error) -> Self {
        Self::Bls12_381(error)
    }
}

/// A precompiled contract.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precompile {
    /// [`ecrecover`].
    EcRecover,
    /// [`sha256`].
    Sha256,
    /// [`ripemd160`].
    Ripemd160,
    /// [`identity`].
    Identity,
    /// [`modexp`].
    Modexp,
    /// [`bn254_add`].
    Bn254Add,
    /// [`bn254_mul`].
    Bn254Mul,
    /// [`bn254_pairing`].
    Bn254Pairing,
    /// [`blake2f`].
    Blake2F,
    /// [`point_evaluation`].
    PointEvaluation,
    /// [`bls12_g1add`].
    Bls12G1Add,
    /// [`bls12_g1msm`].
    Bls12G1Msm,
    /// [`bls12_g2add`].
    Bls12G2Add,
    /// [`bls12_g2msm`].
    Bls12G2Msm,
    /// [`bls12_pairing`].
    Bls12Pairing,
    /// [`bls12_map_fp_to_g1`].
    Bls12MapFpToG1,
    /// [`bls12_map_fp2_to_g2`].
    Bls12MapFp2ToG2,
    /// [`p256_verify`].
    P256Verify,
}

impl Precompile {
    /// All precompiles, by address.
    pub const ALL: [Self; 18] = [
        Self::EcRecover,
        Self::Sha256,
        Self::Ripemd160,
        Self::Identity,
        Self::Modexp,
        Self::Bn254Add,
        Self::Bn254Mul,
        Self::Bn254Pairing,
        Self::Blake2F,
        Self::PointEvaluation,
        Self::Bls12G1Add,
        Self::Bls12G1Msm,
        Self::Bls12G2Add,
        Self::Bls12G2Msm,
        Self::Bls12Pairing,
        Self::Bls12MapFpToG1,
        Self::Bls12MapFp2ToG2,
        Self::P256Verify,
    ];

    /// Returns the last two bytes of the address; the others are zero.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::EcRecover => 0x1,
            Self::Sha256 => 0x2,
            Self::Ripemd160 => 0x3,
            Self::Identity => 0x4,
            Self::Modexp => 0x5,
            Self::Bn254Add => 0x6,
            Self::Bn254Mul => 0x7,
            Self::Bn254Pairing => 0x8,
            Self::Blake2F => 0x9,
            Self::PointEvaluation => 0xa,
            Self::Bls12G1Add => 0xb,
            Self::Bls12G1Msm => 0xc,
            Self::Bls12G2Add => 0xd,
            Self::Bls12G2Msm => 0xe,
            Self::Bls12Pairing => 0xf,
            Self::Bls12MapFpToG1 => 0x10,
            Self::Bls12MapFp2ToG2 => 0x11,
            Self::P256Verify => 0x100,
        }
    }

    /// Returns the address.
    #[must_use]
    pub fn address(self) -> Address {
        let mut address = Address::default();
        address.0[18..].copy_from_slice(&self.number().to_be_bytes());
        address
    }

    /// Returns the fork that introduced it.
    #[must_use]
    pub const fn since(self) -> Fork {
        match self {
            Self::EcRecover | Self::Sha256 | Self::Ripemd160 | Self::Identity => Fork::Frontier,
            Self::Modexp | Self::Bn254Add | Self::Bn254Mul | Self::Bn254Pairing => Fork::Byzantium,
            Self::Blake2F => Fork::Istanbul,
            Self::PointEvaluation => Fork::Cancun,
            Self::Bls12G1Add
            | Self::Bls12G1Msm
            | Self::Bls12G2Add
            | Self::Bls12G2Msm
            | Self::Bls12Pairing
            | Self::Bls12MapFpToG1
            | Self::Bls12MapFp2ToG2 => Fork::Prague,
            Self::P256Verify => Fork::Osaka,
        }
    }

    /// Returns the precompile with this number, if the fork has it.
    #[must_use]
    pub fn at(number: u16, fork: Fork) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|precompile| precompile.number() == number && precompile.since() <= fork)
    }

    /// Returns the precompile at this address, if the fork has it.
    #[must_use]
    pub fn at_address(address: &Address, fork: Fork) -> Option<Self> {
        let [zeros @ .., high, low] = &address.0;
        if zeros.iter().any(|byte| *byte != 0) {
            return None;
        }
        Self::at(u16::from_be_bytes([*high, *low]), fork)
    }

    /// Runs the precompile and stores the output in `out`.
    ///
    /// # Errors
    /// Those of its module; [`Error::NotActive`] if the fork does not have it; [`Error::NotBuilt`] for the BLS12-381
    /// precompiles and the KZG proof verification, if the feature `bls12-381` is off.
    pub fn run(
        self,
        input: &[u8],
        gas_limit: u64,
        fork: Fork,
        out: &mut Vec<u8>,
    ) -> Result<GasUsed, Error> {
        let run = match self {
            Self::EcRecover => ecrecover::run,
            Self::Sha256 => sha256::run,
            Self::Ripemd160 => ripemd160::run,
            Self::Identity => identity::run,
            Self::Modexp => modexp::run,
            Self::Bn254Add => bn254_add::run,
            Self::Bn254Mul => bn254_mul::run,
            Self::Bn254Pairing => bn254_pairing::run,
            Self::Blake2F => blake2f::run,
            #[cfg(feature = "bls12-381")]
            Self::PointEvaluation => point_evaluation::run,
            #[cfg(feature = "bls12-381")]
            Self::Bls12G1Add => bls12_g1add::run,
            #[cfg(feature = "bls12-381")]
            Self::Bls12G1Msm => bls12_g1msm::run,
            #[cfg(feature = "bls12-381")]
            Self::Bls12G2Add => bls12_g2add::run,
            #[cfg(feature = "bls12-381")]
            Self::Bls12G2Msm => bls12_g2msm::run,
            #[cfg(feature = "bls12-381")]
            Self::Bls12Pairing => bls12_pairing::run,
            #[cfg(feature = "bls12-381")]
            Self::Bls12MapFpToG1 => bls12_map_fp_to_g1::run,
            #[cfg(feature = "bls12-381")]
            Self::Bls12MapFp2ToG2 => bls12_map_fp2_to_g2::run,
            Self::P256Verify => p256_verify::run,
            #[cfg(not(feature = "bls12-381"))]
            _ => {
                out.clear();
                return since(self.since(), fork).and(Err(Error::NotBuilt));
            }
        };
        // The result is returned directly: inspecting it here would read two stores with one load, which has to wait
        // for both.
        run(input, gas_limit, fork, out)
    }
}

/// Returns the gas if the limit is high enough.
fn charge(gas: u64, gas_limit: u64) -> Result<GasUsed, Error> {
    if gas <= gas_limit {
        Ok(gas)
    } else {
        Err(Error::OutOfGas)
    }
}

fn since(first: Fork, fork: Fork) -> Result<(), Error> {
    if fork >= first {
        Ok(())
    } else {
        Err(Error::NotActive)
    }
}

/// Stores the output in the buffer, which must be empty.
#[inline]
fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    if out.capacity() < bytes.len() {
        // A new allocation costs less than growing the buffer.
        *out = bytes.to_vec();
    } else {
        out.extend_from_slice(bytes);
    }
}

/// Returns the number of 32-byte words for this number of bytes.
fn words(length: usize) -> u64 {
    length.div_ceil(32) as u64
}

/// Returns `N` bytes of the input from `at` on, padded with zeros.
fn padded<const N: usize>(input: &[u8], at: usize) -> [u8; N] {
    let rest = input.get(at..).unwrap_or_default();
    if let Some(bytes) = rest.first_chunk() {
        return *bytes;
    }
    let mut bytes = [0; N];
    bytes[..rest.len()].copy_from_slice(rest);
    bytes
}

/// Returns the word 1 or 0.
fn word(answer: bool) -> [u8; 32] {
    let mut word = [0; 32];
    word[31] = answer.into();
    word
}
