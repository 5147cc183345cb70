//! Keystores of EIP-8310 (version 5): a JSON file with a key's seed, encrypted under a password.
//!
//! A keystore holds what is needed to compute the key again, and no signing state: `state` in it is a snapshot for people.
//! The authority is the record `KEYSTORE.epoch`, as for a key file, with the same guarantees (see [`store`](super)): it is
//! created together with the keystore, committed before a signature is returned, and a keystore without it cannot sign. For
//! each reserved range there is a record of its own, `KEYSTORE.RANGE.epoch`.
//!
//! Only schemes whose keys follow from a seed and a range of epochs can be stored ([`LeanVm`](crate::LeanVm)). EIP-8310 has no
//! field for the number of epochs of such a key: it is `scheme.params.active_epochs`.
//!
//! Keys: AES-256-GCM with scrypt or PBKDF2-HMAC-SHA-256. Passwords are normalised as in ERC-2335: NFKD without control
//! characters. Source: \[EIP-8310\], \[ERC-2335\].

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;
use std::fs;
use std::path::{self, Path, PathBuf};

use aes_gcm::aead::{Aead as _, KeyInit as _};
use aes_gcm::{Aes256Gcm, Nonce};
use lydite_hash::sha256;
use rand_core::CryptoRng;
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization as _;
use zeroize::{Zeroize as _, Zeroizing};

use super::files::{FileSystem as _, System, new_record, replace};
use super::{KeyBytes, KeyFile, StoreError, identity, io, lock_record};
use crate::encoding::Encoding;
use crate::key::{Observer, SecretKey};
use crate::prf::{Prf, PrfKey};
use crate::scheme::Scheme;

/// Longest keystore that is read, in bytes.
const LONGEST: u64 = 1 << 20;
/// Most memory for scrypt, in bytes.
const MEMORY: u64 = 1 << 30;
/// Most rounds of PBKDF2.
const ROUNDS: u64 = 1 << 26;

/// Why a file is not a keystore that can be used.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeystoreError {
    /// The file is not JSON.
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// A field is missing or has another value than expected.
    Field {
        /// The path of the field, such as `crypto.kdf.function`.
        field: &'static str,
        /// What was expected.
        expected: String,
    },
    /// The password is wrong, or the encrypted seed is damaged.
    Password,
    /// The seed belongs to another public key than the keystore's.
    PublicKey,
    /// Keys of this scheme do not follow from a seed.
    Scheme,
    /// Reserved ranges overlap, are empty or outside the key's epochs, or the requested one does not exist.
    Range(String),
}

impl fmt::Display for KeystoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json { line, column } => write!(f, "line {line}, column {column}: expected JSON"),
            Self::Field { field, expected } => write!(f, "{field}: expected {expected}"),
            Self::Password => f.write_str("wrong password, or the encrypted seed is damaged"),
            Self::PublicKey => f.write_str("pubkey: the seed is that of another public key"),
            Self::Scheme => f.write_str("expected a scheme whose keys follow from a seed"),
            Self::Range(range) => write!(f, "state.reserved_ranges: {range}"),
        }
    }
}

impl core::error::Error for KeystoreError {}

/// How to derive the encryption key from the password.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kdf {
    /// scrypt with 2^`log_n` blocks of 1 KiB and p = 1.
    Scrypt {
        /// From 1 to 20; 18 is that of ERC-2335.
        log_n: u8,
    },
    /// PBKDF2 with HMAC-SHA-256.
    Pbkdf2 {
        /// Number of rounds.
        rounds: u32,
    },
}

impl Default for Kdf {
    fn default() -> Self {
        Self::Scrypt { log_n: 18 }
    }
}

/// Epochs that one signer may sign, in a keystore that several signers use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedRange {
    /// The name: letters, digits and `-`.
    pub id: String,
    /// The epochs.
    pub epochs: Range<u64>,
}

fn field(field: &'static str, expected: impl fmt::Display) -> KeystoreError {
    let expected = expected.to_string();
    KeystoreError::Field { field, expected }
}

/// The path of a record: `KEYSTORE.epoch`, or `KEYSTORE.RANGE.epoch`.
fn record_path(path: &Path, range: Option<&str>) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    if let Some(range) = range {
        name.push(".");
        name.push(range);
    }
    name.push(".epoch");
    name.into()
}

fn password_bytes(password: &str) -> Zeroizing<Vec<u8>> {
    let mut text: String = password.nfkd().filter(|c| !c.is_control()).collect();
    let bytes = Zeroizing::new(text.as_bytes().to_vec());
    text.zeroize();
    bytes
}

impl Kdf {
    /// Derives the encryption key.
    fn derive(self, password: &str, salt: &[u8]) -> Result<Zeroizing<[u8; 32]>, KeystoreError> {
        let password = password_bytes(password);
        let mut key = Zeroizing::new([0; 32]);
        match self {
            Self::Scrypt { log_n } => {
                let valid = (1..=20).contains(&log_n);
                let params = scrypt::Params::new(log_n, 8, 1, 32).ok().filter(|_| valid);
                let params = params.ok_or_else(|| field("crypto.kdf.params.n", "2^1 to 2^20"))?;
                scrypt::scrypt(&password, salt, &params, &mut key[..])
                    .map_err(|_| field("crypto.kdf.params.dklen", 32))?;
            }
            Self::Pbkdf2 { rounds } => {
                pbkdf2::pbkdf2_hmac::<sha2::Sha256>(&password, salt, rounds, &mut key[..]);
            }
        }
        Ok(key)
    }

    fn to_json(self, salt: &[u8]) -> Value {
        let salt = hex(salt);
        match self {
            Self::Scrypt { log_n } => json!({
                "function": "scrypt",
                "params": { "dklen": 32, "n": 1_u64 << log_n, "r": 8, "p": 1, "salt": salt },
                "message": "",
            }),
            Self::Pbkdf2 { rounds } => json!({
                "function": "pbkdf2",
                "params": { "dklen": 32, "c": rounds, "prf": "hmac-sha256", "salt": salt },
                "message": "",
            }),
        }
    }

    fn from_json(kdf: &Value) -> Result<Self, KeystoreError> {
        let params = &kdf["params"];
        if params["dklen"] != 32 {
            return Err(field("crypto.kdf.params.dklen", 32));
        }
        match kdf["function"].as_str() {
            Some("scrypt") => {
                if params["r"] != 8 || params["p"] != 1 {
                    return Err(field("crypto.kdf.params", "r = 8 and p = 1"));
                }
                let n = params["n"].as_u64().filter(|n| n.is_power_of_two());
                let n = n.filter(|&n| n > 1 && n <= MEMORY / 1024);
                let n =
                    n.ok_or_else(|| field("crypto.kdf.params.n", "a power of two, 2^1 to 2^20"))?;
                Ok(Self::Scrypt {
                    log_n: n.ilog2() as u8,
                })
            }
            Some("pbkdf2") => {
                if params["prf"] != "hmac-sha256" {
                    return Err(field("crypto.kdf.params.prf", "hmac-sha256"));
                }
                let rounds = params["c"].as_u64().filter(|c| (1..=ROUNDS).contains(c));
                let rounds = rounds.ok_or_else(|| field("crypto.kdf.params.c", "1 to 2^26"))?;
                Ok(Self::Pbkdf2 {
                    rounds: rounds as u32,
                })
            }
            _ => Err(field("crypto.kdf.function", "scrypt or pbkdf2")),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(value: &Value, name: &'static str) -> Result<Vec<u8>, KeystoreError> {
    let text = value.as_str().unwrap_or("?");
    let digits: Option<Vec<u8>> = text.chars().map(|c| Some(c.to_digit(16)? as u8)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2));
    let digits = digits.ok_or_else(|| field(name, "hexadecimal digits"))?;
    Ok(digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect())
}

/// ERC-2335's checksum of the second half of the encryption key and the encrypted seed.
fn checksum(key: &[u8; 32], message: &[u8]) -> String {
    let input = Zeroizing::new([&key[16..], message].concat());
    hex(&sha256(&input))
}

fn encrypt(
    seed: &PrfKey,
    password: &str,
    kdf: Kdf,
    rng: &mut (impl CryptoRng + ?Sized),
) -> Result<Value, KeystoreError> {
    let (mut salt, mut iv) = ([0; 32], [0; 12]);
    rng.fill_bytes(&mut salt);
    rng.fill_bytes(&mut iv);
    let key = kdf.derive(password, &salt)?;
    let cipher = Aes256Gcm::new_from_slice(&key[..]).map_err(|_| KeystoreError::Password)?;
    let message = cipher.encrypt(&Nonce::from(iv), &seed[..]);
    let message = message.map_err(|_| KeystoreError::Password)?;
    Ok(json!({
        "kdf": kdf.to_json(&salt),
        "checksum": { "function": "sha256", "params": {}, "message": checksum(&key, &message) },
        "cipher": { "function": "aes-256-gcm", "params": { "iv": hex(&iv) }, "message": hex(&message) },
    }))
}

fn decrypt(crypto: &Value, password: &str) -> Result<Zeroizing<PrfKey>, KeystoreError> {
    if crypto["cipher"]["function"] != "aes-256-gcm" {
        return Err(field("crypto.cipher.function", "aes-256-gcm"));
    }
    if crypto["checksum"]["function"] != "sha256" {
        return Err(field("crypto.checksum.function", "sha256"));
    }
    let salt = unhex(&crypto["kdf"]["params"]["salt"], "crypto.kdf.params.salt")?;
    let iv = unhex(&crypto["cipher"]["params"]["iv"], "crypto.cipher.params.iv")?;
    let message = unhex(&crypto["cipher"]["message"], "crypto.cipher.message")?;
    let iv: [u8; 12] = iv
        .try_into()
        .map_err(|_| field("crypto.cipher.params.iv", "12 bytes"))?;
    if message.len() != 32 + 16 {
        return Err(field("crypto.cipher.message", "48 bytes, a seed and a tag"));
    }
    let key = Kdf::from_json(&crypto["kdf"])?.derive(password, &salt)?;
    if crypto["checksum"]["message"] != checksum(&key, &message) {
        return Err(KeystoreError::Password);
    }
    let cipher = Aes256Gcm::new_from_slice(&key[..]).map_err(|_| KeystoreError::Password)?;
    let plain = cipher.decrypt(&Nonce::from(iv), &message[..]);
    let plain = Zeroizing::new(plain.map_err(|_| KeystoreError::Password)?);
    let mut seed = Zeroizing::new([0; 32]);
    seed.copy_from_slice(&plain);
    Ok(seed)
}

/// The parameters of a scheme and of a key's epochs.
fn params<S: Scheme>(active: &Range<u64>) -> Value {
    json!({
        "hash": format!("{}:blake2s-256", S::NAME),
        "tree_height": S::LOG_LIFETIME,
        "hypertree_layers": 1,
        "encoding": "target_sum",
        "winternitz_w": S::Encoding::BASE,
        "dimension": S::Encoding::CHAINS,
        "target_sum": S::Encoding::TARGET_SUM,
        "index_mode": "synchronized",
        "activation_epoch": active.start,
        "active_epochs": active.end - active.start,
        "lifetime_leaves": 1_u64 << S::LOG_LIFETIME,
    })
}

/// Checks that ranges are disjoint and within the key's epochs, and that their names can be part of a file's.
fn check_ranges(ranges: &[ReservedRange], active: &Range<u64>) -> Result<(), KeystoreError> {
    for (i, range) in ranges.iter().enumerate() {
        let epochs = &range.epochs;
        let named = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let id = &range.id;
        if id.is_empty() || id.len() > 64 || !id.chars().all(named) {
            let error = format!("expected a name of letters, digits and '-', found {id:?}");
            return Err(KeystoreError::Range(error));
        }
        if epochs.is_empty() || epochs.start < active.start || epochs.end > active.end {
            let error = format!(
                "{id}: expected epochs within {}..{}, found {}..{}",
                active.start, active.end, epochs.start, epochs.end
            );
            return Err(KeystoreError::Range(error));
        }
        for other in &ranges[..i] {
            let disjoint = other.epochs.end <= epochs.start || epochs.end <= other.epochs.start;
            if !disjoint || other.id == *id {
                let error = format!("{id} and {}: expected different names and epochs", other.id);
                return Err(KeystoreError::Range(error));
            }
        }
    }
    Ok(())
}

fn number(value: &Value, name: &'static str) -> Result<u64, KeystoreError> {
    value.as_u64().ok_or_else(|| field(name, "a number"))
}

/// What a keystore says, before decryption.
struct Parsed {
    value: Value,
    active: Range<u64>,
    ranges: Vec<ReservedRange>,
}

fn parse<S: Scheme>(text: &[u8]) -> Result<Parsed, KeystoreError> {
    let value: Value = serde_json::from_slice(text).map_err(|error| KeystoreError::Json {
        line: error.line(),
        column: error.column(),
    })?;
    if value["version"] != 5 {
        return Err(field("version", 5));
    }
    if value["scheme"]["name"] != "leanxmss" {
        return Err(field("scheme.name", "leanxmss"));
    }
    let found = &value["scheme"]["params"];
    let start = number(&found["activation_epoch"], "scheme.params.activation_epoch")?;
    let count = number(&found["active_epochs"], "scheme.params.active_epochs")?;
    let end = start
        .checked_add(count)
        .filter(|&end| end <= 1 << S::LOG_LIFETIME && count > 0);
    let active = start..end.ok_or_else(|| {
        field(
            "scheme.params.active_epochs",
            format_args!("epochs below 2^{}", S::LOG_LIFETIME),
        )
    })?;
    if *found != params::<S>(&active) {
        return Err(field(
            "scheme.params",
            format_args!("those of {}: {}", S::NAME, params::<S>(&active)),
        ));
    }
    let state = &value["state"];
    if state["authoritative"] != false {
        return Err(field("state.authoritative", false));
    }
    if state["authority"] != "slashing-protection" {
        return Err(field("state.authority", "slashing-protection"));
    }
    let mut ranges = Vec::new();
    for range in state["reserved_ranges"].as_array().into_iter().flatten() {
        let id = range["id"].as_str().unwrap_or_default().to_string();
        let start = number(&range["start"], "state.reserved_ranges.start")?;
        let last = number(&range["end"], "state.reserved_ranges.end")?;
        let epochs = start..last.saturating_add(1);
        ranges.push(ReservedRange { id, epochs });
    }
    check_ranges(&ranges, &active)?;
    Ok(Parsed {
        value,
        active,
        ranges,
    })
}

impl Parsed {
    /// The epochs of a signer, and the highest one that the snapshot says is spent.
    fn allowed(&self, range: Option<&str>) -> Result<(Range<u64>, Option<u64>), KeystoreError> {
        let state = &self.value["state"];
        let Some(id) = range else {
            if !self.ranges.is_empty() {
                let error =
                    "expected the name of a range, since all epochs are reserved".to_string();
                return Err(KeystoreError::Range(error));
            }
            return Ok((self.active.clone(), state["high_water"].as_u64()));
        };
        let found = self.ranges.iter().position(|range| range.id == id);
        let i = found.ok_or_else(|| KeystoreError::Range(format!("no range is named {id:?}")))?;
        let high_water = state["reserved_ranges"][i]["high_water"].as_u64();
        Ok((self.ranges[i].epochs.clone(), high_water))
    }
}

impl<S: Scheme> KeyFile<S> {
    /// Writes a key that has signed nothing as an EIP-8310 keystore, readable only by its owner, and its record, or one for
    /// each of `ranges`, which then are all that can be signed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] if a file exists; [`StoreError::Keystore`] for a scheme whose keys do not follow from a seed,
    /// or for ranges that overlap or are outside the key's epochs; [`StoreError::Io`].
    pub fn create_keystore(
        path: &Path,
        key: &SecretKey<S>,
        password: &str,
        kdf: Kdf,
        ranges: &[ReservedRange],
        rng: &mut (impl CryptoRng + ?Sized),
    ) -> Result<(), StoreError> {
        let wrong = |error| StoreError::Keystore(path.to_path_buf(), error);
        if !S::Prf::DERIVES_ALL {
            return Err(wrong(KeystoreError::Scheme));
        }
        let active = key.active();
        check_ranges(ranges, &active).map_err(wrong)?;
        if System.exists(path) {
            return Err(StoreError::Exists(path.to_path_buf()));
        }
        let mut id = [0; 16];
        rng.fill_bytes(&mut id);
        // Version 4, variant 1 of RFC 9562.
        id[6] = id[6] & 0x0f | 0x40;
        id[8] = id[8] & 0x3f | 0x80;
        let id = hex(&id);
        let public_key = key.public_key()?;
        let total = active.end - active.start;
        let reserved: Vec<Value> = ranges
            .iter()
            .map(|ReservedRange { id, epochs }| {
                json!({ "id": id, "start": epochs.start, "end": epochs.end - 1, "high_water": null })
            })
            .collect();
        let keystore = json!({
            "version": 5,
            "uuid": format!("{}-{}-{}-{}-{}", &id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]),
            "path": "",
            "description": S::NAME,
            "pubkey": hex(&public_key.to_bytes()),
            "crypto": encrypt(&key.prf_key(), password, kdf, rng).map_err(wrong)?,
            "scheme": { "name": "leanxmss", "params": params::<S>(&active) },
            "state": {
                "authoritative": false,
                "authority": "slashing-protection",
                "capacity": { "total": total, "consumed": 0, "remaining": total },
                "high_water": null,
                "reserved_ranges": reserved,
            },
        });
        let identity = identity(&public_key);
        let mut records: Vec<_> = ranges
            .iter()
            .map(|range| (record_path(path, Some(&range.id)), range.epochs.start))
            .collect();
        if ranges.is_empty() {
            records.push((record_path(path, None), active.start));
        }
        // The records come first, so a keystore never exists without them.
        for (i, (record, next)) in records.iter().enumerate() {
            if let Err(error) = new_record(&System, record, identity, *next) {
                for (made, _) in &records[..i] {
                    let _ = System.remove(made);
                }
                return Err(error);
            }
        }
        let text = format!("{keystore:#}\n");
        let created = replace(&System, path, text.as_bytes());
        if created.is_err() && !System.exists(path) {
            for (record, _) in &records {
                let _ = System.remove(record);
            }
        }
        created
    }

    /// Opens an EIP-8310 keystore for signing: decrypts the seed, computes the key, and locks its record, or that of the
    /// reserved range named `range`. The window moves in memory only.
    ///
    /// # Errors
    ///
    /// [`StoreError::Keystore`]; [`StoreError::NoRecord`] if there is no record, so that a bare keystore cannot sign;
    /// [`StoreError::Regressed`] if the record is older than the keystore's snapshot; those of [`KeyFile::open`].
    pub fn open_keystore<O: Observer + ?Sized>(
        path: &Path,
        password: &str,
        range: Option<&str>,
        observer: &O,
    ) -> Result<Self, StoreError> {
        let path = path::absolute(path).map_err(io(path))?;
        let wrong = |error| StoreError::Keystore(path.clone(), error);
        let parsed = read::<S>(&path)?;
        let (allowed, high_water) = parsed.allowed(range).map_err(wrong)?;
        let record_path = record_path(&path, range);
        let Some(file) = lock_record(&record_path, &path)? else {
            return Err(StoreError::NoRecord(record_path));
        };
        let key = recover_parsed::<S, O>(&parsed, &path, password, observer)?;
        let key = key.map_bytes(KeyBytes::Owned);
        let opened = Self::with_record(path.clone(), key, file, record_path, allowed)?;
        let next = opened.record.next();
        match high_water {
            Some(high_water) if next <= high_water => {
                Err(StoreError::Regressed { next, high_water })
            }
            _ => Ok(opened),
        }
    }

    /// Creates the record for a keystore that has none, with all epochs below `next` spent. The caller must know which
    /// epochs were signed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] if there is a record; [`StoreError::Regressed`] if the keystore's snapshot says that a later
    /// epoch is spent; [`StoreError::Keystore`]; [`StoreError::Io`].
    pub fn adopt_keystore<O: Observer + ?Sized>(
        path: &Path,
        password: &str,
        range: Option<&str>,
        next: u64,
        observer: &O,
    ) -> Result<(), StoreError> {
        let wrong = |error| StoreError::Keystore(path.to_path_buf(), error);
        let parsed = read::<S>(path)?;
        let (_, high_water) = parsed.allowed(range).map_err(wrong)?;
        if let Some(high_water) = high_water.filter(|&high_water| next <= high_water) {
            return Err(StoreError::Regressed { next, high_water });
        }
        let key = recover_parsed::<S, O>(&parsed, path, password, observer)?;
        let record_path = record_path(path, range);
        if record_path.exists() {
            return Err(StoreError::Exists(record_path));
        }
        new_record(&System, &record_path, identity(&key.public_key()?), next)
    }
}

/// Computes a keystore's key again, for its public key; it does not open its record, so the key must not sign.
///
/// # Errors
///
/// [`StoreError::Keystore`]; [`StoreError::Io`].
pub fn recover<S: Scheme, O: Observer + ?Sized>(
    path: &Path,
    password: &str,
    observer: &O,
) -> Result<SecretKey<S>, StoreError> {
    recover_parsed::<S, O>(&read::<S>(path)?, path, password, observer)
}

fn read<S: Scheme>(path: &Path) -> Result<Parsed, StoreError> {
    let wrong = |error| StoreError::Keystore(path.to_path_buf(), error);
    if !S::Prf::DERIVES_ALL {
        return Err(wrong(KeystoreError::Scheme));
    }
    if fs::metadata(path).map_err(io(path))?.len() > LONGEST {
        return Err(wrong(field("the file", "at most 1 MiB")));
    }
    parse::<S>(&fs::read(path).map_err(io(path))?).map_err(wrong)
}

fn recover_parsed<S: Scheme, O: Observer + ?Sized>(
    parsed: &Parsed,
    path: &Path,
    password: &str,
    observer: &O,
) -> Result<SecretKey<S>, StoreError> {
    let wrong = |error| StoreError::Keystore(path.to_path_buf(), error);
    let seed = decrypt(&parsed.value["crypto"], password).map_err(wrong)?;
    let key = SecretKey::<S>::from_seed(&seed, parsed.active.clone(), observer);
    let key = key.map_err(|_| StoreError::Sign(crate::SignError::Cancelled))?;
    if parsed.value["pubkey"] != hex(&key.public_key()?.to_bytes()) {
        return Err(wrong(KeystoreError::PublicKey));
    }
    Ok(key)
}

#[cfg(test)]
mod tests;
