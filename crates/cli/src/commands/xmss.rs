//! `lydite xmss`

use std::fs::{self, File};
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::ops::ControlFlow;
use std::path::{self, Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use lydite::bytes::hex;
use lydite::hash::sha3_256;
use lydite::xmss::named::{self, NamedKeyFile, NamedScheme, SCHEMES};
use lydite::xmss::rand_core::SeedableRng as _;
use lydite::xmss::store::StoreError;
use lydite::xmss::store::keystore::{Kdf, ReservedRange};
use lydite::xmss::{ChaCha12Rng, Observer};
use zeroize::Zeroizing;

use crate::output::{self, Output};
use crate::{Answer, input};

/// Hash-based signatures of lean Ethereum (Generalized XMSS)
///
/// A key consists of two files: KEY, its SSZ encoding, and KEY.epoch, the record of spent epochs. Never restore a
/// record from a backup, and never use one key in two places: two signatures for the same epoch reveal the key.
/// With --password-file, KEY is a keystore of EIP-8310: the seed, encrypted, from which the key is computed at each start.
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
    Adopt(Adopt),
}

/// Generate a key
///
/// Without --out the key is not stored: it is generated, tested on one message, and timed.
#[derive(Args)]
struct Keygen {
    #[command(flatten)]
    scheme: SchemeArgument,
    /// Output file for the key, which must not exist
    #[arg(long, value_name = "KEY")]
    out: Option<PathBuf>,
    /// Number of epochs, rounded up to whole bottom trees, at least two; exact with `leanvm`
    #[arg(long, default_value_t = 1)]
    epochs: u64,
    /// First epoch
    #[arg(long, default_value_t = 0)]
    activation: u64,
    /// Seed instead of system randomness, 32 bytes in hexadecimal. For tests only: every user of the machine can see it
    #[arg(long, value_name = "HEX")]
    seed: Option<String>,
    /// Write an EIP-8310 keystore, encrypted under the password in this file (schemes whose keys follow from a seed)
    #[arg(long, value_name = "FILE", requires = "out")]
    password_file: Option<PathBuf>,
    /// Memory for scrypt: 2^N KiB
    #[arg(long, value_name = "N", default_value_t = 18, value_parser = clap::value_parser!(u8).range(1..=20), requires = "password_file")]
    scrypt_log_n: u8,
    /// Reserve epochs of a keystore for one signer, such as node-1=0..1000; may be repeated
    #[arg(long, value_name = "NAME=START..END", value_parser = reserved, requires = "password_file")]
    reserve: Vec<ReservedRange>,
}

/// Parses a reserved range.
fn reserved(text: &str) -> Result<ReservedRange, String> {
    let parse = || {
        let (id, epochs) = text.split_once('=')?;
        let (start, end) = epochs.split_once("..")?;
        Some(ReservedRange {
            id: id.into(),
            epochs: start.parse().ok()?..end.parse().ok()?,
        })
    };
    parse().ok_or_else(|| "expected NAME=START..END".into())
}

/// Which key.
#[derive(Args)]
struct KeyArguments {
    /// Key file, or keystore
    #[arg(long, value_name = "KEY")]
    key: PathBuf,
    /// File with the keystore's password; a line break at its end does not count
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Name of the keystore's range to sign from
    #[arg(long, value_name = "NAME", requires = "password_file")]
    range: Option<String>,
}

fn password(path: &Path) -> Result<Zeroizing<String>> {
    let bytes = fs::read(path).with_context(|| format!("--password-file: {}", path.display()))?;
    let text = String::from_utf8(bytes)
        .map(Zeroizing::new)
        .map_err(|error| {
            drop(Zeroizing::new(error.into_bytes()));
            anyhow!("--password-file: {}: expected UTF-8", path.display())
        })?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(Zeroizing::new(
        line.strip_suffix('\r').unwrap_or(line).into(),
    ))
}

/// Sign a message for an unspent epoch, and mark the epoch as spent
#[derive(Args)]
struct Sign {
    #[command(flatten)]
    scheme: SchemeArgument,
    #[command(flatten)]
    key: KeyArguments,
    /// Epoch to sign for
    #[arg(long)]
    epoch: u32,
    /// Message, 32 bytes in hexadecimal
    #[arg(long, value_name = "HEX")]
    message: String,
    /// New file for the signature, in bytes (default: print it in hexadecimal)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Verify a signature: exit code 0 if it is valid, 1 if not, 2 for malformed input
#[derive(Args)]
struct Verify {
    #[command(flatten)]
    scheme: SchemeArgument,
    /// Public key in hexadecimal
    #[arg(long, value_name = "HEX")]
    pk: String,
    /// Epoch of the signature
    #[arg(long)]
    epoch: u32,
    /// Message, 32 bytes in hexadecimal
    #[arg(long, value_name = "HEX")]
    message: String,
    /// File with the signature in bytes or hexadecimal, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    signature: String,
    /// Accept field elements that are not below the modulus, like leanSig
    #[arg(long)]
    leansig_compatible: bool,
}

/// Print a key's public key, epochs and window
#[derive(Args)]
struct Inspect {
    #[command(flatten)]
    scheme: SchemeArgument,
    #[command(flatten)]
    key: KeyArguments,
}

/// Move a key's window by one bottom tree, or up to an epoch
#[derive(Args)]
struct Advance {
    #[command(flatten)]
    scheme: SchemeArgument,
    #[command(flatten)]
    key: KeyArguments,
    /// Epoch that the window must contain
    #[arg(long)]
    epoch: Option<u32>,
}

/// Start using a key file made by another program
///
/// Creates the record KEY.epoch, which marks all epochs below --next as spent. You must know which epochs the key has
/// signed.
#[derive(Args)]
struct Adopt {
    #[command(flatten)]
    scheme: SchemeArgument,
    #[command(flatten)]
    key: KeyArguments,
    /// Lowest epoch that has not been signed
    #[arg(long, value_name = "EPOCH", value_parser = clap::value_parser!(u64).range(..=1 << 32))]
    next: u64,
}

#[derive(Args)]
struct SchemeArgument {
    /// Signature scheme
    ///
    /// leansig-prod: 46 chains, 2^32 epochs. leansig-46-8, -10, -18: the same, with 2^8, 2^10 or 2^18 epochs.
    /// leansig-test: 4 chains, 2^8 epochs; forgeable, for tests. leansig-legacy-w4: 39 chains of 16, 2^18 epochs.
    /// hash-sig-2025: Winternitz, 22 chains of 256, 2^18 epochs. leanvm: the set of leanVM and of lean-consensus devnets on
    /// BLAKE2s, 42 chains, 2^32 epochs.
    #[arg(long = "scheme", value_parser = parser(), default_value = SCHEMES[0].name())]
    scheme: &'static dyn NamedScheme,
}

/// Parses the name of a scheme.
fn parser() -> impl TypedValueParser<Value = &'static dyn NamedScheme> {
    PossibleValuesParser::new(SCHEMES.map(|scheme| scheme.name()))
        .try_map(|name| named::scheme(&name).context("unknown scheme"))
}

pub fn run(arguments: &Arguments, output: &Output) -> Result<Answer> {
    match &arguments.command {
        Command::Keygen(command) => command.run(output),
        Command::Sign(command) => command.run(output),
        Command::Verify(command) => command.run(output),
        Command::Inspect(command) => command.run(output),
        Command::Advance(command) => command.run(output),
        Command::Adopt(command) => command.run(output),
    }
}

impl Keygen {
    fn run(&self, output: &Output) -> Result<Answer> {
        let mut seed = Zeroizing::new([0; 32]);
        match &self.seed {
            Some(text) => hex::decode_to_slice(text.trim(), &mut seed[..]).context("--seed")?,
            None => getrandom::fill(&mut seed[..]).context("system randomness")?,
        }
        if let Some(path) = &self.out
            && path.exists()
        {
            bail!("{}: already exists", path.display());
        }
        let end = self
            .activation
            .checked_add(self.epochs)
            .context("expected --activation plus --epochs below 2^64")?;
        let scheme = self.scheme.scheme;
        let start = Instant::now();
        let mut key = with_bar(|observer| scheme.generate(&seed, self.activation..end, observer))?;
        let seconds = start.elapsed().as_secs_f64();
        let public_key = key.public_key()?;
        let active = key.active();
        let mut fields = vec![
            ("scheme", scheme.name().into()),
            ("public_key", hex::encode(&public_key).into()),
            ("epochs", format!("{}..{}", active.start, active.end).into()),
        ];
        let Some(path) = &self.out else {
            // The key is discarded, so its first epoch may be used here.
            let epoch = active.start as u32;
            let signature = key.sign(epoch, &[0; 32])?;
            let valid = scheme.verify(&public_key, epoch, &[0; 32], &signature)?;
            let digest = hex::encode(sha3_256(&key.public_key_montgomery()?));
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
        match &self.password_file {
            Some(file) => {
                let kdf = Kdf::Scrypt {
                    log_n: self.scrypt_log_n,
                };
                let mut random = Zeroizing::new([0; 32]);
                getrandom::fill(&mut random[..]).context("system randomness")?;
                let mut rng = ChaCha12Rng::from_seed(*random);
                key.create_keystore(path, &password(file)?, kdf, &self.reserve, &mut rng)?;
            }
            None => key.create(path)?,
        }
        fields.push(("key", path.display().to_string().into()));
        fields.push(("seconds", seconds.into()));
        output.fields(&fields)?;
        Ok(Answer::Yes)
    }
}

impl Sign {
    fn run(&self, output: &Output) -> Result<Answer> {
        let message = array(&self.message).context("--message")?;
        let mut file = self.scheme.open(&self.key)?;
        // Reject a spent epoch before doing any work.
        if file.unspent().contains(&u64::from(self.epoch)) {
            prepare(&mut *file, self.epoch)?;
        }
        // Create the output file before the epoch is spent.
        let created = match &self.out {
            Some(path) => Some(SignatureFile::create(path, &self.key.key)?),
            None => None,
        };
        let signature = file.sign(self.epoch, &message)?;
        let text = hex::encode(&signature);
        let printed = |error: anyhow::Error| match output.one("signature", &text) {
            Ok(()) => anyhow!("the signature is on standard output: {error:#}"),
            Err(error) => anyhow!("its signature was not written: {error:#}"),
        };
        match created {
            Some(created) => created.write(&signature).map_err(printed),
            None => output
                .one("signature", &text)
                .map_err(|error| anyhow!("its signature was not written: {error:#}")),
        }
        .map_err(|error| anyhow!("epoch {} is spent, and {error:#}", self.epoch))?;
        Ok(Answer::Yes)
    }
}

/// A new file for a signature, which is removed unless the signature is written.
struct SignatureFile {
    file: File,
    path: PathBuf,
    written: bool,
}

impl SignatureFile {
    /// Creates the file. An existing file, which may be the key, is not overwritten.
    fn create(path: &Path, key: &Path) -> Result<Self> {
        let mut reserved = key.as_os_str().to_os_string();
        reserved.push(".new");
        if path::absolute(path)? == path::absolute(reserved)? {
            bail!("--out: {} is reserved for the key", path.display());
        }
        let file = File::create_new(path).with_context(|| format!("--out: {}", path.display()))?;
        Ok(Self {
            file,
            path: path.to_path_buf(),
            written: false,
        })
    }

    fn write(mut self, signature: &[u8]) -> Result<()> {
        self.file
            .write_all(signature)
            .and_then(|()| self.file.sync_all())
            .with_context(|| format!("{}", self.path.display()))?;
        self.written = true;
        Ok(())
    }
}

impl Drop for SignatureFile {
    fn drop(&mut self) {
        if !self.written {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Verify {
    fn run(&self, output: &Output) -> Result<Answer> {
        let key = hex::decode(self.pk.trim()).context("--pk")?;
        let message = array(&self.message).context("--message")?;
        let mut bytes = if self.signature == "-" {
            input::bytes(None)?
        } else {
            fs::read(&self.signature).with_context(|| self.signature.clone())?
        };
        // Hexadecimal text contains no byte below a space; the first offset of a signature does.
        if let Ok(decoded) = hex::decode(bytes.trim_ascii()) {
            bytes = decoded;
        }
        let scheme = self.scheme.scheme;
        let valid = if self.leansig_compatible {
            scheme.verify_leansig_compatible(&key, self.epoch, &message, &bytes)
        } else {
            scheme.verify(&key, self.epoch, &message, &bytes)
        }?;
        if output.json {
            output.fields(&[("valid", valid.into())])?;
        } else {
            output::write(if valid { "valid\n" } else { "not valid\n" })?;
        }
        Ok(if valid { Answer::Yes } else { Answer::No })
    }
}

impl Inspect {
    fn run(&self, output: &Output) -> Result<Answer> {
        let file = self.scheme.open(&self.key)?;
        show(&self.scheme, &*file, &self.key.key, output)
    }
}

impl Advance {
    fn run(&self, output: &Output) -> Result<Answer> {
        let mut file = self.scheme.open(&self.key)?;
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => u32::try_from(file.prepared().end)
                .ok()
                .filter(|&epoch| file.active().contains(&u64::from(epoch)))
                .context("the window is at the end of the key's epochs")?,
        };
        prepare(&mut *file, epoch)?;
        show(&self.scheme, &*file, &self.key.key, output)
    }
}

impl Adopt {
    fn run(&self, output: &Output) -> Result<Answer> {
        let KeyArguments { key, range, .. } = &self.key;
        match &self.key.password_file {
            Some(file) => {
                let (scheme, range) = (self.scheme.scheme, range.as_deref());
                let password = password(file)?;
                with_bar(|bar| scheme.adopt_keystore(key, &password, range, self.next, bar))?;
            }
            None => self.scheme.scheme.adopt(key, self.next)?,
        }
        let file = self.scheme.open(&self.key)?;
        show(&self.scheme, &*file, &self.key.key, output)
    }
}

impl SchemeArgument {
    fn open(&self, arguments: &KeyArguments) -> Result<Box<dyn NamedKeyFile>> {
        let KeyArguments { key, range, .. } = arguments;
        let opened = match &arguments.password_file {
            Some(file) => {
                let password = password(file)?;
                with_bar(|bar| {
                    let range = range.as_deref();
                    self.scheme.open_keystore(key, &password, range, bar)
                })
            }
            None => self.scheme.open(key),
        };
        match opened {
            Err(error @ StoreError::NoRecord(_)) => {
                bail!(
                    "{error}: lydite xmss adopt --key {} --next EPOCH",
                    key.display()
                )
            }
            Err(error @ StoreError::Decode(_)) if is_json(key) => {
                bail!("{error}: a keystore needs --password-file")
            }
            other => Ok(other?),
        }
    }
}

/// Whether a file begins like a keystore.
fn is_json(path: &Path) -> bool {
    let mut first = [0];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut first))
        .is_ok()
        && first == *b"{"
}

/// Moves the window, which may take seconds.
fn prepare(file: &mut dyn NamedKeyFile, epoch: u32) -> Result<(), StoreError> {
    with_bar(|observer| file.prepare_with(epoch, observer))
}

fn show(
    scheme: &SchemeArgument,
    file: &dyn NamedKeyFile,
    path: &Path,
    output: &Output,
) -> Result<Answer> {
    let interval = |range: std::ops::Range<u64>| format!("{}..{}", range.start, range.end).into();
    output.fields(&[
        ("key", path.display().to_string().into()),
        ("scheme", scheme.scheme.name().into()),
        ("public_key", hex::encode(file.public_key()?).into()),
        ("epochs", interval(file.active())),
        ("unspent", interval(file.unspent())),
        ("prepared", interval(file.prepared())),
    ])?;
    Ok(Answer::Yes)
}

fn array(text: &str) -> Result<[u8; 32]> {
    Ok(hex::decode_to_array(text.trim())?)
}

/// Runs a long operation, with a progress bar on standard error if it is a terminal.
fn with_bar<T>(work: impl FnOnce(&dyn Observer) -> T) -> T {
    let bar = progress_bar();
    let done = work(&|done, total| {
        bar.set_length(total);
        bar.set_position(done);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    done
}

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
