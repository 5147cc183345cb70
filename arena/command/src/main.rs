//! The `lydite` command with `bench`. It is a separate program because the arena is not published.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Subcommand;
use lydite_arena::cli::BenchArgs;
use lydite_cli::output::{self, Output};
use lydite_cli::{Answer, Command};

#[derive(Subcommand)]
enum Commands {
    #[command(flatten)]
    Lydite(Command),
    Bench(BenchArgs),
}

fn main() -> ExitCode {
    lydite_cli::main(|command, output| match command {
        Commands::Lydite(command) => lydite_cli::run(command, output),
        Commands::Bench(arguments) => bench(arguments, output),
    })
}

fn bench(arguments: &BenchArgs, output: &Output) -> Result<Answer> {
    if output.json {
        bail!("--json: not supported by bench; see result.json in the directory of the run");
    }
    output::write(&lydite_arena::cli::run(arguments)?)?;
    Ok(Answer::Yes)
}
