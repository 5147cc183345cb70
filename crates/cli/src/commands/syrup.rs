//! `lydite syrup`

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use lydite::bytes::hex;
use lydite::ocapn::syrup::{self, Record, Value};
use serde_json::{Number, Value as Json, json};

use crate::{Answer, input, output, output::Output};

/// Encode and decode Syrup, the encoding of OCapN
///
/// In JSON: booleans, strings and lists represent themselves; integers are numbers, or {"integer":"…"} beyond 64 bits;
/// floats are numbers with a point or an exponent, or {"float64":"nan"}; other values are {"symbol":"…"},
/// {"bytes":"hex"}, {"float32":1.5}, {"dictionary":[[key,value],…]}, {"set":[…]}, {"record":[label,field,…]}.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Convert JSON to canonical bytes
    Encode {
        /// JSON document (default: standard input)
        document: Option<String>,
        /// Print hexadecimal instead of raw bytes
        #[arg(long)]
        hex: bool,
        /// Encode for Endo: keys sorted by their text, no sign on a zero; not canonical
        #[arg(long)]
        endo: bool,
    },
    /// Convert one value to JSON
    Decode {
        #[command(flatten)]
        source: Source,
        /// Also accept the output of older peers: leading zeros, keys in any order, bencode's brackets
        #[arg(long)]
        lenient: bool,
        /// Accept only the output of Endo, with keys sorted by their text
        #[arg(long, conflicts_with = "lenient")]
        endo: bool,
    },
    /// Check that the input is exactly one canonical value; exit code 1 if not
    Check {
        #[command(flatten)]
        source: Source,
    },
    /// Print the SHA-256 of one canonical value
    Cid {
        #[command(flatten)]
        source: Source,
    },
}

/// The source of the bytes.
#[derive(Args)]
pub struct Source {
    /// Data (default: standard input)
    data: Option<String>,
    /// Read the input as hexadecimal instead of raw bytes
    #[arg(long)]
    hex: bool,
}

impl Source {
    pub fn read(&self) -> Result<Vec<u8>> {
        input::data(self.data.as_deref(), !self.hex)
    }
}

pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    match &arguments.command {
        Command::Encode {
            document,
            hex: as_hex,
            endo,
        } => {
            let text = input::text(document.as_deref())?;
            let json = serde_json::from_str(&text).context("not JSON")?;
            let value = from_json(&json)?;
            let bytes = if *endo {
                syrup::encode_for_endo(&value).context("cannot be encoded for Endo")?
            } else {
                syrup::encode(&value).context("cannot be encoded")?
            };
            if *as_hex || output.json {
                output.one("encoded", &hex::encode_prefixed(bytes))?;
            } else {
                output::write_bytes(&bytes)?;
            }
        }
        Command::Decode {
            source,
            lenient,
            endo,
        } => {
            let bytes = source.read()?;
            let value = if *lenient {
                Value::decode_lenient(&bytes)
            } else if *endo {
                Value::decode_from_endo(&bytes)
            } else {
                Value::decode(&bytes)
            };
            let json = to_json(&value.context("not canonical Syrup")?);
            if output.json {
                output.fields(&[("value", json)])?;
            } else {
                output::write(&format!("{json}\n"))?;
            }
        }
        Command::Check { source } => {
            return Ok(match Value::decode(&source.read()?) {
                Ok(_) => Answer::Yes,
                Err(error) => {
                    output::report(&error.into());
                    Answer::No
                }
            });
        }
        Command::Cid { source } => {
            let value = Value::decode(&source.read()?).context("not canonical Syrup")?;
            let id = syrup::content_id(&value)?;
            output.one("cid", &hex::encode_prefixed(id))?;
        }
    }
    Ok(Answer::Yes)
}

/// Converts a value to JSON without loss.
pub fn to_json(value: &Value) -> Json {
    let all = |values: &[Value]| values.iter().map(to_json).collect::<Vec<_>>();
    match value {
        Value::Boolean(value) => Json::Bool(*value),
        Value::Integer(value) => match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => value.into(),
            (_, Ok(value)) => value.into(),
            _ => json!({ "integer": value.to_string() }),
        },
        Value::Float64(value) => float(*value).unwrap_or_else(|name| json!({ "float64": name })),
        Value::Float32(value) => {
            json!({ "float32": float(f64::from(*value)).unwrap_or_else(Json::String) })
        }
        Value::Bytes(bytes) => json!({ "bytes": hex::encode(bytes) }),
        Value::String(text) => Json::String(text.clone()),
        Value::Symbol(text) => json!({ "symbol": text }),
        Value::List(values) => Json::Array(all(values)),
        Value::Set(values) => json!({ "set": all(values) }),
        Value::Record(record) => {
            let mut parts = vec![to_json(&record.label)];
            parts.extend(all(&record.fields));
            json!({ "record": parts })
        }
        Value::Dictionary(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| json!([to_json(key), to_json(value)]));
            json!({ "dictionary": entries.collect::<Vec<_>>() })
        }
    }
}

/// Returns a JSON number, or the name of a float that is not a JSON number.
fn float(value: f64) -> Result<Json, String> {
    Number::from_f64(value)
        .map(Json::Number)
        .ok_or_else(|| value.to_string().to_lowercase())
}

fn from_float(json: &Json) -> Option<f64> {
    match json {
        Json::Number(number) => number.as_f64(),
        Json::String(name) if ["nan", "inf", "-inf"].contains(&name.as_str()) => name.parse().ok(),
        _ => None,
    }
}

pub fn from_json(json: &Json) -> Result<Value> {
    let all = |values: &[Json]| values.iter().map(from_json).collect::<Result<Vec<_>>>();
    Ok(match json {
        Json::Bool(value) => (*value).into(),
        Json::String(text) => text.as_str().into(),
        Json::Array(values) => Value::List(all(values)?),
        Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(value), ..) => value.into(),
            (_, Some(value), _) => value.into(),
            (.., Some(value)) => value.into(),
            _ => bail!(
                "{number}: out of range for a float; for an integer write {{\"integer\":\"{number}\"}}"
            ),
        },
        Json::Null => {
            bail!("null has no encoding; OCapN uses {{\"record\":[{{\"symbol\":\"null\"}}]}}")
        }
        Json::Object(fields) => {
            let mut fields = fields.iter();
            let (Some((name, content)), None) = (fields.next(), fields.next()) else {
                bail!("{json}: expected exactly one key, the name of a type");
            };
            match (name.as_str(), content) {
                ("symbol", Json::String(text)) => Value::symbol(text.as_str()),
                ("bytes", Json::String(text)) => {
                    Value::Bytes(hex::decode(text).with_context(|| json.to_string())?)
                }
                ("integer", Json::String(text)) => {
                    Value::Integer(text.parse().with_context(|| json.to_string())?)
                }
                ("float64", content) => match from_float(content) {
                    Some(value) => Value::Float64(value),
                    None => bail!("{json}: expected a number, \"nan\", \"inf\" or \"-inf\""),
                },
                ("float32", content) => match from_float(content) {
                    // The f64 must be representable as an f32.
                    Some(value) if value.is_nan() || f64::from(value as f32) == value => {
                        Value::Float32(value as f32)
                    }
                    _ => bail!("{json}: expected a value that a 32-bit float represents exactly"),
                },
                ("set", Json::Array(values)) => Value::Set(all(values)?),
                ("record", Json::Array(values)) => {
                    let [label, fields @ ..] = values.as_slice() else {
                        bail!("{json}: expected a label, found an empty list");
                    };
                    let (label, fields) = (from_json(label)?, all(fields)?);
                    Value::Record(Record { label, fields }.into())
                }
                ("dictionary", Json::Array(values)) => {
                    let entry = |entry: &Json| match entry.as_array().map(Vec::as_slice) {
                        Some([key, value]) => Ok((from_json(key)?, from_json(value)?)),
                        _ => bail!("{entry}: expected a list of a key and a value"),
                    };
                    Value::Dictionary(values.iter().map(entry).collect::<Result<_>>()?)
                }
                _ => bail!("{json}: unknown type `{name}`, or content of the wrong kind"),
            }
        }
    })
}
