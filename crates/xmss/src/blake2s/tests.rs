//! The published cases, and the differences between leanVM's set and leanSig's: exact ranges of epochs, fillers, SSZ of
//! fixed size.
#![allow(clippy::unwrap_used)]

use alloc::vec;
use alloc::vec::Vec;

use serde_json::Value;

use super::*;
use crate::encoding::{Encoding, PinnedTargetSum};
use crate::store::{KeyFile, StoreError};
use crate::*;

fn cases(handler: &str) -> Vec<Value> {
    let file = include_str!("../../vectors/xmss/leanvm.json");
    let cases: Value = serde_json::from_str(file).unwrap();
    cases[handler].as_array().unwrap().clone()
}

fn bytes(value: &Value) -> Vec<u8> {
    let digits = value.as_str().unwrap();
    (0..digits.len() / 2)
        .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
        .collect()
}

fn array<const N: usize>(value: &Value) -> [u8; N] {
    bytes(value).try_into().unwrap()
}

fn number(value: &Value) -> u32 {
    value.as_u64().unwrap().try_into().unwrap()
}

fn words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

fn key(seed: &[u8; 32], first: u64, last: u64) -> Result<SecretKey<LeanVm>, GenerateError> {
    SecretKey::from_seed(seed, first..last + 1, &())
}

#[test]
fn published_hashes() {
    for case in cases("blake2s") {
        let hash = lydite_hash::blake2s256(&bytes(&case["input"]["data"]));
        assert_eq!(hash, array(&case["output"]), "{}", case["name"]);
    }
    let uses = [
        Use::Start,
        Use::Step,
        Use::Leaf,
        Use::Node,
        Use::Message,
        Use::Parameter,
        Use::Filler,
        Use::Randomness,
    ];
    for case in cases("tweak_hash") {
        let input = &case["input"];
        let Some(purpose) = uses.get(number(&input["tweak_type"]) as usize) else {
            assert!(case["output"].is_null());
            continue;
        };
        let payload = bytes(&input["payload"]);
        let state = hash_one(
            *purpose,
            number(&input["sub_position"]),
            number(&input["index"]),
            &words(&bytes(&input["public_param"])),
            words::<8>(&payload).into_iter(),
        );
        assert_eq!(
            digest_one(state),
            words(&bytes(&case["output"])),
            "{}",
            case["name"]
        );
    }
}

#[test]
fn published_encodings() {
    for case in cases("wots_encode") {
        let input = &case["input"];
        let parameter = words(&bytes(&input["public_param"]));
        let epoch = number(&input["epoch"]);
        let randomness = words(&bytes(&input["randomness"]));
        let message = Blake2sHash::message_words(&array(&input["message"]));
        let digits: Option<Vec<u8>> = case["output"]
            .as_array()
            .map(|digits| digits.iter().map(|digit| number(digit) as u8).collect());
        let check = |hash: &Digest| {
            let mut codeword = vec![0; 42];
            let accepted = PinnedTargetSum::encode(hash, &mut codeword);
            assert_eq!(accepted.then_some(codeword), digits, "{}", case["name"]);
        };
        for backend in Backend::available() {
            let lanes = Lanes::splat(&parameter);
            let absorbed =
                Blake2sHash::absorb(backend, &lanes, &[epoch; LANES], &Lanes::splat(&message));
            let hash = Blake2sHash::message(backend, &absorbed, &Lanes::splat(&randomness));
            check(&hash.lane(11));
            check(&Blake2sHash::message_one(
                backend,
                &parameter,
                epoch,
                &randomness,
                &message,
            ));
        }
    }
}

#[test]
fn published_keys() {
    for case in cases("key_gen") {
        let input = &case["input"];
        let [first, last] = ["epoch_start", "epoch_end"].map(|end| number(&input[end]).into());
        let made = key(&array(&input["seed"]), first, last);
        if case["output"].is_null() {
            assert!(matches!(made.err(), Some(GenerateError::Epochs { .. })));
            continue;
        }
        let made = made.unwrap();
        assert_eq!(made.active(), first..last + 1);
        assert_eq!(made.prepared(), made.active());
        assert_eq!(
            made.public_key().unwrap().to_bytes(),
            bytes(&case["output"])
        );
        let again = SecretKey::<LeanVm, _>::from_bytes(made.as_bytes().to_vec()).unwrap();
        assert_eq!(again.public_key().unwrap(), made.public_key().unwrap());
        assert_eq!(again.active(), made.active());
    }
}

#[test]
fn published_signatures() {
    for case in cases("sign") {
        let input = &case["input"];
        let [first, last] = ["epoch_start", "epoch_end"].map(|end| number(&input[end]).into());
        let key = key(&array(&input["seed"]), first, last).unwrap();
        let epoch = number(&input["epoch"]);
        let message = array(&input["message"]);
        for backend in Backend::available() {
            let signed = key.sign_with(backend, epoch, &message);
            if case["output"].is_null() {
                assert!(matches!(signed, Err(SignError::NotActive { .. })));
                continue;
            }
            assert_eq!(
                signed.unwrap().to_bytes(),
                bytes(&case["output"]),
                "{}",
                case["name"]
            );
        }
    }
}

#[test]
fn published_verdicts() {
    for case in cases("verify") {
        let input = &case["input"];
        let [public_key, signature] = ["public_key", "signature"].map(|name| bytes(&input[name]));
        let (epoch, message) = (number(&input["epoch"]), array(&input["message"]));
        let scheme = named::scheme("leanvm").unwrap();
        let verdict = scheme.verify(&public_key, epoch, &message, &signature);
        assert_eq!(verdict.ok(), case["output"].as_bool(), "{}", case["name"]);
        let claim = (&public_key[..], epoch, &message, &signature[..]);
        let expected = case["output"].as_bool() == Some(true);
        assert_eq!(scheme.verify_batch(&[claim; 3]), [expected; 3]);
    }
}

/// Every hash in lanes is that of one input at a time, with different inputs in each lane.
#[test]
fn lanes_are_independent() {
    let word = |i: usize, l: usize| (0x9e37_79b9_u32).wrapping_mul((i * 37 + l * 1009 + 1) as u32);
    fn lanes<const N: usize>(used: usize, f: impl Fn(usize, usize) -> u32) -> Lanes<N> {
        Lanes(core::array::from_fn(|i| {
            core::array::from_fn(|l| if i < used { f(i, l) } else { 0 })
        }))
    }
    let parameter = lanes::<PARAMETER_WORDS>(4, word);
    let message = lanes::<MESSAGE_WORDS>(8, |i, l| word(i + 5, l));
    let randomness = lanes::<RANDOMNESS_WORDS>(6, |i, l| word(i + 14, l));
    let ends: Vec<Lanes<DIGEST_WORDS>> = (0..42)
        .map(|c| lanes(4, |i, l| word(30 + 4 * c + i, l)))
        .collect();
    let indices: [u32; LANES] = core::array::from_fn(|l| word(900, l));
    let at = ChainPositions {
        epochs: indices,
        chains: core::array::from_fn(|l| 2 * l as u32),
        positions: core::array::from_fn(|l| l as u32 % 5),
    };
    for backend in Backend::available() {
        let absorbed = Blake2sHash::absorb(backend, &parameter, &indices, &message);
        let hash = Blake2sHash::message(backend, &absorbed, &randomness);
        let leaf = Blake2sHash::leaf(backend, &parameter, &indices, &ends);
        let node = Blake2sHash::node(backend, &parameter, 9, &indices, [&ends[0], &ends[1]]);
        let (mut stepped, mut after) = (ends[2], at);
        Blake2sHash::steps(backend, &parameter, &mut after, 3, &mut stepped);
        for (l, &index) in indices.iter().enumerate() {
            let p = parameter.lane(l);
            let (r, m) = (randomness.lane(l), message.lane(l));
            let one = Blake2sHash::message_one(backend, &p, index, &r, &m);
            assert_eq!(hash.lane(l), one);
            let digests: Vec<Digest> = ends.iter().map(|end| end.lane(l)).collect();
            assert_eq!(
                leaf.lane(l),
                Blake2sHash::leaf_one(backend, &p, index, &digests)
            );
            let children = [&digests[0], &digests[1]];
            assert_eq!(
                node.lane(l),
                Blake2sHash::node_one(backend, &p, 9, index, children)
            );
            let mut value = digests[2];
            for position in at.positions[l]..at.positions[l] + 3 {
                let place = 8 * at.chains[l] + position;
                let payload = value[..WORDS].to_vec();
                value = digest_one(hash_one(Use::Step, place, index, &p, payload.into_iter()));
            }
            assert_eq!(stepped.lane(l), value);
            assert_eq!(after.positions[l], at.positions[l] + 3);
        }
    }
}

#[test]
fn every_byte_of_a_signature_and_key_counts() {
    let key = key(&[3; 32], 70_000, 70_003).unwrap();
    let public_key = key.public_key().unwrap().to_bytes();
    let signature = key.sign(70_001, &[9; 32]).unwrap().to_bytes();
    assert_eq!((public_key.len(), signature.len()), (32, 1208));
    let scheme = named::scheme("leanvm").unwrap();
    let flipped = |bytes: &[u8]| -> Vec<Vec<u8>> {
        (0..bytes.len())
            .map(|i| {
                let mut other = bytes.to_vec();
                other[i] ^= 1 << (i % 8);
                other
            })
            .collect()
    };
    let (signatures, keys) = (flipped(&signature), flipped(&public_key));
    let mut claims = vec![(&public_key[..], 70_001, &[9; 32], &signature[..])];
    claims.extend(
        signatures
            .iter()
            .map(|other| (&public_key[..], 70_001, &[9; 32], &other[..])),
    );
    claims.extend(
        keys.iter()
            .map(|other| (&other[..], 70_001, &[9; 32], &signature[..])),
    );
    claims.push((&public_key, 70_000, &[9; 32], &signature));
    claims.push((&public_key, 70_001, &[8; 32], &signature));
    let mut expected = vec![false; claims.len()];
    expected[0] = true;
    assert_eq!(scheme.verify_batch(&claims), expected);
    for ((public_key, epoch, message, signature), expected) in claims.iter().zip(expected) {
        let verdict = scheme.verify(public_key, *epoch, message, signature);
        assert_eq!(verdict, Ok(expected));
    }
    let decoded = Signature::<LeanVm>::from_bytes(&signature).unwrap();
    assert_eq!(decoded.to_bytes(), signature);
    for length in [0, 1207, 1209] {
        let mut other = signature.clone();
        other.resize(length, 0);
        let error = DecodeError::Length {
            length,
            expected: 1208,
        };
        assert_eq!(Signature::<LeanVm>::from_bytes(&other), Err(error));
        assert_eq!(
            Signature::<LeanVm>::from_bytes_leansig_compatible(&other),
            Err(error)
        );
    }
}

/// A key that reaches into three bottom trees: its window moves, and each path is that of the key's public key.
#[test]
fn the_window_moves_over_an_exact_range() {
    let first = 2 * 65_536 - 3;
    let key = key(&[5; 32], first, first + 65_540).unwrap();
    assert_eq!(key.active(), first..first + 65_541);
    assert_eq!(key.prepared(), first..3 * 65_536);
    let public_key = key.public_key().unwrap();
    let mut signer = Signer::new(key);
    for epoch in [first, first + 3, 3 * 65_536 - 1, 3 * 65_536, first + 65_540] {
        let epoch = epoch as u32;
        let signature = signer.sign(epoch, &[1; 32]).unwrap();
        assert!(public_key.verify(epoch, &[1; 32], &signature), "{epoch}");
    }
    assert_eq!(signer.key().prepared(), 2 * 65_536..first + 65_541);
    assert!(matches!(
        signer.sign((first + 65_541) as u32, &[1; 32]),
        Err(SignError::NotActive { .. })
    ));
}

#[test]
fn a_key_file_spends_its_epochs() {
    let folder = std::env::temp_dir().join(std::format!("lydite-leanvm-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("key");
    KeyFile::create(&path, &key(&[6; 32], 10, 20).unwrap()).unwrap();
    for epoch in [10, 15, 20] {
        let mut file = KeyFile::<LeanVm>::open(&path).unwrap();
        let signature = file.sign(epoch, &[1; 32]).unwrap();
        assert!(
            file.key()
                .public_key()
                .unwrap()
                .verify(epoch, &[1; 32], &signature)
        );
        assert!(matches!(
            file.sign(epoch, &[2; 32]),
            Err(StoreError::Spent { .. })
        ));
    }
    let mut file = KeyFile::<LeanVm>::open(&path).unwrap();
    assert_eq!(file.unspent(), 21..21);
    assert!(file.sign(21, &[1; 32]).is_err());
    drop(file);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A secret key that is cut, extended or has another header is not decoded, or signs nothing valid.
#[test]
fn altered_secret_keys() {
    let made = key(&[7; 32], 5, 9).unwrap();
    let bytes = made.as_bytes().to_vec();
    for length in [0, 31, 47, 83, bytes.len() - 1, bytes.len() + 1] {
        let mut other = bytes.clone();
        other.resize(length, 0);
        assert!(
            SecretKey::<LeanVm, _>::from_bytes(other).is_err(),
            "{length}"
        );
    }
    // First epoch, number of epochs, offsets, index of the left tree.
    for at in 48..92 {
        let mut other = bytes.clone();
        other[at] ^= 0x80;
        if let Ok(other) = SecretKey::<LeanVm, _>::from_bytes(other) {
            assert!((48..64).contains(&at), "{at}");
            assert_ne!(other.active(), made.active());
        }
    }
    assert!(SecretKey::<LeanSigProd, _>::from_bytes(bytes).is_err());
}
