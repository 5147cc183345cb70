//! secp256k1 by k256: signatures, recovery, public keys, ECDH, addresses.

use anyhow::{Context as _, Result};
use k256::ecdsa::{
    RecoveryId, Signature, SigningKey, VerifyingKey, signature::hazmat::PrehashVerifier,
};
use k256::{PublicKey, SecretKey, elliptic_curve::sec1::ToSec1Point as _};

use super::keccak256;
use crate::kernel::Secp256k1;
use crate::wire::Reader;

/// Signs a hash: r || s || recovery id, with low s.
pub fn sign(key: &[u8], hash: &[u8]) -> Result<[u8; 65]> {
    let (signature, id) = SigningKey::from_slice(key)?.sign_prehash_recoverable(hash);
    let mut out = [0; 65];
    out[..64].copy_from_slice(&signature.to_bytes());
    out[64] = id.to_byte();
    Ok(out)
}

fn coordinates(key: &VerifyingKey) -> Result<[u8; 64]> {
    Ok(key.to_sec1_point(false).as_bytes()[1..].try_into()?)
}

/// The public key x || y recovered from a signature r || s || v.
pub fn recover(hash: &[u8], signature: &[u8]) -> Result<[u8; 64]> {
    let id = RecoveryId::from_byte(signature[64]).context("recovery id")?;
    let signature = Signature::from_slice(&signature[..64])?;
    coordinates(&VerifyingKey::recover_from_prehash(hash, &signature, id)?)
}

/// The public key x || y of a secret key.
pub fn public_key(key: &[u8]) -> Result<[u8; 64]> {
    coordinates(SigningKey::from_slice(key)?.verifying_key())
}

/// ECDH: the x coordinate shared by a secret key and a public key x || y.
pub fn shared_x(key: &[u8], public: &[u8]) -> Result<Vec<u8>> {
    let key = SecretKey::from_slice(key)?;
    let public = PublicKey::from_sec1_bytes(&[&[4], public].concat())?;
    let point = (public.to_projective() * *key.to_nonzero_scalar()).to_affine();
    Ok(point.to_sec1_point(true).as_bytes()[1..].to_vec())
}

/// Whether the signature r || s of a hash is valid for a public key x || y.
pub fn verifies(hash: &[u8], signature: &[u8], key: &[u8]) -> Result<bool> {
    let key = VerifyingKey::from_sec1_bytes(&[&[4], key].concat())?;
    let signature = Signature::from_slice(signature)?;
    Ok(key.verify_prehash(hash, &signature).is_ok())
}

/// The address of a public key x || y: the last 20 bytes of its Keccak-256 hash.
pub fn address(key: &[u8; 64]) -> [u8; 20] {
    let mut out = [0; 20];
    out.copy_from_slice(&keccak256(key)[12..]);
    out
}

/// The output of one element.
pub fn output(kernel: Secp256k1, r: &mut Reader<'_>) -> Result<Vec<u8>> {
    Ok(match kernel {
        Secp256k1::Sign | Secp256k1::SignBatch => sign(r.take(32)?, r.take(32)?)?.to_vec(),
        Secp256k1::SignRecover => {
            let (key, hash) = (r.take(32)?, r.take(32)?);
            recover(hash, &sign(key, hash)?)?.to_vec()
        }
        Secp256k1::Recover => recover(r.take(32)?, r.take(65)?)?.to_vec(),
        Secp256k1::RecoverBatch => address(&recover(r.take(32)?, r.take(65)?)?).to_vec(),
        Secp256k1::Verify | Secp256k1::VerifyBatch => {
            vec![u8::from(verifies(r.take(32)?, r.take(64)?, r.take(64)?)?)]
        }
        Secp256k1::PublicKey | Secp256k1::PublicKeyBatch => public_key(r.take(32)?)?.to_vec(),
        Secp256k1::Ecdh => shared_x(r.take(32)?, r.take(64)?)?,
    })
}
