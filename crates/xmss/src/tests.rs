//! Tests the schemes against output of the reference implementations: `vectors/xmss`.
#![allow(clippy::unwrap_used, clippy::panic)]

use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};
use core::ops::ControlFlow;
use core::sync::atomic::{AtomicU64, Ordering};

use rand_core::SeedableRng;
use serde_json::Value;

use crate::encoding::Encoding;
use crate::hash::{
    ChainPositions, DIGEST_WORDS, Digest, PARAMETER_WORDS, Parameter, Poseidon1Hash, TweakHash,
};
use crate::koalabear::{message_digits, tweak_digits};
use crate::poseidon::{Backend, LANES, Lanes};
use crate::prf::{Prf, Shake};
use crate::scheme::tree_leaves;
use crate::signature::verify_batch_with;
use crate::*;

type Hash46 = Poseidon1Hash<8, 7, 46>;
type Encoding46 = <LeanSigProd as Scheme>::Encoding;

fn file(name: &str) -> Value {
    let path = format!("{}/vectors/xmss/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn words<const N: usize>(value: &Value) -> [u32; N] {
    let words: Vec<u32> = list(value).iter().map(|word| number(word) as u32).collect();
    let mut array = [0; N];
    array[..words.len()].copy_from_slice(&words);
    array
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

fn sha3(data: &[u8]) -> [u8; 32] {
    use tiny_keccak::Hasher as _;
    let mut hasher = tiny_keccak::Sha3::v256();
    hasher.update(data);
    let mut digest = [0; 32];
    hasher.finalize(&mut digest);
    digest
}

#[test]
fn permutations() {
    let vectors = file("primitives");
    for backend in Backend::available() {
        for vector in list(&vectors["poseidon1_koalabear_16"]) {
            let mut state = Lanes::splat(&words::<16>(&vector["in"]));
            backend.poseidon1_16(&mut state);
            assert_eq!(state, Lanes::splat(&words(&vector["out"])), "{backend:?}");
        }
        for vector in list(&vectors["poseidon1_koalabear_24"]) {
            let mut state = Lanes::splat(&words::<24>(&vector["in"]));
            backend.poseidon1_24(&mut state);
            assert_eq!(state, Lanes::splat(&words(&vector["out"])), "{backend:?}");
        }
    }
}

/// The randomnesses of a vector's message.
fn trials(vector: &serde_json::Value) -> <Shake as Prf>::Trials {
    Shake::trials(
        &array(&vector["key"]),
        &Parameter::default(),
        number(&vector["epoch"]) as u32,
        &array(&vector["message"]),
    )
}

#[test]
fn pseudorandom_function() {
    let vectors = file("primitives");
    for vector in list(&vectors["prf_domain_element_8"]) {
        let index = number(&vector["index"]);
        // A chain index is one byte.
        let Ok(chain) = u8::try_from(index) else {
            continue;
        };
        let epoch = number(&vector["epoch"]) as u32;
        let mut starts = [Lanes::ZERO];
        Shake::starts::<Hash46>(
            &array(&vector["key"]),
            &Parameter::default(),
            &[epoch; LANES],
            [[chain; LANES]],
            &mut starts,
        );
        assert_eq!(starts[0], Lanes::splat(&words(&vector["out"])));
    }
    for vector in list(&vectors["prf_randomness_7"]) {
        let mut trials = trials(vector);
        let randomness = Shake::randomness::<Hash46>(&mut trials, number(&vector["counter"]));
        assert_eq!(randomness.lane(0), words(&vector["out"]));
    }
}

#[test]
fn inputs_of_hashes() {
    let vectors = file("primitives");
    for vector in list(&vectors["message_and_epoch_encoding"]) {
        assert_eq!(
            message_digits(&array(&vector["message"])),
            words(&vector["fe"])
        );
        let tweak = number(&vector["epoch"]) << 8 | 2;
        assert_eq!(tweak_digits(tweak), words(&vector["epoch_fe"]));
    }
    for vector in list(&vectors["tweaks"]) {
        let tree = number(&vector["level"]) << 40 | number(&vector["pos_in_level"]) << 8 | 1;
        assert_eq!(tweak_digits(tree), words(&vector["tree_tweak_fe"]));
        let chain = number(&vector["epoch"]) << 24
            | number(&vector["chain_index"]) << 16
            | number(&vector["pos_in_chain"]) << 8;
        assert_eq!(tweak_digits(chain), words(&vector["chain_tweak_fe"]));
    }
}

#[test]
fn chains_nodes_and_leaves() {
    let vectors = file("primitives");
    for backend in Backend::available() {
        for vector in list(&vectors["chain"]) {
            let parameter: Parameter = words(&vector["parameter"]);
            let epoch = number(&vector["epoch"]) as u32;
            let chain = number(&vector["chain_index"]) as u8;
            let position = number(&vector["start_pos"]) as u8;
            let start: Digest = words(&vector["in"]);
            let mut value = Lanes::splat(&start);
            let mut at = ChainPositions {
                epochs: [epoch; LANES],
                chains: [chain.into(); LANES],
                positions: [position.into(); LANES],
            };
            Hash46::steps(backend, &Lanes::splat(&parameter), &mut at, 1, &mut value);
            assert_eq!(value, Lanes::splat(&words(&vector["one_step"])));
            let walks = [walk::ChainWalk {
                parameter: &parameter,
                epoch,
                chain,
                position,
                steps: number(&vector["steps"]) as u8,
                value: &start,
            }];
            walk::walk::<Hash46>(backend, &walks, |chain, end| {
                assert_eq!((chain, *end), (0, words(&vector["out"])));
            });
        }
        for vector in list(&vectors["tree_node"]) {
            let parameter: Parameter = words(&vector["parameter"]);
            let (level, position) = (
                number(&vector["level"]) as u8,
                number(&vector["pos_in_level"]) as u32,
            );
            let (left, right): (Digest, Digest) = (words(&vector["left"]), words(&vector["right"]));
            let expected = words(&vector["out"]);
            let nodes = Hash46::node(
                backend,
                &Lanes::splat(&parameter),
                level,
                &[position; LANES],
                [&Lanes::splat(&left), &Lanes::splat(&right)],
            );
            assert_eq!(nodes, Lanes::splat(&expected));
            let node = Hash46::node_one(backend, &parameter, level, position, [&left, &right]);
            assert_eq!(node, expected);
        }
        for vector in list(&vectors["leaf_sponge"]) {
            match number(&vector["num_chains"]) {
                46 => leaf::<46>(backend, vector),
                4 => leaf::<4>(backend, vector),
                other => panic!("{other} chains"),
            }
        }
    }
}

fn leaf<const V: usize>(backend: Backend, vector: &Value) {
    let parameter: Parameter = words(&vector["parameter"]);
    let epoch = number(&vector["epoch"]) as u32;
    let ends: Vec<Digest> = list(&vector["chain_ends"]).iter().map(words).collect();
    let lanes: Vec<Lanes<DIGEST_WORDS>> = ends.iter().map(Lanes::splat).collect();
    let leaves =
        Poseidon1Hash::<8, 7, V>::leaf(backend, &Lanes::splat(&parameter), &[epoch; LANES], &lanes);
    let expected = words(&vector["leaf"]);
    assert_eq!(leaves, Lanes::splat(&expected));
    let leaf = Poseidon1Hash::<8, 7, V>::leaf_one(backend, &parameter, epoch, &ends);
    assert_eq!(leaf, expected);
}

#[test]
fn message_hashes_and_searches() {
    let vectors = file("primitives");
    for backend in Backend::available() {
        let codeword = |vector: &Value, randomness: &Lanes<7>, lane: usize| {
            let absorbed = Hash46::absorb(
                backend,
                &Lanes::splat(&words::<PARAMETER_WORDS>(&vector["parameter"])),
                &[number(&vector["epoch"]) as u32; LANES],
                &Lanes::splat(&message_digits(&array(&vector["message"]))),
            );
            let hash = Hash46::message(backend, &absorbed, randomness);
            let mut codeword = vec![0; 46];
            let accepted = Encoding46::encode(&hash.lane(lane), &mut codeword);
            let small = <LeanSigTest as Scheme>::Encoding::encode(&hash.lane(lane), &mut [0; 4]);
            (accepted, small, codeword)
        };
        for vector in list(&vectors["message_hash"]) {
            let randomness = Lanes::splat(&words(&vector["rho"]));
            let (accepted, small, digits) = codeword(vector, &randomness, 5);
            assert_eq!(digits, bytes_of(&vector["chunks46"]));
            assert_eq!(accepted, vector["accepted_200"].as_bool().unwrap());
            assert_eq!(small, vector["accepted_dim4_sum6"].as_bool().unwrap());
        }
        for vector in list(&vectors["encoding_search_46_200"]) {
            let first = number(&vector["first_accepted_counter"]);
            let mut accepted_at = None;
            let mut trials = trials(vector);
            'search: for start in (0..).step_by(LANES) {
                let randomness = Shake::randomness::<Hash46>(&mut trials, start);
                for l in 0..LANES {
                    let (accepted, _, digits) = codeword(vector, &randomness, l);
                    if accepted {
                        assert_eq!(randomness.lane(l), words(&vector["rho"]));
                        assert_eq!(digits, bytes_of(&vector["codeword"]));
                        accepted_at = Some(start + l as u64);
                        break 'search;
                    }
                }
            }
            assert_eq!(accepted_at, Some(first));
        }
    }
}

fn bytes_of(value: &Value) -> Vec<u8> {
    list(value)
        .iter()
        .map(|digit| number(digit) as u8)
        .collect()
}

/// All signatures verify, alone and in batches, with every backend, and re-encode to the same bytes.
fn check_signatures<S: Scheme>(vectors: &Value) {
    let key = PublicKey::<S>::from_bytes(&bytes(&vectors["pk_ssz"])).unwrap();
    assert_eq!(key.to_bytes(), bytes(&vectors["pk_ssz"]));
    let entries: Vec<(u32, [u8; 32], Signature<S>)> = list(&vectors["signatures"])
        .iter()
        .map(|entry| {
            let encoded = bytes(&entry["sig_ssz"]);
            let signature = Signature::from_bytes(&encoded).unwrap();
            assert_eq!(signature.to_bytes(), encoded);
            (
                number(&entry["epoch"]) as u32,
                array(&entry["message"]),
                signature,
            )
        })
        .collect();
    let claims: Vec<Claim<'_, S>> = entries
        .iter()
        .map(|(epoch, message, signature)| Claim {
            public_key: &key,
            epoch: *epoch,
            message,
            signature,
        })
        .collect();
    for backend in Backend::available() {
        for (epoch, message, signature) in &entries[..entries.len().min(4)] {
            assert!(
                key.verify_with(backend, *epoch, message, signature),
                "{backend:?}"
            );
            assert!(
                !key.verify_with(backend, epoch ^ 1, message, signature),
                "{backend:?}"
            );
        }
        assert_eq!(
            verify_batch_with(backend, &claims),
            vec![true; claims.len()],
            "{backend:?}"
        );
        // Some are wrong.
        let mut mixed = claims.clone();
        for claim in mixed.iter_mut().step_by(3) {
            claim.epoch ^= 1;
        }
        let expected: Vec<bool> = (0..mixed.len()).map(|i| i % 3 != 0).collect();
        assert_eq!(verify_batch_with(backend, &mixed), expected, "{backend:?}");
    }
}

/// Regenerates the key from its seed and compares the public key, the secret key and its advanced forms, and all
/// signatures.
fn check_key<S: Scheme>(vectors: &Value) {
    check_signatures::<S>(vectors);
    let rng = vectors["rng"].as_str().unwrap();
    let seed: u64 = rng.split(['(', ')']).nth(1).unwrap().parse().unwrap();
    let start = number(&vectors["activation_epoch"]);
    let epochs = start..start + number(&vectors["num_active_epochs"]);
    let mut key =
        SecretKey::<S>::generate(&mut ChaCha12Rng::seed_from_u64(seed), epochs, &()).unwrap();
    assert_eq!(
        key.public_key().unwrap().parameter,
        words(&vectors["parameter"])
    );
    assert_eq!(key.as_bytes()[..32], array::<32>(&vectors["prf_key"]));
    assert_eq!(
        key.public_key().unwrap().to_bytes(),
        bytes(&vectors["pk_ssz"])
    );
    let interval = |value: &Value| number(&value[0])..number(&value[1]);
    assert_eq!(key.active(), interval(&vectors["expanded_activation"]));
    let check_bytes = |key: &SecretKey<S>, expected: &Value| {
        assert_eq!(key.prepared(), interval(&expected["prepared"]));
        assert_eq!(key.as_bytes().len() as u64, number(&expected["sk_ssz_len"]));
        if let Some(encoded) = expected.get("sk_ssz") {
            assert_eq!(key.as_bytes(), bytes(encoded));
        }
        assert_eq!(sha3(key.as_bytes()), array(&expected["sk_ssz_sha3_256"]));
        let again = SecretKey::<S, _>::from_bytes(key.as_bytes()).unwrap();
        again.check_nodes().unwrap();
        assert_eq!(again.public_key(), key.public_key());
    };
    check_bytes(&key, vectors);
    let mut signer = Signer::new(key.to_owned());
    for entry in list(&vectors["signatures"]) {
        let epoch = number(&entry["epoch"]) as u32;
        let message = array(&entry["message"]);
        if key.prepared().contains(&u64::from(epoch)) {
            let signature = key.sign(epoch, &message).unwrap();
            assert_eq!(signature.to_bytes(), bytes(&entry["sig_ssz"]));
        }
        if u64::from(epoch) >= signer.key().prepared().start {
            signer.work(1);
            let signature = signer.sign(epoch, &message).unwrap();
            assert_eq!(signature.to_bytes(), bytes(&entry["sig_ssz"]));
        }
    }
    for advanced in list(&vectors["after_advance_preparation"]) {
        if let Some(mut next) = key.next_tree() {
            while next.missing() > 0 {
                next.work(1 << 12);
            }
            key.advance(next).unwrap();
        }
        check_bytes(&key, advanced);
    }
}

#[test]
fn test_set() {
    check_key::<LeanSigTest>(&file("test_2e8_dim4_full"));
    check_key::<LeanSigTest>(&file("test_2e8_dim4_sparse"));
}

/// Whether the kernels are portable code, which takes minutes for keys of many leaves in the builds of tests.
fn is_portable_code() -> bool {
    match Backend::detect() {
        Backend::Portable => true,
        #[cfg(target_arch = "x86_64")]
        Backend::Avx2(_) => true,
        #[allow(unreachable_patterns)]
        _ => false,
    }
}

/// Checks a key of many leaves, and generates it again if that does not take too long.
fn check_large_key<S: Scheme>(vectors: &Value) {
    if is_portable_code() {
        check_signatures::<S>(vectors);
    } else {
        check_key::<S>(vectors);
    }
}

#[test]
fn smaller_trees() {
    check_key::<LeanSig46x8>(&file("dim46_2e8_full"));
    check_large_key::<LeanSig46x10>(&file("dim46_2e10_full"));
    check_large_key::<LeanSig46x10>(&file("dim46_2e10_sparse"));
    check_large_key::<LeanSig46x18>(&file("dim46_2e18_1024"));
}

#[test]
fn legacy_set() {
    check_key::<LeanSigLegacyW4>(&file("legacy_ts18_w4"));
}

#[test]
fn production_set() {
    for name in [
        "prod_2e32_first131072",
        "prod_2e32_offset",
        "prod_2e32_3trees",
    ] {
        check_large_key::<LeanSigProd>(&file(name));
    }
}

#[test]
fn report() {
    // SHA3-256 of the encoding that the report's program hashed, with each word in Montgomery form.
    for (seed, expected) in [
        (
            [0x42; 32],
            "1c08978516fc02857ac3684266ef3f35fcbbfb43ba4d61d4534ad2455721e77e",
        ),
        (
            [0; 32],
            "f7b61fa760ca6335b1dfca277f6d75320a6bea69c2a4336b34dfe8884c209ca7",
        ),
    ] {
        let key = SecretKey::<HashSig2025>::from_seed(&seed, 0..1024, &()).unwrap();
        let public_key = key.public_key().unwrap();
        let digest: String = sha3(&public_key.to_montgomery_bytes())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(digest, expected);
        let signature = key.sign(5, &[9; 32]).unwrap();
        assert!(public_key.verify(5, &[9; 32], &signature));
        assert!(!public_key.verify(5, &[8; 32], &signature));
        if is_portable_code() {
            return;
        }
    }
}

fn negative<S: Scheme>(name: &str) {
    for case in list(&file(name)["cases"]) {
        let name = case["case"].as_str().unwrap();
        let verdict = case["leansig_release"].as_str().unwrap();
        let key = bytes(&case["pk_ssz"]);
        let signature = bytes(&case["sig_ssz"]);
        let epoch = number(&case["epoch"]) as u32;
        let message = array(&case["message"]);
        let compatible = match (
            PublicKey::<S>::from_bytes_leansig_compatible(&key),
            Signature::<S>::from_bytes_leansig_compatible(&signature),
        ) {
            (Err(_), _) => "pk_decode_error",
            (_, Err(_)) => "sig_decode_error",
            (Ok(key), Ok(signature)) => {
                let claim = Claim {
                    public_key: &key,
                    epoch,
                    message: &message,
                    signature: &signature,
                };
                let valid = key.verify(epoch, &message, &signature);
                assert_eq!(verify_batch(&[claim; 2]), [valid; 2], "{name}");
                if valid { "true" } else { "false" }
            }
        };
        assert_eq!(compatible, verdict, "{name}");
        let strict = PublicKey::<S>::from_bytes(&key).is_ok_and(|key| {
            Signature::from_bytes(&signature)
                .is_ok_and(|signature| key.verify(epoch, &message, &signature))
        });
        assert_eq!(strict, name == "valid", "{name}");
    }
}

#[test]
fn altered_signatures() {
    negative::<LeanSigTest>("negative_test_2e8");
    negative::<LeanSig46x8>("negative_dim46_2e8");
}

/// No bit of a signature, a public key or a path can be changed, and none can be missing.
fn every_bit<S: Scheme>(vectors: &Value) {
    let entry = &list(&vectors["signatures"])[1];
    let (key, signature) = (bytes(&vectors["pk_ssz"]), bytes(&entry["sig_ssz"]));
    let epoch = number(&entry["epoch"]) as u32;
    let message = array(&entry["message"]);
    let public_key = PublicKey::<S>::from_bytes(&key).unwrap();
    fn claim<'a, S>(
        (epoch, message): (u32, &'a Message),
        public_key: &'a PublicKey<S>,
        signature: &'a Signature<S>,
    ) -> Claim<'a, S> {
        Claim {
            public_key,
            epoch,
            message,
            signature,
        }
    }
    let what = (epoch, &message);
    let right = Signature::<S>::from_bytes(&signature).unwrap();
    assert_eq!(
        verify_batch(&[claim(what, &public_key, &right); 2]),
        [true; 2]
    );

    let flips = |bytes: &[u8]| -> Vec<Vec<u8>> {
        let flip = |bit: usize| {
            let mut other = bytes.to_vec();
            other[bit / 8] ^= 1 << (bit % 8);
            other
        };
        (0..8 * bytes.len()).map(flip).collect()
    };
    let mut strict = 0;
    let mut others = Vec::new();
    for other in flips(&signature) {
        strict += usize::from(Signature::<S>::from_bytes(&other).is_ok());
        // Compatible decoding reads everything that strict decoding accepts, with the same result.
        others.extend(Signature::<S>::from_bytes_leansig_compatible(&other));
    }
    // Changed bits of offsets are never accepted. The reference accepts them if they move a whole number of digests,
    // and also words that are not field elements.
    assert!(strict <= 8 * (signature.len() - 12));
    assert!(strict < others.len());
    let claims: Vec<_> = others.iter().map(|o| claim(what, &public_key, o)).collect();
    assert!(!verify_batch(&claims).contains(&true));
    for (other, claim) in others.iter().zip(&claims).step_by(97) {
        assert!(!public_key.verify(claim.epoch, claim.message, other));
    }

    for other in flips(&key) {
        if let Ok(other) = PublicKey::<S>::from_bytes_leansig_compatible(&other) {
            assert_eq!(verify_batch(&[claim(what, &other, &right); 2]), [false; 2]);
            assert!(!other.verify(epoch, &message, &right));
        }
    }
    for length in 0..signature.len() {
        Signature::<S>::from_bytes(&signature[..length]).unwrap_err();
        if let Ok(short) = Signature::<S>::from_bytes_leansig_compatible(&signature[..length]) {
            assert!(!public_key.verify(epoch, &message, &short));
        }
    }
    for length in 0..key.len() {
        PublicKey::<S>::from_bytes(&key[..length]).unwrap_err();
        PublicKey::<S>::from_bytes_leansig_compatible(&key[..length]).unwrap_err();
    }

    // The same word plus the modulus: the reference reads the same element.
    let words = (4..32).chain(40..signature.len()).step_by(4);
    for at in words {
        let word = u32::from_le_bytes(signature[at..at + 4].try_into().unwrap());
        let Some(more) = word.checked_add(koalabear::MODULUS) else {
            continue;
        };
        let mut other = signature.clone();
        other[at..at + 4].copy_from_slice(&more.to_le_bytes());
        assert_eq!(
            Signature::<S>::from_bytes(&other),
            Err(DecodeError::NotCanonical { at })
        );
        let other = Signature::<S>::from_bytes_leansig_compatible(&other).unwrap();
        assert_eq!(other, right);
    }

    // Longer and shorter paths and chains, as values rather than bytes
    for change in 0..4 {
        let mut other = right.clone();
        match change {
            0 => other.path.push([0; 8]),
            1 => drop(other.path.pop()),
            2 => other.hashes.push([0; 8]),
            _ => drop(other.hashes.pop()),
        }
        assert!(!public_key.verify(epoch, &message, &other));
        assert_eq!(
            verify_batch(&[claim(what, &public_key, &other); 2]),
            [false; 2]
        );
    }
}

#[test]
fn every_bit_of_signatures_and_public_keys_counts() {
    every_bit::<LeanSigTest>(&file("test_2e8_dim4_full"));
    every_bit::<LeanSig46x8>(&file("dim46_2e8_full"));
    every_bit::<LeanSigProd>(&file("prod_2e32_first131072"));
}

/// A secret key with any bit changed is rejected, signs like before (if the bit belongs to a node that this epoch does
/// not need), or signs nothing that verifies.
#[test]
fn every_bit_of_a_secret_key_counts() {
    let key = SecretKey::<LeanSigTest>::from_seed(&[5; 32], 0..256, &()).unwrap();
    let (epoch, message) = (9, [3; 32]);
    let public_key = key.public_key().unwrap();
    let right = key.sign(epoch, &message).unwrap();
    let mut bytes = key.as_bytes().to_vec();
    let mut same = 0;
    for bit in 0..8 * bytes.len() {
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(other) = SecretKey::<LeanSigTest, _>::from_bytes(&bytes)
            && let Ok(signature) = other.sign(epoch, &message)
        {
            let differs = signature != right;
            assert!(
                !differs || !public_key.verify(epoch, &message, &signature),
                "bit {bit}"
            );
            same += usize::from(!differs);
        }
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    // A signature only needs eight nodes of 32 bytes and the bytes before the trees.
    assert!(same > 0 && same < 8 * (bytes.len() - 256), "{same}");
    for length in 0..bytes.len() {
        SecretKey::<LeanSigTest, _>::from_bytes(&bytes[..length]).unwrap_err();
    }
}

/// When signing every epoch, from the start or the middle of a window, the next tree is complete in time, but is
/// computed neither all at once nor all at the end.
#[test]
fn a_signer_prepares_itself() {
    let leaves = tree_leaves::<LeanSig46x10>() as usize;
    assert_eq!(leaves, 2 * LANES);
    for first in [0_u32, 47] {
        let key = SecretKey::<LeanSig46x10>::from_seed(&[8; 32], 0..256, &()).unwrap();
        let public_key = key.public_key().unwrap();
        let mut signer = Signer::new(key);
        let mut missing = [0; 3];
        for epoch in first..256 {
            if u64::from(epoch) == signer.key().prepared().end {
                assert!(!signer.work(0), "{epoch}");
            }
            let signature = signer.sign(epoch, &[4; 32]).unwrap();
            missing[signer.missing().unwrap_or(0) / LANES] += 1;
            if epoch % 32 < 2 {
                assert!(public_key.verify(epoch, &[4; 32], &signature));
            }
        }
        // One of the two groups is computed in the first half of a window's last tree, the other in the second half.
        assert!(missing[0] >= 80 && missing[1] >= 80, "{missing:?}");
    }
}

/// An unfinished tree is also used when the epoch is one tree further.
#[test]
fn a_tree_in_the_making_is_not_made_again() {
    for (epoch, due) in [(64, 1), (96, 2), (128, 2)] {
        let mut key = SecretKey::<LeanSig46x10>::from_seed(&[8; 32], 0..256, &()).unwrap();
        let mut next = key.next_tree();
        next.as_mut().unwrap().work(LANES);
        let total = AtomicU64::new(0);
        let observer = |_, all| {
            total.store(all, Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        key.prepare_from(epoch, &mut next, &observer).unwrap();
        // The tree that starts at epoch 64 is of no use if the window begins at 96.
        let used = epoch < 128;
        assert_eq!(next.is_none(), used, "{epoch}");
        let saved = if used { LANES as u64 } else { 0 };
        assert_eq!(total.into_inner(), due * 32 - saved, "{epoch}");
        let mut other = SecretKey::<LeanSig46x10>::from_seed(&[8; 32], 0..256, &()).unwrap();
        other.prepare(epoch).unwrap();
        assert_eq!(key.as_bytes(), other.as_bytes());
    }
}

/// A cancelled move returns the unfinished tree with its leaves, whether or not the move got to it.
#[test]
fn a_tree_in_the_making_is_given_back() {
    for (groups, epoch) in [(1, 64), (1, 96), (2, 96), (2, 128)] {
        let mut key = SecretKey::<LeanSig46x10>::from_seed(&[8; 32], 0..256, &()).unwrap();
        let mut next = key.next_tree();
        next.as_mut().unwrap().work(groups * LANES);
        let stop = |_, _| ControlFlow::Break(());
        let stopped = key.prepare_from(epoch, &mut next, &stop);
        assert_eq!(stopped, Err(SignError::Cancelled));
        let mut next = next.unwrap();
        assert_eq!(next.missing(), 32 - groups * LANES, "{epoch}");
        next.work(32);
        key.advance(next).unwrap();
        let mut other = SecretKey::<LeanSig46x10>::from_seed(&[8; 32], 0..256, &()).unwrap();
        other.prepare(64).unwrap();
        assert_eq!(key.as_bytes(), other.as_bytes(), "{epoch}");
    }
}

#[test]
fn preparing_can_be_stopped() {
    let mut key = SecretKey::<LeanSigTest>::from_seed(&[8; 32], 0..256, &()).unwrap();
    let before = key.as_bytes().to_vec();
    let stop = |_, _| core::ops::ControlFlow::Break(());
    for epoch in [40, 200] {
        assert_eq!(key.prepare_with(epoch, &stop), Err(SignError::Cancelled));
        assert_eq!(key.as_bytes(), before);
    }
    key.prepare_with(31, &stop).unwrap();
}
