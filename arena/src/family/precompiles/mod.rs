//! The precompiles of the EVM: benchmark rows with inputs whose outputs are known by algebra or from slow reference
//! code, and programs that call them.

mod fixture;
mod inputs;
mod program;
pub mod search;

use std::ops::Range;
use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::element::{Cases, Family, Selection, probe_seed, regions};
use crate::kernel::{Kernel, Precompile};
use crate::ops::{self, Input, Op};
use crate::random::Random;
use crate::truth::precompiles::{Case, gas, output};
use crate::truth::{Expected, unhex};

/// The report's cases and similar ones, with their outputs: `vectors/precompiles/report.json`.
static CASES: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../../../vectors/precompiles/report.json");
    // The vectors are compiled in and read by every test.
    serde_json::from_str(text).unwrap_or_else(|error| unreachable!("embedded vectors: {error}"))
});

impl Family for Precompile {
    fn cases(&self, op: &Op, selection: Selection) -> Result<Cases> {
        Ok(unzip(cases(*self, op, selection)?))
    }

    fn expected(&self, op: &Op, item: &[u8]) -> Result<Option<Expected>> {
        let case = output(address(op)?, item)?;
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::kernel::Program;
    use crate::truth::{hash, hex};

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
