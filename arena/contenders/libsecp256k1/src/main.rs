//! libsecp256k1, the C library of Bitcoin Core, through rust-secp256k1 0.31 with a private context (0.33 randomises its
//! context again for every signature).

use arena_kit::secp256k1::{Keys, Recovery, keys, loops, recovery};
use secp256k1::ecdsa::{RecoverableSignature, RecoveryId, Signature};
use secp256k1::{All, Message, PublicKey, Secp256k1, SecretKey, ecdh};

fn main() {
    let peer = Libsecp256k1(Box::leak(Box::new(Secp256k1::new())));
    let mut ops = recovery(peer);
    ops.extend(keys(peer));
    ops.extend(loops(peer, move |hash, signature| {
        let key = peer.recover(hash, signature)?;
        keccak_asm::Keccak256::digest(key).last_chunk().copied()
    }));
    let version = arena_kit::locked_version(include_str!("../../Cargo.lock"), "secp256k1");
    arena_kit::run("libsecp256k1", version, ops);
}

#[derive(Clone, Copy)]
struct Libsecp256k1(&'static Secp256k1<All>);

impl Recovery for Libsecp256k1 {
    type SigningKey = SecretKey;

    fn signing_key(&self, bytes: &[u8; 32]) -> Option<SecretKey> {
        SecretKey::from_byte_array(*bytes).ok()
    }

    fn sign(&self, key: &SecretKey, hash: &[u8; 32]) -> Option<[u8; 65]> {
        let message = Message::from_digest(*hash);
        let (id, bytes) = self
            .0
            .sign_ecdsa_recoverable(message, key)
            .serialize_compact();
        let mut out = [0; 65];
        out[..64].copy_from_slice(&bytes);
        out[64] = i32::from(id) as u8;
        Some(out)
    }

    fn sign_recover(&self, key: &SecretKey, hash: &[u8; 32]) -> Option<[u8; 64]> {
        let message = Message::from_digest(*hash);
        let signature = self.0.sign_ecdsa_recoverable(message, key);
        coordinates(&self.0.recover_ecdsa(message, &signature).ok()?)
    }

    fn recover(&self, hash: &[u8; 32], signature: &[u8; 65]) -> Option<[u8; 64]> {
        let id = RecoveryId::try_from(i32::from(signature[64])).ok()?;
        let signature = RecoverableSignature::from_compact(&signature[..64], id).ok()?;
        let message = Message::from_digest(*hash);
        coordinates(&self.0.recover_ecdsa(message, &signature).ok()?)
    }
}

impl Keys for Libsecp256k1 {
    type SecretKey = SecretKey;
    type PublicKey = PublicKey;
    type Signature = Signature;

    fn secret_key(&self, bytes: &[u8; 32]) -> Option<SecretKey> {
        self.signing_key(bytes)
    }

    fn public_key(&self, bytes: &[u8; 64]) -> Option<PublicKey> {
        let mut key = [4; 65];
        key[1..].copy_from_slice(bytes);
        PublicKey::from_slice(&key).ok()
    }

    fn signature(&self, bytes: &[u8; 64]) -> Option<Signature> {
        Signature::from_compact(bytes).ok()
    }

    fn verify(&self, key: &PublicKey, hash: &[u8; 32], signature: &Signature) -> bool {
        let message = Message::from_digest(*hash);
        self.0.verify_ecdsa(message, signature, key).is_ok()
    }

    fn derive(&self, key: &SecretKey) -> Option<[u8; 64]> {
        coordinates(&PublicKey::from_secret_key(self.0, key))
    }

    fn ecdh(&self, key: &SecretKey, public_key: &PublicKey) -> Option<[u8; 32]> {
        let point = ecdh::shared_secret_point(public_key, key);
        point.first_chunk().copied()
    }
}

/// The coordinates x || y of a public key.
fn coordinates(key: &PublicKey) -> Option<[u8; 64]> {
    key.serialize_uncompressed().last_chunk().copied()
}
