//! The arena's command as a separate program: `cargo run --release -p lydite-arena --example bench -- doctor`.

use clap::Parser;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    bench: lydite_arena::cli::BenchArgs,
}

fn main() -> anyhow::Result<()> {
    print!("{}", lydite_arena::cli::run(&Command::parse().bench)?);
    Ok(())
}
