//! Syrup values as tapes. The first half of a word is the kind of the value that follows:
//!
//! 0 false, 1 true, 2 integer, 3 float64, 4 float32, 5 bytes, 6 string, 7 symbol, and containers, which have the number
//! of their values in the second half: 8 list, 9 dictionary (keys and values), 10 set, 11 record (label and fields).
//! In CapTP also 12, a reference, with its number in the second half.

use lydite::ocapn::syrup::{self, Integer, Record, Value};

use crate::{
    failure::Failure,
    tape::{Reader, Writer},
};

/// Maximum number of 64-bit words of a converted integer, here and in Python: 65 536 bits.
const MAX_LIMBS: usize = 1024;
/// Number of decimal digits of 2^65536.
const MAX_DIGITS: usize = 19_729;

/// The magnitude of an integer, least significant word first, or `None` if it has more than 65 536 bits. Conversion
/// takes quadratic time, so the number of digits is checked before it starts.
pub fn bounded_magnitude(value: &Integer) -> Option<Vec<u64>> {
    let short = i64::try_from(value).is_ok() || value.to_string().len() <= MAX_DIGITS + 1;
    let limbs = short.then(|| value.magnitude())?;
    (limbs.len() <= MAX_LIMBS).then_some(limbs)
}

/// The label of the records that represent references in CapTP's values.
const REFERENCE: &str = "desc:ref";

/// Reads a value. With `references` those in it are appended there, and records `<desc:ref n>` refer to them.
pub fn read(
    reader: &mut Reader<'_>,
    depth: usize,
    mut references: Option<&mut Vec<usize>>,
) -> Result<Value, Failure> {
    if depth > syrup::MAX_TREE_DEPTH {
        return Err(Failure::encode(format_args!(
            "containers nested deeper than {} levels",
            syrup::MAX_TREE_DEPTH
        )));
    }
    let (kind, count) = reader.word()?;
    if kind == 12 {
        let Some(references) = references else {
            return Err(Failure::argument("expected data, found a reference"));
        };
        let index = references.len() as u64;
        references.push(count);
        return Ok(Value::record(REFERENCE, [Value::Integer(index.into())]));
    }
    let mut values = Vec::new();
    for _ in 0..count {
        values.push(read(reader, depth + 1, references.as_deref_mut())?);
    }
    let text = |reader: &mut Reader<'_>| Ok::<_, Failure>(reader.text()?.to_owned());
    Ok(match kind {
        0 => Value::Boolean(false),
        1 => Value::Boolean(true),
        2 => {
            let (negative, limbs) = reader.number()?;
            if limbs.len() > MAX_LIMBS {
                return Err(Failure::encode("expected an integer of at most 65536 bits"));
            }
            Value::Integer(Integer::from_sign_magnitude(negative, &limbs))
        }
        3 => Value::Float64(f64::from_bits(reader.limb()?)),
        4 => Value::Float32(f64::from_bits(reader.limb()?) as f32),
        5 => Value::Bytes(reader.bytes()?.to_vec()),
        6 => Value::String(text(reader)?),
        7 => Value::Symbol(text(reader)?),
        8 => Value::List(values),
        9 => {
            let mut entries = Vec::new();
            let mut values = values.into_iter();
            while let (Some(key), Some(value)) = (values.next(), values.next()) {
                entries.push((key, value));
            }
            Value::Dictionary(entries)
        }
        10 => Value::Set(values),
        _ => {
            let mut values = values.into_iter();
            let label = values
                .next()
                .ok_or_else(|| Failure::encode("record without a label"))?;
            if references.is_some() && label == Value::Symbol(REFERENCE.into()) {
                return Err(Failure::encode("records cannot have the label desc:ref"));
            }
            Value::Record(Box::new(Record {
                label,
                fields: values.collect(),
            }))
        }
    })
}

pub struct LongInteger;

/// Writes a value in which records `<desc:ref n>` represent `references[n]`, if there are any.
pub fn write(value: &Value, references: &[usize], out: &mut Writer) -> Result<(), LongInteger> {
    let mut all = |kind, values: &[Value]| {
        out.word(kind, values.len());
        values
            .iter()
            .try_for_each(|value| write(value, references, out))
    };
    match value {
        Value::List(values) => return all(8, values),
        Value::Set(values) => return all(10, values),
        _ => {}
    }
    match value {
        Value::Boolean(value) => out.word(usize::from(*value), 0),
        Value::Integer(value) => {
            let Some(limbs) = bounded_magnitude(value) else {
                return Err(LongInteger);
            };
            out.word(2, 0);
            out.number(value.is_negative(), &limbs);
        }
        Value::Float64(value) => {
            out.word(3, 0);
            out.float(*value);
        }
        Value::Float32(value) => {
            out.word(4, 0);
            out.float((*value).into());
        }
        Value::Bytes(bytes) => {
            out.word(5, 0);
            out.bytes(bytes);
        }
        Value::String(text) => {
            out.word(6, 0);
            out.text(text);
        }
        Value::Symbol(text) => {
            out.word(7, 0);
            out.text(text);
        }
        Value::Dictionary(entries) => {
            out.word(9, entries.len());
            for (key, value) in entries {
                write(key, references, out)?;
                write(value, references, out)?;
            }
        }
        Value::Record(record) => {
            if let Some(reference) = reference(record, references) {
                out.word(12, reference);
                return Ok(());
            }
            out.word(11, record.fields.len());
            write(&record.label, references, out)?;
            for field in &record.fields {
                write(field, references, out)?;
            }
        }
        Value::List(_) | Value::Set(_) => {}
    }
    Ok(())
}

/// The reference that a record represents.
fn reference(record: &Record, references: &[usize]) -> Option<usize> {
    match (&record.label, record.fields.as_slice()) {
        (Value::Symbol(label), [Value::Integer(index)]) if label == REFERENCE => {
            references.get(usize::try_from(index).ok()?).copied()
        }
        _ => None,
    }
}
