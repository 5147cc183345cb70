//! Generalized XMSS: rows whose truth is leanSig's own output (`vectors/xmss`) or the plain [`statement`] of the scheme,
//! which shares no code with the library.

pub mod statement;

use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::generate::{Draw, probe_seed};
use crate::ops::{Input, Op};
use crate::random::Random;
use crate::truth::{Expected, unhex};
use statement::{Key, P, POSEIDON1, POSEIDON2, Scheme};

/// Whether a row belongs here.
pub fn is_row(op: &Op) -> bool {
    op.family == "xmss"
}

/// A file of leanSig's output.
struct Vectors {
    /// The seed that rand's `StdRng::seed_from_u64` was given.
    seed: u64,
    value: LazyLock<Value>,
}

macro_rules! vectors {
    ($($name:ident = $seed:literal, $file:literal;)*) => {
        $(static $name: Vectors = Vectors {
            seed: $seed,
            value: LazyLock::new(|| {
                let text = include_str!(concat!("../../../vectors/xmss/", $file, ".json"));
                // Compiled in, and read by every test.
                serde_json::from_str(text).unwrap_or_else(|error| unreachable!("vectors: {error}"))
            }),
        };)*
    };
}

vectors! {
    TEST = 1001, "test_2e8_dim4_full";
    DIM46_8 = 1003, "dim46_2e8_full";
    DIM46_10 = 1004, "dim46_2e10_full";
    DIM46_18 = 1006, "dim46_2e18_1024";
    PROD_FIRST = 1010, "prod_2e32_first131072";
    PROD_OFFSET = 1011, "prod_2e32_offset";
    PROD_THREE = 1012, "prod_2e32_3trees";
}

/// The keys that sign: all epochs of the small trees, leanSig's seeds.
static KEYS: LazyLock<[Key; 2]> = LazyLock::new(|| {
    [
        Key::new(Scheme::TEST, TEST.seed),
        Key::new(Scheme::chains46(8), DIM46_8.seed),
    ]
});

/// The scheme that a row names, and its vectors.
fn scheme(op: &Op) -> Result<(Scheme, Vec<&'static Vectors>)> {
    Ok(match op.case.as_str() {
        "test" => (Scheme::TEST, vec![&TEST]),
        "46-8" => (Scheme::chains46(8), vec![&DIM46_8]),
        "46-10" => (Scheme::chains46(10), vec![&DIM46_10]),
        "46-18" => (Scheme::chains46(18), vec![&DIM46_18]),
        "prod" => (
            Scheme::chains46(32),
            vec![&PROD_FIRST, &PROD_OFFSET, &PROD_THREE],
        ),
        other => bail!("no scheme {other:?}"),
    })
}

fn hex(value: &Value) -> Result<Vec<u8>> {
    unhex(value.as_str().context("not a text")?.as_bytes())
}

fn number(value: &Value) -> Result<u64> {
    value.as_u64().context("not a number")
}

/// The seeds of the published benchmark and the SHA3-256 of the public keys it printed for them.
const REPORT: [(u8, &str); 2] = [
    (
        0x42,
        "1c08978516fc02857ac3684266ef3f35fcbbfb43ba4d61d4534ad2455721e77e",
    ),
    (
        0x00,
        "f7b61fa760ca6335b1dfca277f6d75320a6bea69c2a4336b34dfe8884c209ca7",
    ),
];

/// Items of a row and their right outputs.
pub fn cases(op: &Op, which: Draw) -> Result<Vec<(Vec<u8>, Expected)>> {
    let (seed, count) = match which {
        Draw::Main => (op.seed, op.items),
        Draw::Probe { round, count } => (probe_seed(op, round), count),
        Draw::Alternating => (op.seed, 2),
    };
    let mut random = Random::new(seed);
    let first = matches!(which, Draw::Main);
    let mut cases = Vec::new();
    for index in 0..count {
        let (item, part) = match (op.kernel.as_str(), op.input) {
            ("xmss_report", _) => {
                let (byte, digest) = REPORT[if first { 0 } else { index % 2 }];
                (vec![byte; 32], unhex(digest.as_bytes())?)
            }
            ("xmss_prf", _) => pseudorandom(&mut random)?,
            ("xmss_keygen", Input::Varied) => {
                let (scheme, _) = scheme(op)?;
                let seed = random.word();
                let epochs = 1 << scheme.log_lifetime;
                (
                    key_item(seed, 0, epochs),
                    Key::new(scheme, seed).public_key(),
                )
            }
            ("xmss_keygen" | "xmss_advance" | "xmss_load" | "xmss_save", _) => known_key(op)?,
            ("xmss_sign", _) => sign(op, &mut random)?,
            ("xmss_verify", _) => verify(op, &mut random)?,
            _ => permutation(op, &mut random)?,
        };
        cases.push((item, Expected::of(&[part])));
    }
    Ok(cases)
}

/// Seed, first epoch, number of epochs.
fn key_item(seed: u64, start: u64, count: u64) -> Vec<u8> {
    [seed, start, count].map(u64::to_le_bytes).concat()
}

/// What leanSig made of a seed.
fn known_key(op: &Op) -> Result<(Vec<u8>, Vec<u8>)> {
    let vectors = scheme(op)?.1[0];
    let value = &*vectors.value;
    let epochs = number(&value["num_active_epochs"])?;
    let item = key_item(vectors.seed, number(&value["activation_epoch"])?, epochs);
    let output = match op.kernel.as_str() {
        "xmss_advance" => hex(&value["after_advance_preparation"][0]["sk_ssz_sha3_256"])?,
        "xmss_save" => number(&value["sk_ssz_len"])?.to_le_bytes().to_vec(),
        _ => hex(&value["pk_ssz"])?,
    };
    Ok((item, output))
}

/// The output of a changed item; `None` if it cannot be computed from the item's bytes alone.
pub fn output(op: &Op, item: &[u8]) -> Result<Option<Vec<u8>>> {
    Ok(match op.kernel.as_str() {
        kernel if kernel.starts_with("poseidon") => Some(permuted(op, item)?),
        "xmss_prf" => Some(chain_starts(item)?),
        "xmss_sign" => Some(signature(op, item)?),
        _ => None,
    })
}

/// States by columns (element 0 of every state, then element 1), and what they are permuted to.
fn permutation(op: &Op, random: &mut Random) -> Result<(Vec<u8>, Vec<u8>)> {
    let (states, width) = (states(op), width(op)?);
    let element = |random: &mut Random| random.below(P as usize) as u32;
    let mut item = Vec::new();
    for _ in 0..states * width {
        item.extend(element(random).to_le_bytes());
    }
    let output = permuted(op, &item)?;
    Ok((item, output))
}

fn states(op: &Op) -> usize {
    if op.case == "lanes" { 16 } else { 1 }
}

fn width(op: &Op) -> Result<usize> {
    let (_, width) = op.kernel.rsplit_once('_').context("the kernel's width")?;
    Ok(width.parse()?)
}

/// The states of an item after their permutations.
fn permuted(op: &Op, item: &[u8]) -> Result<Vec<u8>> {
    let permutation = match op.kernel.as_str() {
        "poseidon1_16" => &POSEIDON1[0],
        "poseidon1_24" => &POSEIDON1[1],
        "poseidon2_16" => &POSEIDON2[0],
        "poseidon2_24" => &POSEIDON2[1],
        other => bail!("no kernel {other}"),
    };
    let (states, width) = (states(op), width(op)?);
    let (words, []) = item.as_chunks::<4>() else {
        bail!("expected words of 4 bytes")
    };
    ensure!(words.len() == states * width, "{} words", words.len());
    let mut output = vec![0; item.len()];
    for lane in 0..states {
        let column = |i: usize| states * i + lane;
        let mut state: Vec<u64> = (0..width)
            .map(|i| u32::from_le_bytes(words[column(i)]).into())
            .collect();
        for _ in 0..op.ops_per_call / states {
            permutation.permute(&mut state);
        }
        for (i, element) in state.iter().enumerate() {
            output[4 * column(i)..][..4].copy_from_slice(&(*element as u32).to_le_bytes());
        }
    }
    Ok(output)
}

/// A PRF key and an epoch, and the starts of 46 chains of sixteen epochs from it.
fn pseudorandom(random: &mut Random) -> Result<(Vec<u8>, Vec<u8>)> {
    let key = random.bytes(32);
    let first = random.below((1 << 32) - 16) as u32;
    let item = [key, first.to_le_bytes().to_vec()].concat();
    let output = chain_starts(&item)?;
    Ok((item, output))
}

/// For each chain, its elements of all epochs in turn.
fn chain_starts(item: &[u8]) -> Result<Vec<u8>> {
    let (key, first) = item.split_last_chunk::<4>().context("a key and an epoch")?;
    let first = u32::from_le_bytes(*first);
    let mut output = Vec::new();
    for chain in 0..46 {
        let starts: Vec<_> = (first..first + 16)
            .map(|epoch| statement::chain_start(key, epoch, chain))
            .collect();
        for i in 0..8 {
            let column = starts.iter().map(|start| start[i] as u32);
            output.extend(column.flat_map(u32::to_le_bytes));
        }
    }
    Ok(output)
}

/// A message for an epoch of the first window of a key of all epochs.
fn sign(op: &Op, random: &mut Random) -> Result<(Vec<u8>, Vec<u8>)> {
    let (_, vectors) = scheme(op)?;
    let epoch = random.below(32) as u32;
    let message = random.bytes(32);
    let item = [
        key_item(vectors[0].seed, 0, 256),
        epoch.to_le_bytes().to_vec(),
        message,
    ]
    .concat();
    let signature = signature(op, &item)?;
    Ok((item, signature))
}

/// The signature that the item of a key origin, an epoch and a message asks for.
fn signature(op: &Op, item: &[u8]) -> Result<Vec<u8>> {
    let (scheme, _) = scheme(op)?;
    let key = &KEYS[usize::from(scheme.chains == 46)];
    let (rest, message) = item.split_last_chunk::<32>().context("a message")?;
    let (_, epoch) = rest.split_last_chunk::<4>().context("an epoch")?;
    key.sign(u32::from_le_bytes(*epoch), message)
}

/// Claims of leanSig's signatures, one of 32 with an altered path: all the work is done before that shows.
fn verify(op: &Op, random: &mut Random) -> Result<(Vec<u8>, Vec<u8>)> {
    let (_, files) = scheme(op)?;
    let mut entries = Vec::new();
    for file in files {
        for entry in file.value["signatures"].as_array().context("signatures")? {
            entries.push((&file.value["pk_ssz"], entry));
        }
    }
    let (mut item, mut verdicts) = (Vec::new(), Vec::new());
    for _ in 0..op.ops_per_call {
        let (key, entry) = random.pick(&entries);
        let mut signature = hex(&entry["sig_ssz"])?;
        let valid = random.below(32) > 0;
        if !valid {
            // The lowest bit of a word of a sibling: it stays below p, which is odd, unless it was p - 1.
            let at = 40 + 4 * random.below(64);
            signature[at] ^= 1;
        }
        item.extend(hex(key)?);
        item.extend((number(&entry["epoch"])? as u32).to_le_bytes());
        item.extend(hex(&entry["message"])?);
        item.extend(signature);
        verdicts.push(u8::from(valid));
    }
    Ok((item, verdicts))
}

/// Bytes that are no signature of the production set.
pub fn negative() -> Result<Vec<Vec<u8>>> {
    let right = hex(&PROD_FIRST.value["signatures"][0]["sig_ssz"])?;
    let mut wrong = Vec::new();
    for length in [
        0,
        1,
        36,
        40,
        right.len() - 32,
        right.len() - 4,
        right.len() - 1,
    ] {
        wrong.push(right[..length].to_vec());
    }
    wrong.push([&right[..], &[0]].concat());
    wrong.push([&right[..], &[0; 32]].concat());
    // Offsets: one less, one more, one digest more, 2^32 - 1
    for at in [0, 32, 36] {
        let offset = u32::from_le_bytes(std::array::from_fn(|i| right[at + i]));
        for other in [offset - 1, offset + 1, offset + 32, u32::MAX] {
            let mut signature = right.clone();
            signature[at..at + 4].copy_from_slice(&other.to_le_bytes());
            wrong.push(signature);
        }
    }
    // Words that are no field elements: p more where that fits, p itself, 2^32 - 1
    for at in [4, 28, 40, 40 + 32 * 31, 40 + 32 * 32, right.len() - 4] {
        let word = u32::from_le_bytes(std::array::from_fn(|i| right[at + i]));
        for other in [word.checked_add(P as u32), Some(P as u32), Some(u32::MAX)] {
            let Some(other) = other else { continue };
            let mut signature = right.clone();
            signature[at..at + 4].copy_from_slice(&other.to_le_bytes());
            wrong.push(signature);
        }
    }
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::ops::catalogue;

    #[test]
    fn rows_have_reproducible_items_with_a_truth() {
        for op in catalogue().iter().filter(|op| is_row(op)) {
            let which = Draw::Probe { round: 0, count: 2 };
            let two = cases(op, which).unwrap();
            assert_eq!(two, cases(op, which).unwrap(), "{}", op.id);
            assert!(two.iter().all(|(_, output)| !output.bytes.is_empty()));
            let known = ["xmss_keygen", "xmss_advance", "xmss_load", "xmss_save"];
            let one = known.contains(&op.kernel.as_str()) && op.input == Input::Vectors;
            let same = op.ops_per_call == 1 && op.kernel == "xmss_verify";
            assert!(same || (two[0].0 == two[1].0) == one, "{}", op.id);
        }
    }

    #[test]
    fn malformed_signatures_are_malformed() {
        let scheme = Scheme::chains46(32);
        assert!(scheme.decodes(&hex(&PROD_FIRST.value["signatures"][0]["sig_ssz"]).unwrap()));
        for wrong in negative().unwrap() {
            assert!(!scheme.decodes(&wrong));
        }
    }
}
