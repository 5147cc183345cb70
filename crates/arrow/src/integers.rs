//! Integers of a column, whatever its array type.

use arrow_array::{Array, ArrayRef, cast::AsArray, types::*};
use arrow_schema::DataType;
use lydite_bytes::U256;

use crate::{ByteColumn, Error, Role, RowError};

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
            other => return Err(Error::NotIntegers(other.clone())),
        })
    }

    /// Returns the value of a row; `None` if it is null.
    ///
    /// # Errors
    /// [`RowError::Field`] with `role` if the value is negative, 2^256 or above, or is not a number.
    pub(crate) fn get(&self, row: usize, role: Role) -> Result<Option<U256>, RowError> {
        let array = match self {
            Self::Bytes(bytes) => {
                let Some(bytes) = bytes.get(row) else {
                    return Ok(None);
                };
                let value = U256::from_be_slice(bytes).ok_or(RowError::Field(role))?;
                return Ok(Some(value));
            }
            Self::Array(array) => array,
        };
        // The type `Null` has no bitmap.
        if array
            .logical_nulls()
            .is_some_and(|nulls| nulls.is_null(row))
        {
            return Ok(None);
        }
        macro_rules! integer {
            ($type:ty) => {
                u128::try_from(array.as_primitive::<$type>().value(row))
                    .ok()
                    .map(U256::from)
            };
        }
        let value = match array.data_type() {
            DataType::Boolean => Some(U256::from(u64::from(array.as_boolean().value(row)))),
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
                (!value.is_negative()).then(|| U256::from_be_bytes(value.to_be_bytes()))
            }
            DataType::Utf8 => array.as_string::<i32>().value(row).parse().ok(),
            DataType::LargeUtf8 => array.as_string::<i64>().value(row).parse().ok(),
            DataType::Utf8View => array.as_string_view().value(row).parse().ok(),
            _ => None,
        };
        value.ok_or(RowError::Field(role)).map(Some)
    }
}
