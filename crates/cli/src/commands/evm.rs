//! `lydite evm`

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use lydite::bytes::hex;
use lydite::evm::precompile::Fork;
use lydite_alloy::Status;

use crate::{Answer, input, output::Output};

/// Run the Ethereum virtual machine (revm, with this library's precompiled contracts)
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run bytecode in an empty state; exit code 1 if it reverts or fails
    Run(RunArguments),
}

#[derive(Args)]
struct RunArguments {
    /// Bytecode in hexadecimal, or `-` for standard input (default: standard input)
    #[arg(long, value_name = "HEX")]
    code: Option<String>,
    /// Call data in hexadecimal
    #[arg(long, value_name = "HEX", default_value = "")]
    input: String,
    /// Fork whose rules apply
    #[arg(long, default_value_t = Fork::Osaka)]
    fork: Fork,
    /// Gas limit of the call; no intrinsic transaction gas is deducted
    #[arg(long, value_name = "GAS", default_value_t = 30_000_000)]
    gas: u64,
}

pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    let Command::Run(arguments) = &arguments.command;
    let code = input::data(arguments.code.as_deref(), false).context("code")?;
    let data = hex::decode(arguments.input.trim()).context("input: not hexadecimal data")?;
    lydite_alloy::install();
    let run = lydite_alloy::execute(&code, &data, arguments.gas, arguments.fork)?;
    let status = match &run.status {
        Status::Success => "success".to_owned(),
        Status::Revert => "revert".to_owned(),
        Status::Halt(reason) => format!("halt: {reason:?}"),
    };
    output.fields(&[
        ("status", status.into()),
        ("output", hex::encode_prefixed(&run.output).into()),
        ("gas", run.gas_used.into()),
    ])?;
    Ok(if run.status == Status::Success {
        Answer::Yes
    } else {
        Answer::No
    })
}
