//! asmcrypto: Keccak-256 and address recovery in eight lanes of AVX-512.

use arena_kit::{Bytes, Raw, Reader, op, words};
use asmcrypto::{keccak256_batch, recover_addresses_batch};

fn main() {
    let version = arena_kit::locked_version(include_str!("../../Cargo.lock"), "asmcrypto");
    let ops = vec![
        op("keccak256_batch", |r| {
            Some(r.list(Reader::owned)?.as_chunks::<8>().0.to_vec())
        })
        .change("le@0", |groups, word| {
            for (message, word) in groups.as_flattened_mut().iter_mut().zip(words(word)) {
                if let Some(start) = message.raw().first_chunk_mut() {
                    *start = word.to_le_bytes();
                }
            }
        })
        .reuse(
            || vec![[0; 32]; 64],
            |groups: &Vec<[Bytes; 8]>, out| {
                for (inputs, out) in groups.iter().zip(out.as_chunks_mut().0) {
                    *out = keccak256_batch(inputs.each_ref().map(|message| &message[..]));
                }
            },
        ),
        op("secp256k1_recover_batch", |r| {
            Some(r.until_empty(signed)?.as_chunks::<8>().0.to_vec())
        })
        .change("le@0", |groups, word| {
            for (signed, word) in groups.as_flattened_mut().iter_mut().zip(words(word)) {
                signed.hash[..4].copy_from_slice(&word.to_le_bytes());
            }
        })
        .reuse(Vec::new, |groups: &Vec<[Signed; 8]>, out| {
            out.clear();
            for group in groups {
                out.extend(recover_addresses_batch(
                    group.each_ref().map(|signed| &signed.hash),
                    group.each_ref().map(|signed| &signed.r),
                    group.each_ref().map(|signed| &signed.s),
                    group.each_ref().map(|signed| signed.v),
                ));
            }
        }),
    ];
    arena_kit::run("asmcrypto", version, ops);
}

#[derive(Clone)]
struct Signed {
    hash: [u8; 32],
    r: [u8; 32],
    s: [u8; 32],
    v: u8,
}

fn signed(r: &mut Reader) -> Option<Signed> {
    let (hash, r_bytes, s, [v]) = (r.array()?, r.array()?, r.array()?, r.array()?);
    Some(Signed {
        hash,
        r: r_bytes,
        s,
        v,
    })
}
