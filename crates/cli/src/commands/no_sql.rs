//! In place of `sql.rs` in builds without the feature `sql`.

use anyhow::{Result, bail};
use clap::Args;

use crate::{Answer, output::Output};

/// Requires a build with the feature `sql`
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Sql {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<String>,
}

pub fn sql(_: &Sql, _: &Output) -> Result<Answer> {
    bail!(
        "this build has no SQL engine; install it with: cargo install --locked --path crates/cli --features sql"
    )
}
