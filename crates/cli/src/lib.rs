//! The `lydite` command, as a library so that a program with more commands can include these ([`Command`]).
//!
//! Exit codes: 0 success, 1 negative result (a checksum or an address that does not match), 2 invalid input.

mod commands;
mod input;
pub mod output;

use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::{Parser, Subcommand};
use lydite::hash::cpu;

use output::Output;

/// Command-line tools for Ethereum data.
///
/// Data is hexadecimal, with or without 0x. Without an argument, or with `-`, it is read from standard input.
/// Exit codes: 0 success, 1 negative result, 2 invalid input. The environment variable LYDITE_BACKEND limits the
/// instruction sets: portable, avx2, adx or avx512 on x86-64; portable, neon or sha3 on AArch64.
#[derive(Parser)]
#[command(name = "lydite", version)]
struct Arguments<C: Subcommand> {
    /// Print the result as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: C,
}

/// The commands. Their help texts are the documentation.
#[derive(Subcommand)]
#[expect(missing_docs)]
pub enum Command {
    Keccak(commands::keccak::Arguments),
    Checksum(commands::checksum::Arguments),
    Selector(commands::selector::Arguments),
    Abi(commands::abi::Arguments),
    Rlp(commands::rlp::Arguments),
    Tx(commands::tx::Arguments),
    Recover(commands::recover::Arguments),
    Sign(commands::sign::Arguments),
    Eip712(commands::eip712::Arguments),
    Xmss(commands::xmss::Arguments),
    Precompile(commands::precompile::Arguments),
    Evm(commands::evm::Arguments),
    Syrup(commands::syrup::Arguments),
    Captp(commands::captp::Arguments),
    DecodeLogs(commands::bulk::DecodeLogs),
    DecodeCalls(commands::bulk::DecodeCalls),
    Senders(commands::bulk::Senders),
    Schema(commands::bulk::Schema),
    Sql(commands::sql::Sql),
}

/// Whether the result is positive, which determines the exit code.
pub enum Answer {
    /// Exit code 0.
    Yes,
    /// Exit code 1.
    No,
}

/// Parses the arguments of the program and runs its command.
pub fn main<C: Subcommand>(run: impl FnOnce(&C, &Output) -> Result<Answer>) -> ExitCode {
    let arguments = match Arguments::<C>::try_parse() {
        Ok(arguments) => arguments,
        // Help and version are also printed to standard output.
        Err(text) => {
            let code = ExitCode::from(text.exit_code() as u8);
            return exit(text.print().map(|()| code).map_err(Into::into));
        }
    };
    if let Err(error) = cpu::requested() {
        return exit(Err(anyhow!("{}: {error}", cpu::VARIABLE)));
    }
    let output = Output {
        json: arguments.json,
    };
    exit(run(&arguments.command, &output).map(|answer| match answer {
        Answer::Yes => ExitCode::SUCCESS,
        Answer::No => ExitCode::from(1),
    }))
}

/// Runs a command.
pub fn run(command: &Command, output: &Output) -> Result<Answer> {
    match command {
        Command::Keccak(arguments) => commands::keccak::run(arguments, output),
        Command::Checksum(arguments) => commands::checksum::run(arguments, output),
        Command::Selector(arguments) => commands::selector::run(arguments, output),
        Command::Abi(arguments) => commands::abi::run(arguments, output),
        Command::Rlp(arguments) => commands::rlp::run(arguments, output),
        Command::Tx(arguments) => commands::tx::run(arguments, output),
        Command::Recover(arguments) => commands::recover::run(arguments, output),
        Command::Sign(arguments) => commands::sign::run(arguments, output),
        Command::Eip712(arguments) => commands::eip712::run(arguments, output),
        Command::Xmss(arguments) => commands::xmss::run(arguments, output),
        Command::Precompile(arguments) => commands::precompile::run(arguments, output),
        Command::Evm(arguments) => commands::evm::run(arguments, output),
        Command::Syrup(arguments) => commands::syrup::run(arguments, output),
        Command::Captp(arguments) => commands::captp::run(arguments, output),
        Command::DecodeLogs(arguments) => commands::bulk::decode_logs(arguments, output),
        Command::DecodeCalls(arguments) => commands::bulk::decode_calls(arguments, output),
        Command::Senders(arguments) => commands::bulk::senders(arguments, output),
        Command::Schema(arguments) => commands::bulk::schema(arguments, output),
        Command::Sql(arguments) => commands::sql::sql(arguments, output),
    }
}

fn exit(code: Result<ExitCode>) -> ExitCode {
    match code {
        Ok(code) => code,
        // The reader of our output has closed it, so there is nothing left to do.
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::report(&error);
            ExitCode::from(2)
        }
    }
}
