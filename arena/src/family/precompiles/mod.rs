//! The precompiles of the EVM: benchmark rows with inputs whose outputs are known by algebra or from slow reference
//! code, their gas costs, and programs that call them.
//!
//! Nothing here shares code with the library or with a contender. An output has two parts: one byte, 1 for success and
//! 0 for failure, and the bytes that the precompile returns.

mod fixture;
mod inputs;
mod program;
pub mod search;

use std::ops::Range;
use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail, ensure};
use num_bigint::BigUint;
use serde_json::Value;

use super::element::{Cases, Family, Selection, probe_seed, regions};
use crate::kernel::{Kernel, Precompile};
use crate::ops::{self, Input, Op};
use crate::random::Random;
use crate::truth::{Expected, unhex};

/// The report's cases and similar ones, with their outputs: `vectors/precompiles/report.json`.
static CASES: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../../../vectors/precompiles/report.json");
    // The vectors are compiled in and read by every test.
    serde_json::from_str(text).unwrap_or_else(|error| unreachable!("embedded vectors: {error}"))
});

/// An item and the parts of its expected output.
pub struct Case {
    /// The item.
    pub item: Vec<u8>,
    /// The parts of its output.
    pub parts: Vec<Vec<u8>>,
}

impl Case {
    /// A case in which the precompile succeeds on `item` and returns `output`.
    pub fn success(item: Vec<u8>, output: Vec<u8>) -> Self {
        let parts = vec![vec![1], output];
        Self { item, parts }
    }

    /// A case in which the precompile fails on `item`.
    pub fn failure(item: Vec<u8>) -> Self {
        let parts = vec![vec![0], Vec::new()];
        Self { item, parts }
    }

    /// Whether the precompile succeeds.
    pub fn succeeds(&self) -> bool {
        self.parts[0] == [1]
    }
}

impl Family for Precompile {
    fn cases(&self, op: &Op, selection: Selection) -> Result<Cases> {
        Ok(unzip(cases(*self, op, selection)?))
    }

    fn expected(&self, op: &Op, item: &[u8]) -> Result<Option<Expected>> {
        let case = inputs::output(address(op)?, item)?;
        Ok(case.map(|case| Expected::of(&case.parts)))
    }

    fn regions(&self, op: &Op, item: &[u8]) -> Result<Vec<Range<usize>>> {
        regions(false, op, item)
    }

    fn gas(&self, op: &Op) -> Result<Option<u64>> {
        let selection = match op.input {
            Input::Report | Input::Fixture => Selection::Main,
            _ => Selection::Probe { round: 0, count: 1 },
        };
        let item = cases(*self, op, selection)?.swap_remove(0).item;
        gas(address(op)?, &item).map(Some)
    }
}

fn unzip(cases: Vec<Case>) -> Cases {
    let cases = cases.into_iter();
    cases
        .map(|case| (case.item, Expected::of(&case.parts)))
        .unzip()
}

/// The source and the number of drawn items; `None` if a row's item is not drawn.
fn drawn(op: &Op, selection: Selection) -> Option<(Random, usize)> {
    let (seed, count) = match selection {
        Selection::Main if matches!(op.input, Input::Report | Input::Fixture) => return None,
        Selection::Main => (op.seed, op.items),
        Selection::Probe { round, count } => (probe_seed(op, round), count),
        Selection::Alternating => (op.seed, 2),
    };
    Some((Random::new(seed), count))
}

/// The items of a row with their outputs.
fn cases(kernel: Precompile, op: &Op, selection: Selection) -> Result<Vec<Case>> {
    let Some((mut random, count)) = drawn(op, selection) else {
        let case = match op.input {
            Input::Report => report(op),
            _ => fixture::published(kernel, op),
        };
        return Ok(vec![case.with_context(|| op.id.clone())?]);
    };
    if kernel == Precompile::BlsMap && op.case != "fail" {
        return inputs::maps(op, &mut random, count);
    }
    let cases = (0..count).map(|_| draw(kernel, op, &mut random));
    cases.collect()
}

/// Draws one item of a row.
fn draw(kernel: Precompile, op: &Op, random: &mut Random) -> Result<Case> {
    match op.input {
        Input::Fixture if op.like.is_empty() => fixture::similar(kernel, op, random),
        Input::Report | Input::Fixture => draw_like(op, random),
        _ => inputs::draw(kernel, op, random),
    }
}

/// Draws an input of the row named in `like`.
fn draw_like(op: &Op, random: &mut Random) -> Result<Case> {
    let (kernel, row) = like(op)?;
    let mut drawn = draw(kernel, row, random)?;
    // The report's items are valid. A valid signature or proof always returns the same constant, so draw an invalid one.
    while row.case == inputs::MIXED && drawn.succeeds() && !drawn.parts[1].is_empty() {
        drawn = draw(kernel, row, random)?;
    }
    Ok(drawn)
}

/// Decodes a hexadecimal field.
fn bytes(value: &Value) -> Result<Vec<u8>> {
    unhex(value.as_str().context("not a text")?.as_bytes())
}

/// The vector that a row names.
fn vector(op: &Op) -> Result<&'static Value> {
    let cases = CASES.as_array().context("cases")?;
    let name = op.case.strip_suffix(program::EIGHT_BYTES);
    let name = name.unwrap_or(&op.case);
    let found = cases.iter().find(|case| case["name"] == name);
    found.with_context(|| format!("no case {:?}", op.case))
}

/// The call that a row names, as in the report.
fn report(op: &Op) -> Result<Case> {
    let case = vector(op)?;
    let input = bytes(&case["input"])?;
    Ok(match case["expected"].as_str() {
        Some("FAIL") => Case::failure(input),
        _ => Case::success(input, bytes(&case["expected"])?),
    })
}

/// The direct row that a row takes its inputs from.
fn like(op: &Op) -> Result<(Precompile, &'static Op)> {
    let found = ops::catalogue().iter().find(|row| row.id == op.like);
    let row = found.with_context(|| format!("{}: no row {:?}", op.id, op.like))?;
    Ok((precompile(row)?, row))
}

/// The kernel of a direct row.
fn precompile(op: &Op) -> Result<Precompile> {
    match op.kernel {
        Kernel::Precompile(kernel) => Ok(kernel),
        other => bail!("{}: expected a direct call, found kernel {other}", op.id),
    }
}

/// The address of the precompile that a direct row calls.
fn address(op: &Op) -> Result<u64> {
    let digits = op.call.strip_prefix("precompile_").context("address")?;
    let digits = digits.strip_suffix("_into").unwrap_or(digits);
    Ok(u64::from_str_radix(digits, 16)?)
}

/// The gas of a call since Osaka: EIP-152, 1108, 2537, 4844, 7883, 7951 and the Yellow Paper.
pub fn gas(address: u64, input: &[u8]) -> Result<u64> {
    let words = input.len().div_ceil(32) as u64;
    Ok(match address {
        0x01 => 3000,
        0x02 => 60 + 12 * words,
        0x03 => 600 + 120 * words,
        0x04 => 15 + 3 * words,
        0x05 => modexp_gas(input)?,
        0x06 => 150,
        0x07 => 6000,
        0x08 => 45_000 + 34_000 * (input.len() / 192) as u64,
        0x09 => u64::from(u32::from_be_bytes(*input.first_chunk().context("rounds")?)),
        0x0a => 50_000,
        0x0b => 375,
        0x0c => (input.len() / 160) as u64 * 12 * discount(input.len() / 160)?[0],
        0x0d => 600,
        0x0e => (input.len() / 288) as u64 * 45 * discount(input.len() / 288)?[1] / 2,
        0x0f => 37_700 + 32_600 * (input.len() / 384) as u64,
        0x10 => 5500,
        0x11 => 23_800,
        0x100 => 6900,
        _ => bail!("no precompile at {address:#x}"),
    })
}

/// The gas of modular exponentiation (EIP-7883).
fn modexp_gas(input: &[u8]) -> Result<u64> {
    let field = |at: usize, len: usize| -> BigUint {
        let bytes = (at..at + len).map(|i| input.get(i).copied().unwrap_or(0));
        BigUint::from_bytes_be(&bytes.collect::<Vec<_>>())
    };
    let length = |at: usize| -> Result<u64> { Ok(u64::try_from(field(at, 32))?) };
    let (base, exponent, modulus) = (length(0)?, length(32)?, length(64)?);
    ensure!(
        base.max(modulus).max(exponent) <= 1 << 20,
        "not for this slow code"
    );
    let longest = base.max(modulus);
    let multiplication = match longest {
        0..=32 => 16,
        _ => 2 * longest.div_ceil(8).pow(2),
    };
    let head = field(96 + base as usize, exponent.min(32) as usize);
    let iterations = 16 * exponent.saturating_sub(32) + head.bits().saturating_sub(1);
    Ok((multiplication * iterations.max(1)).max(500))
}

/// EIP-2537: the discount in thousandths for G1 and G2, for the numbers of points that rows use.
fn discount(points: usize) -> Result<[u64; 2]> {
    Ok(match points {
        1 => [1000, 1000],
        2 => [949, 1000],
        16 => [677, 717],
        64 => [576, 582],
        128 => [519, 524],
        _ => bail!("no row has {points} points"),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::kernel::Program;
    use crate::truth::{hash, hex};

    #[test]
    fn hashes_are_the_published_ones() {
        // Test vectors of FIPS 180-4 and of the page of RIPEMD-160's authors.
        assert_eq!(
            hex(&hash::sha256(b"abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            hex(&hash::ripemd160(b"abc")),
            "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"
        );
        assert_eq!(
            hex(&hash::ripemd160(b"")),
            "9c1185a5c5e9fc54612808977ee8f548b2258d31"
        );
    }

    #[test]
    fn slow_code_gives_the_vectors_outputs_and_gas() {
        let mut computed = 0;
        for case in CASES.as_array().unwrap() {
            let (address, input) = (
                case["addr"].as_u64().unwrap(),
                bytes(&case["input"]).unwrap(),
            );
            assert_eq!(
                gas(address, &input).unwrap(),
                case["gas"],
                "{}",
                case["name"]
            );
            let output = match address {
                0x02 => hash::sha256(&input).to_vec(),
                0x03 => [vec![0; 12], hash::ripemd160(&input).to_vec()].concat(),
                0x04 => input,
                0x09 => hash::blake2f(input.as_slice().try_into().unwrap()),
                _ => continue,
            };
            assert_eq!(hex(&output), case["expected"], "{}", case["name"]);
            computed += 1;
        }
        assert_eq!(computed, 7);
    }

    #[test]
    fn mixed_rows_hold_both_outcomes() {
        let valid = |case: &Case| case.succeeds() && !case.parts[1].is_empty();
        let of = |id: &str, selection| {
            let op = ops::catalogue().iter().find(|op| op.id == id).unwrap();
            cases(precompile(op).unwrap(), op, selection).unwrap()
        };
        for id in ["evm_kzg_varied", "evm_p256verify_varied"] {
            let main = of(id, Selection::Main);
            let count = main.iter().filter(|case| valid(case)).count();
            assert!(count > 0 && count < main.len(), "{id}: {count} valid");
        }
        // The report's item is valid, all drawn ones are not: a constant is wrong on one or the other.
        for id in ["evm_kzg", "evm_p256verify"] {
            assert!(of(id, Selection::Main).iter().all(valid), "{id}");
            assert!(!of(id, Selection::Alternating).iter().any(valid), "{id}");
        }
    }

    #[test]
    fn rows_have_distinct_reproducible_items_with_a_truth() {
        for op in ops::catalogue() {
            let cases = |selection| match op.kernel {
                Kernel::Precompile(kernel) => Some(cases(kernel, op, selection).unwrap()),
                Kernel::Program(kernel) => Some(program::cases(kernel, op, selection).unwrap()),
                _ => None,
            };
            let selection = match op.input {
                Input::Report | Input::Fixture => Selection::Main,
                _ => Selection::Probe { round: 0, count: 1 },
            };
            let (Some(main), Some(again)) = (cases(selection), cases(selection)) else {
                continue;
            };
            assert_eq!(main[0].item, again[0].item, "{}", op.id);
            let two = cases(Selection::Alternating).unwrap();
            assert_ne!(two[0].item, two[1].item, "{}", op.id);
            let fails = op.id.contains("_fail_") || op.id.contains("fuzzcorp");
            for case in main.iter().chain(&two) {
                assert!(!case.item.is_empty(), "{}", op.id);
                match op.kernel {
                    // These rows contain both outcomes.
                    _ if ["evm_kzg_varied", "evm_p256verify_varied"]
                        .iter()
                        .any(|mixed| op.id == *mixed || op.like == *mixed) => {}
                    Kernel::Program(_) => assert_eq!(case.parts.len(), 1, "{}", op.id),
                    _ if op.input == Input::Fixture => assert!(case.succeeds(), "{}", op.id),
                    Kernel::Precompile(Precompile::Ecrecover | Precompile::P256Verify) => {
                        assert_eq!(case.parts[1].is_empty(), fails, "{}", op.id)
                    }
                    _ => assert_eq!(case.succeeds(), !fails, "{}", op.id),
                }
            }
            let has_gas = crate::family::of(op).gas(op).unwrap().is_some();
            let is_empty = op.kernel == Kernel::Program(Program::Nobody);
            assert_eq!(has_gas, !is_empty, "{}", op.id);
        }
    }
}
