//! Elliptic-curve Diffie-Hellman.
//!
//! Source: [SEC1] §3.3.1.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{PublicKey, SecretKey, dispatch::Backend};

/// A point shared by two parties. Each computes it from its secret key and the other's public key. Zeroized on drop;
/// does not implement `Debug`.
#[derive(ZeroizeOnDrop)]
pub struct SharedSecret {
    compressed: [u8; 33],
}

impl SharedSecret {
    /// Returns the big-endian x coordinate, which SEC 1 calls the shared secret. It is not uniform: hash it before
    /// using it as a key.
    #[must_use]
    pub fn x(&self) -> &[u8; 32] {
        let [_, x @ ..] = &self.compressed;
        x
    }

    /// Returns the SHA-256 hash of the point in SEC 1 compressed form (33 bytes), like libsecp256k1's `secp256k1_ecdh`.
    #[must_use]
    pub fn sha256(&self) -> [u8; 32] {
        lydite_hash::sha256(&self.compressed)
    }
}

impl SecretKey {
    /// Computes the point shared with the owner of a public key. Constant-time in the secret key.
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
        // The order is prime, the point is not infinity and the key is not 0, so the product is not infinity.
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
