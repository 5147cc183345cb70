//! ECDSA over secp256k1 for Ethereum: signatures of 32-byte hashes, with recovery of the public key.
//!
//! ```
//! use lydite_curve::secp256k1::{SecretKey, recover_address, verify};
//!
//! let key = SecretKey::from_bytes(&[0x46; 32])?;
//! let hash = [0x11; 32];
//! let signature = key.sign_prehash(&hash);
//! verify(&key.public_key(), &hash, &signature)?;
//! assert_eq!(recover_address(&hash, &signature)?, key.public_key().to_address());
//! # Ok::<(), lydite_curve::secp256k1::Error>(())
//! ```
//!
//! To process many items, use the functions ending in `_batch`, which cost less per item, or, with the feature `rayon`,
//! those in `parallel`, which use all cores.
//!
//! Signing, public key derivation and Diffie-Hellman are constant-time in the key and the nonce
//! (`docs/constant-time.md` describes how this is checked). Verification, recovery and the parsing of public keys are
//! variable-time: their inputs are public.
//!
//! Source: \[SEC1\] §3.3.1 (Diffie-Hellman), §4.1 (ECDSA, recovery), \[SEC2\] §2.4.1 (parameters), \[RFC6979\]
//! (nonces), EIP-2 (low s). The keys in brackets refer to `docs/papers.md`.

mod batch;
mod curve;
mod dispatch;
mod ecdh;
mod field;
mod generator;
mod multiply;
mod nonce;
#[cfg(feature = "rayon")]
pub mod parallel;
mod public_key;
mod scalar;
mod secret_key;
mod secret_multiply;
#[cfg(feature = "serde")]
mod serialize;
mod signature;
#[cfg(feature = "signature")]
mod signature_traits;
mod tables;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use core::fmt;

use lydite_bytes::Address;

pub use batch::{
    public_key_batch, recover_address_batch, recover_address_low_s_batch, recover_batch,
    sign_prehash_batch, verify_batch,
};
pub use ecdh::SharedSecret;
pub use public_key::PublicKey;
pub use secret_key::SecretKey;
pub use signature::Signature;

use dispatch::Backend;

/// The reason why an input is rejected.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The secret key is not 32 bytes, or not 64 hexadecimal digits.
    SecretKeyEncoding,
    /// The secret key is 0, or not below the group order n.
    SecretKeyOutOfRange,
    /// The length or first byte of a public key's encoding is not valid in SEC 1, or it encodes infinity.
    PublicKeyEncoding,
    /// A coordinate of the public key is not below the field prime.
    CoordinateOutOfRange,
    /// The coordinates are not on the curve.
    NotOnCurve,
    /// The signature is not 65 bytes, or not 130 hexadecimal digits.
    SignatureEncoding,
    /// r is 0, or not below n.
    ROutOfRange,
    /// s is 0, or not below n.
    SOutOfRange,
    /// s is above n / 2, which EIP-2 forbids in transactions.
    HighS,
    /// The recovery id is not 0, 1, 2 or 3, or the function does not accept this v byte.
    RecoveryId,
    /// No point on the curve has the x coordinate given by r and the recovery id.
    NoSuchPoint,
    /// The recovered public key would be the point at infinity.
    Infinity,
    /// The signature is well-formed but not valid for this key and hash.
    Mismatch,
    /// The slices of a batch differ in length.
    Length,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SecretKeyEncoding => "secret key: expected 32 bytes or 64 hexadecimal digits",
            Self::SecretKeyOutOfRange => "secret key is not in [1, n - 1]",
            Self::PublicKeyEncoding => {
                "public key: expected 33 bytes starting with 2 or 3, or 65 bytes starting with 4 (SEC 1)"
            }
            Self::CoordinateOutOfRange => "public key coordinate is not below the field prime",
            Self::NotOnCurve => "public key is not on the curve",
            Self::SignatureEncoding => "signature: expected 65 bytes or 130 hexadecimal digits",
            Self::ROutOfRange => "signature: r is not in [1, n - 1]",
            Self::SOutOfRange => "signature: s is not in [1, n - 1]",
            Self::HighS => "signature: s is above n / 2 (EIP-2)",
            Self::RecoveryId => "signature: recovery id or v is not valid",
            Self::NoSuchPoint => "signature: r is not the x coordinate of a point on the curve",
            Self::Infinity => "signature: recovered public key is the point at infinity",
            Self::Mismatch => "signature is not valid for this public key and hash",
            Self::Length => "batch: expected slices of equal length",
        })
    }
}

impl core::error::Error for Error {}

/// Verifies a signature. The recovery id is ignored. Variable-time.
///
/// s may be high, unlike in libsecp256k1: (r, n - s) is valid too. To reject a high s, call
/// [`Signature::require_low_s`] first.
///
/// # Errors
/// [`Error::ROutOfRange`], [`Error::SOutOfRange`], or [`Error::Mismatch`].
pub fn verify(public_key: &PublicKey, hash: &[u8; 32], signature: &Signature) -> Result<(), Error> {
    let mut out = [Ok(())];
    batch::verify_chunk::<1>(
        Backend::detect(),
        core::slice::from_ref(public_key),
        core::slice::from_ref(hash),
        core::slice::from_ref(signature),
        &mut out,
    );
    out[0]
}

/// Recovers the public key that made a signature. s may be high, as in the `ecrecover` precompile. If EIP-2 applies,
/// call [`Signature::require_low_s`] first. Variable-time.
///
/// # Errors
/// [`Error::RecoveryId`], [`Error::ROutOfRange`], [`Error::SOutOfRange`], [`Error::NoSuchPoint`] or
/// [`Error::Infinity`].
pub fn recover(hash: &[u8; 32], signature: &Signature) -> Result<PublicKey, Error> {
    let mut out = [Err(Error::Length)];
    batch::recover_chunk::<1>(
        Backend::detect(),
        core::slice::from_ref(hash),
        core::slice::from_ref(signature),
        &mut out,
    );
    out[0]
}

/// [`recover`], then [`PublicKey::to_address`]. Variable-time.
///
/// # Errors
/// Those of [`recover`].
pub fn recover_address(hash: &[u8; 32], signature: &Signature) -> Result<Address, Error> {
    recover(hash, signature).map(|key| key.to_address())
}

/// [`recover_address`] for signatures whose s must be low: the rule for transactions since Homestead. Variable-time.
///
/// # Errors
/// [`Error::HighS`] and those of [`recover`].
pub fn recover_address_low_s(hash: &[u8; 32], signature: &Signature) -> Result<Address, Error> {
    recover_address(hash, signature.require_low_s()?)
}
