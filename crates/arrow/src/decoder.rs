//! The columns of a signature's parameters, filled block by block.
//!
//! Parameters that are words (topics, and all data of a signature without dynamic types) are copied column by column.
//! Otherwise each row's data is checked once against the compiled types, then copied.

use std::{borrow::Cow, sync::Arc};

use arrow_array::{ArrayRef, BooleanArray, StructArray};
use arrow_schema::{Field, FieldRef};
use arrow_select::nullif::nullif;
use lydite_evm::abi::{Codec, Mode, Parameter, Type, Values};

use crate::{
    Failure, Uint256Format,
    column::{Column, data_type, has_wide_integer, parameter_name, struct_array, unused_name},
    overflow::overflows,
    uint256::DECIMAL_OVERFLOW,
};

/// Rows decoded at a time, which bounds the memory for the positions of their words.
const BLOCK: usize = 1024;

/// How values are checked and represented.
#[derive(Clone, Debug)]
pub struct Options {
    /// Formats of integers of more than 64 bits. With more than one, a parameter that contains such integers has one
    /// column per format, named with the suffix of the format.
    pub uint256: Vec<Uint256Format>,
    /// How strictly encodings are checked. The data of logs and calls that contracts emit is valid in [`Mode::Strict`].
    pub mode: Mode,
}

impl Default for Options {
    /// [`Uint256Format::Binary`] and [`Mode::Strict`].
    fn default() -> Self {
        Self {
            uint256: vec![Uint256Format::Binary],
            mode: Mode::Strict,
        }
    }
}

/// The decoded rows.
#[derive(Clone, Debug, Default)]
pub struct Decoded {
    /// One array per field of the decoder, with one value per selected row.
    pub columns: Vec<ArrayRef>,
    /// The rows that are null in all columns because they are invalid, in order.
    pub failures: Vec<Failure>,
    /// The other rows in which a value is null, because [`Uint256Format::Decimal`] cannot hold it, in order.
    pub overflows: Vec<Failure>,
}

/// What [`Decoder::decode`] makes of the selected rows.
pub(crate) struct DecodedRows {
    pub(crate) columns: Vec<ArrayRef>,
    /// The rows that are invalid or exceed the limit, which are null.
    pub(crate) null: Vec<usize>,
    /// See [`Decoded::overflows`].
    pub(crate) overflows: Vec<Failure>,
}

/// Where the value of a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The topic with this index. A type longer than a word is replaced by its hash.
    Topic(usize),
    /// The data.
    Data,
}

/// The rows of a batch. Each method reads a block of rows, so that the array type of a column is checked once per block.
pub(crate) trait Rows {
    /// Returns a topic of each row; `None` unless it is a word. By default, there are no topics.
    fn topics(&self, _index: usize, rows: &[usize]) -> Vec<Option<&[u8; 32]>> {
        vec![None; rows.len()]
    }

    /// Returns the encoded parameters of each row that are not topics.
    fn data(&self, rows: &[usize]) -> Vec<&[u8]>;

    /// Returns for each row whether its topics and data could be read from their columns.
    fn readable(&self, rows: &[usize]) -> Vec<bool>;
}

/// Rows of which only some are decoded.
struct Masked<'a, R> {
    rows: &'a R,
    selected: Vec<bool>,
}

impl<R: Rows> Rows for Masked<'_, R> {
    fn topics(&self, index: usize, rows: &[usize]) -> Vec<Option<&[u8; 32]>> {
        self.rows.topics(index, rows)
    }

    fn data(&self, rows: &[usize]) -> Vec<&[u8]> {
        self.rows.data(rows)
    }

    fn readable(&self, rows: &[usize]) -> Vec<bool> {
        let mut readable = self.rows.readable(rows);
        let selected = readable.iter_mut().zip(rows);
        selected.for_each(|(readable, row)| *readable &= self.selected[*row]);
        readable
    }
}

/// A block of rows that are valid in [`Mode::Lenient`], encoded again so that they are valid in [`Mode::Strict`]. Its rows
/// are positions in the block.
struct Lenient<'a> {
    /// By index.
    topics: Vec<Vec<Option<[u8; 32]>>>,
    data: Vec<Cow<'a, [u8]>>,
    readable: Vec<bool>,
}

impl Rows for Lenient<'_> {
    fn topics(&self, index: usize, rows: &[usize]) -> Vec<Option<&[u8; 32]>> {
        let topics = rows.iter().map(|row| self.topics[index][*row].as_ref());
        topics.collect()
    }

    fn data(&self, rows: &[usize]) -> Vec<&[u8]> {
        rows.iter().map(|row| &*self.data[*row]).collect()
    }

    fn readable(&self, rows: &[usize]) -> Vec<bool> {
        rows.iter().map(|row| self.readable[*row]).collect()
    }
}

/// Decoder for the parameters of a signature.
#[derive(Clone, Debug)]
pub(crate) struct Decoder {
    parameters: Vec<DecodedParameter>,
    fields: Vec<FieldRef>,
    /// Codec of the parameters in the data.
    data: Codec,
    /// Whether all parameters in the data are words, so that their positions are known.
    flat: bool,
    mode: Mode,
    /// Largest number of bytes or list items in a column. Lower in tests.
    limit: usize,
}

#[derive(Clone, Debug)]
struct DecodedParameter {
    ty: Type,
    components: Vec<Parameter>,
    place: Place,
    formats: Vec<Uint256Format>,
}

impl Decoder {
    pub(crate) fn new<'a>(
        parameters: impl Iterator<Item = (&'a Parameter, Place)>,
        data: Codec,
        options: &Options,
    ) -> Self {
        let mut fields: Vec<FieldRef> = Vec::new();
        let mut decoded = Vec::new();
        for (i, (parameter, place)) in parameters.enumerate() {
            let is_hash = place != Place::Data && !parameter.ty.is_value();
            let ty = if is_hash {
                Type::FixedBytes(32)
            } else {
                parameter.ty.clone()
            };
            let name = parameter_name(&parameter.name, i);
            let components = parameter.components.clone();
            let formats = match options.uint256.as_slice() {
                [] => vec![Uint256Format::Binary],
                [first, ..] if !has_wide_integer(&ty) => vec![*first],
                formats => formats.to_vec(),
            };
            for format in &formats {
                let suffix = if formats.len() > 1 {
                    format.suffix()
                } else {
                    ""
                };
                let name = unused_name(&fields, format!("{name}{suffix}"));
                let mut metadata = vec![("lydite.solidity".into(), parameter.ty.to_string())];
                if is_hash {
                    metadata.push(("lydite.indexed".into(), "hash".into()));
                }
                let field = Field::new(name, data_type(&ty, &components, *format), true);
                fields.push(Arc::new(
                    field.with_metadata(metadata.into_iter().collect()),
                ));
            }
            decoded.push(DecodedParameter {
                ty,
                components,
                place,
                formats,
            });
        }
        Self {
            flat: decoded.iter().all(|one| one.ty.is_value()),
            parameters: decoded,
            fields,
            data,
            mode: options.mode,
            limit: i32::MAX as usize,
        }
    }

    #[cfg(test)]
    pub(crate) fn with_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    pub(crate) fn fields(&self) -> &[FieldRef] {
        &self.fields
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Decodes the selected rows.
    pub(crate) fn decode(&self, source: &impl Rows, rows: &[usize]) -> DecodedRows {
        let parameters = self.parameters.iter();
        let mut columns: Vec<Vec<Column>> = parameters
            .map(|one| {
                let formats = one.formats.iter();
                formats
                    .map(|format| {
                        let (rows, limit) = (rows.len(), self.limit);
                        Column::new(&one.ty, &one.components, *format, rows, limit)
                    })
                    .collect()
            })
            .collect();
        // As positions among the selected rows.
        let (mut null, mut is_full) = (Vec::new(), false);
        for (block, rows) in rows.chunks(BLOCK).enumerate() {
            let valid = if self.mode == Mode::Lenient {
                let all: Vec<usize> = (0..rows.len()).collect();
                let source = self.encode_again(source, rows);
                self.decode_block(&source, &all, &mut columns, &mut is_full)
            } else {
                self.decode_block(source, rows, &mut columns, &mut is_full)
            };
            let checked = (BLOCK * block..).zip(valid);
            null.extend(checked.filter(|(_, valid)| !valid).map(|(i, _)| i));
        }
        let columns = columns.into_iter().flatten();
        let mut columns: Vec<ArrayRef> = columns.map(Column::finish).collect();
        if is_full {
            let mut mask = vec![false; rows.len()];
            null.iter().for_each(|i| mask[*i] = true);
            let mask = BooleanArray::from(mask);
            // Does not fail, since the lengths agree.
            let with_nulls = |column: ArrayRef| nullif(&column, &mask).unwrap_or(column);
            columns = columns.into_iter().map(with_nulls).collect();
        }
        let overflows = overflows(&columns, rows.len(), &null);
        let overflows = overflows.into_iter().map(|i| Failure {
            row: rows[i],
            error: DECIMAL_OVERFLOW,
        });
        DecodedRows {
            columns,
            null: null.into_iter().map(|i| rows[i]).collect(),
            overflows: overflows.collect(),
        }
    }

    /// Decodes the selected of `rows` rows to one struct per row; the others are null. Also returns the invalid ones, and
    /// the failures of others, see [`Decoded::overflows`].
    pub(crate) fn decode_all(
        &self,
        source: &impl Rows,
        rows: usize,
        selected: &[usize],
    ) -> (StructArray, Vec<usize>, Vec<Failure>) {
        let mut valid = vec![false; rows];
        selected.iter().for_each(|row| valid[*row] = true);
        let masked = Masked {
            rows: source,
            selected: valid.clone(),
        };
        let all: Vec<usize> = (0..rows).collect();
        let DecodedRows {
            columns,
            mut null,
            overflows,
        } = self.decode(&masked, &all);
        null.iter().for_each(|row| valid[*row] = false);
        null.retain(|row| masked.selected[*row]);
        let fields = self.fields.clone().into();
        let structs = struct_array(fields, columns, Some(valid.into()), rows);
        (structs, null, overflows)
    }

    /// Encodes the rows of a block again that are valid in [`Mode::Lenient`] only.
    fn encode_again<'a>(&self, source: &'a impl Rows, rows: &[usize]) -> Lenient<'a> {
        let mut topics = Vec::new();
        for one in &self.parameters {
            let Place::Topic(index) = one.place else {
                continue;
            };
            let word = Codec::new(&Type::Tuple(vec![one.ty.clone()]));
            let words = source.topics(index, rows).into_iter().map(|topic| {
                let (topic, word) = (topic?, word.as_ref().ok()?);
                if one.ty.is_valid_word(topic) {
                    return Some(*topic);
                }
                encode_again(word, topic)?.try_into().ok()
            });
            topics.resize(topics.len().max(index + 1), Vec::new());
            topics[index] = words.collect();
        }
        let data = source.data(rows).into_iter();
        let data = data.map(|data| match self.data.view(data) {
            Ok(_) => Cow::Borrowed(data),
            Err(_) => encode_again(&self.data, data).map_or(Cow::Borrowed(data), Cow::Owned),
        });
        Lenient {
            topics,
            data: data.collect(),
            readable: source.readable(rows),
        }
    }

    /// Appends a block of rows, and returns which of them are valid. Sets `is_full` if one of those that are not may have
    /// values that are not null, because another one exceeds the limit.
    fn decode_block(
        &self,
        source: &impl Rows,
        rows: &[usize],
        columns: &mut [Vec<Column>],
        is_full: &mut bool,
    ) -> Vec<bool> {
        let mut valid = source.readable(rows);
        let data = source.data(rows);
        if self.mode == Mode::Canonical {
            let checked = data.iter().zip(&mut valid);
            checked.for_each(|(data, valid)| *valid &= self.data.check_canonical(data).is_ok());
        }
        // The words of each parameter that is a word; empty for others.
        let mut words = vec![Vec::new(); self.parameters.len()];
        for (one, words) in self.parameters.iter().zip(&mut words) {
            if let Place::Topic(index) = one.place {
                let topics = source.topics(index, rows);
                *words = checked_words(&one.ty, topics.into_iter(), &mut valid);
            }
        }
        if self.flat {
            let in_data = |one: &DecodedParameter| one.place == Place::Data;
            let parameters = self.parameters.iter().zip(&mut words);
            for (k, (one, words)) in parameters.filter(|(one, _)| in_data(one)).enumerate() {
                let kth = data.iter().map(|data| data.as_chunks().0.get(k));
                *words = checked_words(&one.ty, kth, &mut valid);
            }
        } else {
            *is_full |= self.decode_dynamic(&data, &mut valid, columns);
        }
        let mask = valid.contains(&false).then_some(valid.as_slice());
        let mut refused = Vec::new();
        for (words, columns) in words.iter().zip(columns) {
            if !words.is_empty() {
                for column in columns {
                    column.extend(words.iter().copied(), mask, &mut refused);
                }
            }
        }
        *is_full |= !refused.is_empty();
        refused.into_iter().for_each(|i| valid[i] = false);
        valid
    }

    /// Appends the parameters in the data of rows that are valid so far. Returns whether one exceeds the limit.
    fn decode_dynamic(
        &self,
        data: &[&[u8]],
        valid: &mut [bool],
        columns: &mut [Vec<Column>],
    ) -> bool {
        let (mut refused, mut is_full) = (Vec::new(), false);
        for (data, valid) in data.iter().zip(valid) {
            let values: Option<Values<'_>> = valid.then(|| self.data.view(data).ok()).flatten();
            *valid = values.is_some();
            let mut values = values.into_iter().flatten();
            let parameters = self.parameters.iter().zip(&mut *columns);
            for (_, columns) in parameters.filter(|(one, _)| one.place == Place::Data) {
                match values.next() {
                    Some(value) => columns
                        .iter_mut()
                        .for_each(|column| column.push(value, &mut refused)),
                    None => columns.iter_mut().for_each(Column::push_null),
                }
            }
            if !refused.is_empty() {
                (*valid, is_full) = (false, true);
                refused.clear();
            }
        }
        is_full
    }
}

/// Decodes in [`Mode::Lenient`] and encodes; `None` if the data is invalid even then.
fn encode_again(codec: &Codec, data: &[u8]) -> Option<Vec<u8>> {
    let values = codec.decode_with(data, Mode::Lenient).ok()?;
    codec.encode(&values).ok()
}

/// Returns the words, and marks rows whose word is missing or not a value of the type.
fn checked_words<'a>(
    ty: &Type,
    words: impl Iterator<Item = Option<&'a [u8; 32]>>,
    valid: &mut [bool],
) -> Vec<&'a [u8; 32]> {
    // Separate loops for the most frequent types.
    match ty {
        Type::Uint(256) | Type::Int(256) | Type::FixedBytes(32) => collect(words, valid, |_| true),
        Type::Address => collect(words, valid, |word| Type::Address.is_valid_word(word)),
        _ => collect(words, valid, |word| ty.is_valid_word(word)),
    }
}

/// Like [`checked_words`], with the check of one type.
fn collect<'a>(
    words: impl Iterator<Item = Option<&'a [u8; 32]>>,
    valid: &mut [bool],
    is_valid: impl Fn(&[u8; 32]) -> bool,
) -> Vec<&'a [u8; 32]> {
    let words = words.zip(valid).map(|(word, valid)| {
        *valid &= word.is_some_and(&is_valid);
        word.unwrap_or(&[0; 32])
    });
    words.collect()
}
