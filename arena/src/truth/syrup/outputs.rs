//! Expected outputs of the `syrup` rows.

use anyhow::{Result, bail, ensure};
use sha2::{Digest as _, Sha256};

use super::{Value, int, record, string, symbol};
use crate::kernel::Syrup;
use crate::truth::{Expected, word_sum};
use crate::wire::Reader;

/// The bytes that a contender writes for `verify`, and the checksum of a batch, which in most rows covers the same
/// bytes.
#[derive(Default)]
struct Output {
    verified: Vec<u8>,
    sum: u64,
}

impl Output {
    /// Appends bytes, which are zero-padded separately for the checksum.
    fn part(&mut self, bytes: &[u8]) {
        self.verified.extend(bytes);
        self.sum = self.sum.wrapping_add(word_sum(bytes));
    }

    /// Appends a decoded value: its encoding to the bytes, its number of direct elements to the checksum.
    fn decoded(&mut self, value: &Value) {
        self.verified.extend(value.encode());
        self.sum = self.sum.wrapping_add(value.head());
    }
}

/// The expected output of `kernel` on one item.
pub fn expected(kernel: Syrup, elements: usize, item: &[u8]) -> Result<Expected> {
    let mut input = Reader(item);
    let mut out = Output::default();
    match kernel {
        Syrup::Stream | Syrup::StreamOwned => {
            let mut stream = Vec::new();
            while !input.0.is_empty() {
                stream.extend(input.lp()?);
            }
            let messages = messages(&stream)?;
            ensure!(messages.len() == elements, "{} messages", messages.len());
            messages.iter().for_each(|message| out.decoded(message));
        }
        Syrup::Reencode => out.part(&Value::decode(input.rest())?.encode()),
        _ => {
            for _ in 0..elements {
                element(kernel, &mut input, &mut out)?;
            }
        }
    }
    ensure!(
        input.0.is_empty(),
        "{kernel:?}: the item has bytes left over"
    );
    Ok(Expected {
        bytes: out.verified,
        sum: out.sum,
    })
}

fn element(kernel: Syrup, input: &mut Reader<'_>, out: &mut Output) -> Result<()> {
    match kernel {
        Syrup::Encode => out.part(&Value::decode(input.lp()?)?.encode()),
        Syrup::EncodeUnsorted => {
            let Value::List(flat) = Value::decode(input.lp()?)? else {
                bail!("no list")
            };
            let entries = flat
                .chunks(2)
                .map(|pair| (pair[0].clone(), pair[1].clone()));
            out.part(&Value::Dictionary(entries.collect()).encode());
        }
        Syrup::Decode | Syrup::DecodeOwned | Syrup::RoundtripTree => {
            out.decoded(&Value::decode(input.lp()?)?);
        }
        Syrup::Walk => out.part(&Value::decode(input.lp()?)?.fold().to_le_bytes()),
        Syrup::Cid => out.part(&Sha256::digest(Value::decode(input.lp()?)?.encode())),
        Syrup::EncodeTypedSkill => {
            let skill = Skill {
                agent: input.text()?.to_owned(),
                tool: input.text()?.to_owned(),
                n: input.i64()?,
                seed: input.i64()?,
                last: input.i64()?,
            };
            out.part(&skill.value().encode());
        }
        Syrup::DecodeTypedSkill => {
            let skill = Skill::decode(input.lp()?)?;
            out.part(skill.agent.as_bytes());
            out.part(skill.tool.as_bytes());
            out.part(
                &[skill.n, skill.seed, skill.last]
                    .map(i64::to_le_bytes)
                    .concat(),
            );
        }
        Syrup::EncodeTypedExport => {
            out.part(&record("desc:export", vec![int(input.u64()?)]).encode());
        }
        Syrup::DecodeTypedCaptp => {
            let value = Value::decode(input.lp()?)?;
            let [to, method, arguments] = fields(&value, "op:deliver")?;
            let Value::Symbol(method) = method else {
                bail!("the method is no symbol")
            };
            let Value::List(arguments) = arguments else {
                bail!("the arguments are no list")
            };
            let numbers: Result<Vec<_>> = arguments.iter().map(number).collect();
            out.part(&position(to, "desc:export")?.to_le_bytes());
            out.part(method.as_bytes());
            out.part(
                &numbers?
                    .iter()
                    .flat_map(|n| n.to_le_bytes())
                    .collect::<Vec<_>>(),
            );
        }
        Syrup::DecodeTypedDeliver => {
            let value = Value::decode(input.lp()?)?;
            let [to, arguments, answer, resolve] = fields(&value, "op:deliver")?;
            ensure!(matches!(arguments, Value::List(_)), "no list");
            let or_none = |value: &Value, read: &dyn Fn(&Value) -> Result<u64>| match value {
                Value::Boolean(false) => Ok(u64::MAX),
                value => read(value),
            };
            let words = [
                position(to, "desc:export")?,
                or_none(answer, &|value| Ok(number(value)? as u64))?,
                or_none(resolve, &|value| position(value, "desc:import-object"))?,
            ];
            out.part(&words.map(u64::to_le_bytes).concat());
            out.part(&arguments.encode());
        }
        Syrup::RoundtripStruct | Syrup::RoundtripStructOwned => {
            let (host, port, enabled) = (input.text()?, input.i64()?, input.take(1)?[0]);
            out.verified
                .extend(server(host, port, enabled == 1).encode());
            out.part(host.as_bytes());
            out.part(&[port.to_le_bytes().as_slice(), &[enabled]].concat());
        }
        Syrup::Decimal => {
            let (mark, digits) = input
                .lp()?
                .split_last()
                .ok_or_else(|| anyhow::anyhow!("empty"))?;
            ensure!(!mark.is_ascii_digit(), "no mark");
            let value: u64 = std::str::from_utf8(digits)?.parse()?;
            out.part(&value.to_le_bytes());
        }
        Syrup::Stream | Syrup::StreamOwned | Syrup::Reencode => {
            bail!("{kernel:?} has whole items")
        }
    }
    Ok(())
}

/// The messages of a stream framed as `length:payload`.
pub fn messages(mut stream: &[u8]) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    while !stream.is_empty() {
        let colon = stream.iter().position(|&byte| byte == b':');
        let (length, rest) = stream.split_at(colon.unwrap_or(0));
        let length: usize = std::str::from_utf8(length)?.parse()?;
        ensure!(length < rest.len(), "cut off");
        all.push(Value::decode(&rest[1..=length])?);
        stream = &rest[1 + length..];
    }
    Ok(all)
}

/// The fields of the report's record.
pub struct Skill {
    /// First field.
    pub agent: String,
    /// Second field.
    pub tool: String,
    /// Entry of the dictionary.
    pub n: i64,
    /// Entry of the dictionary.
    pub seed: i64,
    /// Last field.
    pub last: i64,
}

impl Skill {
    /// The record as a value, whose label is a string.
    pub fn value(&self) -> Value {
        let entries = vec![(string("n"), int(self.n)), (string("seed"), int(self.seed))];
        let fields = vec![
            symbol(&self.agent),
            symbol(&self.tool),
            Value::Dictionary(entries),
            int(self.last),
        ];
        Value::Record(Box::new(string("skill:invoke")), fields)
    }

    /// Decodes the record from its canonical encoding.
    pub fn decode(data: &[u8]) -> Result<Self> {
        let value = Value::decode(data)?;
        let Value::Record(_, fields) = &value else {
            bail!("no record")
        };
        let [
            Value::Symbol(agent),
            Value::Symbol(tool),
            Value::Dictionary(entries),
            last,
        ] = fields.as_slice()
        else {
            bail!("not the fields of skill:invoke")
        };
        let [(_, n), (_, seed)] = entries.as_slice() else {
            bail!("not two entries")
        };
        let skill = Self {
            agent: agent.clone(),
            tool: tool.clone(),
            n: number(n)?,
            seed: number(seed)?,
            last: number(last)?,
        };
        ensure!(skill.value() == value, "not skill:invoke");
        Ok(skill)
    }
}

/// The report's struct as a value.
pub fn server(host: &str, port: i64, enabled: bool) -> Value {
    Value::Dictionary(vec![
        (string("host"), string(host)),
        (string("port"), int(port)),
        (string("enabled"), Value::Boolean(enabled)),
    ])
}

fn fields<'a, const N: usize>(value: &'a Value, label: &str) -> Result<&'a [Value; N]> {
    match value {
        Value::Record(found, fields) if **found == symbol(label) => {
            Ok(fields.as_slice().try_into()?)
        }
        _ => bail!("no {label}"),
    }
}

fn number(value: &Value) -> Result<i64> {
    match value {
        Value::Integer(number) => Ok(number.try_into()?),
        _ => bail!("no integer"),
    }
}

fn position(value: &Value, label: &str) -> Result<u64> {
    let [value] = fields(value, label)?;
    Ok(number(value)?.try_into()?)
}
