//! libsecp256k1, the C library of Bitcoin Core, through rust-secp256k1 0.31 with a private context (0.33 randomises its
//! context again for every signature).

use arena_kit::{Op, Reader, negative, op, words};
use secp256k1::ecdsa::{RecoverableSignature, RecoveryId, Signature};
use secp256k1::{All, Message, PublicKey, Secp256k1, SecretKey};

fn main() {
    let context = Box::leak(Box::new(Secp256k1::new()));
    let version = arena_kit::locked_version(include_str!("../../Cargo.lock"), "secp256k1");
    arena_kit::run("libsecp256k1", version, ops(context));
}

/// Hash, r || s, and recovery id.
type Signed = ([u8; 32], [u8; 64], u8);

fn signed(r: &mut Reader) -> Option<Signed> {
    let (hash, signature, [id]) = (r.array()?, r.array()?, r.array()?);
    Some((hash, signature, id))
}

fn recover(context: &Secp256k1<All>, (hash, signature, id): &Signed) -> Option<PublicKey> {
    let id = RecoveryId::try_from(i32::from(*id)).ok()?;
    let signature = RecoverableSignature::from_compact(signature, id).ok()?;
    context
        .recover_ecdsa(Message::from_digest(*hash), &signature)
        .ok()
}

/// The coordinates x || y of a public key.
fn coordinates(key: &PublicKey) -> Option<[u8; 64]> {
    key.serialize_uncompressed().last_chunk().copied()
}

/// Signs a hash; returns r || s || recovery id.
fn sign(context: &Secp256k1<All>, key: &SecretKey, hash: &[u8; 32]) -> [u8; 65] {
    let signature = context.sign_ecdsa_recoverable(Message::from_digest(*hash), key);
    let (id, bytes) = signature.serialize_compact();
    let mut out = [0; 65];
    out[..64].copy_from_slice(&bytes);
    out[64] = i32::from(id) as u8;
    out
}

/// Hash, signature, public key.
type ToVerify = ([u8; 32], Signature, PublicKey);

fn to_verify(r: &mut Reader) -> Option<ToVerify> {
    let (hash, signature) = (r.array()?, Signature::from_compact(r.take(64)?).ok()?);
    Some((hash, signature, public_key(r)?))
}

fn public_key(r: &mut Reader) -> Option<PublicKey> {
    let mut key = [4; 65];
    key[1..].copy_from_slice(r.take(64)?);
    PublicKey::from_slice(&key).ok()
}

fn verify(context: &Secp256k1<All>, (hash, signature, key): &ToVerify) -> bool {
    let message = Message::from_digest(*hash);
    context.verify_ecdsa(message, signature, key).is_ok()
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
    if let Ok(changed) = SecretKey::from_byte_array(*bytes) {
        *key = changed;
    }
}

fn secret_key(r: &mut Reader) -> Option<Key> {
    let bytes = r.array()?;
    Some((bytes, SecretKey::from_byte_array(bytes).ok()?))
}

fn ops(context: &'static Secp256k1<All>) -> Vec<Op> {
    let key_and_hash = |r: &mut Reader| {
        Some((
            SecretKey::from_byte_array(r.array()?).ok()?,
            r.array::<32>()?,
        ))
    };
    vec![
        op("secp256k1_sign", key_and_hash)
            .change("le@32", |(_, hash), word| set_hash(hash, word))
            .call(|(key, hash)| sign(context, key, hash)),
        op("secp256k1_sign_recover", key_and_hash)
            .change("le@32", |(_, hash), word| set_hash(hash, word))
            .call(|(key, hash)| {
                let message = Message::from_digest(*hash);
                let signature = context.sign_ecdsa_recoverable(message, key);
                coordinates(&context.recover_ecdsa(message, &signature).ok()?)
            }),
        op("secp256k1_recover", signed)
            .change("le@0", |(hash, ..), word| set_hash(hash, word))
            .call(|signed| coordinates(&recover(context, signed)?)),
        negative("secp256k1_recover", |item| {
            signed(&mut Reader::new(item)).is_some_and(|signed| recover(context, &signed).is_some())
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
                        keccak_asm::Keccak256::digest(coordinates(&recover(context, signed)?)?);
                    out.push(*hash.last_chunk()?);
                }
                Some(())
            }),
        op("secp256k1_verify", to_verify).call(|item| [u8::from(verify(context, item))]),
        op("secp256k1_verify_batch", |r| r.until_empty(to_verify)).reuse(
            Vec::new,
            |items, out: &mut Vec<[u8; 1]>| {
                out.clear();
                out.extend(items.iter().map(|item| [u8::from(verify(context, item))]));
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
                out.extend(items.iter().map(|(key, hash)| sign(context, key, hash)));
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
                    out.push(coordinates(&PublicKey::from_secret_key(context, key))?);
                }
                Some(())
            }),
        op("secp256k1_ecdh", |r| Some((secret_key(r)?, public_key(r)?)))
            .change("be@28", |(key, _), word| set_key(key, word))
            .call(|((_, key), public)| {
                secp256k1::ecdh::shared_secret_point(public, key)
                    .first_chunk::<32>()
                    .copied()
            }),
        op("secp256k1_public_key", secret_key)
            .change("be@28", set_key)
            .call(|(_, key)| coordinates(&PublicKey::from_secret_key(context, key))),
    ]
}
