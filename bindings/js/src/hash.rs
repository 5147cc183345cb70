//! Hashes, hexadecimal text, addresses.

use lydite::{
    bytes::{Address, hex},
    hash,
};

use crate::{failure::Failure, scratch::State};

/// `length` bytes → hexadecimal digits with a `0x` prefix.
pub fn hex_encode(state: &mut State, length: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let text = hex::encode_prefixed(state.input(length)?);
    state.put_owned(text.into_bytes())
}

/// Hexadecimal digits with an optional `0x` prefix → bytes.
pub fn hex_decode(state: &mut State, length: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let bytes = hex::decode(&*state.input(length)?)?;
    state.put_owned(bytes)
}

pub fn keccak256(state: &mut State, length: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let digest = hash::keccak256(state.input(length)?);
    state.put(&digest)
}

pub fn sha256(state: &mut State, length: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let digest = hash::sha256(state.input(length)?);
    state.put(&digest)
}

/// Reads `count` lengths of 4 bytes each, followed by the concatenated items.
pub fn split_by_lengths(input: &[u8], count: usize) -> Result<Vec<&[u8]>, Failure> {
    let short = || Failure::argument("unexpected end of items");
    let heads = count.checked_mul(4).ok_or_else(short)?;
    let (lengths, mut rest) = input.split_at_checked(heads).ok_or_else(short)?;
    let (lengths, _) = lengths.as_chunks();
    lengths
        .iter()
        .map(|&length| {
            let (item, tail) = rest
                .split_at_checked(u32::from_le_bytes(length) as usize)
                .ok_or_else(short)?;
            rest = tail;
            Ok(item)
        })
        .collect()
}

pub fn keccak256_batch(
    state: &mut State,
    length: usize,
    count: usize,
    _: usize,
) -> Result<usize, Failure> {
    let inputs = split_by_lengths(state.input(length)?, count)?;
    let mut out = vec![[0; 32]; inputs.len()];
    hash::keccak256_batch(&inputs, &mut out)?;
    state.put_owned(out.into_flattened())
}

/// 20 bytes → 42 characters.
pub fn checksum(state: &mut State, _: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let text = Address(state.array(0)?).to_checksum_buffer();
    state.put(&text)
}

/// An address: its 20 bytes, or hexadecimal text; mixed-case text must have a valid checksum.
pub fn address(text: &[u8]) -> Result<Address, Failure> {
    let mixed = text.iter().any(|b| (b'a'..=b'f').contains(b))
        && text.iter().any(|b| (b'A'..=b'F').contains(b));
    Ok(if mixed {
        Address::parse_checksummed(text)?
    } else {
        Address::from_hex(text)?
    })
}

/// Text → 20 bytes. With `strict` the case must match the checksum.
pub fn parse_address(
    state: &mut State,
    length: usize,
    strict: usize,
    _: usize,
) -> Result<usize, Failure> {
    let text = state.input(length)?;
    let found = if strict == 0 {
        address(text)?
    } else {
        Address::parse_checksummed(text)?
    };
    state.put(&found.0)
}

/// Sender (20 bytes), nonce (8 bytes, little-endian) → 42 characters.
pub fn create_address(state: &mut State, _: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let nonce = u64::from_le_bytes(state.array(20)?);
    let created = Address(state.array(0)?).create(nonce);
    state.put(&created.to_checksum_buffer())
}

/// Sender (20 bytes), salt (32), code hash (32) → 42 characters.
pub fn create2_address(state: &mut State, _: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let (salt, code) = (state.array(20)?, state.array(52)?);
    let created = Address(state.array(0)?).create2(&salt, &code);
    state.put(&created.to_checksum_buffer())
}
