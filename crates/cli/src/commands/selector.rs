//! `lydite selector`

use anyhow::{Context as _, Result};
use clap::Args;
use lydite::bytes::hex;
use lydite::evm::abi::{self, Signature};

use crate::{Answer, input, output::Output};

/// Print the selector of a function or error, or the topic of an event
#[derive(Args)]
pub struct Arguments {
    /// `transfer(address,uint256)`, or a line of Solidity such as `event Sent(address indexed to)` (default: standard
    /// input)
    signature: Option<String>,
}

pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    let text = input::text(arguments.signature.as_deref())?;
    let signature = Signature::parse(text.trim())
        .context("signature")?
        .to_string();
    output.fields(&[
        (
            "selector",
            hex::encode_prefixed(abi::selector(&signature)?).into(),
        ),
        ("topic", abi::event_topic(&signature)?.to_string().into()),
        ("signature", signature.into()),
    ])?;
    Ok(Answer::Yes)
}
