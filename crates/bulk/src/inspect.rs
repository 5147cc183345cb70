//! What a file contains and what can be done with it.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use lydite_arrow::{ByteColumn, ColumnMap, Logs, Role, TransactionColumns};

use crate::{
    Error,
    error::ErrorKind,
    guard::guard,
    input::{Input, Limits},
};

/// What [`inspect`] found in a file.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The file.
    pub file: PathBuf,
    /// Its columns.
    pub schema: SchemaRef,
    /// Number of rows; `None` for Arrow files, which do not store it.
    pub rows: Option<u64>,
    /// The recognised columns: role and name.
    pub roles: Vec<(Role, String)>,
    /// Whether [`decode_logs`](crate::decode_logs) can read it.
    pub logs: bool,
    /// Whether [`decode_calls`](crate::decode_calls) can read it.
    pub calls: bool,
    /// Whether [`senders`](crate::senders) can read it.
    pub transactions: bool,
    /// The most frequent first topics or selectors in the first segment, with their number of rows.
    pub frequent: Vec<(Vec<u8>, u64)>,
}

/// Number of entries in [`Inspection::frequent`].
const FREQUENT: usize = 10;

/// Reads the columns of a file, and the first topics or selectors of its first segment.
///
/// # Errors
/// [`Error`], with the file.
pub fn inspect(file: &Path, map: &ColumnMap) -> Result<Inspection, Error> {
    let inspection = guard(|| inspect_input(Input::open(file)?, map));
    inspection.map_err(Error::at(file))
}

fn inspect_input(input: Input, map: &ColumnMap) -> Result<Inspection, ErrorKind> {
    let (schema, rows, file) = (input.schema.clone(), input.rows(), input.path.clone());
    let schema = &schema;
    let mut roles = Vec::new();
    for role in Role::ALL {
        if let Some(index) = map.find(schema, role)? {
            roles.push((role, schema.field(index).name().clone()));
        }
    }
    // Columns with the right names may have the wrong types.
    let empty = RecordBatch::new_empty(schema.clone());
    let is_bytes = |index: &usize| ByteColumn::try_new(empty.column(*index)).is_ok();
    let log_columns = Logs::columns(schema, map).ok();
    let logs = Logs::from_batch(&empty, map).is_ok();
    // A file with topics has the data of logs, not of calls.
    let call_column = match &log_columns {
        None => map.find(schema, Role::Input)?.filter(is_bytes),
        Some(_) => None,
    };
    let mut counts: HashMap<Vec<u8>, u64> = HashMap::new();
    let columns = log_columns.filter(|_| logs);
    let columns = columns.or(call_column.map(|index| vec![index]));
    if let Some(mut columns) = columns {
        columns.sort_unstable();
        let limits = Limits::new(None);
        let views = columns.clone();
        let (source, mut cursor) = input.read_columns(columns, &views, None)?;
        let segment = cursor.next(&source, &limits)?;
        let batches = segment
            .map(|segment| source.read(segment, &limits, None))
            .transpose()?;
        if let Some(mut batches) = batches {
            while let Some(batch) = batches.next()? {
                let mut count = |key: Option<&[u8]>| {
                    if let Some(key) = key {
                        *counts.entry(key.into()).or_default() += 1;
                    }
                };
                if logs {
                    let logs = Logs::from_batch(&batch, map)?;
                    (0..logs.len()).for_each(|row| count(logs.topic(0, row)));
                } else {
                    let data = ByteColumn::try_new(batch.column(0))?;
                    let selector = |row| data.get(row).and_then(|data| data.get(..4));
                    (0..data.len()).for_each(|row| count(selector(row)));
                }
            }
        }
    }
    let mut frequent: Vec<(Vec<u8>, u64)> = counts.into_iter().collect();
    frequent.sort_by(|(a, m), (b, n)| n.cmp(m).then(a.cmp(b)));
    frequent.truncate(FREQUENT);
    Ok(Inspection {
        rows,
        logs,
        calls: call_column.is_some(),
        transactions: match map.find(schema, Role::Raw)? {
            Some(raw) => is_bytes(&raw),
            None => TransactionColumns::from_batch(&empty, map).is_ok(),
        },
        roles,
        frequent,
        schema: schema.clone(),
        file,
    })
}
