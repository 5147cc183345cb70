//! Values of one type, without a topic or selector.

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use lydite_evm::abi::{Codec, Parameter, Type};

use crate::{
    ByteColumn, Error, Failure, Options, RowError, Uint256Format,
    decoder::{Decoder, Place, Rows},
    error::merged,
};

/// Decoder for values of one type, each encoded like Solidity's `abi.encode(value)`.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{Array, ArrayRef, StringArray, cast::AsArray, types::UInt64Type};
/// use lydite_arrow::{ByteColumn, TypeDecoder, Uint256Format};
///
/// let words = [0x20, 2, 7, 9].map(|word| format!("{word:064x}")).concat();
/// let data: ArrayRef = Arc::new(StringArray::from(vec![Some(words.as_str()), None]));
/// let decoder = TypeDecoder::parse("uint64[]", Uint256Format::Binary)?;
/// let (values, failures) = decoder.decode(&ByteColumn::try_new(&data)?);
/// let numbers = values.as_list::<i32>().value(0);
/// assert_eq!(numbers.as_primitive::<UInt64Type>().values(), &[7, 9]);
/// assert!(values.is_null(1) && failures.is_empty());
/// # Ok::<(), lydite_arrow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TypeDecoder {
    codec: Codec,
    decoder: Decoder,
}

struct Data<'a>(&'a ByteColumn);

impl Rows for Data<'_> {
    fn data(&self, rows: &[usize]) -> Vec<&[u8]> {
        self.0.map(rows, Option::unwrap_or_default)
    }

    fn readable(&self, rows: &[usize]) -> Vec<bool> {
        self.0.map(rows, |data| data.is_some())
    }
}

impl TypeDecoder {
    /// Compiles a type such as `uint256` or `(address to, bytes data)[]`.
    ///
    /// # Errors
    /// [`Error::Signature`].
    pub fn parse(ty: &str, format: Uint256Format) -> Result<Self, Error> {
        let error = |error| Error::Signature(ty.into(), error);
        let mut parameter = Parameter::parse(ty).map_err(error)?;
        parameter.name = "value".into();
        let codec = Codec::new(&Type::Tuple(vec![parameter.ty.clone()])).map_err(error)?;
        let options = Options {
            uint256: vec![format],
            ..Options::default()
        };
        let parameters = [(&parameter, Place::Data)];
        let decoder = Decoder::new(parameters.into_iter(), codec.clone(), &options);
        Ok(Self { codec, decoder })
    }

    /// Returns the field of the decoded values.
    pub fn field(&self) -> &FieldRef {
        &self.decoder.fields()[0]
    }

    /// Decodes each row. A null stays null; an invalid value becomes null and is a failure. The failures include
    /// [`Decoded::overflows`](crate::Decoded::overflows).
    pub fn decode(&self, data: &ByteColumn) -> (ArrayRef, Vec<Failure>) {
        let rows: Vec<usize> = (0..data.len()).collect();
        let mut decoded = self.decoder.decode(&Data(data), &rows);
        let failures = decoded.null.into_iter().filter_map(|row| {
            let error = match data.get(row) {
                None if !data.is_invalid(row) => return None,
                None => RowError::Hexadecimal,
                Some(bytes) => match self.codec.view(bytes) {
                    Err(error) => RowError::Abi(error),
                    Ok(_) => RowError::Full,
                },
            };
            Some(Failure { row, error })
        });
        let failures = merged(failures.collect(), decoded.overflows);
        (decoded.columns.swap_remove(0), failures)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use arrow_array::BinaryViewArray;
    use lydite_evm::abi::Value;

    use super::*;

    /// Decodes values with a limit, and checks that the rows in `full` are null and failures, and the others unchanged.
    fn check(ty: &str, limit: usize, values: Vec<Value>, full: &[usize]) {
        let mut decoder = TypeDecoder::parse(ty, Uint256Format::String).unwrap();
        let encoded = values.iter().enumerate().map(|(row, value)| {
            let encoded = decoder.codec.encode(std::slice::from_ref(value)).unwrap();
            (encoded.clone(), (!full.contains(&row)).then_some(encoded))
        });
        let (all, fitting): (Vec<_>, Vec<_>) = encoded.unzip();
        let all: ArrayRef = Arc::new(BinaryViewArray::from_iter_values(all));
        let fitting: ArrayRef = Arc::new(BinaryViewArray::from_iter(fitting));
        let (expected, _) = decoder.decode(&ByteColumn::try_new(&fitting).unwrap());
        decoder.decoder = decoder.decoder.with_limit(limit);
        let (found, failures) = decoder.decode(&ByteColumn::try_new(&all).unwrap());
        assert_eq!(&found, &expected, "{ty}");
        let error = RowError::Full;
        let failure = |row: &usize| Failure {
            row: *row,
            error: error.clone(),
        };
        let expected: Vec<Failure> = full.iter().map(failure).collect();
        assert_eq!(failures, expected, "{ty}");
    }

    #[test]
    fn values_up_to_the_limit() {
        let bytes = |len| Value::Bytes(vec![7; len]);
        let text = |len| Value::String("x".repeat(len));
        let number = |number: u8| Value::Uint(number.into(), 256);
        let array = |values: Vec<Value>| Value::Array(values);
        let tuple = |values: Vec<Value>| Value::Tuple(values);
        check(
            "bytes",
            5,
            vec![bytes(3), bytes(3), bytes(2), bytes(1), bytes(0)],
            &[1, 3],
        );
        check("string", 5, vec![text(5), text(0), text(1)], &[2]);
        // Each number takes up to 78 digits.
        check("uint256", 79, vec![number(1), number(2), number(3)], &[2]);
        check(
            "uint8[]",
            3,
            [2, 2, 1]
                .map(|len| array(vec![Value::Uint(1u8.into(), 8); len]))
                .into(),
            &[1],
        );
        check(
            "uint256[]",
            79,
            [1, 2, 0].map(|len| array(vec![number(1); len])).into(),
            &[1],
        );
        check(
            "(uint256,bool)[]",
            79,
            [1, 2, 0]
                .map(|len| array(vec![tuple(vec![number(1), Value::Bool(true)]); len]))
                .into(),
            &[1],
        );
        check(
            "(bytes,string[])",
            4,
            vec![
                tuple(vec![bytes(2), array(vec![text(1)])]),
                tuple(vec![bytes(1), array(vec![text(2), text(2)])]),
                tuple(vec![bytes(9), array(vec![])]),
                tuple(vec![bytes(1), array(vec![text(0)])]),
            ],
            &[1, 2],
        );
    }
}
