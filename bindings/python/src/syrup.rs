//! Syrup, the encoding of OCapN.
//!
//! | Syrup | Python |
//! |---|---|
//! | boolean, integer, float, byte array, string | bool, int, float, bytes, str |
//! | symbol | `Symbol` |
//! | list | tuple; a list is accepted too |
//! | dictionary | dict |
//! | set | frozenset; a set is accepted too |
//! | record | `Record(label, *fields)` |
//! | float of 32 bits | `Float32` |

use lydite::{
    hash,
    ocapn::syrup::{self, Integer, MAX_TREE_DEPTH, Tape, Value},
};
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{
        PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
    },
};

use crate::{
    data::{self, Data, text},
    error::{DecodeError, EncodeError, IntoPython, located},
    integer::{self, MAX_LIMBS},
};

/// Number of decimal digits of 2^65536.
const MAX_DIGITS: usize = 19_729;

/// A symbol: text that is not a string. Only equal to symbols.
#[pyclass(frozen, eq, hash, module = "lydite")]
#[derive(PartialEq, Eq, Hash)]
pub struct Symbol {
    /// The text.
    #[pyo3(get)]
    text: String,
}

#[pymethods]
impl Symbol {
    #[new]
    #[pyo3(signature = (text, /))]
    fn new(text: &Bound<'_, PyString>) -> PyResult<Self> {
        let text = data::text(text)?.to_owned();
        Ok(Self { text })
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Symbol({})", PyString::new(py, &self.text).repr()?))
    }
}

/// A 32-bit float.
#[pyclass(frozen, eq, module = "lydite")]
#[derive(PartialEq)]
pub struct Float32 {
    /// The value.
    #[pyo3(get)]
    value: f32,
}

#[pymethods]
impl Float32 {
    #[new]
    #[pyo3(signature = (value, /))]
    fn new(value: f32) -> Self {
        Self { value }
    }

    fn __float__(&self) -> f64 {
        self.value.into()
    }

    fn __hash__(&self) -> u32 {
        // 0.0 and -0.0 are equal, so they must have the same hash.
        (self.value + 0.0).to_bits()
    }

    fn __repr__(&self) -> String {
        format!("Float32({:?})", self.value)
    }
}

/// A record: a label and fields, `Record(Symbol("desc:export"), 3)`. Raises EncodeError for records and tuples nested
/// deeper than 1024 levels.
#[pyclass(frozen, module = "lydite")]
pub struct Record {
    /// The label.
    #[pyo3(get)]
    label: Py<PyAny>,
    /// The fields.
    #[pyo3(get)]
    fields: Py<PyTuple>,
    levels: usize,
}

impl Record {
    /// Python hashes and frees what a record holds recursively, without a check of the stack, so the nesting is bounded
    /// here, not only when it is encoded.
    fn make(label: Bound<'_, PyAny>, fields: Bound<'_, PyTuple>) -> PyResult<Self> {
        let inner = levels(&fields, MAX_TREE_DEPTH).zip(levels(&label, MAX_TREE_DEPTH - 1));
        let (fields_levels, label_levels) = inner.ok_or_else(too_deep)?;
        Ok(Self {
            label: label.unbind(),
            fields: fields.unbind(),
            levels: fields_levels.max(label_levels + 1),
        })
    }

    /// The label, if it is a symbol.
    pub fn symbol(&self, py: Python<'_>) -> Option<String> {
        let label = self.label.bind(py).cast::<Symbol>().ok()?;
        Some(label.get().text.clone())
    }
}

#[pymethods]
impl Record {
    #[new]
    #[pyo3(signature = (label, /, *fields))]
    fn new(label: Bound<'_, PyAny>, fields: Bound<'_, PyTuple>) -> PyResult<Self> {
        Self::make(label, fields)
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        Ok(self.label.bind(py).eq(&other.label)? && self.fields.bind(py).eq(&other.fields)?)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (&self.label, &self.fields).into_pyobject(py)?.hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut text = format!("Record({}", self.label.bind(py).repr()?);
        for field in self.fields.bind(py) {
            text += &format!(", {}", field.repr()?);
        }
        Ok(text + ")")
    }
}

/// The number of levels of records and tuples in an object, if it is at most `most`.
fn levels(object: &Bound<'_, PyAny>, most: usize) -> Option<usize> {
    if let Ok(record) = object.cast::<Record>() {
        let levels = record.get().levels;
        return (levels <= most).then_some(levels);
    }
    let Ok(tuple) = object.cast::<PyTuple>() else {
        return Some(0);
    };
    let most = most.checked_sub(1)?;
    let mut deepest = 0;
    for item in tuple {
        deepest = deepest.max(levels(&item, most)?);
    }
    Some(deepest + 1)
}

#[cold]
fn too_deep() -> PyErr {
    EncodeError::new_err(format!(
        "containers nested deeper than {MAX_TREE_DEPTH} levels"
    ))
}

/// The canonical encoding of a value. Raises EncodeError for an int of more than 65 536 bits.
#[pyfunction]
#[pyo3(signature = (value, /))]
pub fn syrup_encode<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let tree = to_value(value, 0, &|_| Ok(None))?;
    let encoded = syrup::encode(&tree).map_err(|error| EncodeError::new_err(error.to_string()))?;
    Ok(PyBytes::new(value.py(), &encoded))
}

/// Decodes the single value that `data` encodes canonically. `lenient=True` accepts encodings from old peers:
/// superfluous zeros, any order of keys, bencode's brackets. Raises DecodeError for keys that are equal in Python but
/// not in Syrup (1 and True), for a key that Python cannot hash, and for an integer of more than 65 536 bits (19 729
/// digits), because converting it takes quadratic time.
#[pyfunction]
#[pyo3(signature = (data, /, *, lenient = false))]
pub fn syrup_decode<'py>(
    py: Python<'py>,
    data: Data<'_>,
    lenient: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let tree = if lenient {
        Value::decode_lenient(&data)
    } else {
        Value::decode(&data)
    };
    from_value(py, &tree.map_err(IntoPython::into_python)?, &data, &|_| {
        Ok(None)
    })
}

/// The content id of the value that `data` encodes canonically: SHA-256, 32 bytes.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub fn syrup_content_id<'py>(py: Python<'py>, data: Data<'_>) -> PyResult<Bound<'py, PyBytes>> {
    let mut tape = Tape::new();
    tape.decode(&data).map_err(IntoPython::into_python)?;
    Ok(PyBytes::new(py, &hash::sha256(&data)))
}

/// The magnitude of an integer, least significant word first, or `None` if it has more than 65 536 bits. Conversion
/// takes quadratic time, so the number of digits is checked before it starts.
pub fn bounded_magnitude(value: &Integer) -> Option<Vec<u64>> {
    let short = i64::try_from(value).is_ok() || value.to_string().len() <= MAX_DIGITS + 1;
    let limbs = short.then(|| value.magnitude())?;
    (limbs.len() <= MAX_LIMBS).then_some(limbs)
}

/// Offset and number of digits of the first integer of more than 65 536 bits in a valid encoding.
fn find_long_integer(input: &[u8]) -> Option<(usize, usize)> {
    let mut at = 0;
    while let Some(byte) = input.get(at) {
        if !byte.is_ascii_digit() {
            // Skip the bytes of a float: they may be digits.
            at += match byte {
                b'D' => 9,
                b'F' => 5,
                _ => 1,
            };
            continue;
        }
        let count = input[at..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        let (digits, end) = (std::str::from_utf8(&input[at..at + count]), at + count);
        let digits = digits.unwrap_or_default();
        at = match input.get(end) {
            Some(b'+' | b'-') => {
                let value = digits.parse().ok();
                if value.is_some_and(|value| bounded_magnitude(&value).is_none()) {
                    return Some((at, count));
                }
                end + 1
            }
            // A length, followed by that many bytes.
            _ => (end + 1).saturating_add(digits.parse().unwrap_or(usize::MAX)),
        };
    }
    None
}

/// The value of a Python object. `special` is asked first for records, and last for objects of unknown types.
pub fn to_value(
    object: &Bound<'_, PyAny>,
    depth: usize,
    special: &dyn Fn(&Bound<'_, PyAny>) -> PyResult<Option<Value>>,
) -> PyResult<Value> {
    if depth > MAX_TREE_DEPTH {
        return Err(too_deep());
    }
    // All items are collected before any is converted: conversion may run Python code that changes the container.
    let all = |items: &mut dyn Iterator<Item = Bound<'_, PyAny>>| {
        let items: Vec<_> = items.collect();
        items
            .iter()
            .map(|item| to_value(item, depth + 1, special))
            .collect::<PyResult<Vec<_>>>()
    };
    // bool before int, because bool is a subclass of int.
    Ok(if let Ok(value) = object.cast::<PyBool>() {
        Value::Boolean(value.is_true())
    } else if object.is_instance_of::<PyInt>() {
        Value::Integer(integer::any_size(object)?)
    } else if let Ok(string) = object.cast::<PyString>() {
        Value::String(text(string)?.to_owned())
    } else if let Ok(value) = object.cast::<PyFloat>() {
        Value::Float64(value.value())
    } else if let Ok(list) = object.cast::<PyList>() {
        Value::List(all(&mut list.iter())?)
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        Value::List(all(&mut tuple.iter())?)
    } else if let Ok(dict) = object.cast::<PyDict>() {
        let entries: Vec<_> = dict.iter().collect();
        let entries = entries.iter().map(|(key, value)| {
            let key = to_value(key, depth + 1, special)?;
            Ok((key, to_value(value, depth + 1, special)?))
        });
        Value::Dictionary(entries.collect::<PyResult<_>>()?)
    } else if let Ok(symbol) = object.cast::<Symbol>() {
        Value::symbol(&*symbol.get().text)
    } else if let Ok(record) = object.cast::<Record>() {
        if let Some(value) = special(object)? {
            return Ok(value);
        }
        let (py, record) = (object.py(), record.get());
        Value::Record(Box::new(syrup::Record {
            label: to_value(record.label.bind(py), depth + 1, special)?,
            fields: all(&mut record.fields.bind(py).iter())?,
        }))
    } else if let Ok(set) = object.cast::<PyFrozenSet>() {
        Value::Set(all(&mut set.iter())?)
    } else if let Ok(set) = object.cast::<PySet>() {
        Value::Set(all(&mut set.iter())?)
    } else if let Ok(float) = object.cast::<Float32>() {
        Value::Float32(float.get().value)
    } else if let Ok(data) = object.extract::<Data<'_>>() {
        Value::Bytes(data.to_vec())
    } else if let Some(value) = special(object)? {
        value
    } else {
        let found = object.get_type();
        return Err(PyTypeError::new_err(format!(
            "expected a value with a Syrup encoding, found {found}"
        )));
    })
}

/// The Python object of the value that `input` encodes. `special` is asked first for records.
pub fn from_value<'py>(
    py: Python<'py>,
    value: &Value,
    input: &[u8],
    special: &dyn Fn(&syrup::Record) -> PyResult<Option<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyAny>> {
    let all = |values: &[Value]| {
        values
            .iter()
            .map(|value| from_value(py, value, input, special))
            .collect::<PyResult<Vec<_>>>()
    };
    let key = |value: &Value| {
        let key = from_value(py, value, input, special)?;
        match key.hash() {
            Ok(_) => Ok(key),
            Err(error) => Err(DecodeError::new_err(format!("key or set member: {error}"))),
        }
    };
    let twice = || DecodeError::new_err("two keys or set members are equal in Python");
    Ok(match value {
        Value::Boolean(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Integer(value) => match bounded_magnitude(value) {
            Some(limbs) => integer::from_any_size(py, value, &limbs)?,
            None => {
                let (offset, digits) = find_long_integer(input).unwrap_or_default();
                let error = format!(
                    "byte {offset}: expected an integer of at most 65536 bits, found {digits} digits"
                );
                return Err(located(&error, Some(offset)));
            }
        },
        Value::Float64(value) => PyFloat::new(py, *value).into_any(),
        Value::Float32(value) => Float32 { value: *value }.into_pyobject(py)?.into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Symbol(text) => Symbol { text: text.clone() }.into_pyobject(py)?.into_any(),
        Value::List(values) => PyTuple::new(py, all(values)?)?.into_any(),
        Value::Dictionary(entries) => {
            let dict = PyDict::new(py);
            for (name, value) in entries {
                dict.set_item(key(name)?, from_value(py, value, input, special)?)?;
            }
            if dict.len() != entries.len() {
                return Err(twice());
            }
            dict.into_any()
        }
        Value::Set(values) => {
            let members = values.iter().map(key).collect::<PyResult<Vec<_>>>()?;
            let set = PyFrozenSet::new(py, members)?;
            if set.len() != values.len() {
                return Err(twice());
            }
            set.into_any()
        }
        Value::Record(record) => match special(record)? {
            Some(object) => object,
            None => {
                let label = from_value(py, &record.label, input, special)?;
                let fields = PyTuple::new(py, all(&record.fields)?)?;
                Record::make(label, fields)?.into_pyobject(py)?.into_any()
            }
        },
    })
}
