//! `lydite abi`

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use lydite::bytes::{I256, hex};
use lydite::evm::abi::{self, Codec, Signature, Type, Value};
use serde_json::Value as Json;

use crate::{Answer, input, output::Output};

/// Encode and decode Solidity ABI data
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// ABI-encode values
    ///
    /// Integers are decimal, or hexadecimal with 0x; bytes and addresses are hexadecimal; arrays are […], tuples (…) or
    /// […].
    Encode {
        /// `(address,uint256)`, `address,uint256`, or a function such as `transfer(address,uint256)`, whose selector is
        /// prepended
        types: String,
        /// One value per type; if omitted, all values as one JSON list from standard input
        #[arg(allow_hyphen_values = true)]
        values: Vec<String>,
    },
    /// Decode ABI data (strict)
    Decode {
        /// Types, as for encode; for a function, the data must start with its selector
        types: String,
        /// Hexadecimal data (default: standard input)
        data: Option<String>,
        /// Read the input as raw bytes instead of hexadecimal
        #[arg(long)]
        raw: bool,
    },
}

pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    match &arguments.command {
        Command::Encode { types, values } => {
            let (selector, types) = parse_types(types)?;
            let values = parse_values(&types, values)?;
            let mut data = selector.map(Vec::from).unwrap_or_default();
            data.extend(Codec::new(&Type::Tuple(types))?.encode(&values)?);
            output.one("data", &hex::encode_prefixed(data))?;
        }
        Command::Decode { types, data, raw } => {
            let (selector, types) = parse_types(types)?;
            let data = input::data(data.as_deref(), *raw)?;
            let arguments = match selector {
                None => &data[..],
                Some(selector) => data.strip_prefix(&selector).with_context(|| {
                    format!(
                        "byte 0: expected the selector {}, found {}",
                        hex::encode_prefixed(selector),
                        hex::encode_prefixed(&data[..data.len().min(4)])
                    )
                })?,
            };
            let values = Codec::new(&Type::Tuple(types))?
                .decode(arguments)
                .context("not valid ABI data for these types")?;
            if output.json {
                output.fields(&[("values", values.iter().map(to_json).collect())])?;
            } else {
                let lines: Vec<String> = values.iter().map(|value| format!("{value}\n")).collect();
                crate::output::write(&lines.concat())?;
            }
        }
    }
    Ok(Answer::Yes)
}

/// Returns the selector, if the text is a function, and the types of the arguments.
fn parse_types(text: &str) -> Result<(Option<[u8; 4]>, Vec<Type>)> {
    let name = text.split_once('(').map_or("", |(name, _)| name.trim());
    if !name.is_empty() && !name.contains(',') {
        let signature = Signature::parse(text).context("types")?;
        let types = signature.inputs.into_iter().map(|input| input.ty).collect();
        return Ok((Some(abi::selector(text).context("types")?), types));
    }
    // A bare list such as `address,uint256` or `(bool,bool),uint8` becomes a tuple.
    let ty = match Type::parse(text) {
        Err(_) if !text.is_empty() => {
            Type::parse(&format!("({text})")).map_err(|error| abi::Error {
                offset: error.offset.saturating_sub(1).min(text.len()),
                ..error
            })
        }
        parsed => parsed,
    };
    Ok((
        None,
        match ty.context("types")? {
            Type::Tuple(types) => types,
            single => vec![single],
        },
    ))
}

fn parse_values(types: &[Type], texts: &[String]) -> Result<Vec<Value>> {
    if !types.is_empty() && (texts.is_empty() || texts == ["-"]) {
        let text = input::text(None)?;
        let values = Value::parse(&Type::Tuple(types.to_vec()), text.trim())
            .context("values (one list from standard input)")?;
        return match values {
            Value::Tuple(values) => Ok(values),
            single => Ok(vec![single]),
        };
    }
    if texts.len() != types.len() {
        bail!("expected {} values, found {}", types.len(), texts.len());
    }
    let values = types.iter().zip(texts).enumerate();
    values
        .map(|(i, (ty, text))| {
            Value::parse(ty, text).with_context(|| format!("value {} ({ty})", i + 1))
        })
        .collect()
}

/// Integers become decimal strings, because most JSON parsers cannot represent large numbers.
fn to_json(value: &Value) -> Json {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::Uint(value, _) => value.to_string().into(),
        Value::Int(value, _) => I256(*value).to_string().into(),
        Value::Address(address) => address.to_checksum().into(),
        Value::FixedBytes(bytes, length) => {
            hex::encode_prefixed(&bytes[..usize::from(*length)]).into()
        }
        Value::Function(bytes) => hex::encode_prefixed(bytes).into(),
        Value::Bytes(bytes) => hex::encode_prefixed(bytes).into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(values) | Value::FixedArray(values) | Value::Tuple(values) => {
            values.iter().map(to_json).collect()
        }
    }
}
