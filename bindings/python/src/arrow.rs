//! Arrays of any library with Arrow's PyCapsule interface: pyarrow, Polars, DuckDB, DataFusion, arro3.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, UInt64Array};
use arrow_schema::{DataType, Field, FieldRef};
use arrow_select::concat::concat;
use lydite_arrow::{
    ByteColumn, CallDecoder, CallSet, EventDecoder, EventSet, Integers, Logs, Mode, Options,
    Parameter, Uint256Format,
};
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBool, PyCapsule, PyInt, PyTuple},
};
use pyo3_arrow::{
    ffi::{to_array_pycapsules, to_schema_pycapsule},
    input::AnyArray,
};

use crate::{
    error::{IntoPython, LyditeError},
    integer,
};

/// An Arrow array, for `pyarrow.array(…)`, `polars.Series(…)` and every other consumer of `__arrow_c_array__`.
#[pyclass(frozen, module = "lydite")]
pub struct ArrowArray {
    array: ArrayRef,
    field: FieldRef,
}

impl ArrowArray {
    fn new(array: ArrayRef) -> Self {
        let field = Field::new("", array.data_type().clone(), true);
        Self {
            array,
            field: Arc::new(field),
        }
    }
}

#[pymethods]
impl ArrowArray {
    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __repr__(&self) -> String {
        let (rows, ty) = (self.array.len(), self.array.data_type());
        format!("<ArrowArray of {rows} rows, {ty}>")
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let field = self.field.clone();
        Ok(to_array_pycapsules(
            py,
            field,
            &self.array,
            requested_schema,
        )?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.field.as_ref())?)
    }
}

/// Reads formats of wide integers: "binary", "string", "decimal", "f64", or several of them with commas; and how strictly
/// encodings are checked: "strict", "lenient" or "canonical".
pub fn options(uint256: &str, mode: &str) -> PyResult<Options> {
    let formats = uint256.split(',').map(|format| match format.trim() {
        "binary" => Ok(Uint256Format::Binary),
        "string" => Ok(Uint256Format::String),
        "decimal" => Ok(Uint256Format::Decimal),
        "f64" => Ok(Uint256Format::F64),
        other => Err(LyditeError::new_err(format!(
            "uint256: expected 'binary', 'string', 'decimal' or 'f64', found '{other}'"
        ))),
    });
    let mode = match mode {
        "strict" => Mode::Strict,
        "lenient" => Mode::Lenient,
        "canonical" => Mode::Canonical,
        other => {
            return Err(LyditeError::new_err(format!(
                "mode: expected 'strict', 'lenient' or 'canonical', found '{other}'"
            )));
        }
    };
    Ok(Options {
        uint256: formats.collect::<PyResult<_>>()?,
        mode,
    })
}

pub fn events(signatures: &[String], options: &Options) -> PyResult<EventSet> {
    let decoders = signatures.iter();
    let decoders = decoders.map(|text| EventDecoder::parse(text, options));
    let decoders: Result<Vec<_>, _> = decoders.collect();
    decoders
        .and_then(EventSet::new)
        .map_err(IntoPython::into_python)
}

pub fn functions(signatures: &[String], options: &Options, results: bool) -> PyResult<CallSet> {
    let decoders = signatures.iter();
    let decoders = decoders.map(|text| CallDecoder::parse(text, options));
    let decoders: Result<Vec<_>, _> = decoders.collect();
    let functions = decoders
        .map(CallSet::new)
        .map_err(IntoPython::into_python)?;
    Ok(if results {
        functions.with_results()
    } else {
        functions
    })
}

/// Decodes the logs of an event in Arrow arrays: `ArrowEvent("Transfer(address indexed from, …)")`.
///
/// `uint256` is the format of integers of more than 64 bits: "binary" (32 bytes, big-endian), "string", "decimal" (38
/// digits, null above) or "f64". With several, separated by commas, there is a column for each. `mode` is how strictly
/// encodings are checked: "strict", "lenient" (excess bits are dropped) or "canonical".
#[pyclass(frozen, module = "lydite")]
pub struct ArrowEvent(EventDecoder);

#[pymethods]
impl ArrowEvent {
    #[new]
    #[pyo3(signature = (signature, *, uint256 = "binary", mode = "strict"))]
    fn new(signature: &str, uint256: &str, mode: &str) -> PyResult<Self> {
        let options = options(uint256, mode)?;
        let decoder = EventDecoder::parse(signature, &options);
        Ok(Self(decoder.map_err(IntoPython::into_python)?))
    }

    /// Keccak-256 of the canonical signature, the first topic of the event's logs.
    #[getter]
    fn topic(&self) -> [u8; 32] {
        self.0.codec().topic().0
    }

    /// The names of the decoded columns, in the order of the signature.
    #[getter]
    fn names(&self) -> Vec<&str> {
        let fields = self.0.fields().iter();
        fields.map(|field| field.name().as_str()).collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let fields = DataType::Struct(self.0.fields().to_vec().into());
        Ok(to_schema_pycapsule(py, Field::new("", fields, true))?)
    }

    /// Decodes logs: up to four arrays of topics and one of data, of binary values or hexadecimal text. Returns an
    /// array of structs, null where the log is not of this event (its first topic or its number of topics differs) or
    /// is invalid, and a list of the invalid rows with the reasons. Lets other threads run.
    fn decode(
        &self,
        py: Python<'_>,
        topics: Vec<Option<AnyArray>>,
        data: AnyArray,
    ) -> PyResult<(ArrowArray, Vec<(usize, String)>)> {
        if topics.len() > 4 {
            let found = topics.len();
            let text = format!("topics: expected at most 4 arrays, found {found}");
            return Err(LyditeError::new_err(text));
        }
        let data = whole(data)?;
        let mut columns = [const { None }; 4];
        for (column, topic) in columns.iter_mut().zip(topics) {
            *column = topic.map(whole).transpose()?;
        }
        let decoded = py.detach(|| {
            let mut topics = [const { None }; 4];
            for (topic, column) in topics.iter_mut().zip(&columns) {
                *topic = column.as_ref().map(ByteColumn::try_new).transpose()?;
            }
            let logs = Logs::try_new(topics, ByteColumn::try_new(&data)?)?;
            Ok(self.0.decode_all(&logs))
        });
        let (structs, failures) = decoded.map_err(lydite_arrow::Error::into_python)?;
        Ok((ArrowArray::new(Arc::new(structs)), texts(failures)))
    }
}

/// Calls a function of columns by its name in SQL, see `lydite.arrow`. Arguments are Arrow arrays, or ints that are the
/// same in all rows; `literal` is a signature or type. Lets other threads run.
#[pyfunction]
#[pyo3(signature = (name, columns, literal = "", *, null_on_error = true))]
pub fn arrow_call(
    py: Python<'_>,
    name: &str,
    columns: Vec<Column<'_>>,
    literal: &str,
    null_on_error: bool,
) -> PyResult<ArrowArray> {
    let function = lydite_arrow::functions().find(|function| function.name == name);
    let function = function.ok_or_else(|| LyditeError::new_err(format!("no function {name}")))?;
    let mut arrays: Vec<Option<ArrayRef>> = Vec::new();
    let mut numbers = Vec::new();
    for column in columns {
        match column {
            Column::Number(number) => {
                numbers.push((arrays.len(), number));
                arrays.push(None);
            }
            Column::Array(array) => arrays.push(Some(whole(array)?)),
        }
    }
    if !numbers.is_empty() {
        let count = arrays.len() + usize::from(!literal.is_empty());
        let form = function
            .form(count)
            .map_err(lydite_arrow::Error::into_python)?;
        let parameters = form.parameters(count);
        let parameters = parameters.filter(|one| !matches!(one, Parameter::Literal(_)));
        let parameters: Vec<Parameter> = parameters.collect();
        let rows = arrays.iter().flatten().map(|array| array.len()).next();
        for (at, number) in numbers {
            arrays[at] = Some(repeated(parameters[at], &number, rows.unwrap_or(1))?);
        }
    }
    let arrays: Vec<ArrayRef> = arrays.into_iter().flatten().collect();
    let result = py.detach(|| function.call(&arrays, literal));
    let (array, failures) = result.map_err(lydite_arrow::Error::into_python)?;
    if let (false, Some(failure)) = (null_on_error, failures.into_iter().next()) {
        return Err(lydite_arrow::Error::Row(failure).into_python());
    }
    Ok(ArrowArray::new(array))
}

/// An argument of a function of columns.
pub enum Column<'py> {
    Number(Bound<'py, PyInt>),
    Array(AnyArray),
}

impl<'py> FromPyObject<'_, 'py> for Column<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyInt>() {
            Ok(number) if !object.is_instance_of::<PyBool>() => Ok(Self::Number(number.to_owned())),
            _ => object.extract().map(Self::Array).map_err(|_| {
                let found = object.get_type();
                PyTypeError::new_err(format!("expected an Arrow array or an int, found {found}"))
            }),
        }
    }
}

/// A column of one number: words if the function takes bytes.
fn repeated(parameter: Parameter, number: &Bound<'_, PyInt>, rows: usize) -> PyResult<ArrayRef> {
    let out_of_range = |bits| {
        let name = parameter.name();
        LyditeError::new_err(format!(
            "{name}: expected an integer from 0 to 2^{bits} - 1"
        ))
    };
    let number = integer::unsigned(number)?;
    if let Parameter::Bytes(_) = parameter {
        let word = number.ok_or_else(|| out_of_range(256))?.to_be_bytes();
        let words = std::iter::repeat_n(Some(word), rows);
        let words = FixedSizeBinaryArray::try_from_sparse_iter_with_size(words, 32);
        return match words {
            Ok(words) => Ok(Arc::new(words)),
            Err(error) => Err(LyditeError::new_err(error.to_string())),
        };
    }
    let number = number.and_then(|number| u64::try_from(number).ok());
    let number = number.ok_or_else(|| out_of_range(64))?;
    Ok(Arc::new(UInt64Array::from_value(number, rows)))
}

/// The exact sum of the words in an Arrow array, where it is not null, as an `int`; `None` if it is out of the range of 256
/// bits. `signed` is whether the words are in two's complement. Lets other threads run.
#[pyfunction]
#[pyo3(signature = (words, /, *, signed = false))]
pub fn arrow_uint256_sum(
    py: Python<'_>,
    words: AnyArray,
    signed: bool,
) -> PyResult<Option<Bound<'_, PyAny>>> {
    let integers = if signed {
        Integers::Int256
    } else {
        Integers::Uint256
    };
    let words = whole(words)?;
    let sum = py.detach(|| {
        let sum = lydite_arrow::uint256_sum(&ByteColumn::try_new(&words)?, integers);
        sum.map_err(lydite_arrow::Error::Row)
    });
    let sum = sum.map_err(lydite_arrow::Error::into_python)?;
    let int = if signed {
        integer::from_signed
    } else {
        integer::from_unsigned
    };
    sum.map(|sum| int(py, &sum)).transpose()
}

fn texts(failures: Vec<lydite_arrow::Failure>) -> Vec<(usize, String)> {
    let failures = failures.into_iter();
    failures
        .map(|failure| (failure.row, failure.error.to_string()))
        .collect()
}

/// Returns the chunks of an array as one.
fn whole(array: AnyArray) -> PyResult<ArrayRef> {
    let chunked = array.into_chunked_array()?;
    let chunks: Vec<&dyn Array> = chunked.chunks().iter().map(AsRef::as_ref).collect();
    match chunks[..] {
        [] => Ok(arrow_array::new_empty_array(chunked.field().data_type())),
        [_] => Ok(chunked.chunks()[0].clone()),
        _ => concat(&chunks).map_err(|error| LyditeError::new_err(error.to_string())),
    }
}
