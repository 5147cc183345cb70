//! k256, the pure-Rust secp256k1 of RustCrypto: signing in constant time, recovery and verification in variable time.

use arena_kit::{Op, Reader, negative, op, words};
use k256::SecretKey;
use k256::ecdsa::signature::hazmat::PrehashVerifier;
use k256::ecdsa::{RecoveryId, Signature, SigningKey, VerifyingKey};
use k256::elliptic_curve::sec1::ToSec1Point;

fn main() {
    let version = arena_kit::locked_version(include_str!("../../Cargo.lock"), "k256");
    arena_kit::run("k256", version, ops());
}

/// Hash, r || s, and recovery id.
type Signed = ([u8; 32], [u8; 64], u8);

fn signed(r: &mut Reader) -> Option<Signed> {
    let (hash, signature, [id]) = (r.array()?, r.array()?, r.array()?);
    Some((hash, signature, id))
}

fn recover((hash, signature, id): &Signed) -> Option<VerifyingKey> {
    let signature = Signature::from_slice(signature).ok()?;
    VerifyingKey::recover_from_prehash(hash, &signature, RecoveryId::from_byte(*id)?).ok()
}

/// The coordinates x || y of a public key.
fn coordinates(key: &impl ToSec1Point<k256::Secp256k1>) -> Option<[u8; 64]> {
    key.to_sec1_point(false).as_bytes().last_chunk().copied()
}

/// Signs a hash; returns r || s || recovery id.
fn sign(key: &SigningKey, hash: &[u8; 32]) -> [u8; 65] {
    let (signature, id) = key.sign_prehash_recoverable(hash);
    let mut out = [0; 65];
    out[..64].copy_from_slice(&signature.to_bytes());
    out[64] = id.to_byte();
    out
}

/// Hash, signature, public key.
type ToVerify = ([u8; 32], Signature, VerifyingKey);

fn to_verify(r: &mut Reader) -> Option<ToVerify> {
    let (hash, signature) = (r.array()?, Signature::from_slice(r.take(64)?).ok()?);
    Some((hash, signature, public_key(r)?))
}

fn public_key(r: &mut Reader) -> Option<VerifyingKey> {
    let mut key = [4; 65];
    key[1..].copy_from_slice(r.take(64)?);
    VerifyingKey::from_sec1_bytes(&key).ok()
}

fn verify((hash, signature, key): &ToVerify) -> bool {
    key.verify_prehash(hash, signature).is_ok()
}

/// Sets the first four bytes of a hash.
fn set_hash(hash: &mut [u8; 32], word: u32) {
    hash[..4].copy_from_slice(&word.to_le_bytes());
}

/// A secret key and its bytes.
type Key = ([u8; 32], SecretKey);

/// Sets the lowest 32 bits of a secret key.
fn set_key((bytes, key): &mut Key, word: u32) {
    bytes[28..].copy_from_slice(&word.to_be_bytes());
    if let Ok(changed) = SecretKey::from_slice(bytes) {
        *key = changed;
    }
}

fn secret_key(r: &mut Reader) -> Option<Key> {
    let bytes = r.array()?;
    Some((bytes, SecretKey::from_slice(&bytes).ok()?))
}

fn ops() -> Vec<Op> {
    let key_and_hash =
        |r: &mut Reader| Some((SigningKey::from_slice(r.take(32)?).ok()?, r.array::<32>()?));
    vec![
        op("secp256k1_sign", key_and_hash)
            .change("le@32", |(_, hash), word| set_hash(hash, word))
            .call(|(key, hash)| sign(key, hash)),
        op("secp256k1_sign_recover", key_and_hash)
            .change("le@32", |(_, hash), word| set_hash(hash, word))
            .call(|(key, hash)| {
                let (signature, id) = key.sign_prehash_recoverable(hash);
                coordinates(
                    VerifyingKey::recover_from_prehash(hash, &signature, id)
                        .ok()?
                        .as_affine(),
                )
            }),
        op("secp256k1_recover", signed)
            .change("le@0", |(hash, ..), word| set_hash(hash, word))
            .call(|signed| coordinates(recover(signed)?.as_affine())),
        negative("secp256k1_recover", |item| {
            signed(&mut Reader::new(item)).is_some_and(|signed| recover(&signed).is_some())
        }),
        op("secp256k1_recover_batch", |r| r.until_empty(signed))
            .change("le@0", |items, word| {
                for ((hash, ..), word) in items.iter_mut().zip(words(word)) {
                    set_hash(hash, word);
                }
            })
            .reuse(Vec::new, |items, out: &mut Vec<[u8; 20]>| {
                out.clear();
                for signed in items {
                    let hash =
                        keccak_asm::Keccak256::digest(coordinates(recover(signed)?.as_affine())?);
                    out.push(*hash.last_chunk()?);
                }
                Some(())
            }),
        op("secp256k1_verify", to_verify).call(|item| [u8::from(verify(item))]),
        op("secp256k1_verify_batch", |r| r.until_empty(to_verify)).reuse(
            Vec::new,
            |items, out: &mut Vec<[u8; 1]>| {
                out.clear();
                out.extend(items.iter().map(|item| [u8::from(verify(item))]));
            },
        ),
        op("secp256k1_sign_batch", move |r| r.until_empty(key_and_hash))
            .change("le@32", |items, word| {
                for ((_, hash), word) in items.iter_mut().zip(words(word)) {
                    set_hash(hash, word);
                }
            })
            .reuse(Vec::new, |items, out: &mut Vec<[u8; 65]>| {
                out.clear();
                out.extend(items.iter().map(|(key, hash)| sign(key, hash)));
            }),
        op("secp256k1_public_key_batch", |r| r.until_empty(secret_key))
            .change("be@28", |keys, word| {
                for (key, word) in keys.iter_mut().zip(words(word)) {
                    set_key(key, word);
                }
            })
            .reuse(Vec::new, |keys, out: &mut Vec<[u8; 64]>| {
                out.clear();
                for (_, key) in keys {
                    out.push(coordinates(key.public_key().as_affine())?);
                }
                Some(())
            }),
        op("secp256k1_ecdh", |r| Some((secret_key(r)?, public_key(r)?)))
            .change("be@28", |(key, _), word| set_key(key, word))
            .call(|((_, key), public)| {
                let shared =
                    k256::ecdh::diffie_hellman(key.to_nonzero_scalar(), public.as_affine());
                <[u8; 32]>::from(*shared.raw_secret_bytes())
            }),
        op("secp256k1_public_key", secret_key)
            .change("be@28", set_key)
            .call(|(_, key)| coordinates(key.public_key().as_affine())),
    ]
}
