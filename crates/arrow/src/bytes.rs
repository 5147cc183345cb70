//! Byte strings of a column, whatever its array type.

use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray,
    builder::{BooleanBufferBuilder, LargeBinaryBuilder},
    cast::AsArray,
};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use lydite_bytes::hex;

use crate::Error;

/// A column of byte strings.
///
/// Reads Binary, LargeBinary, BinaryView and FixedSizeBinary in place. Hexadecimal text (Utf8, LargeUtf8 and Utf8View,
/// with or without `0x`) and dictionaries are expanded once, on construction.
#[derive(Clone, Debug)]
pub struct ByteColumn {
    values: Values,
    /// Rows whose text is not hexadecimal, if there are any. Their values are null.
    invalid: Option<BooleanBuffer>,
}

#[derive(Clone, Debug)]
enum Values {
    Fixed(FixedSizeBinaryArray),
    Binary(BinaryArray),
    Large(LargeBinaryArray),
    View(BinaryViewArray),
}

impl ByteColumn {
    /// Reads an array.
    ///
    /// # Errors
    /// [`Error::NotBytes`] if the array has another type.
    pub fn try_new(array: &ArrayRef) -> Result<Self, Error> {
        let (values, invalid) = match array.data_type() {
            DataType::FixedSizeBinary(_) => {
                (Values::Fixed(array.as_fixed_size_binary().clone()), None)
            }
            DataType::Binary => (Values::Binary(array.as_binary().clone()), None),
            DataType::LargeBinary => (Values::Large(array.as_binary().clone()), None),
            DataType::BinaryView => (Values::View(array.as_binary_view().clone()), None),
            DataType::Utf8 => from_hex(array.as_string::<i32>().iter()),
            DataType::LargeUtf8 => from_hex(array.as_string::<i64>().iter()),
            DataType::Utf8View => from_hex(array.as_string_view().iter()),
            // All values are null.
            DataType::Null => {
                let nulls = std::iter::repeat_n(None::<&[u8]>, array.len());
                (Values::Large(nulls.collect()), None)
            }
            DataType::Dictionary(..) => return Self::from_dictionary(array),
            other => return Err(Error::NotBytes(other.clone())),
        };
        Ok(Self { values, invalid })
    }

    fn from_dictionary(array: &ArrayRef) -> Result<Self, Error> {
        let dictionary = array.as_any_dictionary();
        let values = Self::try_new(dictionary.values())?;
        let (keys, nulls) = (dictionary.normalized_keys(), array.nulls());
        let rows = keys.into_iter().enumerate().map(|(row, key)| {
            let valid = nulls.is_none_or(|nulls| nulls.is_valid(row));
            (valid && !values.is_empty()).then_some(key)
        });
        Ok(values.take(rows))
    }

    /// Returns the values at these positions, and null for `None`.
    ///
    /// # Panics
    /// If a row is out of range.
    pub fn take(&self, positions: impl Iterator<Item = Option<usize>> + Clone) -> Self {
        let invalid = self.invalid.is_some().then(|| {
            let positions = positions.clone();
            positions
                .map(|position| position.is_some_and(|position| self.is_invalid(position)))
                .collect()
        });
        let values = positions.map(|position| self.get(position?));
        Self {
            values: Values::Large(values.collect()),
            invalid,
        }
    }

    /// Returns the number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.values {
            Values::Fixed(array) => array.len(),
            Values::Binary(array) => array.len(),
            Values::Large(array) => array.len(),
            Values::View(array) => array.len(),
        }
    }

    /// Whether there are no rows.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a row; `None` if it is null, or if its text is not hexadecimal.
    ///
    /// # Panics
    /// If a row is out of range.
    #[inline(always)]
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        match &self.values {
            Values::Fixed(array) => array.is_valid(row).then(|| array.value(row)),
            Values::Binary(array) => array.is_valid(row).then(|| array.value(row)),
            Values::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Values::View(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }

    /// Whether the text of a row is not hexadecimal.
    ///
    /// # Panics
    /// If a row is out of range.
    #[inline]
    pub fn is_invalid(&self, row: usize) -> bool {
        self.invalid
            .as_ref()
            .is_some_and(|invalid| invalid.value(row))
    }
}

impl From<LargeBinaryArray> for ByteColumn {
    fn from(array: LargeBinaryArray) -> Self {
        Self {
            values: Values::Large(array),
            invalid: None,
        }
    }
}

fn from_hex<'a>(
    texts: impl ExactSizeIterator<Item = Option<&'a str>>,
) -> (Values, Option<BooleanBuffer>) {
    let mut invalid = BooleanBufferBuilder::new(texts.len());
    let mut values = LargeBinaryBuilder::with_capacity(texts.len(), 0);
    let (mut any_invalid, mut bytes) = (false, Vec::new());
    for text in texts {
        let decoded = text.map(|text| {
            let digits = text.strip_prefix("0x").unwrap_or(text);
            bytes.resize(digits.len() / 2, 0);
            hex::decode_to_slice(digits, &mut bytes)
        });
        any_invalid |= matches!(decoded, Some(Err(_)));
        invalid.append(matches!(decoded, Some(Err(_))));
        values.append_option(matches!(decoded, Some(Ok(()))).then_some(&bytes));
    }
    (
        Values::Large(values.finish()),
        any_invalid.then(|| invalid.finish()),
    )
}
