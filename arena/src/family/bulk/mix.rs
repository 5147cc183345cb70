//! Logs of many events, whose signatures are drawn too.

use std::ops::Range;

use anyhow::{Context as _, Result};

use super::{place, text};
use crate::family::draw::letters;
use crate::family::mainnet::{account, amount, zipf};
use crate::random::Random;
use crate::truth::{abi, keccak256};
use crate::wire::{Reader, lp};

/// Events of an item.
const EVENTS: usize = 64;

/// Types of one word, more common ones more often, and the bytes of the word that are the value.
const WORDS: [(&str, Range<usize>); 16] = [
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

enum Type {
    /// Index of the type in [`WORDS`].
    Word(usize),
    Bytes,
    String,
    /// An array of words, or of tuples of words.
    List(Vec<usize>),
}

struct Parameter {
    ty: Type,
    is_indexed: bool,
}

struct Event {
    topic: [u8; 32],
    parameters: Vec<Parameter>,
}

impl Event {
    /// The number of topics of its logs.
    fn topics(&self) -> usize {
        let indexed = self.parameters.iter().filter(|one| one.is_indexed);
        1 + indexed.count()
    }
}

/// Draws the signatures, each after its length, and their number (u32) before them; then the logs.
pub(super) fn draw(logs: usize, random: &mut Random) -> Result<Vec<u8>> {
    let mut signatures: Vec<String> = Vec::new();
    while signatures.len() < EVENTS {
        let name = format!("Event{}", signatures.len());
        let (types, indexed) = parameters(random);
        signatures.push(signature(&name, &types, indexed));
        // Now and then, the same event with one more indexed parameter, as Transfer in ERC-20 and in ERC-721.
        if random.below(8) == 0 && indexed < 3.min(types.len()) && signatures.len() < EVENTS {
            signatures.push(signature(&name, &types, indexed + 1));
        }
    }
    let events = signatures.iter().map(|signature| parse(signature));
    let events = events.collect::<Result<Vec<_>>>()?;
    let mut out = (EVENTS as u32).to_le_bytes().to_vec();
    out.extend(
        signatures
            .iter()
            .flat_map(|signature| lp(signature.as_bytes())),
    );
    for _ in 0..logs {
        let event = &events[zipf(random, EVENTS)];
        let (mut topics, data) = log(event, random);
        match random.below(4 * 64) {
            // Logs of other events, and of these with a number of topics that none of them has.
            0..64 => topics[0] = account(3 << 32 | random.below(300)),
            64..66 => {
                let has = |count: &usize| {
                    let mut events = events.iter();
                    events.any(|one| one.topic == event.topic && one.topics() == *count)
                };
                let other = (1..=4)
                    .find(|count| !has(count))
                    .context("all numbers of topics")?;
                topics.resize(other, [0; 32]);
            }
            _ => {}
        }
        out.extend(&account(zipf(random, 50_000))[12..]);
        out.push(topics.len() as u8);
        out.extend(topics.as_flattened());
        out.extend(lp(&data));
    }
    Ok(out)
}

/// Draws the types of parameters, and the number of the first ones that are indexed.
fn parameters(random: &mut Random) -> (Vec<String>, usize) {
    let indexed = random.below(4);
    let count = indexed + random.below(6);
    let word = |random: &mut Random| WORDS[random.below(WORDS.len())].0.to_owned();
    let types = (0..count).map(|index| match random.below(100) {
        0..6 => "string".to_owned(),
        6..10 => "bytes".to_owned(),
        10..18 if index >= indexed => format!("{}[]", word(random)),
        18..22 if index >= indexed => {
            let members = (0..random.between(2, 5)).map(|_| word(random));
            format!("({})[]", members.collect::<Vec<_>>().join(","))
        }
        _ => word(random),
    });
    (types.collect(), indexed)
}

fn signature(name: &str, types: &[String], indexed: usize) -> String {
    let parameters = types.iter().enumerate().map(|(index, ty)| {
        let indexed = if index < indexed { "indexed " } else { "" };
        format!("{ty} {indexed}p{index}")
    });
    format!(
        "event {name}({})",
        parameters.collect::<Vec<_>>().join(", ")
    )
}

/// Reads a signature that [`signature`] writes.
fn parse(signature: &str) -> Result<Event> {
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

/// Draws the topics and the data of a log.
fn log(event: &Event, random: &mut Random) -> (Vec<[u8; 32]>, Vec<u8>) {
    let (mut topics, mut heads, mut tails) = (vec![event.topic], Vec::new(), Vec::new());
    for Parameter { ty, is_indexed } in &event.parameters {
        let tail = match ty {
            Type::Word(word) => {
                let value = value(*word, random);
                match is_indexed {
                    true => topics.push(value),
                    false => heads.push(Some(value)),
                }
                continue;
            }
            _ if *is_indexed => {
                topics.push(keccak256(&random.bytes(8)));
                continue;
            }
            Type::Bytes => {
                let len = random.below(100);
                abi::bytes(&random.bytes(len))
            }
            Type::String => {
                let len = random.below(40);
                abi::bytes(letters(random, len).as_bytes())
            }
            Type::List(members) => {
                let count = random.below(5);
                let words = (0..count).flat_map(|_| members);
                let words: Vec<[u8; 32]> = words.map(|word| value(*word, random)).collect();
                [&abi::word(count), words.as_flattened()].concat()
            }
        };
        heads.push(None);
        tails.push(tail);
    }
    let (mut at, mut data) = (32 * heads.len(), Vec::new());
    let mut lengths = tails.iter().map(Vec::len);
    for head in heads {
        match head {
            Some(word) => data.extend(word),
            None => {
                data.extend(abi::word(at));
                at += lengths.next().unwrap_or_default();
            }
        }
    }
    data.extend(tails.concat());
    (topics, data)
}

/// Draws a value of a type of one word.
fn value(word: usize, random: &mut Random) -> [u8; 32] {
    let mut value = [0; 32];
    match WORDS[word].0 {
        "address" => return account(1 << 32 | zipf(random, 1_000_000)),
        "uint256" | "uint128" => return amount(random),
        "bool" => value[31] = random.below(2) as u8,
        "uint8" => value[31] = random.below(256) as u8,
        "uint32" => value[28..].copy_from_slice(&random.bytes(4)),
        "uint64" => value[24..].copy_from_slice(&random.bytes(8)),
        "bytes4" => value[..4].copy_from_slice(&random.bytes(4)),
        "bytes32" => value.copy_from_slice(&random.bytes(32)),
        // int24 and int256: half of them negative.
        _ => {
            value = [0xff * random.below(2) as u8; 32];
            value[30..].copy_from_slice(&random.bytes(2));
        }
    }
    value
}

/// The rows of each event, with the values in the order of the signature.
pub(super) fn decoded(item: &mut Reader<'_>, logs: usize) -> Result<Vec<Vec<Vec<u8>>>> {
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
