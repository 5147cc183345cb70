//! Columns of decoded values, by Solidity type.
//!
//! | Solidity | Arrow |
//! |---|---|
//! | `bool` | Boolean |
//! | `uintN`, `intN`, N ≤ 64 | the smallest UInt or Int type that holds N bits |
//! | `uintN`, `intN`, N > 64 | as [`Uint256Format`] specifies |
//! | `address` | FixedSizeBinary(20) |
//! | `bytesN` | FixedSizeBinary(N) |
//! | `function` | FixedSizeBinary(24) |
//! | `bytes` | Binary |
//! | `string` | Utf8 |
//! | `T[]`, `T[n]` | List |
//! | tuple | Struct; a member without a name is `_arg0`, `_arg1`, … |

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, FixedSizeBinaryArray, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, ListArray, StructArray, UInt8Array, UInt16Array,
    UInt32Array, UInt64Array,
    builder::{BinaryBuilder, BooleanBufferBuilder, NullBufferBuilder, StringBuilder},
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use lydite_bytes::{I256, U256};
use lydite_evm::abi::{Parameter, Type, ValueRef};

use crate::uint256::{DECIMAL_DIGITS, decimal, float};

/// Length of the longest decimal text of an integer: 2^256 - 1, or -2^255 with its sign.
const DECIMAL_TEXT: usize = 78;

/// Format of integers of more than 64 bits.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uint256Format {
    /// FixedSizeBinary(32), the ABI's big-endian word. Lossless; unsigned integers order like their bytes. Suffix
    /// `_binary`.
    Binary,
    /// Utf8, the decimal text. Lossless. Suffix `_string`.
    String,
    /// Decimal128(38, 0); null if the value has more than 38 digits, see
    /// [`Decoded::overflows`](crate::Decoded::overflows). Suffix `_decimal`.
    Decimal,
    /// Float64, the nearest value. Suffix `_f64`.
    F64,
}

impl Uint256Format {
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Binary => "_binary",
            Self::String => "_string",
            Self::Decimal => "_decimal",
            Self::F64 => "_f64",
        }
    }
}

/// Returns the Arrow type of a Solidity type. The components have the names of a tuple's members, see [`Parameter`].
pub(crate) fn data_type(ty: &Type, components: &[Parameter], format: Uint256Format) -> DataType {
    match ty {
        Type::Bool => DataType::Boolean,
        Type::Uint(bits) => match bits {
            ..=8 => DataType::UInt8,
            ..=16 => DataType::UInt16,
            ..=32 => DataType::UInt32,
            ..=64 => DataType::UInt64,
            _ => wide(format),
        },
        Type::Int(bits) => match bits {
            ..=8 => DataType::Int8,
            ..=16 => DataType::Int16,
            ..=32 => DataType::Int32,
            ..=64 => DataType::Int64,
            _ => wide(format),
        },
        Type::Address => DataType::FixedSizeBinary(20),
        Type::FixedBytes(len) => DataType::FixedSizeBinary(i32::from(*len)),
        Type::Function => DataType::FixedSizeBinary(24),
        Type::Bytes => DataType::Binary,
        Type::String => DataType::Utf8,
        Type::Array(element) | Type::FixedArray(element, _) => {
            DataType::List(item(element, components, format))
        }
        Type::Tuple(members) => DataType::Struct(struct_fields(members, components, format)),
    }
}

fn wide(format: Uint256Format) -> DataType {
    match format {
        Uint256Format::Binary => DataType::FixedSizeBinary(32),
        Uint256Format::String => DataType::Utf8,
        Uint256Format::Decimal => DataType::Decimal128(DECIMAL_DIGITS, 0),
        Uint256Format::F64 => DataType::Float64,
    }
}

/// Whether the Arrow type depends on the format of wide integers.
pub(crate) fn has_wide_integer(ty: &Type) -> bool {
    match ty {
        Type::Uint(bits) | Type::Int(bits) => *bits > 64,
        Type::Array(element) | Type::FixedArray(element, _) => has_wide_integer(element),
        Type::Tuple(members) => members.iter().any(has_wide_integer),
        _ => false,
    }
}

fn item(element: &Type, components: &[Parameter], format: Uint256Format) -> FieldRef {
    let item = data_type(element, components, format);
    Arc::new(Field::new("item", item, true))
}

fn struct_fields(members: &[Type], components: &[Parameter], format: Uint256Format) -> Fields {
    let mut fields = Vec::with_capacity(members.len());
    for (i, ty) in members.iter().enumerate() {
        let component = components.get(i);
        let name = component.map_or("", |component| &component.name);
        let name = unused_name(&fields, parameter_name(name, i));
        let data_type = data_type(ty, members_of(component), format);
        fields.push(Arc::new(Field::new(name, data_type, true)));
    }
    fields.into()
}

fn members_of(component: Option<&Parameter>) -> &[Parameter] {
    component.map_or(&[], |component| &component.components)
}

/// Returns the name of a parameter or member, by its position if it has none.
pub(crate) fn parameter_name(name: &str, position: usize) -> String {
    match name {
        "" => format!("_arg{position}"),
        name => name.into(),
    }
}

/// Returns the name, or the name with the first free suffix `_2`, `_3`, ….
pub(crate) fn unused_name(fields: &[FieldRef], name: String) -> String {
    let is_used = |name: &str| fields.iter().any(|field| field.name() == name);
    let mut candidate = name.clone();
    let mut suffix = 2;
    while is_used(&candidate) {
        candidate = format!("{name}_{suffix}");
        suffix += 1;
    }
    candidate
}

/// A column being built.
pub(crate) struct Column {
    values: Values,
    nulls: NullBufferBuilder,
    /// Largest number of bytes or list items in an array, at most 2^31 - 1, which is what offsets can reach.
    limit: usize,
}

enum Values {
    Bool(BooleanBufferBuilder),
    UInt8(Vec<u8>),
    UInt16(Vec<u16>),
    UInt32(Vec<u32>),
    UInt64(Vec<u64>),
    Int8(Vec<i8>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Word(Vec<[u8; 32]>),
    /// Bytes 12 to 31 of the word.
    Address(Vec<[u8; 20]>),
    /// The first bytes of the word, and their number.
    Left(Vec<u8>, usize),
    /// Wide integers; whether they are signed.
    Text(StringBuilder, bool),
    Decimal(Vec<i128>, bool),
    Float(Vec<f64>, bool),
    Bytes(BinaryBuilder),
    String(StringBuilder),
    List(FieldRef, Vec<i32>, Box<Column>),
    Struct(Fields, Vec<Column>),
}

impl Column {
    pub(crate) fn new(
        ty: &Type,
        components: &[Parameter],
        format: Uint256Format,
        rows: usize,
        limit: usize,
    ) -> Self {
        let signed = matches!(ty, Type::Int(_));
        let values = match ty {
            Type::Bool => Values::Bool(BooleanBufferBuilder::new(rows)),
            Type::Uint(..=8) => Values::UInt8(Vec::with_capacity(rows)),
            Type::Uint(..=16) => Values::UInt16(Vec::with_capacity(rows)),
            Type::Uint(..=32) => Values::UInt32(Vec::with_capacity(rows)),
            Type::Uint(..=64) => Values::UInt64(Vec::with_capacity(rows)),
            Type::Int(..=8) => Values::Int8(Vec::with_capacity(rows)),
            Type::Int(..=16) => Values::Int16(Vec::with_capacity(rows)),
            Type::Int(..=32) => Values::Int32(Vec::with_capacity(rows)),
            Type::Int(..=64) => Values::Int64(Vec::with_capacity(rows)),
            Type::Uint(_) | Type::Int(_) => match format {
                Uint256Format::Binary => Values::Word(Vec::with_capacity(rows)),
                Uint256Format::String => Values::Text(StringBuilder::new(), signed),
                Uint256Format::Decimal => Values::Decimal(Vec::with_capacity(rows), signed),
                Uint256Format::F64 => Values::Float(Vec::with_capacity(rows), signed),
            },
            Type::Address => Values::Address(Vec::with_capacity(rows)),
            Type::FixedBytes(32) => Values::Word(Vec::with_capacity(rows)),
            Type::FixedBytes(len) => {
                let len = usize::from(*len);
                Values::Left(Vec::with_capacity(len * rows), len)
            }
            Type::Function => Values::Left(Vec::with_capacity(24 * rows), 24),
            Type::Bytes => Values::Bytes(BinaryBuilder::with_capacity(rows, 0)),
            Type::String => Values::String(StringBuilder::with_capacity(rows, 0)),
            Type::Array(element) | Type::FixedArray(element, _) => {
                let mut offsets = Vec::with_capacity(rows + 1);
                offsets.push(0);
                let elements = Column::new(element, components, format, 0, limit);
                let item = item(element, components, format);
                Values::List(item, offsets, Box::new(elements))
            }
            Type::Tuple(members) => {
                let columns = members.iter().enumerate().map(|(i, ty)| {
                    let components = members_of(components.get(i));
                    Column::new(ty, components, format, rows, limit)
                });
                let columns = columns.collect();
                Values::Struct(struct_fields(members, components, format), columns)
            }
        };
        Self {
            values,
            nulls: NullBufferBuilder::new(rows),
            limit,
        }
    }

    /// Appends values of a value type from their words. `valid` is false for rows that are null; without it, no row is.
    /// Values that exceed the limit are null, and their positions are appended to `refused`.
    pub(crate) fn extend<'a>(
        &mut self,
        words: impl ExactSizeIterator<Item = &'a [u8; 32]>,
        valid: Option<&[bool]>,
        refused: &mut Vec<usize>,
    ) {
        let rows = words.len();
        match &mut self.values {
            Values::Bool(values) => words.for_each(|word| values.append(word[31] != 0)),
            Values::UInt8(values) => values.extend(words.map(|word| word[31])),
            Values::UInt16(values) => {
                values.extend(words.map(|word| u16::from_be_bytes(low(word))));
            }
            Values::UInt32(values) => {
                values.extend(words.map(|word| u32::from_be_bytes(low(word))));
            }
            Values::UInt64(values) => {
                values.extend(words.map(|word| u64::from_be_bytes(low(word))));
            }
            Values::Int8(values) => values.extend(words.map(|word| word[31].cast_signed())),
            Values::Int16(values) => values.extend(words.map(|word| i16::from_be_bytes(low(word)))),
            Values::Int32(values) => values.extend(words.map(|word| i32::from_be_bytes(low(word)))),
            Values::Int64(values) => values.extend(words.map(|word| i64::from_be_bytes(low(word)))),
            Values::Word(values) => values.extend(words.copied()),
            Values::Address(values) => values.extend(words.map(low::<20>)),
            Values::Left(values, len) => {
                words.for_each(|word| values.extend_from_slice(&word[..*len]));
            }
            Values::Text(texts, signed) => {
                use std::fmt::Write as _;
                for (row, word) in words.enumerate() {
                    if valid.is_some_and(|valid| !valid[row]) {
                        texts.append_null();
                        continue;
                    }
                    if texts.values_slice().len() + DECIMAL_TEXT > self.limit {
                        texts.append_null();
                        refused.push(row);
                        continue;
                    }
                    let value = U256::from_be_bytes(*word);
                    // Writing to the builder cannot fail.
                    let _ = if *signed {
                        write!(texts, "{}", I256(value))
                    } else {
                        write!(texts, "{value}")
                    };
                    texts.append_value("");
                }
                return;
            }
            Values::Decimal(values, signed) => {
                for (row, word) in words.enumerate() {
                    let value = decimal(U256::from_be_bytes(*word), *signed);
                    values.push(value.unwrap_or_default());
                    let valid = valid.is_none_or(|valid| valid[row]);
                    self.nulls.append(valid && value.is_some());
                }
                return;
            }
            Values::Float(values, signed) => values.extend(words.map(|word| float(word, *signed))),
            // Not reached: the words of these types are not values.
            Values::Bytes(_) | Values::String(_) | Values::List(..) | Values::Struct(..) => return,
        }
        match valid {
            None => self.nulls.append_n_non_nulls(rows),
            Some(valid) => self.nulls.append_slice(valid),
        }
    }

    /// Appends a value, which must be of the column's type. What exceeds the limit is null, and makes `refused` longer.
    pub(crate) fn push(&mut self, value: ValueRef<'_>, refused: &mut Vec<usize>) {
        let limit = self.limit;
        match (&mut self.values, value) {
            (Values::Bytes(values), ValueRef::Bytes(bytes))
                if values.values_slice().len() + bytes.len() <= limit =>
            {
                values.append_value(bytes);
            }
            (Values::String(values), ValueRef::String(text))
                if values.values_slice().len() + text.len() <= limit =>
            {
                values.append_value(text);
            }
            (
                Values::List(_, offsets, elements),
                ValueRef::Array(values) | ValueRef::FixedArray(values),
            ) => {
                let Some(end) = end(offsets, values.len(), limit) else {
                    refused.push(0);
                    return self.push_null();
                };
                let members = elements.members();
                let words = values
                    .words()
                    .filter(|words| members > 0 && words.len() == members * values.len());
                match words {
                    Some(words) => elements.extend_words(words, refused),
                    None => values
                        .iter()
                        .for_each(|value| elements.push(value, refused)),
                }
                offsets.push(end);
                self.nulls.append_non_null();
            }
            (Values::Struct(_, columns), ValueRef::Tuple(values)) => {
                let values = values.iter();
                columns
                    .iter_mut()
                    .zip(values)
                    .for_each(|(column, value)| column.push(value, refused));
                self.nulls.append_non_null();
            }
            (Values::Bytes(_) | Values::String(_), _) => {
                refused.push(0);
                self.push_null();
            }
            (_, value) => self.extend([&word(value)].into_iter(), None, refused),
        }
    }

    /// The number of members of a tuple whose members are words; 1 for a word; 0 for other types.
    fn members(&self) -> usize {
        match &self.values {
            Values::Bytes(_) | Values::String(_) | Values::List(..) => 0,
            Values::Struct(_, columns) => {
                let words = |column: &Column| {
                    !matches!(column.values, Values::Struct(..)) && column.members() == 1
                };
                columns.len() * usize::from(columns.iter().all(words))
            }
            _ => 1,
        }
    }

    /// Appends values of [`members`](Self::members) words each, like [`extend`](Self::extend).
    fn extend_words(&mut self, words: &[[u8; 32]], refused: &mut Vec<usize>) {
        let members = self.members();
        let Values::Struct(_, columns) = &mut self.values else {
            return self.extend(words.iter(), None, refused);
        };
        for (index, column) in columns.iter_mut().enumerate() {
            let words = words.chunks_exact(members).map(|words| &words[index]);
            column.extend(words, None, refused);
        }
        self.nulls.append_n_non_nulls(words.len() / members);
    }

    /// Appends a null.
    pub(crate) fn push_null(&mut self) {
        match &mut self.values {
            Values::Bytes(values) => values.append_null(),
            Values::String(values) => values.append_null(),
            Values::List(_, offsets, _) => {
                offsets.push(offsets.last().copied().unwrap_or_default());
                self.nulls.append_null();
            }
            Values::Struct(_, columns) => {
                columns.iter_mut().for_each(Column::push_null);
                self.nulls.append_null();
            }
            _ => self.extend([&[0; 32]].into_iter(), Some(&[false]), &mut Vec::new()),
        }
    }

    /// Returns the array.
    pub(crate) fn finish(mut self) -> ArrayRef {
        let rows = self.nulls.len();
        let nulls = self.nulls.finish();
        // The constructors without `try_` panic only if the lengths of values and nulls differ, which they cannot.
        macro_rules! numbers {
            ($array:ident, $values:expr) => {
                Arc::new($array::new(ScalarBuffer::from($values), nulls))
            };
        }
        let fixed = |width: i32, values: Vec<u8>, nulls| -> ArrayRef {
            Arc::new(FixedSizeBinaryArray::new(
                width,
                Buffer::from_vec(values),
                nulls,
            ))
        };
        match self.values {
            Values::Bool(mut values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Values::UInt8(values) => numbers!(UInt8Array, values),
            Values::UInt16(values) => numbers!(UInt16Array, values),
            Values::UInt32(values) => numbers!(UInt32Array, values),
            Values::UInt64(values) => numbers!(UInt64Array, values),
            Values::Int8(values) => numbers!(Int8Array, values),
            Values::Int16(values) => numbers!(Int16Array, values),
            Values::Int32(values) => numbers!(Int32Array, values),
            Values::Int64(values) => numbers!(Int64Array, values),
            Values::Word(values) => fixed(32, values.into_flattened(), nulls),
            Values::Address(values) => fixed(20, values.into_flattened(), nulls),
            Values::Left(values, len) => fixed(len as i32, values, nulls),
            Values::Text(mut texts, _) => Arc::new(texts.finish()),
            Values::Decimal(values, _) => Arc::new(
                Decimal128Array::new(ScalarBuffer::from(values), nulls)
                    .with_data_type(DataType::Decimal128(DECIMAL_DIGITS, 0)),
            ),
            Values::Float(values, _) => numbers!(Float64Array, values),
            Values::Bytes(mut values) => Arc::new(values.finish()),
            Values::String(mut values) => Arc::new(values.finish()),
            Values::List(field, offsets, elements) => Arc::new(ListArray::new(
                field,
                OffsetBuffer::new(ScalarBuffer::from(offsets)),
                elements.finish(),
                nulls,
            )),
            Values::Struct(fields, columns) => {
                let columns = columns.into_iter().map(Column::finish).collect();
                Arc::new(struct_array(fields, columns, nulls, rows))
            }
        }
    }
}

/// Returns structs of columns that have the types of the fields and a value for each row.
pub(crate) fn struct_array(
    fields: Fields,
    columns: Vec<ArrayRef>,
    nulls: Option<NullBuffer>,
    rows: usize,
) -> StructArray {
    match fields.len() {
        0 => StructArray::new_empty_fields(rows, nulls),
        _ => StructArray::new(fields, columns, nulls),
    }
}

/// Returns the offset after a list of `len` elements, unless it exceeds the limit.
fn end(offsets: &[i32], len: usize, limit: usize) -> Option<i32> {
    let start = offsets.last().copied().unwrap_or_default() as usize;
    let end = start.checked_add(len).filter(|end| *end <= limit)?;
    i32::try_from(end).ok()
}

fn low<const N: usize>(word: &[u8; 32]) -> [u8; N] {
    std::array::from_fn(|i| word[32 - N + i])
}

/// Returns the word of a value type.
fn word(value: ValueRef<'_>) -> [u8; 32] {
    let left = |bytes: &[u8]| {
        let mut word = [0; 32];
        word[..bytes.len()].copy_from_slice(bytes);
        word
    };
    match value {
        ValueRef::Bool(value) => U256::from(u64::from(value)).to_be_bytes(),
        ValueRef::Uint(value, _) | ValueRef::Int(value, _) => value.to_be_bytes(),
        ValueRef::Address(address) => address.into_word().0,
        ValueRef::FixedBytes(bytes) => left(bytes),
        ValueRef::Function(bytes) => left(bytes),
        // Not reached: these types are not value types.
        _ => [0; 32],
    }
}
