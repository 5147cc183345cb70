//! What is done with each batch of rows.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, FixedSizeBinaryArray, RecordBatch, cast::AsArray as _};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use lydite_arrow::{
    ByteColumn, CallSet, ColumnMap, Decoded, Error, EventSet, Failure, Role, Selected,
    TransactionColumns, hashes, senders,
};

use crate::SendersOptions;

/// An operation on batches, with one or more output files.
pub(crate) trait Job: Sync {
    /// The columns of a batch that are decoded.
    type Input;

    /// Returns the columns to read.
    fn columns(&self, schema: &Schema, map: &ColumnMap) -> Result<Vec<usize>, Error>;

    fn outputs(&self) -> Vec<OutputFile<'_>>;

    fn read(&self, batch: &RecordBatch, map: &ColumnMap) -> Result<Self::Input, Error>;

    fn select(&self, input: &Self::Input) -> Selected;

    /// Decodes the selected rows for an output file.
    fn decode(&self, input: &Self::Input, output: usize, rows: &[usize]) -> Decoded;

    /// Returns rows whose decoded values differ from a column, with a text.
    fn differences(
        &self,
        _input: &Self::Input,
        _rows: &[usize],
        _decoded: &Decoded,
    ) -> Vec<(usize, String)> {
        Vec::new()
    }
}

/// An output file.
pub(crate) struct OutputFile<'a> {
    /// Name without extension, where there are several files.
    pub(crate) name: &'a str,
    /// Appended to the name if another file has the same.
    pub(crate) suffix: String,
    /// The decoded columns.
    pub(crate) fields: Vec<FieldRef>,
}

/// Decoding of logs.
pub(crate) struct Logs<'a>(pub(crate) &'a EventSet);

impl Job for Logs<'_> {
    type Input = lydite_arrow::Logs;

    fn columns(&self, schema: &Schema, map: &ColumnMap) -> Result<Vec<usize>, Error> {
        lydite_arrow::Logs::columns(schema, map)
    }

    fn outputs(&self) -> Vec<OutputFile<'_>> {
        let decoders = self.0.decoders().iter();
        let outputs = decoders.map(|decoder| {
            let topics = decoder.codec().signature().inputs.iter();
            let topics = topics.filter(|input| input.indexed).count();
            let [a, b, c, d, ..] = decoder.codec().topic().0;
            OutputFile {
                name: &decoder.codec().signature().name,
                suffix: format!("_{:08x}_{topics}", u32::from_be_bytes([a, b, c, d])),
                fields: decoder.fields().to_vec(),
            }
        });
        outputs.collect()
    }

    fn read(&self, batch: &RecordBatch, map: &ColumnMap) -> Result<Self::Input, Error> {
        lydite_arrow::Logs::from_batch(batch, map)
    }

    fn select(&self, logs: &Self::Input) -> Selected {
        self.0.select(logs)
    }

    fn decode(&self, logs: &Self::Input, output: usize, rows: &[usize]) -> Decoded {
        self.0.decoders()[output].decode(logs, rows)
    }
}

/// Decoding of calls.
pub(crate) struct Calls<'a>(pub(crate) &'a CallSet);

impl Job for Calls<'_> {
    type Input = ByteColumn;

    fn columns(&self, schema: &Schema, map: &ColumnMap) -> Result<Vec<usize>, Error> {
        required(schema, Role::Input, map).map(|index| vec![index])
    }

    fn outputs(&self) -> Vec<OutputFile<'_>> {
        let decoders = self.0.decoders().iter();
        let outputs = decoders.map(|decoder| OutputFile {
            name: &decoder.codec().signature().name,
            suffix: format!("_{:08x}", u32::from_be_bytes(decoder.codec().selector())),
            fields: decoder.fields().to_vec(),
        });
        outputs.collect()
    }

    fn read(&self, batch: &RecordBatch, map: &ColumnMap) -> Result<ByteColumn, Error> {
        bytes(batch, Role::Input, map)
    }

    fn select(&self, data: &ByteColumn) -> Selected {
        Selected {
            rows: self.0.select(data),
            other_layout: 0,
        }
    }

    fn decode(&self, data: &ByteColumn, output: usize, rows: &[usize]) -> Decoded {
        self.0.decoders()[output].decode(data, rows)
    }
}

/// Recovery of senders.
pub(crate) struct Senders(pub(crate) SendersOptions);

pub(crate) struct Transactions {
    raw: ByteColumn,
    /// Transactions that could not be rebuilt from their fields, and are null.
    failures: Vec<Failure>,
    from: Option<ByteColumn>,
}

impl Job for Senders {
    type Input = Transactions;

    fn columns(&self, schema: &Schema, map: &ColumnMap) -> Result<Vec<usize>, Error> {
        let mut columns = match map.find(schema, Role::Raw)? {
            Some(raw) => vec![raw],
            None if map.find(schema, Role::R)?.is_some() => {
                TransactionColumns::columns(schema, map)?
            }
            None => return Err(Error::MissingRole(Role::Raw)),
        };
        if self.0.check {
            columns.push(required(schema, Role::From, map)?);
        }
        Ok(columns)
    }

    fn outputs(&self) -> Vec<OutputFile<'_>> {
        let field = |name, width| Field::new(name, DataType::FixedSizeBinary(width), true).into();
        let mut fields = vec![field("sender", 20)];
        if self.0.hash {
            fields.push(field("hash", 32));
        }
        let name = "senders";
        vec![OutputFile {
            name,
            suffix: String::new(),
            fields,
        }]
    }

    fn read(&self, batch: &RecordBatch, map: &ColumnMap) -> Result<Transactions, Error> {
        let from = self.0.check.then(|| bytes(batch, Role::From, map));
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
            other_layout: 0,
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
        failures.extend(
            rebuilding
                .filter(|failure| rows.binary_search(&failure.row).is_ok())
                .cloned(),
        );
        failures.sort_by_key(|failure| failure.row);
        let mut columns: Vec<ArrayRef> = vec![Arc::new(addresses.clone())];
        if self.0.hash {
            // Null with the sender, also if only the signature is invalid.
            let (width, values, _) = hashes(raw).0.into_parts();
            let hashes = FixedSizeBinaryArray::new(width, values, addresses.nulls().cloned());
            columns.push(Arc::new(hashes));
        }
        Decoded { columns, failures }
    }

    fn differences(
        &self,
        transactions: &Transactions,
        rows: &[usize],
        decoded: &Decoded,
    ) -> Vec<(usize, String)> {
        let Some(from) = &transactions.from else {
            return Vec::new();
        };
        let senders = decoded.columns[0].as_fixed_size_binary();
        let mut differences = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let sender = senders.is_valid(i).then(|| senders.value(i));
            if let Some(sender) = sender
                && from.get(*row) != Some(sender)
            {
                let expected = from.get(*row).map_or("null".into(), hex);
                let found = hex(sender);
                differences.push((*row, format!("expected sender {expected}, found {found}")));
            }
        }
        differences
    }
}

fn hex(bytes: &[u8]) -> String {
    lydite_bytes::hex::encode_prefixed(bytes)
}

fn required(schema: &Schema, role: Role, map: &ColumnMap) -> Result<usize, Error> {
    map.find(schema, role)?.ok_or(Error::MissingRole(role))
}

fn bytes(batch: &RecordBatch, role: Role, map: &ColumnMap) -> Result<ByteColumn, Error> {
    ByteColumn::try_new(batch.column(required(batch.schema_ref(), role, map)?))
}
