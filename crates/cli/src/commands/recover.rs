//! `lydite recover`

use anyhow::{Context as _, Result};
use clap::Args;
use lydite::bytes::{Address, hex};
use lydite::curve::secp256k1::{self, Signature};

use super::sign::hash_of;
use crate::{Answer, output::Output};

/// Recover the address that made a signature
#[derive(Args)]
pub struct Arguments {
    /// Signed hash, 32 bytes in hexadecimal, or `-` for standard input
    hash: String,
    /// r, s and v, 65 bytes in hexadecimal; v is 0 to 3, 27 or 28
    signature: String,
    /// Treat the first argument as a text message, signed with EIP-191 (`personal_sign`)
    #[arg(long)]
    message: bool,
    /// Expected signer; exit code 1 if it is another address
    #[arg(long, value_name = "ADDRESS")]
    expect: Option<String>,
}

pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    let expected = arguments
        .expect
        .as_deref()
        .map(Address::from_hex)
        .transpose()
        .context("--expect")?;
    let bytes = hex::decode_to_array(&arguments.signature).context("signature")?;
    let signature = Signature::from_bytes65_any_v(&bytes)?;
    let hash = hash_of(Some(&arguments.hash), arguments.message)?;
    let public_key = secp256k1::recover(&hash, &signature)?;
    let address = public_key.to_address();
    if output.json {
        output.fields(&[
            ("address", address.to_checksum().into()),
            (
                "publicKey",
                hex::encode_prefixed(public_key.to_sec1_uncompressed()).into(),
            ),
            ("hash", hex::encode_prefixed(hash).into()),
            ("highS", signature.is_high_s().into()),
        ])?;
    } else {
        output.one("address", &address.to_checksum())?;
    }
    Ok(if expected.is_none_or(|expected| expected == address) {
        Answer::Yes
    } else {
        Answer::No
    })
}
