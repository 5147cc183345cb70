//! RLP items of any shape.

use lydite::{
    bytes::hex,
    evm::rlp::{self, Event},
};

use crate::{
    failure::Failure,
    scratch::State,
    tape::{Reader, Writer},
};

/// Tape of an item from back to front: 0 bytes, 1 hexadecimal digits, 2 a number, 3 end and 4 start of a list.
pub fn encode(state: &mut State, length: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let mut reader = Reader::new(state.input(length)?);
    // Written from the back, so that the length of a list is known before its header is written.
    let mut reversed = Vec::new();
    let mut ends = Vec::new();
    while !reader.is_empty() {
        let encoded = match reader.word()?.0 {
            0 => rlp::encode(reader.bytes()?),
            1 => {
                let bytes = hex::decode(reader.bytes()?).map_err(Failure::encode)?;
                rlp::encode(&*bytes)
            }
            2 => match reader.magnitude()? {
                Some((negative, value)) if !negative || value.is_zero() => rlp::encode(&value),
                _ => {
                    return Err(Failure::encode("expected an integer from 0 to 2^256 - 1"));
                }
            },
            3 => {
                ends.push(reversed.len());
                continue;
            }
            _ => {
                let end = ends.pop().unwrap_or_default();
                let mut header = Vec::new();
                rlp::Header {
                    list: true,
                    payload_len: reversed.len() - end,
                }
                .encode(&mut header);
                header
            }
        };
        reversed.extend(encoded.iter().rev());
    }
    reversed.reverse();
    state.put_owned(reversed)
}

/// One item → tape: 0 bytes, 1 start and 2 end of a list.
pub fn decode(state: &mut State, length: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let mut out = Writer::new();
    for event in rlp::items(state.input(length)?) {
        match event? {
            Event::String(bytes) => {
                out.word(0, bytes.len());
                out.fixed_bytes(bytes);
            }
            Event::List => out.word(1, 0),
            Event::End => out.word(2, 0),
        }
    }
    state.put_owned(out.finish())
}
