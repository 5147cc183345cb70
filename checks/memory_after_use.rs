//! Makes a key, signs both directly and from a key file, drops the key and waits. `.ci/xmss` then searches this
//! process's memory for secrets.
//!
//!     cargo run --release -p lydite-checks --bin memory_after_use -- forget
//!
//! With `keep` the key is not dropped, as a control.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use lydite_xmss::store::{KeyFile, StoreError};
use lydite_xmss::{LeanSigTest, SecretKey};

fn main() {
    let keep = std::env::args().nth(1).as_deref() == Some("keep");
    let key = work();
    let kept = key.filter(|_| keep);
    let ready = std::io::stdout().write_all(b"ready\n");
    let _ = ready.and_then(|()| std::io::stdout().flush());
    // Wait until the other side closes the pipe.
    let _ = std::io::stdin().read(&mut [0; 1]);
    drop(kept);
}

/// Out of line, so that its stack frame is separate from that of `main`.
#[inline(never)]
fn work() -> Option<SecretKey<LeanSigTest>> {
    let mut key = SecretKey::<LeanSigTest>::from_seed(&[7; 32], 0..256, &()).ok()?;
    for epoch in 0..8 {
        let signature = key.sign(epoch, &[epoch as u8; 32]).ok()?;
        if !key
            .public_key()
            .ok()?
            .verify(epoch, &[epoch as u8; 32], &signature)
        {
            return None;
        }
    }
    let folder = std::env::temp_dir().join(format!("lydite-memory-{}", std::process::id()));
    std::fs::create_dir(&folder).ok()?;
    let stored = use_file(&folder.join("key"), &key);
    std::fs::remove_dir_all(&folder).ok()?;
    stored.ok()?;
    key.prepare(40).ok()?;
    Some(key)
}

/// Makes the same signatures from a key file, then moves its window.
fn use_file(path: &Path, key: &SecretKey<LeanSigTest>) -> Result<(), StoreError> {
    KeyFile::create(path, key)?;
    let mut file = KeyFile::<LeanSigTest>::open(path)?;
    file.prepare_ahead(Duration::ZERO)?;
    for epoch in 0..8 {
        file.sign(epoch, &[epoch as u8; 32])?;
    }
    file.prepare(40)
}
