//! Sign each line of standard input with a one-time key of the next epoch; no epoch is signed twice, also after a crash.
//!
//! `cargo run -p lydite-examples --bin xmss_signer -- KEY_FILE` makes the key if it does not exist.

use std::error::Error;
use std::io::{self, BufRead as _};
use std::path::PathBuf;

use lydite::bytes::hex;
use lydite::hash::keccak256;
use lydite::xmss::store::KeyFile;
use lydite::xmss::{LeanSigTest, SecretKey};

fn main() -> Result<(), Box<dyn Error>> {
    let path = PathBuf::from(
        std::env::args()
            .nth(1)
            .ok_or("usage: xmss_signer KEY_FILE")?,
    );
    if !path.exists() {
        // The test scheme: small and fast. A real service takes `LeanSigProd` and a seed from the operating system.
        let key = SecretKey::<LeanSigTest>::from_seed(
            &keccak256(b"an example, not a secret"),
            0..256,
            &(),
        )?;
        KeyFile::create(&path, &key)?;
    }
    let mut key = KeyFile::<LeanSigTest>::open(&path)?;
    let public_key = key.key().public_key()?;
    println!("public key {}", hex::encode(public_key.to_bytes()));
    for line in io::stdin().lock().lines() {
        let message = keccak256(line?.as_bytes());
        let epoch = u32::try_from(key.unspent().start)?;
        let signature = key.sign(epoch, &message)?;
        assert!(public_key.verify(epoch, &message, &signature));
        println!("epoch {epoch}: {} bytes", signature.to_bytes().len());
    }
    Ok(())
}
