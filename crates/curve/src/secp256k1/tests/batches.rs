//! Batches of every size from 0 on, with valid and invalid items mixed. Each result must be that of the single
//! function.

use alloc::vec;

use lydite_bytes::Address;

use super::*;

/// More than two chunks, and not a multiple of the lanes.
const ITEMS: usize = 150;

struct Items {
    keys: Vec<SecretKey>,
    public_keys: Vec<PublicKey>,
    hashes: Vec<[u8; 32]>,
    signatures: Vec<Signature>,
}

/// Valid and invalid items.
fn items() -> Items {
    let keys: Vec<SecretKey> = (0..ITEMS as u64)
        .map(|i| match i {
            // Edge cases: 1 and n - 1.
            3 => SecretKey(Scalar::ONE),
            4 => SecretKey(Scalar::ONE.negate()),
            _ => SecretKey::from_bytes(&bytes32(1000 + i)).unwrap(),
        })
        .collect();
    let mut hashes: Vec<[u8; 32]> = (0..ITEMS as u64).map(bytes32).collect();
    hashes[5] = [0; 32];
    hashes[6] = [0xff; 32];
    let public_keys: Vec<PublicKey> = keys.iter().map(SecretKey::public_key).collect();
    let signatures = (0..ITEMS)
        .map(|i| {
            let good = keys[i].sign_prehash(&hashes[i]);
            match i % 11 {
                1 => Signature { r: [0; 32], ..good },
                2 => Signature {
                    s: [0xff; 32],
                    ..good
                },
                3 => Signature {
                    recovery_id: good.recovery_id + 2,
                    ..good
                },
                4 => Signature {
                    recovery_id: 9,
                    ..good
                },
                5 => Signature {
                    s: Scalar::from_bytes_reduced(&good.s).negate().to_bytes(),
                    ..good
                },
                6 => Signature {
                    s: bytes32(i as u64),
                    ..good
                },
                7 => Signature {
                    r: bytes32(i as u64),
                    ..good
                },
                _ => good,
            }
        })
        .collect();
    Items {
        keys,
        public_keys,
        hashes,
        signatures,
    }
}

/// Ranges of items whose lengths end in every lane, in the first chunk and later ones.
fn spans() -> impl Iterator<Item = core::ops::Range<usize>> {
    (0..=20)
        .chain([63, 64, 65, 66, 71, 72, 73, 128, 129, ITEMS])
        .flat_map(|length| [0..length, ITEMS - length..ITEMS])
}

#[test]
fn public_keys_and_signatures() {
    let Items {
        keys,
        public_keys,
        hashes,
        ..
    } = items();
    let keys: Vec<&SecretKey> = keys.iter().collect();
    let signatures: Vec<Signature> = keys
        .iter()
        .zip(&hashes)
        .map(|(key, hash)| key.sign_prehash(hash))
        .collect();
    for span in spans() {
        let mut out = vec![PublicKey::GENERATOR; span.len()];
        public_key_batch(&keys[span.clone()], &mut out).unwrap();
        assert_eq!(out, public_keys[span.clone()], "{span:?}");
        let mut out = vec![Signature::default(); span.len()];
        sign_prehash_batch(&keys[span.clone()], &hashes[span.clone()], &mut out).unwrap();
        assert_eq!(out, signatures[span.clone()], "{span:?}");
    }
}

#[test]
fn verifications() {
    let Items {
        public_keys,
        hashes,
        signatures,
        ..
    } = items();
    let expected: Vec<_> = (0..ITEMS)
        .map(|i| verify(&public_keys[i], &hashes[i], &signatures[i]))
        .collect();
    for error in [Error::Mismatch, Error::ROutOfRange, Error::SOutOfRange] {
        assert!(expected.contains(&Err(error)));
    }
    assert!(expected.iter().filter(|out| out.is_ok()).count() > ITEMS / 2);
    for span in spans() {
        // The previous contents of the buffer must not matter.
        let mut out = vec![Err(Error::Length); span.len()];
        verify_batch(
            &public_keys[span.clone()],
            &hashes[span.clone()],
            &signatures[span.clone()],
            &mut out,
        )
        .unwrap();
        assert_eq!(out, expected[span.clone()], "{span:?}");
    }
}

#[test]
fn recoveries() {
    let Items {
        hashes, signatures, ..
    } = items();
    let expected: Vec<_> = hashes
        .iter()
        .zip(&signatures)
        .map(|(h, s)| recover(h, s))
        .collect();
    for error in [
        Error::NoSuchPoint,
        Error::ROutOfRange,
        Error::SOutOfRange,
        Error::RecoveryId,
    ] {
        assert!(expected.contains(&Err(error)));
    }
    for span in spans() {
        let (hashes, signatures) = (&hashes[span.clone()], &signatures[span.clone()]);
        let expected = &expected[span.clone()];
        let mut out = vec![Ok(PublicKey::GENERATOR); span.len()];
        recover_batch(hashes, signatures, &mut out).unwrap();
        assert_eq!(out, expected, "{span:?}");
        let mut out = vec![Err(Error::Length); span.len()];
        recover_address_batch(hashes, signatures, &mut out).unwrap();
        let addresses = expected.iter().map(|key| key.map(|key| key.to_address()));
        assert!(out.iter().copied().eq(addresses), "{span:?}");
        recover_address_low_s_batch(hashes, signatures, &mut out).unwrap();
        let addresses = hashes
            .iter()
            .zip(signatures)
            .map(|(h, s)| recover_address_low_s(h, s));
        assert!(out.iter().copied().eq(addresses), "{span:?}");
    }
}

/// Chunks of every backend: an item's result does not depend on the items next to it, valid or not.
#[test]
fn neighbours() {
    use crate::secp256k1::{
        batch::{CHUNK, recover_chunk, verify_chunk},
        dispatch::Backend,
    };
    let Items {
        public_keys,
        hashes,
        signatures,
        ..
    } = items();
    let recovered: Vec<_> = (0..ITEMS)
        .map(|i| recover(&hashes[i], &signatures[i]))
        .collect();
    let verified: Vec<_> = (0..ITEMS)
        .map(|i| verify(&public_keys[i], &hashes[i], &signatures[i]))
        .collect();
    for backend in Backend::available() {
        // Invalid items have the period 11: a step of 11 has only valid ones, the others all kinds side by side.
        for (step, length) in [(1, CHUNK), (2, 17), (3, 9), (5, CHUNK), (7, 3), (11, 12)] {
            let chosen: Vec<usize> = (0..length).map(|i| i * step % ITEMS).collect();
            let hashes: Vec<_> = chosen.iter().map(|&i| hashes[i]).collect();
            let signatures: Vec<_> = chosen.iter().map(|&i| signatures[i]).collect();
            let keys: Vec<_> = chosen.iter().map(|&i| public_keys[i]).collect();
            let mut out = vec![Err(Error::Length); length];
            recover_chunk::<CHUNK>(backend, &hashes, &signatures, &mut out);
            assert!(
                out.iter().eq(chosen.iter().map(|&i| &recovered[i])),
                "{backend:?}, step {step}"
            );
            let mut out = vec![Err(Error::Length); length];
            verify_chunk::<CHUNK>(backend, &keys, &hashes, &signatures, &mut out);
            assert!(
                out.iter().eq(chosen.iter().map(|&i| &verified[i])),
                "{backend:?}, step {step}"
            );
        }
    }
}

/// All items are invalid, so that the arithmetic gets no items.
#[test]
fn nothing_valid() {
    let hashes = [[1; 32]; 9];
    let signatures = [Signature::default(); 9];
    let mut out = [Ok(()); 9];
    verify_batch(&[PublicKey::GENERATOR; 9], &hashes, &signatures, &mut out).unwrap();
    assert_eq!(out, [Err(Error::ROutOfRange); 9]);
    let mut out = [Ok(PublicKey::GENERATOR); 9];
    recover_batch(&hashes, &signatures, &mut out).unwrap();
    assert_eq!(out, [Err(Error::ROutOfRange); 9]);
}

#[test]
fn lengths_that_differ() {
    let key = SecretKey(Scalar::ONE);
    let (keys, hashes) = ([&key; 3], [[1; 32]; 3]);
    let signatures = [Signature::default(); 3];
    let mut public_keys = [PublicKey::GENERATOR; 3];
    assert_eq!(
        public_key_batch(&keys[..2], &mut public_keys),
        Err(Error::Length)
    );
    let mut signed = [Signature::default(); 3];
    assert_eq!(
        sign_prehash_batch(&keys, &hashes[..2], &mut signed),
        Err(Error::Length)
    );
    assert_eq!(
        sign_prehash_batch(&keys[..2], &hashes, &mut signed),
        Err(Error::Length)
    );
    assert_eq!(
        sign_prehash_batch(&keys[..2], &hashes[..2], &mut signed),
        Err(Error::Length)
    );
    assert_eq!(signed, signatures);
    let mut valid = [Ok(()); 3];
    assert_eq!(
        verify_batch(&public_keys[..2], &hashes, &signatures, &mut valid),
        Err(Error::Length)
    );
    assert_eq!(
        verify_batch(&public_keys, &hashes, &signatures[..2], &mut valid),
        Err(Error::Length)
    );
    assert_eq!(valid, [Ok(()); 3]);
    let mut addresses = [Ok(Address([7; 20])); 3];
    assert_eq!(
        recover_address_batch(&hashes, &signatures[..2], &mut addresses),
        Err(Error::Length)
    );
    assert_eq!(
        recover_address_low_s_batch(&hashes[..2], &signatures[..2], &mut addresses),
        Err(Error::Length)
    );
    assert_eq!(addresses, [Ok(Address([7; 20])); 3]);
}

/// The same results on all cores.
#[cfg(feature = "rayon")]
#[test]
fn parallel_batches() {
    let Items {
        keys,
        public_keys,
        hashes,
        signatures,
    } = items();
    for length in [0, 1, 64, 65, ITEMS] {
        let mut out = vec![PublicKey::GENERATOR; length];
        parallel::public_key_batch(&keys[..length], &mut out).unwrap();
        assert_eq!(out, public_keys[..length]);
        let (hashes, signatures) = (&hashes[..length], &signatures[..length]);

        let mut expected = vec![Signature::default(); length];
        sign_prehash_batch(&keys[..length], hashes, &mut expected).unwrap();
        let mut out = vec![Signature::default(); length];
        parallel::sign_prehash_batch(&keys[..length], hashes, &mut out).unwrap();
        assert_eq!(out, expected);

        let (mut expected, mut out) = (vec![Ok(()); length], vec![Ok(()); length]);
        verify_batch(&public_keys[..length], hashes, signatures, &mut expected).unwrap();
        parallel::verify_batch(&public_keys[..length], hashes, signatures, &mut out).unwrap();
        assert_eq!(out, expected);

        let mut expected = vec![Ok(PublicKey::GENERATOR); length];
        let mut out = expected.clone();
        recover_batch(hashes, signatures, &mut expected).unwrap();
        parallel::recover_batch(hashes, signatures, &mut out).unwrap();
        assert_eq!(out, expected);

        let mut expected = vec![Ok(Address::ZERO); length];
        let mut out = expected.clone();
        recover_address_batch(hashes, signatures, &mut expected).unwrap();
        parallel::recover_address_batch(hashes, signatures, &mut out).unwrap();
        assert_eq!(out, expected);
        recover_address_low_s_batch(hashes, signatures, &mut expected).unwrap();
        parallel::recover_address_low_s_batch(hashes, signatures, &mut out).unwrap();
        assert_eq!(out, expected);
        assert_eq!(
            parallel::recover_address_batch(hashes, signatures, &mut [Ok(Address::ZERO); 7]),
            Err(Error::Length)
        );
    }
}
