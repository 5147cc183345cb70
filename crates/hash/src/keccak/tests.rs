//! Every backend (one-shot, streaming and batches), compared with the reference implementation and an independent
//! library.
#![allow(clippy::unwrap_used, clippy::panic)]
extern crate std;

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;
use tiny_keccak::Hasher as _;

use super::*;

/// Lengths at which the last block is empty, nearly full or full, or both ends of the padding are in one byte.
const EDGES: [usize; 12] = [0, 1, 7, 8, 31, 32, 134, 135, 136, 137, 271, 272];

fn independent(data: &[u8]) -> [u8; 32] {
    let mut hasher = tiny_keccak::Keccak::v256();
    hasher.update(data);
    let mut digest = [0; 32];
    hasher.finalize(&mut digest);
    digest
}

/// Returns different bytes for each length and seed.
fn message(length: usize, seed: usize) -> Vec<u8> {
    (0..length)
        .map(|i| ((i + 1) * (2 * seed + 7) + (i >> 8)) as u8)
        .collect()
}

/// Compares every length and batch of SHAKE128 with an independent library.
fn check_shake(backend: Backend, messages: &[Vec<u8>]) {
    use tiny_keccak::Hasher as _;

    let inputs: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let mut whole = vec![[0; SHAKE128_RATE]; inputs.len()];
    backend.shake128_batch(&inputs, &mut whole).unwrap();
    let mut short = vec![[0; 13]; inputs.len()];
    backend.shake128_batch(&inputs, &mut short).unwrap();
    for ((input, whole), short) in inputs.iter().zip(&whole).zip(&short) {
        let mut hasher = tiny_keccak::Shake::v128();
        hasher.update(input);
        let mut expected = [0; SHAKE128_RATE];
        hasher.finalize(&mut expected);
        assert_eq!(*whole, expected, "{backend:?}: length {}", input.len());
        assert_eq!(
            short[..],
            expected[..13],
            "{backend:?}: length {}",
            input.len()
        );
    }
}

#[test]
fn shake128_of_every_length() {
    let step = if cfg!(miri) { 167 } else { 1 };
    let messages: Vec<_> = (0..=340)
        .step_by(step)
        .map(|length| message(length, length))
        .collect();
    for backend in Backend::available() {
        check_shake(backend, &messages);
        for size in 0..if cfg!(miri) { 2 } else { 18 } {
            check_shake(backend, &messages[..size]);
        }
        let error = backend
            .shake128_batch(&[b"a"], &mut [[0; 1]; 0])
            .unwrap_err();
        assert_eq!(
            error,
            Error::BatchLength {
                inputs: 1,
                outputs: 0
            }
        );
    }
}

fn check_batch(backend: Backend, messages: &[Vec<u8>]) {
    let inputs: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let mut digests = vec![[0; 32]; inputs.len()];
    backend.keccak256_batch(&inputs, &mut digests).unwrap();
    for (input, digest) in inputs.iter().zip(&digests) {
        assert_eq!(
            *digest,
            independent(input),
            "{backend:?}: length {} in a batch of {}",
            input.len(),
            inputs.len()
        );
    }
}

#[test]
fn every_length_to_three_blocks() {
    let step = if cfg!(miri) { 137 } else { 1 };
    for length in (0..=410).step_by(step).chain(EDGES) {
        let data = message(length, length);
        let expected = independent(&data);
        assert_eq!(reference::keccak256(&data), expected, "reference: {length}");
        assert_eq!(keccak256(&data), expected);
        assert_eq!(keccak256_const(&data), expected);
        let mut sha3 = tiny_keccak::Sha3::v256();
        sha3.update(&data);
        let mut digest = [0; 32];
        sha3.finalize(&mut digest);
        assert_eq!(sha3_256(&data), digest);
        let mut out = [0; 32];
        keccak256_into(&data, &mut out);
        assert_eq!(out, expected);
        for backend in Backend::available() {
            assert_eq!(backend.keccak256(&data), expected, "{backend:?}: {length}");
        }
    }
}

#[test]
fn every_alignment() {
    let data = message(200, 5);
    for backend in Backend::available() {
        for start in 0..if cfg!(miri) { 2 } else { 9 } {
            for length in [33, 150] {
                let part = &data[start..start + length];
                assert_eq!(backend.keccak256(part), independent(part));
            }
        }
    }
}

#[test]
fn permutations_equal_the_reference() {
    let mut expected = [0; 25];
    let mut word = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..if cfg!(miri) { 2 } else { 100 } {
        for lane in &mut expected {
            word = word.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            *lane ^= word;
        }
        let start = expected;
        reference::permute(&mut expected);
        for backend in Backend::available() {
            let mut state = start;
            backend.permute(&mut state);
            assert_eq!(state, expected, "{backend:?}");
        }
        #[cfg(target_arch = "aarch64")]
        if crate::cpu::Sha3::detect().is_some() {
            let mut state = start;
            // SAFETY: the CPU has the SHA-3 instructions.
            unsafe { aarch64::sha3_x2::permute_one(&mut state) };
            assert_eq!(state, expected, "one message with the SHA-3 instructions");
        }
        for (name, permute) in [
            ("every target", portable::permute as fn(&mut State)),
            ("AArch64", aarch64::scalar::permute),
            ("WebAssembly", wasm32::scalar::permute),
        ] {
            let mut state = start;
            permute(&mut state);
            assert_eq!(state, expected, "{name}");
        }
    }
}

#[test]
fn round_constants_from_their_shift_register() {
    assert_eq!(reference::round_constants(), portable::ROUND_CONSTANTS);
}

#[test]
fn batches_of_every_small_size() {
    let sizes = if cfg!(miri) { 2..=2 } else { 0..=20 };
    for backend in Backend::available() {
        for size in sizes.clone() {
            let equal: Vec<_> = (0..size).map(|seed| message(32, seed)).collect();
            check_batch(backend, &equal);
            let edges: Vec<_> = (0..size)
                .map(|seed| message(EDGES[seed % EDGES.len()], seed))
                .collect();
            check_batch(backend, &edges);
            // One long message among short ones, at each position
            for long in 0..size {
                let mixed: Vec<_> = (0..size)
                    .map(|seed| message(if seed == long { 1000 } else { seed * 9 }, seed))
                    .collect();
                check_batch(backend, &mixed);
            }
        }
    }
}

#[test]
fn the_batch_schedule_with_a_portable_kernel() {
    // The scheduler without the vector kernels: it also runs under Miri and on other targets.
    let messages: Vec<_> = [0, 300, 136, 5, 135, 272, 1, 600]
        .into_iter()
        .map(|length| message(length, length))
        .collect();
    let inputs: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let sizes = if cfg!(miri) { 5..=5 } else { 0..=inputs.len() };
    for size in sizes {
        let mut digests = vec![[0; 32]; size];
        batch::run::<3, RATE, 32>(
            KECCAK_SUFFIX,
            &inputs[..size],
            &mut digests,
            |wide, blocks, keep| {
                for (position, (block, keep)) in blocks.iter().zip(keep).enumerate() {
                    let mut state = wide.0.map(|words| words[position] & keep);
                    xor_bytes(&mut state, 0, *block);
                    portable::permute(&mut state);
                    for (words, lane) in wide.0.iter_mut().zip(state) {
                        words[position] = lane;
                    }
                }
            },
            |wide| [0, 1, 2].map(|position| [0, 1, 2, 3].map(|lane: usize| wide.0[lane][position])),
            |state, rest| Backend::Portable.sponge::<RATE, 32>(KECCAK_SUFFIX, &state, rest),
        );
        for (input, digest) in inputs.iter().zip(digests) {
            assert_eq!(digest, independent(input), "length {}", input.len());
        }
    }
}

#[test]
fn unequal_slices_are_refused_and_nothing_is_written() {
    for backend in Backend::available() {
        let mut digests = [[7; 32]; 2];
        let error = backend.keccak256_batch(&[b"a"], &mut digests).unwrap_err();
        assert_eq!(
            error,
            Error::BatchLength {
                inputs: 1,
                outputs: 2
            }
        );
        assert_eq!(
            std::string::ToString::to_string(&error),
            "batch: expected 1 outputs, one per input, found 2"
        );
        assert_eq!(digests, [[7; 32]; 2]);
    }
}

#[test]
fn the_detected_backend_is_available() {
    assert!(Backend::available().any(|backend| backend == Backend::detect()));
    if cfg!(any(miri, lydite_backend = "portable")) {
        assert_eq!(Backend::detect(), Backend::Portable);
        assert_eq!(Backend::available().count(), 1);
    }
}

#[test]
fn two_splits_of_two_blocks() {
    let data = message(280, 3);
    let expected = independent(&data);
    let step = if cfg!(miri) { 140 } else { 1 };
    for backend in Backend::available() {
        for first in (0..=data.len()).step_by(step) {
            for second in (first..=data.len()).step_by(7 * step) {
                let mut hasher = Keccak256::with_backend(backend);
                hasher.update(&data[..first]);
                hasher.update(&data[first..second]);
                hasher.update(&data[second..]);
                assert_eq!(hasher.finalize(), expected, "{backend:?}: {first} {second}");
            }
        }
    }
}

// Not under Miri, which has no file access.
#[cfg(not(miri))]
#[test]
fn vectors_of_the_reports() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/vectors/eth-ops/vectors.json"
    ))
    .unwrap();
    let expected = |name: &str| {
        let entry = text.split_once(&std::format!("\"{name}\"")).unwrap().1;
        let digest = entry.split_once("\"expected\": \"0x").unwrap().1;
        <[u8; 32]>::try_from(hex(&digest[..64])).unwrap()
    };
    let empty = expected("keccak256_empty");
    for backend in Backend::available() {
        assert_eq!(backend.keccak256(b""), empty);
        assert_eq!(backend.keccak256(&empty), expected("keccak256_32b"));
        for (name, length) in [
            ("keccak256_256b", 256),
            ("keccak256_1kb", 1024),
            ("keccak256_4kb", 4096),
        ] {
            assert_eq!(backend.keccak256(&vec![0xab; length]), expected(name));
            check_batch(backend, &vec![vec![0xab; length]; 9]);
        }
    }
}

#[cfg(not(miri))]
fn hex(digits: &str) -> Vec<u8> {
    (0..digits.len() / 2)
        .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 1 } else { 256 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_message_at_any_splits(
        data in prop::collection::vec(any::<u8>(), 0..if cfg!(miri) { 300 } else { 2000 }),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let expected = independent(&data);
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(data.len() + 1)).collect();
        cuts.sort_unstable();
        for backend in Backend::available() {
            prop_assert_eq!(backend.keccak256(&data), expected);
            let mut hasher = Keccak256::with_backend(backend);
            let mut start = 0;
            for &cut in &cuts {
                hasher.update(&data[start..cut]);
                start = cut;
            }
            hasher.update(&data[start..]);
            prop_assert_eq!(hasher.finalize(), expected);
        }
    }

    #[test]
    fn any_batch(
        messages in prop::collection::vec(
            prop::collection::vec(any::<u8>(), 0..600),
            0..if cfg!(miri) { 4 } else { 30 },
        ),
    ) {
        for backend in Backend::available() {
            check_batch(backend, &messages);
        }
    }
}
