//! Arrays to ABI encodings, the inverse of decoding.

use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, cast::AsArray};
use arrow_schema::DataType;
use lydite_bytes::{Address, U256};
use lydite_evm::abi::{CallCodec, Codec, ErrorKind, Parameter, Type, Value};

use crate::{
    ByteColumn, Error, Failure, RowError,
    integers::{IntegerColumn, expand},
    lists, rows,
    rows::Row,
};

/// Encodes the calls of a function, each with a row of its arguments. The arrays are of the types that
/// [`CallDecoder`](crate::CallDecoder) returns, or of others with such values: any type of byte strings, integers, decimals
/// without fraction, decimal text, lists, and structs whose members are matched by position. Text is hexadecimal for byte
/// strings, and itself for `string`. A null argument gives null; a null within a list or struct, and a value that does not
/// fit its type, become null and are failures. Without arguments there is one row.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int64Array, StringArray};
/// use lydite_arrow::encode_calls;
/// use lydite_evm::abi::CallCodec;
///
/// let to: ArrayRef = Arc::new(StringArray::from(vec!["0x1111111111111111111111111111111111111111"]));
/// let amount: ArrayRef = Arc::new(Int64Array::from(vec![7]));
/// let transfer = CallCodec::parse("transfer(address,uint256)").expect("valid");
/// let (calls, failures) = encode_calls(&[to, amount], &transfer)?;
/// assert_eq!(calls.value(0)[..4], [0xa9, 0x05, 0x9c, 0xbb]);
/// assert_eq!((calls.value(0).len(), failures.len()), (68, 0));
/// # Ok::<(), lydite_arrow::Error>(())
/// ```
///
/// # Errors
/// [`Error::Arguments`] if the arrays differ from the parameters in their number or types; [`Error::Length`] if they differ
/// in length.
pub fn encode_calls(
    arguments: &[ArrayRef],
    function: &CallCodec,
) -> Result<(BinaryArray, Vec<Failure>), Error> {
    let parameters = &function.signature().inputs;
    encode(
        arguments,
        parameters,
        &function.selector(),
        function.inputs(),
    )
}

/// Encodes values of a type like Solidity's `abi.encode(value)`, see [`encode_calls`].
///
/// # Errors
/// [`Error::Signature`], [`Error::Arguments`].
pub fn encode_values(values: &ArrayRef, ty: &str) -> Result<(BinaryArray, Vec<Failure>), Error> {
    let error = |error| Error::Signature(ty.into(), error);
    let parameter = Parameter::parse(ty).map_err(error)?;
    let codec = Codec::new(&Type::Tuple(vec![parameter.ty.clone()])).map_err(error)?;
    encode(std::slice::from_ref(values), &[parameter], &[], &codec)
}

fn encode(
    arguments: &[ArrayRef],
    parameters: &[Parameter],
    prefix: &[u8],
    codec: &Codec,
) -> Result<(BinaryArray, Vec<Failure>), Error> {
    if arguments.len() != parameters.len() {
        let (expected, found) = (parameters.len(), arguments.len());
        let text = format!("values to encode: expected {expected}, found {found}");
        return Err(Error::Arguments(text));
    }
    let rows = arguments.first().map_or(1, |argument| argument.len());
    let mut columns = Vec::with_capacity(arguments.len());
    for (argument, parameter) in arguments.iter().zip(parameters) {
        if argument.len() != rows {
            return Err(Error::Length(rows, argument.len()));
        }
        columns.push(Source::new(argument, &parameter.ty)?);
    }
    let mut values = Vec::with_capacity(columns.len());
    Ok(rows::variable(rows, 0, |row, encoded| {
        values.clear();
        for column in &columns {
            let Some(value) = column.get(row)? else {
                return Ok(None);
            };
            values.push(value);
        }
        let data = codec.encode(&values).map_err(|error| {
            RowError::Value(match error.kind {
                ErrorKind::Range => "an integer in the range of its type",
                _ => "an array of the length of its type",
            })
        })?;
        encoded.extend_from_slice(prefix);
        encoded.extend_from_slice(&data);
        Ok(Some(()))
    }))
}

/// An array, read as values of a Solidity type.
enum Source {
    /// All values are null.
    Null,
    Bool(BooleanArray),
    Uint(IntegerColumn, u16),
    Int(IntegerColumn, u16),
    Address(ByteColumn),
    FixedBytes(ByteColumn, u8),
    Function(ByteColumn),
    Bytes(ByteColumn),
    String(ArrayRef),
    Array(Items),
    FixedArray(Items),
    Tuple(ArrayRef, Vec<Source>),
}

/// The items of lists.
struct Items {
    spans: Vec<lists::Span>,
    items: Box<Source>,
}

impl Source {
    fn new(array: &ArrayRef, ty: &Type) -> Result<Self, Error> {
        let array = &expand(array);
        let found = array.data_type();
        let wrong = |expected: &str| {
            Error::Arguments(format!("expected {expected} for {ty}, found {found}"))
        };
        let bytes =
            || ByteColumn::try_new(array).map_err(|_| wrong("binary values or hexadecimal text"));
        let integers = || IntegerColumn::try_new(array).map_err(|_| wrong("integers"));
        let items = |element: &Type| {
            let (spans, values) = lists::split(array).ok_or_else(|| wrong("lists"))?;
            Ok(Items {
                spans,
                items: Box::new(Source::new(&values, element)?),
            })
        };
        Ok(match ty {
            _ if *found == DataType::Null => Self::Null,
            Type::Bool => Self::Bool(
                array
                    .as_boolean_opt()
                    .ok_or_else(|| wrong("booleans"))?
                    .clone(),
            ),
            Type::Uint(bits) => Self::Uint(integers()?, *bits),
            Type::Int(bits) => Self::Int(integers()?, *bits),
            Type::Address => Self::Address(bytes()?),
            Type::FixedBytes(len) => Self::FixedBytes(bytes()?, *len),
            Type::Function => Self::Function(bytes()?),
            Type::Bytes => Self::Bytes(bytes()?),
            Type::String => match found {
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                    Self::String(array.clone())
                }
                _ => return Err(wrong("text")),
            },
            Type::Array(element) => Self::Array(items(element)?),
            Type::FixedArray(element, _) => Self::FixedArray(items(element)?),
            Type::Tuple(members) => {
                let structs = array.as_struct_opt();
                let columns = structs.map_or(&[][..], |structs| structs.columns());
                if structs.is_none() || columns.len() != members.len() {
                    return Err(wrong("structs with these members"));
                }
                let members = columns.iter().zip(members);
                let members = members.map(|(column, ty)| Source::new(column, ty));
                Self::Tuple(array.clone(), members.collect::<Result<_, _>>()?)
            }
        })
    }

    fn get(&self, row: usize) -> Row<Value> {
        let integer = |column: &IntegerColumn| {
            let number = column.number(row);
            number.ok_or(RowError::Value("an integer below 2^256"))
        };
        let word = |bytes: &[u8]| {
            let mut word = [0; 32];
            word[..bytes.len()].copy_from_slice(bytes);
            word
        };
        Ok(match self {
            Self::Null => None,
            Self::Bool(array) => array.is_valid(row).then(|| Value::Bool(array.value(row))),
            Self::Uint(column, bits) => match integer(column)? {
                Some((true, magnitude)) if !magnitude.is_zero() => {
                    return Err(RowError::Value("an integer that is not negative"));
                }
                number => number.map(|(_, magnitude)| Value::Uint(magnitude, *bits)),
            },
            Self::Int(column, bits) => {
                // 32 bytes are a word in two's complement.
                if let IntegerColumn::Bytes(bytes) = column
                    && let Some(word) = bytes.get(row).and_then(|bytes| bytes.try_into().ok())
                {
                    return Ok(Some(Value::Int(U256::from_be_bytes(word), *bits)));
                }
                let number = integer(column)?.map(|(negative, magnitude)| {
                    let number = crate::Integers::Int256.word(negative, magnitude);
                    number.ok_or(RowError::Value("an integer in the range of its type"))
                });
                number.transpose()?.map(|word| Value::Int(word, *bits))
            }
            Self::Address(column) => column
                .try_array(row)?
                .map(|bytes| Value::Address(Address(*bytes))),
            Self::FixedBytes(column, len) => {
                let expected = usize::from(*len);
                match column.try_get(row)? {
                    Some(bytes) if bytes.len() != expected => {
                        return Err(RowError::Length(expected, bytes.len()));
                    }
                    bytes => bytes.map(|bytes| Value::FixedBytes(word(bytes), *len)),
                }
            }
            Self::Function(column) => column.try_array(row)?.copied().map(Value::Function),
            Self::Bytes(column) => column
                .try_get(row)?
                .map(|bytes| Value::Bytes(bytes.to_vec())),
            Self::String(array) => array.is_valid(row).then(|| {
                let text = match array.data_type() {
                    DataType::Utf8 => array.as_string::<i32>().value(row),
                    DataType::LargeUtf8 => array.as_string::<i64>().value(row),
                    _ => array.as_string_view().value(row),
                };
                Value::String(text.into())
            }),
            Self::Array(items) => items.get(row)?.map(Value::Array),
            Self::FixedArray(items) => items.get(row)?.map(Value::FixedArray),
            Self::Tuple(array, _) if array.is_null(row) => None,
            Self::Tuple(_, members) => {
                let values = members.iter().map(|member| member.inner(row));
                Some(Value::Tuple(values.collect::<Result<_, _>>()?))
            }
        })
    }

    /// Returns a value within a list or struct.
    fn inner(&self, row: usize) -> Result<Value, RowError> {
        let null = RowError::Value("values in lists and structs, found null");
        self.get(row)?.ok_or(null)
    }
}

impl Items {
    fn get(&self, row: usize) -> Row<Vec<Value>> {
        let Some(items) = self.spans[row].clone() else {
            return Ok(None);
        };
        let values = items.map(|item| self.items.inner(item));
        values.collect::<Result<_, _>>().map(Some)
    }
}
