//! Makes a key, signs, forgets the key and waits: `.ci/xmss` then looks for what should be gone in this process's memory.
//!
//!     cargo run --release -p lydite-xmss --example memory_after_use -- forget
//!
//! With `keep` the key stays: the control.

use std::io::{Read as _, Write as _};

use lydite_xmss::{LeanSigTest, SecretKey};

fn main() {
    let keep = std::env::args().nth(1).as_deref() == Some("keep");
    let key = work();
    let kept = key.filter(|_| keep);
    let ready = std::io::stdout().write_all(b"ready\n");
    let _ = ready.and_then(|()| std::io::stdout().flush());
    // Until the other side closes the pipe
    let _ = std::io::stdin().read(&mut [0; 1]);
    drop(kept);
}

/// Out of line, so that its stack is not that of `main`.
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
    key.prepare(40).ok()?;
    Some(key)
}
