//! `lydite xmss`

use std::fs;
use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use lydite::bytes::hex;
use lydite::hash::sha3_256;
use lydite::xmss::store::KeyFile;
use lydite::xmss::{
    HashSig2025, LeanSig46x8, LeanSig46x10, LeanSig46x18, LeanSigProd, LeanSigTest, PublicKey,
    Scheme, SecretKey, Signature,
};
use zeroize::Zeroizing;

use crate::output::{self, Output};
use crate::{Answer, input};

/// Hash-based signatures of lean Ethereum (Generalized XMSS)
///
/// A key is two files: KEY, its SSZ encoding, and KEY.epoch, the record of the epochs that are spent. Never restore a record
/// from a backup, and never use one key in two places: two signatures for one epoch give the key away.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Keygen(Keygen),
    Sign(Sign),
    Verify(Verify),
    Inspect(Inspect),
    Advance(Advance),
}

/// Make a key
///
/// Without --out nothing is kept: the key is made, tried on one message, and timed.
#[derive(Args)]
struct Keygen {
    #[command(flatten)]
    scheme: SchemeArgument,
    /// Where the key goes; there must be no such file
    #[arg(long, value_name = "KEY")]
    out: Option<PathBuf>,
    /// Number of epochs, widened to whole bottom trees and two at least
    #[arg(long, default_value_t = 1)]
    epochs: u64,
    /// First epoch
    #[arg(long, default_value_t = 0)]
    activation: u64,
    /// 32 bytes in hexadecimal to make the key from, instead of the system's randomness. Seen by every user of the machine:
    /// for tests
    #[arg(long, value_name = "HEX")]
    seed: Option<String>,
}

/// Sign a message for an epoch that is not spent, and spend it
#[derive(Args)]
struct Sign {
    #[command(flatten)]
    scheme: SchemeArgument,
    /// The key
    #[arg(long, value_name = "KEY")]
    key: PathBuf,
    /// The epoch
    #[arg(long)]
    epoch: u32,
    /// 32 bytes in hexadecimal
    #[arg(long, value_name = "HEX")]
    message: String,
    /// Where the signature goes, as bytes; hexadecimal on standard output without it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Verify a signature: exit code 0 if it is valid, 1 if not, 2 for malformed input
#[derive(Args)]
struct Verify {
    #[command(flatten)]
    scheme: SchemeArgument,
    /// The public key in hexadecimal
    #[arg(long, value_name = "HEX")]
    pk: String,
    /// The epoch
    #[arg(long)]
    epoch: u32,
    /// 32 bytes in hexadecimal
    #[arg(long, value_name = "HEX")]
    message: String,
    /// The file with the signature, bytes or hexadecimal; `-` is standard input
    #[arg(long, value_name = "FILE")]
    signature: String,
    /// Accept what leanSig accepts: field elements that are not below the modulus
    #[arg(long)]
    leansig_compatible: bool,
}

/// Show a key's public part, epochs and window
#[derive(Args)]
struct Inspect {
    #[command(flatten)]
    scheme: SchemeArgument,
    /// The key
    #[arg(long, value_name = "KEY")]
    key: PathBuf,
}

/// Move a key's window, by one bottom tree or up to an epoch
#[derive(Args)]
struct Advance {
    #[command(flatten)]
    scheme: SchemeArgument,
    /// The key
    #[arg(long, value_name = "KEY")]
    key: PathBuf,
    /// The epoch that the window has to hold
    #[arg(long)]
    epoch: Option<u32>,
}

#[derive(Args)]
struct SchemeArgument {
    /// The signature scheme
    #[arg(long = "scheme", value_enum, default_value = "leansig-prod")]
    name: SchemeName,
}

#[derive(Clone, Copy, ValueEnum)]
enum SchemeName {
    /// 46 chains, 2^32 epochs
    LeansigProd,
    /// 4 chains, 2^8 epochs: forgeable, for tests
    LeansigTest,
    /// 46 chains, 2^8 epochs
    #[value(name = "leansig-46-8")]
    Leansig46x8,
    /// 46 chains, 2^10 epochs
    #[value(name = "leansig-46-10")]
    Leansig46x10,
    /// 46 chains, 2^18 epochs
    #[value(name = "leansig-46-18")]
    Leansig46x18,
    /// Winternitz, 22 chains of 256, 2^18 epochs
    #[value(name = "hash-sig-2025")]
    HashSig2025,
}

/// Something to do in the scheme of the command line.
trait Run {
    fn run<S: Scheme>(&self, output: &Output) -> Result<Answer>;
}

fn in_scheme(scheme: &SchemeArgument, command: &impl Run, output: &Output) -> Result<Answer> {
    match scheme.name {
        SchemeName::LeansigProd => command.run::<LeanSigProd>(output),
        SchemeName::LeansigTest => command.run::<LeanSigTest>(output),
        SchemeName::Leansig46x8 => command.run::<LeanSig46x8>(output),
        SchemeName::Leansig46x10 => command.run::<LeanSig46x10>(output),
        SchemeName::Leansig46x18 => command.run::<LeanSig46x18>(output),
        SchemeName::HashSig2025 => command.run::<HashSig2025>(output),
    }
}

pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    match &arguments.command {
        Command::Keygen(command) => in_scheme(&command.scheme, command, output),
        Command::Sign(command) => in_scheme(&command.scheme, command, output),
        Command::Verify(command) => in_scheme(&command.scheme, command, output),
        Command::Inspect(command) => in_scheme(&command.scheme, command, output),
        Command::Advance(command) => in_scheme(&command.scheme, command, output),
    }
}

impl Run for Keygen {
    fn run<S: Scheme>(&self, output: &Output) -> Result<Answer> {
        let seed = Zeroizing::new(match &self.seed {
            Some(text) => array(text).context("--seed")?,
            None => {
                let mut seed = [0; 32];
                getrandom::fill(&mut seed).context("the system's randomness")?;
                seed
            }
        });
        if let Some(path) = &self.out
            && path.exists()
        {
            bail!("{} exists", path.display());
        }
        let end = self
            .activation
            .checked_add(self.epochs)
            .context("--epochs: too many")?;
        let bar = progress_bar();
        let start = Instant::now();
        let key = SecretKey::<S>::from_seed(&seed, self.activation..end, &|done, total| {
            bar.set_length(total);
            bar.set_position(done);
            ControlFlow::Continue(())
        })?;
        let seconds = start.elapsed().as_secs_f64();
        bar.finish_and_clear();
        let public_key = key.public_key()?;
        let active = key.active();
        let mut fields = vec![
            ("scheme", S::NAME.into()),
            ("public_key", hex::encode(public_key.to_bytes()).into()),
            ("epochs", format!("{}..{}", active.start, active.end).into()),
        ];
        let Some(path) = &self.out else {
            // The key is forgotten, so its first epoch may be spent on this.
            let epoch = active.start as u32;
            let valid = public_key.verify(epoch, &[0; 32], &key.sign(epoch, &[0; 32])?);
            let digest = hex::encode(sha3_256(&public_key.to_montgomery_bytes()));
            if output.json {
                fields.push(("PUBLIC_SHA3", digest.into()));
                fields.push(("VERIFY_OK", valid.into()));
                fields.push(("BENCHMARK_RESULT", seconds.into()));
                output.fields(&fields)?;
            } else {
                output.fields(&fields)?;
                output::write(&format!("PUBLIC_SHA3: {digest}\n"))?;
                output::write(&format!("VERIFY_OK: {valid}\n"))?;
                output::write(&format!("BENCHMARK_RESULT: {seconds:.6}\n"))?;
            }
            return Ok(if valid { Answer::Yes } else { Answer::No });
        };
        KeyFile::create(path, &key)?;
        fields.push(("key", path.display().to_string().into()));
        fields.push(("seconds", seconds.into()));
        output.fields(&fields)?;
        Ok(Answer::Yes)
    }
}

impl Run for Sign {
    fn run<S: Scheme>(&self, output: &Output) -> Result<Answer> {
        let message = array(&self.message).context("--message")?;
        let signature = KeyFile::<S>::open(&self.key)?.sign(self.epoch, &message)?;
        match &self.out {
            Some(path) => fs::write(path, signature.to_bytes())
                .with_context(|| format!("{}", path.display()))?,
            None => output.one("signature", &hex::encode(signature.to_bytes()))?,
        }
        Ok(Answer::Yes)
    }
}

impl Run for Verify {
    fn run<S: Scheme>(&self, output: &Output) -> Result<Answer> {
        let key = hex::decode(self.pk.trim()).context("--pk")?;
        let message = array(&self.message).context("--message")?;
        let mut bytes = if self.signature == "-" {
            input::bytes(None)?
        } else {
            fs::read(&self.signature).with_context(|| self.signature.clone())?
        };
        // Hexadecimal text holds no byte below a space, the first offset of a signature does.
        if let Ok(decoded) = hex::decode(bytes.trim_ascii()) {
            bytes = decoded;
        }
        let (key, signature) = if self.leansig_compatible {
            (
                PublicKey::<S>::from_bytes_leansig_compatible(&key).context("--pk")?,
                Signature::from_bytes_leansig_compatible(&bytes).context("--signature")?,
            )
        } else {
            (
                PublicKey::<S>::from_bytes(&key).context("--pk")?,
                Signature::from_bytes(&bytes).context("--signature")?,
            )
        };
        let valid = key.verify(self.epoch, &message, &signature);
        if output.json {
            output.fields(&[("valid", valid.into())])?;
        } else {
            output::write(if valid { "valid\n" } else { "not valid\n" })?;
        }
        Ok(if valid { Answer::Yes } else { Answer::No })
    }
}

impl Run for Inspect {
    fn run<S: Scheme>(&self, output: &Output) -> Result<Answer> {
        show::<S>(&KeyFile::open(&self.key)?, &self.key, output)
    }
}

impl Run for Advance {
    fn run<S: Scheme>(&self, output: &Output) -> Result<Answer> {
        let mut file = KeyFile::<S>::open(&self.key)?;
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => u32::try_from(file.key().prepared().end)
                .ok()
                .filter(|&epoch| file.key().active().contains(&u64::from(epoch)))
                .context("the window is at the end of the key's epochs")?,
        };
        file.prepare(epoch)?;
        show::<S>(&file, &self.key, output)
    }
}

fn show<S: Scheme>(file: &KeyFile<S>, path: &Path, output: &Output) -> Result<Answer> {
    let interval = |range: std::ops::Range<u64>| format!("{}..{}", range.start, range.end).into();
    output.fields(&[
        ("key", path.display().to_string().into()),
        ("scheme", S::NAME.into()),
        (
            "public_key",
            hex::encode(file.key().public_key()?.to_bytes()).into(),
        ),
        ("epochs", interval(file.key().active())),
        ("unspent", interval(file.unspent())),
        ("prepared", interval(file.key().prepared())),
    ])?;
    Ok(Answer::Yes)
}

fn array(text: &str) -> Result<[u8; 32]> {
    let bytes = Zeroizing::new(hex::decode(text.trim())?);
    bytes
        .as_slice()
        .try_into()
        .with_context(|| format!("{} bytes where 32 are due", bytes.len()))
}

/// A bar on standard error, if a person looks at it.
fn progress_bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} epochs, {eta} left") {
        bar.set_style(style);
    }
    bar
}
