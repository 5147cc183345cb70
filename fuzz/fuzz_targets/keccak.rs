//! Keccak-256, one-shot, in chunks and in batches, against tiny-keccak.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::hash::{Keccak256, keccak256, keccak256_batch};
use tiny_keccak::{Hasher, Keccak};

fn expected(data: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    let mut hasher = Keccak::v256();
    hasher.update(data);
    hasher.finalize(&mut out);
    out
}

fuzz_target!(|data: &[u8]| {
    assert_eq!(keccak256(data), expected(data));
    let Some((&cut, data)) = data.split_first() else {
        return;
    };
    let mut hasher = Keccak256::new();
    for piece in data.chunks(usize::from(cut).max(1)) {
        hasher.update(piece);
    }
    assert_eq!(hasher.finalize(), expected(data));
    // Messages of increasing lengths, until the data runs out.
    let mut messages = Vec::new();
    let mut rest = data;
    while messages.len() < 40 {
        let length = (usize::from(cut) * messages.len() % 300).min(rest.len());
        let (message, after) = rest.split_at(length);
        messages.push(message);
        rest = after;
    }
    let mut out = vec![[0; 32]; messages.len()];
    keccak256_batch(&messages, &mut out).unwrap();
    for (message, out) in messages.iter().zip(out) {
        assert_eq!(out, expected(message));
    }
});
