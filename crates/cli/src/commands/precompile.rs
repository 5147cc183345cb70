//! `lydite precompile`

use anyhow::{Context as _, Result, bail};
use clap::Args;
use lydite::bytes::hex;
use lydite::evm::precompile::{Fork, Precompile};

use crate::{Answer, input, output::Output};

/// Run a precompiled contract of the EVM and print its output and gas
#[derive(Args)]
pub struct Arguments {
    /// Address of the contract, decimal, or hexadecimal with 0x: 1 to 0x11, or 0x100
    #[arg(value_parser = number)]
    address: u16,
    /// Input in hexadecimal, or `-` for standard input (default: standard input)
    #[arg(long, value_name = "HEX")]
    input: Option<String>,
    /// Fork whose rules and gas apply
    #[arg(long, default_value_t = Fork::Osaka)]
    fork: Fork,
    /// Gas limit of the call
    #[arg(long, value_name = "GAS", default_value_t = 30_000_000)]
    gas: u64,
}

/// Parses the number at the end of an address, hexadecimal with 0x or decimal.
fn number(text: &str) -> Result<u16> {
    let number = match text.strip_prefix("0x") {
        Some(digits) if digits.len() <= 40 => u128::from_str_radix(digits, 16)?,
        Some(digits) => {
            bail!(
                "expected at most 40 hexadecimal digits, found {}",
                digits.len()
            )
        }
        None => text.parse()?,
    };
    Ok(u16::try_from(number)?)
}

pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    let fork = arguments.fork;
    let Some(precompile) = Precompile::at(arguments.address, fork) else {
        bail!(
            "{fork} has no precompiled contract at 0x{:x}",
            arguments.address
        );
    };
    let input = input::data(arguments.input.as_deref(), false).context("input")?;
    let mut out = Vec::new();
    match precompile.run(&input, arguments.gas, fork, &mut out) {
        Ok(gas) => {
            output.fields(&[
                ("output", hex::encode_prefixed(&out).into()),
                ("gas", gas.into()),
            ])?;
            Ok(Answer::Yes)
        }
        Err(error) => {
            output.fields(&[
                ("failed", error.to_string().into()),
                ("gas", arguments.gas.into()),
            ])?;
            Ok(Answer::No)
        }
    }
}
