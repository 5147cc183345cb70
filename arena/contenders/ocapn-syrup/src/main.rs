//! ocapn-syrup, the only Syrup crate in the registry: a tree of owned values, and serde.

use arena_kit::{Op, Output, Reader, Sum, array, negative, op, set_digits};
use ocapn_syrup::Value;
use sha2::{Digest, Sha256};

fn main() {
    // The crate panics on some malformed inputs, which counts as not rejecting them; the notes mention this.
    std::panic::set_hook(Box::new(|_| {}));
    // The decoder recurses once per level, so 100,000 unclosed lists need a large stack.
    let adapter = std::thread::Builder::new().stack_size(1 << 30).spawn(|| {
        let version = arena_kit::locked_version(include_str!("../../Cargo.lock"), "ocapn-syrup");
        arena_kit::run("ocapn-syrup", version, ops());
    });
    if let Ok(thread) = adapter {
        let _ = thread.join();
    }
}

fn decode(bytes: &[u8]) -> Option<Value> {
    let (rest, value) = ocapn_syrup::parse_value(bytes).ok()?;
    rest.is_empty().then_some(value)
}

/// A decoded value: the checksum adds its number of direct elements, `verify` gets its encoding.
struct Decoded(Value);

impl Output for Decoded {
    fn add(&self, sum: &mut Sum) {
        sum.word(match std::hint::black_box(&self.0) {
            Value::Sequence(values) | Value::Set(values) => values.len() as u64,
            Value::Record { fields, .. } => fields.len() as u64,
            Value::Dictionary(entries) => entries.len() as u64,
            _ => 1,
        });
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend(self.0.to_vec());
        true
    }
}

fn tree(reader: &mut Reader) -> Option<Value> {
    decode(reader.bytes()?)
}

/// The unsorted entries of a dictionary.
fn unsorted(reader: &mut Reader) -> Option<Vec<(Value, Value)>> {
    let Value::Sequence(flat) = tree(reader)? else {
        return None;
    };
    let (pairs, _) = flat.as_chunks::<2>();
    Some(
        pairs
            .iter()
            .map(|[key, value]| (key.clone(), value.clone()))
            .collect(),
    )
}

struct Server {
    host: String,
    port: i64,
    enabled: bool,
}

/// Encoded as a dictionary, because the crate's serde form of a struct is a record.
impl Server {
    fn encode(&self) -> Vec<u8> {
        Value::dictionary(vec![
            (Value::string("host"), Value::string(self.host.as_str())),
            (Value::string("port"), Value::integer(self.port)),
            (Value::string("enabled"), Value::boolean(self.enabled)),
        ])
        .to_vec()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let Value::Dictionary(entries) = decode(bytes)? else {
            return None;
        };
        let (mut host, mut port, mut enabled) = (None, None, None);
        for (key, value) in entries {
            match (key, value) {
                (Value::String(key), Value::String(value)) if key == "host" => host = Some(value),
                (Value::String(key), Value::Integer(value)) if key == "port" => {
                    port = i64::try_from(value).ok();
                }
                (Value::String(key), Value::Boolean(value)) if key == "enabled" => {
                    enabled = Some(value);
                }
                _ => return None,
            }
        }
        Some(Self {
            host: host?,
            port: port?,
            enabled: enabled?,
        })
    }
}

impl Output for Server {
    fn add(&self, sum: &mut Sum) {
        sum.bytes(std::hint::black_box(self.host.as_bytes()));
        sum.word(self.port as u64);
        sum.word(u64::from(self.enabled));
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend(self.encode());
        out.extend(self.host.as_bytes());
        out.extend(self.port.to_le_bytes());
        out.push(u8::from(self.enabled));
        true
    }
}

/// Applies the rule `digits@5` to a record whose label length has two digits: sets eight characters of the label.
fn set_label(value: &mut Value, word: u32) {
    if let Value::Record { label, .. } = value
        && let Value::String(label) | Value::Symbol(label) = &mut **label
    {
        set_digits(label, 1, word);
    }
}

fn ops() -> Vec<Op> {
    vec![
        array("syrup_encode", tree)
            .change("digits@5", set_label)
            .call(Value::to_vec),
        // The crate sorts when it creates a dictionary.
        op("syrup_encode_unsorted", unsorted)
            .call(|entries| Value::dictionary(entries.clone()).to_vec()),
        array("syrup_decode_owned", Reader::bytes).call(|bytes| decode(bytes).map(Decoded)),
        negative("syrup_decode_owned", |item| {
            std::panic::catch_unwind(|| decode(item).is_some()).unwrap_or(true)
        }),
        op("syrup_cid", tree)
            .change("digits@5", set_label)
            .call(|tree| <[u8; 32]>::from(Sha256::digest(tree.to_vec()))),
        array("syrup_roundtrip_tree", tree).call(|tree| decode(&tree.to_vec()).map(Decoded)),
        array("syrup_roundtrip_struct_owned", |reader| {
            Some(Server {
                host: reader.text()?.to_owned(),
                port: reader.u64()? as i64,
                enabled: reader.take(1)? == [1],
            })
        })
        .change("le16@-9", |server, word| {
            server.port = server.port >> 16 << 16 | i64::from(word >> 16);
        })
        .call(|server| Server::decode(&server.encode())),
        op("syrup_reencode", |reader| Some(reader.rest()))
            .call(|bytes| decode(bytes).map(|value| value.to_vec())),
        op("syrup_stream_owned", |reader| {
            reader.until_empty(Reader::bytes)
        })
        .call(|pieces| {
            let (mut pending, mut messages) = (Vec::new(), Vec::new());
            for piece in pieces {
                pending.extend_from_slice(piece);
                let mut at = 0;
                while let Some((payload, end)) = frame(&pending[at..]) {
                    messages.push(Decoded(decode(payload)?));
                    at += end;
                }
                pending.drain(..at);
            }
            Some(messages)
        }),
    ]
}

/// The payload of a frame `length:payload`, and the offset of its end.
fn frame(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let colon = bytes.iter().position(|&byte| byte == b':')?;
    let length: usize = std::str::from_utf8(&bytes[..colon]).ok()?.parse().ok()?;
    let end = colon + 1 + length;
    Some((bytes.get(colon + 1..end)?, end))
}
