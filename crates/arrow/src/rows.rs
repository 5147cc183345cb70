//! Arrays from the results of rows.

use arrow_array::{
    ArrowPrimitiveType, FixedSizeBinaryArray, PrimitiveArray, StringArray,
    builder::{NullBufferBuilder, PrimitiveBuilder, StringBuilder},
};
use arrow_buffer::Buffer;

use crate::{ByteColumn, Error, Failure, RowError};

/// The result of a row; `None` if it is null.
pub(crate) type Row<T> = Result<Option<T>, RowError>;

/// Collects byte strings of one length. An error becomes null and a failure.
pub(crate) fn fixed<const N: usize>(
    rows: impl ExactSizeIterator<Item = Row<[u8; N]>>,
) -> (FixedSizeBinaryArray, Vec<Failure>) {
    let mut values = Vec::with_capacity(N * rows.len());
    let (mut nulls, mut failures) = (NullBufferBuilder::new(rows.len()), Vec::new());
    for (row, result) in rows.enumerate() {
        let value = result.unwrap_or_else(|error| {
            failures.push(Failure { row, error });
            None
        });
        nulls.append(value.is_some());
        values.extend_from_slice(&value.unwrap_or([0; N]));
    }
    let array = FixedSizeBinaryArray::new(N as i32, Buffer::from_vec(values), nulls.finish());
    (array, failures)
}

/// Collects numbers. An error becomes null and a failure.
pub(crate) fn numbers<T: ArrowPrimitiveType>(
    rows: impl ExactSizeIterator<Item = Row<T::Native>>,
) -> (PrimitiveArray<T>, Vec<Failure>) {
    let (mut values, mut failures) = (PrimitiveBuilder::with_capacity(rows.len()), Vec::new());
    for (row, result) in rows.enumerate() {
        let value = result.unwrap_or_else(|error| {
            failures.push(Failure { row, error });
            None
        });
        values.append_option(value);
    }
    (values.finish(), failures)
}

/// Collects texts. An error becomes null and a failure.
pub(crate) fn text<T: AsRef<str>>(
    rows: impl ExactSizeIterator<Item = Row<T>>,
) -> (StringArray, Vec<Failure>) {
    let (mut texts, mut failures) = (StringBuilder::new(), Vec::new());
    for (row, result) in rows.enumerate() {
        let value = result.unwrap_or_else(|error| {
            failures.push(Failure { row, error });
            None
        });
        texts.append_option(value);
    }
    (texts.finish(), failures)
}

/// Returns the bytes of a row, and an error if its text is not hexadecimal.
pub(crate) fn bytes(column: &ByteColumn, row: usize) -> Row<&[u8]> {
    if column.is_invalid(row) {
        return Err(RowError::Hexadecimal);
    }
    Ok(column.get(row))
}

/// Returns the bytes of a row, which must be N.
pub(crate) fn array<const N: usize>(column: &ByteColumn, row: usize) -> Row<&[u8; N]> {
    let value = bytes(column, row)?;
    let value = value.map(|bytes| {
        bytes
            .try_into()
            .map_err(|_| RowError::Length(N, bytes.len()))
    });
    value.transpose()
}

pub(crate) fn equal_lengths(one: &ByteColumn, other: &ByteColumn) -> Result<(), Error> {
    match (one.len(), other.len()) {
        (one, other) if one != other => Err(Error::Length(one, other)),
        _ => Ok(()),
    }
}
