//! `lydite keccak`

use anyhow::Result;
use clap::Args;
use lydite::bytes::hex;
use lydite::hash::keccak256;

use crate::{Answer, input, output::Output};

/// Compute Keccak-256
#[derive(Args)]
pub struct Arguments {
    /// Hexadecimal data (default: standard input)
    data: Option<String>,
    /// Read the input as raw bytes instead of hexadecimal
    #[arg(long)]
    raw: bool,
}

pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    let data = input::data(arguments.data.as_deref(), arguments.raw)?;
    output.one("hash", &hex::encode_prefixed(keccak256(&data)))?;
    Ok(Answer::Yes)
}
