//! Columns of 256-bit integers: words of 32 bytes, big-endian, which are compared as bytes if they are unsigned.

use arrow_array::{
    ArrayRef, Decimal128Array, FixedSizeBinaryArray, Float64Array, StringArray,
    types::{Decimal128Type, Float64Type},
};
use arrow_schema::DataType;
use lydite_bytes::{I256, U256};

use crate::integers::IntegerColumn;
use crate::{ByteColumn, Error, Failure, RowError, rows};

/// Precision of Decimal128.
pub(crate) const DECIMAL_DIGITS: u8 = 38;
/// 10^38.
const DECIMAL_END: u128 = 10u128.pow(DECIMAL_DIGITS as u32);

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
    fn word(self, negative: bool, magnitude: U256) -> Option<U256> {
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
    rows::text((0..words.len()).map(|row| {
        let word = rows::array(words, row)?;
        Ok(word.map(|word| {
            let word = U256::from_be_bytes(*word);
            match integers {
                Integers::Uint256 => word.to_string(),
                Integers::Int256 => I256(word).to_string(),
            }
        }))
    }))
}

/// Converts words to Decimal128(38, 0). A null stays null; a number of more than 38 digits, and a value of another length
/// than 32 bytes, become null and are failures.
pub fn uint256_to_decimal(
    words: &ByteColumn,
    integers: Integers,
) -> (Decimal128Array, Vec<Failure>) {
    let (array, failures) = rows::numbers::<Decimal128Type>((0..words.len()).map(|row| {
        let word = rows::array(words, row)?;
        let value = word.map(|word| {
            let value = decimal(U256::from_be_bytes(*word), integers.is_signed());
            value.ok_or(RowError::Integer("at most 38 digits"))
        });
        value.transpose()
    }));
    (
        array.with_data_type(DataType::Decimal128(DECIMAL_DIGITS, 0)),
        failures,
    )
}

/// Converts words to the nearest double. A null stays null; a value of another length than 32 bytes becomes null and is a
/// failure.
pub fn uint256_to_f64(words: &ByteColumn, integers: Integers) -> (Float64Array, Vec<Failure>) {
    rows::numbers::<Float64Type>((0..words.len()).map(|row| {
        let word = rows::array(words, row)?;
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
    rows::equal_lengths(left, right)?;
    Ok(rows::fixed((0..left.len()).map(|row| {
        let (Some(left), Some(right)) = (rows::array(left, row)?, rows::array(right, row)?) else {
            return Ok(None);
        };
        let (left, right) = (U256::from_be_bytes(*left), U256::from_be_bytes(*right));
        let result = operation(left, right).map(U256::to_be_bytes);
        result
            .ok_or(RowError::Integer("a result below 2^256"))
            .map(Some)
    })))
}

/// Adds up the words that are not null: the sum as a word, 0 if there is none.
///
/// # Errors
/// The first row whose value is not of 32 bytes, or with which the sum leaves the range.
pub fn uint256_sum(words: &ByteColumn, integers: Integers) -> Result<U256, Failure> {
    let mut sum = U256::ZERO;
    for row in 0..words.len() {
        let failure = |error| Failure { row, error };
        let Some(word) = rows::array(words, row).map_err(failure)? else {
            continue;
        };
        let word = U256::from_be_bytes(*word);
        let (next, carry) = sum.overflowing_add(word);
        let overflow = match integers {
            Integers::Uint256 => carry,
            // Only numbers of the same sign can leave the range, and the sum then has the other sign.
            Integers::Int256 => sum.bit(255) == word.bit(255) && next.bit(255) != sum.bit(255),
        };
        if overflow {
            return Err(failure(integers.range()));
        }
        sum = next;
    }
    Ok(sum)
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
