//! Logs of any events, decoded by their signatures.

use std::ops::Range;

use anyhow::{Context as _, Result};

use super::bulk::{place, text};
use super::{abi, keccak256};
use crate::wire::Reader;

/// Types of one word, more common ones more often, and the bytes of the word that are the value.
pub const WORDS: [(&str, Range<usize>); 16] = [
    ("address", 12..32),
    ("address", 12..32),
    ("address", 12..32),
    ("uint256", 0..32),
    ("uint256", 0..32),
    ("uint256", 0..32),
    ("bool", 28..32),
    ("uint8", 28..32),
    ("uint32", 28..32),
    ("uint64", 24..32),
    ("uint128", 0..32),
    ("int24", 28..32),
    ("int256", 0..32),
    ("bytes4", 0..4),
    ("bytes32", 0..32),
    ("bytes32", 0..32),
];

/// Type of a parameter.
pub enum Type {
    /// Index of the type in [`WORDS`].
    Word(usize),
    /// `bytes`.
    Bytes,
    /// `string`.
    String,
    /// An array of words, or of tuples of words.
    List(Vec<usize>),
}

/// Parameter of an event.
pub struct Parameter {
    /// Its type.
    pub ty: Type,
    /// Whether it is a topic.
    pub is_indexed: bool,
}

/// An event.
pub struct Event {
    /// The first topic of its logs.
    pub topic: [u8; 32],
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

impl Event {
    /// The number of topics of its logs.
    pub fn topics(&self) -> usize {
        let indexed = self.parameters.iter().filter(|one| one.is_indexed);
        1 + indexed.count()
    }
}

/// Reads a signature such as `event Name(address indexed a, uint256 b)`.
pub fn parse(signature: &str) -> Result<Event> {
    let (name, parameters) = signature
        .strip_prefix("event ")
        .and_then(|rest| rest.strip_suffix(')')?.split_once('('))
        .context("signature")?;
    let (mut types, mut parsed) = (Vec::new(), Vec::new());
    for parameter in parameters
        .split(", ")
        .filter(|parameter| !parameter.is_empty())
    {
        let (ty, rest) = parameter.split_once(' ').context("name")?;
        types.push(ty);
        parsed.push(Parameter {
            ty: parse_type(ty)?,
            is_indexed: rest.starts_with("indexed "),
        });
    }
    Ok(Event {
        topic: keccak256(format!("{name}({})", types.join(",")).as_bytes()),
        parameters: parsed,
    })
}

fn parse_type(ty: &str) -> Result<Type> {
    let word = |ty: &str| {
        let word = WORDS.iter().position(|(name, _)| *name == ty);
        word.with_context(|| ty.to_owned())
    };
    Ok(match ty {
        "bytes" => Type::Bytes,
        "string" => Type::String,
        _ => match ty.strip_suffix("[]") {
            Some(item) => {
                let members = item.trim_matches(['(', ')']).split(',');
                Type::List(members.map(word).collect::<Result<_>>()?)
            }
            None => Type::Word(word(ty)?),
        },
    })
}

/// The rows of each event, with the values in the order of the signature.
pub fn decoded(item: &mut Reader<'_>, logs: usize) -> Result<Vec<Vec<Vec<u8>>>> {
    let mut events = Vec::new();
    for _ in 0..item.u32()? {
        events.push(parse(item.text()?)?);
    }
    let mut rows: Vec<Vec<Vec<u8>>> = events.iter().map(|_| Vec::new()).collect();
    for row in 0..logs {
        let address = item.array::<20>()?;
        let topics: Vec<&[u8; 32]> = (0..item.take(1)?[0])
            .map(|_| item.array())
            .collect::<Result<_>>()?;
        let data = item.lp()?;
        let found = events
            .iter()
            .position(|event| event.topic == *topics[0] && event.topics() == topics.len());
        let Some(found) = found else {
            continue;
        };
        let mut out = [place(row).as_flattened(), address].concat();
        let (mut head, mut topics) = (0, topics[1..].iter());
        for Parameter { ty, is_indexed } in &events[found].parameters {
            if *is_indexed {
                let topic = topics.next().context("topic")?;
                match ty {
                    Type::Word(word) => out.extend(&topic[WORDS[*word].1.clone()]),
                    _ => out.extend(*topic),
                }
                continue;
            }
            match ty {
                Type::Word(word) => {
                    let value = data.get(32 * head..32 * head + 32).context("short data")?;
                    out.extend(&value[WORDS[*word].1.clone()]);
                }
                Type::Bytes => out.extend(abi::tail(data, head)?),
                Type::String => out.extend(text(std::str::from_utf8(abi::tail(data, head)?)?)),
                Type::List(members) => {
                    let at = abi::number(data, 32 * head)?;
                    let count = abi::number(data, at)?;
                    out.extend((count as u32).to_be_bytes());
                    let words = data[at + 32..].as_chunks::<32>().0;
                    let words = words.get(..count * members.len()).context("short array")?;
                    for (value, word) in words.iter().zip(members.iter().cycle()) {
                        out.extend(&value[WORDS[*word].1.clone()]);
                    }
                }
            }
            head += 1;
        }
        rows[found].push(out);
    }
    Ok(rows)
}
