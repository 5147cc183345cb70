//! libsecp256k1, the C library of Bitcoin Core, through rust-secp256k1 0.31 with a context of its own (0.33 randomises
//! its context again at every signature).

use arena_kit::{Op, Reader, negative, op, reuse};
use secp256k1::ecdsa::{RecoverableSignature, RecoveryId, Signature};
use secp256k1::{All, Message, PublicKey, Secp256k1, SecretKey};

fn main() {
    let context = Box::leak(Box::new(Secp256k1::new()));
    let version = arena_kit::locked_version(include_str!("../../Cargo.lock"), "secp256k1");
    arena_kit::run("libsecp256k1", version, ops(context));
}

/// Hash, r || s, recovery id.
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

/// x || y
fn coordinates(key: &PublicKey) -> Option<[u8; 64]> {
    key.serialize_uncompressed().last_chunk().copied()
}

/// r || s || recovery id.
fn sign(context: &Secp256k1<All>, key: &SecretKey, hash: &[u8; 32]) -> [u8; 65] {
    let signature = context.sign_ecdsa_recoverable(Message::from_digest(*hash), key);
    let (id, bytes) = signature.serialize_compact();
    let mut out = [0; 65];
    out[..64].copy_from_slice(&bytes);
    out[64] = i32::from(id) as u8;
    out
}

/// Hash, r || s, public key.
type ToVerify = ([u8; 32], [u8; 64], PublicKey);

fn to_verify(r: &mut Reader) -> Option<ToVerify> {
    Some((r.array()?, r.array()?, public_key(r)?))
}

fn public_key(r: &mut Reader) -> Option<PublicKey> {
    let mut key = [4; 65];
    key[1..].copy_from_slice(r.take(64)?);
    PublicKey::from_slice(&key).ok()
}

fn verify(context: &Secp256k1<All>, (hash, signature, key): &ToVerify) -> bool {
    let message = Message::from_digest(*hash);
    Signature::from_compact(signature)
        .is_ok_and(|signature| context.verify_ecdsa(message, &signature, key).is_ok())
}

fn ops(context: &'static Secp256k1<All>) -> Vec<Op> {
    let key_and_hash = |r: &mut Reader| {
        Some((
            SecretKey::from_byte_array(r.array()?).ok()?,
            r.array::<32>()?,
        ))
    };
    vec![
        op(
            "secp256k1_sign secp256k1_sign_varied",
            key_and_hash,
            |(key, hash)| sign(context, key, hash),
        ),
        op(
            "secp256k1_sign_recover secp256k1_sign_recover_varied",
            key_and_hash,
            |(key, hash)| {
                let message = Message::from_digest(*hash);
                let signature = context.sign_ecdsa_recoverable(message, key);
                coordinates(&context.recover_ecdsa(message, &signature).ok()?)
            },
        ),
        op(
            "secp256k1_recover secp256k1_recover_varied",
            signed,
            |signed| coordinates(&recover(context, signed)?),
        ),
        negative("secp256k1_recover", |item| {
            signed(&mut Reader::new(item)).is_some_and(|signed| recover(context, &signed).is_some())
        }),
        reuse(
            "secp256k1_recover_batch_8 secp256k1_recover_batch_64 secp256k1_recover_batch_1024",
            |r| r.until_empty(signed),
            Vec::new,
            |items, out: &mut Vec<[u8; 20]>| {
                out.clear();
                for signed in items {
                    let hash =
                        keccak_asm::Keccak256::digest(coordinates(&recover(context, signed)?)?);
                    out.push(*hash.last_chunk()?);
                }
                Some(())
            },
        ),
        op("secp256k1_verify_varied", to_verify, |item| {
            verify(context, item).then_some([1u8])
        }),
        reuse(
            "secp256k1_verify_batch_8 secp256k1_verify_batch_64 secp256k1_verify_batch_1024",
            |r| r.until_empty(to_verify),
            Vec::new,
            |items, out: &mut Vec<[u8; 1]>| {
                out.clear();
                out.extend(items.iter().map(|item| [u8::from(verify(context, item))]));
            },
        ),
        reuse(
            "secp256k1_sign_batch_8 secp256k1_sign_batch_64 secp256k1_sign_batch_1024",
            move |r| r.until_empty(key_and_hash),
            Vec::new,
            |items, out: &mut Vec<[u8; 65]>| {
                out.clear();
                out.extend(items.iter().map(|(key, hash)| sign(context, key, hash)));
            },
        ),
        reuse(
            "secp256k1_public_key_batch_8 secp256k1_public_key_batch_64 secp256k1_public_key_batch_1024",
            |r| r.until_empty(|r| SecretKey::from_byte_array(r.array()?).ok()),
            Vec::new,
            |keys, out: &mut Vec<[u8; 64]>| {
                out.clear();
                for key in keys {
                    out.push(coordinates(&PublicKey::from_secret_key(context, key))?);
                }
                Some(())
            },
        ),
        op(
            "secp256k1_ecdh_varied",
            |r| {
                let key = SecretKey::from_byte_array(r.array()?).ok()?;
                Some((key, public_key(r)?))
            },
            |(key, public)| {
                secp256k1::ecdh::shared_secret_point(public, key)
                    .first_chunk::<32>()
                    .copied()
            },
        ),
        op(
            "secp256k1_public_key_varied",
            |r| SecretKey::from_byte_array(r.array()?).ok(),
            |key| coordinates(&PublicKey::from_secret_key(context, key)),
        ),
    ]
}
