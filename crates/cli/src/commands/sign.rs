//! `lydite sign`
//!
//! The key is never an argument: arguments are visible to every user of the machine and are kept in the shell's
//! history.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use lydite::bytes::hex;
use lydite::curve::secp256k1::SecretKey;
use lydite::evm::eip191;
use zeroize::Zeroizing;

use crate::{Answer, input, output::Output};

/// Sign a hash, or a message with EIP-191
///
/// The signature is deterministic (RFC 6979) with low s, and printed as r, s and v = 27 or 28.
#[derive(Args)]
pub struct Arguments {
    /// Hash to sign, 32 bytes in hexadecimal (default: standard input)
    hash: Option<String>,
    /// Treat the input as a text message and hash it with EIP-191 (`personal_sign`)
    #[arg(long)]
    message: bool,
    /// Environment variable that contains the key, 32 bytes in hexadecimal
    #[arg(long, value_name = "NAME", default_value = "LYDITE_KEY")]
    key_env: String,
    /// File that contains the key in hexadecimal; must be readable only by its owner
    #[arg(long, value_name = "FILE", conflicts_with = "key_env")]
    key_file: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    let key = match &arguments.key_file {
        Some(path) => {
            key_from_file(path).with_context(|| format!("key file {}", path.display()))?
        }
        None => key_from_environment(&arguments.key_env)
            .with_context(|| format!("key in environment variable {}", arguments.key_env))?,
    };
    let hash = hash_of(arguments.hash.as_deref(), arguments.message)?;
    let signature = key.sign_prehash(&hash);
    let mut bytes = signature.to_bytes65();
    bytes[64] += 27;
    let signature_text = hex::encode_prefixed(bytes);
    if output.json {
        output.fields(&[
            ("signature", signature_text.into()),
            ("r", hex::encode_prefixed(signature.r()).into()),
            ("s", hex::encode_prefixed(signature.s()).into()),
            ("yParity", signature.recovery_id().into()),
            ("hash", hex::encode_prefixed(hash).into()),
            (
                "address",
                key.public_key().to_address().to_checksum().into(),
            ),
        ])?;
    } else {
        output.one("signature", &signature_text)?;
    }
    Ok(Answer::Yes)
}

/// Returns the given hash, or the hash of the given message.
pub fn hash_of(argument: Option<&str>, is_message: bool) -> Result<[u8; 32]> {
    let bytes = input::bytes(argument)?;
    if is_message {
        return Ok(eip191::hash_message(&bytes).0);
    }
    hex::decode_to_array(bytes.trim_ascii()).context("hash")
}

fn key_from_environment(name: &str) -> Result<SecretKey> {
    let Some(text) = std::env::var_os(name) else {
        bail!("not set")
    };
    let text = Zeroizing::new(text.into_encoded_bytes());
    parse_key(&text)
}

fn key_from_file(path: &Path) -> Result<SecretKey> {
    let file = File::open(path)?;
    refuse_shared(&file)?;
    // Room for the digits, the prefix and surrounding white space; a growing buffer would leave copies in memory.
    let mut buffer = Zeroizing::new([0; 256]);
    let mut length = 0;
    let mut file = file.take(buffer.len() as u64);
    loop {
        match file.read(&mut buffer[length..])? {
            0 => break,
            read => length += read,
        }
    }
    parse_key(&buffer[..length])
}

/// Rejects a key file that others can read.
#[cfg(unix)]
fn refuse_shared(file: &File) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = file.metadata()?.permissions().mode();
    if mode & 0o077 != 0 {
        bail!(
            "accessible to other users (mode {:03o}); run chmod 600",
            mode & 0o777
        );
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_shared(_: &File) -> Result<()> {
    Ok(())
}

/// Errors never quote the key, not even an invalid digit.
fn parse_key(text: &[u8]) -> Result<SecretKey> {
    let text = std::str::from_utf8(text.trim_ascii()).unwrap_or_default();
    Ok(text.parse()?)
}
