//! Secret keys: public key derivation and signing, constant-time.

use core::{fmt, str::FromStr};

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{
    Error, PublicKey, Signature, curve::Secp256k1, dispatch::Backend, nonce::Nonces, scalar::Scalar,
};
use crate::{
    group::{Affine, Jacobian},
    mask::Mask,
};

/// A secret key: an integer in [1, n - 1]. Zeroized on drop; does not implement `Clone` or `Copy`, and `Debug` hides it.
#[derive(ZeroizeOnDrop)]
pub struct SecretKey(pub(super) Scalar);

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

    /// Draws a key, uniformly among all keys.
    #[cfg(feature = "rand_core")]
    pub fn random<R: rand_core::CryptoRng + ?Sized>(rng: &mut R) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        loop {
            rng.fill_bytes(&mut *bytes);
            if let Ok(key) = Self::from_bytes(&bytes) {
                return key;
            }
        }
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
    pub(super) fn nonces(&self, z: &Scalar) -> Nonces {
        let mut key = self.0.to_bytes();
        let nonces = Nonces::new(&key, &z.to_bytes());
        key.zeroize();
        nonces
    }

    /// Computes the signature of z from the nonce's point and inverse. Returns `None` if r or s would be 0, which
    /// happens with probability 2^-256. Constant-time.
    pub(super) fn signature(
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

/// Hides the key.
impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

impl TryFrom<&[u8]> for SecretKey {
    type Error = Error;

    /// Like [`SecretKey::from_bytes`], or [`Error::SecretKeyEncoding`] if there are not 32 bytes.
    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes(bytes.try_into().map_err(|_| Error::SecretKeyEncoding)?)
    }
}

impl FromStr for SecretKey {
    type Err = Error;

    /// Converts 64 hexadecimal digits, with or without the prefix 0x. Constant-time in the digits of a valid text.
    fn from_str(text: &str) -> Result<Self, Error> {
        // A prefix is recognised by the length, since the first digits are secret.
        let digits = match text.len() {
            66 => text.strip_prefix("0x").ok_or(Error::SecretKeyEncoding)?,
            _ => text,
        };
        let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
        let pairs: &[[u8; 2]; 32] = pairs.try_into().map_err(|_| Error::SecretKeyEncoding)?;
        let mut bytes = Zeroizing::new([0; 32]);
        let mut invalid = 0;
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            let digits = secret_digit(*high) << 4 | secret_digit(*low);
            invalid |= digits >> 8;
            *byte = digits as u8;
        }
        if !rest.is_empty() || !Mask::is_zero(u64::from(invalid)).declassify() {
            return Err(Error::SecretKeyEncoding);
        }
        Self::from_bytes(&bytes)
    }
}

/// The value of a hexadecimal digit, without a branch or a table. The upper half is not zero for other characters.
fn secret_digit(character: u8) -> u16 {
    // All ones if `first <= c <= last`: then neither difference borrows.
    let within = |c: u16, first: u8, last: u8| {
        let borrow = c.wrapping_sub(u16::from(first)) | u16::from(last).wrapping_sub(c);
        (borrow >> 15).wrapping_sub(1)
    };
    let (c, lower) = (u16::from(character), u16::from(character | 0x20));
    let (decimal, letter) = (within(c, b'0', b'9'), within(lower, b'a', b'f'));
    let value = decimal & c.wrapping_sub(u16::from(b'0'))
        | letter & lower.wrapping_sub(u16::from(b'a') - 10);
    value | !(decimal | letter) & 0xff00
}

/// Computes `k G`, normalized. Constant-time.
pub(super) fn multiply_generator(k: &Scalar) -> Affine<Secp256k1> {
    let mut out = [Jacobian::INFINITY];
    Backend::detect().multiply_generator(core::slice::from_ref(k), &mut out);
    let mut z_inverse = out[0].z.invert();
    let point = out[0].to_affine_with(&z_inverse).normalize();
    out.zeroize();
    z_inverse.zeroize();
    point
}
