//! Python's integers as 256-bit words, two's complement where they are signed.

use lydite::{bytes::U256, ocapn::syrup::Integer};
use pyo3::{
    exceptions::PyTypeError,
    intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyBool, PyBytes, PyInt},
};

/// The value of a non-negative `int` below 2^256, or `None` if it is out of this range.
pub fn unsigned(object: &Bound<'_, PyAny>) -> PyResult<Option<U256>> {
    word(object, false)
}

/// The two's complement of an `int` from -2^255 to 2^255 - 1, or `None` if it is out of this range.
pub fn signed(object: &Bound<'_, PyAny>) -> PyResult<Option<U256>> {
    word(object, true)
}

fn word(object: &Bound<'_, PyAny>, signed: bool) -> PyResult<Option<U256>> {
    let py = object.py();
    // True and False are ints to Python; where a number is wanted they are a mistake.
    if !object.is_instance_of::<PyInt>() || object.is_instance_of::<PyBool>() {
        let found = object.get_type();
        return Err(PyTypeError::new_err(format!(
            "an int is needed, not {found}"
        )));
    }
    let bits: u64 = object.call_method0(intern!(py, "bit_length"))?.extract()?;
    if bits < 64 {
        let small: i64 = object.extract()?;
        if !signed && small < 0 {
            return Ok(None);
        }
        let limbs = [small as u64, 0, 0, 0];
        let extension = if small < 0 { u64::MAX } else { 0 };
        return Ok(Some(U256::from_limbs([
            limbs[0], extension, extension, extension,
        ])));
    }
    // The words out of range that are left: 257 bits and more, a negative number, a signed one of 256 bits.
    if bits > 256 || (!signed && object.lt(0)?) || (signed && !fits_signed(object, bits)?) {
        return Ok(None);
    }
    let keywords = pyo3::types::PyDict::new(py);
    if signed {
        keywords.set_item(intern!(py, "signed"), true)?;
    }
    let bytes = object.call_method(
        intern!(py, "to_bytes"),
        (32, intern!(py, "big")),
        Some(&keywords),
    )?;
    let bytes: &[u8] = bytes.cast::<PyBytes>()?.as_bytes();
    Ok(<&[u8; 32]>::try_from(bytes)
        .ok()
        .map(|bytes| U256::from_be_bytes(*bytes)))
}

/// -2^255 has 256 bits and fits; no other number of 256 bits does.
fn fits_signed(object: &Bound<'_, PyAny>, bits: u64) -> PyResult<bool> {
    Ok(bits < 256
        || (object.lt(0)?
            && object
                .add(1)?
                .call_method0("bit_length")?
                .extract::<u64>()?
                < 256))
}

/// `int.from_bytes`, looked up once.
fn from_bytes(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static FROM_BYTES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FROM_BYTES
        .get_or_try_init(py, || {
            Ok(py.get_type::<PyInt>().getattr("from_bytes")?.unbind())
        })
        .map(|found| found.bind(py))
}

/// The `int` of an unsigned word.
pub fn from_unsigned<'py>(py: Python<'py>, value: &U256) -> PyResult<Bound<'py, PyAny>> {
    match *value.limbs() {
        [low, 0, 0, 0] => Ok(low.into_pyobject(py)?.into_any()),
        _ => from_bytes(py)?.call1((PyBytes::new(py, &value.to_be_bytes()), intern!(py, "big"))),
    }
}

/// The `int` of a word in two's complement.
pub fn from_signed<'py>(py: Python<'py>, value: &U256) -> PyResult<Bound<'py, PyAny>> {
    let [low, a, b, c] = *value.limbs();
    let sign = ((low as i64) >> 63) as u64;
    if [a, b, c] == [sign; 3] {
        return Ok((low as i64).into_pyobject(py)?.into_any());
    }
    let unsigned = from_unsigned(py, value)?;
    if c >> 63 == 0 {
        return Ok(unsigned);
    }
    let modulus = 1u8.into_pyobject(py)?.lshift(256)?;
    unsigned.sub(modulus)
}

/// An `int` of any size.
pub fn any_size(object: &Bound<'_, PyAny>) -> PyResult<Integer> {
    let py = object.py();
    if let Ok(small) = object.extract::<i64>() {
        return Ok(small.into());
    }
    let magnitude = object.call_method0(intern!(py, "__abs__"))?;
    let bits: u64 = magnitude
        .call_method0(intern!(py, "bit_length"))?
        .extract()?;
    let bytes = magnitude.call_method1(
        intern!(py, "to_bytes"),
        (bits.div_ceil(64) * 8, intern!(py, "little")),
    )?;
    let (words, _) = bytes.cast::<PyBytes>()?.as_bytes().as_chunks::<8>();
    let limbs: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    Ok(Integer::from_sign_magnitude(object.lt(0)?, &limbs))
}

/// The `int` of an integer of any size.
pub fn from_any_size<'py>(py: Python<'py>, value: &Integer) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(small) = i64::try_from(value) {
        return Ok(small.into_pyobject(py)?.into_any());
    }
    let limbs = value.magnitude();
    let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    let magnitude = from_bytes(py)?.call1((PyBytes::new(py, &bytes), intern!(py, "little")))?;
    if value.is_negative() {
        magnitude.neg()
    } else {
        Ok(magnitude)
    }
}
