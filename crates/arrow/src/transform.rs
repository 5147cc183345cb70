//! One record batch in, one record batch out: the same operation for files, streams and distributed engines.

use std::{collections::BTreeSet, sync::Arc};

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{Field, FieldRef, Schema, SchemaRef};
use arrow_select::take::take;

use crate::{
    ByteColumn, CallSet, ColumnMap, Decoded, Error, EventSet, Failure, Role, Selected,
    SendersOptions, TransformOutput,
    operation::{Operation, OutputColumns},
    views::compact_views,
};

/// What [`Transform`] does with the rows of a batch.
#[derive(Clone, Debug)]
pub enum Job {
    /// Decodes the logs of events. Rows with another first topic or number of topics are left out.
    Logs(EventSet),
    /// Decodes the calls of functions, and with [`CallSet::with_results`] what they returned. Rows with another selector are
    /// left out.
    Calls(CallSet),
    /// Recovers the sender of each signed transaction, to the column `sender`. Without a column of signed transactions,
    /// they are rebuilt from their fields, see [`TransactionColumns`](crate::TransactionColumns).
    Senders(SendersOptions),
}

/// How [`Transform`] combines columns of the input with the decoded ones.
#[derive(Clone, Debug, Default)]
pub struct TransformOptions {
    /// What happens to rows that cannot be decoded.
    pub on_error: OnError,
    /// Columns of the input to copy.
    pub keep: Keep,
    /// Prefix of the names of decoded columns, so that they differ from the kept ones.
    pub prefix: String,
    /// Columns with unusual names.
    pub map: ColumnMap,
}

/// What happens to a row that cannot be decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// All its decoded columns are null.
    #[default]
    Null,
    /// It is not in the output.
    Drop,
    /// The batch fails, also for [`Decoded::overflows`].
    Fail,
}

/// Columns of the input to copy to the output, before the decoded ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Those that identify a row, if present: [`Role::IDENTITY`], except a column `hash` for senders with
    /// [`SendersOptions::hash`], which replaces it.
    #[default]
    Identity,
    /// All.
    All,
    /// Those with these names, each once.
    Named(Vec<String>),
}

/// An operation on record batches. It has one output per event or function, and one for senders.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{RecordBatch, StringArray, UInt64Array};
/// use lydite_arrow::{EventDecoder, EventSet, Job, Options, Transform, TransformOptions};
///
/// let decoder = EventDecoder::parse("event Deposit(uint256 amount)", &Options::default())?;
/// let topics = vec![decoder.codec().topic().to_string(), format!("0x{:064x}", 1)];
/// let batch = RecordBatch::try_from_iter([
///     ("block_number", Arc::new(UInt64Array::from(vec![7, 8])) as _),
///     ("topic0", Arc::new(StringArray::from(topics)) as _),
///     ("data", Arc::new(StringArray::from(vec![format!("0x{:064x}", 5); 2])) as _),
/// ])?;
///
/// let job = Job::Logs(EventSet::new([decoder])?);
/// let transform = Transform::new(job, batch.schema_ref(), TransformOptions::default())?;
/// let transformed = transform.apply(&batch)?;
/// let deposits = transformed.batches[0].as_ref().expect("one row");
/// assert_eq!((deposits.num_rows(), transformed.failures.len()), (1, 0));
/// assert_eq!(deposits.schema().field(1).name(), "amount");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Transform {
    job: Job,
    options: TransformOptions,
    /// Number of kept columns, which are the first ones of each output.
    kept: usize,
    outputs: Vec<TransformOutput>,
}

/// The columns of an input that a [`Transform`] reads, by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnsRead {
    /// Columns copied, in the order of the output.
    pub kept: Vec<usize>,
    /// Columns decoded. A column may also be kept.
    pub decoded: Vec<usize>,
}

/// The result of a batch.
#[derive(Clone, Debug, Default)]
pub struct Transformed {
    /// The rows of each output; `None` if there are none.
    pub batches: Vec<Option<RecordBatch>>,
    /// Number of rows that are logs of one of the events, calls of one of the functions, or transactions.
    pub selected: usize,
    /// Number of logs with the first topic of an event but another number of topics.
    pub other_layout: usize,
    /// The rows that could not be decoded: first those in no output, because the text of their first topic or of their
    /// call is not hexadecimal, then the others in the order of the outputs.
    pub failures: Vec<Failure>,
    /// The other rows in which a value is null, see [`Decoded::overflows`].
    pub overflows: Vec<Failure>,
    /// For senders with a check: rows whose sender differs from the column, with a text.
    pub differences: Vec<(usize, String)>,
}

impl Transform {
    /// Prepares an operation on batches with the columns of `input`. Other batches may have the columns in another order,
    /// and those that are decoded in another type.
    ///
    /// # Errors
    /// [`Error::MissingRole`], [`Error::MissingColumn`], [`Error::MissingKept`]; [`Error::NameTaken`] if a column to keep
    /// has the name of a decoded one.
    pub fn new(job: Job, input: &Schema, options: TransformOptions) -> Result<Self, Error> {
        let mut transform = Self {
            job,
            options,
            kept: 0,
            outputs: Vec::new(),
        };
        let ColumnsRead { kept, .. } = transform.find(input)?;
        transform.kept = kept.len();
        // Nullable, because other batches may contain nulls, and without the metadata of the input.
        let kept = kept
            .iter()
            .map(|index| input.field(*index).clone().with_nullable(true));
        let kept: Vec<FieldRef> = kept.map(Arc::new).collect();
        let outputs = transform.operation().outputs().into_iter();
        let outputs = outputs.map(|columns| output(&kept, columns, &transform.options.prefix));
        transform.outputs = outputs.collect::<Result<_, _>>()?;
        Ok(transform)
    }

    /// Returns the outputs.
    pub fn outputs(&self) -> &[TransformOutput] {
        &self.outputs
    }

    /// Returns the operation.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Returns the options.
    pub fn options(&self) -> &TransformOptions {
        &self.options
    }

    /// Finds the columns that are read in batches of this schema.
    ///
    /// # Errors
    /// Those of [`new`](Self::new); [`Error::KeptDiffer`] if the kept columns have other names or types than those of the
    /// outputs.
    pub fn columns(&self, schema: &Schema) -> Result<ColumnsRead, Error> {
        let columns = self.find(schema)?;
        let found: Vec<&FieldRef> = columns
            .kept
            .iter()
            .map(|index| &schema.fields()[*index])
            .collect();
        let Some(first) = self.outputs.first() else {
            return Ok(columns);
        };
        let expected = &first.schema.fields()[..self.kept];
        let same = |(a, b): (&FieldRef, &&FieldRef)| {
            a.name() == b.name() && a.data_type() == b.data_type()
        };
        if expected.len() != found.len() || !expected.iter().zip(&found).all(same) {
            let expected = names_and_types(expected.iter());
            let found = names_and_types(found.into_iter());
            return Err(Error::KeptDiffer { expected, found });
        }
        Ok(columns)
    }

    /// Returns the column by which a reader can leave out rows before it reads the others: the first topics, if all events
    /// have one. See [`filter`](Self::filter).
    ///
    /// # Errors
    /// [`Error::MissingColumn`].
    pub fn filter_column(&self, schema: &Schema) -> Result<Option<usize>, Error> {
        match &self.job {
            Job::Logs(events) if !events.has_anonymous() => {
                self.options.map.find(schema, Role::Topic0)
            }
            _ => Ok(None),
        }
    }

    /// Returns which rows may be logs of an event, by the column of first topics. [`apply`](Self::apply) leaves out the
    /// others.
    ///
    /// # Errors
    /// [`Error::NotBytes`] if the column has another type.
    pub fn filter(&self, topics: &ArrayRef) -> Result<BooleanArray, Error> {
        let topics = ByteColumn::try_new(topics)?;
        let has_event = |row| match &self.job {
            Job::Logs(events) => match topics.get(row) {
                Some(topic) => events.has_topic(topic),
                // Reported by `apply`.
                None => topics.is_invalid(row),
            },
            _ => true,
        };
        Ok(BooleanArray::new(
            BooleanBuffer::collect_bool(topics.len(), has_event),
            None,
        ))
    }

    /// Decodes the rows of a batch.
    ///
    /// # Errors
    /// Those of [`columns`](Self::columns); [`Error::NotBytes`], [`Error::NotIntegers`], [`Error::NotList`] if a column
    /// has another type; [`Error::Row`] for [`OnError::Fail`].
    pub fn apply(&self, batch: &RecordBatch) -> Result<Transformed, Error> {
        let ColumnsRead { kept, .. } = self.columns(batch.schema_ref())?;
        let kept: Vec<&ArrayRef> = kept.iter().map(|index| batch.column(*index)).collect();
        match &self.job {
            Job::Logs(events) => self.apply_operation(events, batch, &kept),
            Job::Calls(functions) => self.apply_operation(functions, batch, &kept),
            Job::Senders(options) => self.apply_operation(options, batch, &kept),
        }
    }

    fn apply_operation<O: Operation>(
        &self,
        operation: &O,
        batch: &RecordBatch,
        kept: &[&ArrayRef],
    ) -> Result<Transformed, Error> {
        let input = operation.read(batch, &self.options.map)?;
        let Selected {
            rows,
            other_layout,
            unreadable,
        } = operation.select(&input);
        if let (OnError::Fail, Some(failure)) = (self.options.on_error, unreadable.first()) {
            return Err(Error::Row(failure.clone()));
        }
        let mut transformed = Transformed {
            other_layout,
            failures: unreadable,
            ..Transformed::default()
        };
        for (index, (output, mut rows)) in self.outputs.iter().zip(rows).enumerate() {
            transformed.selected += rows.len();
            let mut decoded = Decoded::default();
            if !rows.is_empty() {
                decoded = operation.decode(&input, index, &rows);
            }
            let failures = decoded.failures.clone();
            match self.options.on_error {
                OnError::Fail => {
                    if let Some(failure) = failures.first().or(decoded.overflows.first()) {
                        return Err(Error::Row(failure.clone()));
                    }
                }
                OnError::Drop if !failures.is_empty() => {
                    let failed: BTreeSet<usize> =
                        failures.iter().map(|failure| failure.row).collect();
                    rows.retain(|row| !failed.contains(row));
                    decoded = operation.decode(&input, index, &rows);
                }
                _ => {}
            }
            transformed.failures.extend(failures);
            transformed.overflows.append(&mut decoded.overflows);
            let differences = operation.differences(&input, &rows, &decoded);
            transformed.differences.extend(differences);
            let batch = match rows.len() {
                0 => None,
                _ => Some(assemble(
                    kept,
                    batch.num_rows(),
                    &output.schema,
                    &rows,
                    decoded,
                )?),
            };
            transformed.batches.push(batch);
        }
        Ok(transformed)
    }

    /// Finds the columns, without comparing the kept ones with the outputs.
    fn find(&self, schema: &Schema) -> Result<ColumnsRead, Error> {
        let map = &self.options.map;
        let mut kept: Vec<usize> = match &self.options.keep {
            Keep::All => (0..schema.fields().len()).collect(),
            Keep::Identity => {
                // Written in place of the one of the input.
                let hash = match &self.job {
                    Job::Senders(senders) if senders.hash => {
                        Some(format!("{}hash", self.options.prefix))
                    }
                    _ => None,
                };
                let mut kept = Vec::new();
                for role in Role::IDENTITY {
                    let column = map.find(schema, role)?;
                    let is_kept =
                        |column: &usize| hash.as_ref() != Some(schema.field(*column).name());
                    kept.extend(column.filter(is_kept));
                }
                kept
            }
            Keep::Named(names) => {
                let find = |name: &String| {
                    let mut fields = schema.fields().iter();
                    let position = fields.position(|field| field.name() == name);
                    position.ok_or_else(|| Error::MissingKept(name.clone()))
                };
                names.iter().map(find).collect::<Result<_, _>>()?
            }
        };
        // A column is copied once, also if it is named twice or has two roles.
        let mut distinct = BTreeSet::new();
        kept.retain(|index| distinct.insert(*index));
        let decoded = self.operation().columns(schema, map)?;
        Ok(ColumnsRead { kept, decoded })
    }

    fn operation(&self) -> &dyn OutputColumns {
        match &self.job {
            Job::Logs(events) => events,
            Job::Calls(functions) => functions,
            Job::Senders(options) => options,
        }
    }
}

fn names_and_types<'a>(fields: impl Iterator<Item = &'a FieldRef>) -> String {
    let fields = fields.map(|field| format!("{}: {}", field.name(), field.data_type()));
    fields.collect::<Vec<_>>().join(", ")
}

/// Returns an output with the kept and the decoded columns.
fn output(
    kept: &[FieldRef],
    mut output: TransformOutput,
    prefix: &str,
) -> Result<TransformOutput, Error> {
    let mut fields = kept.to_vec();
    for field in output.schema.fields() {
        let name = format!("{prefix}{}", field.name());
        if kept.iter().any(|kept| *kept.name() == name) {
            return Err(Error::NameTaken(name));
        }
        fields.push(Arc::new(Field::clone(field).with_name(name)));
    }
    output.schema = Arc::new(Schema::new(fields));
    Ok(output)
}

/// Returns the kept and the decoded columns of the selected rows.
fn assemble(
    kept: &[&ArrayRef],
    batch_rows: usize,
    schema: &SchemaRef,
    rows: &[usize],
    decoded: Decoded,
) -> Result<RecordBatch, Error> {
    let arrow = |error: arrow_schema::ArrowError| Error::Arrow(error.to_string());
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
    if rows.len() == batch_rows {
        columns.extend(kept.iter().map(|column| ArrayRef::clone(column)));
    } else {
        let positions = rows.iter().map(|row| *row as u32);
        let positions: UInt32Array = positions.collect::<Vec<_>>().into();
        for column in kept {
            let taken = take(column, &positions, None).map_err(arrow)?;
            columns.push(compact_views(&taken));
        }
    }
    columns.extend(decoded.columns);
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(arrow)
}
