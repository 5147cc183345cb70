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
#[cfg(any(test, target_pointer_width = "32"))]
mod field_words32;
mod generator;
mod multiply;
mod nonce;
#[cfg(feature = "rayon")]
pub mod parallel;
mod scalar;
mod secret_multiply;
mod tables;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use core::fmt;

use lydite_bytes::Address;
use zeroize::{Zeroize, ZeroizeOnDrop};

pub use batch::{
    public_key_batch, recover_address_batch, recover_address_low_s_batch, recover_batch,
    sign_prehash_batch, verify_batch,
};
pub use ecdh::SharedSecret;

use crate::group::{Affine, Jacobian};
use curve::{Koblitz, Secp256k1};
use dispatch::Backend;
use field::FieldElement;
use nonce::Nonces;
use scalar::{ORDER, Scalar};

/// The reason why an input is rejected.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The secret key is 0, or not below the group order n.
    SecretKeyOutOfRange,
    /// The length or first byte of a public key's encoding is not valid in SEC 1, or it encodes infinity.
    PublicKeyEncoding,
    /// A coordinate of the public key is not below the field prime.
    CoordinateOutOfRange,
    /// The coordinates are not on the curve.
    NotOnCurve,
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
            Self::SecretKeyOutOfRange => "secret key is not in [1, n - 1]",
            Self::PublicKeyEncoding => "public key is not in SEC 1 form",
            Self::CoordinateOutOfRange => "public key coordinate is not below the field prime",
            Self::NotOnCurve => "public key is not on the curve",
            Self::ROutOfRange => "signature: r is not in [1, n - 1]",
            Self::SOutOfRange => "signature: s is not in [1, n - 1]",
            Self::HighS => "signature: s is above n / 2",
            Self::RecoveryId => "signature: recovery id is not valid",
            Self::NoSuchPoint => "signature: r is not the x coordinate of a point",
            Self::Infinity => "signature: the recovered public key is infinity",
            Self::Mismatch => "signature does not belong to this key and hash",
            Self::Length => "batch: the slices differ in length",
        })
    }
}

impl core::error::Error for Error {}

/// A secret key: an integer in [1, n - 1]. Zeroized on drop; does not implement `Debug`, `Clone` or `Copy`.
#[derive(ZeroizeOnDrop)]
pub struct SecretKey(Scalar);

impl SecretKey {
    /// Converts 32 big-endian bytes.
    ///
    /// # Errors
    /// [`Error::SecretKeyOutOfRange`] for 0 and for n or more.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, Error> {
        Scalar::from_bytes_nonzero(bytes)
            .map(Self)
            .ok_or(Error::SecretKeyOutOfRange)
    }

    /// Derives the public key. Constant-time.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        PublicKey(multiply_generator(&self.0))
    }

    /// Signs a 32-byte hash with a deterministic nonce (RFC 6979), low s and a recovery id. Constant-time.
    ///
    /// The hash is signed as is: hash the message first.
    #[must_use]
    pub fn sign_prehash(&self, hash: &[u8; 32]) -> Signature {
        let z = Scalar::from_bytes_reduced(hash);
        let mut nonces = self.nonces(&z);
        loop {
            let mut k = nonces.next_nonce();
            let mut k_inverse = k.invert();
            let point = multiply_generator(&k);
            k.zeroize();
            let signature = self.signature(&z, &point, &k_inverse);
            k_inverse.zeroize();
            if let Some(signature) = signature {
                return signature;
            }
        }
    }

    /// Like [`sign_prehash`](Self::sign_prehash), but recovers the public key from the signature and returns the
    /// signature only if it is valid for `public_key` and `hash`.
    ///
    /// Use this if an attacker may induce faults (voltage, radiation, memory errors). Nonces are deterministic, so a
    /// correct and a faulty signature of the same hash may reveal the key. Keep the public key from key generation, so
    /// that a corrupted secret key is detected too. The recovery takes longer than the signature.
    /// `docs/constant-time.md` describes the remaining risks.
    ///
    /// ```
    /// use lydite_curve::secp256k1::{Error, PublicKey, SecretKey};
    ///
    /// let key = SecretKey::from_bytes(&[0x46; 32])?;
    /// let public_key = key.public_key();
    /// let signature = key.sign_prehash_checked(&[0x11; 32], &public_key)?;
    /// assert_eq!(signature, key.sign_prehash(&[0x11; 32]));
    /// let other = PublicKey::GENERATOR;
    /// assert_eq!(key.sign_prehash_checked(&[0x11; 32], &other), Err(Error::Mismatch));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the computation went wrong, or if `public_key` is not the public key of this secret key.
    pub fn sign_prehash_checked(
        &self,
        hash: &[u8; 32],
        public_key: &PublicKey,
    ) -> Result<Signature, Error> {
        self.sign_prehash(hash).checked(hash, public_key)
    }

    /// Returns the nonces for z. Constant-time.
    fn nonces(&self, z: &Scalar) -> Nonces {
        let mut key = self.0.to_bytes();
        let nonces = Nonces::new(&key, &z.to_bytes());
        key.zeroize();
        nonces
    }

    /// Computes the signature of z from the nonce's point and inverse. Returns `None` if r or s would be 0, which
    /// happens with probability 2^-256. Constant-time.
    fn signature(
        &self,
        z: &Scalar,
        point: &Affine<Secp256k1>,
        k_inverse: &Scalar,
    ) -> Option<Signature> {
        let (r, overflow) = Scalar::from_bytes_with_overflow(&point.x.to_bytes());
        let mut rd = r.mul(&self.0);
        let s = rd.add(z).mul(k_inverse);
        rd.zeroize();
        // Bit 1: x was not below n. Bit 0: y of the nonce point, or of its opposite if s is negated, is odd.
        let high = s.is_high();
        let odd = u8::from(point.y.is_odd()) ^ (high.word() as u8 & 1);
        let signature = Signature {
            r: r.to_bytes(),
            s: Scalar::select(high, &s.negate(), &s).to_bytes(),
            recovery_id: (overflow.word() as u8 & 2) | odd,
        };
        r.is_zero()
            .or(s.is_zero())
            .not()
            .declassify()
            .then_some(signature)
    }
}

/// Computes `k G`, normalized. Constant-time.
fn multiply_generator(k: &Scalar) -> Affine<Secp256k1> {
    let mut out = [Jacobian::INFINITY];
    Backend::detect().multiply_generator(core::slice::from_ref(k), &mut out);
    let mut z_inverse = out[0].z.invert();
    let point = out[0].to_affine_with(&z_inverse).normalize();
    out.zeroize();
    z_inverse.zeroize();
    point
}

/// A public key: a point on the curve other than infinity.
#[derive(Clone, Copy)]
pub struct PublicKey(Affine<Secp256k1>);

impl PublicKey {
    /// The generator G: the public key of the secret key 1. Useful to initialise buffers.
    pub const GENERATOR: Self = {
        let [x, y] = <Secp256k1>::GENERATOR;
        Self(Affine {
            x: FieldElement::from_words(x),
            y: FieldElement::from_words(y),
        })
    };

    /// Converts a SEC 1 encoding: 33 bytes (2 or 3, x) or 65 bytes (4, x, y). Variable-time.
    ///
    /// # Errors
    /// [`Error::PublicKeyEncoding`], [`Error::CoordinateOutOfRange`] or [`Error::NotOnCurve`].
    pub fn from_sec1_bytes(bytes: &[u8]) -> Result<Self, Error> {
        match bytes {
            [tag @ (2 | 3), x @ ..] => {
                let x = x.try_into().map_err(|_| Error::PublicKeyEncoding)?;
                let x = FieldElement::from_bytes(x).ok_or(Error::CoordinateOutOfRange)?;
                Backend::detect()
                    .lift_x_of_one(&(x, *tag == 3))
                    .map(Self)
                    .ok_or(Error::NotOnCurve)
            }
            [4, point @ ..] => {
                Self::from_bytes(point.try_into().map_err(|_| Error::PublicKeyEncoding)?)
            }
            _ => Err(Error::PublicKeyEncoding),
        }
    }

    /// Converts x || y, 32 big-endian bytes each. Variable-time.
    ///
    /// # Errors
    /// [`Error::CoordinateOutOfRange`] or [`Error::NotOnCurve`].
    pub fn from_bytes(bytes: &[u8; 64]) -> Result<Self, Error> {
        let (halves, _) = bytes.as_chunks::<32>();
        let [x, y] = [0, 1].map(|i| FieldElement::from_bytes(&halves[i]));
        let point = Affine {
            x: x.ok_or(Error::CoordinateOutOfRange)?,
            y: y.ok_or(Error::CoordinateOutOfRange)?,
        };
        if point.is_on_curve() {
            Ok(Self(point))
        } else {
            Err(Error::NotOnCurve)
        }
    }

    /// Returns x || y, 32 big-endian bytes each.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&self.0.x.to_bytes());
        bytes[32..].copy_from_slice(&self.0.y.to_bytes());
        bytes
    }

    /// Returns the uncompressed SEC 1 encoding: 4 || x || y.
    #[must_use]
    pub fn to_sec1_uncompressed(&self) -> [u8; 65] {
        let mut bytes = [4; 65];
        bytes[1..].copy_from_slice(&self.to_bytes());
        bytes
    }

    /// Returns the compressed SEC 1 encoding: 2 (y even) or 3 (y odd) || x.
    #[must_use]
    pub fn to_sec1_compressed(&self) -> [u8; 33] {
        let mut bytes = [2 + u8::from(self.0.y.is_odd()); 33];
        bytes[1..].copy_from_slice(&self.0.x.to_bytes());
        bytes
    }

    /// Returns the address: the last 20 bytes of the Keccak-256 hash of x || y.
    #[must_use]
    pub fn to_address(&self) -> Address {
        Address::from_public_key(&self.to_bytes())
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.to_bytes() == other.to_bytes()
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PublicKey(0x")?;
        for byte in self.to_sec1_compressed() {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}

/// A signature with its recovery id. The fields are not checked until use. The default is all zeros, which is invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// r, big-endian.
    pub r: [u8; 32],
    /// s, big-endian.
    pub s: [u8; 32],
    /// Bit 0: y of the nonce point is odd. Bit 1: its x is r + n.
    pub recovery_id: u8,
}

impl Signature {
    /// Converts r || s || v, where v is the recovery id, 0 to 3.
    ///
    /// # Errors
    /// [`Error::RecoveryId`] if v is not valid. r and s are checked on use.
    pub fn from_bytes65(bytes: &[u8; 65]) -> Result<Self, Error> {
        Self::with_recovery_id(bytes, bytes[64])
    }

    /// Converts r || s || v, where v is 27 or 28 (recovery id 0 or 1), as in `eth_sign` and the `ecrecover` precompile.
    ///
    /// # Errors
    /// [`Error::RecoveryId`] if v is not valid. r and s are checked on use.
    pub fn from_bytes65_v27(bytes: &[u8; 65]) -> Result<Self, Error> {
        match bytes[64] {
            v @ (27 | 28) => Self::with_recovery_id(bytes, v - 27),
            _ => Err(Error::RecoveryId),
        }
    }

    /// Converts r || s || v, where v is a recovery id, or 27 or 28. For external input, where both forms occur.
    ///
    /// # Errors
    /// [`Error::RecoveryId`] if v is not valid. r and s are checked on use.
    pub fn from_bytes65_any_v(bytes: &[u8; 65]) -> Result<Self, Error> {
        match bytes[64] {
            27.. => Self::from_bytes65_v27(bytes),
            _ => Self::from_bytes65(bytes),
        }
    }

    /// Converts r || s, with recovery id 0. For [`verify`], which ignores the recovery id.
    #[must_use]
    pub fn from_bytes64(bytes: &[u8; 64]) -> Self {
        let (halves, _) = bytes.as_chunks::<32>();
        Self {
            r: halves[0],
            s: halves[1],
            recovery_id: 0,
        }
    }

    fn with_recovery_id(bytes: &[u8; 65], recovery_id: u8) -> Result<Self, Error> {
        let (r_and_s, _) = bytes.split_first_chunk().ok_or(Error::Length)?;
        if recovery_id > 3 {
            return Err(Error::RecoveryId);
        }
        Ok(Self {
            recovery_id,
            ..Self::from_bytes64(r_and_s)
        })
    }

    /// Returns r || s || recovery id.
    #[must_use]
    pub fn to_bytes65(&self) -> [u8; 65] {
        let mut bytes = [self.recovery_id; 65];
        bytes[..32].copy_from_slice(&self.r);
        bytes[32..64].copy_from_slice(&self.s);
        bytes
    }

    /// Whether s is above n / 2, which is not allowed in transactions since Homestead (EIP-2).
    #[must_use]
    pub fn is_high_s(&self) -> bool {
        Scalar::from_bytes_nonzero(&self.s).is_none_or(|s| s.is_high().declassify())
            && self.s != [0; 32]
    }

    /// Returns the signature if s is low: for `recover(&hash, signature.require_low_s()?)`.
    ///
    /// # Errors
    /// [`Error::HighS`] if s is high.
    pub fn require_low_s(&self) -> Result<&Self, Error> {
        if self.is_high_s() {
            Err(Error::HighS)
        } else {
            Ok(self)
        }
    }

    /// Returns the equivalent signature with low s. If s is not in [1, n - 1], the signature is returned unchanged.
    #[must_use]
    pub fn normalize_s(&self) -> Self {
        match Scalar::from_bytes_nonzero(&self.s) {
            Some(s) if s.is_high().declassify() => Self {
                s: s.negate().to_bytes(),
                recovery_id: self.recovery_id ^ 1,
                ..*self
            },
            _ => *self,
        }
    }

    /// Returns the signature if the key recovered from it is `public_key`.
    fn checked(mut self, hash: &[u8; 32], public_key: &PublicKey) -> Result<Self, Error> {
        if recover(hash, &self).as_ref() == Ok(public_key) {
            return Ok(self);
        }
        self.r.zeroize();
        self.s.zeroize();
        Err(Error::Mismatch)
    }

    /// Returns r and s as scalars.
    fn scalars(&self) -> Result<(Scalar, Scalar), Error> {
        Ok((
            Scalar::from_bytes_nonzero(&self.r).ok_or(Error::ROutOfRange)?,
            Scalar::from_bytes_nonzero(&self.s).ok_or(Error::SOutOfRange)?,
        ))
    }

    /// Returns the x coordinate of the nonce point, and whether its y is odd.
    fn nonce_x(&self, r: &Scalar) -> Result<(FieldElement, bool), Error> {
        let x = match self.recovery_id {
            0 | 1 => FieldElement::from_bytes(&self.r),
            2 | 3 => x_beyond_order(r),
            _ => return Err(Error::RecoveryId),
        };
        x.map(|x| (x, self.recovery_id & 1 == 1))
            .ok_or(Error::NoSuchPoint)
    }
}

/// Returns r + n if it is below p.
fn x_beyond_order(r: &Scalar) -> Option<FieldElement> {
    let (mut sum, mut carry) = ([0; 4], false);
    for (i, word) in sum.iter_mut().enumerate() {
        let (partial, first) = r.words()[i].overflowing_add(ORDER[i]);
        let second;
        (*word, second) = partial.overflowing_add(u64::from(carry));
        carry = first | second;
    }
    if carry {
        None
    } else {
        FieldElement::from_bytes(&crate::words_to_be(&sum))
    }
}

/// Verifies a signature. The recovery id is ignored; s may be high. Variable-time.
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
