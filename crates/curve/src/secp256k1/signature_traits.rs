//! The traits of the crate `signature` 3, for generic code. Feature `signature`.
//!
//! Its error type carries no reason, so that an error never reveals anything about a key. The functions of the parent
//! module return the reason.

use signature::{
    Error, Keypair, SignatureEncoding,
    hazmat::{PrehashSigner, PrehashVerifier},
};

use super::{PublicKey, SecretKey, Signature, verify};

/// Like [`SecretKey::sign_prehash`]. The prehash must be 32 bytes.
impl PrehashSigner<Signature> for SecretKey {
    fn sign_prehash(&self, prehash: &[u8]) -> Result<Signature, Error> {
        let hash = prehash.try_into().map_err(|_| Error::new())?;
        Ok(Self::sign_prehash(self, hash))
    }
}

/// Like [`verify`]: the recovery id is ignored, and s may be high. The prehash must be 32 bytes.
impl PrehashVerifier<Signature> for PublicKey {
    fn verify_prehash(&self, prehash: &[u8], signature: &Signature) -> Result<(), Error> {
        let hash = prehash.try_into().map_err(|_| Error::new())?;
        verify(self, hash, signature).map_err(|_| Error::new())
    }
}

/// Derives the public key at every call.
impl Keypair for SecretKey {
    type VerifyingKey = PublicKey;

    fn verifying_key(&self) -> PublicKey {
        self.public_key()
    }
}

/// r || s || recovery id, like [`Signature::to_bytes65`].
impl From<Signature> for [u8; 65] {
    fn from(signature: Signature) -> Self {
        signature.to_bytes65()
    }
}

/// Encoded as r || s || recovery id. Decoding also accepts 27 and 28, like [`Signature::from_bytes65_any_v`].
impl SignatureEncoding for Signature {
    type Repr = [u8; 65];

    fn to_bytes(&self) -> [u8; 65] {
        self.to_bytes65()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;
    use crate::secp256k1::tests::bytes32;
    use alloc::vec::Vec;
    use k256::ecdsa;

    /// Signs, encodes, decodes and verifies. Returns the encoding, and whether a changed prehash is accepted.
    fn round_trip<S, K>(key: &K, prehash: &[u8; 32]) -> (Vec<u8>, bool)
    where
        S: SignatureEncoding + PartialEq,
        K: PrehashSigner<S> + Keypair<VerifyingKey: PrehashVerifier<S>>,
    {
        let signature = key.sign_prehash(prehash).unwrap();
        let encoding = signature.to_bytes();
        assert_eq!(encoding.as_ref().len(), signature.encoded_len());
        let decoded = S::try_from(encoding.as_ref()).ok().unwrap();
        assert!(decoded == signature);
        let verifier = key.verifying_key();
        verifier.verify_prehash(prehash, &decoded).unwrap();
        let mut changed = *prehash;
        changed[31] ^= 1;
        let accepted = verifier.verify_prehash(&changed, &decoded).is_ok();
        (encoding.as_ref().to_vec(), accepted)
    }

    #[test]
    fn generic_code_agrees_with_k256() {
        for seed in 0..16 {
            let (secret, prehash) = (bytes32(2 * seed), bytes32(2 * seed + 1));
            let key = SecretKey::from_bytes(&secret).unwrap();
            let peer = ecdsa::SigningKey::from_slice(&secret).unwrap();
            let (ours, accepted) = round_trip::<Signature, _>(&key, &prehash);
            let (theirs, _) = round_trip::<ecdsa::Signature, _>(&peer, &prehash);
            assert_eq!(ours[..64], theirs);
            assert!(!accepted);
            let (_, id) = peer.sign_prehash_recoverable(&prehash);
            assert_eq!(ours[64], id.to_byte());
        }
    }

    #[test]
    fn prehashes_have_32_bytes() {
        let key = SecretKey::from_bytes(&[0x46; 32]).unwrap();
        let signature = key.sign_prehash(&[0x11; 32]);
        for length in [0, 20, 31, 33, 64] {
            let prehash = [0x11; 64].get(..length).unwrap();
            assert!(PrehashSigner::<Signature>::sign_prehash(&key, prehash).is_err());
            assert!(
                key.public_key()
                    .verify_prehash(prehash, &signature)
                    .is_err()
            );
        }
        let verifier = key.verifying_key();
        verifier.verify_prehash(&[0x11; 32], &signature).unwrap();
        // As `verify` documents: s may be high, and the recovery id is ignored.
        let high = Signature {
            s: signature.scalars().unwrap().1.negate().to_bytes(),
            recovery_id: 9,
            ..signature
        };
        assert!(high.is_high_s());
        verifier.verify_prehash(&[0x11; 32], &high).unwrap();
    }

    #[test]
    fn encodings_are_checked() {
        let bytes = <[u8; 65]>::from(Signature::new([1; 32], [2; 32], 3));
        assert_eq!(bytes[..64], [[1; 32], [2; 32]].concat());
        assert_eq!(bytes[64], 3);
        assert!(<Signature as TryFrom<&[u8]>>::try_from(&bytes[..64]).is_err());
    }
}
