//! Plain loops that call libsecp256k1 through rust-secp256k1.

use std::process::ExitCode;

use arena_plain::{Random, Row, row};
use secp256k1::ecdsa::{RecoverableSignature, RecoveryId, Signature};
use secp256k1::{Message, PublicKey, Secp256k1, SecretKey};

fn rows() -> Option<Vec<Row>> {
    let context: &'static _ = Box::leak(Box::new(Secp256k1::new()));
    let mut random = Random::new(2);
    let (mut signing, mut signed, mut verified) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..64 {
        let (bytes, hash): ([u8; 32], [u8; 32]) = (random.key(), random.bytes());
        let key = SecretKey::from_byte_array(bytes).ok()?;
        let message = Message::from_digest(hash);
        let (id, r_s) = context
            .sign_ecdsa_recoverable(message, &key)
            .serialize_compact();
        let public = PublicKey::from_secret_key(context, &key);
        signing.push(([bytes, hash].concat(), (key, hash)));
        let id = i32::from(id) as u8;
        signed.push(([&hash[..], &r_s, &[id]].concat(), (hash, r_s, id)));
        let item = [&hash[..], &r_s, &public.serialize_uncompressed()[1..]].concat();
        let signature = Signature::from_compact(&r_s).ok()?;
        verified.push((item, (hash, signature, public)));
    }
    let (sign_items, signing) = signing.into_iter().unzip();
    let (signed_items, signed) = signed.into_iter().unzip();
    let (verify_items, verified) = verified.into_iter().unzip();
    Some(vec![
        row(
            "secp256k1_sign",
            "le@32",
            sign_items,
            signing,
            |(key, hash): &(SecretKey, [u8; 32])| {
                context
                    .sign_ecdsa_recoverable(Message::from_digest(*hash), key)
                    .serialize_compact()
            },
        ),
        row(
            "secp256k1_recover",
            "le@0",
            signed_items,
            signed,
            |(hash, r_s, id): &([u8; 32], [u8; 64], u8)| {
                let id = RecoveryId::try_from(i32::from(*id)).ok()?;
                let signature = RecoverableSignature::from_compact(r_s, id).ok()?;
                let message = Message::from_digest(*hash);
                let key = context.recover_ecdsa(message, &signature).ok()?;
                Some(key.serialize_uncompressed())
            },
        ),
        row(
            "secp256k1_verify",
            "none",
            verify_items,
            verified,
            |(hash, signature, key): &([u8; 32], Signature, PublicKey)| {
                let message = Message::from_digest(*hash);
                context.verify_ecdsa(message, signature, key).is_ok()
            },
        ),
    ])
}

fn main() -> ExitCode {
    rows().map_or(ExitCode::from(2), arena_plain::main)
}
