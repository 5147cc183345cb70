//! Conversions between Python integers and 256-bit words, in two's complement for signed types.

use lydite::{bytes::U256, ocapn::syrup::Integer};
use pyo3::{
    exceptions::{PyOverflowError, PyTypeError},
    intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyBool, PyBytes, PyInt},
};

use crate::error::{EncodeError, LyditeError};

/// Maximum number of 64-bit words of a converted integer, here and in JavaScript: 65 536 bits.
pub const MAX_LIMBS: usize = 1024;

/// The value of a non-negative `int` below 2^256, or `None` if it is out of range.
pub fn unsigned(object: &Bound<'_, PyAny>) -> PyResult<Option<U256>> {
    word(object, false)
}

/// The two's complement of an `int` from -2^255 to 2^255 - 1, or `None` if it is out of range.
pub fn signed(object: &Bound<'_, PyAny>) -> PyResult<Option<U256>> {
    word(object, true)
}

/// A non-negative `int` argument that fits a type of at most 64 bits. True and False are not numbers here.
pub struct Unsigned<T>(pub T);

impl<T: TryFrom<u64>> FromPyObject<'_, '_> for Unsigned<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        if object.is_instance_of::<PyBool>() {
            return Err(not_an_int(&object));
        }
        let value = match object.extract::<u64>() {
            Ok(value) => T::try_from(value).ok(),
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => None,
            Err(_) => return Err(not_an_int(&object)),
        };
        value.map(Self).ok_or_else(|| {
            let bits = 8 * size_of::<T>();
            LyditeError::new_err(format!("expected an integer from 0 to 2^{bits} - 1"))
        })
    }
}

#[cold]
fn not_an_int(object: &Bound<'_, PyAny>) -> PyErr {
    let found = object.get_type();
    PyTypeError::new_err(format!("expected an int, found {found}"))
}

fn word(object: &Bound<'_, PyAny>, signed: bool) -> PyResult<Option<U256>> {
    let py = object.py();
    // True and False are ints in Python; passing one as a number is a mistake.
    if !object.is_instance_of::<PyInt>() || object.is_instance_of::<PyBool>() {
        return Err(not_an_int(object));
    }
    if object.lt(power_of_two(&TWO_TO_63, py, 63)?)? {
        if let Ok(small) = object.extract::<i64>() {
            let extension = (small >> 63) as u64;
            let word = U256::from_limbs([small as u64, extension, extension, extension]);
            return Ok((signed || small >= 0).then_some(word));
        }
        if !signed {
            return Ok(None);
        }
        // The value is below -2^63. One below -2^256 stays negative after the addition, and is rejected.
        let complement = object.add(power_of_two(&TWO_TO_256, py, 256)?)?;
        return Ok(unsigned_word(&complement)?.filter(is_negative));
    }
    Ok(unsigned_word(object)?.filter(|word| !(signed && is_negative(word))))
}

/// Whether a word in two's complement is in the range of a signed type.
pub fn fits_int(word: U256, bits: u16) -> bool {
    let magnitude = if is_negative(&word) { !word } else { word };
    magnitude.bit_len() < bits.into()
}

fn is_negative(word: &U256) -> bool {
    word.limbs()[3] >> 63 == 1
}

static TWO_TO_63: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static TWO_TO_256: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

fn power_of_two<'py>(
    cell: &'static PyOnceLock<Py<PyAny>>,
    py: Python<'py>,
    exponent: u32,
) -> PyResult<&'py Bound<'py, PyAny>> {
    cell.get_or_try_init(py, || {
        Ok(1_u8.into_pyobject(py)?.lshift(exponent)?.unbind())
    })
    .map(|found| found.bind(py))
}

/// The 32 bytes of an `int`, or `None` if it is negative or has more than 256 bits.
fn unsigned_word(object: &Bound<'_, PyAny>) -> PyResult<Option<U256>> {
    static TO_BYTES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    match method(&TO_BYTES, py, "to_bytes")?.call1((object, 32)) {
        Ok(bytes) => {
            let bytes: &[u8] = bytes.cast::<PyBytes>()?.as_bytes();
            let bytes: Option<&[u8; 32]> = bytes.try_into().ok();
            Ok(bytes.map(|bytes| U256::from_be_bytes(*bytes)))
        }
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A method of `int`, looked up only once.
fn method<'py>(
    cell: &'static PyOnceLock<Py<PyAny>>,
    py: Python<'py>,
    name: &str,
) -> PyResult<&'py Bound<'py, PyAny>> {
    cell.get_or_try_init(py, || Ok(py.get_type::<PyInt>().getattr(name)?.unbind()))
        .map(|found| found.bind(py))
}

/// `int.from_bytes`.
fn from_bytes(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static FROM_BYTES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    method(&FROM_BYTES, py, "from_bytes")
}

/// The `int` of an unsigned word.
pub fn from_unsigned<'py>(py: Python<'py>, value: &U256) -> PyResult<Bound<'py, PyAny>> {
    match *value.limbs() {
        [low, 0, 0, 0] => Ok(low.into_pyobject(py)?.into_any()),
        _ => {
            // Python processes all bytes one by one, including leading zeros.
            let bytes = &value.to_be_bytes()[32 - value.byte_len()..];
            from_bytes(py)?.call1((PyBytes::new(py, bytes),))
        }
    }
}

/// The `int` of a two's complement word.
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
    unsigned.sub(power_of_two(&TWO_TO_256, py, 256)?)
}

/// An `int` of at most 65 536 bits, since conversion to decimal takes quadratic time.
pub fn any_size(object: &Bound<'_, PyAny>) -> PyResult<Integer> {
    let py = object.py();
    if let Ok(small) = object.extract::<i64>() {
        return Ok(small.into());
    }
    let magnitude = object.call_method0(intern!(py, "__abs__"))?;
    let bits: u64 = magnitude
        .call_method0(intern!(py, "bit_length"))?
        .extract()?;
    if bits > 64 * MAX_LIMBS as u64 {
        return Err(EncodeError::new_err(format!(
            "expected an integer of at most 65536 bits, found {bits}"
        )));
    }
    let bytes = magnitude.call_method1(
        intern!(py, "to_bytes"),
        (bits.div_ceil(64) * 8, intern!(py, "little")),
    )?;
    let (words, _) = bytes.cast::<PyBytes>()?.as_bytes().as_chunks::<8>();
    let limbs: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    Ok(Integer::from_sign_magnitude(object.lt(0)?, &limbs))
}

/// The `int` with this magnitude, least significant limb first.
pub fn from_any_size<'py>(
    py: Python<'py>,
    value: &Integer,
    limbs: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(small) = i64::try_from(value) {
        return Ok(small.into_pyobject(py)?.into_any());
    }
    let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    let magnitude = from_bytes(py)?.call1((PyBytes::new(py, &bytes), intern!(py, "little")))?;
    if value.is_negative() {
        magnitude.neg()
    } else {
        Ok(magnitude)
    }
}
