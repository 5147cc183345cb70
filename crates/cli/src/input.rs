//! Input: an argument, or standard input.

use std::io::Read as _;

use anyhow::{Context as _, Result};
use lydite::bytes::hex;

/// Returns the argument's text, or all of standard input if there is no argument or it is `-`.
pub fn bytes(argument: Option<&str>) -> Result<Vec<u8>> {
    match argument {
        None | Some("-") => {
            let mut bytes = Vec::new();
            std::io::stdin()
                .lock()
                .read_to_end(&mut bytes)
                .context("standard input")?;
            Ok(bytes)
        }
        Some(text) => Ok(text.as_bytes().to_vec()),
    }
}

/// Like [`bytes`], as text.
pub fn text(argument: Option<&str>) -> Result<String> {
    String::from_utf8(bytes(argument)?)
        .map_err(|error| error.utf8_error())
        .context("not UTF-8 text")
}

/// Like [`bytes`], decoded from hexadecimal unless `raw`.
pub fn data(argument: Option<&str>, raw: bool) -> Result<Vec<u8>> {
    let bytes = bytes(argument)?;
    if raw {
        Ok(bytes)
    } else {
        hex::decode(bytes.trim_ascii()).context("not hexadecimal data")
    }
}
