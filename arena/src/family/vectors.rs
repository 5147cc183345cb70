//! The vectors of `vectors/` that several families draw on, and their JSON fields.

use std::sync::LazyLock;

use anyhow::{Context as _, Result};
use num_bigint::BigUint;
use serde_json::Value;

use crate::truth::unhex;

/// The published benchmark's inputs and outputs.
pub static PUBLISHED: LazyLock<Value> =
    LazyLock::new(|| parse(include_str!("../../../vectors/eth-ops/vectors.json")));
/// The transactions of five blocks.
pub static BLOCKS: LazyLock<Value> =
    LazyLock::new(|| parse(include_str!("../../../vectors/tx/hoodi_772457_772461.json")));
/// Transactions of every type.
static GENERATED: LazyLock<Value> =
    LazyLock::new(|| parse(include_str!("../../../vectors/tx/generated.json")));

fn parse(text: &str) -> Value {
    // The vectors are compiled in and read by every test.
    serde_json::from_str(text).unwrap_or_else(|error| unreachable!("embedded vectors: {error}"))
}

/// The published input of an operation.
pub fn input(name: &str) -> &'static Value {
    &PUBLISHED[name]["input"]
}

/// The raw transactions of the blocks.
pub fn blocks() -> Result<Vec<Vec<u8>>> {
    let list = BLOCKS.as_array().context("vectors/tx")?;
    list.iter().map(|tx| bytes(&tx["raw"])).collect()
}

/// All signed transactions of `vectors/tx` that have a sender, with their senders.
pub fn transactions() -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let generated = GENERATED["transactions"].as_array();
    let all = generated.into_iter().chain(BLOCKS.as_array()).flatten();
    all.filter(|tx| !tx["sender"].is_null())
        .map(|tx| Ok((bytes(&tx["raw"])?, bytes(&tx["sender"])?)))
        .collect()
}

/// A text field.
pub fn text(value: &Value) -> Result<&str> {
    value.as_str().context("not a text")
}

/// A hexadecimal field, with or without 0x.
pub fn bytes(value: &Value) -> Result<Vec<u8>> {
    let digits = text(value)?;
    unhex(digits.strip_prefix("0x").unwrap_or(digits).as_bytes())
}

/// A decimal or hexadecimal number.
pub fn number(value: &Value) -> Result<BigUint> {
    match value {
        Value::Number(number) => Ok(number.to_string().parse()?),
        _ => {
            let digits = text(value)?;
            match digits.strip_prefix("0x") {
                Some(hex) => BigUint::parse_bytes(hex.as_bytes(), 16).context("hexadecimal"),
                None => Ok(digits.parse()?),
            }
        }
    }
}
