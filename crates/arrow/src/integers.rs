//! Integers of a column, whatever its array type.

use arrow_array::{Array, ArrayRef, cast::AsArray, new_null_array, types::*};
use arrow_schema::DataType;
use arrow_select::take::take;
use lydite_bytes::U256;

use crate::{ByteColumn, Error, Role, RowError};

/// Returns the values of a dictionary's rows; another array as it is.
pub(crate) fn expand(array: &ArrayRef) -> ArrayRef {
    let Some(dictionary) = array.as_any_dictionary_opt() else {
        return array.clone();
    };
    // Fails only if a key is out of range, which the array has checked.
    let values = take(dictionary.values(), dictionary.keys(), None);
    values.unwrap_or_else(|_| new_null_array(dictionary.values().data_type(), array.len()))
}

/// A column of unsigned integers below 2^256: Arrow's integers and decimals without fraction, booleans, decimal or
/// hexadecimal text, or big-endian bytes.
#[derive(Clone, Debug)]
pub(crate) enum IntegerColumn {
    Array(ArrayRef),
    Bytes(ByteColumn),
}

impl IntegerColumn {
    pub(crate) fn try_new(array: &ArrayRef) -> Result<Self, Error> {
        Ok(match array.data_type() {
            DataType::Boolean
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::UInt64
            | DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::Decimal128(_, 0)
            | DataType::Decimal256(_, 0)
            | DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Null => Self::Array(array.clone()),
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Self::Bytes(ByteColumn::try_new(array)?),
            DataType::Dictionary(..) => return Self::try_new(&expand(array)),
            other => return Err(Error::NotIntegers(other.clone())),
        })
    }

    /// Returns the value of a row; `None` if it is null.
    ///
    /// # Errors
    /// [`RowError::Field`] with `role` if the value is negative, 2^256 or above, or is not a number.
    pub(crate) fn get(&self, row: usize, role: Role) -> Result<Option<U256>, RowError> {
        match self.number(row) {
            Some(Some((false, magnitude))) => Ok(Some(magnitude)),
            Some(None) => Ok(None),
            _ => Err(RowError::Field(role)),
        }
    }

    /// Returns the sign (whether it is negative) and the magnitude of a row. The outer `None`: it is not a number, or its
    /// magnitude is 2^256 or above; the inner one: it is null.
    pub(crate) fn number(&self, row: usize) -> Option<Option<(bool, U256)>> {
        let array = match self {
            Self::Bytes(bytes) => {
                let Some(bytes) = bytes.get(row) else {
                    return Some(None);
                };
                return Some(Some((false, U256::from_be_slice(bytes)?)));
            }
            Self::Array(array) => array,
        };
        // The type `Null` has no bitmap.
        if array
            .logical_nulls()
            .is_some_and(|nulls| nulls.is_null(row))
        {
            return Some(None);
        }
        macro_rules! integer {
            ($type:ty) => {{
                let value = i128::from(array.as_primitive::<$type>().value(row));
                (value < 0, U256::from(value.unsigned_abs()))
            }};
        }
        let number = match array.data_type() {
            DataType::Boolean => (false, U256::from(u64::from(array.as_boolean().value(row)))),
            DataType::UInt8 => integer!(UInt8Type),
            DataType::UInt16 => integer!(UInt16Type),
            DataType::UInt32 => integer!(UInt32Type),
            DataType::UInt64 => integer!(UInt64Type),
            DataType::Int8 => integer!(Int8Type),
            DataType::Int16 => integer!(Int16Type),
            DataType::Int32 => integer!(Int32Type),
            DataType::Int64 => integer!(Int64Type),
            DataType::Decimal128(..) => integer!(Decimal128Type),
            DataType::Decimal256(..) => {
                let value = array.as_primitive::<Decimal256Type>().value(row);
                let word = U256::from_be_bytes(value.to_be_bytes());
                match value.is_negative() {
                    true => (true, word.wrapping_neg()),
                    false => (false, word),
                }
            }
            DataType::Utf8 => text(array.as_string::<i32>().value(row))?,
            DataType::LargeUtf8 => text(array.as_string::<i64>().value(row))?,
            DataType::Utf8View => text(array.as_string_view().value(row))?,
            _ => return None,
        };
        Some(Some(number))
    }
}

/// The sign and the magnitude of a number in decimal or hexadecimal.
fn text(text: &str) -> Option<(bool, U256)> {
    match text.strip_prefix('-') {
        Some(magnitude) => Some((true, magnitude.parse().ok()?)),
        None => Some((false, text.parse().ok()?)),
    }
}
