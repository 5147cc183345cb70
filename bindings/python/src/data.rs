//! Byte arguments.

use std::ops::Deref;

use pyo3::{
    Borrowed, PyErr,
    buffer::PyBuffer,
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBytes, PyString},
};

use crate::error::{DecodeError, EncodeError, IntoPython};
use lydite::bytes::{Address, hex};
use zeroize::Zeroize as _;

/// The bytes of any object with a contiguous buffer: `bytes` are borrowed, others (`bytearray`, `memoryview`, NumPy
/// arrays) are copied, because another thread may write to them once the interpreter is released.
pub enum Data<'a> {
    Borrowed(&'a [u8]),
    Owned(Vec<u8>),
}

impl Deref for Data<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Data<'a> {
    type Error = PyErr;

    #[inline]
    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyBytes>() {
            return Ok(Self::Borrowed(object.extract()?));
        }
        copy(object).map(Self::Owned)
    }
}

#[cold]
fn copy(object: Borrowed<'_, '_, PyAny>) -> PyResult<Vec<u8>> {
    let buffer = PyBuffer::<u8>::get(&object).map_err(|_| {
        let found = object.get_type();
        PyTypeError::new_err(format!("expected a buffer of bytes, found {found}"))
    })?;
    buffer.to_vec(object.py())
}

/// Secret [`Data`]: a copy is wiped when it is dropped.
pub struct Secret<'a>(Data<'a>);

impl<'a> Deref for Secret<'a> {
    type Target = Data<'a>;

    fn deref(&self) -> &Data<'a> {
        &self.0
    }
}

impl Drop for Secret<'_> {
    fn drop(&mut self) {
        if let Data::Owned(bytes) = &mut self.0 {
            bytes.zeroize();
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Secret<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Data::extract(object).map(Self)
    }
}

impl Data<'_> {
    /// The bytes, if there are exactly `N`.
    pub fn array<const N: usize>(&self, what: &str) -> PyResult<&[u8; N]> {
        (&**self)
            .try_into()
            .map_err(|_| wrong_length(what, N, self.len()))
    }

    /// The bytes as rows of `N`.
    pub fn rows<const N: usize>(&self, what: &str) -> PyResult<&[[u8; N]]> {
        match self.as_chunks() {
            (rows, []) => Ok(rows),
            (rows, _) => Err(DecodeError::new_err(format!(
                "{what}: expected whole rows of {N} bytes, found {} bytes; byte {}: incomplete row",
                self.len(),
                rows.len() * N,
            ))),
        }
    }
}

#[cold]
fn wrong_length(what: &str, needed: usize, found: usize) -> PyErr {
    DecodeError::new_err(format!("{what}: expected {needed} bytes, found {found}"))
}

/// A batch of byte strings: an iterable of buffers, or the rows of a two-dimensional buffer of bytes (a NumPy array).
pub enum Items<'py> {
    Objects(Vec<Bound<'py, PyAny>>),
    Rows { bytes: Vec<u8>, rows: usize },
}

impl<'a, 'py> FromPyObject<'a, 'py> for Items<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(buffer) = PyBuffer::<u8>::get(&object) {
            let [rows, _] = *buffer.shape() else {
                return Err(PyTypeError::new_err(
                    "expected an iterable of buffers, or a two-dimensional buffer of bytes",
                ));
            };
            let bytes = buffer.to_vec(object.py())?;
            return Ok(Self::Rows { bytes, rows });
        }
        Ok(Self::Objects(object.try_iter()?.collect::<PyResult<_>>()?))
    }
}

/// The error, with the index of the offending item in its notes.
pub fn at_item(py: Python<'_>, index: usize, error: PyErr) -> PyErr {
    // This only fails if there is no memory, and the error is still usable then.
    let _ = error
        .value(py)
        .call_method1("add_note", (format!("item {index}"),));
    error
}

impl Items<'_> {
    /// The items, in order.
    pub fn data(&self) -> PyResult<Vec<Data<'_>>> {
        match self {
            Self::Objects(objects) => objects
                .iter()
                .enumerate()
                .map(|(index, object)| {
                    let data = object.as_borrowed().extract();
                    data.map_err(|error| at_item(object.py(), index, error))
                })
                .collect(),
            Self::Rows { bytes, rows } => {
                let length = bytes.len().checked_div(*rows).unwrap_or(0);
                let row = |i| Data::Borrowed(&bytes[length * i..length * (i + 1)]);
                Ok((0..*rows).map(row).collect())
            }
        }
    }
}

/// The UTF-8 form of text. Python's error for text that has none is not one of ours.
pub fn text<'a>(text: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    text.to_str()
        .map_err(|_| EncodeError::new_err("expected well-formed text, found a lone surrogate"))
}

/// An address: 20 bytes, or 40 hexadecimal digits. Mixed case requires a valid EIP-55 checksum.
pub fn address(object: &Bound<'_, PyAny>) -> PyResult<Address> {
    if let Ok(found) = object.cast::<PyString>() {
        return parse_address(text(found)?);
    }
    object
        .extract::<Data<'_>>()?
        .array("address")
        .map(|bytes| Address(*bytes))
}

fn parse_address(text: &str) -> PyResult<Address> {
    let cased =
        |range: std::ops::RangeInclusive<u8>| text.bytes().any(|byte| range.contains(&byte));
    let found = if cased(b'a'..=b'f') && cased(b'A'..=b'F') {
        Address::parse_checksummed(text)
    } else {
        Address::from_hex(text).map_err(Into::into)
    };
    found.map_err(IntoPython::into_python)
}

/// Bytes: a buffer, or hexadecimal text with `0x`.
pub fn bytes_or_hex<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Data<'a>> {
    let Ok(found) = object.cast::<PyString>() else {
        return object.as_borrowed().extract();
    };
    let text = text(found)?;
    if !text.starts_with("0x") {
        return Err(DecodeError::new_err("byte 0: expected a 0x prefix"));
    }
    hex::decode(text)
        .map(Data::Owned)
        .map_err(IntoPython::into_python)
}
