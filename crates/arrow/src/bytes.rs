//! Byte strings of a column, whatever its array type.

use arrow_array::{
    Array, ArrayAccessor, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray,
    GenericBinaryArray, LargeBinaryArray, OffsetSizeTrait, builder::NullBufferBuilder,
    cast::AsArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use lydite_bytes::hex;

use crate::rows::{Row, variable};
use crate::{Error, Failure, RowError};

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
            DataType::Utf8 => {
                let texts = array.as_string::<i32>();
                let offsets = texts.value_offsets();
                from_hex(texts.iter(), (offsets[texts.len()] - offsets[0]) as usize)
            }
            DataType::LargeUtf8 => {
                let texts = array.as_string::<i64>();
                let offsets = texts.value_offsets();
                from_hex(texts.iter(), (offsets[texts.len()] - offsets[0]) as usize)
            }
            DataType::Utf8View => {
                let texts = array.as_string_view();
                from_hex(texts.iter(), texts.iter().flatten().map(str::len).sum())
            }
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

    /// Returns the values as an array, without a copy if they are in one of this type. A row whose text is not hexadecimal,
    /// or with which the values exceed 2^31 - 1 bytes, is null and a failure.
    pub fn to_binary(&self) -> (BinaryArray, Vec<Failure>) {
        match &self.values {
            Values::Binary(array) => (array.clone(), self.invalid_failures()),
            _ => variable(self.len(), 0, |row, values| {
                let value = self.try_get(row)?;
                Ok(value.map(|value| values.extend_from_slice(value)))
            }),
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

impl ByteColumn {
    /// Calls a function with each row that is not null, and its value. Checks the array type once.
    #[inline]
    pub(crate) fn for_each<'a>(&'a self, mut call: impl FnMut(usize, &'a [u8])) {
        macro_rules! each {
            ($array:expr) => {
                match $array.nulls() {
                    None => (0..$array.len()).for_each(|row| call(row, $array.value(row))),
                    Some(nulls) => nulls
                        .valid_indices()
                        .for_each(|row| call(row, $array.value(row))),
                }
            };
        }
        match &self.values {
            Values::Fixed(array) => each!(array),
            Values::Binary(array) => each!(array),
            Values::Large(array) => each!(array),
            Values::View(array) => each!(array),
        }
    }

    /// Calls a function with the value of each of these rows, `None` as in [`get`](Self::get), and collects the results.
    /// Checks the array type once.
    ///
    /// # Panics
    /// If a row is out of range.
    #[inline]
    pub(crate) fn map<'a, T>(
        &'a self,
        rows: &[usize],
        call: impl Fn(Option<&'a [u8]>) -> T,
    ) -> Vec<T> {
        match &self.values {
            Values::Fixed(array) => map(array, rows, call),
            Values::Binary(array) => map(array, rows, call),
            Values::Large(array) => map(array, rows, call),
            Values::View(array) => map(array, rows, call),
        }
    }

    /// Returns the value of a row, and an error if its text is not hexadecimal.
    pub(crate) fn try_get(&self, row: usize) -> Row<&[u8]> {
        if self.is_invalid(row) {
            return Err(RowError::Hexadecimal);
        }
        Ok(self.get(row))
    }

    /// Returns the value of a row, which must have N bytes.
    pub(crate) fn try_array<const N: usize>(&self, row: usize) -> Row<&[u8; N]> {
        let value = self.try_get(row)?;
        let value = value.map(|bytes| {
            bytes
                .try_into()
                .map_err(|_| RowError::Length(N, bytes.len()))
        });
        value.transpose()
    }

    /// Checks that another column has the same number of rows.
    pub(crate) fn check_length(&self, other: &Self) -> Result<(), Error> {
        match (self.len(), other.len()) {
            (one, other) if one != other => Err(Error::Length(one, other)),
            _ => Ok(()),
        }
    }

    /// Whether the text of any row is not hexadecimal.
    pub(crate) fn has_invalid(&self) -> bool {
        self.invalid.is_some()
    }

    /// The rows whose text is not hexadecimal.
    pub(crate) fn invalid_rows(&self) -> impl Iterator<Item = usize> {
        let invalid = self.invalid.iter();
        invalid.flat_map(|rows| rows.set_indices())
    }

    /// The rows whose text is not hexadecimal, as failures.
    pub(crate) fn invalid_failures(&self) -> Vec<Failure> {
        let error = RowError::Hexadecimal;
        let failures = self.invalid_rows().map(|row| Failure {
            row,
            error: error.clone(),
        });
        failures.collect()
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

/// [`ByteColumn::map`] of one array type.
#[inline]
fn map<'a, T>(
    array: impl ArrayAccessor<Item = &'a [u8]>,
    rows: &[usize],
    call: impl Fn(Option<&'a [u8]>) -> T,
) -> Vec<T> {
    let rows = rows.iter().copied();
    match array.nulls() {
        None => rows.map(|row| call(Some(array.value(row)))).collect(),
        Some(nulls) => rows
            .map(|row| call(nulls.is_valid(row).then(|| array.value(row))))
            .collect(),
    }
}

/// The values of hexadecimal text of this many characters, and which rows are not hexadecimal, if any.
fn from_hex<'a>(
    texts: impl ExactSizeIterator<Item = Option<&'a str>>,
    characters: usize,
) -> (Values, Option<BooleanBuffer>) {
    if i32::try_from(characters / 2).is_ok() {
        let (values, invalid) = decode(texts, characters / 2);
        (Values::Binary(values), invalid)
    } else {
        let (values, invalid) = decode(texts, characters / 2);
        (Values::Large(values), invalid)
    }
}

/// [`from_hex`] of texts with `capacity` bytes or fewer, for which the offsets suffice.
fn decode<'a, O: OffsetSizeTrait>(
    texts: impl ExactSizeIterator<Item = Option<&'a str>>,
    capacity: usize,
) -> (GenericBinaryArray<O>, Option<BooleanBuffer>) {
    let rows = texts.len();
    let (mut values, mut offsets) = (Vec::with_capacity(capacity), Vec::with_capacity(rows + 1));
    let (mut nulls, mut invalid) = (NullBufferBuilder::new(rows), Vec::new());
    offsets.push(O::usize_as(0));
    for (row, text) in texts.enumerate() {
        let start = values.len();
        let decoded = text.map(|text| {
            let digits = text.strip_prefix("0x").unwrap_or(text);
            values.resize(start + digits.len() / 2, 0);
            hex::decode_to_slice(digits, &mut values[start..])
        });
        if let Some(Err(_)) = decoded {
            values.truncate(start);
            invalid.push(row);
        }
        offsets.push(O::usize_as(values.len()));
        nulls.append(matches!(decoded, Some(Ok(()))));
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let array = GenericBinaryArray::new(offsets, Buffer::from_vec(values), nulls.finish());
    let invalid = (!invalid.is_empty()).then(|| {
        let mut bits = vec![false; rows];
        invalid.iter().for_each(|row| bits[*row] = true);
        bits.into()
    });
    (array, invalid)
}
