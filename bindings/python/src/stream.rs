//! Record batches in, record batches out, of any library with Arrow's PyCapsule interface.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arrow_array::{ArrayRef, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use lydite_arrow::{
    ColumnMap, Job, Keep, OnError, SendersOptions, Transform, TransformOptions, Transformed,
};
use pyo3::{
    prelude::*,
    types::{PyCapsule, PyDict},
};
use pyo3_arrow::{
    ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule},
    input::AnyRecordBatch,
};

use crate::{
    arrow,
    error::{IntoPython, LyditeError},
};

/// Number of rows in `report["first_failures"]`.
const FIRST_FAILURES: usize = 10;

/// Names of columns by role.
pub type Columns = BTreeMap<String, String>;

#[derive(FromPyObject)]
pub enum KeepArgument {
    Word(String),
    Names(Vec<String>),
}

pub fn transform_options(
    on_error: &str,
    keep: Option<KeepArgument>,
    prefix: &str,
    columns: Option<Columns>,
) -> PyResult<TransformOptions> {
    let mut map = ColumnMap::default();
    for (role, column) in columns.unwrap_or_default() {
        let one: Result<ColumnMap, String> = format!("{role}={column}").parse();
        let one = one.map_err(|error| LyditeError::new_err(format!("columns: {error}")))?;
        map.0.extend(one.0);
    }
    Ok(TransformOptions {
        on_error: match on_error {
            "null" => OnError::Null,
            "drop" => OnError::Drop,
            "fail" => OnError::Fail,
            other => {
                return Err(LyditeError::new_err(format!(
                    "on_error: expected 'null', 'drop' or 'fail', found '{other}'"
                )));
            }
        },
        keep: match keep {
            None => Keep::Identity,
            Some(KeepArgument::Names(names)) => Keep::Named(names),
            Some(KeepArgument::Word(word)) if word == "all" => Keep::All,
            Some(KeepArgument::Word(word)) if word == "none" => Keep::Named(Vec::new()),
            Some(KeepArgument::Word(word)) => {
                return Err(LyditeError::new_err(format!(
                    "keep: expected 'all', 'none' or a list of names, found '{word}'"
                )));
            }
        },
        prefix: prefix.into(),
        map,
    })
}

/// A stream of record batches, for `pyarrow.RecordBatchReader.from_stream(…)`, `polars.from_arrow(…)`, DuckDB and every
/// other consumer of `__arrow_c_stream__`. It can be read once. Batches are read from the source as they are needed.
#[pyclass(frozen, module = "lydite")]
pub struct ArrowStream {
    schema: SchemaRef,
    reader: Mutex<Option<Box<dyn RecordBatchReader + Send>>>,
    transform: Arc<Transform>,
    report: Arc<Mutex<Report>>,
}

/// Counts of the batches read so far.
#[derive(Default)]
struct Report {
    rows: usize,
    selected: usize,
    other_layout: usize,
    failures: BTreeMap<String, usize>,
    first_failures: Vec<(usize, String)>,
    overflows: usize,
    different: usize,
}

impl Report {
    fn add(&mut self, rows: usize, batch: &Transformed) {
        self.selected += batch.selected;
        self.other_layout += batch.other_layout;
        self.overflows += batch.overflows.len();
        self.different += batch.differences.len();
        for failure in &batch.failures {
            *self.failures.entry(failure.error.reason()).or_default() += 1;
        }
        let failures = batch.failures.iter().chain(&batch.overflows);
        let failures = failures.map(|failure| (failure.row, failure.error.to_string()));
        let first = failures.chain(batch.differences.iter().cloned());
        let missing = FIRST_FAILURES - self.first_failures.len();
        let before = self.rows;
        let first = first.take(missing).map(|(row, text)| (before + row, text));
        self.first_failures.extend(first);
        self.rows += rows;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn transform(source: AnyRecordBatch, job: Job, options: TransformOptions) -> PyResult<ArrowStream> {
    let reader = source.into_reader()?;
    let transform = Transform::new(job, &reader.schema(), options);
    let transform = transform.map_err(IntoPython::into_python)?;
    Ok(ArrowStream {
        schema: transform.outputs()[0].schema.clone(),
        reader: Mutex::new(Some(reader)),
        transform: Arc::new(transform),
        report: Arc::default(),
    })
}

#[pymethods]
impl ArrowStream {
    /// Counts of the rows read so far: `rows`, `selected`, `other_layout`, `failures` by reason, `first_failures` as
    /// pairs of row and reason, `overflows`, `different`.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = lock(&self.report);
        let dict = PyDict::new(py);
        dict.set_item("rows", report.rows)?;
        dict.set_item("selected", report.selected)?;
        dict.set_item("other_layout", report.other_layout)?;
        dict.set_item("failures", &report.failures)?;
        dict.set_item("first_failures", &report.first_failures)?;
        dict.set_item("overflows", report.overflows)?;
        dict.set_item("different", report.different)?;
        Ok(dict)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let reader = lock(&self.reader).take();
        let reader = reader.ok_or_else(|| LyditeError::new_err("the stream has been read"))?;
        let (transform, report) = (self.transform.clone(), self.report.clone());
        let batches = reader.filter_map(move |batch| {
            let transformed = batch.and_then(|batch| {
                let transformed = transform.apply(&batch).map_err(|error| match error {
                    lydite_arrow::Error::Row(mut failure) => {
                        failure.row += lock(&report).rows;
                        lydite_arrow::Error::Row(failure)
                    }
                    error => error,
                });
                let transformed = transformed
                    .map_err(|error| ArrowError::InvalidArgumentError(error.to_string()))?;
                lock(&report).add(batch.num_rows(), &transformed);
                Ok(transformed)
            });
            match transformed {
                Ok(transformed) => {
                    let batch = transformed.batches.into_iter().next().flatten()?;
                    Some(Ok(Arc::new(StructArray::from(batch)) as ArrayRef))
                }
                Err(error) => Some(Err(error)),
            }
        });
        let reader = Box::new(ArrayIterator::new(batches, Arc::new(self.field())));
        Ok(to_stream_pycapsule(py, reader, requested_schema)?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.field())?)
    }
}

impl ArrowStream {
    fn field(&self) -> Field {
        Field::new("", DataType::Struct(self.schema.fields().clone()), false)
    }
}

/// Decodes the logs of an event in a stream of record batches: any table, data frame, batch or reader with Arrow's
/// PyCapsule interface. Returns a stream of the kept columns and the decoded ones; logs of other events are left out.
///
/// `keep` is "all", "none" or a list of columns to copy, by default those that identify a log. `columns` gives the names
/// of columns by role, such as {"topic0": "first_topic"}; usual names are known. A log that is invalid is null
/// (`on_error="null"`), left out ("drop"), or an error ("fail"). `uint256` is the format of integers of more than 64 bits,
/// `mode` how strictly encodings are checked ("strict", "lenient", "canonical").
#[pyfunction]
#[pyo3(signature = (source, event, *, uint256 = "binary", mode = "strict", on_error = "null", keep = None, prefix = "", columns = None))]
#[allow(clippy::too_many_arguments)]
pub fn decode_logs(
    source: AnyRecordBatch,
    event: String,
    uint256: &str,
    mode: &str,
    on_error: &str,
    keep: Option<KeepArgument>,
    prefix: &str,
    columns: Option<Columns>,
) -> PyResult<ArrowStream> {
    let events = arrow::events(&[event], &arrow::options(uint256, mode)?)?;
    let options = transform_options(on_error, keep, prefix, columns)?;
    transform(source, Job::Logs(events), options)
}

/// Decodes the calls of a function in a stream of record batches. With `results=True`, also what they returned, in a column
/// `output`, to columns `output_…`. The other arguments are those of `decode_logs`.
#[pyfunction]
#[pyo3(signature = (source, function, *, uint256 = "binary", mode = "strict", results = false, on_error = "null", keep = None, prefix = "", columns = None))]
#[allow(clippy::too_many_arguments)]
pub fn decode_calls(
    source: AnyRecordBatch,
    function: String,
    uint256: &str,
    mode: &str,
    results: bool,
    on_error: &str,
    keep: Option<KeepArgument>,
    prefix: &str,
    columns: Option<Columns>,
) -> PyResult<ArrowStream> {
    let functions = arrow::functions(&[function], &arrow::options(uint256, mode)?, results)?;
    let options = transform_options(on_error, keep, prefix, columns)?;
    transform(source, Job::Calls(functions), options)
}

/// Recovers the senders of the signed transactions in a stream of record batches, to the column `sender`, and with
/// `hash=True` their hashes. Without a column of signed transactions they are rebuilt from their fields. With
/// `check=True`, `report["different"]` counts the senders that differ from the column `from`. The other arguments are
/// those of `decode_logs`.
#[pyfunction]
#[pyo3(signature = (source, *, hash = false, check = false, on_error = "null", keep = None, prefix = "", columns = None))]
pub fn recover_senders(
    source: AnyRecordBatch,
    hash: bool,
    check: bool,
    on_error: &str,
    keep: Option<KeepArgument>,
    prefix: &str,
    columns: Option<Columns>,
) -> PyResult<ArrowStream> {
    let options = transform_options(on_error, keep, prefix, columns)?;
    transform(
        source,
        Job::Senders(SendersOptions { hash, check }),
        options,
    )
}
