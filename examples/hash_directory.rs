//! Hash every file of a directory with Keccak-256, many at a time.
//!
//! `cargo run -p lydite-examples --bin hash_directory -- DIRECTORY`

use std::error::Error;
use std::fs;

use lydite::bytes::hex;
use lydite::hash::keccak256_batch;

/// Files held in memory at a time.
const BATCH: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    for batch in files.chunks(BATCH) {
        let contents = batch.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
        let inputs: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
        let mut hashes = vec![[0; 32]; inputs.len()];
        keccak256_batch(&inputs, &mut hashes)?;
        for (path, hash) in batch.iter().zip(hashes) {
            println!("{}  {}", hex::encode(hash), path.display());
        }
    }
    Ok(())
}
