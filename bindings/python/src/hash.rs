//! Keccak-256 and addresses.

use lydite::{bytes::Address, hash};
use pyo3::{prelude::*, types::PyBytes};

use crate::{
    data::{Data, Items, address},
    error::{IntoPython, LyditeError},
    integer::Unsigned,
};

/// Keccak-256 of `data`: 32 bytes.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub fn keccak256<'py>(py: Python<'py>, data: Data<'_>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &hash::keccak256(&data))
}

/// Keccak-256 of each item; lets other threads run.
#[pyfunction]
#[pyo3(signature = (items, /))]
pub fn keccak256_batch<'py>(
    py: Python<'py>,
    items: Items<'py>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let data = items.data()?;
    let inputs: Vec<&[u8]> = data.iter().map(|data| &**data).collect();
    let hashes = py.detach(|| hash_all(&inputs))?;
    Ok(hashes.iter().map(|hash| PyBytes::new(py, hash)).collect())
}

/// Keccak-256 of each row of `row` bytes of one buffer: the concatenated hashes, 32 bytes per row. A NumPy array of
/// `uint8` is such a buffer, and `numpy.frombuffer(result, "u1").reshape(-1, 32)` reads the result without a copy. Lets
/// other threads run.
#[pyfunction]
#[pyo3(signature = (data, row, /))]
pub fn keccak256_rows<'py>(
    py: Python<'py>,
    data: Data<'_>,
    row: Unsigned<usize>,
) -> PyResult<Bound<'py, PyBytes>> {
    let Unsigned(row) = row;
    if row == 0 || !data.len().is_multiple_of(row) {
        let length = data.len();
        return Err(LyditeError::new_err(format!(
            "expected whole rows of {row} bytes, found {length} bytes"
        )));
    }
    let hashes = py.detach(|| hash_all(&data.chunks_exact(row).collect::<Vec<_>>()))?;
    Ok(PyBytes::new(py, hashes.as_flattened()))
}

fn hash_all(inputs: &[&[u8]]) -> PyResult<Vec<[u8; 32]>> {
    let mut hashes = vec![[0; 32]; inputs.len()];
    hash::keccak256_batch(inputs, &mut hashes).map_err(IntoPython::into_python)?;
    Ok(hashes)
}

/// An address (20 bytes, or hexadecimal text) with the EIP-55 checksum.
#[pyfunction]
#[pyo3(signature = (address, /))]
pub fn to_checksum_address(address: &Bound<'_, PyAny>) -> PyResult<String> {
    crate::data::address(address).map(|address| address.to_checksum())
}

/// The address of the contract that `sender` creates at `nonce` (CREATE): 20 bytes.
#[pyfunction]
pub fn create_address<'py>(
    sender: &Bound<'py, PyAny>,
    nonce: Unsigned<u64>,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(to_bytes(sender.py(), &address(sender)?.create(nonce.0)))
}

/// The address of a contract created with CREATE2 (EIP-1014): 20 bytes.
#[pyfunction]
pub fn create2_address<'py>(
    sender: &Bound<'py, PyAny>,
    salt: Data<'_>,
    init_code_hash: Data<'_>,
) -> PyResult<Bound<'py, PyBytes>> {
    let created =
        address(sender)?.create2(salt.array("salt")?, init_code_hash.array("init_code_hash")?);
    Ok(to_bytes(sender.py(), &created))
}

pub fn to_bytes<'py>(py: Python<'py>, address: &Address) -> Bound<'py, PyBytes> {
    PyBytes::new(py, address.as_slice())
}
