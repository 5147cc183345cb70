//! Elliptic-curve Diffie-Hellman.
//!
//! Source: [SEC1] §3.3.1.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{PublicKey, SecretKey, dispatch::Backend};

/// The point that two parties share: each makes it from its secret key and the other's public key. Wiped when dropped; it
/// has no `Debug`.
#[derive(ZeroizeOnDrop)]
pub struct SharedSecret {
    compressed: [u8; 33],
}

impl SharedSecret {
    /// The x coordinate, big-endian: what SEC 1 calls the shared secret. Not uniform: hash it before it is used as a key.
    #[must_use]
    pub fn x(&self) -> &[u8; 32] {
        let [_, x @ ..] = &self.compressed;
        x
    }

    /// SHA-256 of the point in SEC 1 compressed form, 33 bytes: what libsecp256k1's `secp256k1_ecdh` returns.
    #[must_use]
    pub fn sha256(&self) -> [u8; 32] {
        lydite_hash::sha256(&self.compressed)
    }
}

impl SecretKey {
    /// The point shared with the owner of a public key. Constant-time in the secret key.
    ///
    /// ```
    /// use lydite_curve::secp256k1::SecretKey;
    ///
    /// let (a, b) = (SecretKey::from_bytes(&[0x46; 32])?, SecretKey::from_bytes(&[0x47; 32])?);
    /// let shared = a.diffie_hellman(&b.public_key());
    /// assert_eq!(shared.sha256(), b.diffie_hellman(&a.public_key()).sha256());
    /// # Ok::<(), lydite_curve::secp256k1::Error>(())
    /// ```
    #[must_use]
    pub fn diffie_hellman(&self, public_key: &PublicKey) -> SharedSecret {
        // The order is prime, the point not infinity and the key not 0: neither is the product infinity.
        let mut halves = self.0.split_for_digits();
        let mut product = Backend::detect().multiply_secret(&public_key.0, &halves);
        halves.zeroize();
        let mut z_inverse = product.z.invert();
        let point = product.to_affine_with(&z_inverse).normalize();
        product.zeroize();
        z_inverse.zeroize();
        SharedSecret {
            compressed: PublicKey(point).to_sec1_compressed(),
        }
    }
}
