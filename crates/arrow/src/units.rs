//! Amounts with decimals as text, such as wei as ether.

use arrow_array::{Array as _, ArrayRef, FixedSizeBinaryArray, StringArray, cast::AsArray as _};
use arrow_schema::DataType;
use lydite_bytes::U256;

use crate::integers::{IntegerColumn, expand};
use crate::{ByteColumn, Error, Failure, RowError, rows};

/// 10^77 is the greatest power of 10 below 2^256.
const DECIMALS: RowError = RowError::Integer("a number of decimals from 0 to 77");

/// Divides each word by 10^decimals and writes the quotient as decimal text, exactly and without trailing zeros: 1500000 with
/// 6 decimals is `1.5`. If one of them is null, so is the text; a value of another length than 32 bytes, and more than 77
/// decimals, make it null and are failures.
///
/// # Errors
/// [`Error::Length`] if the columns differ in length; [`Error::NotIntegers`] if the decimals are not numbers.
pub fn format_units(
    words: &ByteColumn,
    decimals: &ArrayRef,
) -> Result<(StringArray, Vec<Failure>), Error> {
    let decimals = Decimals::try_new(words.len(), decimals)?;
    Ok(rows::variable(words.len(), 0, |row, texts| {
        let (Some(word), Some(decimals)) = (words.try_array(row)?, decimals.get(row)?) else {
            return Ok(None);
        };
        let digits = U256::from_be_bytes(*word).to_string();
        let digits = format!("{digits:0>width$}", width = decimals + 1);
        let (whole, fraction) = digits.split_at(digits.len() - decimals);
        texts.extend_from_slice(whole.as_bytes());
        let fraction = fraction.trim_end_matches('0');
        if !fraction.is_empty() {
            texts.push(b'.');
            texts.extend_from_slice(fraction.as_bytes());
        }
        Ok(Some(()))
    }))
}

/// Multiplies the number in each text by 10^decimals, to words: the reverse of [`format_units`]. If one of them is null, so is
/// the word; text that is not a decimal number, a number with more decimals, and one that is not below 2^256 make it null
/// and are failures. The result is a FixedSizeBinary(32).
///
/// # Errors
/// [`Error::Length`] if the columns differ in length; [`Error::NotText`], [`Error::NotIntegers`] if one has another type.
pub fn parse_units(
    texts: &ArrayRef,
    decimals: &ArrayRef,
) -> Result<(FixedSizeBinaryArray, Vec<Failure>), Error> {
    let decimals = Decimals::try_new(texts.len(), decimals)?;
    let array = expand(texts);
    let texts: Vec<Option<&str>> = match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().collect(),
        DataType::Utf8View => array.as_string_view().iter().collect(),
        DataType::Null => vec![None; array.len()],
        other => return Err(Error::NotText(other.clone())),
    };
    Ok(rows::fixed(texts.into_iter().enumerate().map(
        |(row, text)| {
            let (Some(text), Some(decimals)) = (text, decimals.get(row)?) else {
                return Ok(None);
            };
            let value = parse(text, decimals);
            let value = value.ok_or(RowError::Integer(
                "a decimal number that its decimals and 256 bits can hold",
            ))?;
            Ok(Some(value.to_be_bytes()))
        },
    )))
}

fn parse(text: &str, decimals: usize) -> Option<U256> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > decimals {
        return None;
    }
    format!("0{whole}{fraction:0<decimals$}").parse().ok()
}

/// A column of numbers of decimals.
struct Decimals(IntegerColumn);

impl Decimals {
    fn try_new(rows: usize, decimals: &ArrayRef) -> Result<Self, Error> {
        match decimals.len() {
            len if len != rows => Err(Error::Length(rows, len)),
            _ => IntegerColumn::try_new(decimals).map(Self),
        }
    }

    fn get(&self, row: usize) -> rows::Row<usize> {
        let Some((negative, decimals)) = self.0.number(row).ok_or(DECIMALS)? else {
            return Ok(None);
        };
        let decimals = u64::try_from(decimals).ok().filter(|_| !negative);
        let decimals = decimals.filter(|decimals| *decimals <= 77);
        decimals
            .map(|decimals| Some(decimals as usize))
            .ok_or(DECIMALS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_that_are_none() {
        for (text, decimals, expected) in [
            ("1.5", 6, Some(1_500_000u64)),
            (".5", 1, Some(5)),
            ("7.", 0, Some(7)),
            ("0010.00", 0, Some(10)),
            ("0", 77, Some(0)),
            ("1.05", 1, None),
            (".", 1, None),
            ("", 1, None),
            ("-1", 1, None),
            ("+1", 1, None),
            ("0x1", 1, None),
            ("1e3", 1, None),
            ("1.2.3", 9, None),
            ("2", 77, None),
        ] {
            assert_eq!(parse(text, decimals), expected.map(U256::from), "{text}");
        }
        assert_eq!(parse(&U256::MAX.to_string(), 0), Some(U256::MAX));
    }
}
