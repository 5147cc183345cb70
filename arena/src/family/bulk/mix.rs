//! Logs of many events, whose signatures are drawn too.

use anyhow::{Context as _, Result};

use crate::family::draw::letters;
use crate::family::mainnet::{account, amount, zipf};
use crate::random::Random;
use crate::truth::events::{Event, Parameter, Type, WORDS, parse};
use crate::truth::{abi, keccak256};
use crate::wire::lp;

/// Events of an item.
const EVENTS: usize = 64;

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
