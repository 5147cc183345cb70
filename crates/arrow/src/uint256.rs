//! Columns of 256-bit integers: words of 32 bytes, big-endian, which are compared as bytes if they are unsigned.

use arrow_array::{
    ArrayRef, Decimal128Array, FixedSizeBinaryArray, Float64Array, Int64Array, StringArray,
    types::{Decimal128Type, Float64Type, Int64Type},
};
use arrow_schema::DataType;
use lydite_bytes::{I256, U256, mul_div};

use crate::integers::IntegerColumn;
use crate::{ByteColumn, Error, Failure, RowError, rows};

/// Precision of Decimal128.
pub(crate) const DECIMAL_DIGITS: u8 = 38;
/// 10^38.
const DECIMAL_END: u128 = 10u128.pow(DECIMAL_DIGITS as u32);

/// Of an integer that Decimal128 cannot hold.
pub(crate) const DECIMAL_OVERFLOW: RowError = RowError::Integer("at most 38 digits");

/// Of an operation without a result.
const RESULT: RowError = RowError::Integer("a result below 2^256");

/// How the words of a column are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integers {
    /// From 0 to 2^256 - 1.
    Uint256,
    /// Two's complement, from -2^255 to 2^255 - 1.
    Int256,
}

impl Integers {
    const fn range(self) -> RowError {
        RowError::Integer(match self {
            Self::Uint256 => "an integer from 0 to 2^256 - 1",
            Self::Int256 => "an integer from -2^255 to 2^255 - 1",
        })
    }

    /// The word of a number; `None` if it is out of range.
    pub(crate) fn word(self, negative: bool, magnitude: U256) -> Option<U256> {
        match self {
            Self::Uint256 => (!negative || magnitude.is_zero()).then_some(magnitude),
            Self::Int256 if negative => {
                let word = magnitude.wrapping_neg();
                (magnitude.is_zero() || word.bit(255)).then_some(word)
            }
            Self::Int256 => (!magnitude.bit(255)).then_some(magnitude),
        }
    }

    fn is_signed(self) -> bool {
        self == Self::Int256
    }
}

/// Converts a column of numbers to words: Arrow's integers and decimals without fraction, booleans, decimal or hexadecimal
/// text, and unsigned big-endian bytes of up to 32. A null stays null; a number out of range, and text that is none,
/// become null and are failures. The result is a FixedSizeBinary(32).
///
/// # Errors
/// [`Error::NotIntegers`] for a column of another type.
pub fn to_uint256(
    numbers: &ArrayRef,
    integers: Integers,
) -> Result<(FixedSizeBinaryArray, Vec<Failure>), Error> {
    let column = IntegerColumn::try_new(numbers)?;
    Ok(rows::fixed((0..numbers.len()).map(|row| {
        let number = column.number(row).ok_or(integers.range())?;
        let word = number.map(|(negative, magnitude)| {
            let word = integers.word(negative, magnitude);
            word.map(U256::to_be_bytes).ok_or(integers.range())
        });
        word.transpose()
    })))
}

/// Converts words to decimal text. A null stays null; a value of another length than 32 bytes becomes null and is a failure.
pub fn uint256_to_text(words: &ByteColumn, integers: Integers) -> (StringArray, Vec<Failure>) {
    let mut buffer = [0; U256::DECIMAL_BUFFER];
    rows::variable(words.len(), 0, |row, texts| {
        let word = words.try_array(row)?;
        let word = word.map(|word| U256::from_be_bytes(*word));
        Ok(word.map(|mut word| {
            if integers.is_signed() && I256(word).is_negative() {
                texts.push(b'-');
                word = I256(word).unsigned_abs();
            }
            texts.extend_from_slice(word.to_decimal(&mut buffer));
        }))
    })
}

/// Converts words to Decimal128(38, 0). A null stays null; a number of more than 38 digits, and a value of another length
/// than 32 bytes, become null and are failures.
pub fn uint256_to_decimal(
    words: &ByteColumn,
    integers: Integers,
) -> (Decimal128Array, Vec<Failure>) {
    let (array, failures) = rows::numbers::<Decimal128Type>((0..words.len()).map(|row| {
        let word = words.try_array(row)?;
        let value = word.map(|word| {
            let value = decimal(U256::from_be_bytes(*word), integers.is_signed());
            value.ok_or(DECIMAL_OVERFLOW)
        });
        value.transpose()
    }));
    (
        array.with_data_type(DataType::Decimal128(DECIMAL_DIGITS, 0)),
        failures,
    )
}

/// Converts words to Int64. A null stays null; a number out of its range, and a value of another length than 32 bytes, become
/// null and are failures.
pub fn uint256_to_i64(words: &ByteColumn, integers: Integers) -> (Int64Array, Vec<Failure>) {
    rows::numbers::<Int64Type>((0..words.len()).map(|row| {
        let word = words.try_array(row)?;
        let value = word.map(|word| {
            let value = decimal(U256::from_be_bytes(*word), integers.is_signed());
            let value = value.and_then(|value| i64::try_from(value).ok());
            value.ok_or(RowError::Integer("an integer from -2^63 to 2^63 - 1"))
        });
        value.transpose()
    }))
}

/// Converts words to the nearest double. A null stays null; a value of another length than 32 bytes becomes null and is a
/// failure.
pub fn uint256_to_f64(words: &ByteColumn, integers: Integers) -> (Float64Array, Vec<Failure>) {
    rows::numbers::<Float64Type>((0..words.len()).map(|row| {
        let word = words.try_array(row)?;
        Ok(word.map(|word| float(word, integers.is_signed())))
    }))
}

/// Applies a checked operation such as [`U256::checked_add`] to the words of each row. If one of them is null, so is the
/// result; an overflow, a division by zero, and a value of another length than 32 bytes become null and are failures. The
/// result is a FixedSizeBinary(32).
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{ArrayRef, Int64Array};
/// use lydite_arrow::{ByteColumn, Integers, to_uint256, uint256_checked, uint256_to_text};
/// use lydite_bytes::U256;
///
/// let column = |values: Vec<i64>| -> Result<ByteColumn, lydite_arrow::Error> {
///     let numbers: ArrayRef = Arc::new(Int64Array::from(values));
///     let (words, _) = to_uint256(&numbers, Integers::Uint256)?;
///     ByteColumn::try_new(&(Arc::new(words) as ArrayRef))
/// };
/// let (sums, _) = uint256_checked(&column(vec![1, 2])?, &column(vec![30, 40])?, U256::checked_add)?;
/// let sums = ByteColumn::try_new(&(Arc::new(sums) as ArrayRef))?;
/// assert_eq!(uint256_to_text(&sums, Integers::Uint256).0.value(1), "42");
/// # Ok::<(), lydite_arrow::Error>(())
/// ```
///
/// # Errors
/// [`Error::Length`] if the columns differ in length.
pub fn uint256_checked(
    left: &ByteColumn,
    right: &ByteColumn,
    operation: impl Fn(U256, U256) -> Option<U256>,
) -> Result<(FixedSizeBinaryArray, Vec<Failure>), Error> {
    left.check_length(right)?;
    Ok(rows::fixed((0..left.len()).map(|row| {
        let (Some(left), Some(right)) = (left.try_array(row)?, right.try_array(row)?) else {
            return Ok(None);
        };
        let (left, right) = (U256::from_be_bytes(*left), U256::from_be_bytes(*right));
        let result = operation(left, right).ok_or(RESULT)?;
        Ok(Some(result.to_be_bytes()))
    })))
}

/// Computes left · right / divisor, rounded down, with a product of 512 bits. If one of them is null, so is the result; a
/// quotient of 2^256 or more, a division by zero, and a value of another length than 32 bytes become null and are failures.
/// The result is a FixedSizeBinary(32).
///
/// # Errors
/// [`Error::Length`] if the columns differ in length.
pub fn uint256_mul_div(
    left: &ByteColumn,
    right: &ByteColumn,
    divisor: &ByteColumn,
) -> Result<(FixedSizeBinaryArray, Vec<Failure>), Error> {
    left.check_length(right)?;
    left.check_length(divisor)?;
    let word = |column: &ByteColumn, row| column.try_array(row).map(|word| word.copied());
    Ok(rows::fixed((0..left.len()).map(|row| {
        let words = (word(left, row)?, word(right, row)?, word(divisor, row)?);
        let (Some(left), Some(right), Some(divisor)) = words else {
            return Ok(None);
        };
        let [left, right, divisor] = [left, right, divisor].map(U256::from_be_bytes);
        let quotient = mul_div(left, right, divisor).ok_or(RESULT)?;
        Ok(Some(quotient.to_be_bytes()))
    })))
}

/// Adds up the words that are not null: the sum as a word, 0 without words; `None` if the sum is out of range.
///
/// # Errors
/// The first row whose value is not of 32 bytes.
pub fn uint256_sum(words: &ByteColumn, integers: Integers) -> Result<Option<U256>, Failure> {
    let mut sum = Uint256Sum::default();
    for row in 0..words.len() {
        let word = words
            .try_array(row)
            .map_err(|error| Failure { row, error })?;
        if let Some(word) = word {
            sum.add(U256::from_be_bytes(*word), integers);
        }
    }
    Ok(sum.total(integers))
}

/// The exact sum of up to 2^63 words, in any order and in parts.
///
/// ```
/// use lydite_arrow::{Integers, Uint256Sum};
/// use lydite_bytes::U256;
///
/// let mut sum = Uint256Sum::default();
/// sum.add(U256::MAX, Integers::Uint256);
/// sum.add(U256::ONE, Integers::Uint256);
/// assert_eq!(sum.total(Integers::Uint256), None);
/// sum.remove(U256::MAX, Integers::Uint256);
/// assert_eq!(sum.total(Integers::Uint256), Some(U256::ONE));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uint256Sum {
    low: U256,
    /// The bits above 256, in two's complement.
    high: i64,
}

impl Uint256Sum {
    /// Adds a word.
    #[inline]
    pub fn add(&mut self, word: U256, integers: Integers) {
        self.merge(Self::of(word, integers));
    }

    /// Subtracts a word.
    #[inline]
    pub fn remove(&mut self, word: U256, integers: Integers) {
        let other = Self::of(word, integers);
        let (low, borrow) = self.low.overflowing_sub(other.low);
        let high = self.high.wrapping_sub(other.high);
        *self = Self {
            low,
            high: high.wrapping_sub(i64::from(borrow)),
        };
    }

    /// Adds another sum.
    #[inline]
    pub fn merge(&mut self, other: Self) {
        let (low, carry) = self.low.overflowing_add(other.low);
        let high = self.high.wrapping_add(other.high);
        *self = Self {
            low,
            high: high.wrapping_add(i64::from(carry)),
        };
    }

    /// Returns the sum as a word; `None` if it is out of range.
    #[inline]
    pub fn total(&self, integers: Integers) -> Option<U256> {
        (*self == Self::of(self.low, integers)).then_some(self.low)
    }

    /// Returns the sum as 40 bytes, big-endian.
    pub fn to_be_bytes(self) -> [u8; 40] {
        let mut bytes = [0; 40];
        bytes[..8].copy_from_slice(&self.high.to_be_bytes());
        bytes[8..].copy_from_slice(&self.low.to_be_bytes());
        bytes
    }

    /// Reads what [`to_be_bytes`](Self::to_be_bytes) has written; `None` for another length.
    pub fn from_be_slice(bytes: &[u8]) -> Option<Self> {
        let (high, low) = bytes.split_first_chunk()?;
        Some(Self {
            low: U256::from_be_bytes(*<&[u8; 32]>::try_from(low).ok()?),
            high: i64::from_be_bytes(*high),
        })
    }

    fn of(word: U256, integers: Integers) -> Self {
        let negative = integers.is_signed() && word.bit(255);
        Self {
            low: word,
            high: -i64::from(negative),
        }
    }
}

fn sign_and_magnitude(value: U256, signed: bool) -> (bool, U256) {
    let number = I256(value);
    match signed && number.is_negative() {
        true => (true, number.unsigned_abs()),
        false => (false, value),
    }
}

/// Returns the value if it has at most 38 digits.
pub(crate) fn decimal(value: U256, signed: bool) -> Option<i128> {
    let (negative, magnitude) = sign_and_magnitude(value, signed);
    let &[low, high, 0, 0] = magnitude.limbs() else {
        return None;
    };
    let magnitude = u128::from(high) << 64 | u128::from(low);
    let value = (magnitude < DECIMAL_END).then_some(magnitude as i128)?;
    Some(if negative { -value } else { value })
}

/// Returns the nearest double.
pub(crate) fn float(word: &[u8; 32], signed: bool) -> f64 {
    let (negative, magnitude) = sign_and_magnitude(U256::from_be_bytes(*word), signed);
    let value = match magnitude.limbs() {
        &[low, high, 0, 0] => (u128::from(high) << 64 | u128::from(low)) as f64,
        // Decimal text, because the standard library rounds it correctly.
        _ => magnitude.to_string().parse().unwrap_or(f64::INFINITY),
    };
    if negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn wide_integers_in_each_format() {
        let minus_one = U256::MAX;
        assert_eq!(decimal(minus_one, true), Some(-1));
        assert_eq!(decimal(minus_one, false), None);
        let max: U256 = (DECIMAL_END - 1).to_string().parse().unwrap();
        assert_eq!(decimal(max, false), Some((DECIMAL_END - 1) as i128));
        assert_eq!(decimal(max.wrapping_add(U256::ONE), false), None);
        assert_eq!(float(&minus_one.to_be_bytes(), true), -1.0);
        assert_eq!(float(&minus_one.to_be_bytes(), false), 2f64.powi(256));
        assert_eq!(float(&max.to_be_bytes(), false), 1e38);
    }
}
