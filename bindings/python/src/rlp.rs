//! RLP items of any shape: strings are `bytes`, lists are `list`s.

use lydite::evm::rlp::{self, Event};
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBytes, PyInt, PyList, PyTuple},
};

use crate::{
    data::Data,
    error::{EncodeError, IntoPython},
    integer,
};

/// Maximum nesting of lists when encoding: Python lists may contain themselves.
const MAX_DEPTH: usize = 1024;

/// Encodes bytes, non-negative ints below 2^256, and nested lists or tuples of them.
#[pyfunction]
#[pyo3(signature = (value, /))]
pub fn rlp_encode<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    // Written from the back, so that the length of a list is known before its header is written.
    let mut reversed = Vec::new();
    let mut open: Vec<(Vec<Bound<'py, PyAny>>, usize)> = Vec::new();
    let mut next = Some(value.clone());
    loop {
        match next.take() {
            Some(item) => match elements(&item) {
                Some(elements) if open.len() < MAX_DEPTH => open.push((elements, reversed.len())),
                Some(_) => {
                    return Err(EncodeError::new_err(format!(
                        "lists nested deeper than {MAX_DEPTH} levels"
                    )));
                }
                None => {
                    push_string(&item, &mut reversed).map_err(|error| at(&open, &item, &error))?;
                }
            },
            None => match open.last_mut() {
                None => break,
                Some((elements, start)) => match elements.pop() {
                    Some(element) => next = Some(element),
                    None => {
                        let header = rlp::Header {
                            list: true,
                            payload_len: reversed.len() - *start,
                        };
                        push_header(header, &mut reversed);
                        open.pop();
                    }
                },
            },
        }
    }
    reversed.reverse();
    Ok(PyBytes::new(value.py(), &reversed))
}

/// The error with the path of the item. Elements are taken from the end, so as many are left as the index says.
fn at(open: &[(Vec<Bound<'_, PyAny>>, usize)], item: &Bound<'_, PyAny>, error: &PyErr) -> PyErr {
    let py = item.py();
    let path: String = open
        .iter()
        .map(|(elements, _)| format!("[{}]", elements.len()))
        .collect();
    let message = format!("value{path}: {}", error.value(py));
    PyErr::from_type(error.get_type(py), message)
}

fn elements<'py>(item: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = item.cast::<PyList>() {
        return Some(list.iter().collect());
    }
    item.cast::<PyTuple>()
        .ok()
        .map(|tuple| tuple.iter().collect())
}

fn push_string(item: &Bound<'_, PyAny>, reversed: &mut Vec<u8>) -> PyResult<()> {
    let encoded = if item.is_instance_of::<PyInt>() {
        let value = integer::unsigned(item)?
            .ok_or_else(|| EncodeError::new_err("expected an integer from 0 to 2^256 - 1"))?;
        rlp::encode(&value)
    } else {
        let data: Data<'_> = item.as_borrowed().extract().map_err(|_| {
            let found = item.get_type();
            PyTypeError::new_err(format!("expected bytes, an int or a list, found {found}"))
        })?;
        rlp::encode(&*data)
    };
    reversed.extend(encoded.iter().rev());
    Ok(())
}

fn push_header(header: rlp::Header, reversed: &mut Vec<u8>) {
    let mut bytes = Vec::new();
    header.encode(&mut bytes);
    reversed.extend(bytes.iter().rev());
}

/// Decodes one item strictly: accepted input re-encodes to the same bytes. Lists may be nested to any depth.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub fn rlp_decode<'py>(py: Python<'py>, data: Data<'_>) -> PyResult<Bound<'py, PyAny>> {
    let mut open: Vec<Bound<'py, PyList>> = Vec::new();
    let mut whole = None;
    for event in rlp::items(&data) {
        let item = match event.map_err(IntoPython::into_python)? {
            Event::List => {
                open.push(PyList::empty(py));
                continue;
            }
            Event::String(bytes) => PyBytes::new(py, bytes).into_any(),
            // Each end event closes an open list.
            Event::End => match open.pop() {
                Some(list) => list.into_any(),
                None => continue,
            },
        };
        match open.last() {
            Some(list) => list.append(item)?,
            None => whole = Some(item),
        }
    }
    whole.ok_or_else(|| EncodeError::new_err("expected an item, found none"))
}
