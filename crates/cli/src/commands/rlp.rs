//! `lydite rlp`

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use lydite::bytes::hex;
use lydite::evm::rlp::{self, Event};

use crate::{Answer, input, output, output::Output};

/// Decode RLP, Ethereum's list encoding
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print an item as JSON: strings in hexadecimal, lists as arrays
    Decode {
        /// Hexadecimal data (default: standard input)
        data: Option<String>,
        /// Read the input as raw bytes instead of hexadecimal
        #[arg(long)]
        raw: bool,
    },
}

/// Deeper lists are not indented further, because the size of the output would grow with the square of the depth.
const MAX_INDENT: usize = 16;

pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    let Command::Decode { data, raw } = &arguments.command;
    let data = input::data(data.as_deref(), *raw)?;
    let mut text = String::with_capacity(2 * data.len());
    if output.json {
        text.push_str("{\"item\":");
    }
    let mut depth = 0;
    let mut first = true;
    for event in rlp::items(&data) {
        let event = event.context("not RLP")?;
        if event == Event::End {
            depth -= 1;
        } else if !first {
            text.push(',');
        }
        let closes_empty = event == Event::End && first;
        if !(output.json || text.is_empty() || closes_empty) {
            text.push('\n');
            text.extend(std::iter::repeat_n("  ", depth.min(MAX_INDENT)));
        }
        first = false;
        match event {
            Event::String(bytes) => text.extend(["\"", &hex::encode_prefixed(bytes), "\""]),
            Event::List => {
                text.push('[');
                depth += 1;
                first = true;
            }
            Event::End => text.push(']'),
        }
    }
    text.push_str(if output.json { "}\n" } else { "\n" });
    output::write(&text)?;
    Ok(Answer::Yes)
}
