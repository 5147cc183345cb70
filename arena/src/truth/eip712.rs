//! EIP-712 by recursion over a JSON document.

use anyhow::{Context as _, Result, bail, ensure};
use num_bigint::BigUint;
use serde_json::Value;

use super::abi::word;
use super::{hex, keccak256, unhex};
use crate::wire::{Reader, be32};

/// The typed-data document of a Transfer message with the given fields.
pub fn transfer_document(r: &mut Reader<'_>) -> Result<Value> {
    let (name, version) = (r.lp()?, r.lp()?);
    let chain = u64::from_le_bytes(*r.array()?);
    let (contract, to, amount) = (
        r.take(20)?,
        r.take(20)?,
        BigUint::from_bytes_be(r.take(32)?),
    );
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let address = |bytes: &[u8]| format!("0x{}", hex(bytes));
    Ok(serde_json::json!({
        "types": {
            "EIP712Domain": [
                {"name": "name", "type": "string"}, {"name": "version", "type": "string"},
                {"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"},
            ],
            "Transfer": [{"name": "to", "type": "address"}, {"name": "amount", "type": "uint256"}],
        },
        "primaryType": "Transfer",
        "domain": {
            "name": text(name), "version": text(version), "chainId": chain,
            "verifyingContract": address(contract),
        },
        "message": {"to": address(to), "amount": amount.to_string()},
    }))
}

/// The typed-data document of the fields in `item` as JSON text.
pub fn transfer_json(item: &[u8]) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec(&transfer_document(&mut Reader(item))?)?)
}

/// keccak256(0x1901 || domain separator || hash of the message).
pub fn typed_data(document: &Value) -> Result<[u8; 32]> {
    let primary = document["primaryType"].as_str().context("primaryType")?;
    Ok(keccak256(
        &[
            [0x19, 0x01].as_slice(),
            &hash_struct(document, "EIP712Domain", &document["domain"])?,
            &hash_struct(document, primary, &document["message"])?,
        ]
        .concat(),
    ))
}

fn members<'a>(document: &'a Value, name: &str) -> Option<Vec<(&'a str, &'a str)>> {
    let list = document["types"].get(name)?.as_array()?;
    list.iter()
        .map(|member| Some((member["name"].as_str()?, member["type"].as_str()?)))
        .collect()
}

/// Collects the names of the structs that `name` depends on, including itself.
fn dependencies(document: &Value, name: &str, found: &mut Vec<String>) {
    let base = name.split('[').next().unwrap_or(name);
    if found.iter().any(|other| other == base) {
        return;
    }
    if let Some(members) = members(document, base) {
        found.push(base.to_owned());
        for (_, kind) in members {
            dependencies(document, kind, found);
        }
    }
}

fn encode_type(document: &Value, name: &str) -> Result<String> {
    let mut names = Vec::new();
    dependencies(document, name, &mut names);
    ensure!(!names.is_empty(), "no type {name}");
    names[1..].sort();
    let mut text = String::new();
    for name in names {
        let members = members(document, &name).context("members")?;
        let fields: Vec<String> = members
            .iter()
            .map(|(name, kind)| format!("{kind} {name}"))
            .collect();
        text += &format!("{name}({})", fields.join(","));
    }
    Ok(text)
}

fn hash_struct(document: &Value, name: &str, value: &Value) -> Result<[u8; 32]> {
    let mut data = keccak256(encode_type(document, name)?.as_bytes()).to_vec();
    for (field, kind) in members(document, name).context("members")? {
        let member = value.get(field).with_context(|| format!("no {field}"))?;
        data.extend(encode_member(document, kind, member)?);
    }
    Ok(keccak256(&data))
}

fn encode_member(document: &Value, kind: &str, value: &Value) -> Result<[u8; 32]> {
    let text = || {
        value
            .as_str()
            .with_context(|| format!("{kind}: not a text"))
    };
    let bytes = || unhex(text()?.strip_prefix("0x").context("no 0x")?.as_bytes());
    if let Some(element) = kind.strip_suffix(']').and_then(|k| k.rsplit_once('[')) {
        let mut data = Vec::new();
        for item in value.as_array().context("not an array")? {
            data.extend(encode_member(document, element.0, item)?);
        }
        return Ok(keccak256(&data));
    }
    if members(document, kind).is_some() {
        return hash_struct(document, kind, value);
    }
    let encoded = match kind {
        "string" => return Ok(keccak256(text()?.as_bytes())),
        "bytes" => return Ok(keccak256(&bytes()?)),
        "bool" => word(usize::from(value.as_bool().context("not a bool")?)),
        "address" => [vec![0; 12], bytes()?].concat(),
        _ if kind.starts_with("bytes") => {
            let mut padded = bytes()?;
            padded.resize(32, 0);
            padded
        }
        _ if kind.starts_with("uint") => {
            let digits = match value {
                Value::Number(number) => number.to_string(),
                _ => text()?.to_owned(),
            };
            be32(&digits.parse::<BigUint>().context("not a number")?)
        }
        other => bail!("type {other}"),
    };
    Ok(encoded.as_slice().try_into()?)
}
