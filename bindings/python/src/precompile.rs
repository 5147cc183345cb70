//! The EVM's precompiled contracts.

use lydite::evm::precompile::{Fork, Precompile};
use pyo3::{prelude::*, types::PyBytes};

use crate::{
    data::Data,
    error::{IntoPython, LyditeError},
    integer::Unsigned,
};

/// Runs the precompiled contract at `number` (1 to 17, or 0x100) on `input` with a gas limit: `(output, gas used)`.
/// Raises PrecompileError if the call fails. Lets other threads run.
#[pyfunction]
#[pyo3(signature = (number, input, gas_limit, *, fork = "osaka"))]
pub fn precompile<'py>(
    py: Python<'py>,
    number: Unsigned<u16>,
    input: Data<'_>,
    gas_limit: Unsigned<u64>,
    fork: &str,
) -> PyResult<(Bound<'py, PyBytes>, u64)> {
    let fork: Fork = fork
        .parse()
        .map_err(|error| LyditeError::new_err(format!("{error}")))?;
    let not_active = lydite::evm::precompile::Error::NotActive;
    let found = Precompile::at(number.0, fork).ok_or_else(|| not_active.into_python())?;
    let mut output = Vec::new();
    let gas_used = py
        .detach(|| found.run(&input, gas_limit.0, fork, &mut output))
        .map_err(IntoPython::into_python)?;
    Ok((PyBytes::new(py, &output), gas_used))
}
