//! k256, the pure-Rust secp256k1 of RustCrypto: signing in constant time, recovery and verification in variable time.

use arena_kit::secp256k1::{self, Keys, Recovery};
use k256::ecdsa::signature::hazmat::PrehashVerifier;
use k256::ecdsa::{RecoveryId, Signature, SigningKey, VerifyingKey};
use k256::elliptic_curve::sec1::ToSec1Point;
use k256::{AffinePoint, SecretKey, ecdh};

fn main() {
    let mut ops = secp256k1::recovery(K256);
    ops.extend(secp256k1::keys(K256));
    ops.extend(secp256k1::loops(K256, |hash, signature| {
        let key = K256.recover(hash, signature)?;
        keccak_asm::Keccak256::digest(key).last_chunk().copied()
    }));
    let version = arena_kit::locked_version(include_str!("../../Cargo.lock"), "k256");
    arena_kit::run("k256", version, ops);
}

#[derive(Clone, Copy)]
struct K256;

impl Recovery for K256 {
    type SigningKey = SigningKey;

    fn signing_key(&self, bytes: &[u8; 32]) -> Option<SigningKey> {
        SigningKey::from_slice(bytes).ok()
    }

    fn sign(&self, key: &SigningKey, hash: &[u8; 32]) -> Option<[u8; 65]> {
        let (signature, id) = key.sign_prehash_recoverable(hash);
        let mut out = [0; 65];
        out[..64].copy_from_slice(&signature.to_bytes());
        out[64] = id.to_byte();
        Some(out)
    }

    fn sign_recover(&self, key: &SigningKey, hash: &[u8; 32]) -> Option<[u8; 64]> {
        let (signature, id) = key.sign_prehash_recoverable(hash);
        let key = VerifyingKey::recover_from_prehash(hash, &signature, id).ok()?;
        coordinates(key.as_affine())
    }

    fn recover(&self, hash: &[u8; 32], signature: &[u8; 65]) -> Option<[u8; 64]> {
        let id = RecoveryId::from_byte(signature[64])?;
        let signature = Signature::from_slice(&signature[..64]).ok()?;
        let key = VerifyingKey::recover_from_prehash(hash, &signature, id).ok()?;
        coordinates(key.as_affine())
    }
}

impl Keys for K256 {
    type SecretKey = SecretKey;
    type PublicKey = VerifyingKey;
    type Signature = Signature;

    fn secret_key(&self, bytes: &[u8; 32]) -> Option<SecretKey> {
        SecretKey::from_slice(bytes).ok()
    }

    fn public_key(&self, bytes: &[u8; 64]) -> Option<VerifyingKey> {
        let mut key = [4; 65];
        key[1..].copy_from_slice(bytes);
        VerifyingKey::from_sec1_bytes(&key).ok()
    }

    fn signature(&self, bytes: &[u8; 64]) -> Option<Signature> {
        Signature::from_slice(bytes).ok()
    }

    fn verify(&self, key: &VerifyingKey, hash: &[u8; 32], signature: &Signature) -> bool {
        key.verify_prehash(hash, signature).is_ok()
    }

    fn derive(&self, key: &SecretKey) -> Option<[u8; 64]> {
        coordinates(key.public_key().as_affine())
    }

    fn ecdh(&self, key: &SecretKey, public_key: &VerifyingKey) -> Option<[u8; 32]> {
        let shared = ecdh::diffie_hellman(key.to_nonzero_scalar(), public_key.as_affine());
        Some((*shared.raw_secret_bytes()).into())
    }
}

/// The coordinates x || y of a public key.
fn coordinates(key: &AffinePoint) -> Option<[u8; 64]> {
    key.to_sec1_point(false).as_bytes().last_chunk().copied()
}
