//! The `lydite` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    lydite_cli::main(lydite_cli::run)
}
