//! ABI codecs and events, created from type strings.

use std::fmt;

use lydite::{
    bytes::{B256, hex},
    evm::abi::{self, EventCodec, Mode, Type, Value},
};
use pyo3::{
    prelude::*,
    types::{PyBool, PyBytes, PyDict, PyList, PyString, PyTuple},
};

use crate::{
    data::{Data, Items, address, at_item, text},
    error::{EncodeError, IntoPython, LyditeError, encoding},
    integer,
};

/// Output format of an address.
#[derive(Clone, Copy)]
enum AddressForm {
    Hex,
    Checksum,
    Bytes,
}

impl AddressForm {
    fn parse(text: &str) -> PyResult<Self> {
        match text {
            "hex" => Ok(Self::Hex),
            "checksum" => Ok(Self::Checksum),
            "bytes" => Ok(Self::Bytes),
            _ => Err(LyditeError::new_err(format!(
                "address: expected 'hex', 'checksum' or 'bytes', found '{text}'"
            ))),
        }
    }
}

/// Encodes and decodes a list of arguments: `Codec("(bytes,string,uint256[])")`. A type string without enclosing
/// parentheses is a single argument.
///
/// Python types: int, bool, bytes (`bytesN`, `bytes`, `function`), str, addresses in the form given by `address`
/// ("hex": lower-case `0x…`; "checksum"; "bytes"), tuples for arrays and tuples. When encoding, bytes may be any
/// buffer, addresses any of the three forms, arrays and tuples lists or tuples.
#[pyclass(frozen, module = "lydite")]
pub struct Codec {
    types: Vec<Type>,
    codec: abi::Codec,
    address: AddressForm,
}

#[pymethods]
impl Codec {
    #[new]
    #[pyo3(signature = (types, *, address = "hex"))]
    fn new(types: &str, address: &str) -> PyResult<Self> {
        let ty = Type::parse(types).map_err(IntoPython::into_python)?;
        let codec = abi::Codec::new(&ty).map_err(IntoPython::into_python)?;
        let types = match ty {
            Type::Tuple(members) => members,
            other => vec![other],
        };
        Ok(Self {
            types,
            codec,
            address: AddressForm::parse(address)?,
        })
    }

    /// Encodes the arguments.
    fn encode<'py>(&self, arguments: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let values = to_values(&self.types, arguments, Path::Arguments)?;
        let data = self.codec.encode(&values).map_err(encoding)?;
        Ok(PyBytes::new(arguments.py(), &data))
    }

    /// Decodes the arguments, as a tuple. `strict=False` decodes like Solidity before 0.8: excess bits are dropped, the
    /// last padding may be missing, invalid UTF-8 becomes U+FFFD. `canonical=True` accepts only the encoding that
    /// `encode` produces.
    #[pyo3(signature = (data, *, strict = true, canonical = false))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        data: Data<'_>,
        strict: bool,
        canonical: bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let mode = if canonical {
            Mode::Canonical
        } else {
            mode(strict)
        };
        let values = self
            .codec
            .decode_with(&data, mode)
            .map_err(IntoPython::into_python)?;
        tuple(py, &values, self.address)
    }

    /// Decodes each item and returns a list of tuples; lets other threads run. The first invalid item raises, with its
    /// index in the notes.
    #[pyo3(signature = (items, *, strict = true))]
    fn decode_batch<'py>(
        &self,
        py: Python<'py>,
        items: Items<'py>,
        strict: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let data = items.data()?;
        let decoded = PyList::empty(py);
        // In batches, so that a tree is still in the cache when it is converted to Python objects.
        for piece in data.chunks(64) {
            let decode = |data: &Data<'_>| self.codec.decode_with(data, mode(strict));
            let trees: Vec<_> = py.detach(|| piece.iter().map(decode).collect());
            for tree in trees {
                let values =
                    tree.map_err(|error| at_item(py, decoded.len(), error.into_python()))?;
                decoded.append(tuple(py, &values, self.address)?)?;
            }
        }
        Ok(decoded)
    }

    /// Number of arguments.
    fn __len__(&self) -> usize {
        self.types.len()
    }

    fn __repr__(&self) -> String {
        format!("Codec(\"{}\")", Type::Tuple(self.types.clone()))
    }
}

fn mode(strict: bool) -> Mode {
    if strict { Mode::Strict } else { Mode::Lenient }
}

/// A decoded value to be converted to Python.
struct Decoded<'a>(&'a Value, AddressForm);

impl<'py> IntoPyObject<'py> for Decoded<'_> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Self(value, form) = self;
        Ok(match value {
            Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
            Value::Uint(value, _) => integer::from_unsigned(py, value)?,
            Value::Int(value, _) => integer::from_signed(py, value)?,
            Value::Address(address) => match form {
                AddressForm::Bytes => PyBytes::new(py, address.as_slice()).into_any(),
                AddressForm::Hex => {
                    let mut text = *b"0x0000000000000000000000000000000000000000";
                    hex::encode_to_slice(address.as_slice(), &mut text[2..])
                        .map_err(IntoPython::into_python)?;
                    PyString::from_bytes(py, &text)?.into_any()
                }
                AddressForm::Checksum => {
                    PyString::from_bytes(py, &address.to_checksum_buffer())?.into_any()
                }
            },
            Value::FixedBytes(word, length) => {
                PyBytes::new(py, &word[..usize::from(*length).min(32)]).into_any()
            }
            Value::Function(bytes) => PyBytes::new(py, bytes).into_any(),
            Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
            Value::String(text) => PyString::new(py, text).into_any(),
            Value::Array(values) | Value::FixedArray(values) | Value::Tuple(values) => {
                tuple(py, values, form)?.into_any()
            }
        })
    }
}

fn tuple<'py>(
    py: Python<'py>,
    values: &[Value],
    form: AddressForm,
) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, values.iter().map(|value| Decoded(value, form)))
}

/// Path of a value within the arguments, formatted only for errors.
#[derive(Clone, Copy)]
enum Path<'a> {
    Arguments,
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arguments => f.write_str("arguments"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Converts the items of a list or tuple to values of these types.
fn to_values(types: &[Type], items: &Bound<'_, PyAny>, path: Path<'_>) -> PyResult<Vec<Value>> {
    let items = sequence(items, path)?;
    if items.len() != types.len() {
        let (needed, found) = (types.len(), items.len());
        return Err(refuse(
            path,
            &format!("expected {needed} values, found {found}"),
        ));
    }
    items
        .iter()
        .enumerate()
        .zip(types)
        .map(|((i, item), ty)| to_value(ty, item, Path::Item(&path, i)))
        .collect()
}

fn sequence<'py>(object: &Bound<'py, PyAny>, path: Path<'_>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = object.cast::<PyList>() {
        Ok(list.iter().collect())
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        Ok(tuple.iter().collect())
    } else {
        Err(refuse(
            path,
            &format!("expected a list or tuple, found {}", object.get_type()),
        ))
    }
}

fn to_value(ty: &Type, item: &Bound<'_, PyAny>, path: Path<'_>) -> PyResult<Value> {
    let in_place = |error: PyErr| refuse(path, &error.value(item.py()).to_string());
    let out_of_range = || refuse(path, &format!("out of range for {ty}"));
    Ok(match ty {
        Type::Bool => match item.cast::<PyBool>() {
            Ok(value) => Value::Bool(value.is_true()),
            Err(_) => {
                return Err(refuse(
                    path,
                    &format!("expected a bool, found {}", item.get_type()),
                ));
            }
        },
        Type::Uint(bits) => {
            let value = integer::unsigned(item)
                .map_err(in_place)?
                .filter(|value| value.bit_len() <= u32::from(*bits))
                .ok_or_else(out_of_range)?;
            Value::Uint(value, *bits)
        }
        Type::Int(bits) => {
            let value = integer::signed(item)
                .map_err(in_place)?
                .filter(|value| integer::fits_int(*value, *bits))
                .ok_or_else(out_of_range)?;
            Value::Int(value, *bits)
        }
        Type::Address => Value::Address(address(item).map_err(in_place)?),
        Type::FixedBytes(length) => {
            let data = item.extract::<Data<'_>>().map_err(in_place)?;
            if data.len() != usize::from(*length) {
                return Err(refuse(
                    path,
                    &format!("expected {length} bytes, found {}", data.len()),
                ));
            }
            let mut word = [0; 32];
            word[..data.len()].copy_from_slice(&data);
            Value::FixedBytes(word, *length)
        }
        Type::Function => {
            let data = item.extract::<Data<'_>>().map_err(in_place)?;
            Value::Function(*data.array("function").map_err(in_place)?)
        }
        Type::Bytes => Value::Bytes(item.extract::<Data<'_>>().map_err(in_place)?.to_vec()),
        Type::String => match item.cast::<PyString>() {
            Ok(string) => Value::String(text(string).map_err(in_place)?.to_owned()),
            Err(_) => {
                return Err(refuse(
                    path,
                    &format!("expected a str, found {}", item.get_type()),
                ));
            }
        },
        Type::Array(element) => Value::Array(elements(element, item, path)?),
        Type::FixedArray(element, length) => {
            let values = elements(element, item, path)?;
            if values.len() != *length {
                return Err(refuse(
                    path,
                    &format!("expected {length} elements, found {}", values.len()),
                ));
            }
            Value::FixedArray(values)
        }
        Type::Tuple(members) => Value::Tuple(to_values(members, item, path)?),
    })
}

fn elements(ty: &Type, items: &Bound<'_, PyAny>, path: Path<'_>) -> PyResult<Vec<Value>> {
    sequence(items, path)?
        .iter()
        .enumerate()
        .map(|(i, item)| to_value(ty, item, Path::Item(&path, i)))
        .collect()
}

#[cold]
fn refuse(path: Path<'_>, reason: &str) -> PyErr {
    EncodeError::new_err(format!("{path}: {reason}"))
}

/// Decodes an event's logs: `Event("Transfer(address indexed from, address indexed to, uint256 value)")`.
#[pyclass(frozen, module = "lydite")]
pub struct Event {
    codec: EventCodec,
    address: AddressForm,
    names: Vec<Py<PyString>>,
}

#[pymethods]
impl Event {
    #[new]
    #[pyo3(signature = (signature, *, address = "hex"))]
    fn new(py: Python<'_>, signature: &str, address: &str) -> PyResult<Self> {
        let codec = EventCodec::parse(signature).map_err(IntoPython::into_python)?;
        let inputs = &codec.signature().inputs;
        let names: Vec<String> = inputs
            .iter()
            .enumerate()
            .map(|(i, input)| {
                if input.name.is_empty() {
                    format!("arg{i}")
                } else {
                    input.name.clone()
                }
            })
            .collect();
        if let Some(name) = names
            .iter()
            .enumerate()
            .find_map(|(i, name)| names[..i].contains(name).then_some(name))
        {
            return Err(LyditeError::new_err(format!(
                "duplicate parameter name: {name}"
            )));
        }
        let names = names
            .iter()
            .map(|name| PyString::new(py, name).unbind())
            .collect();
        Ok(Self {
            codec,
            address: AddressForm::parse(address)?,
            names,
        })
    }

    /// The event's name.
    #[getter]
    fn name(&self) -> &str {
        &self.codec.signature().name
    }

    /// Keccak-256 of the canonical signature, the first topic of its logs (also set for an anonymous event, whose logs
    /// lack it).
    #[getter]
    fn topic<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.codec.topic().0)
    }

    /// The parameters by name (`arg0` … if unnamed). An indexed parameter longer than a word is its 32-byte hash,
    /// because the log contains only the hash.
    #[pyo3(signature = (topics, data, *, strict = true))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        topics: Vec<Bound<'py, PyAny>>,
        data: Data<'_>,
        strict: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let topics = topics
            .iter()
            .map(|topic| Ok(B256::from(*topic.extract::<Data<'_>>()?.array("topic")?)))
            .collect::<PyResult<Vec<B256>>>()?;
        let values = self
            .codec
            .decode_with(&topics, &data, mode(strict))
            .map_err(IntoPython::into_python)?;
        let decoded = PyDict::new(py);
        for (name, value) in self.names.iter().zip(&values) {
            decoded.set_item(name, Decoded(value, self.address))?;
        }
        Ok(decoded)
    }

    fn __repr__(&self) -> String {
        format!("Event(\"{}\")", self.codec.signature())
    }
}

/// The selector of a function or error from its signature, canonical or human-readable: 4 bytes.
#[pyfunction]
#[pyo3(signature = (signature, /))]
pub fn selector<'py>(py: Python<'py>, signature: &str) -> PyResult<Bound<'py, PyBytes>> {
    abi::selector(signature)
        .map(|bytes| PyBytes::new(py, &bytes))
        .map_err(IntoPython::into_python)
}

/// The first topic of an event from its signature, canonical or human-readable: 32 bytes.
#[pyfunction]
#[pyo3(signature = (signature, /))]
pub fn event_topic<'py>(py: Python<'py>, signature: &str) -> PyResult<Bound<'py, PyBytes>> {
    abi::event_topic(signature)
        .map(|topic| PyBytes::new(py, &topic.0))
        .map_err(IntoPython::into_python)
}
