//! EIP-191 and EIP-712.

use lydite::evm::{eip191, eip712};
use pyo3::{
    intern,
    prelude::*,
    types::{PyBytes, PyDict, PyString},
};

use crate::{
    data::{Data, text},
    error::IntoPython,
};

/// The hash that `personal_sign` signs (EIP-191, version 0x45).
#[pyfunction]
#[pyo3(signature = (message, /))]
pub fn hash_message<'py>(py: Python<'py>, message: Data<'_>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &eip191::hash_message(&message).0)
}

/// The JSON text of a document: a string unchanged; anything else in the format of `json.dumps`, with bytes in
/// hexadecimal.
fn json(document: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = document.py();
    if let Ok(document) = document.cast::<PyString>() {
        return Ok(text(document)?.to_owned());
    }
    let keywords = PyDict::new(py);
    keywords.set_item("default", wrap_pyfunction!(bytes_as_hex, py)?)?;
    let text =
        py.import(intern!(py, "json"))?
            .call_method("dumps", (document,), Some(&keywords))?;
    Ok(text.cast::<PyString>()?.to_str()?.to_owned())
}

#[pyfunction]
fn bytes_as_hex(object: Data<'_>) -> String {
    lydite::bytes::hex::encode_prefixed(&*object)
}

/// The hash to sign for a typed data document (EIP-712), like `eth_signTypedData_v4`: JSON text, or the equivalent
/// dict.
#[pyfunction]
#[pyo3(signature = (document, /))]
pub fn hash_typed_data<'py>(document: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let data = eip712::TypedData::from_json(&json(document)?).map_err(IntoPython::into_python)?;
    Ok(PyBytes::new(document.py(), &data.signing_hash().0))
}

/// A typed data document, parsed and hashed once.
#[pyclass(frozen, module = "lydite")]
pub struct TypedData(eip712::TypedData);

#[pymethods]
impl TypedData {
    #[new]
    fn new(document: &Bound<'_, PyAny>) -> PyResult<Self> {
        eip712::TypedData::from_json(&json(document)?)
            .map(Self)
            .map_err(IntoPython::into_python)
    }

    /// The hash to sign.
    #[getter]
    fn signing_hash<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.signing_hash().0)
    }

    /// `domainSeparator`.
    #[getter]
    fn domain_separator<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.domain_separator().0)
    }

    /// `hashStruct(message)`.
    #[getter]
    fn struct_hash<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.hash_struct().0)
    }

    /// `encodeType` of the primary type.
    #[getter]
    fn encode_type(&self) -> String {
        self.0.encode_type()
    }
}
