//! BLS12-381 for the EVM's precompiles 0x0b to 0x11 (EIP-2537) and the KZG proof verification of 0x0a, based on `blst`.
//!
//! Points are encoded as coordinates of 48 big-endian bytes, x first; elements of Fp2 have the real part first;
//! infinity is all zeros. Everything is variable-time: the inputs are public.
//!
//! The kernels, which `dispatch` selects, are those of `blst`, or our own if the CPU has BMI2 and ADX, some of them for
//! eight lanes if it also has AVX-512 IFMA.
//!
//! Source: \[EIP-2537\], \[EIP-4844\]; subgroups: \[Scott21\]; decomposition of multipliers: \[GLV01\], \[GLS09\].

mod dispatch;
mod encoding;
mod endomorphism;
mod fields;
mod generator;
mod groups;
pub mod kzg;
mod maps;
mod miller;
mod msm;
mod pairing;
mod points;
mod portable;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use core::fmt;

pub use maps::{map_fp_to_g1, map_fp2_to_g2};
pub use msm::{g1_msm, g2_msm};
pub use pairing::pairing_check;
pub use points::{g1_add, g2_add};

/// Length of an encoded point of G1, in bytes.
pub const G1_LENGTH: usize = 96;
/// Length of an encoded point of G2, in bytes.
pub const G2_LENGTH: usize = 192;

/// The reason why an input is rejected.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A field element is not below the field prime.
    FieldElementOutOfRange,
    /// The coordinates are not on the curve.
    NotOnCurve,
    /// A point is not in the subgroup of order r.
    NotInSubgroup,
    /// A compressed point is not validly encoded.
    PointEncoding,
    /// A scalar is not below r.
    ScalarOutOfRange,
    /// The KZG proof is not valid for the claim.
    ProofMismatch,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FieldElementOutOfRange => "bls12-381: field element is not below the field prime",
            Self::NotOnCurve => "bls12-381: point is not on the curve",
            Self::NotInSubgroup => "bls12-381: point is not in the subgroup of order r",
            Self::PointEncoding => "bls12-381: compressed point is not validly encoded",
            Self::ScalarOutOfRange => "bls12-381: scalar is not below the group order",
            Self::ProofMismatch => "kzg: proof is not valid for the claim",
        })
    }
}

impl core::error::Error for Error {}
