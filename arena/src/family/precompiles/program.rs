//! Bytecode that calls precompiles, and the gas used by the report's programs.

use std::ops::Range;

use anyhow::{Context as _, Result, ensure};

use super::super::element::{Cases, Family, Selection, regions};
use super::{address, bytes, draw_like, drawn, like, report, unzip, vector};
use crate::kernel::Program;
use crate::ops::Op;
use crate::random::Random;
use crate::truth::precompiles::{Case, gas, output};
use crate::truth::{Expected, hex};
use crate::wire::Reader;

/// Gas limit of the report's programs.
const GAS: u64 = 30_000_000;
/// An address without code, to measure a call that does nothing.
const NOBODY: u64 = 0xffff;

/// Marks the only program of the report that passes a size other than the one in its name.
pub const EIGHT_BYTES: &str = "/8 bytes as published";

/// Programs of the report are hexadecimal text and return the gas used. The others are `lp(code)` and call data, and
/// return the program's return data.
impl Family for Program {
    fn cases(&self, op: &Op, selection: Selection) -> Result<Cases> {
        Ok(unzip(cases(*self, op, selection)?))
    }

    fn expected(&self, op: &Op, item: &[u8]) -> Result<Option<Expected>> {
        if *self == Self::Report {
            return Ok(None);
        }
        // The change affects the last call's input.
        let address = address(like(op)?.1)?;
        let (code, data) = parts(item)?;
        let count = op.calls as usize;
        ensure!(
            data.len().is_multiple_of(count),
            "calls of different lengths"
        );
        let cases = data.chunks(data.len() / count);
        let cases = cases.map(|input| output(address, input));
        let Some(cases) = cases.collect::<Result<Option<Vec<_>>>>()? else {
            return Ok(None);
        };
        let whole = calls(address, &cases)?;
        ensure!(parts(&whole.item)?.0 == code, "another program");
        Ok(Some(Expected::of(&whole.parts)))
    }

    fn regions(&self, op: &Op, item: &[u8]) -> Result<Vec<Range<usize>>> {
        regions(false, op, item)
    }

    /// The gas of one of its calls; `None` if it calls an address without code.
    fn gas(&self, op: &Op) -> Result<Option<u64>> {
        match self {
            Self::Nobody => Ok(None),
            Self::Report => vector(op)?["gas"].as_u64().context("gas").map(Some),
            _ => {
                let (kernel, row) = like(op)?;
                kernel.gas(row)
            }
        }
    }
}

/// The items of a row with their outputs.
pub fn cases(kernel: Program, op: &Op, selection: Selection) -> Result<Vec<Case>> {
    let Some((mut random, count)) = drawn(op, selection) else {
        return Ok(vec![published(op).with_context(|| op.id.clone())?]);
    };
    let cases = (0..count).map(|_| draw(kernel, op, &mut random));
    cases.collect()
}

/// A program of the report.
fn published(op: &Op) -> Result<Case> {
    let call = report(op)?;
    let mut code = bytes(&vector(op)?["bytecode"])?;
    if op.case.ends_with(EIGHT_BYTES) {
        let size = code.len() - 11;
        ensure!(code[size] == 0x80, "not the size of the input");
        code[size] = 8;
    }
    with_gas(&code, &call)
}

/// Draws a program of the same form.
fn draw(kernel: Program, op: &Op, random: &mut Random) -> Result<Case> {
    match kernel {
        Program::Report => once(address(like(op)?.1)?, &draw_like(op, random)?),
        Program::Nobody => {
            let cases = (0..op.calls).map(|_| Case::success(random.bytes(128), Vec::new()));
            calls(NOBODY, &cases.collect::<Vec<_>>())
        }
        _ => {
            let (kernel, row) = like(op)?;
            let cases = (0..op.calls).map(|_| super::draw(kernel, row, random));
            calls(address(row)?, &cases.collect::<Result<Vec<_>>>()?)
        }
    }
}

/// A program in hexadecimal with the gas used by it, whose only call is `call`.
fn with_gas(code: &[u8], call: &Case) -> Result<Case> {
    let used = gas_used(code, GAS, call.succeeds())?;
    Ok(Case {
        item: hex(code).into_bytes(),
        parts: vec![used.to_le_bytes().to_vec()],
    })
}

/// Gas used by a straight-line program of the report, whose only call succeeds or fails: PUSH, MSTORE, GAS, CALL, POP,
/// STOP. Precompiles are warm (EIP-2929). The gas passed to a call is capped at 63/64 of what is left (EIP-150), and a
/// failing precompile consumes all of it.
fn gas_used(code: &[u8], limit: u64, succeeds: bool) -> Result<u64> {
    let (mut left, mut at, mut memory) = (limit, 0, Vec::new());
    let mut stack: Vec<Vec<u8>> = Vec::new();
    let number = |bytes: Vec<u8>| {
        bytes
            .iter()
            .try_fold(0u64, |n, b| n.checked_mul(256)?.checked_add(u64::from(*b)))
    };
    let words_cost = |words: u64| 3 * words + words * words / 512;
    while at < code.len() {
        let opcode = code[at];
        at += 1;
        let mut pop = || stack.pop().context("the stack is empty");
        let mut grow = |end: u64| {
            let old = memory.len() as u64 / 32;
            let new = end.div_ceil(32).max(old);
            memory.resize(32 * new as usize, 0);
            words_cost(new) - words_cost(old)
        };
        match opcode {
            0x00 => break,
            0x50 => {
                pop()?;
                left -= 2;
            }
            0x52 => {
                let offset = number(pop()?).context("offset")?;
                let value = pop()?;
                left -= 3 + grow(offset + 32);
                let end = offset as usize + 32;
                memory[end - 32..end].fill(0);
                memory[end - value.len()..end].copy_from_slice(&value);
            }
            0x5a => {
                left -= 2;
                stack.push(left.to_be_bytes().to_vec());
            }
            0x60..=0x7f => {
                let len = usize::from(opcode - 0x5f);
                stack.push(code.get(at..at + len).context("the code ends")?.to_vec());
                at += len;
                left -= 3;
            }
            0xf1 => {
                let mut field = || number(pop()?).context("a word of the call");
                let (wanted, address, value) = (field()?, field()?, field()?);
                let (offset, size, out, out_size) = (field()?, field()?, field()?, field()?);
                ensure!(value == 0, "a call with value");
                left -= 100 + grow((offset + size).max(out + out_size));
                let given = wanted.min(left - left / 64);
                let input = &memory[offset as usize..(offset + size) as usize];
                left -= if succeeds {
                    gas(address, input)?
                } else {
                    given
                };
                stack.push(vec![u8::from(succeeds)]);
            }
            other => anyhow::bail!("opcode {other:#x} is not in the report's programs"),
        }
    }
    Ok(limit - left)
}

/// The shortest PUSH of a number.
fn push(code: &mut Vec<u8>, value: u64) {
    let bytes = value.to_be_bytes();
    let first = bytes.iter().position(|b| *b != 0).unwrap_or(7);
    code.push(0x60 + (7 - first) as u8);
    code.extend(&bytes[first..]);
}

/// A program like the report's: stores the input word by word, makes one CALL with all gas, and is given as hexadecimal
/// text.
fn once(address: u64, case: &Case) -> Result<Case> {
    let (input, output) = (&case.item, &case.parts[1]);
    let mut code = Vec::new();
    for (index, word) in input.chunks(32).enumerate() {
        code.push(0x5f + word.len() as u8);
        code.extend(word);
        push(&mut code, 32 * index as u64);
        code.push(0x52);
    }
    for argument in [output.len() as u64, 0, input.len() as u64, 0, 0, address] {
        push(&mut code, argument);
    }
    code.extend([0x5a, 0xf1, 0x50, 0x00]);
    with_gas(&code, case)
}

/// Code and call data of an item of the rows with longer programs.
fn parts(item: &[u8]) -> Result<(&[u8], &[u8])> {
    let mut reader = Reader(item);
    Ok((reader.lp()?, reader.rest()))
}

/// A program with one STATICCALL per case, each with a constant amount of gas and its own input from the call data. It
/// returns the number of calls that succeeded and the exclusive or of the first words they returned.
fn calls(address: u64, cases: &[Case]) -> Result<Case> {
    let (mut code, mut data) = (Vec::new(), Vec::new());
    // The output area keeps its content if the next call returns nothing.
    let (mut succeeded, mut returned, mut mixed) = (0u64, [0u8; 32], [0u8; 32]);
    push(&mut code, 0);
    push(&mut code, 0);
    for case in cases {
        let (input, output) = (&case.item, &case.parts[1]);
        let given = if address == NOBODY {
            3000
        } else {
            gas(address, input)?
        };
        let out = input.len().next_multiple_of(32) as u64;
        // CALLDATACOPY(0, offset of the input, length)
        push(&mut code, input.len() as u64);
        push(&mut code, data.len() as u64);
        push(&mut code, 0);
        code.push(0x37);
        for argument in [
            output.len() as u64,
            out,
            input.len() as u64,
            0,
            address,
            given,
        ] {
            push(&mut code, argument);
        }
        // STATICCALL; ADD to the sum, which is then swapped below the mix; MLOAD; XOR; swap back.
        code.extend([0xfa, 0x01, 0x90]);
        push(&mut code, out);
        code.extend([0x51, 0x18, 0x90]);
        data.extend(input);
        if case.succeeds() {
            succeeded += 1;
            for (to, byte) in returned.iter_mut().zip(output) {
                *to = *byte;
            }
        }
        for (mix, byte) in mixed.iter_mut().zip(returned) {
            *mix ^= byte;
        }
    }
    // MSTORE(0, sum), MSTORE(32, mix), RETURN(0, 64)
    for offset in [0, 32] {
        push(&mut code, offset);
        code.push(0x52);
    }
    push(&mut code, 64);
    push(&mut code, 0);
    code.push(0xf3);
    let sum = [[0; 24].as_slice(), &succeeded.to_be_bytes()].concat();
    Ok(Case {
        item: [&(code.len() as u32).to_le_bytes(), code.as_slice(), &data].concat(),
        parts: vec![[sum, mixed.to_vec()].concat()],
    })
}
