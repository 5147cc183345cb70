//! In place of `bulk.rs` in builds without the feature `bulk`.

use anyhow::{Result, bail};
use clap::Args;

use crate::{Answer, output::Output};

/// Requires a build with the feature `bulk`
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<String>,
}

pub type DecodeLogs = Arguments;
pub type DecodeCalls = Arguments;
pub type Senders = Arguments;
pub type Schema = Arguments;

pub fn missing(_: &Arguments, _: &Output) -> Result<Answer> {
    bail!(
        "this build does not read Parquet; install it with: cargo install --locked --path crates/cli --features bulk"
    )
}

pub use missing as decode_logs;
pub use missing as decode_calls;
pub use missing as senders;
pub use missing as schema;
