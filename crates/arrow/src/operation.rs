//! What a [`Job`](crate::Job) does with the columns of a batch.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, FixedSizeBinaryArray, RecordBatch, cast::AsArray as _};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use lydite_bytes::hex::encode_prefixed;

use crate::{
    ByteColumn, CallSet, ColumnMap, Decoded, Error, EventSet, Failure, Logs, Role, Selected,
    TransactionColumns, column::unused_name, error::merged, hashes, senders,
};

/// One of the outputs of a [`Transform`](crate::Transform).
#[derive(Clone, Debug)]
pub struct TransformOutput {
    /// Name of the event or function; `senders` for senders.
    pub name: String,
    /// Appended to the name if another output has the same: the first bytes of the topic and the number of indexed
    /// parameters, or the selector.
    pub suffix: String,
    /// The kept and the decoded columns.
    pub schema: SchemaRef,
}

/// The columns of an operation.
pub(crate) trait OutputColumns {
    /// Returns the columns to read.
    fn columns(&self, schema: &Schema, map: &ColumnMap) -> Result<Vec<usize>, Error>;

    /// Returns the outputs, with the decoded columns only.
    fn outputs(&self) -> Vec<TransformOutput>;
}

/// An operation on batches, with one or more outputs.
pub(crate) trait Operation {
    /// The columns of a batch that are decoded.
    type Input;

    fn read(&self, batch: &RecordBatch, map: &ColumnMap) -> Result<Self::Input, Error>;

    fn select(&self, input: &Self::Input) -> Selected;

    /// Decodes the selected rows for an output.
    fn decode(&self, input: &Self::Input, output: usize, rows: &[usize]) -> Decoded;

    /// Returns rows whose decoded values differ from a column, with a text, except those that could not be decoded.
    fn differences(
        &self,
        _input: &Self::Input,
        _rows: &[usize],
        _decoded: &Decoded,
    ) -> Vec<(usize, String)> {
        Vec::new()
    }
}

impl OutputColumns for EventSet {
    fn columns(&self, schema: &Schema, map: &ColumnMap) -> Result<Vec<usize>, Error> {
        Logs::columns(schema, map)
    }

    fn outputs(&self) -> Vec<TransformOutput> {
        let outputs = self.decoders().iter().map(|decoder| {
            let event = decoder.codec();
            let topics = event.signature().inputs.iter();
            let topics = topics.filter(|input| input.indexed).count();
            let [a, b, c, d, ..] = event.topic().0;
            TransformOutput {
                name: event.signature().name.clone(),
                suffix: format!("_{:08x}_{topics}", u32::from_be_bytes([a, b, c, d])),
                schema: Arc::new(Schema::new(decoder.fields().to_vec())),
            }
        });
        outputs.collect()
    }
}

impl Operation for EventSet {
    type Input = Logs;

    fn read(&self, batch: &RecordBatch, map: &ColumnMap) -> Result<Logs, Error> {
        Logs::from_batch(batch, map)
    }

    fn select(&self, logs: &Logs) -> Selected {
        self.select(logs)
    }

    fn decode(&self, logs: &Logs, output: usize, rows: &[usize]) -> Decoded {
        self.decoders()[output].decode(logs, rows)
    }
}

/// The data of calls, and what they returned if that is decoded.
pub(crate) struct Calls {
    input: ByteColumn,
    output: Option<ByteColumn>,
}

impl OutputColumns for CallSet {
    fn columns(&self, schema: &Schema, map: &ColumnMap) -> Result<Vec<usize>, Error> {
        let mut columns = vec![required(schema, Role::Input, map)?];
        if self.has_results() {
            columns.push(required(schema, Role::Output, map)?);
        }
        Ok(columns)
    }

    fn outputs(&self) -> Vec<TransformOutput> {
        let outputs = self.decoders().iter().map(|decoder| {
            let mut fields = decoder.fields().to_vec();
            if self.has_results() {
                for field in decoder.result_fields() {
                    let name = unused_name(&fields, field.name().clone());
                    fields.push(Arc::new(Field::clone(field).with_name(name)));
                }
            }
            TransformOutput {
                name: decoder.codec().signature().name.clone(),
                suffix: format!("_{:08x}", u32::from_be_bytes(decoder.codec().selector())),
                schema: Arc::new(Schema::new(fields)),
            }
        });
        outputs.collect()
    }
}

impl Operation for CallSet {
    type Input = Calls;

    fn read(&self, batch: &RecordBatch, map: &ColumnMap) -> Result<Calls, Error> {
        let output = self.has_results();
        let output = output.then(|| bytes(batch, Role::Output, map));
        Ok(Calls {
            input: bytes(batch, Role::Input, map)?,
            output: output.transpose()?,
        })
    }

    fn select(&self, calls: &Calls) -> Selected {
        Selected {
            rows: self.select(&calls.input),
            unreadable: calls.input.invalid_failures(),
            ..Selected::default()
        }
    }

    fn decode(&self, calls: &Calls, output: usize, rows: &[usize]) -> Decoded {
        let decoder = &self.decoders()[output];
        let mut decoded = decoder.decode(&calls.input, rows);
        if let Some(output) = &calls.output {
            let results = decoder.decode_results(output, rows, &decoded.failures);
            decoded.columns.extend(results.columns);
            decoded.failures = merged(decoded.failures, results.failures);
            decoded.overflows = merged(decoded.overflows, results.overflows);
            decoded.overflows.dedup();
        }
        decoded
    }
}

/// What is written and checked for senders.
#[derive(Clone, Copy, Debug, Default)]
pub struct SendersOptions {
    /// Also writes the column `hash`, the hash of each transaction.
    pub hash: bool,
    /// Compares each sender with the column of the role [`From`](Role::From). Without a transaction it is null.
    pub check: bool,
}

pub(crate) struct Transactions {
    raw: ByteColumn,
    /// Transactions that could not be rebuilt from their fields, and are null.
    failures: Vec<Failure>,
    from: Option<ByteColumn>,
}

impl OutputColumns for SendersOptions {
    fn columns(&self, schema: &Schema, map: &ColumnMap) -> Result<Vec<usize>, Error> {
        let mut columns = match map.find(schema, Role::Raw)? {
            Some(raw) => vec![raw],
            None if map.find(schema, Role::R)?.is_some() => {
                TransactionColumns::columns(schema, map)?
            }
            None => return Err(Error::MissingRole(Role::Raw)),
        };
        if self.check {
            columns.push(required(schema, Role::From, map)?);
        }
        Ok(columns)
    }

    fn outputs(&self) -> Vec<TransformOutput> {
        let field = |name, width| Field::new(name, DataType::FixedSizeBinary(width), true);
        let mut fields = vec![field("sender", 20)];
        if self.hash {
            fields.push(field("hash", 32));
        }
        vec![TransformOutput {
            name: "senders".into(),
            suffix: String::new(),
            schema: Arc::new(Schema::new(fields)),
        }]
    }
}

impl Operation for SendersOptions {
    type Input = Transactions;

    fn read(&self, batch: &RecordBatch, map: &ColumnMap) -> Result<Transactions, Error> {
        let from = self.check.then(|| bytes(batch, Role::From, map));
        let (raw, failures) = match map.find(batch.schema_ref(), Role::Raw)? {
            Some(raw) => (ByteColumn::try_new(batch.column(raw))?, Vec::new()),
            None => TransactionColumns::from_batch(batch, map)?.rebuild(),
        };
        Ok(Transactions {
            raw,
            failures,
            from: from.transpose()?,
        })
    }

    fn select(&self, transactions: &Transactions) -> Selected {
        Selected {
            rows: vec![(0..transactions.raw.len()).collect()],
            ..Selected::default()
        }
    }

    fn decode(&self, transactions: &Transactions, _: usize, rows: &[usize]) -> Decoded {
        // The rows are all rows, except when invalid ones are dropped.
        let selected;
        let raw = if rows.len() == transactions.raw.len() {
            &transactions.raw
        } else {
            selected = transactions.raw.take(rows.iter().copied().map(Some));
            &selected
        };
        let (addresses, mut failures) = senders(raw);
        for failure in &mut failures {
            failure.row = rows[failure.row];
        }
        let rebuilding = transactions.failures.iter();
        let rebuilding = rebuilding.filter(|failure| rows.binary_search(&failure.row).is_ok());
        let failures = merged(failures, rebuilding.cloned().collect());
        let mut columns: Vec<ArrayRef> = vec![Arc::new(addresses.clone())];
        if self.hash {
            // Null with the sender, also if only the signature is invalid.
            let (width, values, _) = hashes(raw).0.into_parts();
            let hashes = FixedSizeBinaryArray::new(width, values, addresses.nulls().cloned());
            columns.push(Arc::new(hashes));
        }
        Decoded {
            columns,
            failures,
            ..Decoded::default()
        }
    }

    fn differences(
        &self,
        transactions: &Transactions,
        rows: &[usize],
        decoded: &Decoded,
    ) -> Vec<(usize, String)> {
        let (Some(from), [senders, ..]) = (&transactions.from, &decoded.columns[..]) else {
            return Vec::new();
        };
        let senders = senders.as_fixed_size_binary();
        let failures = &decoded.failures;
        let mut differences = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let expected = from.get(*row);
            let found = senders.is_valid(i).then(|| senders.value(i));
            let has_failed = || failures.binary_search_by_key(row, |failure| failure.row);
            if expected != found && has_failed().is_err() {
                let text = |address: Option<&[u8]>| address.map_or("null".into(), encode_prefixed);
                let (expected, found) = (text(expected), text(found));
                differences.push((*row, format!("expected sender {expected}, found {found}")));
            }
        }
        differences
    }
}

fn required(schema: &Schema, role: Role, map: &ColumnMap) -> Result<usize, Error> {
    map.find(schema, role)?.ok_or(Error::MissingRole(role))
}

fn bytes(batch: &RecordBatch, role: Role, map: &ColumnMap) -> Result<ByteColumn, Error> {
    ByteColumn::try_new(batch.column(required(batch.schema_ref(), role, map)?))
}
