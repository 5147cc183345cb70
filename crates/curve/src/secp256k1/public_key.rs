//! Public keys: SEC 1 encodings and addresses.

use core::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    str::FromStr,
};

use lydite_bytes::{Address, FixedBytes, hex};

use super::{
    Error,
    curve::{Endomorphism, Secp256k1},
    dispatch::Backend,
    field::FieldElement,
};
use crate::group::Affine;

/// A public key: a point on the curve other than infinity.
#[derive(Clone, Copy)]
pub struct PublicKey(pub(super) Affine<Secp256k1>);

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

/// By the compressed encoding.
impl Ord for PublicKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.to_sec1_compressed().cmp(&other.to_sec1_compressed())
    }
}

impl PartialOrd for PublicKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for PublicKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_bytes().hash(state);
    }
}

impl TryFrom<&[u8]> for PublicKey {
    type Error = Error;

    /// Like [`PublicKey::from_sec1_bytes`].
    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_sec1_bytes(bytes)
    }
}

impl FromStr for PublicKey {
    type Err = Error;

    /// Converts a SEC 1 encoding in hexadecimal, with or without the prefix 0x.
    fn from_str(text: &str) -> Result<Self, Error> {
        if let Ok(bytes) = hex::decode_to_array::<33>(text) {
            return Self::from_sec1_bytes(&bytes);
        }
        let bytes = hex::decode_to_array::<65>(text).map_err(|_| Error::PublicKeyEncoding)?;
        Self::from_sec1_bytes(&bytes)
    }
}

/// The compressed SEC 1 encoding in hexadecimal, prefixed by 0x.
impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        FixedBytes(self.to_sec1_compressed()).fmt(f)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}
