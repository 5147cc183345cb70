//! Values of one type, without a topic or selector.

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use lydite_evm::abi::{Codec, Parameter, Type};

use crate::{
    ByteColumn, Error, Failure, Options, RowError, Uint256Format,
    decoder::{Decoder, Place, Rows},
    error::MISMATCH,
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
    /// Compiles a type such as `uint256` or `(address,bytes)[]`.
    ///
    /// # Errors
    /// [`Error::Signature`].
    pub fn parse(ty: &str, format: Uint256Format) -> Result<Self, Error> {
        let error = |error| Error::Signature(ty.into(), error);
        let parameter = Parameter {
            ty: Type::parse(ty).map_err(error)?,
            name: "value".into(),
            indexed: false,
        };
        let codec = Codec::new(&Type::Tuple(vec![parameter.ty.clone()])).map_err(error)?;
        let options = Options {
            uint256: vec![format],
        };
        let parameters = [(&parameter, Place::Data)];
        let decoder = Decoder::new(parameters.into_iter(), codec.clone(), &options);
        Ok(Self { codec, decoder })
    }

    /// Returns the field of the decoded values.
    pub fn field(&self) -> &FieldRef {
        &self.decoder.fields()[0]
    }

    /// Decodes each row. A null stays null; an invalid value becomes null and is a failure.
    pub fn decode(&self, data: &ByteColumn) -> (ArrayRef, Vec<Failure>) {
        let rows: Vec<usize> = (0..data.len()).collect();
        let (mut columns, invalid) = self.decoder.decode(&Data(data), &rows);
        let failures = invalid.into_iter().filter_map(|row| {
            let error = match data.get(row) {
                None if !data.is_invalid(row) => return None,
                None => RowError::Hexadecimal,
                Some(bytes) => match self.codec.view(bytes) {
                    Err(error) => RowError::Abi(error),
                    Ok(_) => MISMATCH,
                },
            };
            Some(Failure { row, error })
        });
        (columns.swap_remove(0), failures.collect())
    }
}
