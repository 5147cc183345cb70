//! ABI encoding and decoding of the tuples in the catalogue. Source: Solidity contract ABI specification.

use anyhow::{Context as _, Result, ensure};
use num_bigint::BigUint;

use crate::wire::{Reader, be32};

/// ABI encoding of one (address,uint256).
pub fn pair(r: &mut Reader<'_>) -> Result<Vec<u8>> {
    Ok([&[0; 12], r.take(20)?, r.take(32)?].concat())
}

/// A number as a word of 32 bytes.
pub fn word(number: usize) -> Vec<u8> {
    be32(&BigUint::from(number))
}

/// ABI encoding of one (string,bytes,uint256[]).
pub fn dynamic(r: &mut Reader<'_>) -> Result<Vec<u8>> {
    let (string, data, count) = (r.lp()?, r.lp()?, r.u32()?);
    let numbers = r.take(32 * count)?;
    Ok(tuple(&[
        bytes(string),
        bytes(data),
        [&word(count), numbers].concat(),
    ]))
}

/// ABI encoding of one (address,(uint256,string)[],bytes[]).
pub fn nested(item: &[u8]) -> Result<Vec<u8>> {
    let mut r = Reader(item);
    let address = r.take(20)?;
    let mut pairs = Vec::new();
    for _ in 0..r.u32()? {
        let (number, text) = (r.take(32)?, r.lp()?);
        pairs.push([number, &word(64), &bytes(text)].concat());
    }
    let mut strings = Vec::new();
    for _ in 0..r.u32()? {
        strings.push(bytes(r.lp()?));
    }
    ensure!(r.0.is_empty(), "bytes left over");
    let list = |tails: &[Vec<u8>]| [word(tails.len()), tuple(tails)].concat();
    let (pairs, strings) = (list(&pairs), list(&strings));
    let head = [&[0; 12], address, &word(96), &word(96 + pairs.len())].concat();
    Ok([head, pairs, strings].concat())
}

/// Length, content, and zero padding to a whole word.
pub fn bytes(content: &[u8]) -> Vec<u8> {
    let mut out = word(content.len());
    out.extend_from_slice(content);
    out.resize(out.len().next_multiple_of(32), 0);
    out
}

/// ABI encoding of a tuple of dynamic members: their offsets, then their tails.
pub fn tuple(tails: &[Vec<u8>]) -> Vec<u8> {
    let mut at = 32 * tails.len();
    let mut out = Vec::new();
    for tail in tails {
        out.extend(word(at));
        at += tail.len();
    }
    out.extend(tails.concat());
    out
}

/// The number in the word at byte `at`.
pub fn number(data: &[u8], at: usize) -> Result<usize> {
    let word = data.get(at..at + 32).context("short head")?;
    ensure!(word[..28].iter().all(|&byte| byte == 0), "absurd number");
    Ok(BigUint::from_bytes_be(word).try_into()?)
}

/// The content of dynamic member `index`.
pub fn tail(data: &[u8], index: usize) -> Result<&[u8]> {
    let at = number(data, 32 * index)?;
    let len = number(data, at)?;
    data.get(at + 32..at + 32 + len).context("short tail")
}
