//! The data of reverted calls.
//!
//! Source: Solidity documentation, "Panic via assert and Error via require".

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt;

use lydite_bytes::{U256, hex};

use super::{CallCodec, Error, Mode, Signature, Value, decode_with, selector_const};

const ERROR: [u8; 4] = selector_const("Error(string)");
const PANIC: [u8; 4] = selector_const("Panic(uint256)");

/// The reason that a reverted call returned.
///
/// ```
/// use lydite_evm::abi::{CallCodec, Revert};
/// let errors = [CallCodec::parse("error InsufficientBalance(uint256 available, uint256 required)")?];
/// let data = lydite_evm::abi::encode_call(errors[0].selector(), &(5u64, 7u64));
/// assert_eq!(Revert::decode(&data, &errors)?.to_string(), "reverted: InsufficientBalance(5,7)");
///
/// let data = lydite_evm::abi::encode_call([0x4e, 0x48, 0x7b, 0x71], &0x11u64);
/// assert_eq!(Revert::decode(&data, &errors)?.to_string(), "panic 0x11: arithmetic overflow or underflow");
/// # Ok::<(), lydite_evm::abi::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revert<'a> {
    /// No data, as from `revert()`.
    Empty,
    /// `Error(string)`, as from `revert("…")`. In [`Mode::Lenient`], invalid UTF-8 is replaced by U+FFFD.
    Message(Cow<'a, str>),
    /// `Panic(uint256)`, with the code of the failed check.
    Panic(U256),
    /// A custom error and its arguments.
    Custom(&'a Signature, Vec<Value>),
    /// Data that does not start with the selector of a known error.
    Unknown(&'a [u8]),
}

impl<'a> Revert<'a> {
    /// Decodes the data of a reverted call, which may be one of these custom errors, in [`Mode::Strict`].
    ///
    /// # Errors
    /// If the arguments of a known error are invalid: the kind of error and the byte of `data`.
    pub fn decode(data: &'a [u8], errors: &'a [CallCodec]) -> Result<Self, Error> {
        Self::decode_with(data, errors, Mode::Strict)
    }

    /// Like [`decode`](Self::decode), in the given mode. [`Mode::Lenient`] also reads the messages of contracts that
    /// omit the final padding or do not write UTF-8.
    ///
    /// ```
    /// use lydite_evm::abi::{self, Mode, Revert};
    /// let mut data = abi::encode_call([0x08, 0xc3, 0x79, 0xa0], &"paused");
    /// data.truncate(4 + 64 + 6);
    /// assert!(Revert::decode(&data, &[]).is_err());
    /// assert_eq!(Revert::decode_with(&data, &[], Mode::Lenient)?.to_string(), "reverted: paused");
    /// # Ok::<(), abi::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`decode`](Self::decode).
    pub fn decode_with(data: &'a [u8], errors: &'a [CallCodec], mode: Mode) -> Result<Self, Error> {
        let Some((selector, arguments)) = data.split_first_chunk() else {
            return Ok(match data {
                [] => Self::Empty,
                _ => Self::Unknown(data),
            });
        };
        let after_selector = |error: Error| error.after(selector.len());
        match *selector {
            ERROR => {
                let text = match mode {
                    Mode::Lenient => decode_with(arguments, mode).map(String::from_utf8_lossy),
                    _ => decode_with(arguments, mode).map(Cow::Borrowed),
                };
                text.map(Self::Message).map_err(after_selector)
            }
            PANIC => decode_with(arguments, mode)
                .map(Self::Panic)
                .map_err(after_selector),
            selector => match errors.iter().find(|error| error.selector() == selector) {
                Some(error) => {
                    let values = error.decode_with(data, mode)?;
                    Ok(Self::Custom(error.signature(), values))
                }
                None => Ok(Self::Unknown(data)),
            },
        }
    }
}

/// Returns what a panic code means.
fn meaning(code: &U256) -> Option<&'static str> {
    Some(match u64::try_from(*code).ok()? {
        0x00 => "unspecified",
        0x01 => "assertion failed",
        0x11 => "arithmetic overflow or underflow",
        0x12 => "division by zero",
        0x21 => "value is not a member of the enum",
        0x22 => "incorrectly encoded storage byte array",
        0x31 => "pop from an empty array",
        0x32 => "index out of bounds",
        0x41 => "too much memory allocated",
        0x51 => "call of an uninitialized function",
        _ => return None,
    })
}

impl fmt::Display for Revert<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("reverted without data"),
            Self::Message(text) => write!(f, "reverted: {text}"),
            Self::Panic(code) => {
                write!(f, "panic {code:#04x}")?;
                meaning(code).map_or(Ok(()), |meaning| write!(f, ": {meaning}"))
            }
            Self::Custom(signature, values) => {
                write!(f, "reverted: {}(", signature.name)?;
                for (i, value) in values.iter().enumerate() {
                    let comma = if i > 0 { "," } else { "" };
                    write!(f, "{comma}{value}")?;
                }
                f.write_str(")")
            }
            Self::Unknown(data) => {
                let start = hex::encode_prefixed(&data[..data.len().min(4)]);
                write!(f, "reverted: unknown error {start} ({} bytes)", data.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use alloc::string::ToString;

    use super::*;
    use crate::abi::{ErrorKind, encode_call};

    fn text(data: &[u8]) -> alloc::string::String {
        Revert::decode(data, &[]).unwrap().to_string()
    }

    #[test]
    fn solidity_errors() {
        // The selectors are those of the Solidity documentation.
        let message = encode_call([0x08, 0xc3, 0x79, 0xa0], &"Not enough Ether provided.");
        assert_eq!(
            Revert::decode(&message, &[]),
            Ok(Revert::Message("Not enough Ether provided.".into()))
        );
        assert_eq!(text(&message), "reverted: Not enough Ether provided.");
        let panic = |code: U256| encode_call([0x4e, 0x48, 0x7b, 0x71], &code);
        assert_eq!(text(&panic(U256::ONE)), "panic 0x01: assertion failed");
        assert_eq!(
            text(&panic(U256::from(0x32u8))),
            "panic 0x32: index out of bounds"
        );
        assert_eq!(text(&panic(U256::from(0x99u8))), "panic 0x99");
        let large = U256::ONE << 64;
        assert_eq!(text(&panic(large)), "panic 0x10000000000000000");
        assert_eq!(Revert::decode(&panic(large), &[]), Ok(Revert::Panic(large)));
    }

    #[test]
    fn other_data() {
        assert_eq!(text(&[]), "reverted without data");
        assert_eq!(text(&[1, 2]), "reverted: unknown error 0x0102 (2 bytes)");
        let errors = [CallCodec::parse("error Failed(bytes)").unwrap()];
        let data = encode_call(errors[0].selector(), &&b"\x07"[..]);
        assert_eq!(text(&data).split(" (").nth(1), Some("100 bytes)"));
        let values = [Value::Bytes([7].into())].to_vec();
        assert_eq!(
            Revert::decode(&data, &errors),
            Ok(Revert::Custom(errors[0].signature(), values))
        );
    }

    /// Data of contracts that do not follow the ABI to the letter.
    #[test]
    fn lenient_decoding_keeps_the_reason() {
        let errors = [CallCodec::parse("error Failed(string)").unwrap()];
        for (selector, reverted) in [
            ([0x08, 0xc3, 0x79, 0xa0], "reverted: te\u{fffd}t"),
            (errors[0].selector(), "reverted: Failed(\"te\u{fffd}t\")"),
        ] {
            let mut data = encode_call(selector, &"test");
            data[4 + 64 + 2] = 0xff;
            data.truncate(4 + 64 + 4);
            let decoded = Revert::decode_with(&data, &errors, Mode::Lenient).unwrap();
            assert_eq!(decoded.to_string(), reverted);
            assert!(Revert::decode(&data, &errors).is_err());
        }
    }

    #[test]
    fn invalid_arguments_have_their_position() {
        let message = encode_call([0x08, 0xc3, 0x79, 0xa0], &"text");
        for length in 4..message.len() {
            let error = Revert::decode(&message[..length], &[]).unwrap_err();
            assert!(error.offset >= 4 && error.offset <= length, "{error}");
        }
        let error = Revert::decode(&message[..36], &[]).unwrap_err();
        assert_eq!(error, Error::new(ErrorKind::Truncated, 36));
        let errors = [CallCodec::parse("error Failed(bool)").unwrap()];
        let data = encode_call(errors[0].selector(), &2u64);
        let error = Revert::decode(&data, &errors).unwrap_err();
        assert_eq!(error.to_string(), "byte 4: expected a boolean (0 or 1)");
    }
}
