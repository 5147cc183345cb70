//! Integers of any size. The wire format is decimal, and integers that do not fit in an `i64` are kept in decimal, so
//! reading and writing take linear time at any length.
use alloc::{boxed::Box, string::String, vec::Vec};
use core::{cmp::Ordering, fmt, str::FromStr};

/// An integer of any size.
///
/// ```
/// use lydite_ocapn::syrup::Integer;
///
/// let big: Integer = "-340282366920938463463374607431768211456".parse()?;
/// assert_eq!(big.to_string(), "-340282366920938463463374607431768211456");
/// assert!(big < Integer::from(-1));
/// assert_eq!(i64::try_from(&Integer::from(42u8)), Ok(42));
/// assert!(i128::try_from(&big).is_err());
/// # Ok::<(), lydite_ocapn::syrup::ParseIntegerError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Integer(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    /// An integer outside the range of `i64`: digits without leading zeros, after a minus sign if negative.
    Big(Box<str>),
}

/// The text is not an integer (an optional minus sign and decimal digits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseIntegerError;

/// The integer does not fit the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerOutOfRange;

/// An integer in the form that the encoder needs.
pub(super) enum Parts<'a> {
    Small(i64),
    Big { negative: bool, digits: &'a str },
}

impl Integer {
    /// Whether the integer is below zero.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::Small(value) => *value < 0,
            Repr::Big(text) => text.starts_with('-'),
        }
    }

    /// Creates an integer from its sign and magnitude, least significant limb first.
    ///
    /// Takes time quadratic in the number of limbs.
    pub fn from_sign_magnitude(negative: bool, limbs: &[u64]) -> Self {
        let mut limbs = limbs.to_vec();
        let mut groups = Vec::new();
        while limbs.iter().any(|&limb| limb != 0) {
            let mut rest = 0;
            for limb in limbs.iter_mut().rev() {
                let value = u128::from(rest) << 64 | u128::from(*limb);
                *limb = (value / u128::from(GROUP)) as u64;
                rest = (value % u128::from(GROUP)) as u64;
            }
            groups.push(rest);
        }
        let mut text = String::new();
        for (i, group) in groups.iter().rev().enumerate() {
            let digits = itoa(*group);
            if i > 0 {
                text.extend(core::iter::repeat_n('0', GROUP_DIGITS - digits.len()));
            }
            text.push_str(&digits);
        }
        Self::from_decimal(negative, &text)
    }

    /// Returns the magnitude, least significant limb first, without leading zero limbs.
    ///
    /// Takes time quadratic in the number of digits, so limit the length of untrusted input.
    pub fn magnitude(&self) -> Vec<u64> {
        let mut limbs: Vec<u64> = Vec::new();
        match self.parts() {
            Parts::Small(0) => {}
            Parts::Small(value) => limbs.push(value.unsigned_abs()),
            Parts::Big { digits, .. } => {
                let first = digits.len() % GROUP_DIGITS;
                let (head, tail) = digits.as_bytes().split_at(first);
                for group in core::iter::once(head).chain(tail.chunks(GROUP_DIGITS)) {
                    let (mut scale, mut value) = (1u64, 0u64);
                    for digit in group {
                        scale *= 10;
                        value = 10 * value + u64::from(digit - b'0');
                    }
                    let mut carry = value;
                    for limb in &mut limbs {
                        let product = u128::from(*limb) * u128::from(scale) + u128::from(carry);
                        *limb = product as u64;
                        carry = (product >> 64) as u64;
                    }
                    if carry != 0 {
                        limbs.push(carry);
                    }
                }
            }
        }
        limbs
    }

    /// Creates an integer from decimal digits. Leading zeros are allowed.
    pub(super) fn from_decimal(negative: bool, digits: &str) -> Self {
        let digits = digits.trim_start_matches('0');
        if digits.len() < 20 {
            // At most 19 digits: no overflow.
            let value = digits
                .bytes()
                .fold(0i128, |value, digit| 10 * value + i128::from(digit - b'0'));
            let value = if negative { -value } else { value };
            if let Ok(value) = i64::try_from(value) {
                return Self(Repr::Small(value));
            }
        }
        let mut text = String::with_capacity(digits.len() + usize::from(negative));
        if negative {
            text.push('-');
        }
        text.push_str(digits);
        Self(Repr::Big(text.into_boxed_str()))
    }

    /// Creates an integer from a magnitude that fits in 64 bits.
    #[inline]
    pub(super) fn from_word(negative: bool, magnitude: u64) -> Self {
        match i64::try_from(magnitude) {
            Ok(value) => Self(Repr::Small(if negative { -value } else { value })),
            Err(_) => Self::from_decimal(negative, &itoa(magnitude)),
        }
    }

    #[inline]
    pub(super) fn parts(&self) -> Parts<'_> {
        match &self.0 {
            Repr::Small(value) => Parts::Small(*value),
            Repr::Big(text) => {
                // Without a branch, since signs are hard to predict.
                let negative = text.as_bytes().first() == Some(&b'-');
                let digits = text.get(usize::from(negative)..).unwrap_or_default();
                Parts::Big { negative, digits }
            }
        }
    }

    /// Estimated length of the encoding in bytes.
    #[inline]
    pub(super) fn length(&self) -> usize {
        match &self.0 {
            Repr::Small(_) => 6,
            Repr::Big(text) => text.len() + 1,
        }
    }
}

/// The number of digits that always fit in 64 bits, and the corresponding power of ten.
const GROUP_DIGITS: usize = 19;
const GROUP: u64 = 10u64.pow(GROUP_DIGITS as u32);

fn itoa(value: u64) -> String {
    use alloc::string::ToString as _;
    value.to_string()
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            Parts::Small(value) => fmt::Display::fmt(&value, f),
            Parts::Big { negative, digits } => f.pad_integral(!negative, "", digits),
        }
    }
}

impl fmt::Debug for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ParseIntegerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a decimal integer")
    }
}

impl core::error::Error for ParseIntegerError {}

impl fmt::Display for IntegerOutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("integer out of range for its type")
    }
}

impl core::error::Error for IntegerOutOfRange {}

impl FromStr for Integer {
    type Err = ParseIntegerError;

    fn from_str(text: &str) -> Result<Self, ParseIntegerError> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ParseIntegerError);
        }
        Ok(Self::from_decimal(negative, digits))
    }
}

impl Ord for Integer {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a.cmp(b),
            // Integers that do not fit in an `i64` are beyond all that do.
            (Repr::Small(_), Repr::Big(_)) if other.is_negative() => Ordering::Greater,
            (Repr::Small(_), Repr::Big(_)) => Ordering::Less,
            (Repr::Big(_), Repr::Small(_)) => other.cmp(self).reverse(),
            (Repr::Big(a), Repr::Big(b)) => match (self.is_negative(), other.is_negative()) {
                (false, true) => Ordering::Greater,
                (true, false) => Ordering::Less,
                (negative, _) => {
                    let magnitudes = (a.len(), a).cmp(&(b.len(), b));
                    if negative {
                        magnitudes.reverse()
                    } else {
                        magnitudes
                    }
                }
            },
        }
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

macro_rules! words {
    ($($word:ty)*) => {$(
        impl From<$word> for Integer {
            #[inline]
            fn from(value: $word) -> Self {
                match i64::try_from(value) {
                    Ok(value) => Self(Repr::Small(value)),
                    Err(_) => Self(Repr::Big(alloc::format!("{value}").into_boxed_str())),
                }
            }
        }

        impl TryFrom<&Integer> for $word {
            type Error = IntegerOutOfRange;

            #[inline]
            fn try_from(value: &Integer) -> Result<Self, IntegerOutOfRange> {
                match &value.0 {
                    Repr::Small(value) => Self::try_from(*value).map_err(|_| IntegerOutOfRange),
                    Repr::Big(text) => text.parse().map_err(|_| IntegerOutOfRange),
                }
            }
        }
    )*};
}
words!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
