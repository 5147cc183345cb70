//! Arrays from the results of rows.

use arrow_array::{
    ArrowPrimitiveType, BooleanArray, FixedSizeBinaryArray, GenericByteArray, PrimitiveArray,
    builder::{NullBufferBuilder, PrimitiveBuilder},
    types::ByteArrayType,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};

use crate::{Failure, RowError};

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

/// Collects booleans. An error becomes null and a failure.
pub(crate) fn booleans(
    rows: impl ExactSizeIterator<Item = Row<bool>>,
) -> (BooleanArray, Vec<Failure>) {
    let mut failures = Vec::new();
    let values = rows.enumerate().map(|(row, result)| {
        result.unwrap_or_else(|error| {
            failures.push(Failure { row, error });
            None
        })
    });
    (values.collect(), failures)
}

/// Collects texts or byte strings, which `write` appends to those before, mostly of `length` bytes. After an error or null,
/// what was appended is removed. An error becomes null and a failure, as does a row with which the values exceed
/// 2^31 - 1 bytes.
pub(crate) fn variable<T: ByteArrayType<Offset = i32>>(
    rows: usize,
    length: usize,
    write: impl FnMut(usize, &mut Vec<u8>) -> Row<()>,
) -> (GenericByteArray<T>, Vec<Failure>) {
    limited(rows, length, i32::MAX, write)
}

/// [`variable`] with up to `limit` bytes, which is lower in tests.
fn limited<T: ByteArrayType<Offset = i32>>(
    rows: usize,
    length: usize,
    limit: i32,
    mut write: impl FnMut(usize, &mut Vec<u8>) -> Row<()>,
) -> (GenericByteArray<T>, Vec<Failure>) {
    let mut values = Vec::with_capacity(rows * length);
    let mut offsets: Vec<i32> = Vec::with_capacity(rows + 1);
    let (mut nulls, mut failures) = (NullBufferBuilder::new(rows), Vec::new());
    let mut end = 0;
    offsets.push(end);
    for row in 0..rows {
        let result =
            write(row, &mut values).and_then(|written| match i32::try_from(values.len()) {
                Ok(end) if end <= limit => Ok(written.map(|()| end)),
                _ => Err(RowError::Full),
            });
        let written = result.unwrap_or_else(|error| {
            failures.push(Failure { row, error });
            None
        });
        end = written.unwrap_or(end);
        values.truncate(end as usize);
        offsets.push(end);
        nulls.append(written.is_some());
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let array = GenericByteArray::new(offsets, Buffer::from_vec(values), nulls.finish());
    (array, failures)
}

#[cfg(test)]
mod tests {
    use arrow_array::BinaryArray;

    use super::*;

    #[test]
    fn values_up_to_the_limit() {
        let lengths = [2, 3, 1, 2, 0];
        let (array, failures): (BinaryArray, _) = limited(5, 0, 5, |row, values| {
            values.extend(vec![row as u8; lengths[row]]);
            Ok(Some(()))
        });
        let found: Vec<Option<&[u8]>> = array.iter().collect();
        let expected = [Some(&[0, 0][..]), Some(&[1, 1, 1]), None, None, Some(&[])];
        assert_eq!(found, expected);
        let error = RowError::Full;
        let full = [2, 3].map(|row| Failure {
            row,
            error: error.clone(),
        });
        assert_eq!(failures, full);
    }
}
