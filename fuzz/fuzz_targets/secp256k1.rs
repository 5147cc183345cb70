//! Signing, verification and recovery against k256; single operations against batches.
#![no_main]
use k256::ecdsa::{
    RecoveryId, Signature as PeerSignature, SigningKey, VerifyingKey,
    signature::hazmat::PrehashVerifier,
};
use libfuzzer_sys::fuzz_target;
use lydite::curve::secp256k1::{
    Error, PublicKey, SecretKey, Signature, public_key_batch, recover, recover_address,
    recover_address_batch, recover_batch, sign_prehash_batch, verify, verify_batch,
};

fn bytes(key: &VerifyingKey) -> Vec<u8> {
    key.to_sec1_point(false).as_bytes().to_vec()
}

fuzz_target!(|input: ([u8; 32], [u8; 32], [u8; 32], [u8; 32], u8)| {
    let (key, hash, r, s, v) = input;
    let mut signatures = vec![Signature::new(r, s, v % 5)];
    if let Ok(secret) = SecretKey::from_bytes(&key) {
        let peer = SigningKey::from_slice(&key).unwrap();
        let signature = secret.sign_prehash(&hash);
        let (expected, id) = peer.sign_prehash_recoverable(&hash);
        assert_eq!(expected.to_bytes()[..], signature.to_bytes65()[..64]);
        assert_eq!(id.to_byte(), signature.recovery_id());
        let public = secret.public_key();
        assert_eq!(bytes(peer.verifying_key()), public.to_sec1_uncompressed());
        assert_eq!(verify(&public, &hash, &signature), Ok(()));
        assert_eq!(recover(&hash, &signature), Ok(public));
        let other = Signature::new(*signature.r(), s, signature.recovery_id());
        let accepted = verify(&public, &hash, &other).is_ok();
        let peer_accepts = PeerSignature::from_scalars(*signature.r(), s).is_ok_and(|s| {
            peer.verifying_key()
                .verify_prehash(&hash, &s.normalize_s())
                .is_ok()
        });
        assert_eq!(accepted, peer_accepts);
        // Batch sizes from 0 to 9: fewer and more than eight lanes.
        let count = usize::from(v) % 10;
        let mut many = vec![Signature::default(); count];
        sign_prehash_batch(&vec![&secret; count], &vec![hash; count], &mut many).unwrap();
        assert_eq!(many, vec![signature; count]);
        let mut many = vec![PublicKey::GENERATOR; count];
        public_key_batch(&vec![&secret; count], &mut many).unwrap();
        assert_eq!(many, vec![public; count]);
        let shared = secret.diffie_hellman(&public);
        let expected =
            k256::ecdh::diffie_hellman(peer.as_nonzero_scalar(), peer.verifying_key().as_affine());
        assert_eq!(shared.x()[..], expected.raw_secret_bytes()[..]);
        signatures.push(signature);
        let flipped = signature.recovery_id() ^ 1;
        signatures.push(Signature::new(*signature.r(), *signature.s(), flipped));
    } else {
        assert!(SigningKey::from_slice(&key).is_err());
    }
    for signature in &signatures {
        let ours = recover(&hash, signature);
        let theirs = PeerSignature::from_scalars(*signature.r(), *signature.s())
            .ok()
            .and_then(|peer| {
                let id = RecoveryId::from_byte(signature.recovery_id())?;
                VerifyingKey::recover_from_prehash(&hash, &peer, id).ok()
            });
        match (ours, theirs) {
            (Ok(ours), Some(theirs)) => assert_eq!(bytes(&theirs), ours.to_sec1_uncompressed()),
            (Err(_), None) => {}
            // k256 may reject a high s; then the low-s twin with the other parity has the same key.
            (Ok(ours), None) => {
                assert!(signature.is_high_s());
                assert_eq!(recover(&hash, &signature.normalize_s()), Ok(ours));
            }
            (Err(error), Some(_)) => panic!("k256 recovers, we say {error}"),
        }
    }
    // A batch gives the same result for each item as a single call.
    let many: Vec<Signature> = signatures
        .iter()
        .copied()
        .cycle()
        .take(usize::from(v) % 20)
        .collect();
    let mut out = vec![Err(Error::Length); many.len()];
    recover_address_batch(&vec![hash; many.len()], &many, &mut out).unwrap();
    let mut keys = vec![Err(Error::Length); many.len()];
    recover_batch(&vec![hash; many.len()], &many, &mut keys).unwrap();
    for (i, signature) in many.iter().enumerate() {
        assert_eq!(out[i], recover_address(&hash, signature));
        assert_eq!(keys[i], recover(&hash, signature));
    }
    // A recovered key verifies its signature; batch verification, also with the next item's keys, agrees with single
    // calls.
    let found: Vec<PublicKey> = keys
        .iter()
        .map(|key| key.unwrap_or(PublicKey::GENERATOR))
        .collect();
    for shift in 0..2.min(many.len()) {
        let mut asked = found.clone();
        asked.rotate_left(shift);
        let mut valid = vec![Ok(()); many.len()];
        verify_batch(&asked, &vec![hash; many.len()], &many, &mut valid).unwrap();
        for i in 0..many.len() {
            assert_eq!(valid[i], verify(&asked[i], &hash, &many[i]));
            assert!(shift > 0 || keys[i].is_err() || valid[i].is_ok());
        }
    }
    if let Ok(public) = PublicKey::from_sec1_bytes(&[&[2 + v % 3][..], &r].concat()) {
        assert_eq!(
            PublicKey::from_sec1_bytes(&public.to_sec1_uncompressed()),
            Ok(public)
        );
        assert!(VerifyingKey::from_sec1_bytes(&public.to_sec1_compressed()).is_ok());
    }
});
