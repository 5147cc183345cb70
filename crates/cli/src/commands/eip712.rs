//! `lydite eip712`

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use lydite::evm::eip712::TypedData;

use crate::{Answer, input, output::Output};

/// Hash EIP-712 typed data
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the hash to sign for an `eth_signTypedData_v4` document
    Hash {
        /// JSON document (default: standard input)
        file: Option<PathBuf>,
    },
}

pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    let Command::Hash { file } = &arguments.command;
    let text = match file {
        Some(path) if path.as_os_str() != "-" => {
            std::fs::read_to_string(path).with_context(|| path.display().to_string())?
        }
        _ => input::text(None)?,
    };
    let data = TypedData::from_json(&text)?;
    if output.json {
        output.fields(&[
            ("signingHash", data.signing_hash().to_string().into()),
            (
                "domainSeparator",
                data.domain_separator().to_string().into(),
            ),
            ("structHash", data.hash_struct().to_string().into()),
            ("primaryType", data.primary_type().into()),
            ("encodeType", data.encode_type().into()),
            ("typeHash", data.type_hash().to_string().into()),
        ])?;
    } else {
        output.one("signingHash", &data.signing_hash().to_string())?;
    }
    Ok(Answer::Yes)
}
