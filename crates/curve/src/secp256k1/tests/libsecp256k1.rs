//! Random keys, hashes and signatures, compared with libsecp256k1.
//!
//! Runs ten thousand; `LYDITE_SIGNATURES=1000000 cargo test --release -p lydite-curve libsecp256k1` runs a million (six
//! minutes).

use alloc::vec;

use secp256k1::{
    Message, Secp256k1 as Context,
    ecdh::SharedSecret as PeerShared,
    ecdsa::{RecoverableSignature, RecoveryId},
};

use super::*;

#[test]
fn agrees_with_libsecp256k1() {
    let context = Context::new();
    let total: u64 =
        std::env::var("LYDITE_SIGNATURES").map_or(10_000, |count| count.parse().unwrap());
    let (mut done, mut mismatches) = (0, 0);
    while done < total {
        // Batches of 1 to 80.
        let count = (1 + u64::from(bytes32(done)[0]) % 80).min(total - done);
        let seeds = done..done + count;
        let secrets: Vec<[u8; 32]> = seeds.clone().map(|i| bytes32(3 * i)).collect();
        let hashes: Vec<[u8; 32]> = seeds.clone().map(|i| bytes32(3 * i + 1)).collect();
        let keys: Vec<SecretKey> = secrets
            .iter()
            .map(|secret| SecretKey::from_bytes(secret).unwrap())
            .collect();
        let keys: Vec<&SecretKey> = keys.iter().collect();
        let mut public_keys = vec![PublicKey::GENERATOR; keys.len()];
        public_key_batch(&keys, &mut public_keys).unwrap();
        let mut signatures = vec![Signature::default(); keys.len()];
        sign_prehash_batch(&keys, &hashes, &mut signatures).unwrap();
        for i in 0..keys.len() {
            let secret = secp256k1::SecretKey::from_byte_array(secrets[i]).unwrap();
            let expected = context.sign_ecdsa_recoverable(Message::from_digest(hashes[i]), &secret);
            let (id, bytes) = expected.serialize_compact();
            assert_eq!([signatures[i].r, signatures[i].s].as_flattened(), bytes);
            assert_eq!(i32::from(signatures[i].recovery_id), i32::from(id));
            let public = secp256k1::PublicKey::from_secret_key(&context, &secret);
            assert_eq!(
                public.serialize_uncompressed(),
                public_keys[i].to_sec1_uncompressed()
            );
            assert_eq!(keys[i].public_key(), public_keys[i]);
            assert_eq!(keys[i].sign_prehash(&hashes[i]), signatures[i]);
            if i % 16 == 0 {
                let other = keys[i / 2];
                assert_eq!(
                    PeerShared::new(
                        &public,
                        &secp256k1::SecretKey::from_byte_array(secrets[i / 2]).unwrap()
                    )
                    .secret_bytes(),
                    other.diffie_hellman(&public_keys[i]).sha256()
                );
            }
        }
        // Now a third of them are changed: another hash, another s, the other parity.
        let mut changed = signatures.clone();
        for (i, signature) in changed.iter_mut().enumerate() {
            match i % 9 {
                0 => signature.s = bytes32(3 * (done + i as u64) + 2),
                1 => signature.r = bytes32(3 * (done + i as u64) + 2),
                2 => signature.recovery_id ^= 1,
                _ => {}
            }
        }
        let mut valid = vec![Ok(()); keys.len()];
        verify_batch(&public_keys, &hashes, &changed, &mut valid).unwrap();
        let mut recovered = vec![Err(Error::Length); keys.len()];
        recover_batch(&hashes, &changed, &mut recovered).unwrap();
        for i in 0..keys.len() {
            let message = Message::from_digest(hashes[i]);
            let mut bytes = [0; 64];
            bytes.copy_from_slice([changed[i].r, changed[i].s].as_flattened());
            let id = RecoveryId::try_from(i32::from(changed[i].recovery_id)).unwrap();
            let peer = RecoverableSignature::from_compact(&bytes, id).ok();
            let expected =
                peer.and_then(|signature| context.recover_ecdsa(message, &signature).ok());
            assert_eq!(
                recovered[i].ok().map(|key| key.to_sec1_uncompressed()),
                expected.map(|key| key.serialize_uncompressed())
            );
            let key =
                secp256k1::PublicKey::from_slice(&public_keys[i].to_sec1_compressed()).unwrap();
            let expected = peer.is_some_and(|signature| {
                // libsecp256k1's verification rejects a high s.
                let mut signature = signature.to_standard();
                signature.normalize_s();
                context.verify_ecdsa(message, &signature, &key).is_ok()
            });
            assert_eq!(valid[i].is_ok(), expected);
            mismatches += u64::from(!expected);
        }
        done += count;
    }
    assert!(total < 1000 || mismatches > total / 6, "{mismatches}");
}
