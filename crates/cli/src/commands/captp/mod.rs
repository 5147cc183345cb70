//! `lydite captp`

mod inspect;
#[cfg(feature = "net")]
mod net;
#[cfg(feature = "net")]
mod trace;
#[cfg(not(feature = "net"))]
mod net {
    crate::commands::missing::missing!(
        "net", "this build does not open connections",
        Serve serve, Call call, Trace trace, Replay replay
    );
}
#[cfg(not(feature = "net"))]
use net as trace;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::{Answer, output::Output};

/// Inspect, serve and call: CapTP, the message protocol of OCapN
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Inspect(inspect::Inspect),
    Serve(net::Serve),
    Call(net::Call),
    Trace(trace::Trace),
    Replay(net::Replay),
}

pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    match &arguments.command {
        Command::Inspect(arguments) => inspect::inspect(arguments, output),
        Command::Serve(arguments) => net::serve(arguments, output),
        Command::Call(arguments) => net::call(arguments, output),
        Command::Trace(arguments) => trace::trace(arguments, output),
        Command::Replay(arguments) => net::replay(arguments, output),
    }
}
