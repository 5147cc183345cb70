//! Byte strings: Dune's functions `varbinary_…`.

use arrow_array::{ArrayRef, BinaryArray, BooleanArray, Int64Array, types::Int64Type};

use crate::integers::IntegerColumn;
use crate::{ByteColumn, Error, Failure, RowError, rows, uint256::decimal};

/// Returns the bytes from a position on, which starts at 1, or at -1 from the end; with lengths, at most that many. Positions
/// outside give no bytes. If one argument is null, so is the result; a length below 0, and a number beyond 64 bits, become
/// null and are failures.
///
/// # Errors
/// [`Error::NotIntegers`] for positions or lengths of another type, [`Error::Length`] if the columns differ in length.
pub fn substring(
    bytes: &ByteColumn,
    starts: &ArrayRef,
    lengths: Option<&ArrayRef>,
) -> Result<(BinaryArray, Vec<Failure>), Error> {
    for column in std::iter::once(starts).chain(lengths) {
        if column.len() != bytes.len() {
            return Err(Error::Length(bytes.len(), column.len()));
        }
    }
    let starts = IntegerColumn::try_new(starts)?;
    let lengths = lengths.map(IntegerColumn::try_new).transpose()?;
    Ok(rows::variable(bytes.len(), 0, |row, values| {
        let (value, start) = (bytes.try_get(row)?, integer(&starts, row)?);
        let length = match &lengths {
            Some(lengths) => integer(lengths, row)?,
            None => Some(i64::MAX),
        };
        let (Some(value), Some(start), Some(length)) = (value, start, length) else {
            return Ok(None);
        };
        let length = usize::try_from(length).map_err(|_| RowError::Integer("a length from 0"))?;
        let magnitude = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
        let first = match start {
            1.. => Some(magnitude - 1),
            0 => None,
            _ => value.len().checked_sub(magnitude),
        };
        let rest = first.and_then(|first| value.get(first..)).unwrap_or(&[]);
        values.extend_from_slice(&rest[..length.min(rest.len())]);
        Ok(Some(()))
    }))
}

/// Returns the bytes without the zeros at the start. A null stays null.
pub fn trim_zeros(bytes: &ByteColumn) -> (BinaryArray, Vec<Failure>) {
    rows::variable(bytes.len(), 0, |row, values| {
        let value = bytes.try_get(row)?;
        Ok(value.map(|value| {
            let zeros = value.iter().take_while(|byte| **byte == 0).count();
            values.extend_from_slice(&value[zeros..]);
        }))
    })
}

/// Returns the bytes of one column followed by those of the other. If one of them is null, so is the result.
///
/// # Errors
/// [`Error::Length`] if the columns differ in length.
pub fn concat_bytes(
    left: &ByteColumn,
    right: &ByteColumn,
) -> Result<(BinaryArray, Vec<Failure>), Error> {
    left.check_length(right)?;
    Ok(rows::variable(left.len(), 0, |row, values| {
        let (left, right) = (left.try_get(row)?, right.try_get(row)?);
        Ok(left.zip(right).map(|(left, right)| {
            values.extend_from_slice(left);
            values.extend_from_slice(right);
        }))
    }))
}

/// Returns whether the bytes of one column start with those of the other. If one of them is null, so is the result.
///
/// # Errors
/// [`Error::Length`] if the columns differ in length.
pub fn starts_with(
    bytes: &ByteColumn,
    prefixes: &ByteColumn,
) -> Result<(BooleanArray, Vec<Failure>), Error> {
    bytes.check_length(prefixes)?;
    Ok(rows::booleans((0..bytes.len()).map(|row| {
        let (bytes, prefix) = (bytes.try_get(row)?, prefixes.try_get(row)?);
        let both = bytes.zip(prefix);
        Ok(both.map(|(bytes, prefix)| bytes.starts_with(prefix)))
    })))
}

/// Returns the number of bytes. A null stays null.
pub fn byte_lengths(bytes: &ByteColumn) -> (Int64Array, Vec<Failure>) {
    rows::numbers::<Int64Type>((0..bytes.len()).map(|row| {
        let value = bytes.try_get(row)?;
        Ok(value.map(|value| value.len() as i64))
    }))
}

/// Returns the integer of a row.
fn integer(column: &IntegerColumn, row: usize) -> rows::Row<i64> {
    let range = || RowError::Integer("an integer from -2^63 to 2^63 - 1");
    let number = column.number(row).ok_or_else(range)?;
    let number = number.map(|(negative, magnitude)| {
        let magnitude = decimal(magnitude, false).ok_or_else(range)?;
        let number = if negative { -magnitude } else { magnitude };
        i64::try_from(number).map_err(|_| range())
    });
    number.transpose()
}
