//! In place of `net.rs` in builds without the feature `net`.

use anyhow::{Result, bail};
use clap::Args;

use crate::{Answer, output::Output};

/// Requires a build with the feature `net`
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<String>,
}

pub type Serve = Arguments;
pub type Call = Arguments;
pub type Trace = Arguments;

pub fn missing(_: &Arguments, _: &Output) -> Result<Answer> {
    bail!(
        "this build does not open connections; install it with: cargo install --locked --path crates/cli --features net"
    )
}

pub use missing as serve;
pub use missing as call;
pub use missing as trace;
