//! Signatures: encodings, recovery ids, low s.

use core::{fmt, str::FromStr};

use lydite_bytes::{FixedBytes, hex};
use zeroize::Zeroize;

use super::{
    Error, PublicKey,
    field::FieldElement,
    recover,
    scalar::{ORDER, Scalar},
};
use crate::words;

/// A signature with its recovery id. The parts are not checked until use. The default is all zeros, which is invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// Big-endian.
    pub(super) r: [u8; 32],
    /// Big-endian.
    pub(super) s: [u8; 32],
    /// Bit 0: y of the nonce point is odd. Bit 1: its x is r + n.
    pub(super) recovery_id: u8,
}

impl Signature {
    /// Creates a signature from r and s, 32 big-endian bytes each, and a recovery id. Nothing is checked until use:
    /// [`recover`](super::recover) rejects a recovery id above 3, [`verify`](super::verify) ignores it.
    #[inline]
    #[must_use]
    pub const fn new(r: [u8; 32], s: [u8; 32], recovery_id: u8) -> Self {
        Self { r, s, recovery_id }
    }

    /// Returns r, big-endian.
    #[inline]
    #[must_use]
    pub const fn r(&self) -> &[u8; 32] {
        &self.r
    }

    /// Returns s, big-endian.
    #[inline]
    #[must_use]
    pub const fn s(&self) -> &[u8; 32] {
        &self.s
    }

    /// Returns the recovery id. Bit 0: y of the nonce point is odd. Bit 1: its x is r + n.
    #[inline]
    #[must_use]
    pub const fn recovery_id(&self) -> u8 {
        self.recovery_id
    }

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

    /// Converts r || s, with recovery id 0. For [`verify`](super::verify), which ignores the recovery id.
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
    pub(super) fn checked(
        mut self,
        hash: &[u8; 32],
        public_key: &PublicKey,
    ) -> Result<Self, Error> {
        if recover(hash, &self).as_ref() == Ok(public_key) {
            return Ok(self);
        }
        self.r.zeroize();
        self.s.zeroize();
        Err(Error::Mismatch)
    }

    /// Returns r and s as scalars.
    pub(super) fn scalars(&self) -> Result<(Scalar, Scalar), Error> {
        Ok((
            Scalar::from_bytes_nonzero(&self.r).ok_or(Error::ROutOfRange)?,
            Scalar::from_bytes_nonzero(&self.s).ok_or(Error::SOutOfRange)?,
        ))
    }

    /// Returns the x coordinate of the nonce point, and whether its y is odd.
    pub(super) fn nonce_x(&self, r: &Scalar) -> Result<(FieldElement, bool), Error> {
        let x = match self.recovery_id {
            0 | 1 => FieldElement::from_bytes(&self.r),
            2 | 3 => x_beyond_order(r),
            _ => return Err(Error::RecoveryId),
        };
        x.map(|x| (x, self.recovery_id & 1 == 1))
            .ok_or(Error::NoSuchPoint)
    }
}

impl TryFrom<&[u8]> for Signature {
    type Error = Error;

    /// Like [`Signature::from_bytes65_any_v`], or [`Error::SignatureEncoding`] if there are not 65 bytes.
    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes65_any_v(bytes.try_into().map_err(|_| Error::SignatureEncoding)?)
    }
}

impl FromStr for Signature {
    type Err = Error;

    /// Converts r || s || v in hexadecimal, with or without the prefix 0x. v is a recovery id, or 27 or 28.
    fn from_str(text: &str) -> Result<Self, Error> {
        let bytes = hex::decode_to_array(text).map_err(|_| Error::SignatureEncoding)?;
        Self::from_bytes65_any_v(&bytes)
    }
}

/// r || s || v in hexadecimal, prefixed by 0x. v is 27 or 28, or the recovery id if that is above 1.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.to_bytes65();
        if self.recovery_id < 2 {
            bytes[64] += 27;
        }
        FixedBytes(bytes).fmt(f)
    }
}

/// Returns r + n if it is below p.
pub(super) fn x_beyond_order(r: &Scalar) -> Option<FieldElement> {
    let (sum, carry) = words::add(r.words(), &ORDER);
    (!carry).then(|| FieldElement::from_bytes(&words::to_be(&sum)))?
}
