//! Plain loops that call k256 directly.

use std::process::ExitCode;

use arena_plain::{Random, Row, row};
use k256::ecdsa::signature::hazmat::PrehashVerifier;
use k256::ecdsa::{RecoveryId, Signature, SigningKey, VerifyingKey};
use k256::elliptic_curve::sec1::ToSec1Point;

fn rows() -> Option<Vec<Row>> {
    let mut random = Random::new(1);
    let (mut signing, mut signed, mut verified) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..64 {
        let (bytes, hash): ([u8; 32], [u8; 32]) = (random.key(), random.bytes());
        let key = SigningKey::from_slice(&bytes).ok()?;
        let (signature, id) = key.sign_prehash_recoverable(&hash);
        let public = *key.verifying_key();
        signing.push(([bytes, hash].concat(), (key, hash)));
        let r_s = signature.to_bytes();
        let item = [&hash[..], &r_s, &[id.to_byte()]].concat();
        signed.push((item, (hash, r_s, id.to_byte())));
        let point = public.as_affine().to_sec1_point(false);
        let item = [&hash[..], &r_s, &point.as_bytes()[1..]].concat();
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
            |(key, hash): &(SigningKey, [u8; 32])| {
                let (signature, id) = key.sign_prehash_recoverable(hash);
                (signature.to_bytes(), id.to_byte())
            },
        ),
        row(
            "secp256k1_recover",
            "le@0",
            signed_items,
            signed,
            |(hash, r_s, id)| {
                let signature = Signature::from_slice(r_s).ok()?;
                let id = RecoveryId::from_byte(*id)?;
                let key = VerifyingKey::recover_from_prehash(hash, &signature, id).ok()?;
                Some(key.as_affine().to_sec1_point(false))
            },
        ),
        row(
            "secp256k1_verify",
            "none",
            verify_items,
            verified,
            |(hash, signature, key): &([u8; 32], Signature, VerifyingKey)| {
                key.verify_prehash(hash, signature).is_ok()
            },
        ),
    ])
}

fn main() -> ExitCode {
    rows().map_or(ExitCode::from(2), arena_plain::main)
}
