//! `lydite bench`: forwards to the arena.

use anyhow::{Result, bail};
pub use lydite_arena::cli::BenchArgs as Arguments;

use crate::{Answer, output};

pub fn run(arguments: &Arguments, output: &output::Output) -> Result<Answer> {
    if output.json {
        bail!("--json: not supported by bench; see result.json in the directory of the run");
    }
    output::write(&lydite_arena::cli::run(arguments)?)?;
    Ok(Answer::Yes)
}
