//! `lydite checksum`

use anyhow::{Context as _, Result};
use clap::Args;
use lydite::bytes::Address;

use crate::{Answer, input, output::Output};

/// Print an address with its EIP-55 checksum; exit code 1 if the input has mixed case and a wrong checksum
#[derive(Args)]
pub struct Arguments {
    /// 40 hexadecimal digits in any case (default: standard input)
    address: Option<String>,
}

pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    let text = input::bytes(arguments.address.as_deref())?;
    let text = text.trim_ascii();
    let address = Address::from_hex(text).context("not an address")?;
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    let is_mixed =
        digits.iter().any(u8::is_ascii_lowercase) && digits.iter().any(u8::is_ascii_uppercase);
    let matches = !is_mixed || Address::parse_checksummed(text).is_ok();
    if output.json {
        output.fields(&[
            ("address", address.to_checksum().into()),
            ("matches", matches.into()),
        ])?;
    } else {
        output.one("address", &address.to_checksum())?;
    }
    Ok(if matches { Answer::Yes } else { Answer::No })
}
